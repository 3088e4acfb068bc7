//! The check of the pane's lease: who holds it, and whether the holder accepts what hooks
//! report.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use herdr_reporter::sidecar::{LeaseFile, owner_of, supervised_by};

use super::check::Check;
use crate::control::{Call, Hello, Refusal, is_timeout};
use crate::wait::wait_for;

const NAME: &str = "lease";

/// The time limit for a conversation with a control socket.
const CONTROL: Duration = Duration::from_secs(1);
/// How long one-shots that are reporting are waited for.
const HOOKS: Duration = Duration::from_millis(400);
/// The time limit for the file system of the lease.
const DISK: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    Nobody,
    /// A reporter that accepts what hooks report.
    Reporter,
    /// A reporter that accepts no other processes, or that does not answer.
    Closed,
    /// One-shots are reporting at the moment, or no lease can be kept.
    Unknown,
}

/// What a control socket does with this process's reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Listener {
    Reports,
    /// It accepts them and shows nothing, for this reason.
    InVain(String),
    /// It refuses them, for this reason.
    Refuses(Refusal, String),
    Silent,
    Nobody,
}

/// What makes a stopped reporter go on.
pub(super) const WAKE: &str = "let it go on if it was stopped (fg, or kill -CONT and its process id), \
                               or end it; until then hooks wait for it and say nothing";

#[derive(Debug)]
pub(super) struct Lease {
    pub(super) hold: Hold,
    pub(super) check: Check,
    /// The lease, if it was free. While this is kept, no reporter starts on the pane.
    pub(super) kept: Option<File>,
}

impl Lease {
    fn of_others(hold: Hold, check: Check) -> Self {
        Self { hold, check, kept: None }
    }
}

/// Examines the lease, and takes it if it is free. Only a thread waits for a disk that hangs,
/// and the thread ends with the process.
/// a thread, which ends with the process.
pub(super) fn look(lease: LeaseFile, hello: Hello) -> Lease {
    let folder = lease.path().parent().map(|folder| folder.display().to_string());
    within(DISK, move || look_at(&lease, &hello)).unwrap_or_else(|| {
        let folder = folder.unwrap_or_default();
        let check = Check::open(NAME, format!("the folder {folder:?} does not answer"));
        let remedy = "its disk hangs; set XDG_RUNTIME_DIR to a folder of this machine's own";
        Lease::of_others(Hold::Unknown, check.remedy(remedy))
    })
}

/// The result of `ask`, if it comes within `limit`.
fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, result) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name("lease".to_owned());
    thread.spawn(move || sender.send(work())).ok()?;
    result.recv_timeout(limit).ok()
}

fn look_at(lease: &LeaseFile, hello: &Hello) -> Lease {
    let lease = wait_for(HOOKS, || {
        match lease.try_take() {
            Ok(Some(file)) => {
                let check =
                    Check::fine(NAME, format!("no process reports for the pane{}", kept_in(lease)));
                return Some(Lease { hold: Hold::Nobody, check, kept: Some(file) });
            }
            Ok(None) => {}
            Err(error) => {
                let check = Check::open(NAME, format!("no lease can be kept: {error}"));
                let remedy = "reports go out all the same, but two reporters may fight; make sure \
                              that XDG_RUNTIME_DIR is a folder of this user's alone";
                return Some(Lease::of_others(Hold::Unknown, check.remedy(remedy)));
            }
        }
        match lease.try_share() {
            Ok(None) => Some(held(lease, hello)),
            _ => None,
        }
    });
    lease.unwrap_or_else(|| {
        let check = Check::open(NAME, "hooks report to the pane right now");
        Lease::of_others(Hold::Unknown, check)
    })
}

/// Whether a reporter listens at this control socket and accepts this process. It has to
/// answer, because a stopped reporter still accepts connections.
pub(super) fn listener(socket: &Path, hello: &Hello) -> Listener {
    let called = Call::connect(socket, CONTROL);
    let answers = match called.and_then(|call| call.tell(hello, &[], true)) {
        Ok(answers) => answers,
        Err(error) if is_timeout(&error) => return Listener::Silent,
        Err(_) => return Listener::Nobody,
    };
    if let Some((because, detail)) = answers.refused {
        return Listener::Refuses(because, detail);
    }
    let deferred = |(kind, _): &&(String, String)| ["deferred", "foreign_pane"].contains(&&**kind);
    match answers.diagnostics.iter().rfind(deferred) {
        Some((kind, detail)) => Listener::InVain(format!("{kind}: {detail}")),
        None => Listener::Reports,
    }
}

