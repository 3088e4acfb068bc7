//! The processes of a group, as `/proc` lists them. Elsewhere than on Linux
//! nothing is known of them.

use std::fs;
use std::path::Path;

use crate::model::PaneProcess;

/// The processes of a process group, its leader first.
pub(super) fn of_group(group: i32) -> Vec<PaneProcess> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let mut members: Vec<PaneProcess> =
        pids.filter(|pid| group_of(*pid) == Some(group)).filter_map(describe).collect();
    members.sort_by_key(|process| (i32::try_from(process.pid) != Ok(group), process.pid));
    members
}

/// The fifth field of `stat`; the second is a name in parentheses that may hold
/// blanks.
fn group_of(pid: u32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
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
