//! The command line: which commands there are. What each does is in its file.

use std::ffi::OsString;

use clap::{Parser, Subcommand};
use herdr_proto::strip_controls;

use crate::commands::{
    attach, completions, config, demo, doctor, emit, exec, hook, init, man, run, sidebar, tee,
    watch,
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
    Hook(Box<hook::Args>),
    Statusline(Box<hook::StatuslineArgs>),
    Init(init::Args),
    Sidebar(sidebar::Args),
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
            Command::Hook(args) => args.run(),
            Command::Statusline(args) => args.run(),
            Command::Init(args) => init::run(&args),
            Command::Sidebar(args) => sidebar::run(&args),
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
pub(crate) fn refuse(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        // A stdout that is gone is no reason to say it louder.
        let _ = error.print();
        return Exit::Fine;
    }
    // An error repeats words of the command line, which are often a host's or
    // a person's. Without what moves a cursor in them it is the same error.
    let clean = std::env::args_os().map(|word| strip_controls(&word.to_string_lossy()));
    let text = match Cli::try_parse_from(clean) {
        Err(clean) if clean.kind() == error.kind() => clean.render(),
        _ => error.render(),
    };
    complain(&text.to_string());
    let mut words = std::env::args_os().skip(1);
    let of_hooks = words.next().is_some_and(|word| HOOKS.iter().any(|hook| word == *hook));
    let told = |word: OsString| word == "--strict" || word == "--confirm";
    if of_hooks && !words.any(told) { Exit::Fine } else { Exit::Usage }
}

/// The commands that hooks call.
const HOOKS: [&str; 9] =
    ["emit", "state", "title", "tokens", "labels", "session", "release", "hook", "statusline"];

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

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
