//! `exec`: starts a supervisor, then becomes the command.

mod init;

use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use herdr_proto::ReportState;
use herdr_reporter::Role;
use herdr_reporter::sidecar::LeaseFile;
use rustix::process::getpid;

use crate::commands::{flags_before, settings_that_fit};
use crate::control::HERDR_REPORT_SOCKET;
use crate::exit::Exit;
use crate::output::say;
use crate::place::{PaneFlags, Place};
use crate::program_status::Terminal;
use crate::settings::flags::SettingFlags;
use crate::supervisor::{Watched, supervise};
use crate::text::shown;
use crate::words::agent_of;
use crate::words::{command, state, states};
use init::{is_first_process, stay};

/// Become CMD, with a supervisor that keeps its pane true
///
/// Process, process group, signals, job control and exit code are CMD's own:
/// nothing stands between it and the terminal. A supervisor beside it owns the
/// pane, takes what CMD's hooks and scripts say (emit, state, title, …), shows a
/// stopped CMD as suspended while nobody else reports, and clears the pane when
/// CMD ends, however it ends. As the first process of a container it stays as
/// CMD's parent. Outside Herdr it only becomes CMD.
///
/// The agent's name is CMD's file name, unless --agent gives another. The state
/// of a CMD that Herdr knows by name, such as claude, is left to Herdr, unless
/// --agent names it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pane: PaneFlags,
    /// Report this state at once: idle, working or blocked. Without it, nothing is claimed until a
    /// hook reports a state
    #[arg(long, value_name = "STATE", value_parser = state, add = states())]
    state: Option<ReportState>,
    /// Hide the pane from CMD's own integrations: remove HERDR_* from its environment, except
    /// `HERDR_REPORT_SOCKET`
    #[arg(long)]
    scrub: bool,
    #[command(flatten)]
    settings: SettingFlags,
    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        value_name = "CMD",
        add = command()
    )]
    command: Vec<OsString>,
}

/// Becomes the command. Returns only if that fails.
pub(crate) fn run(args: Args) -> Exit {
    let Some((program, arguments)) = args.command.split_first() else { return Exit::Usage };
    let (loaded, wrong) = settings_that_fit(args.settings, agent_of(Path::new(program)));
    if let Some(wrong) = wrong {
        say(&wrong);
    }
    let mut command = Command::new(program);
    command.args(arguments);
    if args.scrub {
        scrub(&mut command);
    }
    let config = &loaded.settings.config;
    let place = match args.pane.find() {
        Ok(place) => place,
        Err(wrong) => {
            say(&wrong);
            return Exit::Usage;
        }
    };
    let lease = match &place {
        Place::Pane(pane) if config.enabled && config.role == Role::Interactive => {
            if loaded.named {
                loaded.warnings.iter().for_each(|warning| say(warning));
            }
            Some(LeaseFile::of_pane(config, pane))
        }
        Place::Broken(why) if config.enabled => {
            say(&format!("misconfigured: {why}"));
            None
        }
        Place::Outside(_) => {
            let terminal = Terminal::of(&loaded.settings, &place, Some(std::process::id()));
            terminal.map(|_| Terminal::lease(config))
        }
        _ => None,
    };
    if let Some(lease) = lease {
        if is_first_process() {
            say(&format!("as the first process it cannot supervise: {}", stay()));
        }
        let socket = lease.supervisor_socket(std::process::id());
        match supervise_this_process(&socket, args.command.len(), program) {
            Ok(true) => {}
            Ok(false) => say(&format!(
                "what hooks say is not heard: nobody can listen at {}; set XDG_RUNTIME_DIR to a \
                 folder of this user's own",
                shown(&socket.to_string_lossy())
            )),
            Err(error) => say(&format!("no supervisor, so nothing is reported: {error}")),
        }
        // The address is set even if no supervisor listens, so that the command's reports are
        // not taken for those of another agent.
        command.env(HERDR_REPORT_SOCKET, socket);
    }
    let error = command.exec();
    let name = shown(&program.to_string_lossy());
    if error.kind() == io::ErrorKind::NotFound {
        if is_there(Path::new(program)) {
            say(&format!("{name} cannot be run: the interpreter that it asks for is not there"));
            return Exit::NotExecutable;
        }
        say(&format!("there is no command {name}"));
        return Exit::NotFound;
    }
    say(&format!("{name} cannot be run: {error}"));
    Exit::NotExecutable
}

/// Whether the program exists and its interpreter does not. The kernel reports both alike.
fn is_there(program: &Path) -> bool {
    if program.components().nth(1).is_some() || program.is_absolute() {
        return program.is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    !program.as_os_str().is_empty()
        && std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

fn supervise_this_process(
    socket: &Path,
    command_words: usize,
    program: &OsStr,
) -> Result<bool, String> {
    let watched = Watched::open(getpid().as_raw_nonzero().get())?;
    let watched = watched.ok_or("this process cannot be found")?;
    supervise(&watched, socket, flags_before(command_words), program)
        .map_err(|error| error.to_string())
}

fn scrub(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let of_herdr = name.as_encoded_bytes().starts_with(b"HERDR_");
        if of_herdr && name != HERDR_REPORT_SOCKET {
            command.env_remove(name);
        }
    }
}
