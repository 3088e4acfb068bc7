//! Settings of others: what goes in comes out, and nothing else is lost.

use std::ffi::OsString;
use std::fs;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// A file of an agent in a folder of its own.
struct Place {
    _folder: TempDir,
    path: PathBuf,
}

impl Place {
    fn with(text: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        if let Some(text) = text {
            fs::write(&path, text).unwrap();
        }
        Self { _folder: folder, path }
    }

    fn file(&self) -> SettingsFile {
        SettingsFile::at(self.path.clone()).unwrap()
    }

    fn text(&self) -> Option<String> {
        fs::read_to_string(&self.path).ok()
    }

    fn copy(&self) -> Option<String> {
        fs::read_to_string(self.file().copy().path()).ok()
    }
}

fn hooks(name: &str) -> Hooks {
    Hooks { agent: Agent::named(name).unwrap(), program: "herdr-socket-report".to_owned() }
}

fn agent(name: &str) -> Target {
    Target::Agent(hooks(name))
}

fn value(text: &str) -> Value {
    let root = CstRootNode::parse(text, &ParseOptions::default()).unwrap();
    root.to_serde_value().unwrap()
}

/// Settings without what an emptied place leaves behind.
fn without_empty(mut value: Value) -> Value {
    if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
    }
    if let Some(object) = value.as_object_mut() {
        object.retain(|_, inner| inner.as_object().is_none_or(|inner| !inner.is_empty()));
    }
    value
}

const OTHERS: &str = r#"{
  // mine
  "model": "opus", /* a comment */
      "statusLine": {"type": "command", "command": "sh -c 'it'\\''s mine'"},
  "hooks": {
    "Stop": [ { "hooks": [{"type":"command","command":"say done"}] } ], // bell
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [ {"type": "command", "command": "./guard"}, ]},
    ],
  },

}
"#;

#[test]
fn hooks_of_others_stay_and_ours_come_and_go_to_the_byte() {
    for name in ["claude", "codex", "gemini", "qwen", "cursor", "copilot"] {
        let target = agent(name);
        for before in [Some(OTHERS), Some("{}"), Some("{\"hooks\":{}}"), Some(""), None] {
            // A list of another shape is not theirs to have.
            let place = Place::with(before);
            write(&target, &place.file()).unwrap();
            let after = place.text().unwrap();
            assert_eq!(place.copy().as_deref(), before, "{name}");
            if before == Some(OTHERS) {
                for kept in ["// mine", "/* a comment */", "// bell", "say done", "./guard"] {
                    assert!(after.contains(kept), "{name}: {kept} in {after}");
                }
            }
            // Twice is once.
            write(&target, &place.file()).unwrap();
            assert_eq!(place.text().unwrap(), after, "{name}");
            remove(&target, &place.file()).unwrap();
            assert_eq!(place.text().as_deref(), before, "{name}");
            assert_eq!(place.copy(), None, "{name}");
            // And so is this.
            assert!(remove(&target, &place.file()).unwrap().contains("nothing of ours"));
        }
    }
}

