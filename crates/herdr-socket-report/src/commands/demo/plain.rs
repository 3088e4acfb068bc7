//! The demo as plain lines.

use std::io::{self, Write};
use std::time::Duration;

use herdr_reporter::Reporter;

use super::script::steps;
use super::stage::Stage;
use super::view::View;
use crate::exit::Exit;
use crate::input::signals::Signals;

/// Nobody watches lines appear, so it goes faster than for a person.
const FASTER: u32 = 4;
/// How long a report may take to arrive.
const DELIVERY: Duration = Duration::from_secs(1);

/// Plays the session; each event, and what the pane shows once it has changed.
///
/// # Errors
///
/// If nobody reads it any more.
pub(crate) fn play(stage: &Stage, reporter: &Reporter, signals: &Signals) -> io::Result<()> {
    line(&format!(
        "A session on {}; after > what the host says, below what the pane shows",
        stage.place()
    ))?;
    let mut time = Duration::ZERO;
    let mut shown = View::default();
    for step in steps() {
        if signals.came_within(step.after / FASTER) {
            return Ok(());
        }
        let _ = reporter.record(step.event);
        time += step.after;
        line(&format!("{:>5.1}s > {}", time.as_secs_f32(), step.told))?;
        // The pane is looked at only after it was told, so the lines are the
        // same however slow the machine is.
        reporter.flush(DELIVERY);
        if let Ok(view) = stage.look()
            && view != shown
        {
            line(&format!("         {}", view.sentence()))?;
            shown = view;
        }
    }
    Ok(())
}

/// Looks at the pane once more: nothing may remain.
pub(crate) fn end(stage: &Stage) -> Exit {
    let (mut text, exit) = match stage.look() {
        Ok(view) if view.is_blank() => (
            "The pane is as it was before: no agent, title or token of the demo remains."
                .to_owned(),
            Exit::Fine,
        ),
        Ok(view) if stage.is_live() => (format!("The pane shows: {}", view.sentence()), Exit::Fine),
        Ok(view) => (format!("Something remains on the pane: {}", view.sentence()), Exit::Refused),
        Err(error) => (format!("The pane cannot be seen any more: {error}"), Exit::Unreachable),
    };
    if exit == Exit::Fine && !stage.is_live() {
        text.push_str("\nNext, in a pane of your own Herdr:\n  herdr-socket-report doctor");
    }
    // A reader that went away has seen enough.
    let _ = line(&text);
    exit
}

fn line(text: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}
