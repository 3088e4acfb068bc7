//! What the kernel says about a process: its parent, its session and its terminal.

use std::path::Path;
use std::sync::OnceLock;

/// The most ancestors that are looked at; a longer chain is a circle.
const ANCESTORS_MAX: usize = 64;

/// A process at the moment when it was looked at. A process outside of this process's namespace has
/// the number 0.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Process {
    /// The kernel's letter for its state: `T` is stopped, `Z` has ended.
    pub state: char,
    /// Its parent process.
    pub parent: u32,
    /// The leader of its process group.
    pub group: u32,
    /// The leader of its session.
    pub session: u32,
    /// The device number of its terminal; `None` without a terminal.
    pub terminal: Option<i32>,
    /// The process group in the foreground of that terminal.
    pub foreground: Option<u32>,
    /// When it was started, in clock ticks since the system booted.
    pub started: u64,
}

impl Process {
    /// Reads the state of a process; `None` if there is no such process, or on systems other than
    /// Linux.
    pub fn of(pid: u32) -> Option<Self> {
        tells_of_processes().then_some(())?;
        Self::read(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    fn read(stat: &[u8]) -> Option<Self> {
        // The fields before these are the number and the name, and the name, in parentheses, may
        // contain anything.
        let rest = stat.rsplit(|byte| *byte == b')').next()?;
        let words: Vec<&str> = std::str::from_utf8(rest).ok()?.split_whitespace().collect();
        let number = |place: usize| words.get(place)?.parse::<i64>().ok();
        let pid = |place: usize| u32::try_from(number(place)?).ok();
        Some(Self {
            state: words.first()?.chars().next()?,
            parent: pid(1)?,
            group: pid(2)?,
            session: pid(3)?,
            terminal: i32::try_from(number(4)?).ok().filter(|number| *number != 0),
            foreground: pid(5).filter(|group| *group != 0),
            started: words.get(19)?.parse().ok()?,
        })
    }

    /// Whether Ctrl-Z or a similar signal has stopped it.
    pub fn is_stopped(&self) -> bool {
        self.state == 'T'
    }

    /// Whether its process group is in the foreground of its terminal.
    pub fn is_in_front(&self) -> bool {
        self.foreground == Some(self.group)
    }
}

/// The ancestors of a process, the nearest first.
pub fn ancestors(pid: u32) -> impl Iterator<Item = u32> {
    let parent = |pid: u32| Process::of(pid).map(|it| it.parent).filter(|pid| *pid != 0);
    std::iter::successors(parent(pid), move |pid| parent(*pid)).take(ANCESTORS_MAX)
}

/// Whether a process is `from`, or has it as an ancestor.
pub fn descends(pid: u32, from: u32) -> bool {
    pid == from || ancestors(pid).any(|ancestor| ancestor == from)
}

/// Whether a process runs the program `name`, by the process's name or by the file that it, or its
/// interpreter, was started with. Works only on Linux.
pub fn is_program(pid: u32, name: &str) -> bool {
    let read = |what: &str| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
    let is = |word: &[u8]| {
        let word = String::from_utf8_lossy(word);
        Path::new(word.trim_end()).file_stem().is_some_and(|stem| stem == name)
    };
    is(&read("comm")) || read("cmdline").split(|byte| *byte == 0).take(2).any(is)
}

/// The leader of a process's session, or 0 if the leader is outside of this namespace; `None` if
/// there is no such process, or if processes cannot be read.
#[cfg(any(target_os = "linux", not(unix)))]
pub fn session_of(pid: u32) -> Option<u32> {
    // Not `getsid`: its wrapper does not expect a leader with the number 0.
    Process::of(pid).map(|process| process.session)
}

/// The leader of a process's session; `None` if there is no such process.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn session_of(pid: u32) -> Option<u32> {
    let session = rustix::process::getsid(Some(known(pid)?)).ok()?;
    u32::try_from(session.as_raw_nonzero().get()).ok()
}

/// Whether the process lives. On Linux, a process that has ended but that its parent has not waited
/// for does not count as living.
#[cfg(unix)]
pub fn lives(pid: u32) -> bool {
    match Process::of(pid) {
        Some(process) => process.state != 'Z',
        None => known(pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok()),
    }
}

/// Whether processes can be looked at under the numbers that this process knows them by: a
/// container may have no `/proc` of its own.
pub fn tells_of_processes() -> bool {
    static TELLS: OnceLock<bool> = OnceLock::new();
    *TELLS.get_or_init(|| {
        let own = std::fs::read_link("/proc/self").ok();
        own.is_some_and(|own| own.as_os_str() == std::process::id().to_string().as_str())
    })
}

#[cfg(unix)]
fn known(pid: u32) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = b"17 (a) R 1 (b) T 3 17 5 1025 -1 0 1 1 1 1 1 1 1 1 20 0 1 0 4711 9 9";
        let seen = Process::read(stat).expect("it is a process");
        assert_eq!((seen.parent, seen.group, seen.session, seen.started), (3, 17, 5, 4711));
        assert_eq!((seen.terminal, seen.foreground), (Some(1025), None));
        assert!(seen.is_stopped() && !seen.is_in_front());
        assert_eq!(Process::read(b"17 (cut"), None);
    }

    #[test]
    fn this_process_comes_from_its_parent_and_is_its_own() {
        let own = std::process::id();
        let parent = Process::of(own).expect("it is there").parent;
        assert!(descends(own, own) && (parent == 0 || descends(own, parent)));
        assert!(!descends(parent, own));
        assert_eq!(session_of(u32::MAX), None);
        assert!(lives(own) && !lives(u32::MAX));
    }
}
