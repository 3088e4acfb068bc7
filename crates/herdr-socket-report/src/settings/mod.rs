//! What the user wants: defaults, two files, variables and flags, merged.

mod environment;
mod file;
pub(crate) mod flags;
mod kind;
mod origin;
mod problem;
mod sources;
pub(crate) mod table;
mod value;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use herdr_proto::{AgentLabel, StateKey};
use herdr_reporter::sidecar::{SourceNotice, source_for};
use herdr_reporter::{Config, Privacy};

use file::Whose;
use origin::Origin;
pub(crate) use problem::Problems;
pub(crate) use sources::Sources;
use table::{SETTINGS, Setting};
use value::Value;

/// Whether the terminal is told, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ProgramStatus {
    /// Outside Herdr, where it is known to read reports.
    #[default]
    Auto,
    On,
    Off,
}

/// The merged settings.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The agent's name.
    pub(crate) agent: String,
    /// Whether a project may switch reporting on.
    pub(crate) trust_project: bool,
    /// Whether the terminal is told.
    pub(crate) program_status: ProgramStatus,
    /// What the library takes.
    pub(crate) config: Config,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            agent: "agent".to_owned(),
            trust_project: false,
            program_status: ProgramStatus::default(),
            config: Config::default(),
        }
    }
}

/// A setting was given a value somewhere.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    setting: &'static Setting,
    value: Value,
    origin: Origin,
}

/// The settings, where each came from, and what is worth a word.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The settings.
    pub(crate) settings: Settings,
    /// Whether somebody gave the agent's name.
    pub(crate) named: bool,
    /// Each value as it stands in a file, with its origin.
    pub(crate) shown: Vec<Shown>,
    /// Odd, though allowed.
    pub(crate) warnings: Vec<String>,
}

/// A merged value for people.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The key; a dotted one for a part of a setting.
    pub(crate) key: String,
    /// The value; `None` if nothing is set.
    pub(crate) value: Option<String>,
    /// Where it came from.
    pub(crate) origin: String,
}

/// The values that won, by place in the table and part.
type Merged = BTreeMap<(usize, Option<StateKey>), Assignment>;

/// Reads and merges all of it, once.
pub(crate) fn load(sources: Sources) -> Result<Loaded, Problems> {
    let (loaded, problems) = load_what_fits(sources);
    problems.unless_any(loaded)
}

/// The same without the entries that are wrong, and what is wrong with them.
pub(crate) fn load_what_fits(sources: Sources) -> (Loaded, Problems) {
    let mut problems = Problems::none();
    let mut merged = Merged::new();
    for setting in &SETTINGS {
        for value in setting.defaults() {
            merge(&mut merged, Assignment { setting, value, origin: Origin::Default });
        }
    }
    if let (Some(agent), Some(setting)) = (sources.agent, table::setting("agent")) {
        let value = Value::Text(agent);
        merge(&mut merged, Assignment { setting, value, origin: Origin::Default });
    }
    let mut warnings = Vec::new();
    if let Some(path) = &sources.persons_file {
        for assignment in file::read(path, Whose::Persons, &mut problems) {
            merge(&mut merged, assignment);
        }
    }
    for assignment in file::read(&sources.projects_file, Whose::Projects, &mut problems) {
        if needs_trust(&merged, &assignment) {
            warnings.push(format!(
                "{}: enabled = true has no effect: your own file says false and does not set trust_project",
                assignment.origin
            ));
        } else {
            merge(&mut merged, assignment);
        }
    }
    for assignment in environment::read(sources.variables, &mut problems) {
        merge(&mut merged, assignment);
    }
    for assignment in sources.flags {
        merge(&mut merged, assignment);
    }
    let mut settings = Settings::default();
    for assignment in merged.values() {
        (assignment.setting.set)(&mut settings, &assignment.value);
    }
    check_source(&mut settings, &merged, &mut problems, &mut warnings);
    // Who wrote something about privacy did not want the default.
    if problems.0.iter().any(|problem| problem.to_lowercase().contains("privacy")) {
        settings.config.privacy = Privacy::Fixed;
    }
    let named = find(&merged, "agent").is_some_and(|found| found.origin != Origin::Default);
    (Loaded { shown: shown(&settings, &merged), settings, named, warnings }, problems)
}

fn merge(merged: &mut Merged, assignment: Assignment) {
    let place = SETTINGS.iter().position(|setting| setting.key == assignment.setting.key);
    merged.insert((place.unwrap_or_default(), assignment.value.part()), assignment);
}

fn find<'a>(merged: &'a Merged, key: &str) -> Option<&'a Assignment> {
    merged.values().find(|assignment| assignment.setting.key == key)
}

/// A project may switch reporting off for everybody who works on it, but on
/// only for those who did not switch it off.
fn needs_trust(merged: &Merged, projects: &Assignment) -> bool {
    let is = |key, on| find(merged, key).is_some_and(|found| found.value == Value::Switch(on));
    projects.setting.key == "enabled"
        && projects.value.switch()
        && is("enabled", false)
        && !is("trust_project", true)
}

/// Herdr drops what comes under the names of its own integrations, or locks
/// the pane for everybody (protocol §5.2 and §6.2, failures B36 to B39).
fn check_source(
    settings: &mut Settings,
    merged: &Merged,
    problems: &mut Problems,
    warnings: &mut Vec<String>,
) {
    let Ok(label) = AgentLabel::parse(&settings.agent) else { return };
    let source = settings.config.source.clone().unwrap_or_else(|| source_for(&label));
    let Some(notice) = SourceNotice::of(&source, &label) else { return };
    let key = if notice == SourceNotice::KnownLabel { "agent" } else { "source" };
    let origin = find(merged, key).map_or(&Origin::Default, |found| &found.origin);
    let what = format!("source {source} with agent {label}: {}", notice.text());
    if notice.is_refused() {
        problems.add(origin, what);
        settings.config.source = None;
    } else {
        warnings.push(format!("{origin}: {what}"));
    }
}

fn shown(settings: &Settings, merged: &Merged) -> Vec<Shown> {
    let mut shown = Vec::new();
    for (place, setting) in SETTINGS.iter().enumerate() {
        let found: Vec<_> =
            merged.range((place, None)..=(place, Some(StateKey::Unknown))).collect();
        for ((_, part), assignment) in &found {
            shown.push(Shown {
                key: part.map_or_else(
                    || setting.key.to_owned(),
                    |part| format!("{}.{}", setting.key, part.as_str()),
                ),
                value: Some(assignment.value.to_string()),
                origin: assignment.origin.to_string(),
            });
        }
        if found.is_empty() {
            shown.push(unset(settings, setting));
        }
    }
    shown
}

fn unset(settings: &Settings, setting: &Setting) -> Shown {
    let label = AgentLabel::parse(&settings.agent).ok().filter(|_| setting.key == "source");
    let value = label.map(|label| Value::Text(source_for(&label).to_string()).to_string());
    let origin = if value.is_some() { "default, from the agent's name" } else { "not set" };
    Shown { key: setting.key.to_owned(), value, origin: origin.to_owned() }
}
