//! The command line: which commands there are. What each does is in its file.

use clap::{Parser, Subcommand};

use crate::commands::{completions, config, demo, man, run};
use crate::exit::Exit;

/// Shows the truth about an agent in its Herdr pane
///
/// A host writes what happens as JSON lines (`run`), and Herdr's sidebar shows
/// whether the agent works, waits for a person or is idle, why, on what, with
/// which model and how full its context is. This program speaks to the pane's
/// socket itself and never runs `herdr`. Outside Herdr it does nothing, quietly.
#[derive(Debug, Parser)]
#[command(
    name = "herdr-socket-report",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = AFTER
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Exit codes: 0 fine (also outside Herdr), 2 the command line or the settings are wrong,
3 no server to be reached and 4 the server refused (both only with --strict).

Try `herdr-socket-report demo` first.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::Args>),
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
            Command::Demo(args) => demo::run(&args),
            Command::Config(command) => config::run(command),
            Command::Completions(args) => completions::run(&args),
            Command::Man(args) => man::run(&args),
        }
    }
}

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
