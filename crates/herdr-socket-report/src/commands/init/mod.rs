//! `init`: adds to an agent's settings, or to Herdr's, what is needed to show everything.

mod file;
mod hooks;
mod removal;
mod rows;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use super::agents::{AGENTS, Agent, Setup, names};
use super::sidebar;
use crate::exit::Exit;
use crate::output::{print, say};
use crate::text::{alternatives, shown};
use crate::words::{agents, lossy};
use file::SettingsFile;
use hooks::Hooks;

/// Set an agent up, or Herdr's sidebar
///
/// Without AGENT it says which agents there are and what each would get. With
/// one it says what it would add to that agent's settings, and does it with
/// --write: a copy of the file is kept, nothing else in it is touched, and
/// --remove takes it back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// claude, codex, gemini, cursor, copilot, qwen, opencode or pi; herdr for
    /// the rows of Herdr's sidebar
    #[arg(
        value_name = "AGENT",
        value_parser = lossy(),
        add = agents(names(|_| true).chain(["herdr"]))
    )]
    target: Option<String>,
    /// Add it
    #[arg(long, requires = "target")]
    write: bool,
    /// Take it back
    #[arg(long, requires = "target", conflicts_with = "write")]
    remove: bool,
}

/// Whose settings are changed.
enum Target {
    Agent(Hooks),
    Herdr,
}

pub(crate) fn run(args: &Args) -> Exit {
    let done = match &args.target {
        None => Ok(overview()),
        Some(name) => target(name).and_then(|target| {
            let file = SettingsFile::at(target.file()?)?;
            let work = if args.write {
                write(&target, &file)
            } else if args.remove {
                remove(&target, &file)
            } else {
                preview(&target, &file)
            };
            work.map_err(|wrong| named(&file, wrong))
        }),
    };
    match done {
        Ok(text) => print(text.as_bytes(), io::stdout().lock()),
        Err(wrong) => {
            say(&wrong);
            Exit::Usage
        }
    }
}

fn target(name: &str) -> Result<Target, String> {
    if name == "herdr" {
        return Ok(Target::Herdr);
    }
    let hooks = |agent| Target::Agent(Hooks { agent, program: program() });
    Agent::named(name).map(hooks).ok_or_else(|| {
        let known: Vec<_> = names(|_| true).chain(["herdr"]).collect();
        format!("{} is not known; expected {}", shown(name), alternatives(&known))
    })
}

/// An error about a file's text, with the path.
fn named(file: &SettingsFile, wrong: String) -> String {
    let path = file.path().display().to_string();
    if wrong.starts_with(&path) { wrong } else { format!("{path}: {wrong}; nothing is changed") }
}

impl Target {
    fn file(&self) -> Result<PathBuf, String> {
        let lookup = |name: &str| std::env::var_os(name);
        let file = match self {
            Self::Agent(hooks) => hooks.agent.place(lookup).map(|(_, file)| file),
            Self::Herdr => sidebar::herdrs_file(lookup),
        };
        file.ok_or_else(|| "HOME is not set, so nobody knows where the settings are".to_owned())
    }

    /// What else the user has to do, as a line.
    fn note(&self) -> String {
        match self {
            Self::Agent(hooks) if !hooks.agent.note.is_empty() => format!("{}\n", hooks.agent.note),
            Self::Agent(_) => String::new(),
            Self::Herdr => "`herdr server reload-config` makes Herdr read it\n".to_owned(),
        }
    }

    fn add(&self, text: &str) -> Result<String, String> {
        match self {
            Self::Herdr => rows::add(text),
            Self::Agent(hooks) => match hooks.agent.setup {
                Setup::Plugin(content) if text.is_empty() || is_plugin(text) => {
                    Ok(hooks.plugin(content))
                }
                Setup::Plugin(_) => Err("this file is not one that init wrote".to_owned()),
                _ => hooks.add(text),
            },
        }
    }

    fn take_out(&self, text: &str) -> Result<String, String> {
        match self {
            Self::Herdr => rows::remove(text),
            Self::Agent(hooks) => match hooks.agent.setup {
                Setup::Plugin(_) if is_plugin(text) => Ok(String::new()),
                Setup::Plugin(_) => Err("this file is not one that init wrote".to_owned()),
                _ => removal::remove(hooks, text),
            },
        }
    }
}

/// Whether a plugin's file was written by `init`.
fn is_plugin(text: &str) -> bool {
    text.starts_with("// Written by `herdr-socket-report init`")
}

