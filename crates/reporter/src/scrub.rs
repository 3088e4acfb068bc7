use std::process::Command;

use herdr_socket_transport::env;

/// Removes Herdr's variables from the environment of a child process, so that an agent that runs as
/// a tool neither takes over nor releases this pane (failure B19).
///
/// ```
/// let mut tool = std::process::Command::new("make");
/// herdr_reporter::scrub(&mut tool);
/// assert!(tool.get_envs().any(|(name, value)| name == "HERDR_PANE_ID" && value.is_none()));
/// ```
pub fn scrub(command: &mut Command) {
    for name in env::PANE_VARIABLES.into_iter().chain([env::HERDR_SESSION]) {
        command.env_remove(name);
    }
}