/// What the supervisor that the environment names does with this process's reports; `None` if
/// it has another pane.
pub(super) fn of_supervisor(socket: &Path, hello: &Hello) -> Option<Lease> {
    let at = socket.display().to_string();
    let wrong = |finding: String, remedy: &str| {
        Some(Lease::of_others(Hold::Closed, Check::wrong(NAME, finding).remedy(remedy)))
    };
    match listener(socket, hello) {
        Listener::Reports => {
            let finding = format!("the supervisor at {at:?} takes what this process says");
            Some(Lease::of_others(Hold::Reporter, Check::fine(NAME, finding)))
        }
        Listener::InVain(why) => wrong(
            format!(
                "the supervisor at {at:?} takes what this process says and shows nothing; {why}"
            ),
            "end the other reporter, or let this one come to the front (fg)",
        ),
        Listener::Refuses(Refusal::OtherPane, _) => None,
        Listener::Refuses(Refusal::OtherAgent, why) => {
            wrong(why, "leave --agent and --source out, or run the agent under an exec of its own")
        }
        Listener::Refuses(_, why) => wrong(
            format!("the supervisor at {at:?} does not hear this process: {why}"),
            "unset HERDR_REPORT_SOCKET where this process reports for itself",
        ),
        Listener::Silent => wrong(format!("the supervisor at {at:?} does not answer"), WAKE),
        Listener::Nobody => {
            let why = match supervised_by(socket) {
                Some((process, false)) => format!("process {process} has ended"),
                _ => "no process listens".to_owned(),
            };
            wrong(
                format!("HERDR_REPORT_SOCKET names {at:?}, and {why}: what is said there is late"),
                "start the agent under exec again, or attach to it; or unset HERDR_REPORT_SOCKET",
            )
        }
    }
}

/// Where leases are kept, if that is not the usual folder.
fn kept_in(lease: &LeaseFile) -> String {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    let folder = lease.path().parent().unwrap_or(Path::new("/"));
    match runtime {
        Some(runtime) if !folder.starts_with(&runtime) => {
            format!(
                "; XDG_RUNTIME_DIR cannot be used, leases are in {:?}",
                folder.display().to_string()
            )
        }
        _ => String::new(),
    }
}

fn held(lease: &LeaseFile, hello: &Hello) -> Lease {
    let mut finding = "a reporter has the pane".to_owned();
    if let Some(pid) = owner_of(lease.path()) {
        let _ = write!(finding, ": process {pid}");
        if let Some(name) = name_of(pid) {
            let _ = write!(finding, " ({name})");
        }
    }
    let socket = lease.control_socket();
    let (more, remedy) = match listener(&socket, hello) {
        Listener::Reports => {
            let socket = socket.display().to_string();
            let _ = write!(finding, "; it takes what hooks say at {socket:?}");
            return Lease::of_others(Hold::Reporter, Check::fine(NAME, finding));
        }
        Listener::Silent => ("; it does not answer".to_owned(), WAKE),
        Listener::InVain(why) => (
            format!("; it shows nothing of what hooks say: {why}"),
            "see which reporter the pane is left to, or run this one in its pane",
        ),
        Listener::Refuses(_, why) => (
            format!("; it does not hear this process: {why}"),
            "run it below that process; another agent has the pane once that ends, or while it is \
             stopped or in the background",
        ),
        Listener::Nobody => (
            " and takes nothing from others".to_owned(),
            "leave the pane to it, or end it; reports of others are put off until then",
        ),
    };
    Lease::of_others(Hold::Closed, Check::wrong(NAME, finding + &more).remedy(remedy))
}

/// The name of a process. The kernel cuts it after 15 bytes; the name of its program may
/// complete it.
fn name_of(pid: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned();
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let program = program.as_deref().and_then(Path::file_name).map(OsStr::to_string_lossy);
    let whole = program.filter(|program| !name.is_empty() && program.starts_with(&name));
    Some(whole.map_or(name, Into::into))
}
