//! `sidebar`: the rows of Herdr's sidebar that show everything.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, TableLike, Value};

use crate::exit::Exit;
use crate::output::{print, say};
use crate::picture::Rows;

/// Print rows for Herdr's sidebar that show everything
///
/// By itself Herdr's sidebar shows neither why an agent is blocked, nor titles
/// and tokens. The rows that are printed belong in Herdr's own settings; `init
/// herdr --write` puts them there.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Say what the present rows hide; exit with 5 if they hide something
    #[arg(long)]
    check: bool,
}

/// Where the rows of agents stand in Herdr's settings.
pub(crate) const AGENTS: [&str; 3] = ["ui", "sidebar", "agents"];

/// Rows that fit the 25 columns of the sidebar. `pane` is where a title shows.
pub(crate) const ROWS: [&[&str]; 5] = [
    &["state_icon", "workspace", "tab"],
    &["agent"],
    &["state_text"],
    &["pane"],
    &["$model", "$ctx"],
];

/// The rows that Herdr does not have by default.
pub(crate) const ADDED: [&[&str]; 3] = [&["state_text"], &["pane"], &["$model", "$ctx"]];

/// What each token shows, for people.
const SHOWS: [(&str, &str); 4] = [
    ("state_text", "why an agent is blocked"),
    ("pane", "titles"),
    ("$model", "the model"),
    ("$ctx", "how full the context is"),
];

/// The message if nothing is hidden, and the remedy if something is.
pub(crate) const NOTHING_HIDDEN: &str = "the sidebar's rows show everything";
pub(crate) const REMEDY: &str = "`herdr-socket-report init herdr --write` adds what is missing";

pub(crate) fn run(args: &Args) -> Exit {
    if !args.check {
        return print(settings().as_bytes(), io::stdout().lock());
    }
    match check() {
        Ok(hidden) => {
            print(format!("{}\n", summary(&hidden)).as_bytes(), io::stdout().lock());
            if hidden.is_empty() { Exit::Fine } else { Exit::NotApplied }
        }
        Err(wrong) => {
            say(&wrong);
            Exit::Usage
        }
    }
}

/// What the present rows hide and how to change that, or why it is not known.
pub(crate) fn report() -> String {
    check().map_or_else(|wrong| wrong, |hidden| summary(&hidden))
}

fn summary(hidden: &[String]) -> String {
    if hidden.is_empty() {
        return NOTHING_HIDDEN.to_owned();
    }
    format!("{}\n{REMEDY}", hidden.join("\n"))
}

/// The rows in the form of Herdr's settings.
pub(crate) fn settings() -> String {
    let mut text = format!("[{}]\nrows = [\n", AGENTS.join("."));
    for row in ROWS {
        let _ = writeln!(text, "    {row:?},");
    }
    text.push_str("]\n");
    text
}

/// The rows that show everything.
pub(crate) fn all_rows() -> Rows {
    ROWS.iter().map(|row| row.iter()).collect()
}

/// Herdr's default rows.
pub(crate) fn herdrs_own_rows() -> Rows {
    ROWS.iter().filter(|row| !ADDED.contains(row)).map(|row| row.iter()).collect()
}

/// The rows in Herdr's settings for agents without rows of their own.
///
/// # Errors
///
/// A message, if the settings cannot be read.
pub(crate) fn present_rows() -> Result<Rows, String> {
    of_settings(rows_of)
}

/// What the present rows hide, in sentences.
///
/// # Errors
///
/// A message, if the settings cannot be read.
pub(crate) fn check() -> Result<Vec<String>, String> {
    of_settings(hidden)
}

/// Reads something from Herdr's settings. A missing file counts as empty.
fn of_settings<T>(learn: fn(&DocumentMut) -> T) -> Result<T, String> {
    let file = herdrs_file(|name| std::env::var_os(name)).ok_or("HOME is not set")?;
    let named = |wrong: &dyn std::fmt::Display| format!("{}: {wrong}", file.display());
    let text = match std::fs::read_to_string(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        other => other.map_err(|error| named(&error))?,
    };
    Ok(learn(&text.parse().map_err(|error: toml_edit::TomlError| named(&error))?))
}

/// Herdr's settings file.
pub(crate) fn herdrs_file(lookup: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("HERDR_CONFIG_PATH").or_else(|| {
        let base = set("XDG_CONFIG_HOME");
        let base = base.or_else(|| Some(Path::new(&set("HOME")?).join(".config")))?;
        Some(base.join("herdr").join("config.toml"))
    })
}

