//! The file by which the processes of this machine agree on one reporter.

use std::path::Path;

use herdr_reporter::sidecar::{LeaseFile, Process, supervised_by};
use herdr_reporter::{Config, Endpoint, PaneId};

/// The lease of a pane in a folder that does not exist yet.
fn lease_of(folder: &tempfile::TempDir, pane: &str) -> LeaseFile {
    let mut config = Config::default();
    config.runtime_folder = Some(folder.path().join("leases"));
    let pane = Endpoint::new("/x/herdr.sock", PaneId::parse(pane).unwrap());
    LeaseFile::of_pane(&config, &pane)
}

#[test]
fn one_holder_at_a_time_and_the_next_one_after() {
    let folder = tempfile::tempdir().unwrap();
    let lease = lease_of(&folder, "w1:p1");
    let held = lease.try_take().unwrap().unwrap();
    assert!(lease.try_take().unwrap().is_none());
    assert!(lease_of(&folder, "w1:p2").try_take().unwrap().is_some());
    drop(held);
    assert!(lease.try_take().unwrap().is_some());
}

#[test]
fn those_that_share_it_keep_a_reporter_off_and_it_keeps_them_off() {
    let folder = tempfile::tempdir().unwrap();
    let lease = lease_of(&folder, "w1:p1");
    let one = lease.try_share().unwrap().unwrap();
    let other = lease.try_share().unwrap().unwrap();
    assert!(lease.try_take().unwrap().is_none());
    drop((one, other));
    let held = lease.try_take().unwrap().unwrap();
    assert!(lease.try_share().unwrap().is_none());
    drop(held);
}

#[test]
fn a_supervisors_socket_names_its_pane_and_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let lease = lease_of(&folder, "w1:p1");
    let own = std::process::id();
    let socket = lease.supervisor_socket(own);
    assert_eq!(lease.is_of_this_pane(&socket), Some(true));
    assert_eq!(lease_of(&folder, "w1:p2").is_of_this_pane(&socket), Some(false));
    assert_eq!(supervised_by(&socket), Some((own, true)));
    assert_eq!(supervised_by(&lease.supervisor_socket(u32::MAX)), Some((u32::MAX, false)));
    // An earlier process had the same pid.
    if let Some(process) = Process::of(own) {
        let text = socket.to_str().unwrap();
        let earlier = text.replace(&format!("-{:x}.", process.started), "-1.");
        assert_eq!(supervised_by(Path::new(&earlier)), Some((own, false)));
    }
    for other in [&lease.control_socket(), Path::new("/run/report.sock"), Path::new("/")] {
        assert_eq!((lease.is_of_this_pane(other), supervised_by(other)), (None, None));
    }
}

#[test]
fn f43_a_lease_whose_file_is_gone_is_not_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let lease = lease_of(&folder, "w1:p1");
    let held = lease.try_take().unwrap().unwrap();
    assert!(lease.is_in_place(&held));
    std::fs::remove_dir_all(folder.path().join("leases")).unwrap();
    assert!(!lease.is_in_place(&held));
    let again = lease.try_take().unwrap().unwrap();
    assert!(lease.is_in_place(&again) && !lease.is_in_place(&held));
}
