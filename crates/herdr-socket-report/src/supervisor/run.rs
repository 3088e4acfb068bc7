//! The supervisor of a process in a pane: it reports until that process ends.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herdr_reporter::sidecar::{
    Identity, LeaseFile, identity, resume, shown, supervised_by, suspend,
};
use herdr_reporter::{DiagnosticKind, Reporter, UnverifiedPane};
use herdr_socket_transport::Endpoint;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, dup2_stdout, stdout};

use super::terminal_only::report_to_terminal;
use super::watched::WaitOutcome;
use super::{Args, Watched, Word};
use crate::commands::settings_that_fit;
use crate::control::{
    Address, Addresses, Admission, Control, HERDR_REPORT_SOCKET, Intake, JobState,
};
use crate::exit::Exit;
use crate::input::signals::Signals;
use crate::place::Place;
use crate::program_status::Terminal;
use crate::settings::Loaded;
use crate::wait::blocking;
use crate::words::agent_of;

/// How often the process is checked while it is in the foreground.
pub(super) const CHECK: Duration = Duration::from_millis(500);
/// How often it is checked while it is stopped or in the background, when another reporter may
/// be waiting for the pane.
const CHECK_BEHIND: Duration = Duration::from_millis(200);
/// How often it is checked while the launcher waits to hear about the start.
const CHECK_AT_START: Duration = Duration::from_millis(10);
/// The time limit for closing the reporter. The next supervisor waits longer than this for the
/// lease.
pub(super) const CLOSE_LIMIT: Duration = Duration::from_millis(1500);
/// The time limit for releasing the pane to another reporter.
const RELEASE_LIMIT: Duration = Duration::from_millis(500);
/// The time limit for asking the server what the pane shows.
const SERVER_LIMIT: Duration = Duration::from_millis(500);
/// How long no other process must have reported before a process in the background is shown
/// again.
const FREE_FOR: Duration = Duration::from_secs(1);
/// How many connections may wait to be accepted.
const BACKLOG: i32 = 128;
/// How long an outer supervisor may take until it listens.
const OUTER_START: Duration = Duration::from_secs(2);

/// Watches the process and reports for it until it ends.
pub(crate) fn run(args: &Args) -> Exit {
    let Ok(watched) = Watched::inherited(args.of, args.since.clone()) else { return Exit::Usage };
    // The launcher has already printed what is wrong with the settings.
    let agent = args.command.as_ref().and_then(|command| agent_of(command.as_ref()));
    let (mut loaded, _) = settings_that_fit(args.settings.clone(), agent);
    loaded.settings.config.leave_state = leaves_state_to_herdr(&loaded);
    loaded.settings.config.own_label = loaded.named;
    let place = args.pane.find();
    let (Ok(place), Ok(signals), Ok(pid)) = (place, Signals::catch(), u32::try_from(watched.pid()))
    else {
        return Exit::Usage;
    };
    let _ = close_stdin();
    // The current directory must not keep a file system from being unmounted.
    let _ = std::env::set_current_dir("/");
    let terminal = Terminal::of(&loaded.settings, &place, Some(pid));
    let pane = match (place, terminal) {
        (Place::Pane(pane), _) => pane,
        (Place::Outside(_), Some(terminal)) => {
            return report_to_terminal(args, &loaded.settings, terminal, &watched, &signals);
        }
        _ => return Exit::Usage,
    };
    let lease = LeaseFile::of_pane(&loaded.settings.config, &pane);
    let outer = std::env::var_os(HERDR_REPORT_SOCKET).map(PathBuf::from);
    let outer = outer.filter(|outer| {
        let of_another = supervised_by(outer).is_some_and(|(other, _)| other != pid);
        of_another && lease.is_of_this_pane(outer) == Some(true)
    });
    let intake = Intake::without_reporter();
    if let Some(state) = args.state {
        intake.begin_with(state);
    }
    let supervisor = Supervisor {
        admission: Admission::of_supervisor(&loaded.settings, &lease, pid),
        loaded,
        pane,
        lease,
        watched,
        pid,
        outer,
        intake,
        role: Role::Undecided,
        started: Instant::now(),
        free_since: None,
    };
    supervisor.run(&signals, args.command.is_some())
}

