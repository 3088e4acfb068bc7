//! Control lines on stdin: one JSON object a line, one answer a line on stdout.

use std::io::{self, BufRead, Read as _, Write};
use std::sync::Weak;

use fake_herdr::FakeHerdr;
use serde_json::{Value, json};

use super::line::{self, Control};

/// The longest control line in bytes, without its newline.
const LINE_MAX: u64 = 64 * 1024;

/// The help for a person at a terminal.
pub(super) fn hint() -> String {
    format!(
        "Type lines such as {{\"do\": \"observe\", \"pane\": \"w1:p1\"}}; Ctrl-C ends it. \
         \"do\" is one of {}.",
        line::WORDS.join(", ")
    )
}

/// Runs control lines until the input ends. The server goes on after that.
pub(super) fn run(
    mut input: &mut dyn BufRead,
    output: &mut dyn Write,
    herdr: &Weak<FakeHerdr>,
) -> io::Result<()> {
    for number in 1_u64.. {
        let mut line = Vec::new();
        let read = (&mut input).take(LINE_MAX + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let complete = line.pop_if(|byte| *byte == b'\n').is_some();
        if !complete && line.len() as u64 > LINE_MAX {
            skip_line(input)?;
            answer(output, &at_line(number, refused("it has over 64 KiB")))?;
            continue;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some(herdr) = herdr.upgrade() else {
            return Ok(());
        };
        let control = match line::read(&line) {
            Ok(control) => control,
            Err(error) => {
                answer(output, &at_line(number, refused(&error)))?;
                continue;
            }
        };
        let stops = control == Control::Stop;
        answer(output, &at_line(number, perform(control, &herdr)))?;
        if stops {
            herdr.stopper().stop();
            return Ok(());
        }
    }
    Ok(())
}

/// Adds the number of the input line to a refusal, for clients that write several
/// lines before they read.
fn at_line(number: u64, mut reply: Value) -> Value {
    if reply["ok"] == false {
        reply["line"] = number.into();
    }
    reply
}

fn skip_line(input: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let there = input.fill_buf()?;
        let (used, done) = match there.iter().position(|byte| *byte == b'\n') {
            Some(newline) => (newline + 1, true),
            None => (there.len(), there.is_empty()),
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

fn answer(output: &mut dyn Write, reply: &Value) -> io::Result<()> {
    writeln!(output, "{reply}")?;
    output.flush()
}

fn perform(control: Control, herdr: &FakeHerdr) -> Value {
    let now = herdr.now();
    match control {
        Control::Fault { fault, times } => {
            match times {
                Some(times) => herdr.fault_times(fault, times),
                None => herdr.fault(fault),
            }
            listening(herdr)
        }
        Control::ClearFaults => {
            herdr.clear_faults();
            listening(herdr)
        }
        Control::Split { pane } => {
            named(&pane, herdr.with_model(|model| model.split_pane(now, &pane)))
        }
        Control::Close { pane } => found(&pane, herdr.with_model(|m| m.close_pane(now, &pane))),
        Control::Exit { pane } => found(&pane, herdr.with_model(|m| m.exit_pane(now, &pane))),
        Control::Move { pane } => {
            named(&pane, herdr.with_model(|model| model.move_pane(now, &pane)))
        }
        Control::Screen { pane, text } => herdr.with_model(|model| {
            if model.has_terminal(&pane) {
                return refused(&format!("{pane} shows what its program shows; type into it"));
            }
            found(&pane, model.set_screen(&pane, &text))
        }),
        Control::AgentAppears { pane, agent, state } => {
            found(&pane, herdr.with_model(|m| m.agent_appears(now, &pane, &agent, &state)))
        }
        Control::AgentExits { pane } => {
            match herdr.with_model(|model| {
                (model.observe(now, &pane).is_some(), model.agent_exits(now, &pane))
            }) {
                (true, false) => refused(&format!("no agent was seen in {pane}")),
                (there, _) => found(&pane, there),
            }
        }
        Control::LiveHandoff => {
            herdr.live_handoff();
            listening(herdr)
        }
        Control::Restart => {
            herdr.restart();
            listening(herdr)
        }
        Control::Observe { pane } => observe(&pane, herdr),
        Control::Log { from } => log(from, herdr),
        Control::Env { pane } => env(&pane, herdr),
        // The caller stops the server after it has answered.
        Control::Stop => done(),
    }
}

fn observe(pane: &str, herdr: &FakeHerdr) -> Value {
    let Some(seen) = herdr.observe(pane) else {
        return found(pane, false);
    };
    let mut shown = json!(seen);
    if let Some((source, agent)) = herdr.with_model(|model| model.authority(pane)) {
        shown["authority"] = json!({ "source": source, "agent": agent });
    }
    json!({ "ok": true, "pane": shown })
}

fn log(from: u64, herdr: &FakeHerdr) -> Value {
    let log = herdr.log();
    let entries = log.iter().filter(|entry| entry.number >= from).map(|entry| {
        json!({
            "number": entry.number,
            "connection": entry.connection,
            "at_ms": u64::try_from(entry.at.as_millis()).unwrap_or(u64::MAX),
            "request": entry.request,
            "reply": entry.reply,
        })
    });
    json!({ "ok": true, "log": entries.collect::<Vec<_>>() })
}

fn env(pane: &str, herdr: &FakeHerdr) -> Value {
    let Some(env) = herdr.env_of(pane) else {
        return found(pane, false);
    };
    let env: serde_json::Map<String, Value> =
        env.into_iter().map(|(name, value)| (name, value.into())).collect();
    json!({ "ok": true, "env": env })
}

/// An `ok`, unless the socket could not be bound.
fn listening(herdr: &FakeHerdr) -> Value {
    match herdr.socket_error() {
        Some(why) => {
            refused(&format!("no server listens at {}: {why}", herdr.socket_path().display()))
        }
        None => done(),
    }
}

fn done() -> Value {
    json!({ "ok": true })
}

fn refused(why: &str) -> Value {
    json!({ "ok": false, "error": why })
}

fn found(pane: &str, found: bool) -> Value {
    if found { done() } else { refused(&format!("there is no pane {pane:.40}")) }
}

fn named(pane: &str, id: Option<String>) -> Value {
    id.map_or_else(|| found(pane, false), |id| json!({ "ok": true, "pane": id }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn say(herdr: &Arc<FakeHerdr>, lines: &str) -> Vec<Value> {
        let mut output = Vec::new();
        run(&mut lines.as_bytes(), &mut output, &Arc::downgrade(herdr)).unwrap();
        let output = String::from_utf8(output).unwrap();
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn lines_are_run_one_by_one() {
        let herdr = Arc::new(FakeHerdr::start().unwrap());
        let replies = say(
            &herdr,
            concat!(
                r#"{"do":"split","pane":"w1:p1"}"#,
                "\n\n",
                r#"{"do":"move","pane":"w1:p2"}"#,
                "\n",
                r#"{"do":"fault","fault":"half-line","times":1}"#,
                "\n",
                r#"{"do":"agent_appears","pane":"w1:p1","agent":"claude","state":"working"}"#,
                "\n",
                r#"{"do":"observe","pane":"w1:p1"}"#,
                "\n",
                r#"{"do":"env","pane":"w2:p1"}"#,
                "\n",
                r#"{"do":"log"}"#,
                "\n",
                r#"{"do":"close","pane":"w2:p1"}"#,
            ),
        );
        assert_eq!(replies[0], json!({ "ok": true, "pane": "w1:p2" }));
        assert_eq!(replies[1]["pane"], "w2:p1");
        assert_eq!(replies[2], done());
        assert_eq!(replies[4]["pane"], json!({ "agent": "claude", "agent_status": "working" }));
        assert_eq!(replies[5]["env"]["HERDR_PANE_ID"], "w2:p1");
        assert_eq!(replies[6], json!({ "ok": true, "log": [] }));
        assert_eq!(replies[7], done());
        assert!(herdr.observe("w2:p1").is_none());
    }

    /// The server ends after the answer. Lines after the stop are not read.
    #[test]
    fn a_stop_is_answered() {
        let herdr = Arc::new(FakeHerdr::start().unwrap());
        assert_eq!(say(&herdr, "{\"do\":\"stop\"}\nnope\n"), [done()]);
        herdr.wait();
    }

    #[test]
    fn a_path_that_another_server_has_taken_is_reported() {
        let herdr = Arc::new(FakeHerdr::start().unwrap());
        let replies = say(&herdr, "{\"do\":\"fault\",\"fault\":\"gone\"}\n");
        assert_eq!(replies, [done()]);
        let other = std::os::unix::net::UnixListener::bind(herdr.socket_path()).unwrap();
        // A server that is gone leaves the file of another server alone.
        say(&herdr, "{\"do\":\"split\",\"pane\":\"w1:p1\"}\n");
        herdr.fault(fake_herdr::Fault::Refusing);
        assert!(herdr.socket_path().exists());
        let clear = "{\"do\":\"clear_faults\"}\n";
        let error = say(&herdr, clear)[0]["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains("a server listens there already"), "{error}");
        drop(other);
        assert_eq!(say(&herdr, clear), [done()]);
    }

    #[test]
    fn bad_lines_are_refused_and_the_next_line_is_run() {
        let herdr = Arc::new(FakeHerdr::start().unwrap());
        let long = format!("{{\"do\":\"{}\"}}", "x".repeat(70_000));
        let fits = format!(
            "{}{}",
            " ".repeat(usize::try_from(LINE_MAX).unwrap() - 20),
            r#"{"do":"restart"}"#
        );
        let lines = format!(
            "nope\n{{\"do\":\"dance\"}}\n{long}\n{{\"do\":\"close\",\"pane\":\"w9:p9\"}}\n{{\"do\":\"fault\",\"fault\":\"x\"}}\n{{\"do\":\"log\",\"form\":1}}\n{fits}\n"
        );
        let replies = say(&herdr, &lines);
        let errors: Vec<_> =
            replies.iter().map(|reply| reply["error"].as_str().unwrap_or("-")).collect();
        assert_eq!(errors.len(), 7);
        assert!(errors[1].contains("dance") && errors[2].contains("64 KiB"), "{errors:?}");
        assert!(errors[3].contains("w9:p9") && errors[4].contains("half-line"), "{errors:?}");
        assert!(errors[5].contains("form") && errors[6] == "-", "{errors:?}");
        let lines: Vec<_> = replies.iter().map(|reply| reply["line"].as_u64()).collect();
        assert_eq!(lines[..6], [1, 2, 3, 4, 5, 6].map(Some));
        assert_eq!(lines[6], None);
    }
}
