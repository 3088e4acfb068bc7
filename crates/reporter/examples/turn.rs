//! Guards: what began with a value ends when the value is dropped, on every path.
//!
//! Run it in a pane of Herdr and watch the sidebar. Elsewhere it says that it is inert and has no
//! effect:
//!
//! `cargo run -p herdr-reporter --example turn`

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::thread::sleep;
use std::time::Duration;

use herdr_reporter::{Handle, Prompt, Reporter};

fn main() {
    let pane = Reporter::builder("turn-example").start(); // never fails
    if !pane.is_active() {
        println!("not in a pane of Herdr: inert, and nothing has to be different for it");
    }
    // The pauses let a person see the states. A host does not need them.
    let moment = if pane.is_active() { Duration::from_secs(2) } else { Duration::ZERO };

    pane.set_session("0b7c1f")
        .set_title("Fix the login redirect")
        .set_model("large-2", Some(200_000));
    let answer = one_turn(&pane, moment);
    println!("the turn ended with {answer:?}");
    sleep(moment);

    // A close drops what was not sent yet, so flush first.
    pane.flush(Duration::from_secs(1));
    println!("{:?}, {:?}", pane.counters(), pane.close(Duration::from_millis(500)));
}

/// A handle only reports. It owns nothing and ends nothing, so it can be passed anywhere.
fn one_turn(pane: &Handle, moment: Duration) -> Result<(), String> {
    let turn = pane.turn(); // working
    pane.set_usage(18_600);
    {
        let _tool = turn.tool("grep");
        sleep(moment);
    }
    let asked = turn.prompt(Prompt::approval("Run cargo test?")); // blocked, with the reason
    sleep(moment);
    let allowed = false; // the person said no
    drop(asked); // working again
    if !allowed {
        return Err("not allowed".to_owned()); // the turn's guard goes: idle
    }
    let _tool = turn.tool("bash");
    sleep(moment);
    Ok(())
}
