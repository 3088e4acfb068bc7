//! The parameters of the `pane.*` methods.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::geometry::{Direction, Side};

#[derive(Debug, Deserialize)]
pub(crate) struct PaneTarget {
    pub(crate) pane_id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneOrFocused {
    pub(crate) pane_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneCurrent {
    pub(crate) caller_pane_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneRename {
    pub(crate) pane_id: String,
    pub(crate) label: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneSplit {
    pub(crate) workspace_id: Option<String>,
    pub(crate) target_pane_id: Option<String>,
    pub(crate) direction: Direction,
    pub(crate) ratio: Option<f32>,
    pub(crate) cwd: Option<String>,
    #[serde(default)]
    pub(crate) focus: bool,
    /// There are no clicks here, so only its type matters.
    #[serde(default, rename = "right_click")]
    _right_click: RightClick,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RightClick {
    #[default]
    Herdr,
    Pane,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneMove {
    pub(crate) pane_id: String,
    pub(crate) destination: Destination,
    #[serde(default)]
    pub(crate) focus: bool,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Destination {
    Tab { tab_id: String, target_pane_id: Option<String>, split: Direction, ratio: Option<f32> },
    NewTab { workspace_id: Option<String>, label: Option<String> },
    NewWorkspace { label: Option<String>, tab_label: Option<String> },
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneSwap {
    pub(crate) pane_id: Option<String>,
    pub(crate) direction: Option<Side>,
    pub(crate) source_pane_id: Option<String>,
    pub(crate) target_pane_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneZoom {
    pub(crate) pane_id: Option<String>,
    #[serde(default)]
    pub(crate) mode: ZoomMode,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ZoomMode {
    #[default]
    Toggle,
    On,
    Off,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneResize {
    pub(crate) pane_id: Option<String>,
    pub(crate) direction: Side,
    pub(crate) amount: Option<f32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReadSource {
    Visible,
    Recent,
    RecentUnwrapped,
    Detection,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReadFormat {
    #[default]
    Text,
    Ansi,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneRead {
    pub(crate) pane_id: String,
    #[serde(flatten)]
    pub(crate) options: ReadOptions,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReadOptions {
    pub(crate) source: ReadSource,
    pub(crate) lines: Option<u32>,
    #[serde(default)]
    pub(crate) format: ReadFormat,
    /// A screen here has no colours to strip, so only its type matters.
    #[serde(default, rename = "strip_ansi")]
    _strip_ansi: bool,
}

impl ReadOptions {
    pub(crate) fn new(source: ReadSource) -> Self {
        Self { source, lines: None, format: ReadFormat::Text, _strip_ansi: true }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct SendText {
    pub(crate) pane_id: String,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SendKeys {
    pub(crate) pane_id: String,
    pub(crate) keys: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SendInput {
    pub(crate) pane_id: String,
    #[serde(default)]
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) keys: Vec<String>,
}
