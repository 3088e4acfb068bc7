//! `completions`: a script for a shell.

use std::io;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::print;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_long_help = WHERE)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

const NAME: &str = "herdr-socket-report";

const WHERE: &str = "\
Where it belongs; a folder that is not there has to be made:
  bash  herdr-socket-report completions bash \
> ~/.local/share/bash-completion/completions/herdr-socket-report
  zsh   herdr-socket-report completions zsh > DIR/_herdr-socket-report, DIR being one of $fpath
  fish  herdr-socket-report completions fish > ~/.config/fish/completions/herdr-socket-report.fish
For this shell alone: source <(herdr-socket-report completions bash)";

/// Prints the script.
pub(crate) fn run(args: &Args) -> Exit {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), NAME, &mut script);
    if args.shell == Shell::Bash {
        script = matched(&String::from_utf8_lossy(&script)).into_bytes();
    }
    print(&script, io::stdout())
}

/// The script for bash with the program's name spelled one way. `clap_complete`
/// 4.6 spells its hyphens otherwise where it finds a command out than where it
/// completes one, and nothing after a command is completed (clap #6421).
fn matched(script: &str) -> String {
    script.replace(&NAME.replace('-', "__subcmd__"), &NAME.replace('-', "__"))
}
