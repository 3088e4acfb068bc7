//! The demo, in plain lines and in a terminal.

use fake_herdr::FakeHerdr;
use rustix::process::Signal;

use crate::support::{PATIENCE, inside, sidecar, wait_clean};
use crate::terminal::{Terminal, pictures, visible};

#[test]
fn the_plain_demo_tells_a_whole_session_and_leaves_nothing() {
    let trace = tempfile::tempdir().unwrap();
    let place = trace.path().to_str().unwrap();
    let setup = sidecar(&["demo", "--plain"]).env("TMPDIR", place).env("XDG_RUNTIME_DIR", place);
    let output = setup.run("");
    assert_eq!(std::fs::read_dir(trace.path()).unwrap().count(), 0, "no file remains");
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    let shown: Vec<&str> =
        output.stdout.lines().filter_map(|line| line.strip_prefix("         ")).collect();
    let find = |words: &[&str]| {
        let line = shown.iter().position(|line| words.iter().all(|word| line.contains(word)));
        line.unwrap_or_else(|| panic!("{words:?} in {shown:#?}"))
    };
    let blocked = find(&["blocked", "Run cargo test?", "model large-2", "ctx 19k/200k"]);
    let title = find(&["on it", "Fix login redirect loop, add a test"]);
    let end = find(&["no agent"]);
    assert!(blocked < title && title < end);
    assert_eq!(end, shown.len() - 1);
    let mut last = output.stdout.lines().rev();
    assert_eq!(last.next(), Some("  herdr-socket-report doctor"), "the next step");
    assert_eq!(last.next(), Some("Next, in a pane of your own Herdr:"));
    assert!(last.next().unwrap().ends_with("no agent, title or token of the demo remains."));
    assert!(!output.stdout.contains('\u{1b}'));
}

#[test]
fn a_reader_that_had_enough_does_no_harm() {
    let herdr = FakeHerdr::start().unwrap();
    let mut setup = inside(&herdr, &["demo", "--live"]);
    let mut child = setup.command.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    wait_clean(&herdr, "demo");
}

#[test]
fn live_plays_on_the_real_pane_and_needs_one() {
    let output = sidecar(&["demo", "--live"]).run("");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("--live plays on a pane of Herdr"), "{}", output.stderr);
    let output = sidecar(&["demo", "--live", "--socket", "/nowhere", "--pane", "w1:p1"]).run("");
    assert_eq!(output.code, Some(3), "{output:?}");

    let herdr = FakeHerdr::start().unwrap();
    let demo = inside(&herdr, &["demo", "--live"]).start();
    let pane = herdr.wait_until(PATIENCE, |pane| pane.agent_status == "blocked").unwrap();
    assert_eq!(pane.agent.as_deref(), Some("demo"));
    demo.signal(Signal::INT);
    let output = demo.wait();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    wait_clean(&herdr, "demo");
}

#[test]
fn live_draws_the_rows_of_herdrs_settings_and_says_what_they_hide() {
    let herdr = FakeHerdr::start().unwrap();
    let rows = [
        // Herdr's default rows, then rows that a user has set, then those of `sidebar`.
        (None, vec![" ● demo", "   Demo agent"], "the sidebar's rows hide why an agent"),
        (
            Some(r#"rows = [["agent", "state_icon"], [{ token = "state_text", bold = true }]]"#),
            vec![" Demo agent · ●", "   Run cargo test?"],
            "hide titles (pane), the model",
        ),
    ];
    for (rows, expected, hidden) in rows {
        let setup = inside(&herdr, &["demo", "--live"]);
        let settings = setup.folder.path().join(".config/herdr/config.toml");
        if let Some(rows) = rows {
            std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
            std::fs::write(settings, format!("[ui.sidebar.agents]\n{rows}\n")).unwrap();
        }
        let mut terminal = Terminal::start(setup, (100, 30));
        terminal.wait(|drawn| {
            let pictures = pictures(drawn);
            let Some(picture) = pictures.last() else { return false };
            let framed = |line: &String| Some(line.split('│').nth(1)?.trim_end().to_owned());
            let shown: Vec<_> = picture.iter().filter_map(framed).collect();
            shown == expected && picture.iter().any(|line| line.ends_with("Run cargo test?"))
        });
        let (code, drawn) = terminal.end(Signal::TERM);
        assert_eq!(code, Some(0));
        assert!(drawn.contains(hidden) && drawn.contains("init herdr --write"), "{drawn}");
    }
    // Settings that cannot be read.
    let setup = inside(&herdr, &["demo", "--live", "--plain"]);
    let setup = setup.env("HERDR_CONFIG_PATH", "broken.toml");
    std::fs::write(setup.folder.path().join("broken.toml"), "[ui\n").unwrap();
    let mut demo = setup.start();
    demo.answer();
    demo.signal(Signal::TERM);
    assert!(demo.wait().stdout.contains("broken.toml: "));
}

#[test]
fn in_a_terminal_it_draws_in_place_and_gives_the_cursor_back() {
    let mut terminal = Terminal::start(sidecar(&["demo"]), (100, 30));
    terminal.wait(|drawn| drawn.contains("\x1b[33mon it"));
    let (code, drawn) = terminal.end(Signal::TERM);
    assert_eq!(code, Some(0));
    let begins = drawn.find("\x1b[?1049h").expect("the other screen is taken");
    let ends = drawn.rfind("\x1b[?1049l").expect("and given back");
    assert!(begins < ends);
    assert!(drawn[begins..ends].contains("\x1b[?25l"), "the cursor is hidden");
    assert!(drawn[begins..ends].contains("\x1b[?25h"), "and comes back");
    assert!(drawn[begins..ends].contains("\x1b[33m"), "working has its colour");
    // The last picture stays.
    let stays = visible(&drawn[ends..]);
    assert!(stays.contains("pane w1:p1") && stays.contains("as it was before"), "{stays}");
}

#[test]
fn a_terminal_that_changes_its_size_is_drawn_within_it() {
    let mut terminal = Terminal::start(sidecar(&["demo"]), (30, 8));
    for size in [(30, 8), (100, 30), (40, 30), (100, 6), (30, 8)] {
        terminal.resize(size);
        let (columns, rows) = (usize::from(size.0), usize::from(size.1));
        let fits = |picture: &Vec<String>| {
            let beside = picture[0].contains("the host says");
            (rows.min(8)..=rows).contains(&picture.len())
                && picture.iter().all(|line| line.chars().count() < columns)
                && picture[1].starts_with(" ╭")
                && beside == (columns >= 60)
        };
        terminal.wait(|drawn| pictures(drawn).last().is_some_and(fits));
    }
    assert_eq!(terminal.end(Signal::INT).0, Some(0));
}
