//! Translates an agent's hook call to events. Pure.

use herdr_proto::{ReportState, StateKey};
use herdr_reporter::{
    AgentEvent, Config, MAIN_AGENT, Privacy, Prompt, PromptKind, ReasonLabel, SessionStarted,
    Source,
};
use serde_json::{Value, json};

use super::payload::Payload;
use crate::commands::agents::{Agent, Meaning};

/// What a hook call means.
#[derive(Debug, Default)]
pub(super) struct Translation {
    pub(super) events: Vec<AgentEvent>,
    /// A title that is set if the pane has none.
    pub(super) first_title: Option<String>,
}

/// The prompt id for a question that a notification reports.
const NOTICE: &str = "notice";
/// The agent id under which compacting the context is reported.
const COMPACTION: &str = "compaction";
/// The longest id that is made from a text, in characters.
const ID: usize = 200;

/// Translates one call of `agent`. `event` takes precedence over the event in the payload.
pub(super) fn translate(
    agent: &Agent,
    event: Option<&str>,
    payload: &Payload,
    config: &Config,
) -> Translation {
    let named = payload.text(&["hook_event_name", "hookEventName", "type"]);
    let Some(event) = event.map(str::to_owned).or(named) else { return Translation::default() };
    let kind = payload.text(&["notification_type"]);
    let Some(meaning) = agent.meaning(&event, kind.as_deref()) else {
        return Translation::default();
    };
    let call = Call { agent, payload, config, who: payload.text(&["agent_id"]) };
    let mut events = call.events(meaning);
    if agent.guesses {
        events.extend(call.guess(meaning));
    }
    let first_title = (meaning == Meaning::Turn).then(|| call.prompt()).flatten();
    Translation { events, first_title }
}

struct Call<'a> {
    agent: &'a Agent,
    payload: &'a Payload<'a>,
    config: &'a Config,
    /// The id of the subagent that calls, if it is one.
    who: Option<String>,
}

