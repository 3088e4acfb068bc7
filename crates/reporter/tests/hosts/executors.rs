//! The engine has its own runtime, so a host needs none and may use any.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use fake_herdr::FakeHerdr;
use herdr_reporter::{Ended, Flushed, Outcome, Part, Reporter};

use crate::support::{AMPLE, BUDGET, assert_clean, start};

/// A minimal executor, which parks its thread.
fn park_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park_timeout(AMPLE),
        }
    }
}

async fn session(herdr: &FakeHerdr, pane: Reporter) {
    let mut receipts = pane.receipts();
    let turn = pane.turn();
    assert_eq!(pane.flush_async(AMPLE).await, Flushed::Delivered);
    assert_eq!(herdr.observe(herdr.pane_id()).unwrap().agent_status, "working");
    let receipt = receipts.recv().await.unwrap();
    assert_eq!((receipt.outcome, receipt.of), (Outcome::Applied, Part::State));
    drop(turn);
    assert_eq!(pane.flush_async(AMPLE).await, Flushed::Delivered);
    assert_eq!(pane.close_async(BUDGET).await, Ended::Released);
    while receipts.recv().await.is_some() {}
}

#[test]
fn without_a_runtime() {
    let herdr = FakeHerdr::start().unwrap();
    park_on(session(&herdr, start(&herdr)));
    assert_clean(&herdr);
}

#[test]
fn in_a_runtime_without_timers_and_sockets() {
    let herdr = FakeHerdr::start().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { session(&herdr, start(&herdr)).await });
    assert_clean(&herdr);
}

#[test]
fn blocking_calls_and_drops_are_allowed_inside_a_runtime() {
    let herdr = FakeHerdr::start().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let pane = start(&herdr);
        let turn = pane.turn();
        assert_eq!(pane.flush(AMPLE), Flushed::Delivered);
        drop(turn);
        drop(pane);
        let pane = start(&herdr);
        let _turn = pane.turn();
        assert_eq!(pane.flush(AMPLE), Flushed::Delivered);
        assert_eq!(pane.close(BUDGET), Ended::Released);
    });
    assert_clean(&herdr);
}

#[test]
fn a_reporter_outlives_the_runtime_it_was_started_in() {
    let herdr = FakeHerdr::start().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let pane = runtime.block_on(async { start(&herdr) });
    drop(runtime);
    let _turn = pane.turn();
    assert_eq!(pane.flush(AMPLE), Flushed::Delivered);
    assert_eq!(pane.close(BUDGET), Ended::Released);
    assert_clean(&herdr);
}
