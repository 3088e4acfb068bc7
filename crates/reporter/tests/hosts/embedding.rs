//! How a host uses the library, and what the pane shows then.

use std::future::pending;
use std::panic::resume_unwind;

use fake_herdr::FakeHerdr;
use herdr_proto::ReportState;
use herdr_reporter::{
    Diagnostic, Feed, Flushed, Handle, OpenPrompt, Prompt, Receipt, Reporter, Status, ToolRun, Turn,
};

use crate::support::{
    AMPLE, BUDGET, assert_clean, builder, methods, requests, seen, settled, start, states, status,
};

#[test]
fn the_contract_line_by_line() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    pane.set_session("0b7c1f").set_title("Fix the login redirect");
    let first = seen(&herdr, &pane);
    assert_eq!((first.agent.as_deref(), first.agent_status.as_str()), (Some("host"), "idle"));
    assert_eq!(first.title.as_deref(), Some("Fix the login redirect"));

    let turn = pane.turn();
    assert_eq!(status(&herdr, &pane), "working");
    {
        let _t = turn.tool("grep");
        assert_eq!(status(&herdr, &pane), "working");
    }
    assert_eq!(status(&herdr, &pane), "working", "a turn goes on after its tool");

    let ask = turn.prompt(Prompt::approval("Run cargo test?"));
    let blocked = seen(&herdr, &pane);
    assert_eq!(blocked.agent_status, "blocked");
    assert_eq!(blocked.state_labels["blocked"], "Run cargo test?");

    drop(ask);
    let after = seen(&herdr, &pane);
    assert_eq!((after.agent_status.as_str(), after.state_labels.len()), ("working", 0));
    drop(turn);
    assert_eq!(status(&herdr, &pane), "idle");

    assert_eq!(pane.close(BUDGET), herdr_reporter::Ended::Released);
    assert_clean(&herdr);
}

#[test]
fn every_call_of_a_handle_reaches_the_pane() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    pane.set_state(ReportState::Blocked)
        .set_title("T")
        .set_model("sonnet", Some(200_000))
        .set_usage(33_900)
        .set_token("branch", "main")
        .set_label(herdr_proto::StateKey::Blocked, "waits");
    let all = seen(&herdr, &pane);
    assert_eq!((all.agent_status.as_str(), all.title.as_deref()), ("blocked", Some("T")));
    assert_eq!(all.state_labels["blocked"], "waits");
    let tokens: Vec<_> = all.tokens.values().map(String::as_str).collect();
    assert_eq!(tokens, ["main", "34k/200k", "sonnet"]);

    pane.set_title(" ")
        .clear_token("branch")
        .set_model("", None)
        .clear_label(herdr_proto::StateKey::Blocked);
    let less = seen(&herdr, &pane);
    assert_eq!((less.title, less.state_labels.len()), (None, 0));
    assert_eq!(less.tokens.into_values().collect::<Vec<_>>(), ["34k"]);

    pane.release();
    assert_eq!(pane.flush(AMPLE), Flushed::Delivered);
    assert_clean(&herdr);
    pane.set_state(ReportState::Working);
    assert_eq!(status(&herdr, &pane), "working", "the next event claims it again");
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Guard {
    Turn,
    Tool,
    Prompt,
}

#[test]
fn guards_end_what_they_began_in_any_order() {
    use Guard::{Prompt as Ask, Tool, Turn};
    let orders = [
        [Turn, Tool, Ask],
        [Turn, Ask, Tool],
        [Tool, Turn, Ask],
        [Tool, Ask, Turn],
        [Ask, Turn, Tool],
        [Ask, Tool, Turn],
    ];
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    for order in orders {
        let mut turn = Some(pane.turn());
        let mut tool = turn.as_ref().map(|turn| turn.tool("bash"));
        let mut ask = turn.as_ref().map(|turn| turn.prompt(Prompt::question("Which one?")));
        assert_eq!(status(&herdr, &pane), "blocked", "{order:?}");
        for guard in order {
            match guard {
                Turn => drop(turn.take()),
                Tool => drop(tool.take()),
                Ask => drop(ask.take()),
            }
            // The end of a turn ends its tools and prompts even if their values still exist.
            let expected = match (&turn, &ask) {
                (None, _) => "idle",
                (Some(_), Some(_)) => "blocked",
                (Some(_), None) => "working",
            };
            assert_eq!(status(&herdr, &pane), expected, "{order:?} after {guard:?}");
        }
    }
}

#[test]
fn b23_overlapping_prompts_block_until_the_last_one_is_closed() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let turn = pane.turn();
    for first_goes_first in [true, false] {
        let first = turn.prompt(Prompt::approval("one"));
        let second = turn.prompt(Prompt::approval("two"));
        assert_eq!(seen(&herdr, &pane).state_labels["blocked"], "two");
        let (gone, left, label) =
            if first_goes_first { (first, second, "two") } else { (second, first, "one") };
        drop(gone);
        assert_eq!(seen(&herdr, &pane).state_labels["blocked"], label);
        drop(left);
        assert_eq!(status(&herdr, &pane), "working");
    }
}

