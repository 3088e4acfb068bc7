//! The environment variables that Herdr sets for the programs in a pane, and those that select
//! a session for other programs (protocol.md section 7.1).
//!
//! This crate never reads the process environment by itself. Every function takes a lookup
//! instead, so that a caller reads the environment once and a test does not depend on it.

/// `1` inside a pane. Anything else means that this process is not in Herdr.
pub const HERDR_ENV: &str = "HERDR_ENV";

/// The absolute path of the pane socket.
pub const HERDR_SOCKET_PATH: &str = "HERDR_SOCKET_PATH";

/// The id of the pane when the pane started. A moved pane keeps the old value, which the server
/// still resolves. Popups have none.
pub const HERDR_PANE_ID: &str = "HERDR_PANE_ID";

/// The id of the tab when the pane started.
pub const HERDR_TAB_ID: &str = "HERDR_TAB_ID";

/// The id of the workspace when the pane started.
pub const HERDR_WORKSPACE_ID: &str = "HERDR_WORKSPACE_ID";

/// The path of the `herdr` program. This workspace never runs it. The name is needed to remove
/// the variable from a child's environment.
pub const HERDR_BIN_PATH: &str = "HERDR_BIN_PATH";

/// The name of a session, for programs outside a pane. `default` selects the session without a
/// name.
pub const HERDR_SESSION: &str = "HERDR_SESSION";

/// The six variables that Herdr sets in a pane, for removing them from a child's environment.
pub const PANE_VARIABLES: [&str; 6] =
    [HERDR_ENV, HERDR_SOCKET_PATH, HERDR_PANE_ID, HERDR_TAB_ID, HERDR_WORKSPACE_ID, HERDR_BIN_PATH];
