//! The agents whose hooks this program understands: what each of their events means, and where
//! their settings are. The sources of these facts are listed beside the payloads in
//! `tests/agents`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An agent whose hooks this program understands.
#[derive(Debug)]
pub(crate) struct Agent {
    /// The label that Herdr knows it by.
    pub(crate) name: &'static str,
    /// Its name in messages.
    pub(crate) title: &'static str,
    /// What its hooks show in the pane.
    pub(crate) shows: &'static str,
    /// The name of its program.
    pub(crate) program: &'static str,
    /// The variable that moves its settings folder.
    variable: Option<&'static str>,
    /// Its settings folder, below the home folder.
    folder: &'static str,
    /// The file in the settings folder that `init` writes to.
    file: &'static str,
    /// How hooks stand in that file.
    pub(crate) setup: Setup,
    /// The events that `init` asks for. `Notification:x` is a notification of type `x`.
    pub(crate) events: Events,
    /// Further events that `init` asks for and that several agents have.
    pub(crate) shared: Events,
    /// Events that are understood and not asked for.
    also: Events,
    /// Whether the agent has no event for asking a person. Then a tool that is about to run
    /// counts as what the agent may ask about.
    pub(crate) guesses: bool,
    /// What the user has to do or to know besides; empty for most agents.
    pub(crate) note: &'static str,
    /// Whether the agent expects a JSON object on a hook's stdout. Without one, Gemini CLI
    /// shows the hook's stderr.
    pub(crate) answers: bool,
}

/// How hooks stand in an agent's settings.
#[derive(Debug)]
pub(crate) enum Setup {
    /// A list of groups of hooks for each event. The timeout is in the agent's unit.
    Groups { timeout: u32, statusline: &'static [&'static str] },
    /// A list of hooks for each event, with the names of the fields for the command and for the
    /// timeout in seconds.
    Flat { command: &'static str, timeout: &'static str },
    /// A file of its own with this content.
    Plugin(&'static str),
}

/// What an event means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A session begins or continues.
    Session,
    /// A person's prompt starts a turn.
    Turn,
    /// A tool is about to run. A person may be asked first.
    Tool,
    /// A tool runs, so any question about it has been answered.
    Runs,
    /// A person is asked whether a tool may run.
    Asks,
    /// A person may be asked about this tool.
    MayAsk,
    /// A notification that a person is asked for a permission.
    Approval,
    /// A notification that a person is asked a question.
    Question,
    /// The question of a notification has been answered.
    Answered,
    /// A tool has ended.
    Done,
    /// The agent goes on: questions have been answered and tools have ended.
    GoesOn,
    /// A subagent starts.
    Subagent,
    /// A subagent has ended.
    SubagentEnds,
    /// The context is being compacted.
    Compacting,
    /// The context has been compacted.
    Compacted,
    /// The event only tells how full the context is.
    Context,
    /// The turn has ended.
    Idle,
    /// The session has ended.
    Over,
}

use Meaning::{
    Answered, Approval, Asks, Compacted, Compacting, Context, Done, GoesOn, Idle, MayAsk, Over,
    Question, Runs, Session, Subagent, SubagentEnds, Tool, Turn,
};

/// Events and their meanings.
type Events = &'static [(&'static str, Meaning)];

/// The events that Claude Code, Codex CLI and Qwen Code have in common.
const SHARED: Events = &[
    ("SessionStart", Session),
    ("UserPromptSubmit", Turn),
    ("PreToolUse", Tool),
    ("PermissionRequest", Asks),
    ("PostToolUse", Done),
    ("SubagentStart", Subagent),
    ("SubagentStop", SubagentEnds),
    ("PreCompact", Compacting),
    ("PostCompact", Compacted),
    ("Stop", Idle),
];

/// The values that most agents share.
const NONE: Agent = Agent {
    name: "",
    title: "",
    shows: "",
    program: "",
    variable: None,
    folder: "",
    file: "",
    setup: Setup::Plugin(""),
    events: &[],
    shared: &[],
    also: &[],
    guesses: false,
    note: "",
    answers: false,
};

