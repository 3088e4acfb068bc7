//! A supervisor's life: it reports for a process until that ends.

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

use super::outside::keep_outside;
use super::watched::Seen;
use super::{Args, Watched, Word};
use crate::commands::settings_that_fit;
use crate::control::{Address, Addresses, Control, Door, HERDR_REPORT_SOCKET, Intake, Standing};
use crate::exit::Exit;
use crate::input::signals::Signals;
use crate::place::Place;
use crate::program_status::Terminal;
use crate::settings::Loaded;
use crate::wait::blocking;
use crate::words::agent_of;

/// Between two looks at the process while it is in front.
pub(super) const LOOK: Duration = Duration::from_millis(500);
/// Between two looks at one that is stopped or behind: somebody may wait for
/// the pane.
const LOOK_BEHIND: Duration = Duration::from_millis(200);
/// Between two looks while a launcher waits for our word.
const LOOK_OFTEN: Duration = Duration::from_millis(10);
/// How long the end may take. A supervisor that starts meanwhile waits longer
/// than that for the lease.
pub(super) const END: Duration = Duration::from_millis(1500);
/// How long the pane is given back for somebody else.
const LET_GO: Duration = Duration::from_millis(500);
/// How long the server may take to say what the pane shows.
const ASK: Duration = Duration::from_millis(500);
/// How long nobody else must have reported before a process that is behind
/// shows again.
const QUIET: Duration = Duration::from_secs(1);
/// How many clients may wait in line.
const BACKLOG: i32 = 128;
/// How long an outer supervisor may take to listen.
const OUTER: Duration = Duration::from_secs(2);

/// Watches over a process to its end.
pub(crate) fn keep(args: &Args) -> Exit {
    let Ok(watched) = Watched::inherited(args.of, args.since.clone()) else { return Exit::Usage };
    // Whoever launched us has said by now what is wrong with its settings.
    let agent = args.command.as_ref().and_then(|command| agent_of(command.as_ref()));
    let (mut loaded, _) = settings_that_fit(args.settings.clone(), agent);
    loaded.settings.config.leave_state = leaves_the_state_to_herdr(&loaded);
    loaded.settings.config.own_label = loaded.named;
    let place = args.pane.find();
    let (Ok(place), Ok(signals), Ok(pid)) = (place, Signals::hear(), u32::try_from(watched.pid()))
    else {
        return Exit::Usage;
    };
    let _ = let_go_of_stdin();
    // A folder that somebody wants to unmount is not held either.
    let _ = std::env::set_current_dir("/");
    let terminal = Terminal::of(&loaded.settings, &place, Some(pid));
    let pane = match (place, terminal) {
        (Place::Pane(pane), _) => pane,
        (Place::Outside(_), Some(terminal)) => {
            return keep_outside(args, &loaded.settings, terminal, &watched, &signals);
        }
        _ => return Exit::Usage,
    };
    let lease = LeaseFile::of_pane(&loaded.settings.config, &pane);
    let outer = std::env::var_os(HERDR_REPORT_SOCKET).map(PathBuf::from);
    let outer = outer.filter(|outer| {
        let of_another = supervised_by(outer).is_some_and(|(other, _)| other != pid);
        of_another && lease.is_of_this_pane(outer) == Some(true)
    });
    let intake = Intake::to_nobody_yet();
    if let Some(state) = args.state {
        intake.begin_with(state);
    }
    let supervisor = Supervisor {
        door: Door::of_supervisor(&loaded.settings, &lease, pid),
        loaded,
        pane,
        lease,
        watched,
        pid,
        outer,
        intake,
        now: Now::Begins,
        started: Instant::now(),
        quiet: None,
    };
    supervisor.run(&signals, args.command.is_some())
}

const NESTED: &str = "this command runs in another one's that reports for the pane";
const BEHIND: &str = "the process is stopped or in the background, and another one has the pane";
const FOREIGN: &str = "the process does not run in the pane that HERDR_PANE_ID names";

