//! Starting a supervisor that is not a child of the process it watches.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio, exit};
use std::time::{Duration, Instant};

use fork::{Fork, fork, waitpid};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{COMMAND, Watched};
use crate::control::SocketFile;

/// What a supervisor tells its launcher about its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// The supervisor reports for the pane.
    Ready,
    /// Another process reports for the pane.
    Deferred,
    /// The watched process does not run in the pane.
    Foreign,
    /// The supervisor ended before it could tell.
    Gone,
    /// The supervisor has not told yet.
    Late,
}

/// The byte that stands for each word on the pipe to the launcher.
const WORDS: [(Word, u8); 3] = [(Word::Ready, b'r'), (Word::Deferred, b'd'), (Word::Foreign, b'f')];

impl Word {
    pub(super) fn line(self) -> Vec<u8> {
        WORDS.into_iter().filter(|(word, _)| *word == self).map(|(_, byte)| byte).collect()
    }
}

/// Starts a supervisor for a process and waits until it says whether it has the pane.
pub(crate) fn launch(
    watched: &Watched,
    flags: Vec<OsString>,
    patience: Duration,
) -> io::Result<Word> {
    let until = Instant::now() + patience;
    let (mut word, sender) = io::pipe()?;
    start(watched, flags, None, sender.into())?;
    wait_for(&mut word, until)
}

/// Starts a supervisor for a process that does not wait for it. The supervisor takes over a
/// socket that already listens, so hooks can connect before it has started. Returns false if no
/// socket could be made, so that hooks are not heard. `command` is the name of the watched
/// program.
pub(crate) fn supervise(
    watched: &Watched,
    socket: &Path,
    flags: Vec<OsString>,
    command: &OsStr,
) -> io::Result<bool> {
    let made = SocketFile::make_folder(socket).and_then(|()| SocketFile::listen_alone(socket));
    let (listener, file) = match made {
        Ok((listener, file)) => (Stdio::from(OwnedFd::from(listener)), Some(file)),
        // Another supervisor already watches this process.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Ok(true),
        Err(_) => (Stdio::null(), None),
    };
    start(watched, flags, Some(command), listener)?;
    let heard = file.is_some();
    if let Some(file) = file {
        file.leave();
    }
    Ok(heard)
}

/// Starts a supervisor through an intermediate process that has ended when this returns, so
/// that the supervisor becomes a child of init. `flags` are passed on unchanged. Only for a
/// process with a single thread, because it forks.
fn start(
    watched: &Watched,
    flags: Vec<OsString>,
    command: Option<&OsStr>,
    output: Stdio,
) -> io::Result<()> {
    let mut supervisor = ourselves()?;
    supervisor.args([COMMAND, "--of", &watched.pid().to_string()]);
    if let Some(since) = watched.since() {
        supervisor.args(["--since", since]);
    }
    supervisor.args(flags);
    if let Some(command) = command {
        supervisor.arg("--").arg(command);
    }
    supervisor.stdin(watched.to_stdin()?).stdout(output).stderr(Stdio::null());
    // Terminal signals are sent to the foreground process group, which the supervisor must not
    // be in.
    supervisor.process_group(0);
    let Fork::Parent(middle) = fork()? else {
        // Every other inherited descriptor belongs to the command. For example, a host may wait
        // until the command closes a pipe.
        close_fds::set_fds_cloexec(3, &[]);
        exit(supervisor.spawn().map_or(1, |_| 0));
    };
    match waitpid(middle)? {
        0 => Ok(()),
        _ => Err(io::Error::other("its process cannot be started")),
    }
}

/// A command that runs this program. It works after another version was installed over it, and
/// on systems that do not tell the path of the program.
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
    let word = WORDS.into_iter().find(|(_, sent)| count > 0 && *sent == byte[0]);
    Ok(word.map_or(Word::Gone, |(word, _)| word))
}
