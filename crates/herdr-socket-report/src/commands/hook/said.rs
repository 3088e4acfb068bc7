//! From an agent's hook call to events. Pure.

use serde_json::{Value, json};

use super::payload::Payload;
use crate::commands::agents::{Agent, Says};

/// What a hook call says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    /// Events of the event language.
    pub(super) events: Vec<Value>,
    /// A title for a pane that has none.
    pub(super) first_title: Option<String>,
}

/// The agent of the pane, in events.
const MAIN: &str = "main";
/// Longest id that is made of a text, in characters.
const ID: usize = 200;

/// What this call of `agent` says. `event` comes before the payload's own.
pub(super) fn said(agent: &Agent, event: Option<&str>, payload: &Payload) -> Said {
    let named = payload.text(&["hook_event_name", "hookEventName", "type"]);
    let Some(event) = event.map(str::to_owned).or(named) else { return Said::default() };
    let kind = payload.text(&["notification_type"]);
    let Some(says) = agent.says(&event, kind.as_deref()) else { return Said::default() };
    let call = Call { agent, payload, who: payload.text(&["agent_id"]) };
    let first_title = (says == Says::Turn).then(|| call.prompt()).flatten();
    Said { events: call.events(says), first_title }
}

struct Call<'a> {
    agent: &'a Agent,
    payload: &'a Payload<'a>,
    /// The subagent that calls.
    who: Option<String>,
}

