//! The texts of a host are sent to its pane and appear nowhere else, and nothing else is sent
//! (failure B54).

use std::fmt::{Debug, Write as _};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use fake_herdr::FakeHerdr;
use herdr_proto::{ReportState, StateKey};
use herdr_reporter::{AgentEvent, Handle, Prompt, PromptKind, SessionStarted};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::processes::{alone, requests, runtime};
use crate::support::{AMPLE, BUDGET, builder, builder_at, flushed};

/// A part of every text that the host passes.
const SECRET: &str = "hunter2";

/// A log that keeps all events and spans of every level.
struct Tracing(&'static Mutex<String>);

static TRACED: Mutex<String> = Mutex::new(String::new());

impl Visit for Tracing {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Tracing {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Self(self.0));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Self(self.0));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Self(self.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Passes a secret in every text, also in texts that are refused. Returns everything that the host
/// can print about it.
fn say_everything(pane: &Handle) -> String {
    let text = |what: &str| format!("{what} {SECRET}");
    let mut session = SessionStarted::new(text("session"));
    session.session_path = Some(format!("/{SECRET}/session"));
    session.title = Some(text("title"));
    session.model = Some(text("model"));
    session.resume_argv = Some(vec!["host".into(), text("argument")]);
    let mut output = format!("{:?}", pane.record(AgentEvent::SessionStarted(session)).is_err());
    pane.set_token("key", text("token")).set_label(StateKey::Working, text("label"));
    let turn = pane.turn();
    let tool = turn.tool(text("tool"));
    let prompt = turn.prompt(Prompt::question(text("question")));
    let unreadable = AgentEvent::tokens_changed([("a bad key".to_owned(), Some(text("token")))]);
    let endless = AgentEvent::agent_started().of_agent(Some(SECRET.repeat(1000).into()));
    for refused in [unreadable, endless] {
        let refused = pane.record(refused).unwrap_err();
        write!(output, "{refused} {refused:?}").unwrap();
    }
    write!(output, "{pane:?} {turn:?} {tool:?} {prompt:?} {:?}", pane.counters()).unwrap();
    pane.flush(Duration::from_millis(250));
    output
}

/// Runs a host that passes the secret in every text. Returns everything that it can print.
fn output_of(builder: herdr_reporter::Builder) -> String {
    let pane = builder.start();
    let (mut receipts, mut diagnostics) = (pane.receipts(), pane.diagnostics());
    let mut output = say_everything(&pane);
    write!(output, "{pane:?}").unwrap();
    write!(output, "{:?}", pane.close(BUDGET)).unwrap();
    for receipt in receipts.iter() {
        write!(output, "{receipt:?}").unwrap();
        if let Some(reason) = receipt.reason {
            write!(output, "{reason} {}", reason.remedy()).unwrap();
        }
    }
    for diagnostic in diagnostics.iter() {
        writeln!(output, "{diagnostic:?}").unwrap();
    }
    output
}

/// A server that refuses every request with a message that repeats the request.
fn serve_echoes(socket: &Path) {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = String::new();
            let _ = BufReader::new(&stream).read_line(&mut request);
            let message = serde_json::to_string(&request).unwrap();
            let error = format!(r#"{{"code":"invalid_params","message":{message}}}"#);
            let _ = writeln!(stream, r#"{{"id":"r","error":{error}}}"#);
        }
    });
}

#[test]
fn b54_no_text_of_a_host_is_in_a_log_or_a_diagnostic() {
    alone("texts::b54_no_text_of_a_host_is_in_a_log_or_a_diagnostic", || {
        tracing::subscriber::set_global_default(Tracing(&TRACED)).unwrap();
        let mut output = String::new();
        for fault in ["", "close", "half-line", "wrong-id", "invalid-utf8", "never", "json-rpc"] {
            let herdr = FakeHerdr::start().unwrap();
            if !fault.is_empty() {
                herdr.fault(fault.parse().unwrap());
            }
            output.push_str(&output_of(builder(&herdr)));
            let sent = herdr.log().iter().any(|exchange| exchange.request.contains(SECRET));
            assert!(sent || !fault.is_empty(), "the pane gets it");
        }
        let folder = runtime();
        let socket = folder.path().join("s");
        serve_echoes(&socket);
        output.push_str(&output_of(builder_at(&socket)));

        let traced = TRACED.lock().unwrap().clone();
        for known in ["protocol_rejected", "not_pane_api", "limit"] {
            assert!(traced.contains(known), "{known} in {traced}");
        }
        assert!(traced.contains("method=\"pane.report_") || traced.contains("bytes="), "{traced}");
        assert!(!traced.contains(SECRET), "{traced}");
        assert!(output.contains("Rejected") && !output.contains(SECRET), "{output}");
    });
}

#[test]
fn b54_nothing_is_sent_that_the_host_has_not_said() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = builder(&herdr).start();
    let turn = pane.turn();
    let ask = turn.prompt(Prompt::of(PromptKind::Question));
    flushed(&pane);
    let seen = herdr.observe("w1:p1").unwrap();
    assert_eq!(seen.agent_status, "blocked");
    assert_eq!((seen.title, seen.display_agent, seen.agent_session), (None, None, None));
    assert!(seen.tokens.is_empty());
    drop((ask, turn));
    pane.set_state(ReportState::Working);
    flushed(&pane);
    pane.close(AMPLE);

    let program = std::env::current_exe().unwrap();
    let of_this_host = [
        std::env::current_dir().unwrap().to_string_lossy().into_owned(),
        program.file_stem().unwrap().to_string_lossy().into_owned(),
        std::fs::read_to_string("/etc/hostname").unwrap_or_default().trim().to_owned(),
    ];
    for request in requests(&herdr) {
        let request = request["params"].to_string();
        for known in of_this_host.iter().filter(|known| !known.is_empty()) {
            assert!(!request.contains(known.as_str()), "{known} in {request}");
        }
    }
}