#[test]
fn what_the_agent_gets_is_what_its_documents_ask_for() {
    let claude = hooks("claude");
    let after = value(&claude.add("").unwrap());
    let hook = json!([{"hooks": [
        {"type": "command", "command": "herdr-socket-report hook claude", "timeout": 5}
    ]}]);
    assert_eq!(after["hooks"]["PermissionRequest"], hook);
    let statusline = json!({"type": "command", "command": "herdr-socket-report statusline claude"});
    assert_eq!(after["statusLine"], statusline);

    let after = value(&claude.add(OTHERS).unwrap());
    assert_eq!(after["hooks"]["Stop"].as_array().unwrap().len(), 2);
    assert_eq!(
        after["statusLine"]["command"],
        r"herdr-socket-report statusline claude -- sh -c 'sh -c '\''it'\''\'\'''\''s mine'\'''"
    );
    let gone = value(&removal::remove(&claude, &claude.add(OTHERS).unwrap()).unwrap());
    assert_eq!(gone, value(OTHERS));

    let copilot = hooks("copilot");
    let after = value(&copilot.add("").unwrap());
    assert_eq!(after["version"], 1);
    let hook = json!([{"bash": "herdr-socket-report hook copilot agentStop", "timeoutSec": 5}]);
    assert_eq!(after["hooks"]["agentStop"], hook);
    assert_eq!(after["hooks"].get("preToolUse"), None);
    let qwen = hooks("qwen");
    let after = value(&qwen.add(r#"{"ui": {"theme": "x"}}"#).unwrap());
    assert_eq!(after["ui"]["statusLine"]["command"], "herdr-socket-report statusline qwen");
    assert_eq!(after["ui"]["theme"], "x");
}

#[test]
fn after_a_change_of_somebody_else_only_ours_goes() {
    let (target, place) = (agent("claude"), Place::with(Some(OTHERS)));
    write(&target, &place.file()).unwrap();
    let changed = place.text().unwrap().replace("\"opus\"", "\"sonnet\"");
    fs::write(&place.path, &changed).unwrap();
    remove(&target, &place.file()).unwrap();
    let after = place.text().unwrap();
    assert_eq!(value(&after), value(&OTHERS.replace("\"opus\"", "\"sonnet\"")));
    for kept in ["// mine", "/* a comment */", "// bell"] {
        assert!(after.contains(kept), "{kept} in {after}");
    }
    // The copy stays: it is not what was restored.
    assert_eq!(place.copy().as_deref(), Some(OTHERS));
}

#[test]
fn what_cannot_be_done_is_said_and_loses_nothing() {
    let target = agent("claude");
    let broken = [
        ("{\"hooks\": {", "line 1"),
        ("[1, 2]", "a JSON object"),
        ("{\"hooks\": []}", "`hooks` is not an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` is not an array"),
    ];
    for (text, told) in broken {
        let place = Place::with(Some(text));
        let wrong = write(&target, &place.file()).unwrap_err();
        assert!(wrong.contains(told), "{wrong}");
        assert_eq!((place.text().as_deref(), place.copy()), (Some(text), None));
    }
    let place = Place::with(Some("{}"));
    let mut protected = fs::metadata(&place.path).unwrap().permissions();
    protected.set_readonly(true);
    fs::set_permissions(&place.path, protected).unwrap();
    let wrong = write(&target, &place.file()).unwrap_err();
    assert!(wrong.contains("read-only") && wrong.contains("settings.json"), "{wrong}");
    assert_eq!(place.text().as_deref(), Some("{}"));

    let own = Place::with(Some("export default 1\n"));
    for work in [write, remove] {
        let wrong = work(&agent("pi"), &own.file()).unwrap_err();
        assert!(wrong.contains("not one that init wrote"), "{wrong}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_file_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let place = Place::with(Some("{}"));
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = place.path.with_file_name("link.json");
    symlink(&place.path, &link).unwrap();
    let file = SettingsFile::at(link.clone()).unwrap();
    write(&agent("claude"), &file).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(place.text().unwrap().contains("hook claude"));
    assert_eq!(fs::metadata(&place.path).unwrap().permissions().mode() & 0o777, 0o640);
    let nowhere = place.path.with_file_name("nowhere.json");
    symlink("gone.json", &nowhere).unwrap();
    assert!(SettingsFile::at(nowhere).unwrap_err().contains("nowhere.json"));
}

#[test]
fn plugins_are_whole_files() {
    for name in ["opencode", "pi"] {
        let (target, place) = (agent(name), Place::with(None));
        write(&target, &place.file()).unwrap();
        let text = place.text().unwrap();
        assert!(is_plugin(&text) && text.contains("spawn(\"herdr-socket-report\", [\"run\""));
        let moved = Hooks { program: "/my \"own\"/it".to_owned(), ..hooks(name) };
        let moved = Target::Agent(moved).add("").unwrap();
        assert!(moved.contains(r#"spawn("/my \"own\"/it", ["run""#), "{moved}");
        // An older one is replaced, and goes all the same.
        let older = place.text().unwrap() + "// older\n";
        fs::write(&place.path, &older).unwrap();
        remove(&target, &place.file()).unwrap();
        assert_eq!(place.text(), None);
    }
}

#[test]
fn herdrs_rows_come_and_go() {
    let own = "# mine\n[ui.sidebar.agents]\nrows = [\n    [\"state_icon\", \"agent\"], # one\n    \
               [{ token = \"pane\", bold = true }],\n]\nrow_gap = 1\n";
    for before in
        [Some(own), Some(""), Some("onboarding = false\n[ui]\nsidebar_width = 30\n"), None]
    {
        let place = Place::with(before);
        write(&Target::Herdr, &place.file()).unwrap();
        let after = place.text().unwrap();
        assert_eq!(rows::add(&after).unwrap(), after);
        let settings: toml::Table = after.parse().unwrap();
        let agents = &settings["ui"]["sidebar"]["agents"];
        assert!(after.contains("\"state_text\"") && after.contains("\"$ctx\""), "{after}");
        if before == Some(own) {
            assert_eq!(agents["rows"].as_array().unwrap().len(), 4, "{after}");
            assert_eq!(agents["row_gap"].as_integer(), Some(1));
            assert!(after.contains("# one") && after.contains("# mine"), "{after}");
            let gone: toml::Table = rows::remove(&after).unwrap().parse().unwrap();
            assert_eq!(gone, own.parse().unwrap());
        }
        remove(&Target::Herdr, &place.file()).unwrap();
        assert_eq!(place.text().as_deref(), before);
    }
    assert!(rows::add("[ui\n").is_err());
    assert!(rows::add("ui = 3\n").unwrap_err().contains("`ui` is not a table"));
}

/// Blanks, line ends and comments, as people write them.
fn trivia() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(String::new()),
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n\t".to_owned()),
        "[a-z ]{0,8}".prop_map(|text| format!("/* {text} */")),
        "[a-z \"{]{0,8}".prop_map(|text| format!("// {text}\n")),
    ];
    prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn spaced(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (trivia(), inner, trivia()).prop_map(|(before, inner, after)| before + &inner + &after)
}

fn list(
    items: impl Strategy<Value = String>,
    ends: [&'static str; 2],
) -> impl Strategy<Value = String> {
    (prop::collection::vec(spaced(items), 0..3), any::<bool>(), trivia()).prop_map(
        move |(items, comma, after)| {
            let comma = if comma && !items.is_empty() { "," } else { "" };
            format!("{}{}{comma}{after}{}", ends[0], items.join(","), ends[1])
        },
    )
}

/// Settings with hooks of others, with comments and odd formatting.
fn settings() -> impl Strategy<Value = String> {
    let hook =
        "[a-z ]{1,8}".prop_map(|command| format!(r#"{{"type":"command","command":"{command}"}}"#));
    let group = list(hook, ["[", "]"])
        .prop_map(|hooks| format!(r#"{{"matcher":"x","hooks":{hooks}}}"#))
        .boxed();
    let event = |name: &'static str, groups: String| format!(r#""{name}":{groups}"#);
    let hooks = (list(group.clone(), ["[", "]"]), list(group, ["[", "]"]), trivia()).prop_map(
        move |(stop, other, space)| {
            format!("{{{},{space}{}}}", event("Stop", stop), event("Own", other))
        },
    );
    let hooks = prop::option::of(spaced(hooks));
    let line = prop::option::of("[a-z' $]{1,12}");
    (hooks, line, trivia(), trivia()).prop_map(|(hooks, line, before, after)| {
        let mut fields = vec![r#""model":"opus""#.to_owned()];
        fields.extend(hooks.map(|hooks| format!(r#""hooks":{hooks}"#)));
        fields.extend(
            line.map(|line| format!(r#""statusLine":{{"type":"command","command":"{line}"}}"#)),
        );
        format!("{before}{{{}}}{after}", fields.join(&format!(",{after}")))
    })
}

/// Every comment, which is all that a value does not hold.
fn comments(text: &str) -> usize {
    text.matches("/* ").count() + text.matches("// ").count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_added_and_taken_out_leaves_all_else(before in settings()) {
        let hooks = hooks("claude");
        let added = hooks.add(&before).unwrap();
        prop_assert_eq!(hooks.add(&added).unwrap(), added.clone());
        prop_assert!(comments(&added) >= comments(&before), "{}", added);
        let gone = removal::remove(&hooks, &added).unwrap();
        prop_assert_eq!(without_empty(value(&gone)), without_empty(value(&before)));
        prop_assert!(comments(&gone) >= comments(&before), "{}", gone);
    }
}

#[test]
fn an_agents_folder_is_where_the_agent_looks_for_it() {
    let place = |name: &str, set: &[(&str, &str)]| {
        let lookup = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        Agent::named(name).unwrap().place(lookup).map(|(folder, _)| folder)
    };
    let at = |path: &str| Some(PathBuf::from(path));
    assert_eq!(place("claude", &[]), None);
    assert_eq!(place("claude", &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]), at("/h/.claude"));
    assert_eq!(place("claude", &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")]), at("/c"));
    assert_eq!(place("opencode", &[("HOME", "/h")]), at("/h/.config/opencode"));
    assert_eq!(place("opencode", &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]), at("/x/opencode"));
}
