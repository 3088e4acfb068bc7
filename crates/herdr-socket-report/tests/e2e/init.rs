//! `init` and `sidebar` in temporary folders.

use std::fs;

use crate::pane::{Pane, complaints};

#[test]
fn a_newcomer_sees_what_there_is_and_sets_it_up() {
    let pane = Pane::new();
    let home = pane.path();
    fs::create_dir(home.join(".claude")).unwrap();
    let settings = home.join(".claude/settings.json");
    let before = "{\n  // mine\n  \"model\": \"opus\"\n}\n";
    fs::write(&settings, before).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = pane.outside(arguments);
        let output = command.env("PATH", "").output().unwrap();
        (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            output.status.code(),
            complaints(&output),
        )
    };
    let (told, code, _) = run(&["init"]);
    assert_eq!(code, Some(0));
    for part in
        ["Claude Code: ", "init claude --write", "init herdr --write", "Not found: Codex CLI"]
    {
        assert!(told.contains(part), "{part} in {told}");
    }
    let (told, ..) = run(&["init", "claude"]);
    assert!(told.contains("PermissionRequest, ") && told.contains("statusLine:"), "{told}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);

    let (told, code, _) = run(&["init", "claude", "--write"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(fs::read_to_string(&settings).unwrap().contains(" hook claude\""));
    assert!(run(&["init"]).0.contains("set up"));
    assert!(run(&["init", "claude", "--write"]).0.contains("has it already"));
    run(&["init", "claude", "--remove"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);
    assert_eq!(fs::read_dir(home.join(".claude")).unwrap().count(), 1);

    fs::write(&settings, "{ broken").unwrap();
    let (_, code, wrong) = run(&["init", "claude", "--write"]);
    assert_eq!(code, Some(2));
    assert!(wrong.contains("settings.json: ") && wrong.contains("nothing is changed"), "{wrong}");
    let (_, code, wrong) = run(&["init", "emacs"]);
    assert!(code == Some(2) && wrong.contains("expected claude, codex"), "{wrong}");
    assert_eq!(run(&["init", "--write"]).1, Some(2));
}

#[test]
fn the_sidebars_rows_are_checked_and_set() {
    let pane = Pane::new();
    let run = |arguments: &[&str]| {
        let output = pane.outside(arguments).output().unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
    };
    let (rows, code) = run(&["sidebar"]);
    assert_eq!(code, Some(0));
    assert!(include_str!("../sidecar.md").contains(&format!("```toml\n{rows}```")), "{rows}");
    let rows: toml::Table = rows.parse().unwrap();
    assert_eq!(rows["ui"]["sidebar"]["agents"]["rows"].as_array().unwrap().len(), 5);
    let (told, code) = run(&["sidebar", "--check"]);
    assert!(code == Some(5) && told.contains("hide why an agent is blocked"), "{told}");
    for says_more in [true, false] {
        let (told, _) = run(&["init", "herdr", "--write"]);
        assert_eq!(told.contains("herdr server reload-config"), says_more, "{told}");
    }
    assert_eq!(run(&["sidebar", "--check"]).1, Some(0));
    assert!(pane.path().join(".config/herdr/config.toml").is_file());
    run(&["init", "herdr", "--remove"]);
    assert!(!pane.path().join(".config/herdr/config.toml").exists());
}
