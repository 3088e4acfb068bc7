//! What comes before the first line.

use herdr_reporter::Reporter;
use herdr_reporter::sidecar::LeaseFile;
use rustix::stdio::stdin;
use rustix::termios::isatty;

use super::Args;
use super::session::Session;
use super::voice::Voice;
use crate::commands::settings;
use crate::control::Door;
use crate::exit::{Exit, Stop, told, usage};
use crate::log;
use crate::place::Place;
use crate::settings::Settings;
use crate::supervisor::Watched;

pub(crate) fn run(args: Args) -> Exit {
    told(begin(args))
}

fn begin(args: Args) -> Result<Exit, Stop> {
    let loaded = settings(args.settings)?;
    let place = args.pane.find().map_err(usage)?;
    let host = args.pid.map(Watched::open).transpose().map_err(usage)?;
    if matches!(&host, Some(Some(host)) if host.end().is_none()) {
        let linux = "--pid works on Linux only; elsewhere the end of the input ends the report";
        return Err(usage(linux));
    }
    let voice = Voice::start(args.receipts);
    log::start(voice.errors()).map_err(usage)?;
    let quiet = !loaded.settings.config.enabled || matches!(place, Place::Outside(_));
    if !quiet {
        loaded.warnings.iter().for_each(|warning| voice.say(warning));
    }
    if let (Some(None), Some(pid)) = (host.as_ref(), args.pid) {
        voice.say(&format!(
            "--pid {pid}: there is no such process, so there is nothing to wait for"
        ));
        return Ok(voice.finish(Exit::Fine));
    }
    // Whoever types has no other sign of life.
    let typed = args.pid.is_none() && isatty(stdin());
    if typed {
        voice.say(r#"type events such as {"event": "agent_started"}; Ctrl-D ends it"#);
    }
    if let Place::Outside(why) = &place
        && (typed || args.strict)
    {
        voice.say(&format!("nothing is reported: {why}"));
    }
    if let Place::Broken(why) = &place {
        voice.diagnose("misconfigured", why);
    }
    let allow_foreign_socket = loaded.settings.config.allow_foreign_socket;
    let lease = match &place {
        Place::Pane(pane) => {
            let lease = LeaseFile::of_pane(&loaded.settings.config, pane);
            Some((Door::open(&loaded.settings, &lease), lease))
        }
        Place::Outside(_) | Place::Broken(_) => None,
    };
    let reporter = reporter(loaded.settings, &place, args.pid);
    let strict = args.strict;
    let session = Session { reporter, lease, place, voice, quiet, strict, allow_foreign_socket };
    Ok(session.run(host.flatten()))
}

/// A reporter for a place; an inert one where there is nothing to report to.
fn reporter(settings: Settings, place: &Place, host: Option<i32>) -> Reporter {
    let mut builder = Reporter::builder(settings.agent).config(settings.config);
    if let Some(host) = host.and_then(|pid| u32::try_from(pid).ok()) {
        // Whether the pane is ours is asked about the agent, not about us.
        builder = builder.process(host);
    }
    match place {
        Place::Pane(endpoint) => builder.endpoint(endpoint.clone()),
        Place::Outside(_) | Place::Broken(_) => builder.environment(|_| None),
    }
    .start()
}
