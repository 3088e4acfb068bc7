//! The command line. What each command does is in the command's own file.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};
use herdr_proto::strip_controls;

use crate::commands::{
    attach, completions, config, demo, doctor, emit, exec, hook, init, man, pane, run, sidebar,
    tee, watch,
};
use crate::exit::Exit;
use crate::output::complain;
use crate::settings::table::ONE_SHOTS;

/// What the program is called.
pub(crate) const NAME: &str = "herdr-socket-report";

/// Shows the truth about an agent in its Herdr pane
///
/// A host writes what happens as JSON lines (`run`), and Herdr's sidebar shows
/// whether the agent works, waits for a person or is idle, and the reason, the title,
/// the model and how full its context is. This program speaks to the pane's
/// socket itself and never runs `herdr`. Outside Herdr it silently does nothing.
#[derive(Debug, Parser)]
#[command(
    name = NAME,
    // Errors show this name whatever the file is called.
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

// A paragraph is one line, because clap breaks lines at the terminal's width.
const AFTER: &str = "\
Exit codes: 0 fine (also outside Herdr), 2 wrong command line or settings, 3 no server was reached \
and 4 the server refused (both only with --strict), 5 not shown (`state --confirm`). `doctor` exits \
with 0, 3, 4 or 5 depending on what it finds, `exec` with the exit code of its command.

Try `herdr-socket-report demo` first, then `herdr-socket-report doctor` in a pane of Herdr.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::Args>),
    Exec(Box<exec::Args>),
    Attach(Box<attach::Args>),
    #[command(flatten)]
    OneShot(Box<emit::OneShot>),
    Hook(Box<hook::Args>),
    Statusline(Box<hook::StatuslineArgs>),
    Init(init::Args),
    Sidebar(sidebar::Args),
    Watch(watch::Args),
    Pane(Box<pane::Args>),
    Tee(tee::Args),
    Doctor(Box<doctor::Args>),
    Demo(Box<demo::Args>),
    #[command(subcommand)]
    Config(config::Command),
    Completions(completions::Args),
    Man(man::Args),
}

impl Cli {
    /// Runs the command.
    pub(crate) fn run(self) -> Exit {
        match self.command {
            Command::Run(args) => run::run(*args),
            Command::Exec(args) => exec::run(*args),
            Command::Attach(args) => attach::run(*args),
            Command::OneShot(one_shot) => one_shot.run(),
            Command::Hook(args) => args.run(),
            Command::Statusline(args) => args.run(),
            Command::Init(args) => init::run(&args),
            Command::Sidebar(args) => sidebar::run(&args),
            Command::Watch(args) => watch::run(&args),
            Command::Pane(args) => pane::run(&args),
            Command::Tee(args) => tee::run(&args),
            Command::Doctor(args) => doctor::run(*args),
            Command::Demo(args) => demo::run(&args),
            Command::Config(command) => config::run(command),
            Command::Completions(args) => completions::run(&args),
            Command::Man(args) => man::run(&args),
        }
    }
}

/// Prints what is wrong with a command line, or the help that was asked for.
///
/// A command of a hook does not fail the hook that calls it: some agents take the exit code 2
/// for a verdict.
pub(crate) fn refuse(mut error: clap::Error) -> Exit {
    if !error.use_stderr() {
        // If stdout is closed, the help is not needed.
        let _ = error.print();
        return Exit::Fine;
    }
    clean(&mut error);
    complain(&error.render().to_string());
    let asked = |word: &OsString| word == "--strict" || word == "--confirm";
    if is_hook_command() && !std::env::args_os().any(|word| asked(&word)) {
        Exit::Fine
    } else {
        Exit::Usage
    }
}

/// Cleans the arguments that an error repeats. Those of a hook's command may hold private text,
/// so they are not repeated at all.
fn clean(error: &mut clap::Error) {
    const REPEATED: [ContextKind; 3] =
        [ContextKind::InvalidSubcommand, ContextKind::InvalidArg, ContextKind::InvalidValue];
    for kind in REPEATED {
        let Some(ContextValue::String(word)) = error.get(kind) else { continue };
        let clean = ContextValue::String(strip_controls(word));
        error.insert(kind, clean);
    }
    if let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested) {
        let tips = tips.iter().map(|tip| strip_controls(&tip.to_string()).into()).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    if is_hook_command() {
        hide_texts(error);
    } else if std::env::args_os().nth(1).is_some_and(|word| word == "pane") {
        tell_how_panes_are_named(error);
    }
}

/// Herdr's own commands take the pane as their first argument.
fn tell_how_panes_are_named(error: &mut clap::Error) {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg)
        && !word.starts_with('-')
    {
        let tip = "--pane names the pane, as in --pane w1:p1";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Replaces arguments that may be a host's text by their place.
fn hide_texts(error: &mut clap::Error) {
    if matches!(error.get(ContextKind::InvalidValue), Some(ContextValue::String(v)) if !v.is_empty())
    {
        error.insert(ContextKind::InvalidValue, ContextValue::String("…".to_owned()));
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg).cloned() else {
        return;
    };
    let tip = if is_flag(&word) {
        // Without the suggestion of a similar flag.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        "it has no effect on this command"
    } else {
        "a text that begins with - comes after --, and one with blanks stands in quotes"
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    if !looks_like_a_flag(&word) {
        let mut words = std::env::args_os().skip(2);
        let place = words
            .position(|other| strip_controls(&other.to_string_lossy()).starts_with(word.as_str()));
        let place = place.map_or_else(|| "…".to_owned(), |place| (place + 1).to_string());
        error.insert(ContextKind::InvalidArg, ContextValue::String(format!("number {place}")));
    }
}

/// Whether an argument looks like a flag rather than a text.
fn looks_like_a_flag(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|name| {
        name.len() < 24 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    })
}

/// Whether any command has this flag.
fn is_flag(word: &str) -> bool {
    let Some(name) = word.strip_prefix("--") else { return false };
    let mut cli = Cli::command();
    cli.build();
    cli.get_subcommands()
        .flat_map(clap::Command::get_arguments)
        .any(|arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name)))
}

/// Whether the command is one that hooks call.
pub(crate) fn is_hook_command() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| ONE_SHOTS.iter().any(|hook| word == *hook))
}

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
