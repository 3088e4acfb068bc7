//! The `pane.*` methods that list, split, read and type.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::Model;
use super::call::{
    PaneRead, PaneRename, PaneSplit, ReadFormat, ReadOptions, ReadSource, SendInput, SendKeys,
    SendText, WorkspaceFilter,
};
use super::dispatch::{Outcome, ok, without_unset};
use super::failure::Failure;
use super::geometry::Direction;
use super::keys;
#[cfg(feature = "pty")]
use super::screen::Row;
use super::screen::Typed;
use super::topology::Pane;
use super::workspaces::check_env;

/// Lines that the two `recent` sources return by default (protocol 2.2).
const RECENT_LINES: usize = 80;

/// The most lines that a read returns (protocol 2.2).
const MOST_LINES: usize = 1000;

/// A process in the foreground of a pane, as `pane.process_info` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PaneProcess {
    /// The process id.
    pub pid: u32,
    /// The name of the program.
    pub name: String,
    /// The arguments, starting with the program; empty if they are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The arguments as one text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cmdline: Option<String>,
    /// The folder that the process runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

impl PaneProcess {
    /// A process of which only the id and the name are known.
    pub fn new(pid: u32, name: impl Into<String>) -> Self {
        Self { pid, name: name.into(), argv: Vec::new(), cmdline: None, cwd: None }
    }
}

impl Model {
    /// Splits a pane to the right without moving the focus, and returns the new
    /// pane's id.
    pub fn split_pane(&mut self, now: Duration, pane: &str) -> Option<String> {
        self.pass(now);
        let beside = self.find_pane(pane).ok()?;
        let pane = self.split(beside, None, Direction::Right, 0.5, false);
        self.pane_id(pane)
    }

    pub(super) fn pane_get(&self, id: &str) -> Outcome {
        let pane = self.find_pane(id)?;
        Ok(json!({ "type": "pane_info", "pane": self.pane_view(pane) }))
    }

    pub(super) fn pane_current(&self, caller: Option<&str>) -> Outcome {
        let pane = self.find_or_focused(caller)?;
        Ok(json!({ "type": "pane_current", "pane": self.pane_view(pane) }))
    }

    pub(super) fn pane_list(&self, list: &WorkspaceFilter) -> Outcome {
        let panes = match list.workspace_id.as_deref() {
            Some(id) => self.panes_of(self.find_workspace(id)?),
            None => self.all_panes(),
        };
        let panes: Vec<_> = panes.into_iter().filter_map(|pane| self.pane_view(pane)).collect();
        Ok(json!({ "type": "pane_list", "panes": panes }))
    }

    pub(super) fn pane_focus(&mut self, id: &str) -> Outcome {
        self.focus_pane(self.find_pane(id)?);
        self.pane_get(id)
    }

