//! `sidebar`: the rows of Herdr's sidebar that show everything.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, TableLike, Value};

use crate::exit::Exit;
use crate::output::{print, say};

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

/// Where the agents' rows are in Herdr's settings.
pub(crate) const AGENTS: [&str; 3] = ["ui", "sidebar", "agents"];

/// Rows that fit the sidebar's 25 columns. `pane` is where a title shows.
pub(crate) const ROWS: [&[&str]; 5] = [
    &["state_icon", "workspace", "tab"],
    &["agent"],
    &["state_text"],
    &["pane"],
    &["$model", "$ctx"],
];

/// Those that Herdr does not have by itself.
pub(crate) const ADDED: [&[&str]; 3] = [&["state_text"], &["pane"], &["$model", "$ctx"]];

/// What each token shows, for people.
const SHOWS: [(&str, &str); 4] = [
    ("state_text", "why an agent is blocked"),
    ("pane", "titles"),
    ("$model", "the model"),
    ("$ctx", "how full the context is"),
];

/// What is said where nothing is hidden, and where something is.
pub(crate) const NOTHING_HIDDEN: &str = "the sidebar's rows show everything";
pub(crate) const REMEDY: &str = "`herdr-socket-report init herdr --write` adds what is missing";

pub(crate) fn run(args: &Args) -> Exit {
    if !args.check {
        return print(settings().as_bytes(), io::stdout().lock());
    }
    match check() {
        Ok(hidden) if hidden.is_empty() => {
            print(format!("{NOTHING_HIDDEN}\n").as_bytes(), io::stdout().lock())
        }
        Ok(hidden) => {
            let text = format!("{}\n{REMEDY}\n", hidden.join("\n"));
            print(text.as_bytes(), io::stdout().lock());
            Exit::NotApplied
        }
        Err(wrong) => {
            say(&wrong);
            Exit::Usage
        }
    }
}

/// The rows as Herdr's settings have them.
pub(crate) fn settings() -> String {
    let mut text = format!("[{}]\nrows = [\n", AGENTS.join("."));
    for row in ROWS {
        let _ = writeln!(text, "    {row:?},");
    }
    text.push_str("]\n");
    text
}

/// What the present rows hide, in sentences.
///
/// # Errors
///
/// A sentence about settings that cannot be read.
pub(crate) fn check() -> Result<Vec<String>, String> {
    let file = herdrs_file(|name| std::env::var_os(name)).ok_or("HOME is not set")?;
    let text = match std::fs::read_to_string(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        other => other.map_err(|error| format!("{}: {error}", file.display()))?,
    };
    hidden(&text).map_err(|wrong| format!("{}: {wrong}", file.display()))
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

fn hidden(text: &str) -> Result<Vec<String>, String> {
    let settings: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let mut table: Option<&dyn TableLike> = Some(settings.as_table());
    for name in AGENTS {
        table = table.and_then(|table| table.get(name)).and_then(Item::as_table_like);
    }
    let rows = table.and_then(|table| table.get("rows")).and_then(Item::as_array);
    // Herdr's own rows have none of these.
    let mut sentences = Vec::new();
    sentences.extend(sentence("the sidebar's rows hide", rows));
    let by_agent = table.and_then(|table| table.get("rows_by_agent")?.as_table_like());
    for (agent, rows) in by_agent.into_iter().flat_map(TableLike::iter) {
        sentences.extend(sentence(&format!("the rows of {agent} hide"), rows.as_array()));
    }
    Ok(sentences)
}

fn sentence(hides: &str, rows: Option<&Array>) -> Option<String> {
    let hidden = rows.map_or_else(|| missing(&Array::new()), missing);
    let shows = SHOWS.iter().filter(|(token, _)| hidden.contains(token));
    let shows: Vec<_> = shows.map(|(token, what)| format!("{what} ({token})")).collect();
    (!shows.is_empty()).then(|| format!("{hides} {}", shows.join(", ")))
}

/// The tokens that none of these rows has; one that is there may have a style.
pub(crate) fn missing(rows: &Array) -> Vec<&'static str> {
    let is = |value: &Value, token: &str| {
        let styled = value.as_inline_table().and_then(|table| table.get("token")?.as_str());
        value.as_str().or(styled) == Some(token)
    };
    let has = |token: &str| {
        rows.iter().filter_map(Value::as_array).flatten().any(|value| is(value, token))
    };
    SHOWS.iter().map(|(token, _)| *token).filter(|token| !has(token)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_rows_hide_is_said_also_of_those_for_one_agent() {
        assert_eq!(hidden(&settings()).unwrap(), Vec::<String>::new());
        let all = "the sidebar's rows hide why an agent is blocked (state_text), titles (pane), \
                   the model ($model), how full the context is ($ctx)";
        assert_eq!(hidden("").unwrap(), [all]);
        let own = "[ui.sidebar.agents]\nrows = [[\"agent\", {token = \"state_text\", bold = true}], \
                   [\"pane\"], [\"$model\"]]\n[ui.sidebar.agents.rows_by_agent]\n\
                   claude = [[\"$model\", \"$ctx\", \"pane\"]]\n";
        assert_eq!(
            hidden(own).unwrap(),
            [
                "the sidebar's rows hide how full the context is ($ctx)",
                "the rows of claude hide why an agent is blocked (state_text)",
            ]
        );
        assert!(hidden("[ui\n").is_err());
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
