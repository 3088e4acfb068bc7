//! What a new session sets, keeps and forgets.

use herdr_proto::ReportState;
use herdr_reporter::sidecar::Activity;
use herdr_reporter::{AgentEvent, Config, MAIN_AGENT, SessionStarted};

use crate::support::{config, fold, model, set, show, shown_tokens, started, usage};

fn session(id: &str, more: impl FnOnce(&mut SessionStarted)) -> AgentEvent {
    let mut session = SessionStarted::new(id);
    more(&mut session);
    AgentEvent::SessionStarted(session)
}

#[test]
fn another_session_forgets_what_it_does_not_give() {
    let before = [session("a", |_| {}), model(Some("m"), Some(100)), usage(50)];
    let after = |event: AgentEvent| {
        let events = before.iter().cloned().chain([event]);
        let shown = show(&Config::default(), events);
        shown_tokens(&shown).iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>()
    };
    let same: [&str; 2] = ["ctx=50/100", "model=m"];
    assert_eq!(after(session("a", |_| {})), same);
    assert_eq!(after(session("a", |s| s.used = Some(7))), ["ctx=7/100", "model=m"]);
    assert_eq!(after(session("a", |s| s.context_window = Some(0))), ["ctx=50", "model=m"]);
    assert!(after(session("b", |_| {})).is_empty());
    assert_eq!(after(session("b", |s| s.model = Some("m".into()))), ["model=m"]);
    assert_eq!(after(session("b", |s| s.used = Some(7))), ["ctx=7"]);
    let sub = session("b", |s| s.agent_id = "sub".into());
    assert_eq!(after(sub), same, "another agent's session is not the pane's");
}

#[test]
fn a_session_ends_nothing_and_is_sent_again() {
    let mut activity = fold([started(), session("a", |_| {})]);
    let before = activity.snapshot(&Config::default()).unwrap();
    activity.apply(session("a", |_| {})).unwrap();
    let after = activity.snapshot(&Config::default()).unwrap();
    assert_eq!(after.state, ReportState::Working);
    assert_ne!(before.resend, after.resend);
}

#[test]
fn the_end_of_a_session_ends_everything_and_keeps_the_claim() {
    let ended = |agent: &str| AgentEvent::session_ended().of_agent(Some(agent.into()));
    let busy = [session("a", |_| {}), started(), set(ReportState::Blocked, "x")];
    let shown = show(&Config::default(), busy.iter().cloned().chain([ended(MAIN_AGENT)]));
    assert_eq!((shown.state, shown.reason), (ReportState::Idle, None));
    let shown = show(&Config::default(), busy.iter().cloned().chain([ended("sub")]));
    assert_eq!(shown.state, ReportState::Blocked);
}

#[test]
fn a_session_goes_out_as_far_as_the_server_takes_it() {
    let config_off = config(|config| config.report_session = false);
    assert_eq!(show(&config_off, [session("a", |_| {})]).session, None);
    assert_eq!(show(&Config::default(), [started()]).session, None);

    let shown = show(
        &Config::default(),
        [session("a", |s| {
            s.session_path = Some("/var/sessions/a".into());
            s.resume_argv = Some(vec!["agent".into(), "--resume".into(), "a".into()]);
        })],
    );
    let given = shown.session.unwrap();
    assert_eq!(given.id.unwrap().as_ref(), "a");
    assert_eq!(given.path.unwrap().as_ref(), "/var/sessions/a");
    assert!(given.resume_argv.is_some());

    let mut activity = Activity::default();
    let refused = activity
        .apply(session("a", |s| {
            s.session_path = Some("relative/a".into());
            s.resume_argv = Some(vec!["/bin/agent".into(), "it's".into()]);
        }))
        .unwrap_err();
    let message = refused.to_string();
    assert!(message.contains("session_path is relative"), "{message}");
    assert!(message.contains("resume_argv") && !message.contains("/bin/agent"), "{message}");
    let given = activity.snapshot(&Config::default()).unwrap().session.unwrap();
    assert!(given.id.is_some());
    assert_eq!((given.path, given.resume_argv), (None, None), "the server would refuse or drop it");
}
