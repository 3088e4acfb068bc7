//! A terminal on which the sidecar draws.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::TempDir;

use crate::support::{PATIENCE, Setup};

/// The sequences that the sidecar may send: the alternate screen, line wrapping, the cursor and
/// its position, and clearing parts of the screen.
const OWN: [&str; 9] = ["?1049h", "?1049l", "?7h", "?7l", "?25h", "?25l", "H", "K", "J"];

/// The sidecar with its stdout on a terminal.
pub(crate) struct Terminal {
    child: Child,
    master: File,
    drawn: Receiver<Vec<u8>>,
    text: Vec<u8>,
    _folder: TempDir,
}

impl Terminal {
    /// Starts it on a terminal with this many columns and lines.
    pub(crate) fn start(setup: Setup, size: (u16, u16)) -> Self {
        let (master, terminal) = both_ends();
        tcsetwinsize(&master, winsize(size)).unwrap();
        let Setup { mut command, folder } = setup.env("TERM", "xterm");
        let child = command.stdout(Stdio::from(terminal)).spawn().unwrap();
        // It would keep the terminal open.
        drop(command);
        let (sender, drawn) = mpsc::channel();
        let mut reading = master.try_clone().unwrap();
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            // On Linux, the end of a terminal is an error.
            while let Ok(count @ 1..) = reading.read(&mut chunk) {
                if sender.send(chunk[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, master, drawn, text: Vec::new(), _folder: folder }
    }

    pub(crate) fn resize(&self, size: (u16, u16)) {
        tcsetwinsize(&self.master, winsize(size)).unwrap();
    }

    /// Forgets what was drawn, and waits until a drawing satisfies this.
    pub(crate) fn wait(&mut self, satisfied: impl Fn(&str) -> bool) {
        self.text.clear();
        let end = Instant::now() + PATIENCE;
        while !satisfied(&String::from_utf8_lossy(&self.text)) {
            let left = end.saturating_duration_since(Instant::now());
            let drawn = self.drawn.recv_timeout(left).ok().filter(|_| !left.is_zero());
            let Some(drawn) = drawn else {
                let text = String::from_utf8_lossy(&self.text);
                panic!("it is not drawn, but: {:#?}", pictures(&text).last())
            };
            self.text.extend(drawn);
        }
    }

    /// Stops it as Ctrl-Z does. It restores the terminal before.
    pub(crate) fn stop(&mut self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TSTP).unwrap();
        let (_, status) =
            waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().expect("it is a child");
        assert!(status.stopped(), "{status:?}");
        self.wait(|drawn| drawn.contains("\u{1b}[?1049l"));
    }

    /// Continues it. It takes the terminal over again.
    pub(crate) fn go_on(&mut self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
        self.wait(|drawn| drawn.contains("\u{1b}[?1049h") && drawn.contains("\u{1b}[J"));
    }

    /// Ends it with a signal. Returns the exit code and everything that was drawn since the
    /// last [`wait`](Self::wait) began.
    pub(crate) fn end(mut self, signal: Signal) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let end = Instant::now() + PATIENCE;
        while let Ok(drawn) = self.drawn.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.text.extend(drawn);
        }
        assert!(Instant::now() < end, "it does not end");
        let code = self.child.wait().unwrap().code();
        (code, String::from_utf8(std::mem::take(&mut self.text)).unwrap())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both ends of a terminal: that of the person, and that of the program.
pub(crate) fn both_ends() -> (File, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (File::from(master), terminal)
}

fn winsize((ws_col, ws_row): (u16, u16)) -> Winsize {
    Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }
}

/// What was drawn without the sidecar's own sequences. Any other sequence is a failure.
pub(crate) fn visible(drawn: &str) -> String {
    let mut pieces = drawn.split('\u{1b}');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let sequence = piece.strip_prefix('[').unwrap_or_else(|| panic!("{piece:?}"));
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).expect("it ends") + 1;
        let (sequence, rest) = sequence.split_at(end);
        let colour = sequence.trim_end_matches('m').trim_matches(|c: char| c.is_ascii_digit());
        assert!(OWN.contains(&sequence) || ["", ";"].contains(&colour), "{sequence:?}");
        text.push_str(rest);
    }
    text
}

/// The complete pictures, each as its lines.
pub(crate) fn pictures(drawn: &str) -> Vec<Vec<String>> {
    let mut pictures: Vec<_> = drawn.split("\u{1b}[H").collect();
    // The beginning of the first picture and the end of the last may be missing.
    pictures.retain(|picture| picture.contains("\u{1b}[J"));
    let lines = |picture: &str| {
        let picture = picture.split("\u{1b}[J").next().unwrap_or_default();
        // The terminal adds a carriage return to each newline.
        visible(picture).split('\n').map(|line| line.trim_end_matches('\r').to_owned()).collect()
    };
    pictures.into_iter().map(lines).collect()
}
