//! The session that the demo plays.

use std::time::Duration;

use herdr_reporter::AgentEvent;
use herdr_reporter::sidecar::EventLine;
use serde_json::Value;

/// One event of the session.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The time since the event before, at the pace of a person who watches.
    pub(crate) after: Duration,
    pub(crate) event: AgentEvent,
    /// The event and its main content, for people.
    pub(crate) told: String,
}

/// Event lines as a host writes them. `after_ms` is not a field of the event language and is
/// therefore ignored by it.
const SESSION: &str = include_str!("session.jsonl");

/// The fields of which the first present one describes the event.
const TOLD: [&str; 8] = ["label", "title", "tool", "model", "used", "tokens", "labels", "agent_id"];

pub(crate) fn steps() -> Vec<Step> {
    SESSION.lines().filter_map(step).collect()
}

fn step(line: &str) -> Option<Step> {
    let Ok(Some(EventLine::Event(event))) = EventLine::parse(line.as_bytes()) else { return None };
    let fields: Value = serde_json::from_str(line).ok()?;
    let kind = fields["event"].as_str()?;
    let about = TOLD.iter().find_map(|field| text(&fields[field]));
    let told = about.map_or_else(|| kind.to_owned(), |about| format!("{kind}: {about}"));
    let after = Duration::from_millis(fields["after_ms"].as_u64()?);
    Some(Step { after, event, told })
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(entries) => {
            let entries =
                entries.iter().filter_map(|(key, value)| Some(format!("{key} = {}", text(value)?)));
            Some(entries.collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_an_event_and_the_session_is_worth_watching() {
        let steps = steps();
        assert_eq!(steps.len(), SESSION.lines().count());
        let length: Duration = steps.iter().map(|step| step.after).sum();
        assert!((10..16).contains(&length.as_secs()), "{length:?}");
        assert_eq!(steps.last().map(|step| &step.event), Some(&AgentEvent::Release));
    }
}
