//! When the sockets' files are looked at: soon after something has happened to
//! one of them where the system tells, else again and again.

use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Between a change and the look: whoever removes the file may be about to remove
/// the folder, too. A hook waits for a supervisor's file within its second. Also
/// between two looks where nothing tells of changes.
const SOON: Duration = Duration::from_millis(400);
/// Between two looks where changes are told, for those that are not, such as of
/// a folder further up.
const SELDOM: Duration = Duration::from_secs(60);

/// When the next look is due, and what may bring it forward.
pub(super) struct Looks {
    due: Instant,
    /// Between two looks where nothing tells of changes.
    every: Duration,
    /// Changes are to be told.
    watches: bool,
    changes: Option<Changes>,
}

impl Looks {
    /// Without `watches`, the looks of a quiet time become seldom. It is for a
    /// process whose end is waited for: Linux needs 14 ms to forget a watch, and
    /// the process cannot end before.
    pub(super) fn new(watches: bool) -> Self {
        Self { due: Instant::now(), every: SOON, watches, changes: None }
    }

    /// The next look comes soon.
    pub(super) fn soon(&mut self) {
        self.every = SOON;
        self.due = self.due.min(Instant::now() + SOON);
    }

    /// Begins to watch these files. They are looked at after it, so that no
    /// change falls between.
    pub(super) fn watch<'a>(&mut self, files: impl IntoIterator<Item = &'a Path>) {
        self.changes = if self.watches { Changes::of(files) } else { None };
        if !self.watches {
            self.every = SELDOM.min(4 * self.every);
        }
        self.due = Instant::now() + if self.changes.is_some() { SELDOM } else { self.every };
    }

    /// Waits until a look is due.
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

    /// Tells when one of some files is removed, replaced or moved, by itself or
    /// with its folder. Other files beside them may come and go.
    pub(super) struct Changes(Receiver);

    impl Changes {
        /// `None` if the system does not let us, or a file is not there.
        pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a Path>) -> Option<Self> {
            let inotify = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            for file in files {
                // One name less of a file is a change of its attributes.
                add_watch(&inotify, file, WatchFlags::ATTRIB | WatchFlags::MOVE_SELF).ok()?;
                for folder in file.ancestors().skip(1).take(2) {
                    add_watch(&inotify, folder, WatchFlags::MOVE_SELF).ok()?;
                }
            }
            // It is read like a pipe, though it is not one.
            Receiver::from_owned_fd_unchecked(inotify).ok().map(Self)
        }

        pub(super) async fn came(&self) {
            // Which one it was is seen by looking.
            drop(self.0.readable().await);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::future::pending;
    use std::path::Path;

    /// Nothing tells of changes.
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
    async fn f43_a_file_that_stays_is_looked_at_seldom_and_one_that_goes_is_noticed() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("folder");
        let (file, beside) = (folder.join("socket"), folder.join("beside"));
        let removed = || fs::remove_file(&file);
        let replaced = || fs::rename(&beside, &file);
        let moved = || fs::rename(&file, &beside);
        let with_its_folder = || fs::rename(&folder, folder.with_extension("old"));
        let goes: [&dyn Fn() -> std::io::Result<()>; 4] =
            [&removed, &replaced, &moved, &with_its_folder];
        let mut looks = Looks::new(true);
        looks.watch([&*file]);
        assert!(looks.due <= Instant::now() + SOON, "it is not there");
        for go in goes {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, "").unwrap();
            looks.watch([&*file]);
            assert!(looks.due > Instant::now() + SOON);
            fs::write(&beside, "").unwrap();
            go().unwrap();
            looks.changes.as_ref().unwrap().came().await;
        }
        looks.soon();
        assert!(looks.due <= Instant::now() + SOON);
    }

    #[tokio::test(start_paused = true)]
    async fn f54_without_a_watch_the_looks_of_a_quiet_hour_are_few() {
        let mut looks = Looks::new(false);
        let (began, mut count) = (Instant::now(), 0);
        while began.elapsed() < Duration::from_secs(3600) {
            looks.due().await;
            looks.watch([]);
            count += 1;
        }
        assert!((60..=75).contains(&count), "{count}");
        looks.soon();
        assert!(looks.due <= Instant::now() + SOON);
    }
}