/// How other programs find this one: by its name if `PATH` leads to it, otherwise by its path.
fn program() -> String {
    let name = "herdr-socket-report";
    let Ok(this) = std::env::current_exe() else { return name.to_owned() };
    let real = |path: &Path| path.canonicalize().ok();
    if in_path(name).is_some_and(|found| real(&found) == real(&this)) {
        return name.to_owned();
    }
    this.display().to_string()
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn write(target: &Target, file: &SettingsFile) -> Result<String, String> {
    let before = file.read()?;
    let text = before.as_deref().unwrap_or_default();
    let after = target.add(text)?;
    let path = file.path().display();
    if before.is_some() && after == text {
        return Ok(format!("{path} has it already\n"));
    }
    let mut done = String::new();
    // A copy of a file that `init` itself wrote would be useless.
    if before.is_some() && target.take_out(text)? == text {
        let copy = file.copy();
        copy.write(text)?;
        let _ = writeln!(done, "kept a copy at {}", copy.path().display());
    }
    file.write(&after)?;
    let _ = writeln!(done, "wrote {path}");
    done.push_str(&target.note());
    Ok(done)
}

fn remove(target: &Target, file: &SettingsFile) -> Result<String, String> {
    let path = file.path().display();
    let nothing = format!("{path} has nothing of ours\n");
    let note = if matches!(target, Target::Herdr) { target.note() } else { String::new() };
    let Some(now) = file.read()? else { return Ok(nothing) };
    let copy = file.copy();
    if let Some(before) = copy.read()?
        && target.add(&before).as_ref() == Ok(&now)
    {
        file.write(&before)?;
        copy.delete()?;
        return Ok(format!("{path} is as it was\n{note}"));
    }
    let after = target.take_out(&now)?;
    if after == now {
        return Ok(nothing);
    }
    if after.is_empty() || target.add("").as_ref() == Ok(&now) {
        file.delete()?;
        return Ok(format!("removed {path}\n{note}"));
    }
    file.write(&after)?;
    Ok(format!("took it out of {path}\n{note}"))
}

fn preview(target: &Target, file: &SettingsFile) -> Result<String, String> {
    let before = file.read()?.unwrap_or_default();
    let after = target.add(&before)?;
    let path = file.path().display();
    if after == before {
        return Ok(format!("{path} has it already\n"));
    }
    let mut text = format!("{path} would get\n");
    match target {
        Target::Agent(hooks) => match hooks.agent.setup {
            Setup::Plugin(_) => text.push_str(&after),
            _ => text.push_str(&hooks.summary()),
        },
        Target::Herdr => text.push_str(&sidebar::settings()),
    }
    text.push_str(&target.note());
    text.push_str("Add --write to do it.\n");
    Ok(text)
}

/// Lists the agents and what each would show.
fn overview() -> String {
    let mut text = String::new();
    let (found, missing): (Vec<_>, Vec<_>) = AGENTS.iter().partition(|agent| is_there(agent));
    for agent in found {
        let Agent { name, title, shows, .. } = agent;
        let target = Target::Agent(Hooks { agent, program: program() });
        let _ = writeln!(text, "{title}: {shows}");
        let _ = writeln!(text, "  {}", standing(name, &target));
    }
    let _ = writeln!(text, "Herdr's sidebar: rows for all of it");
    let _ = writeln!(text, "  {}", standing("herdr", &Target::Herdr));
    if !missing.is_empty() {
        let names: Vec<_> = missing.iter().map(|agent| agent.title).collect();
        let _ = writeln!(text, "Not found: {}", names.join(", "));
    }
    text
}

fn is_there(agent: &Agent) -> bool {
    let folder = agent.place(|name| std::env::var_os(name)).map(|(folder, _)| folder);
    folder.is_some_and(|folder| folder.is_dir()) || in_path(agent.program).is_some()
}

/// Whether the hooks are set up, or how to set them up.
fn standing(name: &str, target: &Target) -> String {
    let state = || {
        let file = SettingsFile::at(target.file()?)?;
        let text = file.read()?;
        let after = target.add(text.as_deref().unwrap_or_default());
        after.map(|after| text == Some(after)).map_err(|wrong| named(&file, wrong))
    };
    match state() {
        Ok(true) => "set up".to_owned(),
        Ok(false) => format!("not set up: herdr-socket-report init {name} --write"),
        Err(wrong) => wrong,
    }
}
