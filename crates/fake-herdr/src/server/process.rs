//! The processes of process groups, from `/proc`. On other systems than Linux the
//! lists are empty.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rustix::process::Pid;

use crate::model::PaneProcess;

/// The processes of several groups, each with its leader first. Reads the list of all
/// processes only once.
pub(super) fn of_groups(groups: &[i32]) -> BTreeMap<i32, Vec<PaneProcess>> {
    let mut found: BTreeMap<i32, Vec<PaneProcess>> = BTreeMap::new();
    for (pid, group) in all().filter(|(_, group)| groups.contains(group)) {
        found.entry(group).or_default().extend(describe(pid));
    }
    for (group, members) in &mut found {
        members.sort_by_key(|process| (i32::try_from(process.pid) != Ok(*group), process.pid));
    }
    found
}

/// Whether a process of the group still runs.
pub(super) fn is_alive(group: Pid) -> bool {
    // Without `/proc`, a process that waits to be reaped counts as running.
    rustix::process::test_kill_process_group(group).is_ok()
        && (!cfg!(target_os = "linux")
            || all().any(|(_, member)| member == group.as_raw_nonzero().get()))
}

/// Every running process, with its group.
fn all() -> impl Iterator<Item = (u32, i32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, group_of(pid)?)))
}

/// The process group, which is the fifth field of `stat`; `None` for a process that
/// has ended. The second field is a name in parentheses and may contain blanks.
fn group_of(pid: u32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    (!["Z", "X"].contains(&state)).then_some(group)
}

fn describe(pid: u32) -> Option<PaneProcess> {
    let folder = Path::new("/proc").join(pid.to_string());
    let name = fs::read_to_string(folder.join("comm")).ok()?;
    let mut process = PaneProcess::new(pid, name.trim_end());
    let line = fs::read(folder.join("cmdline")).unwrap_or_default();
    process.argv =
        String::from_utf8_lossy(&line).split_terminator('\0').map(str::to_owned).collect();
    process.cmdline = (!process.argv.is_empty()).then(|| process.argv.join(" "));
    process.cwd =
        fs::read_link(folder.join("cwd")).ok().map(|cwd| cwd.to_string_lossy().into_owned());
    Some(process)
}