const NESTED: &str = "this command runs in another one's that reports for the pane";
const BEHIND: &str = "the process is stopped or in the background, and another one has the pane";
const FOREIGN: &str = "the process does not run in the pane that HERDR_PANE_ID names";

/// Herdr detects the state of the agents that it knows. The supervisor leaves the state of such
/// an agent to Herdr unless the user named the agent.
fn leaves_state_to_herdr(loaded: &Loaded) -> bool {
    let label = herdr_proto::AgentLabel::normalize(&loaded.settings.agent);
    !loaded.named && label.is_some_and(|label| label.is_known())
}

struct Supervisor {
    loaded: Loaded,
    pane: Endpoint,
    lease: LeaseFile,
    watched: Watched,
    pid: u32,
    /// The supervisor of an outer `exec` or `attach` that the watched process runs in.
    outer: Option<PathBuf>,
    intake: Intake,
    admission: Admission,
    role: Role,
    started: Instant,
    /// Since when no other process has reported for the pane, while this supervisor has let it
    /// go.
    free_since: Option<Instant>,
}

/// What the supervisor does with the pane.
enum Role {
    /// The supervisor has not decided yet.
    Undecided,
    /// It reports what control clients say, and whether the process is stopped.
    Reporting(Reporter),
    /// It leaves the pane to an outer supervisor.
    Nested,
    /// It leaves the pane to another reporter, because the process is stopped or in the
    /// background.
    Behind,
    /// It leaves the pane alone, because the process does not run in it.
    Foreign,
}

impl Supervisor {
    /// With `stays`, the supervisor lives as long as the process even if it never gets the
    /// pane. If it ended, the hooks of the process would be taken for those of another one.
    fn run(mut self, signals: &Signals, stays: bool) -> Exit {
        let own = self.lease.supervisor_socket(self.pid);
        let begun = inherited_listener(&own);
        let addresses = Addresses { pane: self.lease.control_socket(), own: Some(own), begun };
        let mut control = Control::start(addresses, &self.intake, self.admission.clone());
        let heard = control.wait_open(Address::Own, CLOSE_LIMIT);
        let in_use = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
        if matches!(&heard, Some(Err(error)) if in_use(error)) {
            announce(Word::Ready);
            return Exit::Fine;
        }
        let mut announced = stays;
        if stays {
            close_stdout();
        }
        let mut outcome = WaitOutcome::TimedOut;
        while outcome == WaitOutcome::TimedOut {
            let job_state = self.watched.job_state();
            self.update(job_state);
            if !announced && let Some(word) = self.word(&control) {
                announce(word);
                announced = true;
                if word != Word::Ready {
                    break;
                }
            }
            outcome = self.watched.wait(
                signals,
                match job_state {
                    _ if !announced => CHECK_AT_START,
                    JobState::Foreground => CHECK,
                    JobState::Stopped | JobState::Background => CHECK_BEHIND,
                },
            );
        }
        if !announced {
            announce(Word::Gone);
        }
        // The sockets are closed while the lease is still held, so that no client finds a dead
        // socket.
        control.close();
        self.role.end(CLOSE_LIMIT);
        control.finish();
        Exit::Fine
    }

    /// What the launcher is told about the start, once that is decided.
    fn word(&self, control: &Control) -> Option<Word> {
        match &self.role {
            Role::Undecided => None,
            Role::Foreign => Some(Word::Foreign),
            Role::Nested | Role::Behind => Some(Word::Deferred),
            Role::Reporting(_) if self.intake.holds_lease() == Some(false) => Some(Word::Deferred),
            // Without a control socket the supervisor still clears the pane at the end.
            Role::Reporting(_) => {
                control.wait_open(Address::Pane, Duration::ZERO).map(|_| Word::Ready)
            }
        }
    }

    /// Checks the conditions and acts on what has changed.
    fn update(&mut self, job_state: JobState) {
        match &self.role {
            Role::Undecided if self.outer_runs() => {
                self.role = Role::Nested;
                self.intake.disconnect(DiagnosticKind::Deferred, NESTED);
            }
            Role::Nested if self.outer_runs() => {}
            Role::Undecided | Role::Nested => self.begin(),
            Role::Behind => {
                if job_state == JobState::Foreground || self.has_been_free() {
                    self.begin();
                }
            }
            Role::Foreign => {}
            Role::Reporting(reporter) => {
                suspend(reporter, job_state == JobState::Stopped);
                self.release_if_asked(job_state);
            }
        }
    }

