//! Changes as lines, for people and as JSON.

use std::time::{Duration, Instant};

use herdr_proto::strip_controls;
use serde::Serialize;

use super::table::{Change, Row};
use crate::output::json_line;
use crate::picture::Agent;

/// A change as a line of JSON.
#[derive(Serialize)]
struct Record<'a> {
    change: &'static str,
    #[serde(flatten)]
    agent: &'a Agent,
    seen_seconds: u64,
}

/// A change of the server as a line of JSON.
#[derive(Serialize)]
struct ServerRecord<'a> {
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

impl Change {
    /// The line of JSON, without its newline.
    pub(super) fn json(&self, now: Instant) -> String {
        let Self { change, row } = self;
        json_line(&Record { change, agent: &row.agent, seen_seconds: row.seen(now).as_secs() })
    }

    /// The line for people; `time` is the time since the start.
    pub(super) fn plain(&self, time: Duration, now: Instant) -> String {
        let Self { change, row } = self;
        let (agent, time) = (&row.agent, time.as_secs_f64());
        if *change == "gone" {
            return format!("{time:>7.1}s {} - {} is gone", agent.pane_id, agent.name);
        }
        let mut text = format!("{time:>7.1}s {} {}", agent.pane_id, agent.sentence());
        if !agent.workspace.is_empty() {
            text = format!("{text} | in {}", agent.workspace);
        }
        if row.seen(now) >= Duration::from_secs(1) {
            text = format!("{text} | for {}", age(row, now));
        }
        text
    }
}

/// A change of the server as a line of JSON.
pub(super) fn server_json(change: &'static str, detail: Option<&str>) -> String {
    let detail = detail.map(strip_controls);
    json_line(&ServerRecord { change, detail: detail.as_deref() })
}

/// How long a state has been seen, in the largest unit that fits; with `>` if the state is
/// older than the watch.
pub(super) fn age(row: &Row, now: Instant) -> String {
    let seconds = row.seen(now).as_secs();
    let before = if row.witnessed { "" } else { ">" };
    match seconds {
        0..60 => format!("{before}{seconds}s"),
        60..3_600 => format!("{before}{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{before}{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}
