//! `config show`: the merged settings and where each came from.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use clap::Subcommand;
use herdr_proto::strip_controls;

use super::wrong;
use crate::exit::{Exit, say_why};
use crate::output::{print, say};
use crate::settings::flags::SettingFlags;
use crate::settings::{Sources, load};

/// Look at the settings
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the merged settings and where each came from
    ///
    /// What is printed is a settings file itself. Flags count as they would for
    /// `run`, so that one can try what they do.
    Show(Box<ShowArgs>),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    settings: SettingFlags,
}

pub(crate) fn run(command: Command) -> Exit {
    let Command::Show(args) = command;
    let sources = Sources::of_process(args.settings);
    let files = [
        ("your file:   ", sources.user_file.clone()),
        ("project file:", Some(sources.project_file.clone())),
    ];
    let loaded = match load(sources).map_err(wrong) {
        Ok(loaded) => loaded,
        Err(stop) => return say_why(Err(stop)),
    };
    let mut out = String::new();
    for (name, path) in files {
        let _ = writeln!(out, "# {name} {}", describe(path.as_deref()));
    }
    out.push('\n');
    let width = loaded.shown.iter().map(|(line, _)| line.len()).max().unwrap_or_default();
    for (line, origin) in &loaded.shown {
        let text = format!("{line:width$}  # {origin}", width = width.min(40));
        out.push_str(&strip_controls(&text));
        out.push('\n');
    }
    let exit = print(out.as_bytes(), io::stdout());
    loaded.warnings.iter().for_each(|warning| say(warning));
    exit
}

fn describe(path: Option<&Path>) -> String {
    let Some(path) = path else { return "no place for one (HOME is not set)".to_owned() };
    let name = strip_controls(&path.display().to_string());
    if path.exists() { name } else { format!("{name} (not there)") }
}