    pub(super) fn pane_rename(&mut self, rename: &PaneRename) -> Outcome {
        let pane = self.find_pane(&rename.pane_id)?;
        let label = rename.label.as_deref().map(str::trim).filter(|label| !label.is_empty());
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.label = label.map(str::to_owned);
        }
        self.pane_get(&rename.pane_id)
    }

    pub(super) fn pane_split(&mut self, params: PaneSplit) -> Outcome {
        let beside = match (params.target_pane_id, params.workspace_id) {
            (None, Some(id)) => {
                self.find_workspace(&id).ok().and_then(|workspace| self.focused_in(workspace))
            }
            (target, _) => self.find_or_focused(target.as_deref()).ok(),
        };
        let beside = beside.ok_or_else(|| Failure::pane_not_found("to split"))?;
        check_env(&params.env)?;
        let ratio = params.ratio.unwrap_or(0.5);
        let pane = self.split(beside, params.cwd, params.direction, ratio, params.focus);
        Ok(json!({ "type": "pane_info", "pane": self.pane_view(pane) }))
    }

    fn split(
        &mut self,
        beside: u64,
        cwd: Option<String>,
        direction: Direction,
        ratio: f32,
        focus: bool,
    ) -> u64 {
        let inherited = self.panes.get(&beside).map(|pane| pane.cwd.clone());
        let pane = self.new_pane(cwd.or(inherited));
        if let Some(place) = self.place_of(beside) {
            self.number_pane(place.workspace, pane);
            self.add_beside(beside, pane, direction, ratio, focus);
            self.emit("pane_created", json!({ "pane": self.pane_view(pane) }));
            self.emit_layout(place);
        }
        pane
    }

    pub(super) fn pane_read(&self, params: &PaneRead) -> Outcome {
        let read = self.read_view(self.find_pane(&params.pane_id)?, &params.options);
        Ok(json!({ "type": "pane_read", "read": read }))
    }

    /// The last lines of a pane's screen, as `pane.read` returns them.
    pub(super) fn read_view(&self, pane: u64, options: &ReadOptions) -> Option<Value> {
        let most = match options.source {
            ReadSource::Visible | ReadSource::Detection => usize::from(self.area().height),
            ReadSource::Recent | ReadSource::RecentUnwrapped => RECENT_LINES,
        };
        let asked = options.lines.map(|lines| usize::try_from(lines).unwrap_or(MOST_LINES));
        // The `detection` source is always plain text.
        let ansi = options.format == ReadFormat::Ansi && options.source != ReadSource::Detection;
        let join = options.source == ReadSource::RecentUnwrapped;
        let most = asked.unwrap_or(most).min(MOST_LINES);
        let (text, truncated) = self.panes.get(&pane)?.screen.read(most, ansi, join);
        let place = self.place_of(pane)?;
        Some(json!({
            "pane_id": self.pane_id(pane),
            "workspace_id": self.workspace_id(place.workspace),
            "tab_id": self.tab_id(place),
            "source": options.source,
            "format": options.format,
            "text": text,
            "revision": 0,
            "truncated": truncated,
        }))
    }

    pub(super) fn send_text(&mut self, params: &SendText) -> Outcome {
        let pane = self.find_pane(&params.pane_id)?;
        self.type_into(pane, params.text.as_bytes());
        ok()
    }

    pub(super) fn send_keys(&mut self, params: &SendKeys) -> Outcome {
        let pane = self.find_pane(&params.pane_id)?;
        let bytes = encode_keys(&params.keys)?;
        self.type_into(pane, &bytes);
        ok()
    }

    pub(super) fn send_input(&mut self, params: &SendInput) -> Outcome {
        let pane = self.find_pane(&params.pane_id)?;
        let keys = encode_keys(&params.keys)?;
        let bytes = [self.pasted(pane, &params.text), keys].concat();
        self.type_into(pane, &bytes);
        ok()
    }

    /// A text as a paste, bracketed if the program has asked for it. The text is not
    /// changed, even if it contains the sequence that ends a paste.
    pub(super) fn pasted(&self, pane: u64, text: &str) -> Vec<u8> {
        let brackets = self.panes.get(&pane).is_some_and(|pane| pane.screen.brackets_pastes);
        if brackets && !text.is_empty() {
            return format!("\x1b[200~{text}\x1b[201~").into_bytes();
        }
        text.as_bytes().to_vec()
    }

    pub(super) fn process_info(&self, id: Option<&str>) -> Outcome {
        let pane = self.find_or_focused(id)?;
        let foreground = self.panes.get(&pane).map(|pane| &pane.foreground);
        let shell = foreground.and_then(|foreground| foreground.shell_pid);
        let processes = foreground.map(|foreground| foreground.processes.as_slice());
        let leader = processes.and_then(|processes| processes.first()).map(|process| process.pid);
        Ok(json!({ "type": "pane_process_info", "process_info": without_unset(json!({
            "pane_id": self.pane_id(pane),
            "shell_pid": shell,
            "foreground_process_group_id": leader.or(shell),
            "foreground_processes": processes,
        })) }))
    }

    /// Types into a pane. The pane closes if this ends its shell.
    pub(super) fn type_into(&mut self, pane: u64, bytes: &[u8]) {
        let typed = self.panes.get_mut(&pane).map(|pane| {
            if pane.attached {
                pane.typed.extend_from_slice(bytes);
                Typed::Echoed
            } else {
                pane.screen.type_bytes(bytes)
            }
        });
        if typed == Some(Typed::Exit) {
            self.exit(pane);
        }
    }

    /// A pane as `pane.get` returns it.
    pub(super) fn pane_view(&self, pane: u64) -> Option<Value> {
        let place = self.place_of(pane)?;
        let entry = self.panes.get(&pane)?;
        let mut view = json!(self.seen(pane)?);
        let place = without_unset(json!({
            "pane_id": self.pane_id(pane),
            "terminal_id": terminal_id(entry.terminal_id),
            "workspace_id": self.workspace_id(place.workspace),
            "tab_id": self.tab_id(place),
            "focused": self.focused_pane() == Some(pane),
            "cwd": entry.cwd,
            "foreground_cwd": entry.cwd,
            "label": entry.label,
            "scroll": {
                "offset_from_bottom": 0,
                "max_offset_from_bottom": 0,
                "viewport_rows": self.area().height,
            },
            "revision": entry.revision,
        }));
        view.as_object_mut()?.extend(place.as_object()?.clone());
        Some(view)
    }
}

