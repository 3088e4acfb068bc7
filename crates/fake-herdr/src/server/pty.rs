//! The real programs behind the panes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use super::process;
use super::shared::{Shared, State, environment};
use super::terminal::Terminal;

/// The programs behind the panes, by the key of the pane.
#[derive(Debug)]
pub(super) struct Terminals {
    command: Vec<OsString>,
    socket: PathBuf,
    server: Weak<Shared>,
    live: BTreeMap<u64, Terminal>,
    /// The threads of programs that are ending.
    ending: Vec<JoinHandle<()>>,
}

/// Runs a command behind every present and future pane.
pub(super) fn run_everywhere(shared: &Arc<Shared>, command: Vec<OsString>) -> io::Result<()> {
    if command.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the program has no name"));
    }
    let mut state = shared.lock();
    state.terminals = Some(Terminals {
        command,
        socket: shared.path().to_owned(),
        server: Arc::downgrade(shared),
        live: BTreeMap::new(),
        ending: Vec::new(),
    });
    start_missing(&mut state)
}

/// Updates the programs after a change of the model: starts those of new panes, ends
/// those of closed panes and passes typed bytes on.
pub(super) fn update_programs(state: &mut State) {
    let Some(terminals) = &mut state.terminals else {
        return;
    };
    let entries = state.model.pane_entries();
    let attached = |key: u64| entries.iter().any(|(pane, .., attached)| *pane == key && *attached);
    let gone: Vec<u64> = terminals.live.keys().copied().filter(|key| !attached(*key)).collect();
    for key in gone {
        if let Some(terminal) = terminals.live.remove(&key) {
            terminals.ending.push(terminal.end());
        }
    }
    terminals.ending.retain(|thread| !thread.is_finished());
    for (key, pane, ..) in &entries {
        if let Some(terminal) = terminals.live.get(key) {
            let typed = state.model.take_typed(pane);
            if !typed.is_empty() {
                terminal.type_bytes(&typed);
            }
        }
    }
    // A program that cannot be started leaves its pane without a shell.
    let _ = start_missing(state);
}

/// Updates the model before a request, with the screens and processes of the terminals.
pub(super) fn update_model(state: &mut State) {
    let Some(terminals) = &state.terminals else {
        return;
    };
    let foreground: BTreeMap<u64, i32> = terminals
        .live
        .iter()
        .filter_map(|(key, terminal)| Some((*key, terminal.foreground()?)))
        .collect();
    let mut running = process::of_groups(&foreground.values().copied().collect::<Vec<_>>());
    for (key, pane, ..) in state.model.pane_entries() {
        let Some(terminal) = terminals.live.get(&key) else {
            continue;
        };
        let (rows, brackets, alternate) = terminal.shown();
        state.model.set_rows(&pane, rows, alternate);
        state.model.set_bracketed_paste(&pane, brackets);
        let group = foreground.get(&key).and_then(|group| running.remove(group));
        state.model.set_processes(&pane, Some(terminal.pid()), group.unwrap_or_default());
    }
}

/// Ends all programs and their threads.
pub(super) fn end(shared: &Shared) {
    let terminals = shared.lock().terminals.take();
    let Some(terminals) = terminals else {
        return;
    };
    let ending = terminals.live.into_values().map(Terminal::end);
    for thread in ending.chain(terminals.ending).collect::<Vec<_>>() {
        let _ = thread.join();
    }
}

fn start_missing(state: &mut State) -> io::Result<()> {
    let Some(terminals) = &mut state.terminals else {
        return Ok(());
    };
    for (key, pane, folder, attached) in state.model.pane_entries() {
        if attached {
            continue;
        }
        state.model.attach_terminal(&pane);
        let variables = environment(&state.model, &terminals.socket, &pane).unwrap_or_default();
        let server = terminals.server.clone();
        let ended = move || {
            if let Some(server) = server.upgrade() {
                exit(&server, key);
            }
        };
        let name = format!("fake-pane-{key}");
        let terminal = Terminal::start(&terminals.command, &folder, variables, name, ended)?;
        terminals.live.insert(key, terminal);
    }
    Ok(())
}

/// Removes a pane whose program has ended.
fn exit(server: &Shared, key: u64) {
    server.with(|state, now| {
        let pane = state.model.pane_entries().into_iter().find(|pane| pane.0 == key);
        pane.map(|(_, pane, ..)| state.model.exit_pane(now, &pane))
    });
}