#[test]
fn a_prompt_of_no_turn_outlives_every_turn() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let turn = pane.turn();
    let login = pane.prompt(Prompt::question("Log in?"));
    drop(turn);
    assert_eq!(status(&herdr, &pane), "blocked");
    drop(login);
    assert_eq!(status(&herdr, &pane), "idle");
}

#[test]
fn overlapping_turns_end_one_by_one() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    for main_ends_first in [true, false] {
        let (main, other) = (pane.turn(), pane.turn());
        let ask = other.prompt(Prompt::approval("x"));
        let tool = main.tool("grep");
        let (gone, left) = if main_ends_first { (main, other) } else { (other, main) };
        drop(gone);
        let expected = if main_ends_first { "blocked" } else { "working" };
        assert_eq!(status(&herdr, &pane), expected, "only its own prompts go with a turn");
        drop(left);
        assert_eq!(status(&herdr, &pane), "idle");
        drop((ask, tool));
    }
}

#[test]
fn b27_guards_end_by_unwinding() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let handle = pane.handle();
    let panicked = std::thread::spawn(move || {
        let turn = handle.turn();
        let _tool = turn.tool("bash");
        let _ask = turn.prompt(Prompt::approval("x"));
        let _login = handle.prompt(Prompt::question("y"));
        assert_eq!(handle.flush(AMPLE), Flushed::Delivered);
        resume_unwind(Box::new("a bug of the host"));
    });
    assert!(panicked.join().is_err());
    assert_eq!(status(&herdr, &pane), "idle");
    // The engine may have taken the changes between the turn and the prompt.
    assert!(states(&requests(&herdr)).ends_with(&["blocked", "idle"]));
}

#[test]
fn b27_guards_end_with_a_cancelled_future() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let handle = pane.handle();
        let (ready, waits) = tokio::sync::oneshot::channel();
        let task = tokio::spawn(async move {
            let turn = handle.turn();
            let _ask = turn.prompt(Prompt::approval("x"));
            let _ = ready.send(handle.flush_async(AMPLE).await);
            pending::<()>().await;
        });
        assert_eq!(waits.await, Ok(Flushed::Delivered));
        assert_eq!(herdr.observe(herdr.pane_id()).unwrap().agent_status, "blocked");
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    });
    assert_eq!(status(&herdr, &pane), "idle");
}

#[test]
fn b18_an_initial_turn_is_taken_over_by_the_first_guard() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = builder(&herdr).initial(ReportState::Working).start();
    assert_eq!(status(&herdr, &pane), "working");
    let turn = pane.turn();
    assert_eq!(status(&herdr, &pane), "working");
    drop(turn);
    assert_eq!(status(&herdr, &pane), "idle");
    assert_eq!(states(&requests(&herdr)), ["working", "idle"]);
}

#[test]
fn b18_an_initial_turn_ends_when_the_agent_settles() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = builder(&herdr).initial(ReportState::Working).start();
    assert_eq!(status(&herdr, &pane), "working");
    pane.record(settled()).unwrap();
    assert_eq!(status(&herdr, &pane), "idle");
}

#[test]
fn the_initial_state_claims_and_no_initial_state_does_not() {
    for (initial, shown) in [
        (Some(ReportState::Idle), Some("idle")),
        (Some(ReportState::Working), Some("working")),
        (Some(ReportState::Blocked), Some("blocked")),
        (None, None),
    ] {
        let herdr = FakeHerdr::start().unwrap();
        let mut builder = builder(&herdr);
        if let Some(state) = initial {
            builder = builder.initial(state);
        }
        let pane = builder.start();
        pane.set_title("alone it claims nothing");
        let seen = seen(&herdr, &pane);
        assert_eq!(seen.agent.is_some(), shown.is_some(), "{initial:?}");
        assert_eq!(seen.agent_status, shown.unwrap_or("unknown"), "{initial:?}");
        assert_eq!(seen.title.is_some(), shown.is_some(), "{initial:?}");
    }
}

#[test]
fn handles_outlive_their_owner_and_end_nothing() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let handle = pane.handle();
    let turn = handle.turn();
    drop(handle.clone());
    drop(pane.handle());
    assert_eq!(status(&herdr, &pane), "working", "handles come and go");

    drop(pane);
    assert_clean(&herdr);
    assert!(!handle.is_active());
    let before = requests(&herdr).len();
    handle.set_title("late").set_state(ReportState::Blocked);
    let late = handle.turn();
    drop((turn, late));
    handle.release();
    assert_eq!(handle.flush(AMPLE), Flushed::NotReporting(Status::Ended));
    drop(handle);
    assert_eq!(requests(&herdr).len(), before, "nothing follows the release");
    assert_eq!(methods(&requests(&herdr)).last(), Some(&"pane.release_agent"));
}

#[test]
fn everything_may_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    fn moves<T: Send>(_: T) {}
    crosses::<Reporter>();
    crosses::<Handle>();
    crosses::<Turn>();
    crosses::<ToolRun>();
    crosses::<OpenPrompt>();
    crosses::<Feed<Receipt>>();
    crosses::<Feed<Diagnostic>>();
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let (handle, mut receipts) = (pane.handle(), pane.receipts());
    moves(handle.flush_async(AMPLE));
    moves(receipts.recv());
    moves(pane.close_async(BUDGET));
}
