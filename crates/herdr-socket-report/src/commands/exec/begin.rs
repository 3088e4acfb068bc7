//! Starting the supervisor and becoming the command.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use herdr_reporter::Role;
use herdr_reporter::sidecar::LeaseFile;
use rustix::process::getpid;

use super::Args;
use super::init::{is_first_process, stay};
use crate::commands::{flags_before, settings_that_fit};
use crate::control::HERDR_REPORT_SOCKET;
use crate::exit::Exit;
use crate::output::say;
use crate::place::Place;
use crate::program_status::Terminal;
use crate::supervisor::{Launch, Watched, Word, launch};
use crate::text::shown;
use crate::words::agent_of;

/// How long CMD waits for its supervisor. It runs with or without one.
const PATIENCE: Duration = Duration::from_millis(200);

/// Becomes the command; comes back only if it cannot.
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
    let lease = match args.pane.find(|name| std::env::var_os(name)) {
        Ok(Place::Pane(pane)) if config.enabled && config.role == Role::Interactive => {
            if loaded.named {
                loaded.warnings.iter().for_each(|warning| say(warning));
            }
            Some(LeaseFile::of_pane(config, &pane))
        }
        Ok(Place::Broken(why)) if config.enabled => {
            say(&format!("misconfigured: {why}"));
            None
        }
        Ok(place @ Place::Outside(_)) => {
            let terminal = Terminal::of(&loaded.settings, &place, Some(std::process::id()));
            terminal.and_then(|_| Terminal::lease(config))
        }
        Ok(_) => None,
        Err(wrong) => {
            say(&wrong);
            return Exit::Usage;
        }
    };
    if let Some(lease) = lease {
        if is_first_process() {
            say(&format!("as the first process it cannot supervise: {}", stay()));
        }
        let socket = lease.supervisor_socket(std::process::id());
        match supervise_this_process(args.command.len(), program) {
            Ok(Word::Deaf) => say(&format!(
                "what hooks say is not heard: nobody can listen at {}; set XDG_RUNTIME_DIR to a \
                 folder of this user's own",
                shown(&socket.to_string_lossy())
            )),
            Ok(_) => {}
            Err(error) => say(&format!("no supervisor, so nothing is reported: {error}")),
        }
        // Also where nobody listens: what it says must not be taken for another
        // agent's.
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

/// Whether it is not the program that is missing but its interpreter: the
/// kernel says the same of both.
fn is_there(program: &Path) -> bool {
    if program.components().nth(1).is_some() || program.is_absolute() {
        return program.is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    !program.as_os_str().is_empty()
        && std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

fn supervise_this_process(command_words: usize, program: &OsStr) -> Result<Word, String> {
    let watched = Watched::open(getpid().as_raw_nonzero().get())?;
    let watched = watched.ok_or("this process cannot be found")?;
    let flags = flags_before(command_words);
    let command = Some(program.to_owned());
    let launched = launch(Launch { watched: &watched, flags, command, patience: PATIENCE });
    launched.map_err(|error| error.to_string())
}

fn scrub(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let of_herdr = name.as_encoded_bytes().starts_with(b"HERDR_");
        if of_herdr && name != HERDR_REPORT_SOCKET {
            command.env_remove(name);
        }
    }
}
