//! The rows of the sidebar in Herdr's own settings.

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use crate::commands::sidebar::{ADDED, AGENTS, ROWS, missing};

/// How many rows Herdr accepts.
const ROWS_MAX: usize = 16;

/// The settings with rows that show everything. The text is unchanged if they do already.
///
/// # Errors
///
/// A message, if Herdr could not read the settings either.
pub(super) fn add(text: &str) -> Result<String, String> {
    let mut settings = parse(text)?;
    let mut table: &mut dyn TableLike = settings.as_table_mut();
    for name in AGENTS {
        let inner = table.entry(name).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        table = inner.as_table_like_mut().ok_or_else(|| format!("`{name}` is not a table"))?;
    }
    let Some(rows) = table.get_mut("rows") else {
        let mut rows = Array::new();
        rows.extend(ROWS.iter().map(|row| row_of(row)));
        for row in rows.iter_mut() {
            row.decor_mut().set_prefix("\n    ");
        }
        rows.set_trailing("\n");
        rows.set_trailing_comma(true);
        table.insert("rows", Item::Value(rows.into()));
        return Ok(settings.to_string());
    };
    let rows = rows.as_array_mut().ok_or("`rows` is not an array")?;
    let hidden = missing(rows);
    if hidden.is_empty() {
        return Ok(text.to_owned());
    }
    if rows.len() + ADDED.len() > ROWS_MAX {
        return Err(format!("Herdr takes {ROWS_MAX} rows at most, so there is no room for more"));
    }
    // A row is placed like the row before it, on a line of its own or not.
    let prefix = rows.iter().last().and_then(|row| row.decor().prefix()?.as_str());
    let prefix = prefix.filter(|prefix| !prefix.contains('#')).unwrap_or(" ").to_owned();
    for row in ADDED {
        let tokens: Vec<_> = row.iter().copied().filter(|token| hidden.contains(token)).collect();
        if !tokens.is_empty() {
            let mut row = Value::from(row_of(&tokens));
            row.decor_mut().set_prefix(&prefix);
            rows.push_formatted(row);
        }
    }
    Ok(settings.to_string())
}

/// The settings without the rows that `add` adds.
pub(super) fn remove(text: &str) -> Result<String, String> {
    let mut settings = parse(text)?;
    let mut table: &mut dyn TableLike = settings.as_table_mut();
    for name in AGENTS {
        let inner = table.get_mut(name).and_then(Item::as_table_like_mut);
        let Some(inner) = inner else { return Ok(text.to_owned()) };
        table = inner;
    }
    let Some(rows) = table.get_mut("rows").and_then(Item::as_array_mut) else {
        return Ok(text.to_owned());
    };
    if rows.len() == ROWS.len() && rows.iter().zip(ROWS).all(|(row, ours)| is_row(row, ours)) {
        table.remove("rows");
        return Ok(settings.to_string());
    }
    let before = rows.len();
    rows.retain(|row| !ADDED.iter().any(|ours| is_row(row, ours)));
    Ok(if rows.len() == before { text.to_owned() } else { settings.to_string() })
}

/// Whether a row has exactly these tokens, as `add` writes them.
fn is_row(row: &Value, tokens: &[&str]) -> bool {
    let row = row.as_array().map(|row| row.iter().map(Value::as_str));
    row.is_some_and(|row| row.eq(tokens.iter().copied().map(Some)))
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string())
}

fn row_of(tokens: &[&str]) -> Array {
    tokens.iter().copied().collect()
}
