//! The title and the display name of a pane.

use herdr_reporter::{AgentEvent, Config, SessionStarted, Source};

use crate::support::{config, show, shown_title, started, title};

fn session(title: Option<&str>) -> AgentEvent {
    let mut session = SessionStarted::new("s");
    session.title = title.map(Into::into);
    AgentEvent::SessionStarted(session)
}

#[test]
fn the_newest_title_counts_until_it_is_taken_off() {
    let cases: [(&[AgentEvent], Option<&str>); 7] = [
        (&[title(Some("one"))], Some("one")),
        (&[title(Some("one")), title(Some("two"))], Some("two")),
        (&[title(Some("one")), title(None)], None),
        (&[title(Some("one")), title(Some(" \t\n"))], None),
        (&[title(Some("one")), title(Some("\u{1b}[31m\u{202e}"))], None),
        (&[title(Some("one")), session(None)], Some("one")),
        (&[title(Some("one")), session(Some("two"))], Some("two")),
    ];
    for (events, expected) in cases {
        let events = events.iter().cloned().chain([started()]);
        assert_eq!(shown_title(&show(&Config::default(), events)), expected);
    }
}

#[test]
fn b46_a_title_is_one_clean_line() {
    let raw = "\u{1b}[31mred\u{1b}[0m\nline2\ttab\u{1b}]0;x\u{7}";
    let shown = show(&Config::default(), [started(), title(Some(raw))]);
    assert_eq!(shown_title(&shown), Some("red line2 tab"));
}

#[test]
fn the_title_of_another_agent_is_not_the_panes() {
    let other = AgentEvent::title_changed(Some("sub".into())).of_agent(Some("sub-1".into()));
    let shown = show(&Config::default(), [started(), title(Some("main")), other]);
    assert_eq!(shown_title(&shown), Some("main"));
}

#[test]
fn no_title_is_sent_if_the_setting_is_none() {
    let config = config(|config| config.title = Source::None);
    let shown = show(&config, [session(Some("one")), title(Some("two"))]);
    assert_eq!(shown_title(&shown), None);
}

#[test]
fn the_display_name_is_the_configured_one_cleaned() {
    for (configured, expected) in [
        (None, None),
        (Some("My agent"), Some("My agent")),
        (Some("two\nlines"), Some("two lines")),
        (Some(" \n"), None),
    ] {
        let config = config(|config| config.display_name = configured.map(Into::into));
        let shown = show(&config, [started()]);
        let name = shown.presentation.display_agent.as_ref().map(AsRef::as_ref);
        assert_eq!(name, expected, "{configured:?}");
    }
}