fn agents(settings: &DocumentMut) -> Option<&dyn TableLike> {
    let mut table: &dyn TableLike = settings.as_table();
    for name in AGENTS {
        table = table.get(name)?.as_table_like()?;
    }
    Some(table)
}

fn rows_of(settings: &DocumentMut) -> Rows {
    let rows = agents(settings).and_then(|table| table.get("rows")?.as_array());
    let Some(rows) = rows else { return herdrs_own_rows() };
    let rows = rows.iter().filter_map(Value::as_array);
    rows.map(|row| row.iter().filter_map(token)).collect()
}

fn hidden(settings: &DocumentMut) -> Vec<String> {
    let table = agents(settings);
    let rows = table.and_then(|table| table.get("rows")).and_then(Item::as_array);
    // Herdr's default rows have none of these tokens.
    let mut sentences = Vec::new();
    sentences.extend(sentence("the sidebar's rows hide", rows));
    let by_agent = table.and_then(|table| table.get("rows_by_agent")?.as_table_like());
    for (agent, rows) in by_agent.into_iter().flat_map(TableLike::iter) {
        sentences.extend(sentence(&format!("the rows of {agent} hide"), rows.as_array()));
    }
    sentences
}

fn sentence(hides: &str, rows: Option<&Array>) -> Option<String> {
    let hidden = rows.map_or_else(|| missing(&Array::new()), missing);
    let shows = SHOWS.iter().filter(|(token, _)| hidden.contains(token));
    let shows: Vec<_> = shows.map(|(token, what)| format!("{what} ({token})")).collect();
    (!shows.is_empty()).then(|| format!("{hides} {}", shows.join(", ")))
}

/// The tokens that none of these rows has.
pub(crate) fn missing(rows: &Array) -> Vec<&'static str> {
    let has = |name: &str| {
        rows.iter().filter_map(Value::as_array).flatten().any(|value| token(value) == Some(name))
    };
    SHOWS.iter().map(|(token, _)| *token).filter(|token| !has(token)).collect()
}

/// The name of a token, which may have a style.
fn token(value: &Value) -> Option<&str> {
    let styled = || value.as_inline_table()?.get("token")?.as_str();
    value.as_str().or_else(styled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> Vec<String> {
        super::hidden(&text.parse().unwrap())
    }

    #[test]
    fn the_present_rows_are_herdrs_own_or_what_is_set() {
        let rows = |text: &str| rows_of(&text.parse().unwrap());
        let own: Rows =
            [vec!["state_icon", "workspace", "tab"], vec!["agent"]].into_iter().collect();
        assert_eq!(rows(""), own);
        assert_eq!(rows(&settings()), all_rows());
        let set = "[ui.sidebar.agents]\nrows = [[{token = \"pane\", bold = true}, \"$ctx\"], []]\n";
        assert_eq!(rows(set), [vec!["pane", "$ctx"], vec![]].into_iter().collect());
    }

    #[test]
    fn what_the_rows_hide_is_said_also_of_those_for_one_agent() {
        assert_eq!(hidden(&settings()), Vec::<String>::new());
        let all = "the sidebar's rows hide why an agent is blocked (state_text), titles (pane), \
                   the model ($model), how full the context is ($ctx)";
        assert_eq!(hidden(""), [all]);
        let own = "[ui.sidebar.agents]\nrows = [[\"agent\", {token = \"state_text\", bold = true}], \
                   [\"pane\"], [\"$model\"]]\n[ui.sidebar.agents.rows_by_agent]\n\
                   claude = [[\"$model\", \"$ctx\", \"pane\"]]\n";
        assert_eq!(
            hidden(own),
            [
                "the sidebar's rows hide how full the context is ($ctx)",
                "the rows of claude hide why an agent is blocked (state_text)",
            ]
        );
    }

    #[test]
    fn herdrs_file_is_where_herdr_looks() {
        let file = |set: &[(&str, &str)]| {
            herdrs_file(|name| set.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into()))
        };
        let at = |path: &str| Some(PathBuf::from(path));
        assert_eq!(file(&[("HOME", "/h")]), at("/h/.config/herdr/config.toml"));
        assert_eq!(file(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]), at("/x/herdr/config.toml"));
        assert_eq!(file(&[("HERDR_CONFIG_PATH", "/c.toml")]), at("/c.toml"));
        assert_eq!(file(&[]), None);
    }
}
