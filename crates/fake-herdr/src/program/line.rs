//! Parses control lines. Errors name the field, its value and what is expected.

use std::fmt;

use fake_herdr::Fault;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

/// A command of a control line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Control {
    /// Sets a fault for good, or for the next `times` requests.
    Fault { fault: Fault, times: Option<u32> },
    /// Ends all faults.
    ClearFaults,
    /// Splits a pane; the answer has the id of the new one.
    Split { pane: String },
    /// Closes a pane as the user does.
    Close { pane: String },
    /// Ends the program of a pane.
    Exit { pane: String },
    /// Moves a pane to a new workspace; the answer has its new id.
    Move { pane: String },
    /// Shows a text on a pane's screen.
    Screen { pane: String, text: String },
    /// Starts the process of a known agent, which the detector sees at once, with a
    /// state on its screen.
    AgentAppears { pane: String, agent: String, state: String },
    /// Ends that process, which the detector sees at once.
    AgentExits { pane: String },
    /// Hands the panes to a new process.
    LiveHandoff,
    /// Stops the server and starts it again.
    Restart,
    /// Answers what a reader of a pane sees, and which source holds the claim.
    Observe { pane: String },
    /// Answers the requests and their answers, from a number on.
    Log { from: u64 },
    /// Answers the variables that Herdr sets in a pane.
    Env { pane: String },
    /// Stops the server.
    Stop,
}

/// The values of `do`.
pub(super) const WORDS: [&str; 15] = [
    "fault",
    "clear_faults",
    "split",
    "close",
    "exit",
    "move",
    "screen",
    "agent_appears",
    "agent_exits",
    "live_handoff",
    "restart",
    "observe",
    "log",
    "env",
    "stop",
];

/// The states that a screen can show.
const STATES: [&str; 4] = ["idle", "working", "blocked", "unknown"];

/// Reads one line. The error is the text for the client.
pub(super) fn read(line: &[u8]) -> Result<Control, String> {
    let mut fields = Fields::of(line)?;
    let word = fields.text("do", &format!("one of {}", WORDS.join(", ")))?;
    let control = match word.as_str() {
        "fault" => fault(&mut fields)?,
        "clear_faults" => Control::ClearFaults,
        "split" => Control::Split { pane: fields.pane()? },
        "close" => Control::Close { pane: fields.pane()? },
        "exit" => Control::Exit { pane: fields.pane()? },
        "move" => Control::Move { pane: fields.pane()? },
        "screen" => {
            Control::Screen { pane: fields.pane()?, text: fields.text("text", "the text to show")? }
        }
        "agent_appears" => agent(&mut fields)?,
        "agent_exits" => Control::AgentExits { pane: fields.pane()? },
        "live_handoff" => Control::LiveHandoff,
        "restart" => Control::Restart,
        "observe" => Control::Observe { pane: fields.pane()? },
        "log" => Control::Log { from: fields.number("from")?.unwrap_or(0) },
        "env" => Control::Env { pane: fields.pane()? },
        "stop" => Control::Stop,
        _ => return Err(format!("there is no \"do\" {word:?}: expected {}", WORDS.join(", "))),
    };
    fields.finish(&word)?;
    Ok(control)
}

fn fault(fields: &mut Fields) -> Result<Control, String> {
    let name = fields.text("fault", "the name of a fault such as \"half-line\"")?;
    let fault: Fault = name.parse().map_err(|unknown| format!("{unknown}"))?;
    let times = fields.number("times")?.map(|times| {
        u32::try_from(times).map_err(|_| format!("`times` is {times}: {} is the most", u32::MAX))
    });
    let times = times.transpose()?;
    // No request uses up such a fault.
    if times.is_some_and(|times| times > 0) && fault.is_lasting() {
        return Err(format!(
            "`times` is for faults of requests; \"{fault}\" lasts until it is cleared"
        ));
    }
    Ok(Control::Fault { fault, times })
}

fn agent(fields: &mut Fields) -> Result<Control, String> {
    let pane = fields.pane()?;
    let agent = fields.text("agent", "an agent that Herdr knows, such as \"claude\"")?;
    let states = format!("one of {}", STATES.join(", "));
    let state = fields.text("state", &states)?;
    if herdr_proto::canonical_label(&agent).is_none() {
        let known: Vec<_> = herdr_proto::known_labels().collect();
        return Err(format!("Herdr knows no agent {agent:?}: it knows {}", known.join(", ")));
    }
    if !STATES.contains(&state.as_str()) {
        return Err(format!("`state` is {state:?}: expected {states}"));
    }
    Ok(Control::AgentAppears { pane, agent, state })
}

/// The fields of a line that are not read yet.
struct Fields(Map<String, Value>);

impl Fields {
    fn of(line: &[u8]) -> Result<Self, String> {
        let mut reader = serde_json::Deserializer::from_slice(line);
        let fields =
            reader.deserialize_any(UniqueNames).and_then(|fields| reader.end().map(|()| fields));
        fields.map(Self).map_err(|error| {
            // There is only one line, so its number is left out.
            let why = error.to_string().replace(" at line 1 column ", ", at its byte ");
            format!("it is not a JSON object: {why}")
        })
    }

