//! The errors that the server answers.

/// An error reply. Clients go by the code; the message is text for people and not
/// part of the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn pane_not_found(pane: &str) -> Self {
        Self::new("pane_not_found", format!("there is no pane {pane}"))
    }

    pub(crate) fn workspace_not_found(workspace: &str) -> Self {
        Self::new("workspace_not_found", format!("there is no workspace {workspace}"))
    }

    pub(crate) fn tab_not_found(tab: &str) -> Self {
        Self::new("tab_not_found", format!("there is no tab {tab}"))
    }

    pub(crate) fn stopping() -> Self {
        Self::new("server_unavailable", "the server is stopping")
    }
}
