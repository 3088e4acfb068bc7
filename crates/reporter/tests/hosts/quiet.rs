//! A reporter starts no program and uses almost no CPU time.

use std::time::Duration;

use fake_herdr::FakeHerdr;

use crate::processes::{Host, requests, runtime, skipped};
use crate::support::AMPLE;

fn tasks(pid: u32, file: &str) -> Option<Vec<String>> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    tasks.map(|task| std::fs::read_to_string(task.ok()?.path().join(file)).ok()).collect()
}

/// The CPU time of all threads of a process.
fn busy(pid: u32) -> Option<Duration> {
    let lines = tasks(pid, "schedstat")?;
    let nanos = lines.iter().map(|line| line.split(' ').next()?.parse::<u64>().ok());
    Some(Duration::from_nanos(nanos.sum::<Option<u64>>()?))
}

/// The page faults of the children that the process has waited for, which are 0 if it had no
/// children: the tenth field after the name in parentheses.
fn faults_of_children(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(8).unwrap().parse().unwrap()
}

#[test]
fn b70_no_program_is_started_and_an_idle_reporter_rests() {
    let (herdr, runtime) = (FakeHerdr::start().unwrap(), runtime());
    let mut host = Host::start(&mut Host::command("host", &herdr, runtime.path()));
    assert_eq!(host.says(AMPLE).as_deref(), Some("active"));
    host.title("busy for a moment");
    herdr.wait_until(AMPLE, |pane| pane.title.as_deref() == Some("busy for a moment")).unwrap();
    let first = ["events.subscribe", "pane.get"];
    let met = herdr.wait_for_log(AMPLE, |log| {
        first.iter().all(|method| log.iter().any(|exchange| exchange.request.contains(method)))
    });
    assert!(met, "{:?}", requests(&herdr));
    let Some(before) = busy(host.pid()) else {
        return skipped("this kernel does not say how long a thread has run");
    };

    let known = herdr.log().len();
    let more = herdr.wait_for_log(Duration::from_secs(3), |log| log.len() > known + 1);
    assert!(!more, "{:?}", &requests(&herdr)[known..]);
    let burned = busy(host.pid()).unwrap().saturating_sub(before);
    assert!(burned < Duration::from_millis(50), "{burned:?} in 3 s");

    if let Some(children) = tasks(host.pid(), "children") {
        assert!(children.iter().all(String::is_empty), "{children:?}");
    }
    assert_eq!(faults_of_children(host.pid()), 0);
    assert_eq!(host.end(), [""; 0]);
}
