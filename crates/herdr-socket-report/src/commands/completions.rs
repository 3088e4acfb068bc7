//! `completions`: prints a shell's completion script and answers the script's requests.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_complete::env::{CompleteEnv, Shells};

use crate::cli::{Cli, NAME};
use crate::exit::Exit;
use crate::output::{print, say};

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_long_help = WHERE)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

const WHERE: &str = "\
Where it belongs; a folder that is not there has to be made:
  bash  herdr-socket-report completions bash \
> ~/.local/share/bash-completion/completions/herdr-socket-report
  zsh   herdr-socket-report completions zsh > DIR/_herdr-socket-report, DIR being one of $fpath
  fish  herdr-socket-report completions fish > ~/.config/fish/completions/herdr-socket-report.fish
For this shell alone: source <(herdr-socket-report completions bash)";

/// The variable that is set when a completion script calls this program.
const ASKED: &str = "HERDR_SOCKET_REPORT_COMPLETE";

/// Prints the script.
pub(crate) fn run(args: &Args) -> Exit {
    let shell = args.shell.to_string();
    let mut script = Vec::new();
    let written = Shells::builtins().completer(&shell).map_or_else(
        || Err(io::ErrorKind::Unsupported.into()),
        |shell| shell.write_registration(ASKED, NAME, NAME, NAME, &mut script),
    );
    match written {
        Ok(()) => print(&script, io::stdout()),
        Err(error) => {
            say(&format!("there is no script for {shell}: {error}"));
            Exit::Usage
        }
    }
}

/// Answers a completion script, if one has called.
pub(crate) fn answered() -> bool {
    let folder = std::env::current_dir().ok();
    let answers = CompleteEnv::with_factory(Cli::command).var(ASKED);
    // A shell cannot use an error message here.
    answers.try_complete(std::env::args_os(), folder.as_deref()).unwrap_or(true)
}
