//! `run`: reports what a host writes to stdin.

mod flushes;
mod session;
mod voice;

use reporter::Reporter;

use super::settings;
use crate::exit::Exit;
use crate::input::Host;
use crate::log;
use crate::output::say;
use crate::place::{PaneFlags, Place};
use crate::settings::Settings;
use crate::settings::flags::SettingFlags;
use session::Session;
use voice::Voice;

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
    /// Exit with 3 if no server was reached, with 4 if it refused
    #[arg(long)]
    strict: bool,
    /// End when the process with this id ends (Linux)
    #[arg(long, value_name = "PID")]
    pid: Option<i32>,
    #[command(flatten)]
    settings: SettingFlags,
}

const EVENTS: &str = r#"Events, one JSON object a line; ? is optional, and unknown fields are ignored:
  session_started       session_id, session_path?, reason?, title?, model?,
                        context_window?, used?, resume_argv?
  session_ended
  agent_started         agent_id?                   a turn begins
  agent_settled         agent_id?                   the agent waits for its next task
  tool_started          tool_id, tool, agent_id?
  tool_finished         tool_id
  prompt_opened         prompt_id, kind (approval, question), label?, agent_id?
  prompt_closed         prompt_id
  workflow_snapshot     provider, ready, running, waiting
  workflow_unavailable  provider
  state_set             state (idle, working, blocked), label?
  title_changed         title (null takes it off)
  model_changed         model, context_window?
  usage_changed         used
  tokens_changed        tokens, for example {"branch": "main", "old": null}
  labels_changed        labels, for example {"working": "on it"}
  release                                           the row is given back until the next event
  flush                 id?, timeout_ms?            answered on stdout once all is delivered

A host that knows only states writes lines such as
  {"event": "state_set", "state": "working"}
  {"event": "state_set", "state": "blocked", "label": "Run cargo test?"}
  {"event": "title_changed", "title": "Fix the login redirect"}"#;

/// Reports until something ends it.
pub(crate) fn run(args: Args) -> Exit {
    let loaded = match settings(args.settings) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let place = args.pane.find(|name| std::env::var_os(name));
    let host = args.pid.map(Host::watch).transpose();
    let (place, host) = match (place, host) {
        (Ok(place), Ok(host)) => (place, host),
        (Err(wrong), _) | (_, Err(wrong)) => {
            say(&wrong);
            return Exit::Usage;
        }
    };
    let voice = Voice::start(args.receipts);
    if let Err(wrong) = log::start(voice.errors()) {
        say(&wrong);
        return Exit::Usage;
    }
    let quiet = !loaded.settings.config.enabled || matches!(place, Place::Outside(_));
    if !quiet {
        loaded.warnings.iter().for_each(|warning| voice.say(warning));
    }
    if let Some(None) = host {
        voice.say("--pid: no such process, so there is nothing to wait for");
        return voice.finish(Exit::Fine);
    }
    if let Place::Broken(why) = &place {
        voice.diagnose("misconfigured", why);
    }
    let reporter = reporter(loaded.settings, &place);
    let session = Session { reporter, place, voice, quiet, strict: args.strict };
    session.run(host.flatten())
}

/// A reporter for a place; an inert one where there is nothing to report to.
fn reporter(settings: Settings, place: &Place) -> Reporter {
    let builder = Reporter::builder(settings.agent).config(settings.config);
    match place {
        Place::Pane(endpoint) => builder.endpoint(endpoint.clone()),
        Place::Outside(_) | Place::Broken(_) => builder.environment(|_| None),
    }
    .start()
}
