//! Gives each pane that is named a task when its agent waits for work, and says
//! when one waits for a person.
#![allow(clippy::print_stdout)]

use std::time::Duration;

use herdr_pane_control::{
    AgentStatus, PaneControl, PromptOptions, PushOptions, ReadOptions, Target, WaitOptions,
};
use herdr_socket_transport::{Client, Options, find_socket};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let socket = find_socket(None, |name| std::env::var_os(name))?;
    let control = PaneControl::new(Client::new(socket, Options::default()));
    let free = WaitOptions::new([AgentStatus::IDLE], Duration::from_secs(900));
    let done =
        WaitOptions::new([AgentStatus::IDLE, AgentStatus::BLOCKED], Duration::from_secs(900));
    let push = PushOptions::default().profile("claude");
    let prompt = PromptOptions::default().allow_push(push).wait(done);
    for pane in std::env::args().skip(1) {
        let target: Target = pane.parse()?;
        let target = control.probe(&target).await?.target().clone();
        control.wait(&target, &free).await?;
        let task = "Run the tests and fix what fails.";
        let prompted = control.prompt(&target, task, &prompt).await?;
        println!("{pane}: {:?}", prompted.way);
        if prompted.status == Some(AgentStatus::BLOCKED) {
            let screen = control.read(&target, ReadOptions::default()).await?;
            println!("{pane} asks (answer {:?}):\n{}", screen.digest, screen.text);
        }
    }
    Ok(())
}
