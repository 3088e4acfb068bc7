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
use crate::exit::Exit;
use crate::input::Host;
use crate::log;
use crate::output::say;
use crate::place::Place;
use crate::program_status::Terminal;
use crate::settings::Settings;

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
    let host_pid = args.pid.and_then(|pid| u32::try_from(pid).ok());
    let terminal = Terminal::of(&loaded.settings, &place, host_pid);
    let nowhere = matches!(place, Place::Outside(_)) && terminal.is_none();
    let quiet = !loaded.settings.config.enabled || nowhere;
    if !quiet {
        loaded.warnings.iter().for_each(|warning| voice.say(warning));
    }
    if let (Some(None), Some(pid)) = (host.as_ref(), args.pid) {
        voice.say(&format!(
            "--pid {pid}: there is no such process, so there is nothing to wait for"
        ));
        return voice.finish(Exit::Fine);
    }
    // Whoever types has no other sign of life.
    if args.pid.is_none() && isatty(stdin()) {
        voice.say(r#"type events such as {"event": "agent_started"}; Ctrl-D ends it"#);
        if let (Place::Outside(why), true) = (&place, nowhere) {
            voice.say(&format!("nothing is reported: {why}"));
        }
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
    let reporter = reporter(loaded.settings, &place, host_pid, terminal);
    let strict = args.strict;
    let session = Session { reporter, lease, place, voice, quiet, strict, allow_foreign_socket };
    session.run(host.flatten())
}

/// A reporter for a place; an inert one where there is nothing to report to.
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
        // Whether the pane is ours is asked about the agent, not about us.
        builder = builder.process(host);
    }
    match place {
        Place::Pane(endpoint) => builder.endpoint(endpoint.clone()),
        Place::Outside(_) | Place::Broken(_) => builder.environment(|_| None),
    }
    .start()
}
