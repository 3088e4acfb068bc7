//! Calls of a host in trouble: its log blocks, calls the reporter or panics, or the process has no
//! descriptors left.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fake_herdr::FakeHerdr;
use herdr_reporter::{
    DiagnosticKind, Ended, Flushed, Handle, OffReason, ReportState, Reporter, Status,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::processes::alone;
use crate::support::{AMPLE, BUDGET, builder, config, seen, start, start_at};

/// A host's log that runs this function for each event of the reporter's thread.
struct Log<F>(F);

impl<F: Fn(Level) + Send + Sync + 'static> Subscriber for Log<F> {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        if std::thread::current().name() == Some("herdr-reporter") {
            (self.0)(*event.metadata().level());
        }
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn log(does: impl Fn(Level) + Send + Sync + 'static) {
    tracing::subscriber::set_global_default(Log(does)).unwrap();
}

#[test]
fn f49_async_calls_come_back_in_time_while_the_log_holds_the_reporter_up() {
    alone("calls::f49_async_calls_come_back_in_time_while_the_log_holds_the_reporter_up", || {
        let (block, blocked) = channel::<()>();
        let (entered, enters) = channel();
        let (entered, blocked) = (Mutex::new(entered), Mutex::new(blocked));
        log(move |level| {
            if level == Level::WARN {
                let _ = entered.lock().unwrap().send(());
                let _ = blocked.lock().unwrap().recv();
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let pane = start_at(&folder.path().join("nobody"));
        let handle = pane.handle();
        pane.set_state(ReportState::Working);
        enters.recv_timeout(AMPLE).expect("it warns that there is no server");

        let begun = Instant::now();
        let flushed = pollster::block_on(handle.flush_async(Duration::from_millis(100)));
        assert_eq!(flushed, Flushed::TimedOut);
        assert_eq!(handle.flush(Duration::from_millis(10)), Flushed::TimedOut);
        let ended = pollster::block_on(pane.close_async(BUDGET));
        assert_eq!(ended, Ended::NotReleased);
        assert!(begun.elapsed() < AMPLE, "{:?}", begun.elapsed());
        drop(block);
    });
}

#[test]
fn f50_a_log_may_call_the_reporter() {
    alone("calls::f50_a_log_may_call_the_reporter", || {
        static HANDLE: OnceLock<Handle> = OnceLock::new();
        let (say, raised) = channel();
        let say = Mutex::new(say);
        log(move |level| {
            let Some(handle) = HANDLE.get().filter(|_| level == Level::WARN) else { return };
            handle.set_title("from the log").set_token("not a key", "x");
            let first = handle.diagnostics().try_recv().map(|diagnostic| diagnostic.kind);
            handle.receipts();
            let _ = (handle.status(), handle.counters(), handle.flush(Duration::ZERO));
            let _ = say.lock().unwrap().send(first);
        });
        let folder = tempfile::tempdir().unwrap();
        let pane = start_at(&folder.path().join("nobody"));
        HANDLE.set(pane.handle()).unwrap();
        pane.set_state(ReportState::Working);
        let raised = raised.recv_timeout(AMPLE).expect("no deadlock");
        assert_eq!(raised, Some(DiagnosticKind::ConnectFailed));
        pane.close(BUDGET);
    });
}

#[test]
fn f53_a_reporter_that_fails_says_so_and_gives_the_pane_back() {
    alone("calls::f53_a_reporter_that_fails_says_so_and_gives_the_pane_back", || {
        let armed = Arc::new(AtomicBool::new(false));
        let fires = armed.clone();
        log(move |_| assert!(!fires.swap(false, Ordering::Relaxed), "as if by a bug"));
        let herdr = FakeHerdr::start().unwrap();
        let pane = start(&herdr);
        let _turn = pane.turn();
        assert_eq!(seen(&herdr, &pane).agent_status, "working");

        armed.store(true, Ordering::Relaxed);
        pane.set_title("the last word");
        let raised: Vec<_> = pane.diagnostics().iter().map(|diagnostic| diagnostic.kind).collect();
        assert_eq!(raised, [DiagnosticKind::EngineFailed]);
        let failed = Status::Off(OffReason::Failed);
        assert_eq!((pane.status(), pane.flush(AMPLE)), (failed, Flushed::NotReporting(failed)));
        assert_eq!(herdr.observe(herdr.pane_id()).unwrap().agent, None);
        pane.close(BUDGET);
    });
}

#[test]
fn f53_a_reporter_that_cannot_start_says_so_and_its_predecessor_stays() {
    alone("calls::f53_a_reporter_that_cannot_start_says_so_and_its_predecessor_stays", || {
        let herdr = FakeHerdr::start().unwrap();
        let before = start(&herdr);
        let _turn = before.turn();
        seen(&herdr, &before);

        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..limit }).unwrap();
        let after: Reporter = builder(&herdr).config(config(herdr.socket_path())).start();
        setrlimit(Resource::Nofile, limit).unwrap();
        assert_eq!(after.status(), Status::Off(OffReason::Failed));
        let raised: Vec<_> = after.diagnostics().iter().map(|diagnostic| diagnostic.kind).collect();
        assert_eq!(raised, [DiagnosticKind::EngineFailed]);
        drop(after);

        before.set_title("still here");
        assert_eq!(seen(&herdr, &before).title.as_deref(), Some("still here"));
        assert_eq!(before.diagnostics().try_recv(), None);
        assert_eq!(before.close(BUDGET), Ended::Released);
    });
}