/// The bytes of some keys; an error if any of them is not known.
pub(super) fn encode_keys(names: &[String]) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    for name in names {
        let key = keys::encode(name);
        bytes.extend(
            key.ok_or_else(|| Failure::new("invalid_key", format!("there is no key {name}")))?,
        );
    }
    Ok(bytes)
}

fn terminal_id(number: u64) -> String {
    format!("term_{:014x}", 0x0066_1745_83d9_a211_u64.wrapping_add(number.wrapping_mul(0x12b41)))
}

/// What a real terminal behind a pane shows and runs.
impl Model {
    fn pane_mut(&mut self, pane: &str) -> Option<&mut Pane> {
        self.find_pane(pane).ok().and_then(|pane| self.panes.get_mut(&pane))
    }

    /// Shows a text on a pane's screen; `false` if there is no such pane.
    pub fn set_screen(&mut self, pane: &str, text: &str) -> bool {
        self.pane_mut(pane).map(|pane| pane.screen.show(text)).is_some()
    }

    /// Sets what a real terminal shows, and whether its program uses the alternate
    /// screen, which has no history.
    #[cfg(feature = "pty")]
    pub(crate) fn set_rows(&mut self, pane: &str, rows: Vec<Row>, alternate: bool) {
        if let Some(pane) = self.pane_mut(pane) {
            pane.screen.show_rows(rows);
            pane.screen.alternate = alternate;
        }
    }

    /// Sets whether the program in a pane has asked for bracketed pastes (mode 2004);
    /// `false` if there is no such pane.
    pub fn set_bracketed_paste(&mut self, pane: &str, brackets: bool) -> bool {
        self.pane_mut(pane).map(|pane| pane.screen.brackets_pastes = brackets).is_some()
    }

    /// Tells the model that a real terminal is behind a pane: it keeps what is typed
    /// for [`Model::take_typed`] and simulates no shell. `false` if there is no such
    /// pane.
    pub fn attach_terminal(&mut self, pane: &str) -> bool {
        self.pane_mut(pane).map(|pane| pane.attached = true).is_some()
    }

    /// Whether a real terminal is behind a pane.
    pub fn has_terminal(&self, pane: &str) -> bool {
        let pane = self.find_pane(pane).ok().and_then(|pane| self.panes.get(&pane));
        pane.is_some_and(|pane| pane.attached)
    }

    /// Takes the bytes that were typed into a pane with a real terminal.
    pub fn take_typed(&mut self, pane: &str) -> Vec<u8> {
        self.pane_mut(pane).map(|pane| std::mem::take(&mut pane.typed)).unwrap_or_default()
    }

    /// Sets the real processes behind a pane, the leader of the foreground first.
    /// `pane.process_info` lists them, and the detector sees a known agent among
    /// them. `false` if there is no such pane.
    pub fn set_processes(
        &mut self,
        pane: &str,
        shell_pid: Option<u32>,
        foreground: Vec<PaneProcess>,
    ) -> bool {
        let now = self.now;
        self.pane_mut(pane)
            .map(|pane| {
                if pane.foreground.set_processes(shell_pid, foreground) {
                    pane.detector.notice(now);
                }
            })
            .is_some()
    }
}
