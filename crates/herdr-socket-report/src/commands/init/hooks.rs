//! Hooks in an agent's JSON settings, which may have comments and unusual formatting. They are
//! added without changing anything else.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};

use crate::commands::agents::{Agent, Setup};

/// The hooks of one agent that call this program.
#[derive(Debug)]
pub(super) struct Hooks {
    pub(super) agent: &'static Agent,
    /// The path of this program, or its name if it is in `PATH`.
    pub(super) program: String,
}

/// The text by which a hook of this program is recognised.
const MARK: &str = "herdr-socket-report";
/// What stands before the command of the previous status line.
const WRAPS: &str = " -- sh -c ";

impl Hooks {
    /// The settings with the hooks added. The text is unchanged if they are there already.
    ///
    /// # Errors
    ///
    /// A message, if the agent could not read the text.
    pub(super) fn add(&self, text: &str) -> Result<String, String> {
        let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| error.to_string())?;
        let object = root.object_value_or_create().ok_or("expected a JSON object")?;
        if matches!(self.agent.setup, Setup::Flat { .. }) && object.get("version").is_none() {
            object.append("version", 1.into());
        }
        let hooks = object.object_value_or_create("hooks").ok_or("`hooks` is not an object")?;
        for event in self.agent.asked() {
            let list = hooks.array_value_or_create(event);
            let list = list.ok_or_else(|| format!("`hooks.{event}` is not an array"))?;
            if !list.elements().iter().any(|entry| self.calls_us(&entry.to_string())) {
                list.append(self.entry(event));
            }
        }
        self.add_statusline(object)?;
        Ok(root.to_string())
    }

    /// What `add` would write, for people.
    pub(super) fn summary(&self) -> String {
        let events: Vec<_> = self.agent.asked().collect();
        let hooks = format!("  hooks for {}:\n    {}\n", events.join(", "), self.command("EVENT"));
        if !self.agent.has_statusline() {
            return hooks;
        }
        let place = self.agent.statusline().join(".");
        format!("{hooks}  {place}:\n    {}\n", self.statusline(""))
    }

    /// A plugin that starts this program.
    pub(super) fn plugin(&self, content: &str) -> String {
        let program = serde_json::Value::from(self.program.as_str()).to_string();
        content.replacen("\"herdr-socket-report\"", &program, 1)
    }

    /// This program as one word of a shell command.
    fn program(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        let program = &self.program;
        if program.chars().all(plain) { program.clone() } else { quoted(program) }
    }

    fn command(&self, event: &str) -> String {
        let (agent, program) = (self.agent, self.program());
        match agent.setup {
            // Calls of this agent do not contain the event's name.
            Setup::Flat { .. } => format!("{program} hook {} {event}", agent.name),
            _ => format!("{program} hook {}", agent.name),
        }
    }

    fn statusline(&self, wrapped: &str) -> String {
        let command = format!("{} statusline {}", self.program(), self.agent.name);
        if wrapped.is_empty() { command } else { format!("{command}{WRAPS}{}", quoted(wrapped)) }
    }

    fn entry(&self, event: &str) -> CstInputValue {
        let command = self.command(event);
        match self.agent.setup {
            Setup::Groups { timeout, .. } => {
                let timeout = CstInputValue::Number(timeout.to_string());
                let hook = object(&[
                    ("type", "command".into()),
                    ("command", command.into()),
                    ("timeout", timeout),
                ]);
                object(&[("hooks", CstInputValue::Array(vec![hook]))])
            }
            Setup::Flat { command: key, timeout } => {
                object(&[(key, command.into()), (timeout, 5.into())])
            }
            Setup::Plugin(_) => CstInputValue::Null,
        }
    }

    /// Whether a hook in the settings calls this program.
    pub(super) fn calls_us(&self, hook: &str) -> bool {
        hook.contains(MARK) && hook.contains(&format!(" hook {}", self.agent.name))
    }

    /// The command of the status line before this program's was set, empty if there was none.
    /// `None` if the command is not this program's.
    pub(super) fn before_ours(command: &str) -> Option<String> {
        let ours = command.contains(MARK) && command.contains(" statusline ");
        ours.then(|| {
            command.split_once(WRAPS).map(|(_, before)| unquoted(before)).unwrap_or_default()
        })
    }

    fn add_statusline(&self, root: CstObject) -> Result<(), String> {
        let Some((last, path)) = self.agent.statusline().split_last() else { return Ok(()) };
        let mut place = root;
        for name in path {
            place = place
                .object_value_or_create(name)
                .ok_or_else(|| format!("`{name}` is not an object"))?;
        }
        let Some(statusline) = place.get(last) else {
            let command = self.statusline("").into();
            place.append(last, object(&[("type", "command".into()), ("command", command)]));
            return Ok(());
        };
        // A status line of another kind is left as it is.
        let Some(statusline) = statusline.object_value() else { return Ok(()) };
        if let Some(command) = text_of(&statusline, "command")
            && !command.contains(MARK)
            && let Some(property) = statusline.get("command")
        {
            property.set_value(self.statusline(&command).into());
        }
        Ok(())
    }
}

/// JSON with comments and trailing commas. Agents may not be able to read other extensions.
pub(super) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
};

fn object(fields: &[(&str, CstInputValue)]) -> CstInputValue {
    CstInputValue::Object(
        fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
    )
}

fn text_of(object: &CstObject, key: &str) -> Option<String> {
    object.get(key)?.value()?.as_string_lit()?.decoded_value().ok()
}

/// Quotes a text as one word of a shell command.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn unquoted(word: &str) -> String {
    let inner = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
    inner.unwrap_or(word).replace(r"'\''", "'")
}
