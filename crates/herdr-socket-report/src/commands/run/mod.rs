//! `run`: reports what a host writes to stdin.

#[cfg(unix)]
mod begin;
#[cfg(not(unix))]
#[path = "elsewhere.rs"]
mod begin;
#[cfg(unix)]
mod flushes;
#[cfg(unix)]
mod session;
#[cfg(unix)]
mod voice;

pub(crate) use begin::run;

use crate::place::PaneFlags;
use crate::settings::flags::SettingFlags;
use crate::words::pid;

/// Report what a host writes to stdin, one JSON event a line
///
/// Reads until the end of the input, a signal, or the end of --pid. Then it
/// takes title, labels and tokens off the pane and gives the row back. Outside
/// Herdr it reads its input to the end and exits 0.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EVENTS)]
pub(crate) struct Args {
    #[command(flatten)]
    pane: PaneFlags,
    /// Write what becomes of each report to stdout, as JSON lines
    #[arg(long)]
    receipts: bool,
    /// Exit with 3 if no server was reached, with 4 if it refused or another
    /// reporter kept the pane
    #[arg(long)]
    strict: bool,
    /// End when the process with this id ends (Linux)
    #[arg(long, value_name = "PID", value_parser = pid, allow_negative_numbers = true)]
    pid: Option<i32>,
    #[command(flatten)]
    settings: SettingFlags,
}

const EVENTS: &str = r#"Events, one JSON object a line; ? is optional, unknown fields are ignored:
  session_started       session_id, session_path?, reason?, title?,
                        model?, context_window?, used?, resume_argv?
  session_ended
  agent_started         agent_id?              a turn begins
  agent_settled         agent_id?, outcome? (done, error, cancelled),
                        message?               waits for its next task
  tool_started          tool_id, tool, agent_id?
  tool_finished         tool_id
  prompt_opened         prompt_id, kind (approval, question, auth), label?,
                        agent_id?
  prompt_closed         prompt_id
  progress_changed      percent (0 to 100 or null), agent_id?
  workflow_snapshot     provider, ready, running, waiting
  workflow_unavailable  provider
  state_set             state (idle, working, blocked), label?
  title_changed         title (null takes it off)
  model_changed         model, context_window?
  usage_changed         used
  tokens_changed        tokens, as {"branch": "main", "old": null}
  labels_changed        labels, as {"working": "on it"}
  release                                      until the next event
  flush                 id?, timeout_ms?       answered on stdout

A host that knows only states writes lines such as
  {"event": "state_set", "state": "working"}
  {"event": "state_set", "state": "blocked", "label": "Run tests?"}
  {"event": "title_changed", "title": "Fix the login redirect"}"#;
