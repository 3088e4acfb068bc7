//! The command line: which commands there are. What each does is in its file.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};
use herdr_proto::strip_controls;

use crate::commands::{
    attach, completions, config, demo, doctor, emit, exec, man, run, tee, watch,
};
use crate::exit::Exit;
use crate::output::complain;

/// What the program is called.
const NAME: &str = "herdr-socket-report";

/// Shows the truth about an agent in its Herdr pane
///
/// A host writes what happens as JSON lines (`run`), and Herdr's sidebar shows
/// whether the agent works, waits for a person or is idle, why, on what, with
/// which model and how full its context is. This program speaks to the pane's
/// socket itself and never runs `herdr`. Outside Herdr it does nothing, quietly.
#[derive(Debug, Parser)]
#[command(
    name = NAME,
    // What the file is called is not for us to choose.
    bin_name = NAME,
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = AFTER
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

// A paragraph is one line: clap breaks it where the terminal ends.
const AFTER: &str = "\
Exit codes: 0 fine (also outside Herdr), 2 the command line or the settings are wrong, 3 no server \
to be reached and 4 the server refused (both only with --strict), 5 not shown (`state --confirm`). \
`doctor` exits with 0, 3, 4 or 5 by what it finds, `exec` as its command.

Try `herdr-socket-report demo` first, then `herdr-socket-report doctor` in a pane of Herdr.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::Args>),
    Exec(Box<exec::Args>),
    Attach(Box<attach::Args>),
    Emit(Box<emit::Emit>),
    State(Box<emit::State>),
    Title(Box<emit::Title>),
    Tokens(Box<emit::Tokens>),
    Labels(Box<emit::Labels>),
    Session(Box<emit::Session>),
    Release(Box<emit::Release>),
    Watch(watch::Args),
    Tee(tee::Args),
    Doctor(Box<doctor::Args>),
    Demo(Box<demo::Args>),
    #[command(subcommand)]
    Config(config::Command),
    Completions(completions::Args),
    Man(man::Args),
}

impl Cli {
    /// Does what was asked.
    pub(crate) fn run(self) -> Exit {
        match self.command {
            Command::Run(args) => run::run(*args),
            Command::Exec(args) => exec::run(*args),
            Command::Attach(args) => attach::run(*args),
            Command::Emit(args) => args.run(),
            Command::State(args) => args.run(),
            Command::Title(args) => args.run(),
            Command::Tokens(args) => args.run(),
            Command::Labels(args) => args.run(),
            Command::Session(args) => args.run(),
            Command::Release(args) => args.run(),
            Command::Watch(args) => watch::run(&args),
            Command::Tee(args) => tee::run(&args),
            Command::Doctor(args) => doctor::run(*args),
            Command::Demo(args) => demo::run(&args),
            Command::Config(command) => config::run(command),
            Command::Completions(args) => completions::run(&args),
            Command::Man(args) => man::run(&args),
        }
    }
}

/// Says what is wrong with a command line, or the help that was asked for.
///
/// The commands of hooks must not fail the hook that calls them: some hosts
/// take an exit code of 2 for a verdict.
pub(crate) fn refuse(mut error: clap::Error) -> Exit {
    if !error.use_stderr() {
        // A stdout that is gone is no reason to say it louder.
        let _ = error.print();
        return Exit::Fine;
    }
    hide_texts(&mut error);
    complain(&error.render().to_string());
    let asked = |word: &OsString| word == "--strict" || word == "--confirm";
    if is_of_hooks() && !std::env::args_os().any(|word| asked(&word)) {
        Exit::Fine
    } else {
        Exit::Usage
    }
}

/// Takes the words of the command line out of an error, as far as they are not
/// our own: they are often a host's or a person's.
fn hide_texts(error: &mut clap::Error) {
    if let Some(command) = text(error, ContextKind::InvalidSubcommand) {
        let clean = ContextValue::String(strip_controls(&command));
        error.insert(ContextKind::InvalidSubcommand, clean);
    }
    if text(error, ContextKind::InvalidValue).is_some_and(|value| !value.is_empty()) {
        error.insert(ContextKind::InvalidValue, ContextValue::String("…".to_owned()));
    }
    let Some(word) = text(error, ContextKind::InvalidArg) else { return };
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let tip = if is_flag(&word) {
        "it has no effect on this command"
    } else {
        let mut words = std::env::args_os().skip(2);
        let place = words.position(|other| other.to_string_lossy().starts_with(word.as_str()));
        let place = place.map_or_else(|| "…".to_owned(), |place| (place + 1).to_string());
        error.insert(ContextKind::InvalidArg, ContextValue::String(format!("number {place}")));
        "a text that begins with - comes after --, and one with blanks stands in quotes"
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

/// Whether one of the commands has this flag.
fn is_flag(word: &str) -> bool {
    let Some(name) = word.strip_prefix("--") else { return false };
    let mut cli = Cli::command();
    cli.build();
    cli.get_subcommands()
        .flat_map(clap::Command::get_arguments)
        .any(|arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name)))
}

/// Whether the command is one that hooks call.
pub(crate) fn is_of_hooks() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| HOOKS.iter().any(|hook| word == *hook))
}

/// The commands that hooks call.
const HOOKS: [&str; 7] = ["emit", "state", "title", "tokens", "labels", "session", "release"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_setting_has_a_flag_where_settings_count() {
        let mut command = Cli::command();
        let run = command.find_subcommand_mut("run").unwrap();
        let help = run.render_long_help().to_string();
        for setting in crate::settings::table::SETTINGS.iter().filter(|s| s.key != "trust_project")
        {
            assert!(help.contains(&format!("--{}", setting.flag())), "{}", setting.key);
        }
        assert!(!help.contains("trust-project"));
    }
}
