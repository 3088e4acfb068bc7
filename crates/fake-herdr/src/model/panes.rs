//! The `pane.*` methods that read, make and type.

use std::time::Duration;

use super::Model;
use super::failure::Failure;
use super::keys;
use super::layout::Direction;
use super::params::{
    InWorkspace, PaneCurrent, PaneRead, PaneRename, PaneSplit, PaneTarget, ProcessInfo, ReadFormat,
    ReadHow, ReadSource, SendInput, SendKeys, SendText,
};
use super::screen::Typed;
use super::view::{Outcome, PaneInfo, ProcessView, ReadView};

/// Lines of the two `recent` sources if the request names no number, and the
/// most that any read gives (protocol 2.2).
const RECENT_LINES: usize = 80;
const MOST_LINES: usize = 1000;

impl Model {
    /// Splits a pane to the right without moving the focus; the new pane's id.
    pub fn split_pane(&mut self, now: Duration, pane: &str) -> Option<String> {
        self.advance(now);
        let beside = self.find_pane(pane).ok()?;
        let pane = self.split(beside, None, Direction::Right, 0.5, false);
        self.pane_id(pane)
    }

    pub(super) fn pane_get(&self, params: &PaneTarget) -> Result<Outcome, Failure> {
        self.info_of(&params.pane_id).map(|pane| Outcome::PaneInfo { pane })
    }

    pub(super) fn pane_current(&self, params: &PaneCurrent) -> Result<Outcome, Failure> {
        let pane = self.find_or_focused(params.caller_pane_id.as_deref())?;
        self.info(pane).map(|pane| Outcome::PaneCurrent { pane })
    }

    pub(super) fn pane_list(&self, params: &InWorkspace) -> Result<Outcome, Failure> {
        let only = params
            .workspace_id
            .as_deref()
            .map(|id| self.find_workspace(id).ok_or_else(|| Failure::workspace_not_found(id)))
            .transpose()?;
        let panes = (0..self.workspaces.len())
            .filter(|workspace| only.is_none_or(|only| only == *workspace))
            .flat_map(|workspace| self.panes_of(workspace))
            .filter_map(|pane| self.pane_info(pane, self.now))
            .collect();
        Ok(Outcome::PaneList { panes })
    }

    pub(super) fn pane_focus(&mut self, params: &PaneTarget) -> Result<Outcome, Failure> {
        let pane = self.find_pane(&params.pane_id)?;
        if let Some(place) = self.place_of(pane) {
            self.workspaces[place.workspace].tabs[place.tab].focused = pane;
            self.focus_tab(place);
        }
        self.info(pane).map(|pane| Outcome::PaneInfo { pane })
    }

