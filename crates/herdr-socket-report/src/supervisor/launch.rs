//! Starting a supervisor that is nobody's child.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{COMMAND, Watched};

/// What a supervisor says once it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// It hears its process; for one that runs already, the pane is its own.
    Ready,
    /// It can be heard by nobody.
    Deaf,
    /// Another process reports for the pane.
    Deferred,
    /// The process does not run in the pane.
    Foreign,
    /// It has ended without a word.
    Gone,
    /// It takes longer.
    Late,
}

/// Words as they go through the pipe.
const WORDS: [(Word, u8); 4] =
    [(Word::Ready, b'r'), (Word::Deaf, b'h'), (Word::Deferred, b'd'), (Word::Foreign, b'f')];

impl Word {
    pub(super) fn line(self) -> Vec<u8> {
        WORDS.into_iter().filter(|(word, _)| *word == self).map(|(_, byte)| byte).collect()
    }
}

/// Between two looks at whether the middle process has ended.
const LOOK: Duration = Duration::from_millis(1);

/// Starts a supervisor by way of a middle process, which is gone when this
/// returns: the supervisor is a child of nobody that is left. `flags` are as they
/// were given, and `command` is for its name.
pub(crate) fn launch(
    watched: &Watched,
    flags: Vec<OsString>,
    command: Option<&OsStr>,
    patience: Duration,
) -> io::Result<Word> {
    let until = Instant::now() + patience;
    let (mut word, said) = io::pipe()?;
    let mut middle = ourselves()?;
    middle.args([COMMAND, "--detach", "--of", &watched.pid().to_string()]);
    if let Some(since) = watched.since() {
        middle.args(["--since", since]);
    }
    middle.args(flags);
    if let Some(command) = command {
        middle.arg("--").arg(command);
    }
    middle.stdin(watched.to_stdin()?).stdout(said).stderr(Stdio::null());
    let mut child = middle.spawn()?;
    // It holds an end of the pipe, which would never be at its end.
    drop(middle);
    let word = wait_for(&mut word, until);
    reap(&mut child, until);
    word
}

/// In the middle process: starts the supervisor as it was asked for and leaves.
pub(super) fn step_aside() -> io::Result<()> {
    // Whatever else was inherited, such as a host's pipe that the command will
    // close to say something, is the command's.
    close_fds::set_fds_cloexec(3, &[]);
    // All but the `--detach` that comes after the command's name.
    let arguments = std::env::args_os().enumerate().filter(|(place, _)| ![0, 2].contains(place));
    let arguments = arguments.map(|(_, argument)| argument);
    // Terminal signals go to the group in front, and that is not the supervisor's.
    ourselves()?.args(arguments).stderr(Stdio::null()).process_group(0).spawn().map(|_| ())
}

/// This program, also after another version was installed over it, and where
/// nothing but its own name tells which one it is.
pub(crate) fn ourselves() -> io::Result<Command> {
    let Ok(path) = std::env::current_exe() else {
        let name = std::env::args_os().next().ok_or(io::ErrorKind::NotFound)?;
        return Ok(Command::new(name));
    };
    let replaced = cfg!(target_os = "linux") && !path.exists();
    let mut command = Command::new(if replaced { "/proc/self/exe".into() } else { path });
    command.arg0("herdr-socket-report");
    Ok(command)
}

fn wait_for(word: &mut PipeReader, until: Instant) -> io::Result<Word> {
    let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
    if poll(&mut [PollFd::new(word, PollFlags::IN)], left.as_ref())? == 0 {
        return Ok(Word::Late);
    }
    let mut byte = [0];
    let count = word.read(&mut byte)?;
    let said = WORDS.into_iter().find(|(_, said)| count > 0 && *said == byte[0]);
    Ok(said.map_or(Word::Gone, |(word, _)| word))
}

fn reap(child: &mut Child, until: Instant) {
    while let Ok(None) = child.try_wait() {
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        thread::sleep(LOOK);
    }
}
