//! The processes of process groups, as `/proc` lists them. On systems other than Linux nothing
//! is known about them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rustix::process::Pid;

use crate::model::PaneProcess;

/// The processes of some process groups, the leader of each first. The list of all processes is
/// read only once.
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

/// Whether a process group has a running process.
pub(super) fn is_alive(group: Pid) -> bool {
    // Without a list of processes, one that waits to be reaped counts as running.
    rustix::process::test_kill_process_group(group).is_ok()
        && (!cfg!(target_os = "linux")
            || all().any(|(_, member)| member == group.as_raw_nonzero().get()))
}

/// All running processes with their groups.
fn all() -> impl Iterator<Item = (u32, i32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, group_of(pid)?)))
}

/// Reads the third and the fifth field of `stat`. The second one is a name in parentheses that
/// may contain spaces. `None` for a process that has ended.
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
