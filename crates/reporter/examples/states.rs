//! States only, for a host that knows nothing but idle, working and blocked.
//!
//! Run it in a pane of Herdr and watch the sidebar. Elsewhere it is inert:
//!
//! `cargo run -p herdr-reporter --example states`

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::thread::sleep;
use std::time::Duration;

use herdr_proto::{ReportState, StateKey};
use herdr_reporter::{AgentEvent, Config, ReasonLabel, Refused, Reporter};

fn main() -> Result<(), Refused> {
    let mut config = Config::default();
    config.reason_label = ReasonLabel::All; // also say what it works on
    config.state_labels.insert(StateKey::Idle, "ready".to_owned());
    let pane = Reporter::builder("states-example")
        .config(config)
        .initial(ReportState::Idle) // claims the pane at once
        .start();
    println!("{}", if pane.is_active() { "reporting" } else { "inert: not in a pane of Herdr" });
    let moment = if pane.is_active() { Duration::from_secs(2) } else { Duration::ZERO };

    for (state, label) in [
        (ReportState::Working, Some("building")),
        (ReportState::Blocked, Some("Deploy to staging?")),
        (ReportState::Working, None),
        (ReportState::Idle, None),
    ] {
        let label = label.map(str::to_owned);
        pane.record(AgentEvent::state_set(state, label))?; // or pane.state(state)
        sleep(moment);
    }
    println!("{:?}", pane.close(Duration::from_millis(500)));
    Ok(())
}
