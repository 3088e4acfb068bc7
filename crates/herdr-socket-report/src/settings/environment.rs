//! Settings from `HERDR_REPORT_*` variables.

use std::ffi::OsString;

use super::kind::Assignment;
use super::table::{self, SETTINGS, Scope, Setting, VARIABLE_PREFIX};
use crate::text::{nearest, shown};

const OTHERS: [&str; 2] = ["HERDR_REPORT_LOG", "HERDR_REPORT_SOCKET"];

pub(crate) fn read(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    problems: &mut Vec<String>,
) -> Vec<Assignment> {
    let mut variables: Vec<_> = variables
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| name.starts_with(VARIABLE_PREFIX) && !OTHERS.contains(&name.as_str()))
        .collect();
    variables.sort();
    let settings = || SETTINGS.iter().filter(|setting| setting.scope != Scope::UserFile);
    let mut assignments = Vec::new();
    for (name, value) in variables {
        let Some(setting) = settings().find(|setting| setting.variable() == name) else {
            let rest = &name[VARIABLE_PREFIX.len()..];
            let near = nearest(rest, settings().map(|setting| setting.key));
            let near = near.and_then(table::setting).map(Setting::variable);
            let hint = near.map_or_else(
                || "see `herdr-socket-report config show`".to_owned(),
                |near| format!("did you mean {near}?"),
            );
            problems.push(format!("{} is not a setting; {hint}", shown(&name)));
            continue;
        };
        match setting.kind.read_text(&value.to_string_lossy()) {
            Ok(values) => assignments.extend(values.into_iter().map(|value| Assignment {
                setting,
                value,
                origin: Some(name.clone()),
            })),
            Err((found, why)) => problems.push(format!("{name}: {found} {why}")),
        }
    }
    assignments
}