    fn release_if_asked(&mut self, job_state: JobState) {
        if self.admission.was_asked_to_release() && job_state < JobState::Foreground {
            let before = std::mem::replace(&mut self.role, Role::Behind);
            before.end(RELEASE_LIMIT);
            self.intake.disconnect(DiagnosticKind::Deferred, BEHIND);
        }
    }

    /// Starts to report, unless the process is proven to run in another pane.
    fn begin(&mut self) {
        if self.is_foreign() {
            self.role = Role::Foreign;
            self.intake.disconnect(DiagnosticKind::ForeignPane, FOREIGN);
            return;
        }
        let settings = &self.loaded.settings;
        let builder = Reporter::builder(&settings.agent)
            .config(settings.config.clone())
            .endpoint(self.pane.clone())
            .process(self.pid);
        let place = Place::Pane(self.pane.clone());
        let builder = match Terminal::of(settings, &place, Some(self.pid)) {
            Some(terminal) => terminal.told_by(builder),
            None => builder,
        };
        let role = &mut self.role;
        self.intake.connect_to(|activity| {
            let reporter = resume(builder, activity).start();
            let handle = reporter.handle();
            *role = Role::Reporting(reporter);
            handle
        });
    }

    /// Whether the process is proven not to run in the pane. If the server does not answer,
    /// nothing is proven.
    fn is_foreign(&self) -> bool {
        let config = &self.loaded.settings.config;
        if config.any_pane {
            return false;
        }
        let proven = identity(&self.pane, config, Some(self.pid), SERVER_LIMIT);
        match blocking(proven).flatten() {
            Some(Identity::Foreign) => true,
            Some(Identity::Proven) | None => false,
            Some(_) => config.unverified_pane == UnverifiedPane::Deny,
        }
    }

    /// Whether no other process has reported for [`FREE_FOR`]. A reporter that was given the pane
    /// needs some time to take the lease.
    fn has_been_free(&mut self) -> bool {
        if !self.pane_is_free() {
            self.free_since = None;
        } else if self.free_since.get_or_insert_with(Instant::now).elapsed() >= FREE_FOR {
            self.free_since = None;
            return true;
        }
        false
    }

    /// Whether the lease is free and the pane shows no agent.
    fn pane_is_free(&self) -> bool {
        if !matches!(self.lease.try_take(), Ok(Some(_))) {
            return false;
        }
        let shown = blocking(shown(&self.pane, &self.loaded.settings.config, SERVER_LIMIT));
        shown.is_some_and(|shown| shown.is_ok_and(|pane| pane.agent.is_none()))
    }

    /// Whether the outer supervisor still runs.
    fn outer_runs(&self) -> bool {
        let Some(outer) = &self.outer else { return false };
        supervised_by(outer).is_some_and(|(_, lives)| lives)
            && (self.started.elapsed() < OUTER_START
                || std::os::unix::net::UnixStream::connect(outer).is_ok())
    }
}

impl Role {
    fn end(self, budget: Duration) {
        match self {
            Self::Reporting(reporter) => drop(reporter.close(budget)),
            Self::Undecided | Self::Nested | Self::Behind | Self::Foreign => {}
        }
    }
}

/// Tells the launcher about the start and closes the pipe to it. A launcher that has ended is
/// not an error.
pub(super) fn announce(word: Word) {
    let _ = io::stdout().write_all(&word.line()).and_then(|()| io::stdout().flush());
    close_stdout();
}

/// The listening socket that `exec` passed as standard output, if it is the one at `own`.
pub(super) fn inherited_listener(own: &Path) -> Option<UnixListener> {
    let listener = UnixListener::from(fcntl_dupfd_cloexec(stdout(), 3).ok()?);
    let at = listener.local_addr().ok()?;
    let ours = (at.as_pathname() == Some(own)).then_some(listener)?;
    // Clients see the process that last called `listen` as the peer, so this process calls it
    // again.
    let _ = rustix::net::listen(&ours, BACKLOG);
    Some(ours)
}

pub(super) fn close_stdout() {
    let null = File::options().write(true).open("/dev/null");
    let _ = null.map(|null| dup2_stdout(&null));
}

fn close_stdin() -> io::Result<()> {
    Ok(dup2_stdin(File::open("/dev/null")?)?)
}