    pub(super) fn pane_rename(&mut self, params: &PaneRename) -> Result<Outcome, Failure> {
        let pane = self.find_pane(&params.pane_id)?;
        let label = params.label.as_deref().map(str::trim).filter(|label| !label.is_empty());
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.label = label.map(str::to_owned);
        }
        self.info(pane).map(|pane| Outcome::PaneInfo { pane })
    }

    pub(super) fn pane_split(&mut self, params: PaneSplit) -> Result<Outcome, Failure> {
        let beside = self.find_or_focused(params.target_pane_id.as_deref())?;
        let ratio = params.ratio.unwrap_or(0.5);
        let pane = self.split(beside, params.cwd, params.direction, ratio, params.focus);
        self.info(pane).map(|pane| Outcome::PaneInfo { pane })
    }

    pub(super) fn pane_read(&self, params: &PaneRead) -> Result<Outcome, Failure> {
        let pane = self.find_pane(&params.pane_id)?;
        self.read(pane, &params.how)
            .map(|read| Outcome::PaneRead { read })
            .ok_or_else(|| Failure::pane_not_found(&params.pane_id))
    }

    pub(super) fn read(&self, pane: u64, how: &ReadHow) -> Option<ReadView> {
        let info = self.pane_info(pane, self.now)?;
        let asked = how.lines.map(|lines| usize::try_from(lines).unwrap_or(MOST_LINES));
        let (source, most) = match how.source {
            ReadSource::Visible => ("visible", MOST_LINES),
            ReadSource::Recent => ("recent", RECENT_LINES),
            ReadSource::RecentUnwrapped => ("recent_unwrapped", RECENT_LINES),
            ReadSource::Detection => ("detection", MOST_LINES),
        };
        let most = asked.unwrap_or(most).min(MOST_LINES);
        let (text, truncated) = self.panes.get(&pane)?.screen.read(most);
        Some(ReadView {
            pane_id: info.pane_id,
            workspace_id: info.workspace_id,
            tab_id: info.tab_id,
            source,
            format: match how.format {
                ReadFormat::Text => "text",
                ReadFormat::Ansi => "ansi",
            },
            text,
            revision: 0,
            truncated,
        })
    }

    /// The read that an output subscription looks through.
    pub(super) fn read_recent(&self, pane_id: &str) -> Option<ReadView> {
        let how =
            ReadHow { source: ReadSource::RecentUnwrapped, lines: None, format: ReadFormat::Text };
        self.read(self.find_pane(pane_id).ok()?, &how)
    }

    pub(super) fn send_text(&mut self, params: &SendText) -> Result<Outcome, Failure> {
        let pane = self.find_pane(&params.pane_id)?;
        if self.profile.tuios {
            // Pasted there, so without what a terminal would act on.
            let text: String = params.text.chars().filter(|c| !c.is_control()).collect();
            self.type_into(pane, text.as_bytes());
        } else {
            self.type_into(pane, params.text.as_bytes());
        }
        Ok(Outcome::Ok)
    }

    pub(super) fn send_keys(&mut self, params: &SendKeys) -> Result<Outcome, Failure> {
        let pane = self.find_pane(&params.pane_id)?;
        let bytes = encode_keys(&params.keys)?;
        self.type_into(pane, &bytes);
        Ok(Outcome::Ok)
    }

    pub(super) fn send_input(&mut self, params: &SendInput) -> Result<Outcome, Failure> {
        let pane = self.find_pane(&params.pane_id)?;
        let keys = encode_keys(&params.keys)?;
        self.type_into(pane, &[params.text.as_bytes(), &keys].concat());
        Ok(Outcome::Ok)
    }

    pub(super) fn process_info(&self, params: &ProcessInfo) -> Result<Outcome, Failure> {
        let pane = self.find_or_focused(params.pane_id.as_deref())?;
        let (Some(entry), Some(pane_id)) = (self.panes.get(&pane), self.pane_id(pane)) else {
            return Err(Failure::pane_not_found("with the focus"));
        };
        Ok(Outcome::PaneProcessInfo {
            process_info: ProcessView {
                pane_id,
                shell_pid: entry.shell_pid,
                foreground_process_group_id: entry
                    .foreground
                    .first()
                    .map(|process| process.pid)
                    .or(entry.shell_pid),
                foreground_processes: entry.foreground.clone(),
            },
        })
    }

    /// Types into a pane; a shell that is told to exit takes the pane along.
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

    fn split(
        &mut self,
        beside: u64,
        cwd: Option<String>,
        direction: Direction,
        ratio: f64,
        focus: bool,
    ) -> u64 {
        let inherited = self.panes.get(&beside).map(|pane| pane.cwd.clone());
        let pane = self.new_pane(cwd.or(inherited).unwrap_or_else(|| "/".to_owned()));
        if let Some(place) = self.place_of(beside) {
            self.number_pane(place.workspace, pane);
        }
        self.add_beside(beside, pane, direction, ratio, focus);
        self.emit_pane(pane, "pane_created");
        self.emit_layout_of(pane);
        pane
    }

    fn info_of(&self, id: &str) -> Result<PaneInfo, Failure> {
        let pane = self.find_pane(id)?;
        self.pane_info(pane, self.now).ok_or_else(|| Failure::pane_not_found(id))
    }

    pub(super) fn info(&self, pane: u64) -> Result<PaneInfo, Failure> {
        self.pane_info(pane, self.now).ok_or_else(|| Failure::pane_not_found("of that number"))
    }

    fn find_or_focused(&self, id: Option<&str>) -> Result<u64, Failure> {
        match id {
            Some(id) => self.find_pane(id),
            None => self.focused_pane().ok_or_else(|| Failure::pane_not_found("with the focus")),
        }
    }
}

/// Every key is checked before any byte is written.
fn encode_keys(names: &[String]) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    for name in names {
        let key = keys::encode(name);
        bytes.extend(
            key.ok_or_else(|| Failure::new("invalid_key", format!("there is no key {name}")))?,
        );
    }
    Ok(bytes)
}
