//! The commands of hooks where there are no Unix sockets: they say so.

use herdr_reporter::AgentEvent;

use super::Common;
use super::event::Event;
use crate::commands::settings;
use crate::exit::Exit;
use crate::output::say;
use crate::place::Place;
use crate::settings::Loaded;

/// One report of one of these commands, which goes nowhere.
pub(crate) struct Report {
    common: Common,
    confirm: bool,
}

impl Report {
    pub(crate) fn new(common: Common, confirm: bool) -> Self {
        Self { common, confirm }
    }

    pub(crate) fn hook(self, _: Loaded, _: Vec<AgentEvent>) -> Exit {
        self.events((Vec::new(), Exit::Fine))
    }

    pub(super) fn event(self, event: AgentEvent) -> Exit {
        self.events((vec![Event::of(event)], Exit::Fine))
    }

    /// Says that they go nowhere.
    pub(super) fn events(self, (_, read): (Vec<Event>, Exit)) -> Exit {
        let strict = self.common.strict || self.confirm;
        let exit = if read == Exit::Fine { self.report() } else { read };
        if strict { exit } else { Exit::Fine }
    }

    /// Something about the arguments is wrong.
    pub(crate) fn refuse(self, wrong: &str) -> Exit {
        say(wrong);
        if self.common.strict || self.confirm { Exit::Usage } else { Exit::Fine }
    }

    fn report(self) -> Exit {
        if let Err(exit) = settings(self.common.settings) {
            return exit;
        }
        match self.common.pane.find(|name| std::env::var_os(name)) {
            Ok(Place::Outside(_)) => Exit::Fine,
            Ok(_) => {
                say("connect_failed: panes are reached on Linux and macOS only");
                Exit::Unreachable
            }
            Err(wrong) => {
                say(&wrong);
                Exit::Usage
            }
        }
    }
}