/// Herdr watches the agents that it knows; what they do is its own to say
/// unless somebody wants it otherwise.
fn leaves_the_state_to_herdr(loaded: &Loaded) -> bool {
    let label = herdr_proto::AgentLabel::normalize(&loaded.settings.agent);
    !loaded.named && label.is_some_and(|label| label.is_known())
}

struct Supervisor {
    loaded: Loaded,
    pane: Endpoint,
    lease: LeaseFile,
    watched: Watched,
    pid: u32,
    /// The supervisor of the command that ours runs in.
    outer: Option<PathBuf>,
    intake: Intake,
    door: Door,
    now: Now,
    started: Instant,
    /// Since when nobody else has reported, while we are aside.
    quiet: Option<Instant>,
}

/// What a supervisor does just now.
enum Now {
    /// It has not looked around yet.
    Begins,
    /// It reports what control clients say, and that the process is stopped.
    Reports(Reporter),
    /// It leaves the pane alone: the process runs in a command that has a
    /// supervisor,
    Nested,
    /// or it is stopped or in the background and somebody wanted the pane,
    Behind,
    /// or it does not run in the pane.
    Foreign,
}

impl Supervisor {
    /// With `stays`, whoever asked for it has no use for a supervisor's end
    /// before the process's: its hooks would be taken for somebody's else.
    fn run(mut self, signals: &Signals, stays: bool) -> Exit {
        let own = self.lease.supervisor_socket(self.pid);
        let begun = handed_over(&own);
        let addresses = Addresses { pane: self.lease.control_socket(), own: Some(own), begun };
        let mut control = Control::start(addresses, &self.intake, self.door.clone());
        let heard = control.wait_open(Address::Own, END);
        let in_use = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
        if matches!(&heard, Some(Err(error)) if in_use(error)) {
            say(Word::Ready);
            return Exit::Fine;
        }
        let mut told = stays;
        if stays {
            let_go_of_stdout();
        }
        let mut seen = Seen::Nothing;
        while seen == Seen::Nothing {
            let standing = self.watched.standing();
            self.look(standing);
            if !told && let Some(word) = self.word(&control) {
                say(word);
                told = true;
                if word != Word::Ready {
                    break;
                }
            }
            seen = self.watched.wait(
                signals,
                match standing {
                    _ if !told => LOOK_OFTEN,
                    Standing::InFront => LOOK,
                    Standing::Stopped | Standing::Behind => LOOK_BEHIND,
                },
            );
        }
        if !told {
            say(Word::Gone);
        }
        // While the lease is still ours, so that nobody finds a dead socket.
        control.close();
        self.now.end(END);
        control.finish();
        Exit::Fine
    }

    /// What a launcher hears that waits for the pane, once it is decided.
    fn word(&self, control: &Control) -> Option<Word> {
        match &self.now {
            Now::Begins => None,
            Now::Foreign => Some(Word::Foreign),
            Now::Nested | Now::Behind => Some(Word::Deferred),
            Now::Reports(_) if self.intake.holds_lease() == Some(false) => Some(Word::Deferred),
            // A pane without a control socket is still worth a supervisor.
            Now::Reports(_) => {
                control.wait_open(Address::Pane, Duration::ZERO).map(|_| Word::Ready)
            }
        }
    }

    /// Looks at how things stand, and does what follows.
    fn look(&mut self, standing: Standing) {
        match &self.now {
            Now::Begins if self.outer_is_there() => {
                self.now = Now::Nested;
                self.intake.hand_to_nobody(DiagnosticKind::Deferred, NESTED);
            }
            Now::Nested if self.outer_is_there() => {}
            Now::Begins | Now::Nested => self.begin(),
            Now::Behind => {
                if standing == Standing::InFront || self.is_quiet() {
                    self.begin();
                }
            }
            Now::Foreign => {}
            Now::Reports(reporter) => {
                suspend(reporter, standing == Standing::Stopped);
                self.let_go_if_asked(standing);
            }
        }
    }

