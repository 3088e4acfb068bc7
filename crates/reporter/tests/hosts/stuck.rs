//! A server that hangs does not hold the host up.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use fake_herdr::{FakeHerdr, Fault};
use herdr_reporter::Prompt;

#[cfg(target_os = "linux")]
use crate::processes::memory;
use crate::processes::{alone, runtime};
use crate::support::{AMPLE, BUDGET, builder_at};

const CALLS: usize = 10_000;
/// For all calls together, on a busy machine.
const CALLS_WITHIN: Duration = Duration::from_secs(3);
/// How much the process may grow.
#[cfg(target_os = "linux")]
const MEMORY: usize = 16 << 20;

/// Checks that a host does not notice that the server at this path hangs.
fn is_not_held_up(socket: &Path) {
    let begun = Instant::now();
    let pane = builder_at(socket).start();
    let mut diagnostics = pane.diagnostics();
    let _turn = pane.turn();
    assert!(begun.elapsed() < BUDGET, "started in {:?}", begun.elapsed());

    let raised = diagnostics.recv_timeout(AMPLE);
    assert!(raised.is_some(), "it says what is wrong");
    #[cfg(target_os = "linux")]
    let before = memory();
    let begun = Instant::now();
    for n in 0..CALLS / 5 {
        let turn = pane.turn();
        pane.set_title(format!("title {n}")).set_token("n", n.to_string());
        drop(turn.prompt(Prompt::approval("Run it?")));
    }
    assert!(begun.elapsed() < CALLS_WITHIN, "{CALLS} calls in {:?}", begun.elapsed());
    #[cfg(target_os = "linux")]
    assert!(memory() < before + MEMORY, "{} KiB more", (memory() - before) / 1024);

    let begun = Instant::now();
    pane.close(BUDGET);
    assert!(begun.elapsed() < BUDGET * 2, "closed in {:?}", begun.elapsed());
}

#[test]
fn b56_one_that_accepts_and_never_reads() {
    alone("stuck::b56_one_that_accepts_and_never_reads", || {
        let folder = runtime();
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            let _kept: Vec<_> = listener.incoming().collect();
        });
        is_not_held_up(&socket);
    });
}

#[test]
fn b56_one_that_reads_and_never_answers() {
    alone("stuck::b56_one_that_reads_and_never_answers", || {
        let herdr = FakeHerdr::builder().fault(Fault::NeverAnswers).start().unwrap();
        is_not_held_up(herdr.socket_path());
        assert!(!herdr.log().is_empty(), "it did read");
    });
}

#[test]
fn b56_one_whose_backlog_is_full() {
    alone("stuck::b56_one_whose_backlog_is_full", || {
        let folder = runtime();
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let _full = UnixStream::connect(&socket).unwrap();
        is_not_held_up(&socket);
    });
}
