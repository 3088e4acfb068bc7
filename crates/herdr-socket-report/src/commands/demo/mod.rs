//! `demo`: plays a session and shows the pane as it changes.

mod picture;
mod script;
mod stage;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use herdr_reporter::Reporter;

use crate::commands::sidebar;
use crate::exit::{Exit, Stop, say_why, usage};
use crate::input::signals::Signals;
use crate::output::say;
use crate::picture::Screen;
use crate::place::PaneFlags;
use picture::Picture;
use script::steps;
use stage::Stage;

/// Play a session and watch the pane change
///
/// A session of thirty events goes through the real reporter and a real socket
/// to a Herdr that is built in, and its pane is drawn as Herdr's sidebar shows
/// one: with --live in the rows that your own settings of Herdr name, else in
/// those that `sidebar` prints, which show all of it. Where stdout is not a terminal, or
/// with --plain, it is told line by line. It takes a quarter of a minute, four
/// seconds in plain lines, and leaves nothing behind.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tell it in plain lines, also in a terminal
    #[arg(long)]
    plain: bool,
    /// Play on the pane this runs in, instead of on the built-in Herdr, and say
    /// what the sidebar's rows hide
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    pane: PaneFlags,
}

const FRAME: Duration = Duration::from_millis(90);
/// How long the last picture stays.
const LAST: Duration = Duration::from_millis(900);
/// How much faster lines appear, since nobody watches them appear.
const FASTER: u32 = 4;
/// The time limit for delivering a report.
const DELIVERY: Duration = Duration::from_secs(1);
/// The time limit for closing the reporter.
const END: Duration = Duration::from_millis(500);

pub(crate) fn run(args: &Args) -> Exit {
    say_why(play(args))
}

fn play(args: &Args) -> Result<Exit, Stop> {
    if args.pane.any() && !args.live {
        return Err(usage("--socket and --pane have no effect without --live"));
    }
    let stage = Stage::set(args.live, &args.pane)?;
    let deaf = |error| usage(format!("signals cannot be heard: {error}"));
    let signals = Signals::catch().map_err(deaf)?;
    let reporter = stage.reporter();
    match (!args.plain).then(|| Screen::take(&signals, picture::ROOM)).flatten() {
        Some(screen) => draw(&stage, &reporter, &signals, screen),
        // A reader that is gone is not an error, and the end is the same.
        None => drop(tell(&stage, &reporter, &signals)),
    }
    // The cursor is visible again, so a second signal may end the program at once.
    signals.end_at_once_soon();
    let mut diagnostics = reporter.diagnostics();
    reporter.close(END);
    while let Some(diagnostic) = diagnostics.try_recv() {
        say(&format!("{}: {}", diagnostic.kind.as_str(), diagnostic.detail));
    }
    Ok(end(&stage))
}

/// Plays on the screen until the session is over or a signal arrives.
fn draw(stage: &Stage, reporter: &Reporter, signals: &Signals, mut screen: Screen) {
    let mut picture = Picture::of(stage.place(), stage.rows());
    let mut steps = steps().into_iter().peekable();
    let mut due = Instant::now();
    let mut over = None;
    loop {
        let now = Instant::now();
        while let Some(step) = steps.next_if(|step| now >= due + step.after) {
            due += step.after;
            picture.events.push(step.told);
            let _ = reporter.record(step.event);
        }
        if let Ok(shown) = stage.look() {
            picture.agent = shown.agent;
        }
        screen.draw(picture.lines(screen.room(), screen.colour));
        let last = steps.peek().is_none() && now >= *over.get_or_insert(now + LAST);
        if last || signals.arrived_within(FRAME) {
            return;
        }
        screen.lend_if_stopped(signals);
    }
}

/// Plays in lines: each event, and what the pane shows once that has changed.
fn tell(stage: &Stage, reporter: &Reporter, signals: &Signals) -> io::Result<()> {
    line(&format!(
        "A session on {}; after > what the host says, below what the pane shows",
        stage.place()
    ))?;
    let mut time = Duration::ZERO;
    let mut before = String::new();
    for step in steps() {
        if signals.arrived_within(step.after / FASTER) {
            return Ok(());
        }
        let _ = reporter.record(step.event);
        time += step.after;
        line(&format!("{:>5.1}s > {}", time.as_secs_f32(), step.told))?;
        // The pane is read after the report was delivered, so that the lines are the same on a
        // slow machine.
        reporter.flush(DELIVERY);
        if let Ok(shown) = stage.look() {
            let sentence = shown.sentence();
            if sentence != before {
                line(&format!("         {sentence}"))?;
                before = sentence;
            }
        }
    }
    Ok(())
}

/// Reads the pane once more. Nothing may be left on it.
fn end(stage: &Stage) -> Exit {
    let (text, exit) = match stage.look() {
        Ok(shown) if stage.is_live() => {
            let text = format!("The pane shows: {}\n{}", shown.sentence(), sidebar::report());
            (text, Exit::Fine)
        }
        Ok(shown) if shown.agent.is_none() && !shown.remains => (
            "The pane is as it was before: no agent, title or token of the demo remains.\n\
             Next, in a pane of your own Herdr:\n  herdr-socket-report doctor"
                .to_owned(),
            Exit::Fine,
        ),
        Ok(shown) => {
            (format!("Something remains on the pane: {}", shown.sentence()), Exit::Refused)
        }
        Err(error) => (format!("The pane cannot be seen any more: {error}"), Exit::Unreachable),
    };
    // A reader that is gone is not an error.
    let _ = line(&text);
    exit
}

fn line(text: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_shows_what_is_drawn() {
        let stage = Stage::set(false, &PaneFlags::default()).unwrap();
        let reporter = stage.reporter();
        let mut picture = Picture::of(stage.place(), stage.rows());
        for step in steps() {
            let is_prompt = step.told.starts_with("prompt_opened");
            picture.events.push(step.told);
            let _ = reporter.record(step.event);
            if is_prompt {
                break;
            }
        }
        reporter.flush(Duration::from_secs(20));
        picture.agent = stage.look().unwrap().agent;
        // README.md has the text without the colours of a terminal.
        let lines = picture.lines((80, 24), true).into_iter();
        let lines: Vec<_> = lines.map(|line| line.text(false).trim_end().to_owned()).collect();
        let drawn = lines.join("\n");
        let readme = include_str!("../../../tests/README.md");
        assert!(
            readme.contains(&format!("```text\n{drawn}\n```")),
            "README.md is to show\n{drawn}"
        );
    }
}
