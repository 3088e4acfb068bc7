//! Where there are no Unix sockets nothing is reported: `run` reads its input to
//! the end, `exec` runs its command, and the other commands say so.

use std::ffi::OsString;
use std::io;
use std::process::Command;

use clap::Parser;

use crate::exit::Exit;
use crate::output::say;
use crate::place::PaneFlags;
use crate::settings::flags::SettingFlags;

/// The flags of `exec`, to know where its command begins.
#[derive(Debug, Parser)]
struct Exec {
    #[command(flatten)]
    pane: PaneFlags,
    #[arg(long)]
    state: Option<String>,
    #[arg(long)]
    scrub: bool,
    #[command(flatten)]
    settings: SettingFlags,
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

pub(crate) fn run() -> Exit {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (name, words) = words
        .split_first()
        .map_or(("", &[][..]), |(name, words)| (name.to_str().unwrap_or_default(), words));
    match name {
        "run" => {
            // An input that breaks off has ended.
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        }
        "exec" => return exec(words),
        "--version" | "-V" => say(env!("CARGO_PKG_VERSION")),
        _ => say("panes are reached on Linux and macOS only"),
    }
    let strict = words.iter().any(|word| word == "--strict" || word == "--confirm");
    if strict { Exit::Unreachable } else { Exit::Fine }
}

fn exec(words: &[OsString]) -> Exit {
    let name = OsString::from("exec");
    let Exec { command, .. } = match Exec::try_parse_from(std::iter::once(&name).chain(words)) {
        Ok(exec) => exec,
        Err(error) => {
            say(&error.to_string());
            return Exit::Usage;
        }
    };
    let Some((program, arguments)) = command.split_first() else { return Exit::Usage };
    match Command::new(program).args(arguments).status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => {
            say(&format!("{}: {error}", program.to_string_lossy()));
            match error.kind() {
                io::ErrorKind::NotFound => Exit::NotFound,
                _ => Exit::NotExecutable,
            }
        }
    }
}
