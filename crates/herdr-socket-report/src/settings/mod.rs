//! The settings: defaults, two files, variables and flags, merged.

mod environment;
mod file;
pub(crate) mod flags;
mod kind;
pub(crate) mod table;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use herdr_proto::{AgentLabel, SourceId, StateKey};
use herdr_reporter::sidecar::{SourceNotice, source_for};
use herdr_reporter::{Config, Privacy};

use file::FileOf;
use flags::SettingFlags;
use kind::{Assignment, Value};
use table::{SETTINGS, Setting};

/// Whether reports also go to the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ProgramStatus {
    /// Outside Herdr, if the terminal is known to read reports.
    #[default]
    Auto,
    On,
    Off,
}

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) agent: String,
    pub(crate) program_status: ProgramStatus,
    pub(crate) config: Config,
}

impl Default for Settings {
    fn default() -> Self {
        let (agent, config) = ("agent".to_owned(), Config::default());
        Self { agent, program_status: ProgramStatus::default(), config }
    }
}

impl Settings {
    /// The source: the one that is set, or the one that follows from the agent's name.
    pub(crate) fn source(&self, agent: &AgentLabel) -> SourceId {
        self.config.source.clone().unwrap_or_else(|| source_for(agent))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The user's own file; `None` if there is no place for one.
    pub(crate) user_file: Option<PathBuf>,
    pub(crate) project_file: PathBuf,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) flags: SettingFlags,
    /// The default for the agent's name, if it is not the built-in one.
    pub(crate) agent: Option<String>,
}

impl Sources {
    /// The environment of this process, the files that it leads to, and these flags.
    pub(crate) fn of_process(flags: SettingFlags) -> Self {
        let folder = std::env::current_dir().unwrap_or_default();
        Self {
            user_file: user_file(|name| std::env::var_os(name)),
            project_file: folder.join(".herdr-socket-report.toml"),
            variables: std::env::vars_os().collect(),
            flags,
            agent: None,
        }
    }
}

/// An empty or relative base folder counts as unset, as the XDG specification says.
fn user_file(lookup: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name| lookup(name).filter(|value| Path::new(value).is_absolute());
    let base = folder("XDG_CONFIG_HOME").map(PathBuf::from);
    let base = base.or_else(|| Some(Path::new(&folder("HOME")?).join(".config")))?;
    Some(base.join("herdr-socket-report").join("config.toml"))
}

/// The settings, where each came from, and warnings.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) settings: Settings,
    pub(crate) named: bool,
    /// Each value as a line of a settings file, and where it came from. A setting that is not
    /// set is commented out.
    pub(crate) shown: Vec<(String, String)>,
    pub(crate) warnings: Vec<String>,
}

/// Reads and merges all sources.
pub(crate) fn load(sources: Sources) -> Result<Loaded, Vec<String>> {
    let (loaded, problems) = load_what_fits(sources);
    if problems.is_empty() { Ok(loaded) } else { Err(problems) }
}

/// Reads and merges all sources without the entries that are wrong. The second value says what
/// is wrong.
pub(crate) fn load_what_fits(sources: Sources) -> (Loaded, Vec<String>) {
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    let mut merged = Merged::default();
    for setting in SETTINGS {
        let values = setting.defaults().into_iter();
        merged.add(values.map(|value| Assignment { setting, value, origin: None }));
    }
    let agent = sources.agent.zip(table::setting("agent")).map(|(agent, setting)| Assignment {
        setting,
        value: Value::Text(agent),
        origin: None,
    });
    merged.add(agent);
    if let Some(path) = &sources.user_file {
        merged.add(file::read(path, FileOf::User, &mut problems));
    }
    let mut projects = file::read(&sources.project_file, FileOf::Project, &mut problems);
    projects.retain(|assignment| {
        let trusted = merged.trusts(assignment);
        if !trusted {
            warnings.push(format!(
                "{}: enabled = true has no effect: your own file says false and does not set \
                 trust_project",
                assignment.origin.as_deref().unwrap_or_default()
            ));
        }
        trusted
    });
    merged.add(projects);
    merged.add(environment::read(sources.variables, &mut problems));
    merged.add(sources.flags.0);
    let mut settings = Settings::default();
    for assignment in merged.0.values() {
        assignment.setting.kind.set(&mut settings, &assignment.value);
    }
    check_source(&mut settings, &merged, &mut problems, &mut warnings);
    // A user who wrote something about privacy did not want the default.
    if problems.iter().any(|problem| problem.to_lowercase().contains("privacy")) {
        settings.config.privacy = Privacy::Fixed;
    }
    let named = merged.find("agent").is_some_and(|found| found.origin.is_some());
    (Loaded { shown: merged.shown(&settings), settings, named, warnings }, problems)
}

