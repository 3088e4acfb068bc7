//! Receipts and diagnostics, for readers on any thread that begin at any time.

use std::os::unix::net::UnixListener;
use std::time::Duration;

use fake_herdr::FakeHerdr;
use herdr_proto::ReportState;
use herdr_reporter::{Counters, DiagnosticKind, Outcome, Part, Receipt};

use crate::support::{AMPLE, BUDGET, requests, seen, start, start_at};

#[test]
fn each_report_gets_one_receipt_with_the_number_it_went_out_with() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let mut receipts = pane.receipts();
    let handle = pane.handle();
    let turn = pane.turn();
    pane.set_title("T").set_token("branch", "main");
    seen(&herdr, &pane);
    drop(turn);
    seen(&herdr, &pane);
    pane.close(BUDGET);

    let received: Vec<Receipt> = std::iter::from_fn(|| receipts.recv_timeout(AMPLE)).collect();
    let seqs: Vec<u64> =
        requests(&herdr).iter().filter_map(|request| request["params"]["seq"].as_u64()).collect();
    for receipt in &received {
        let known = receipt.seq.is_none_or(|seq| seqs.contains(&seq.get()));
        assert!(known, "{receipt:?}");
        assert_eq!(receipt.seq.is_none(), receipt.outcome == Outcome::Superseded, "{receipt:?}");
    }
    let count = |outcome: Outcome, of: Part| {
        received.iter().filter(|receipt| (receipt.outcome, receipt.of) == (outcome, of)).count()
    };
    assert_eq!(count(Outcome::Applied, Part::State), 2, "{received:?}");
    assert_eq!(count(Outcome::Sent, Part::Release), 1, "{received:?}");
    let counters = handle.counters();
    assert_sums(counters);
    let judged = received
        .iter()
        .filter(|receipt| matches!(receipt.of, Part::State | Part::Presentation | Part::Tokens));
    assert_eq!(judged.count() as u64, counters.offered, "{received:?} {counters:?}");
}

fn assert_sums(counters: Counters) {
    assert!(counters.add_up(), "{counters:?}");
    assert_eq!(counters.pending, 0, "{counters:?}");
}

#[test]
fn what_was_replaced_before_it_was_sent_is_superseded() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let mut receipts = pane.receipts();
    let _turn = pane.turn();
    for n in 0..50 {
        pane.set_title(format!("title {n}"));
    }
    seen(&herdr, &pane);
    let titles = requests(&herdr).iter().filter(|r| r["params"]["title"].is_string()).count();
    assert!(titles <= 5, "{titles} of 50 went out");
    let counters = pane.counters();
    assert!(counters.add_up());
    let read: Vec<Receipt> = std::iter::from_fn(|| receipts.try_recv()).collect();
    let superseded = read.iter().filter(|receipt| receipt.outcome == Outcome::Superseded).count();
    assert_eq!(superseded as u64, counters.superseded);
    assert_eq!(counters.dropped, 0);
}

#[test]
fn a_reader_that_comes_late_learns_what_keeps_reports_from_showing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    drop(UnixListener::bind(&path).unwrap());
    let pane = start_at(&path);
    pane.set_state(ReportState::Working);
    let raised = pane.diagnostics().recv_timeout(AMPLE).unwrap();
    assert_eq!(raised.kind, DiagnosticKind::ConnectFailed);
    assert!(raised.detail.contains(&*path.to_string_lossy()), "{}", raised.detail);
    let mut late = pane.diagnostics();
    assert_eq!(late.try_recv(), Some(raised.clone()));
    let handle = pane.handle();
    pane.close(BUDGET);
    assert_eq!(late.iter().next(), None, "reported once, and nothing more");
    let mut after_the_end = handle.diagnostics();
    assert_eq!(after_the_end.iter().collect::<Vec<_>>(), [raised]);
}

#[test]
fn a_failure_is_news_again_after_a_success() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    let pane = start_at(&path);
    let mut diagnostics = pane.diagnostics();
    pane.set_state(ReportState::Working);
    for _ in 0..2 {
        let raised = diagnostics.recv_timeout(AMPLE).unwrap();
        assert_eq!(raised.kind, DiagnosticKind::ConnectFailed);
        let herdr = FakeHerdr::builder().socket_path(&path).start().unwrap();
        herdr.wait_until(AMPLE, |pane| pane.agent_status == "working").unwrap();
        assert_eq!(diagnostics.try_recv(), None);
    }
}

#[test]
fn a_blocked_reader_wakes_up_at_the_end() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let (mut receipts, mut diagnostics) = (pane.receipts(), pane.diagnostics());
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || (receipts.iter().count(), diagnostics.iter().next()));
        pane.set_state(ReportState::Working);
        seen(&herdr, &pane);
        pane.close(BUDGET);
        let (read, diagnostic) = reader.join().unwrap();
        assert!(read >= 2, "{read}");
        assert_eq!(diagnostic, None);
    });
}

#[test]
fn refused_tokens_are_reported_once_and_the_rest_is_sent() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    pane.set_state(ReportState::Working);
    for _ in 0..3 {
        pane.set_token("not a key", "secret");
    }
    pane.set_token("key", "text");
    let seen = seen(&herdr, &pane);
    assert_eq!(seen.tokens.into_iter().collect::<Vec<_>>(), [("key".into(), "text".into())]);
    let mut diagnostics = pane.diagnostics();
    let raised = diagnostics.try_recv().unwrap();
    assert_eq!(raised.kind, DiagnosticKind::Limit);
    assert!(raised.detail.ends_with("token keys: 1") && !raised.detail.contains("not a key"));
    assert_eq!(diagnostics.recv_timeout(Duration::ZERO), None);
}
