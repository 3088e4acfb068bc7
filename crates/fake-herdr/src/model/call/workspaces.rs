//! The parameters of the `workspace.*` and `tab.*` methods.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct WorkspaceFilter {
    pub(crate) workspace_id: Option<String>,
}

/// The parameters that `workspace.create` and `tab.create` share.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Create {
    pub(crate) cwd: Option<String>,
    pub(crate) label: Option<String>,
    #[serde(default)]
    pub(crate) focus: bool,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TabCreate {
    pub(crate) workspace_id: Option<String>,
    #[serde(flatten)]
    pub(crate) create: Create,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WorkspaceTarget {
    pub(crate) workspace_id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WorkspaceRename {
    pub(crate) workspace_id: String,
    pub(crate) label: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TabTarget {
    pub(crate) tab_id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TabRename {
    pub(crate) tab_id: String,
    pub(crate) label: String,
}