impl Call<'_> {
    fn events(&self, meaning: Meaning) -> Vec<AgentEvent> {
        let started = |id: &str| AgentEvent::agent_started().of_agent(Some(id.into()));
        let settled = |id: &str| AgentEvent::agent_settled().of_agent(Some(id.into()));
        let idle = || AgentEvent::state_settled(ReportState::Idle, None);
        let who = self.who();
        let mut events = match meaning {
            Meaning::Session => return self.session(),
            // Everything that was open before has ended.
            Meaning::Turn | Meaning::GoesOn => vec![settled(who), started(who)],
            Meaning::Tool => vec![self.question().unwrap_or_else(|| self.tool())],
            Meaning::Runs => vec![settled(who), started(who), self.tool()],
            Meaning::Asks => vec![self.question().unwrap_or_else(|| {
                self.asks(&self.id(), PromptKind::Approval, Some(self.label()))
            })],
            Meaning::Approval => {
                let label = self.details().or_else(|| self.payload.text(&["message"]));
                let label = label.filter(|_| self.config.privacy == Privacy::Text);
                vec![self.asks(NOTICE, PromptKind::Approval, label)]
            }
            Meaning::Question => {
                let signs_in = self.payload.text(&["mode"]).as_deref() == Some("url");
                let kind = if signs_in { PromptKind::Auth } else { PromptKind::Question };
                vec![self.asks(NOTICE, kind, self.payload.text(&["message"]))]
            }
            Meaning::Answered => vec![AgentEvent::prompt_closed(NOTICE)],
            Meaning::Done if self.payload.is("is_interrupt") => match &self.who {
                Some(subagent) => vec![settled(subagent)],
                None => vec![idle()],
            },
            Meaning::Done => vec![
                AgentEvent::tool_finished(self.tool_id()),
                AgentEvent::prompt_closed(self.id()),
            ],
            Meaning::Subagent => vec![started(&self.subagent())],
            Meaning::SubagentEnds => vec![settled(&self.subagent())],
            Meaning::Compacting => vec![started(COMPACTION)],
            Meaning::Compacted => vec![settled(COMPACTION)],
            Meaning::MayAsk | Meaning::Context => Vec::new(),
            Meaning::Idle => vec![idle()],
            Meaning::Over => match self.payload.text(&["reason"]).as_deref() {
                // The program continues with another session.
                Some("clear" | "resume") => vec![AgentEvent::session_ended()],
                _ => vec![AgentEvent::Release],
            },
        };
        if matches!(meaning, Meaning::Turn | Meaning::Context) {
            events.extend(self.model());
        }
        events
    }

    fn who(&self) -> &str {
        self.who.as_deref().unwrap_or(MAIN_AGENT)
    }

    fn session(&self) -> Vec<AgentEvent> {
        let text = |names: &[&str]| self.payload.text(names);
        let Some(id) = text(&["session_id", "sessionId", "conversation_id"]) else {
            return Vec::new();
        };
        let mut session = SessionStarted::new(id);
        session.reason = text(&["source"]);
        session.model = text(&["model"]);
        session.title = text(&["session_title"]);
        // The pane still shows the title of another session.
        let untitled = session.title.is_none() && session.reason.as_deref() != Some("compact");
        let mut events = vec![AgentEvent::SessionStarted(session)];
        events.extend(untitled.then(|| AgentEvent::title_changed(None)));
        events
    }

    /// What a turn is about, in one line.
    fn prompt(&self) -> Option<String> {
        let prompt = self.payload.text(&["submitted_prompt", "prompt"])?;
        let line = prompt.lines().map(str::trim).find(|line| !line.is_empty())?;
        // A command does not describe the work.
        (!line.starts_with(['/', '!', '<'])).then(|| line.to_owned())
    }

    /// The model and the context, where the payload has them.
    fn model(&self) -> Vec<AgentEvent> {
        // A model without the size of its window would overwrite the size that the status line
        // reported.
        if self.agent.has_statusline() {
            return Vec::new();
        }
        let number = |name: &str| self.payload.value(&[name]).and_then(|value| value.as_u64());
        let model = self.payload.text(&["model"]);
        let window = number("context_window_size");
        let model = model.map(|model| AgentEvent::model_changed(Some(model), window));
        let used = number("context_tokens").map(AgentEvent::usage_changed);
        model.into_iter().chain(used).collect()
    }

    /// What a person may be asked about, as the label of a block that Herdr detects. The label
    /// is cleared once the agent goes on.
    fn guess(&self, meaning: Meaning) -> Option<AgentEvent> {
        let Config { message, reason_label, .. } = self.config;
        let label = match meaning {
            _ if *message == Source::None || *reason_label == ReasonLabel::Off => return None,
            Meaning::Tool | Meaning::MayAsk => Some(self.label()),
            Meaning::Done | Meaning::GoesOn | Meaning::Answered | Meaning::Turn | Meaning::Idle => {
                None
            }
            _ => return None,
        };
        Some(AgentEvent::labels_changed([(StateKey::Blocked, label)]))
    }

    fn tool(&self) -> AgentEvent {
        AgentEvent::tool_started(self.tool_id(), self.tool_name()).of_agent(Some(self.who().into()))
    }

    /// The event for a tool that asks a person a question.
    fn question(&self) -> Option<AgentEvent> {
        let name = self.tool_name().to_lowercase().replace('_', "");
        if !name.starts_with("askuser") {
            return None;
        }
        let input = self.input();
        let question = input.pointer("/questions/0/question").or_else(|| input.get("question"));
        let question = question.and_then(Value::as_str).map(str::to_owned);
        Some(self.asks(&self.id(), PromptKind::Question, question))
    }

    fn asks(&self, id: &str, kind: PromptKind, label: Option<String>) -> AgentEvent {
        let mut prompt = Prompt::of(kind);
        prompt.label = label;
        AgentEvent::prompt_opened(id, prompt).of_agent(Some(self.who().into()))
    }

    fn tool_name(&self) -> String {
        let name = self.payload.text(&["tool_name", "toolName"]);
        name.unwrap_or_else(|| "Shell".to_owned())
    }

    fn input(&self) -> Value {
        self.payload.value(&["tool_input", "toolArgs", "toolInput"]).unwrap_or_default()
    }

    /// What a person is asked about, as far as the privacy setting allows.
    fn label(&self) -> String {
        if self.config.privacy == Privacy::Text { self.doing() } else { self.tool_name() }
    }

    /// What a tool would do, such as `Bash: npm test`.
    fn doing(&self) -> String {
        let input = match self.payload.text(&["command"]) {
            Some(command) => json!({"command": command}),
            None => self.input(),
        };
        doing(&self.tool_name(), &input)
    }

    /// What a notification is about, if it meaning so.
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

    /// The id of a call, which is the same before and after it. Not every event has the agent's
    /// own id.
    fn id(&self) -> String {
        cut(&format!("{}/{}", self.who(), self.doing()))
    }

    fn tool_id(&self) -> String {
        self.payload.text(&["tool_use_id"]).unwrap_or_else(|| self.id())
    }

    /// The id of the subagent that an event is about. A subagent without an id is known by its
    /// type and task, which are the same at its start and at its end.
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

/// The arguments that describe a tool's call best, in order of preference.
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
        // A sidebar is narrow, so only the last part of a path is shown.
        let line = if is_path { line.rsplit(['/', '\\']).next().unwrap_or(line) } else { line };
        (!line.is_empty()).then(|| line.to_owned())
    });
    match found {
        Some(argument) => format!("{tool}: {argument}"),
        None => tool.to_owned(),
    }
}
