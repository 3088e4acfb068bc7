//! `run`: reports what a host writes to stdin.

mod flushes;
mod output;
mod session;

use herdr_reporter::Reporter;
use herdr_reporter::sidecar::LeaseFile;
use rustix::stdio::stdin;
use rustix::termios::isatty;

use crate::commands::settings;
use crate::control::Admission;
use crate::exit::{Exit, Stop, say_why, usage};
use crate::log;
use crate::place::{PaneFlags, Place};
use crate::program_status::Terminal;
use crate::settings::Settings;
use crate::settings::flags::SettingFlags;
use crate::supervisor::Watched;
use crate::words::{pid, processes};
use output::Output;
use session::Session;

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
    #[arg(long, value_name = "PID", value_parser = pid, allow_negative_numbers = true, add = processes())]
    pid: Option<i32>,
    /// Leave the state to Herdr, for an agent that Herdr knows: title, tokens and
    /// the reason of a block show in the row that Herdr makes. If Herdr shows no
    /// such agent for three seconds, the state is reported
    #[arg(long)]
    leave_state: bool,
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

pub(crate) fn run(args: Args) -> Exit {
    say_why(begin(args))
}

fn begin(args: Args) -> Result<Exit, Stop> {
    let mut loaded = settings(args.settings)?;
    if args.leave_state {
        loaded.settings.config.leave_state = true;
        loaded.settings.config.own_label = false;
        // The warnings are about the states of a label that Herdr knows.
        loaded.warnings.clear();
    }
    let place = args.pane.find().map_err(usage)?;
    let host = args.pid.map(Watched::open).transpose().map_err(usage)?;
    if matches!(&host, Some(Some(host)) if host.end().is_none()) {
        let linux = "--pid works on Linux only; elsewhere the end of the input ends the report";
        return Err(usage(linux));
    }
    let output = Output::start(args.receipts);
    log::start(output.errors()).map_err(usage)?;
    let host_pid = args.pid.and_then(|pid| u32::try_from(pid).ok());
    let terminal = Terminal::of(&loaded.settings, &place, host_pid);
    let nowhere = matches!(place, Place::Outside(_)) && terminal.is_none();
    let quiet = !loaded.settings.config.enabled || nowhere;
    if !quiet {
        loaded.warnings.iter().for_each(|warning| output.say(warning));
    }
    if let (Some(None), Some(pid)) = (host.as_ref(), args.pid) {
        output.say(&format!(
            "--pid {pid}: there is no such process, so there is nothing to wait for"
        ));
        return Ok(output.finish(Exit::Fine));
    }
    // Somebody who types sees no other sign that the program works.
    let typed = args.pid.is_none() && isatty(stdin());
    if typed {
        output.say(r#"type events such as {"event": "agent_started"}; Ctrl-D ends it"#);
    }
    if let Place::Outside(why) = &place
        && ((typed && nowhere) || args.strict)
    {
        output.say(&format!("nothing is reported: {why}"));
    }
    if let Place::Broken(why) = &place {
        output.diagnose("misconfigured", why);
    }
    let allow_foreign_socket = loaded.settings.config.allow_foreign_socket;
    let lease = match &place {
        Place::Pane(pane) => {
            let lease = LeaseFile::of_pane(&loaded.settings.config, pane);
            Some((Admission::of_owner(&loaded.settings, &lease), lease))
        }
        Place::Outside(_) | Place::Broken(_) => None,
    };
    let reporter = reporter(loaded.settings, &place, host_pid, terminal);
    let strict = args.strict;
    let session = Session { reporter, lease, place, output, quiet, strict, allow_foreign_socket };
    Ok(session.run(host.flatten()))
}

/// A reporter for a place; an inert one if there is nothing to report to.
fn reporter(
    settings: Settings,
    place: &Place,
    host: Option<u32>,
    terminal: Option<Terminal>,
) -> Reporter {
    let mut builder = Reporter::builder(settings.agent).config(settings.config);
    if let Some(terminal) = terminal {
        builder = terminal.told_by(builder);
    }
    if let Some(host) = host {
        // The agent has to run in the pane; this process may run elsewhere.
        builder = builder.process(host);
    }
    match place {
        Place::Pane(endpoint) => builder.endpoint(endpoint.clone()),
        Place::Outside(_) | Place::Broken(_) => builder.environment(|_| None),
    }
    .start()
}