/// All agents.
pub(crate) static AGENTS: [Agent; 8] = [
    Agent {
        name: "claude",
        title: "Claude Code",
        shows: "title, why it is blocked, model and context",
        program: "claude",
        variable: Some("CLAUDE_CONFIG_DIR"),
        folder: ".claude",
        file: "settings.json",
        setup: Setup::Groups { timeout: 5, statusline: &["statusLine"] },
        events: &[
            ("PostToolUseFailure", Done),
            ("PostToolBatch", GoesOn),
            ("Elicitation", Question),
            ("ElicitationResult", Answered),
            ("Notification:idle_prompt", Idle),
            ("StopFailure", Idle),
            ("SessionEnd", Over),
        ],
        shared: SHARED,
        ..NONE
    },
    Agent {
        name: "codex",
        title: "Codex CLI",
        shows: "title, why it is blocked, model",
        program: "codex",
        variable: Some("CODEX_HOME"),
        folder: ".codex",
        file: "hooks.json",
        setup: Setup::Groups { timeout: 5, statusline: &[] },
        shared: SHARED,
        also: &[("StopFailure", Idle), ("Interrupt", Idle), ("agent-turn-complete", Idle)],
        note: "Codex asks whether new hooks are to be trusted (/hooks). Its background server \
               runs hooks outside of the pane, where they report nothing: set \
               daemon_auto_start = false under [features] in config.toml.",
        ..NONE
    },
    Agent {
        name: "gemini",
        title: "Gemini CLI",
        shows: "title, why it is blocked",
        program: "gemini",
        folder: ".gemini",
        file: "settings.json",
        setup: Setup::Groups { timeout: 5000, statusline: &[] },
        events: &[
            ("SessionStart", Session),
            ("BeforeAgent", Turn),
            ("BeforeTool", Runs),
            ("AfterTool", Done),
            ("Notification:ToolPermission", Approval),
            ("AfterAgent", Idle),
            ("SessionEnd", Over),
        ],
        answers: true,
        ..NONE
    },
    Agent {
        name: "cursor",
        title: "Cursor CLI",
        shows: "title, the tool it may ask about, model",
        program: "cursor-agent",
        variable: Some("CURSOR_CONFIG_DIR"),
        folder: ".cursor",
        file: "hooks.json",
        setup: Setup::Flat { command: "command", timeout: "timeout" },
        events: &[
            ("sessionStart", Session),
            ("beforeSubmitPrompt", Turn),
            ("preToolUse", Tool),
            ("beforeShellExecution", MayAsk),
            ("beforeMCPExecution", MayAsk),
            ("afterShellExecution", Answered),
            ("afterMCPExecution", Answered),
            ("postToolUse", Done),
            ("postToolUseFailure", Done),
            ("subagentStart", Subagent),
            ("subagentStop", SubagentEnds),
            ("preCompact", Context),
            ("stop", Idle),
            ("sessionEnd", Over),
        ],
        guesses: true,
        answers: true,
        ..NONE
    },
    Agent {
        name: "copilot",
        title: "GitHub Copilot CLI",
        shows: "title, why it is blocked",
        program: "copilot",
        variable: Some("COPILOT_HOME"),
        folder: ".copilot",
        file: "hooks/herdr-socket-report.json",
        setup: Setup::Flat { command: "bash", timeout: "timeoutSec" },
        // `preToolUse` is not used. If its hook fails, Cursor refuses the tool, and the hook
        // fails once this program is uninstalled.
        events: &[
            ("sessionStart", Session),
            ("userPromptSubmitted", Turn),
            ("permissionRequest", MayAsk),
            ("postToolUse", GoesOn),
            ("postToolUseFailure", GoesOn),
            ("notification:permission_prompt", Approval),
            ("notification:elicitation_dialog", Question),
            ("subagentStart", Subagent),
            ("subagentStop", SubagentEnds),
            ("agentStop", Idle),
            ("sessionEnd", Over),
        ],
        also: &[("preToolUse", Tool)],
        guesses: true,
        ..NONE
    },
    Agent {
        name: "qwen",
        title: "Qwen Code",
        shows: "title, why it is blocked, model and context",
        program: "qwen",
        variable: Some("QWEN_HOME"),
        folder: ".qwen",
        file: "settings.json",
        setup: Setup::Groups { timeout: 5000, statusline: &["ui", "statusLine"] },
        events: &[
            ("PermissionDenied", Done),
            ("PostToolUseFailure", Done),
            ("Notification:idle_prompt", Idle),
            ("StopFailure", Idle),
            ("SessionEnd", Over),
        ],
        shared: SHARED,
        ..NONE
    },
    Agent {
        name: "opencode",
        title: "opencode",
        shows: "title, why it is blocked, model and context",
        program: "opencode",
        folder: ".config/opencode",
        file: "plugins/herdr-socket-report.js",
        setup: Setup::Plugin(concat!(
            include_str!("init/reporter.js"),
            include_str!("init/opencode.js")
        )),
        ..NONE
    },
    Agent {
        name: "pi",
        title: "pi",
        shows: "title, model and context",
        program: "pi",
        variable: Some("PI_CODING_AGENT_DIR"),
        folder: ".pi/agent",
        file: "extensions/herdr-socket-report.ts",
        setup: Setup::Plugin(concat!(include_str!("init/reporter.js"), include_str!("init/pi.ts"))),
        ..NONE
    },
];

