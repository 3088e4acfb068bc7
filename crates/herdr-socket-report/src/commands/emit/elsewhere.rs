//! The commands of hooks where there are no Unix sockets: they say so.

use herdr_reporter::EventLine;
use serde_json::Value;

use super::Common;
use crate::commands::settings;
use crate::exit::Exit;
use crate::output::say;
use crate::place::Place;

/// One report of one of these commands, which goes nowhere.
pub(crate) struct Report {
    common: Common,
    confirm: bool,
}

impl Report {
    pub(crate) fn new(common: Common, confirm: bool) -> Self {
        Self { common, confirm }
    }

    pub(crate) fn event(self, event: &Value) -> Exit {
        self.lines(&[event.to_string()])
    }

    pub(crate) fn hook(self, _: &'static str, events: Vec<Value>, _: Option<String>) -> Exit {
        let lines: Vec<_> = events.iter().map(Value::to_string).collect();
        self.lines(&lines)
    }

    /// Reads event lines, and that is all.
    pub(crate) fn lines(self, lines: &[String]) -> Exit {
        let strict = self.common.strict || self.confirm;
        let exit = self.report(lines);
        if strict { exit } else { Exit::Fine }
    }

    /// Something about the arguments is wrong.
    pub(crate) fn refuse(self, wrong: &str) -> Exit {
        say(wrong);
        if self.common.strict || self.confirm { Exit::Usage } else { Exit::Fine }
    }

    fn report(self, lines: &[String]) -> Exit {
        for line in lines {
            if let Err(wrong) = EventLine::parse(line.as_bytes()) {
                say(&wrong.to_string());
                return Exit::Usage;
            }
        }
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