/// The values that take effect, by their place in the table and the state of a label.
#[derive(Default)]
struct Merged(BTreeMap<(usize, Option<StateKey>), Assignment>);

impl Merged {
    /// Adds values that take precedence over all present ones.
    fn add(&mut self, assignments: impl IntoIterator<Item = Assignment>) {
        for assignment in assignments {
            let key = assignment.setting.key;
            let place = SETTINGS.iter().position(|setting| setting.key == key);
            let part = match assignment.value {
                Value::Label(state, _) => Some(state),
                _ => None,
            };
            self.0.insert((place.unwrap_or_default(), part), assignment);
        }
    }

    fn find(&self, key: &str) -> Option<&Assignment> {
        self.0.values().find(|assignment| assignment.setting.key == key)
    }

    /// A project's file may switch reporting off for everybody. It may switch reporting on only
    /// for users who have not switched it off.
    fn trusts(&self, projects: &Assignment) -> bool {
        let is = |key, on| self.find(key).is_some_and(|found| found.value == Value::Switch(on));
        projects.setting.key != "enabled"
            || projects.value == Value::Switch(false)
            || is("enabled", true)
            || is("trust_project", true)
    }

    fn shown(&self, settings: &Settings) -> Vec<(String, String)> {
        let mut shown = Vec::new();
        for (place, setting) in SETTINGS.iter().enumerate() {
            let found = self.0.range((place, None)..=(place, Some(StateKey::Unknown)));
            let before = shown.len();
            shown.extend(found.map(|((_, part), Assignment { value, origin, .. })| {
                let part = part.map(|part| format!(".{}", part.as_str())).unwrap_or_default();
                let origin = origin.as_deref().unwrap_or("default").to_owned();
                (format!("{}{part} = {value}", setting.key), origin)
            }));
            if shown.len() == before {
                shown.push(unset(settings, setting));
            }
        }
        shown
    }
}

fn unset(settings: &Settings, setting: &Setting) -> (String, String) {
    match AgentLabel::parse(&settings.agent) {
        Ok(label) if setting.key == "source" => {
            let source = Value::Text(source_for(&label).to_string());
            (format!("source = {source}"), "default, from the agent's name".to_owned())
        }
        _ => (format!("# {} =", setting.key), "not set".to_owned()),
    }
}

/// Herdr drops reports under the names of its own integrations, or locks the pane for all other
/// sources (protocol §5.2 and §6.2, failures B36 to B39).
fn check_source(
    settings: &mut Settings,
    merged: &Merged,
    problems: &mut Vec<String>,
    warnings: &mut Vec<String>,
) {
    let Ok(label) = AgentLabel::parse(&settings.agent) else { return };
    let source = settings.source(&label);
    let Some(notice) = SourceNotice::of(&source, &label) else { return };
    let key = if notice == SourceNotice::KnownLabel { "agent" } else { "source" };
    let origin = merged.find(key).and_then(|found| found.origin.as_deref()).unwrap_or("default");
    let what = format!("{origin}: source {source} with agent {label}: {}", notice.text());
    if notice.is_refused() {
        problems.push(what);
        settings.config.source = None;
    } else {
        warnings.push(what);
    }
}