/// The names of the agents for which `has` is true.
pub(crate) fn names(has: fn(&Agent) -> bool) -> impl Iterator<Item = &'static str> {
    AGENTS.iter().filter(move |agent| has(agent)).map(|agent| agent.name)
}

impl Agent {
    /// The agent of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.name == name)
    }

    pub(crate) fn has_hooks(&self) -> bool {
        self.asked().next().is_some()
    }

    pub(crate) fn has_statusline(&self) -> bool {
        !self.statusline().is_empty()
    }

    /// What an event means. `kind` is the type of a notification.
    pub(crate) fn meaning(&self, event: &str, kind: Option<&str>) -> Option<Meaning> {
        let mut known = self.shared.iter().chain(self.events).chain(self.also);
        let found = known.find(|(name, _)| match name.split_once(':') {
            // Some agents give the type only in the payload.
            Some((name, of)) => name.eq_ignore_ascii_case(event) && Some(of) == kind,
            None => *name == event,
        });
        found.map(|(_, says)| *says)
    }

    /// The names of the events that `init` asks for.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &'static str> {
        let names = self.shared.iter().chain(self.events);
        let names = names.map(|(name, _)| name.split(':').next().unwrap_or(name));
        let mut last = "";
        names.filter(move |name| std::mem::replace(&mut last, name) != *name)
    }

    /// What is printed on stdout for the agent.
    pub(crate) fn answer(&self, event: Option<&str>) -> Option<&'static str> {
        // Cursor sends a prompt only if its hook allows that.
        let goes_on = event == Some("beforeSubmitPrompt");
        self.answers.then_some(if goes_on { "{\"continue\":true}\n" } else { "{}\n" })
    }

    /// The path in the settings to the command of the status line; empty if the agent has none.
    pub(crate) fn statusline(&self) -> &'static [&'static str] {
        match self.setup {
            Setup::Groups { statusline, .. } => statusline,
            Setup::Flat { .. } | Setup::Plugin(_) => &[],
        }
    }

    /// The settings folder and the file in it; `None` if there is no home folder.
    pub(crate) fn place(
        &self,
        lookup: impl Fn(&str) -> Option<OsString>,
    ) -> Option<(PathBuf, PathBuf)> {
        let set = |name| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let moved = self.variable.and_then(set);
        let in_config = || {
            let inside = self.folder.strip_prefix(".config/")?;
            Some(set("XDG_CONFIG_HOME")?.join(inside))
        };
        let folder = match moved.or_else(in_config) {
            Some(folder) => folder,
            None => Path::new(&set("HOME")?).join(self.folder),
        };
        let file = folder.join(self.file);
        Some((folder, file))
    }
}