    fn let_go_if_asked(&mut self, standing: Standing) {
        if self.door.was_asked() && standing < Standing::InFront {
            let before = std::mem::replace(&mut self.now, Now::Behind);
            before.end(LET_GO);
            self.intake.hand_to_nobody(DiagnosticKind::Deferred, BEHIND);
        }
    }

    /// Begins to report, unless the process is proven to run elsewhere.
    fn begin(&mut self) {
        if self.is_foreign() {
            self.now = Now::Foreign;
            self.intake.hand_to_nobody(DiagnosticKind::ForeignPane, FOREIGN);
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
        let now = &mut self.now;
        self.intake.hand_to(|activity| {
            let reporter = resume(builder, activity).start();
            let handle = reporter.handle();
            *now = Now::Reports(reporter);
            handle
        });
    }

    /// Whether the process is proven not to run in the pane. While the server is
    /// away nothing is proven.
    fn is_foreign(&self) -> bool {
        let config = &self.loaded.settings.config;
        if config.any_pane {
            return false;
        }
        let proven = identity(&self.pane, config, Some(self.pid), ASK);
        match blocking(proven).flatten() {
            Some(Identity::Foreign) => true,
            Some(Identity::Proven) | None => false,
            Some(_) => config.unverified_pane == UnverifiedPane::Deny,
        }
    }

    /// Whether nobody else has reported for a while: who was let to the pane has
    /// to get there.
    fn is_quiet(&mut self) -> bool {
        if !self.nobody_reports() {
            self.quiet = None;
        } else if self.quiet.get_or_insert_with(Instant::now).elapsed() >= QUIET {
            self.quiet = None;
            return true;
        }
        false
    }

    /// Whether the pane is free and shows no agent.
    fn nobody_reports(&self) -> bool {
        if !matches!(self.lease.try_take(), Ok(Some(_))) {
            return false;
        }
        let shown = blocking(shown(&self.pane, &self.loaded.settings.config, ASK));
        shown.is_some_and(|shown| shown.is_ok_and(|pane| pane.agent.is_none()))
    }

    /// Whether the command that ours runs in still has its supervisor.
    fn outer_is_there(&self) -> bool {
        let Some(outer) = &self.outer else { return false };
        supervised_by(outer).is_some_and(|(_, lives)| lives)
            && (self.started.elapsed() < OUTER
                || std::os::unix::net::UnixStream::connect(outer).is_ok())
    }
}

impl Now {
    fn end(self, budget: Duration) {
        match self {
            Self::Reports(reporter) => drop(reporter.close(budget)),
            Self::Begins | Self::Nested | Self::Behind | Self::Foreign => {}
        }
    }
}

/// Says the one word that a launcher waits for, and lets go of the pipe. A
/// launcher that has gone is fine.
pub(super) fn say(word: Word) {
    let _ = io::stdout().write_all(&word.line()).and_then(|()| io::stdout().flush());
    let_go_of_stdout();
}

/// The socket that `exec` has begun to listen at for us: our standard output.
pub(super) fn handed_over(own: &Path) -> Option<UnixListener> {
    let listener = UnixListener::from(fcntl_dupfd_cloexec(stdout(), 3).ok()?);
    let at = listener.local_addr().ok()?;
    let ours = (at.as_pathname() == Some(own)).then_some(listener)?;
    // Who asks whom it speaks to is told who has called this last.
    let _ = rustix::net::listen(&ours, BACKLOG);
    Some(ours)
}

pub(super) fn let_go_of_stdout() {
    let null = File::options().write(true).open("/dev/null");
    let _ = null.map(|null| dup2_stdout(&null));
}

fn let_go_of_stdin() -> io::Result<()> {
    Ok(dup2_stdin(File::open("/dev/null")?)?)
}
