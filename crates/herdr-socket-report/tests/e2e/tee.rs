//! The proxy: what it forwards and what it shows.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread;

use fake_herdr::{FakeHerdr, Fault};
use rustix::process::Signal;

use crate::support::{PATIENCE, Running, sidecar, status, wait_clean};

/// A proxy that listens.
struct Tee {
    running: Running,
    path: PathBuf,
}

impl Tee {
    fn before(herdr: &FakeHerdr, flags: &[&str]) -> Self {
        Self::at(herdr.socket_path().to_str().unwrap(), flags)
    }

    fn at(socket: &str, flags: &[&str]) -> Self {
        let arguments = [&["tee", "--listen", "tee.sock", "--socket", socket], flags].concat();
        let setup = sidecar(&arguments);
        let path = setup.folder.path().join("tee.sock");
        let mut running = setup.start();
        let said = running.complaint();
        assert!(said.contains("listening at"), "{said}");
        Self { running, path }
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(&self.path).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends all bytes and reads to the end.
    fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        reply
    }

    /// The next line of the log without its time.
    fn logged(&mut self) -> String {
        let line = self.running.answer();
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.parse::<f64>().unwrap() >= 0.0);
        rest.to_owned()
    }
}

const PING: &[u8] = b"{\"id\":\"1\",\"method\":\"ping\",\"params\":{}}\n";

