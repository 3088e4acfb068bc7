//! Events without guards, for a host that gets its beginnings and ends from a stream. It reports to
//! a fake Herdr and prints what became of each report.
//!
//! `cargo run -p herdr-reporter --example events`

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::time::Duration;

use fake_herdr::FakeHerdr;
use herdr_proto::PaneId;
use herdr_reporter::{AgentEvent, Config, Prompt, Reporter};
use herdr_socket_transport::Endpoint;

/// The events of this host's agent. The host chooses the ids.
#[derive(Clone, Copy)]
enum Said {
    TurnBegins,
    Calls(&'static str, &'static str),
    Asks(&'static str, &'static str),
    Answered(&'static str),
    TurnEnds,
}

fn event(said: Said) -> AgentEvent {
    // Subagents have their own ids: `.of_agent(…)`.
    match said {
        Said::TurnBegins => AgentEvent::agent_started(),
        Said::Calls(id, tool) => AgentEvent::tool_started(id, tool),
        Said::Asks(id, what) => AgentEvent::prompt_opened(id, Prompt::question(what)),
        Said::Answered(id) => AgentEvent::prompt_closed(id),
        // This also ends the tools and prompts that the agent left open.
        Said::TurnEnds => AgentEvent::agent_settled(),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let herdr = FakeHerdr::start()?;
    let mut config = Config::default();
    config.runtime_folder = herdr.socket_path().parent().map(|folder| folder.join("leases"));
    let endpoint = Endpoint::new(herdr.socket_path(), PaneId::parse(herdr.pane_id())?);
    let pane = Reporter::builder("events-example").endpoint(endpoint).config(config).start();
    let mut receipts = pane.receipts();
    let tool = Said::Calls("1", "grep");
    let ask = Said::Asks("2", "Which branch?");
    for said in [Said::TurnBegins, tool, ask, Said::Answered("2"), Said::TurnEnds] {
        pane.record(event(said))?;
        pane.flush(Duration::from_secs(1)); // only so that each state shows here
    }
    println!("{:?}", pane.close(Duration::from_millis(500)));
    receipts.iter().for_each(|receipt| println!("{receipt:?}"));
    Ok(())
}
