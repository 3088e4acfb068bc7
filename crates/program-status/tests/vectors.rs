//! The specification's examples, and values at and beyond its limits.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use herdr_program_status::limits::{MESSAGE_MAX, NAME_MAX, TITLE_MAX};
use herdr_program_status::{AppName, BlockedKind, Error, ErrorKind, RecordId, Report, State};

/// The body of the only sequence that the report writes.
fn body(report: &Report) -> String {
    let mut bytes = Vec::new();
    report.write_to(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    text.strip_prefix("\x1b]7501;").unwrap().strip_suffix("\x1b\\").unwrap().to_owned()
}

fn id(path: &str) -> RecordId {
    RecordId::parse(path).unwrap()
}

fn app(name: &str) -> AppName {
    AppName::parse(name).unwrap()
}

#[test]
fn the_examples_of_the_specification() {
    let question = "Apply 3 to add, 1 to change, 0 to destroy?";
    let terraform = Report::builder(State::Blocked)
        .kind(BlockedKind::Permission)
        .app(app("terraform"))
        .message(question);
    assert_eq!(
        body(&terraform.clone().build().unwrap()),
        "state=blocked:kind=permission:app=terraform\
         :msg=QXBwbHkgMyB0byBhZGQsIDEgdG8gY2hhbmdlLCAwIHRvIGRlc3Ryb3k/",
    );
    assert_eq!(
        body(&terraform.id(id("tf/plan")).progress(42).title("Plan").build().unwrap()),
        "state=blocked:id=tf/plan:kind=permission:progress=42:app=terraform:title=UGxhbg==\
         :msg=QXBwbHkgMyB0byBhZGQsIDEgdG8gY2hhbmdlLCAwIHRvIGRlc3Ryb3k/",
    );
    let photos = |state, message| body(&Report::builder(state).message(message).build().unwrap());
    assert_eq!(photos(State::Working, "Syncing photos"), "state=working:msg=U3luY2luZyBwaG90b3M=");
    assert_eq!(photos(State::Done, "Photos synced"), "state=done:msg=UGhvdG9zIHN5bmNlZA==");
    assert_eq!(photos(State::Error, "rsync failed"), "state=error:msg=cnN5bmMgZmFpbGVk");
    assert_eq!(photos(State::Done, "安全"), "state=done:msg=5a6J5YWo");
}

#[test]
fn a_report_says_only_what_was_set() {
    for (state, word) in [
        (State::Idle, "state=idle"),
        (State::Working, "state=working"),
        (State::Done, "state=done"),
        (State::Blocked, "state=blocked"),
        (State::Error, "state=error"),
    ] {
        assert_eq!(body(&Report::builder(state).build().unwrap()), word);
    }
    for (kind, word) in [
        (BlockedKind::Permission, "state=blocked:kind=permission"),
        (BlockedKind::Question, "state=blocked:kind=question"),
        (BlockedKind::Auth, "state=blocked:kind=auth"),
    ] {
        assert_eq!(body(&Report::builder(State::Blocked).kind(kind).build().unwrap()), word);
    }
    assert_eq!(body(&Report::clear(RecordId::root())), "state=clear");
    assert_eq!(body(&Report::clear(id("us-east"))), "state=clear:id=us-east");
    let blank = Report::builder(State::Idle).title("\u{1b}[2J").message(" \n").build().unwrap();
    assert_eq!(body(&blank), "state=idle");
}

#[test]
fn kind_and_progress_go_with_the_states_that_have_them() {
    let refused = |report: Result<Report, Error>| report.unwrap_err().kind();
    for state in [State::Idle, State::Working, State::Done, State::Error] {
        let report = Report::builder(state).kind(BlockedKind::Auth).build();
        assert_eq!(refused(report), ErrorKind::BlockedKind, "{state:?}");
    }
    for state in [State::Idle, State::Done, State::Error] {
        let report = Report::builder(state).progress(1).build();
        assert_eq!(refused(report), ErrorKind::Progress, "{state:?}");
    }
    for state in [State::Working, State::Blocked] {
        let progress = |percent| Report::builder(state).progress(percent).build();
        assert_eq!(progress(0).unwrap().progress(), Some(0));
        assert_eq!(progress(100).unwrap().progress(), Some(100));
        let error = progress(101).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Progress);
        assert_eq!(error.to_string(), "the progress is over 100; expected 0 to 100");
    }
}

#[test]
fn record_ids_at_their_limits_and_beyond() {
    let segment = "a".repeat(NAME_MAX);
    for path in ["a", "build/test", "A-Z_0.9+", "a/b/c/d/e/f/g/h", &segment] {
        assert_eq!(id(path).as_str(), path);
    }
    let eight = ["abcdefghijklmno"; 8].join("/");
    assert_eq!(id(&eight).as_str().len(), 127);
    assert_eq!(id(&format!("{eight}p")).as_str().len(), 128);
    let (long_segment, long_path) = (format!("{segment}a"), format!("{eight}pq"));
    for path in [
        "",
        "/",
        "a/",
        "/a",
        "a//b",
        "a,b",
        "a=b",
        "a:b",
        "a b",
        "ünï",
        "a\u{1b}",
        "a/b/c/d/e/f/g/h/i",
        &long_segment,
        &long_path,
    ] {
        let error = RecordId::parse(path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RecordId, "{path:?}");
        assert!(error.to_string().starts_with("the record id "), "{error}");
    }
    assert!(id("a/b/c/d/e/f/g/h").child("i").is_err());
    assert!(RecordId::root().child("a/b").is_err());
}

#[test]
fn application_names_at_their_limits_and_beyond() {
    let longest = "a".repeat(NAME_MAX);
    for name in ["claude-code", "g++", "a", &longest] {
        assert_eq!(app(name).as_str(), name);
    }
    for name in ["", "a/b", "has space", "é", "a:b", &format!("{longest}a")] {
        assert_eq!(AppName::parse(name).unwrap_err().kind(), ErrorKind::App, "{name:?}");
    }
}

#[test]
fn texts_are_cut_at_their_limits() {
    let report = |length: usize| {
        let text = "x".repeat(length);
        Report::builder(State::Idle).title(&text).message(&text).build().unwrap()
    };
    assert_eq!(report(TITLE_MAX).title().unwrap(), "x".repeat(TITLE_MAX));
    assert_eq!(report(TITLE_MAX + 1).title().unwrap(), "x".repeat(TITLE_MAX - 3) + "…");
    assert_eq!(report(MESSAGE_MAX).message().unwrap(), "x".repeat(MESSAGE_MAX));
    assert_eq!(report(MESSAGE_MAX + 1).message().unwrap(), "x".repeat(MESSAGE_MAX - 3) + "…");
}

/// The specification says so of the largest legal report; a sequence may have
/// 4096.
#[test]
fn the_largest_report_has_less_than_3300_bytes() {
    let text = "x".repeat(MESSAGE_MAX);
    let largest = Report::builder(State::Blocked)
        .id(id(&format!("{}p", ["abcdefghijklmno"; 8].join("/"))))
        .kind(BlockedKind::Permission)
        .progress(100)
        .app(app(&"a".repeat(NAME_MAX)))
        .title(&text)
        .message(&text)
        .build()
        .unwrap();
    let mut bytes = Vec::new();
    largest.write_to(&mut bytes);
    assert!((3200..3300).contains(&bytes.len()), "{}", bytes.len());
}

#[test]
fn nothing_shows_a_text_by_accident() {
    let report = Report::builder(State::Idle).title("secret").message("secret").build().unwrap();
    assert!(!format!("{report:?}").contains("secret"));
    let error = AppName::parse("my secret").unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
}
