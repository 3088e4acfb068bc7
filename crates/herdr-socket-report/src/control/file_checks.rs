//! When the files of the control sockets are checked: soon after the system reports a change,
//! otherwise at intervals.

use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The delay between a change and the check. A process that removes the file may be about to
/// remove the folder, too, and a hook waits up to a second for a supervisor's file. It is also
/// the interval where the system reports no changes.
const SOON: Duration = Duration::from_millis(400);
/// The interval where the system reports changes. It covers changes that are not reported, such
/// as to a folder further up.
const SELDOM: Duration = Duration::from_secs(60);

/// When the next check is due.
pub(super) struct FileChecks {
    due: Instant,
    /// The interval where the system reports no changes.
    every: Duration,
    /// Whether the files are to be watched for changes.
    watches: bool,
    changes: Option<Changes>,
}

impl FileChecks {
    /// Without `watches` the interval grows while nothing happens. Use it for a process whose
    /// end is waited for: Linux takes 14 ms to remove a watch, and the process cannot end
    /// before.
    pub(super) fn new(watches: bool) -> Self {
        Self { due: Instant::now(), every: SOON, watches, changes: None }
    }

    /// Makes the next check come soon.
    pub(super) fn soon(&mut self) {
        self.every = SOON;
        self.due = self.due.min(Instant::now() + SOON);
    }

    /// Watches these files from now on. The caller checks them afterwards, so that no change is
    /// missed.
    pub(super) fn watch<'a>(&mut self, files: impl IntoIterator<Item = &'a Path>) {
        self.changes = if self.watches { Changes::of(files) } else { None };
        if !self.watches {
            self.every = SELDOM.min(4 * self.every);
        }
        self.due = Instant::now() + if self.changes.is_some() { SELDOM } else { self.every };
    }

    /// Waits until a check is due.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no change.
    pub(super) async fn due(&mut self) {
        if let Some(changes) = &self.changes {
            tokio::select! {
                () = sleep_until(self.due) => return,
                () = changes.came() => {}
            }
            self.changes = None;
            self.soon();
        }
        sleep_until(self.due).await;
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::path::Path;

    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    use tokio::net::unix::pipe::Receiver;

    /// Reports when one of some files is removed, replaced or moved, alone or with its folder.
    /// Other files in the folder do not count.
    pub(super) struct Changes(Receiver);

    impl Changes {
        /// `None` if the system allows no watch, or a file is not there.
        pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a Path>) -> Option<Self> {
            let inotify = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            for file in files {
                // Removing a name of a file changes its attributes.
                add_watch(&inotify, file, WatchFlags::ATTRIB | WatchFlags::MOVE_SELF).ok()?;
                for folder in file.ancestors().skip(1).take(2) {
                    add_watch(&inotify, folder, WatchFlags::MOVE_SELF).ok()?;
                }
            }
            // An inotify descriptor is not a pipe, but is read like one.
            Receiver::from_owned_fd_unchecked(inotify).ok().map(Self)
        }

        pub(super) async fn came(&self) {
            // The check finds out which file has changed.
            drop(self.0.readable().await);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::future::pending;
    use std::path::Path;

    /// Changes are not reported on this system.
    pub(super) enum Changes {}

    impl Changes {
        pub(super) fn of<'a>(_: impl IntoIterator<Item = &'a Path>) -> Option<Self> {
            None
        }

        pub(super) async fn came(&self) {
            pending::<()>().await;
        }
    }
}

use system::Changes;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::*;

    #[tokio::test]
    async fn f43_a_file_that_stays_is_checked_seldom_and_a_removed_one_is_noticed() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("folder");
        let (file, beside) = (folder.join("socket"), folder.join("beside"));
        let removed = || fs::remove_file(&file);
        let replaced = || fs::rename(&beside, &file);
        let moved = || fs::rename(&file, &beside);
        let with_its_folder = || fs::rename(&folder, folder.with_extension("old"));
        let goes: [&dyn Fn() -> std::io::Result<()>; 4] =
            [&removed, &replaced, &moved, &with_its_folder];
        let mut checks = FileChecks::new(true);
        checks.watch([&*file]);
        assert!(checks.due <= Instant::now() + SOON, "it is not there");
        for go in goes {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, "").unwrap();
            checks.watch([&*file]);
            assert!(checks.due > Instant::now() + SOON);
            fs::write(&beside, "").unwrap();
            go().unwrap();
            checks.changes.as_ref().unwrap().came().await;
        }
        checks.soon();
        assert!(checks.due <= Instant::now() + SOON);
    }

    #[tokio::test(start_paused = true)]
    async fn f54_without_a_watch_a_quiet_hour_has_few_checks() {
        let mut checks = FileChecks::new(false);
        let (began, mut count) = (Instant::now(), 0);
        while began.elapsed() < Duration::from_secs(3600) {
            checks.due().await;
            checks.watch([]);
            count += 1;
        }
        assert!((60..=75).contains(&count), "{count}");
        checks.soon();
        assert!(checks.due <= Instant::now() + SOON);
    }
}