impl Call<'_> {
    fn events(&self, says: Says) -> Vec<Value> {
        let who = self.who();
        let started = |id: &str| json!({"event": "agent_started", "agent_id": id});
        let settled = |id: &str| json!({"event": "agent_settled", "agent_id": id});
        let idle = || json!({"event": "state_set", "state": "idle", "settles": true});
        let mut events = match says {
            Says::Session => return self.session(),
            // What was open before is over.
            Says::Turn | Says::GoesOn => vec![settled(who), started(who)],
            Says::Tool => vec![self.asks().unwrap_or_else(|| self.tool())],
            Says::Runs => vec![settled(who), started(who), self.tool()],
            Says::Asks => vec![self.asks().unwrap_or_else(|| {
                self.prompt_opened(&self.id(), "approval", Some(&self.label()))
            })],
            Says::Approval => {
                let label = self.details().or_else(|| self.payload.text(&["message"]));
                vec![self.prompt_opened("notice", "approval", label.as_deref())]
            }
            Says::Question => {
                let kind = match self.payload.text(&["mode"]).as_deref() {
                    Some("url") => "auth",
                    _ => "question",
                };
                let label = self.payload.text(&["message"]);
                vec![self.prompt_opened("notice", kind, label.as_deref())]
            }
            Says::Answered => vec![json!({"event": "prompt_closed", "prompt_id": "notice"})],
            Says::Done if self.payload.is("is_interrupt") => match &self.who {
                Some(subagent) => vec![settled(subagent)],
                None => vec![idle()],
            },
            Says::Done => vec![
                json!({"event": "tool_finished", "tool_id": self.tool_id()}),
                json!({"event": "prompt_closed", "prompt_id": self.id()}),
            ],
            Says::Subagent => vec![started(&self.subagent())],
            Says::SubagentEnds => vec![settled(&self.subagent())],
            Says::Compacting => vec![started("compaction")],
            Says::Compacted => vec![settled("compaction")],
            Says::MayAsk | Says::Context => Vec::new(),
            Says::Idle => vec![idle()],
            Says::Over => match self.payload.text(&["reason"]).as_deref() {
                // The program goes on with another session.
                Some("clear" | "resume") => vec![json!({"event": "session_ended"})],
                _ => return vec![json!({"event": "release"})],
            },
        };
        if matches!(says, Says::Turn | Says::Context) {
            events.extend(self.model());
        }
        if self.agent.guesses {
            events.extend(self.guess(says));
        }
        events
    }

    fn who(&self) -> &str {
        self.who.as_deref().unwrap_or(MAIN)
    }

    fn session(&self) -> Vec<Value> {
        let text = |names: &[&str]| self.payload.text(names);
        let Some(id) = text(&["session_id", "sessionId", "conversation_id"]) else {
            return Vec::new();
        };
        let reason = text(&["source"]);
        let mut event = json!({"event": "session_started", "session_id": id});
        let fields = [
            ("reason", reason.clone()),
            ("model", text(&["model"])),
            ("title", text(&["session_title"])),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                event[name] = value.into();
            }
        }
        let mut events = vec![event];
        if events[0].get("title").is_none() && reason.as_deref() != Some("compact") {
            // The title that is shown is another session's.
            events.push(json!({"event": "title_changed", "title": null}));
        }
        events
    }

    /// What a turn is about, in one line.
    fn prompt(&self) -> Option<String> {
        let prompt = self.payload.text(&["submitted_prompt", "prompt"])?;
        let line = prompt.lines().map(str::trim).find(|line| !line.is_empty())?;
        // Commands say nothing of it.
        (!line.starts_with(['/', '!', '<'])).then(|| line.to_owned())
    }

    /// Model and context where the payload has them.
    fn model(&self) -> Vec<Value> {
        // A model without its window would take the status line's window off.
        if !self.agent.statusline().is_empty() {
            return Vec::new();
        }
        let number = |name: &str| self.payload.value(&[name]).and_then(|value| value.as_u64());
        let window = number("context_window_size");
        let model = self.payload.text(&["model"]).map(
            |model| json!({"event": "model_changed", "model": model, "context_window": window}),
        );
        let used =
            number("context_tokens").map(|used| json!({"event": "usage_changed", "used": used}));
        model.into_iter().chain(used).collect()
    }

    /// What a person may be asked about, as the label of a block that Herdr
    /// sees; nothing once the agent goes on.
    fn guess(&self, says: Says) -> Option<Value> {
        let label = match says {
            Says::Tool | Says::MayAsk => Value::from(self.label()),
            Says::Done | Says::GoesOn | Says::Answered | Says::Turn | Says::Idle => Value::Null,
            _ => return None,
        };
        Some(json!({"event": "labels_changed", "labels": {"blocked": label}}))
    }

    fn tool(&self) -> Value {
        json!({
            "event": "tool_started",
            "tool_id": self.tool_id(),
            "tool": self.tool_name(),
            "agent_id": self.who(),
        })
    }

    /// A tool that asks a person.
    fn asks(&self) -> Option<Value> {
        let name = self.tool_name().to_lowercase().replace('_', "");
        if !name.starts_with("askuser") {
            return None;
        }
        let input = self.input();
        let question = input.pointer("/questions/0/question").or_else(|| input.get("question"));
        let question = question.and_then(Value::as_str);
        Some(self.prompt_opened(&self.id(), "question", question))
    }

    fn prompt_opened(&self, id: &str, kind: &str, label: Option<&str>) -> Value {
        json!({
            "event": "prompt_opened",
            "prompt_id": id,
            "kind": kind,
            "label": label,
            "agent_id": self.who(),
        })
    }

    fn tool_name(&self) -> String {
        let name = self.payload.text(&["tool_name", "toolName"]);
        name.unwrap_or_else(|| "Shell".to_owned())
    }

    fn input(&self) -> Value {
        self.payload.value(&["tool_input", "toolArgs", "toolInput"]).unwrap_or_default()
    }

    /// What a tool would do: `Bash: npm test`.
    fn label(&self) -> String {
        let input = match self.payload.text(&["command"]) {
            Some(command) => json!({"command": command}),
            None => self.input(),
        };
        doing(&self.tool_name(), &input)
    }

    /// What a notification is about, where it says so.
    fn details(&self) -> Option<String> {
        let details = self.payload.value(&["details"])?;
        let name = match details.get("type")?.as_str()? {
            "exec" => "Shell",
            "edit" => "Edit",
            "mcp" => details.get("toolName")?.as_str()?,
            _ => return None,
        };
        Some(doing(name, &details))
    }

    /// The same before and after a call. Not every event has the agent's own
    /// id.
    fn id(&self) -> String {
        cut(&format!("{}/{}", self.who(), self.label()))
    }

    fn tool_id(&self) -> String {
        self.payload.text(&["tool_use_id"]).unwrap_or_else(|| self.id())
    }

    /// The subagent that an event is about. Those without an id have the same
    /// type and task at both ends.
    fn subagent(&self) -> String {
        let id = self.payload.text(&["agent_id", "agentName"]);
        id.unwrap_or_else(|| {
            let text = |name| self.payload.text(&[name]).unwrap_or_default();
            cut(&format!("{}/{}", text("subagent_type"), text("task")))
        })
    }
}

fn cut(id: &str) -> String {
    id.chars().take(ID).collect()
}

/// The argument that tells most of a tool's call, the best first.
const ARGUMENTS: [&str; 11] = [
    "command",
    "file_path",
    "filePath",
    "fileName",
    "absolute_path",
    "path",
    "notebook_path",
    "url",
    "query",
    "pattern",
    "description",
];

/// A tool and what it would do, in one line.
fn doing(tool: &str, input: &Value) -> String {
    let words = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            words.map(|words| words.join(" "))
        }
        _ => None,
    };
    let found = ARGUMENTS.iter().find_map(|name| {
        let text = words(input.get(name)?)?;
        let line = text.trim().lines().next().unwrap_or_default();
        let is_path = name.to_lowercase().contains("path") || *name == "fileName";
        // A sidebar is narrow.
        let line = if is_path { line.rsplit(['/', '\\']).next().unwrap_or(line) } else { line };
        (!line.is_empty()).then(|| line.to_owned())
    });
    match found {
        Some(argument) => format!("{tool}: {argument}"),
        None => tool.to_owned(),
    }
}
