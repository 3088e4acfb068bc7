//! Control lines on stdin: one JSON object a line, one answer a line on stdout.

use std::io::{self, BufRead, Read as _, Write};
use std::sync::Weak;

use fake_herdr::{FakeHerdr, Fault, Observation};
use serde::Deserialize;
use serde_json::{Value, json};

/// Longest control line, without its newline.
const LINE_MAX: u64 = 64 * 1024;

/// What can be asked for; the field `do` names it.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Control {
    /// Something goes wrong, always or for the next `times` requests.
    Fault { fault: String, times: Option<u32> },
    /// Nothing goes wrong any more.
    ClearFaults,
    /// Another pane beside this one; the answer names it.
    Split { pane: String },
    /// The user closes a pane.
    Close { pane: String },
    /// The program of a pane ends.
    Exit { pane: String },
    /// A pane goes to a new workspace; the answer names it by its new id.
    Move { pane: String },
    /// A text on a pane's screen.
    Screen { pane: String, text: String },
    /// The detector sees a known agent's process, with the state on its screen.
    AgentAppears { pane: String, agent: String, state: String },
    /// That process ends.
    AgentExits { pane: String },
    /// The pane's shell waits at its prompt, or no longer.
    ShellIdle { pane: String, idle: bool },
    /// A new process takes the panes over.
    LiveHandoff,
    /// The server starts again.
    Restart,
    /// What a reader of a pane sees, and who holds it.
    Observe { pane: String },
    /// The requests so far and their answers; from the nth on.
    Log { from: Option<usize> },
    /// The variables that Herdr sets in a pane.
    Env { pane: String },
    /// The end.
    Stop,
}

/// Obeys control lines until the input ends, which ends nothing else.
pub(super) fn obey(
    mut input: &mut dyn BufRead,
    output: &mut dyn Write,
    herdr: &Weak<FakeHerdr>,
) -> io::Result<()> {
    loop {
        let mut line = Vec::new();
        let read = (&mut input).take(LINE_MAX + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let whole = line.pop_if(|byte| *byte == b'\n').is_some();
        if !whole && line.len() as u64 > LINE_MAX {
            skip_line(input)?;
            answer(output, &refused("the line has over 64 KiB"))?;
            continue;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some(herdr) = herdr.upgrade() else {
            return Ok(());
        };
        let reply = match serde_json::from_slice(&line) {
            Ok(control) => perform(control, &herdr),
            Err(error) => refused(&error.to_string()),
        };
        answer(output, &reply)?;
    }
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
        Control::Fault { fault, times } => match fault.parse::<Fault>() {
            Ok(fault) => {
                match times {
                    Some(times) => herdr.fault_times(fault, times),
                    None => herdr.fault(fault),
                }
                done()
            }
            Err(error) => refused(&error.to_string()),
        },
        Control::ClearFaults => {
            herdr.clear_faults();
            done()
        }
        Control::Split { pane } => {
            named(&pane, herdr.with_model(|model| model.split_pane(now, &pane)))
        }
        Control::Close { pane } => found(&pane, herdr.with_model(|m| m.close_pane(now, &pane))),
        Control::Exit { pane } => found(&pane, herdr.with_model(|m| m.exit_pane(now, &pane))),
        Control::Move { pane } => {
            named(&pane, herdr.with_model(|model| model.move_pane(now, &pane)))
        }
        Control::Screen { pane, text } => {
            found(&pane, herdr.with_model(|model| model.set_screen(&pane, &text)))
        }
        Control::AgentAppears { pane, agent, state } => {
            let seen = herdr.with_model(|model| model.agent_appears(now, &pane, &agent, &state));
            if seen {
                done()
            } else {
                refused(&format!(
                    "no pane {pane}, no agent {agent} that Herdr knows, or no state {state}"
                ))
            }
        }
        Control::AgentExits { pane } => {
            if herdr.with_model(|model| model.agent_exits(now, &pane)) {
                done()
            } else {
                refused(&format!("no agent was seen in {pane}"))
            }
        }
        Control::ShellIdle { pane, idle } => {
            found(&pane, herdr.with_model(|model| model.set_shell_idle(now, &pane, idle)))
        }
        Control::LiveHandoff => {
            herdr.live_handoff();
            done()
        }
        Control::Restart => {
            herdr.restart();
            done()
        }
        other => look(other, herdr),
    }
}

fn look(control: Control, herdr: &FakeHerdr) -> Value {
    match control {
        Control::Observe { pane } => match herdr.observe(&pane) {
            Some(seen) => {
                let holder = herdr.with_model(|model| model.authority(&pane));
                let mut shown = shown(&seen);
                if let Some((source, agent)) = holder {
                    shown["authority"] = json!({ "source": source, "agent": agent });
                }
                json!({ "ok": true, "pane": shown })
            }
            None => found(&pane, false),
        },
        Control::Log { from } => {
            let log = herdr.log();
            let entries = log.iter().skip(from.unwrap_or(0)).map(|entry| {
                json!({
                    "connection": entry.connection,
                    "at_ms": u64::try_from(entry.at.as_millis()).unwrap_or(u64::MAX),
                    "request": entry.request,
                    "reply": entry.reply,
                })
            });
            json!({ "ok": true, "log": entries.collect::<Vec<_>>() })
        }
        Control::Env { pane } => match herdr.env_of(&pane) {
            Some(env) => {
                let env: serde_json::Map<String, Value> =
                    env.into_iter().map(|(name, value)| (name, value.into())).collect();
                json!({ "ok": true, "env": env })
            }
            None => found(&pane, false),
        },
        _ => {
            herdr.stopper().stop();
            done()
        }
    }
}

/// As `pane.get` shows it; what is not set is left out.
fn shown(seen: &Observation) -> Value {
    let session = seen.agent_session.as_ref().map(|session| {
        json!({
            "source": session.source,
            "agent": session.agent,
            "kind": session.kind,
            "value": session.value,
        })
    });
    let mut shown = json!({ "agent_status": seen.agent_status });
    for (name, value) in [
        ("agent", json!(seen.agent)),
        ("title", json!(seen.title)),
        ("display_agent", json!(seen.display_agent)),
        ("state_labels", json!(seen.state_labels)),
        ("tokens", json!(seen.tokens)),
        ("agent_session", json!(session)),
    ] {
        if !value.is_null() && value != json!({}) {
            shown[name] = value;
        }
    }
    shown
}

fn done() -> Value {
    json!({ "ok": true })
}

fn refused(why: &str) -> Value {
    json!({ "ok": false, "error": why })
}

fn found(pane: &str, found: bool) -> Value {
    if found { done() } else { refused(&format!("there is no pane {pane}")) }
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
        obey(&mut lines.as_bytes(), &mut output, &Arc::downgrade(herdr)).unwrap();
        let output = String::from_utf8(output).unwrap();
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn lines_are_obeyed_one_by_one() {
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

    #[test]
    fn bad_lines_are_refused_and_the_next_one_counts() {
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
    }
}
