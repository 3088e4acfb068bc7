//! `pane`: read and drive panes.

mod act;
mod outcome;

use std::path::PathBuf;

pub(crate) use act::run;

use crate::words::keys;

/// Read and drive panes
///
/// For coordinators that watch and prompt other panes. Nothing is typed unless
/// the input box was seen empty, and every outcome says what happened.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

const AFTER: &str = "\
Exit codes: 0 as asked, 2 the command line is wrong, 3 no server, 4 refused and nothing was typed, \
5 typed and not confirmed (look before anything is repeated), 6 held or no signal (something stands \
in the way; nothing was sent), 7 pending (the same --operation again only presses Enter), 8 the pane \
is gone or dead, 9 a deadline passed.";

#[derive(Debug, clap::Args)]
struct Common {
    /// The pane, for example w1:p1, or an agent's name, instead of `HERDR_PANE_ID`
    ///
    /// Never the pane with the focus. Needed where `HERDR_REPORT_SHARED` is 1,
    /// as in a daemon that serves several panes.
    #[arg(long, value_name = "ID", global = true)]
    pane: Option<String>,
    /// The server's socket
    ///
    /// By default that of `HERDR_SOCKET_PATH`, of the session `HERDR_SESSION`,
    /// or of the default session.
    #[arg(long, value_name = "PATH", global = true, value_hint = clap::ValueHint::FilePath)]
    socket: Option<PathBuf>,
    /// Accept a server of another user
    #[arg(long, global = true)]
    allow_foreign_socket: bool,
    /// Print everything as JSON, including errors
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List all panes, in the server's order
    List,
    /// Tell whether something runs in the pane, and why: live, dead (exit code 8) or unknown (6)
    Probe,
    /// Tell what the agent does: working, blocked or idle, or why that is not known (exit code 6)
    Tick,
    /// Print what the pane shows
    ///
    /// With --json it says the digest too, which `answer` wants.
    Read {
        /// What of the pane; the recent sources may scroll an idle agent's own screen
        #[arg(long, value_enum, default_value_t = Source::Screen)]
        source: Source,
        /// With colours
        #[arg(long)]
        ansi: bool,
        /// How many rows from the bottom, 1 to 1000
        #[arg(long)]
        lines: Option<u32>,
    },
    /// Press keys, whatever the pane shows
    ///
    /// Keys have Herdr's names (`enter`, `ctrl+u`, `f5`, `a`), or say what is
    /// meant (`:interrupt`, `:submit`, `:clear-line`, `:escape`, `:up`, …).
    Keys {
        #[arg(required = true, value_name = "KEY", add = keys())]
        keys: Vec<String>,
    },
    /// Type a text into the input box and send it, looking before every step
    Push {
        /// The text; `-` reads it from stdin
        text: String,
        #[command(flatten)]
        options: Manner,
    },
    /// Prompt an agent that Herdr knows
    Prompt {
        /// The text; `-` reads it from stdin
        text: String,
        /// Push to an agent that Herdr does not prompt, instead of refusing
        #[arg(long)]
        allow_push: bool,
        #[command(flatten)]
        options: Manner,
        /// Then wait until the agent is idle or blocked, so many seconds at most
        #[arg(long, value_name = "SECONDS")]
        wait: Option<u64>,
    },
    /// Answer a dialog, if the screen is still the one that was read
    Answer {
        /// The digest that `read --json` gave
        digest: herdr_pane_control::Digest,
        #[arg(required = true, value_name = "KEY", add = keys())]
        keys: Vec<String>,
    },
    /// Wait until the agent has one of some statuses
    Wait {
        /// The statuses; idle is also met by done
        #[arg(long, value_delimiter = ',', default_value = "idle,blocked")]
        until: Vec<String>,
        /// Only a change above this `state_change_seq` counts, as `tick --json` gave it
        #[arg(long, value_name = "SEQ")]
        after: Option<u64>,
        /// How many seconds at most
        #[arg(long, value_name = "SECONDS", default_value_t = 600)]
        timeout: u64,
    },
    /// Follow the statuses of some panes, or of all, with one request a second
    Watch {
        /// The panes; none means all
        panes: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
struct Manner {
    /// The program: claude, codex, shell, or none, which looks at nothing
    ///
    /// By default the one for the agent in the pane, and shell without one.
    #[arg(long)]
    profile: Option<String>,
    /// A name for this push; a repeat under it never types again
    #[arg(long, value_name = "ID")]
    operation: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Source {
    /// The bottom of the screen
    Screen,
    /// What a person sees now, who may have scrolled
    Visible,
    /// The last rows, with history
    Recent,
    /// The same, wrapped rows joined
    RecentUnwrapped,
}