#[test]
fn a_request_and_its_reply_go_through_as_they_are() {
    let herdr = FakeHerdr::start().unwrap();
    let mut tee = Tee::before(&herdr, &[]);
    let mode = std::fs::metadata(&tee.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let mut direct = UnixStream::connect(herdr.socket_path()).unwrap();
    direct.write_all(PING).unwrap();
    let mut reply = Vec::new();
    direct.read_to_end(&mut reply).unwrap();
    assert_eq!(tee.exchange(PING), reply);
    assert_eq!(tee.logged(), "1 > {\"id\":\"1\",\"method\":\"ping\",\"params\":{}}");
    assert_eq!(tee.logged(), format!("1 < {}", String::from_utf8(reply).unwrap().trim_end()));

    let path = tee.path.clone();
    tee.running.signal(Signal::TERM);
    let output = tee.running.wait();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    assert!(!path.exists());
}

#[test]
fn a_real_session_goes_through() {
    let herdr = FakeHerdr::start().unwrap();
    let tee = Tee::before(&herdr, &["--redact"]);
    let setup = sidecar(&["run", "--pane", herdr.pane_id()]);
    let setup = setup.env("HERDR_ENV", "1").env("HERDR_SOCKET_PATH", tee.path.to_str().unwrap());
    let mut run = setup.start();
    run.line(r#"{"event": "session_started", "session_id": "private-id", "title": "private"}"#);
    run.line(
        r#"{"event": "prompt_opened", "prompt_id": "p", "kind": "approval", "label": "private?"}"#,
    );
    status(&herdr, "blocked");
    herdr.wait_until(PATIENCE, |pane| pane.title.as_deref() == Some("private")).unwrap();
    // A stream through the proxy ends with the server's stream.
    herdr.live_handoff();
    run.line(r#"{"event": "agent_started"}"#);
    run.line(r#"{"event": "prompt_closed", "prompt_id": "p"}"#);
    status(&herdr, "working");
    let output = run.finish();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    wait_clean(&herdr, "through tee");

    tee.running.signal(Signal::INT);
    let output = tee.running.wait();
    assert_eq!(output.code, Some(0));
    assert!(output.stdout.contains(r#""method":"pane.report_agent""#));
    assert!(output.stdout.contains(r#""state":"blocked""#));
    assert!(output.stdout.contains(r#""title":"<7 characters>""#), "{}", output.stdout);
    assert!(!output.stdout.contains("private"), "{}", output.stdout);
}

/// The log line for a line that is redacted.
fn redacted(tee: &mut Tee, line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    tee.exchange(format!("{line}\n").as_bytes());
    let shown = tee.logged();
    let answer = tee.logged();
    assert!(!answer.contains("secr"), "{answer}");
    shown.split_once(" > ").unwrap().1.to_owned()
}

#[test]
fn redacted_only_the_protocols_own_words_stay() {
    let herdr = FakeHerdr::start().unwrap();
    let mut tee = Tee::before(&herdr, &["--redact"]);
    let shown = redacted(
        &mut tee,
        r#"{"id":"t1","method":"pane.report_metadata","params":{"pane_id":"w1:p1",
        "source":"custom:bot","agent":"bot","title":"secret","display_agent":"secret",
        "state_labels":{"state":"secret"},"tokens":{"id":"secret","gone":null},"seq":4,
        "agent_session_id":"secret","agent_session_path":"/secret","message":"secret",
        "text":"s\u00e9cr\u00e9t","argv":["secret","secret"],
        "agent_session":{"kind":"id","value":"secret"},"cwd":"/secret","new":{"x":"secret"}}}"#,
    );
    assert!(!shown.contains("secret"), "{shown}");
    for part in [
        r#""id":"t1""#,
        r#""method":"pane.report_metadata""#,
        r#""source":"custom:bot""#,
        r#""seq":4"#,
        r#""title":"<6 characters>""#,
        r#""text":"<6 characters>""#,
        r#""tokens":{"gone":null,"id":"<6 characters>"}"#,
        r#""agent_session_path":"<7 characters>""#,
        r#""kind":"id""#,
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    // The texts of an unknown method are not words of the protocol.
    let shown = redacted(
        &mut tee,
        r#"{"id":"a secret","method":"secret/notes","params":{"source":"my secret",
        "reason":"a secret, told","state":"secr\u00e9t secret","event":{"x":"secret"},
        "files":{"/home/secret":1,"/srv/secret.":2,"/srv/secrets":3},
        "tokens":{"a secret":{"the secret":"secret"}},"kind":["secret"]}}"#,
    );
    assert!(!shown.contains("secr"), "{shown}");
    assert!(shown.contains(r#"> 1":1"#) && shown.contains(r#"> 3":3"#), "{shown}");
    assert_eq!(redacted(&mut tee, r#""secret""#), r#""<6 characters>""#);
    assert_eq!(redacted(&mut tee, "no JSON"), "<7 bytes that are not JSON>");
}

#[test]
fn a_stream_goes_through_as_it_comes_and_ends_with_its_client() {
    let herdr = FakeHerdr::start().unwrap();
    let mut tee = Tee::before(&herdr, &[]);
    let mut stream = tee.connect();
    let subscribe = concat!(
        r#"{"id":"s","method":"events.subscribe","params":{"subscriptions":"#,
        r#"[{"type":"pane.agent_status_changed","pane_id":"w1:p1"}]}}"#
    );
    writeln!(stream, "{subscribe}").unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let mut next = || {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    assert!(next().contains("subscription_started"));
    tee.exchange(
        b"{\"id\":\"2\",\"method\":\"pane.report_agent\",\"params\":{\"pane_id\":\"w1:p1\",\
          \"source\":\"custom:bot\",\"agent\":\"bot\",\"state\":\"working\"}}\n",
    );
    let event = next();
    assert!(event.contains("working"), "{event}");

    assert_eq!(tee.logged(), format!("1 > {subscribe}"));
    let mut shown: Vec<_> = (0..4).map(|_| tee.logged()).collect();
    shown.sort();
    assert!(shown.contains(&format!("1 < {event}")), "{shown:#?}");
    // A half-close ends a stream (protocol 7.3), also through a proxy.
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(next(), "");
}

#[test]
fn what_is_no_protocol_goes_through_too_and_is_shown_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut got = Vec::new();
        // It ends only when the client closes its sending direction.
        stream.read_to_end(&mut got).unwrap();
        stream.write_all(b"\xff\x1b[2J no newline").unwrap();
        got
    });
    let mut tee = Tee::at(path.to_str().unwrap(), &[]);
    let mut said = b"\x1b]0;title\x07\xe2\x80\xae\n\n\0".to_vec();
    said.extend_from_slice(&vec![b'y'; 3 << 20]);
    let mut stream = tee.connect();
    stream.write_all(&said).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    assert_eq!(reply, b"\xff\x1b[2J no newline");
    assert!(server.join().unwrap() == said, "every byte came");

    assert_eq!(tee.logged(), r"1 > \u{1b}]0;title\u{7}\u{202e}");
    assert_eq!(tee.logged(), "1 >");
    // Both directions of a connection end together.
    let long = tee.logged();
    assert!(long.starts_with(r"1 > \0yyy"), "{}", &long[..20]);
    assert!(long.ends_with("yyy… and 3080193 bytes more (no newline)"), "{}", &long[65_000..]);
    assert_eq!(tee.logged(), r"1 < \xff\u{1b}[2J no newline (no newline)");
}

#[test]
fn a_server_that_closes_early_or_is_away_does_so_through_it() {
    let herdr = FakeHerdr::start().unwrap();
    let mut tee = Tee::before(&herdr, &[]);
    herdr.fault_times(Fault::ClosesEarly, 1);
    assert_eq!(tee.exchange(PING), b"");
    tee.logged();
    // Only the first line of a connection is a request.
    let reply = tee.exchange(&[PING, PING].concat());
    assert_eq!(reply.split_inclusive(|byte| *byte == b'\n').count(), 1);
    for _ in 0..3 {
        tee.logged();
    }

    herdr.fault(Fault::Gone);
    assert_eq!(tee.exchange(b""), b"");
    let line = tee.logged();
    assert!(line.starts_with("3 ! no connection to "), "{line}");
    herdr.clear_faults();
    assert!(tee.exchange(PING).starts_with(b"{"));
}

#[test]
fn a_log_that_nobody_reads_holds_no_connection_up() {
    let herdr = FakeHerdr::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tee.sock");
    let mut setup = sidecar(&["tee", "--listen", path.to_str().unwrap(), "--socket"]);
    let mut child = setup.command.arg(herdr.socket_path()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    said.read_line(&mut String::new()).unwrap();
    let line = format!("{}\n", "z".repeat(60_000));
    let exchange = || {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(line.as_bytes()).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    };
    // More than a pipe holds; and then the pipe is closed.
    (0..20).for_each(|_| exchange());
    drop(child.stdout.take());
    (0..5).for_each(|_| exchange());
    assert_eq!(herdr.connections(), 25);
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn only_a_dead_socket_is_replaced() {
    let herdr = FakeHerdr::start().unwrap();
    let socket = herdr.socket_path().to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let refused = |listen: &str, socket: &str, words: &str| {
        let output = sidecar(&["tee", "--listen", listen, "--socket", socket]).run("");
        assert_eq!(output.code, Some(2), "{listen}: {output:?}");
        assert!(output.stderr.contains(words), "{listen}: {}", output.stderr);
    };
    std::fs::write(at("file"), "kept").unwrap();
    refused(&at("file"), socket, "something that is not a socket is in the way");
    assert_eq!(std::fs::read_to_string(at("file")).unwrap(), "kept");
    let _living = UnixListener::bind(at("living")).unwrap();
    refused(&at("living"), socket, "somebody listens there already");
    refused(&at("no/folder"), socket, "cannot listen at");
    refused(socket, socket, "is Herdr's own socket");
    std::os::unix::fs::symlink(folder.path(), at("link")).unwrap();
    refused(&at("link/new"), &at("new"), "is Herdr's own socket");

    drop(UnixListener::bind(at("dead")).unwrap());
    let mut tee = sidecar(&["tee", "--listen", &at("dead"), "--socket", socket]).start();
    assert!(tee.complaint().contains("listening at"));
    let mut stream = UnixStream::connect(at("dead")).unwrap();
    stream.write_all(PING).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    assert!(tee.answer().contains("ping"));
}
