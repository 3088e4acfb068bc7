/// What Herdr 0.8.2 accepts from one of its own integrations (protocol §6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Integration {
    /// Reports of the state, with the session. Screen reading is turned off.
    FullLifecycle,
    /// The session. The state is read from the screen, and a reported state is ignored.
    ScreenRead,
    /// The session id only. A reported state is ignored.
    IdentityOnly,
}

const OFFICIAL: [(&str, &str, Integration); 17] = [
    ("herdr:pi", "pi", Integration::FullLifecycle),
    ("herdr:omp", "omp", Integration::FullLifecycle),
    ("herdr:mastracode", "mastracode", Integration::FullLifecycle),
    ("herdr:opencode", "opencode", Integration::FullLifecycle),
    ("herdr:kilo", "kilo", Integration::FullLifecycle),
    ("herdr:kimi", "kimi", Integration::FullLifecycle),
    ("herdr:claude", "claude", Integration::ScreenRead),
    ("herdr:codex", "codex", Integration::ScreenRead),
    ("herdr:copilot", "copilot", Integration::ScreenRead),
    ("herdr:devin", "devin", Integration::ScreenRead),
    ("herdr:droid", "droid", Integration::ScreenRead),
    ("herdr:qodercli", "qodercli", Integration::ScreenRead),
    ("herdr:qwen", "qwen", Integration::ScreenRead),
    ("herdr:cursor", "cursor", Integration::ScreenRead),
    ("herdr:grok", "grok", Integration::ScreenRead),
    ("herdr:hermes", "hermes", Integration::IdentityOnly),
    ("herdr:antigravity_cli", "agy", Integration::IdentityOnly),
];

/// Which of Herdr's own integrations a source and a canonical label belong to. `None` for every
/// custom pair, and also for a `herdr:` source with another label.
///
/// Do not report under one of these pairs: the state would be ignored, or the pane would be
/// locked for all other sources (failures B36, B39).
pub fn integration(source: &str, label: &str) -> Option<Integration> {
    integrations()
        .find(|(official, agent, _)| *official == source && *agent == label)
        .map(|(_, _, class)| class)
}

/// All 17 official pairs: source, canonical label, class.
pub fn integrations() -> impl Iterator<Item = (&'static str, &'static str, Integration)> {
    OFFICIAL.into_iter()
}