    fn text(&mut self, name: &str, expected: &str) -> Result<String, String> {
        match self.0.remove(name) {
            None => Err(format!("`{name}` is missing: expected {expected}")),
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(format!("`{name}` is {}: expected {expected}", short(&other))),
        }
    }

    fn pane(&mut self) -> Result<String, String> {
        self.text("pane", "the id of a pane such as \"w1:p1\"")
    }

    /// A whole number that may be missing or null.
    fn number(&mut self, name: &str) -> Result<Option<u64>, String> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                None => Err(format!("`{name}` is {}: expected a whole number", short(&value))),
            },
        }
    }

    fn finish(self, word: &str) -> Result<(), String> {
        match self.0.keys().next() {
            Some(name) => Err(format!("\"{word}\" takes no `{name}`")),
            None => Ok(()),
        }
    }
}

/// A value as text for an error, shortened if it is long.
fn short(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.len() > 40 => "a long text".to_owned(),
        other => other.to_string(),
    }
}

/// Reads an object and refuses a name that appears twice.
struct UniqueNames;

impl<'de> Visitor<'de> for UniqueNames {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object such as {\"do\":\"observe\",\"pane\":\"w1:p1\"}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            if fields.insert(name.clone(), access.next_value()?).is_some() {
                return Err(serde::de::Error::custom(format!("`{name}` appears twice")));
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read() {
        for word in WORDS {
            let mut line = serde_json::json!({ "do": word });
            let needs: &[(&str, Value)] = match word {
                "fault" => &[("fault", "late:5".into()), ("times", 2.into())],
                "screen" => &[("pane", "w1:p1".into()), ("text", "x".into())],
                "agent_appears" => &[
                    ("pane", "w1:p1".into()),
                    ("agent", "Claude-Code".into()),
                    ("state", "idle".into()),
                ],
                "log" => &[("from", 3.into())],
                "clear_faults" | "live_handoff" | "restart" | "stop" => &[],
                _ => &[("pane", "w1:p1".into())],
            };
            for (name, value) in needs {
                if !["log", "fault"].contains(&word) {
                    let missing = read(line.to_string().as_bytes()).unwrap_err();
                    assert!(missing.contains(&format!("`{name}` is missing")), "{missing}");
                }
                line[*name] = value.clone();
            }
            read(line.to_string().as_bytes()).unwrap_or_else(|error| panic!("{line}: {error}"));
            line["extra"] = Value::Null;
            let extra = read(line.to_string().as_bytes()).unwrap_err();
            assert!(extra.contains(word) && extra.contains("`extra`"), "{extra}");
        }
    }

    #[test]
    fn an_error_says_what_is_wrong_where_and_what_would_be_right() {
        for (line, words) in [
            (&b"nope"[..], &["not a JSON object", "at its byte 2"][..]),
            (b"[1]", &["not a JSON object", "such as {\"do\""]),
            (b"7", &["such as {\"do\""]),
            (b"{}", &["`do` is missing", "clear_faults"]),
            (br#"{"do":5}"#, &["`do` is 5", "clear_faults"]),
            (br#"{"do":"dance"}"#, &["\"dance\"", "live_handoff"]),
            (br#"{"do":"close","pane":7}"#, &["`pane` is 7", "w1:p1"]),
            (br#"{"do":"close","pane":"a","pane":"b"}"#, &["`pane` appears twice"]),
            (br#"{"do":"restart"} {"do":"restart"}"#, &["trailing", "at its byte 18"]),
            (b"{\"do\":\"env\",\"pane\":\"\xff\"}", &["unicode", "at its byte"]),
            (br#"{"do":"fault","fault":"x"}"#, &["\"x\"", "half-line"]),
            (br#"{"do":"fault","fault":"close","times":-1}"#, &["`times` is -1", "whole number"]),
            (br#"{"do":"fault","fault":"close","times":"1"}"#, &["`times` is \"1\""]),
            (br#"{"do":"fault","fault":"close","times":4294967296}"#, &["4294967295 is the most"]),
            (br#"{"do":"fault","fault":"freeze","times":1}"#, &["\"freeze\"", "until"]),
            (br#"{"do":"log","from":1.5}"#, &["`from` is 1.5", "whole number"]),
            (br#"{"do":"log","form":1}"#, &["\"log\" takes no `form`"]),
            (
                br#"{"do":"agent_appears","pane":"a","agent":"bot","state":"idle"}"#,
                &["\"bot\"", "claude"],
            ),
            (
                br#"{"do":"agent_appears","pane":"a","agent":"pi","state":"done"}"#,
                &["`state` is \"done\"", "blocked"],
            ),
        ] {
            let error = read(line).unwrap_err();
            for word in words {
                assert!(error.contains(word), "{}: {error}", line.escape_ascii());
            }
        }
        let long = format!(r#"{{"do":"close","pane":["{}"]}}"#, "x".repeat(60_000));
        assert!(read(long.as_bytes()).unwrap_err().len() < 200);
        // 0 removes the fault, so it is not a count.
        assert!(read(br#"{"do":"fault","fault":"freeze","times":0}"#).is_ok());
        assert!(read(b"{\"do\":\"restart\"}\r").is_ok());
    }
}
