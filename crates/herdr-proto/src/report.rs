use serde::{Deserialize, Serialize};

use crate::ids::{PaneId, Seq, SourceId};
use crate::label::AgentLabel;
use crate::resume::ResumeArgv;
use crate::session::{SessionId, SessionPath, StartSource};
use crate::state::ReportState;
use crate::text::PresentationText;

/// `pane.report_agent`: claims the pane and reports the agent's state. Among custom sources the
/// last one to report holds the pane. There are twelve conditions under which the server
/// ignores the report and answers `ok` (protocol §5.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReportAgent {
    /// The pane.
    pub pane_id: PaneId,
    /// The source.
    pub source: SourceId,
    /// The agent's label.
    pub agent: AgentLabel,
    /// Its state.
    pub state: ReportState,
    /// The reason. On 0.8.2 it is not stored or shown (failure B50).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<PresentationText>,
    /// Must be above every number used before for this pane and source. After a report with a
    /// number, one without a number counts as stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// The agent's session. Dropped for a custom source on 0.8.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<SessionId>,
    /// The agent's session file. Dropped for a custom source on 0.8.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_path: Option<SessionPath>,
    /// How to restart the agent; only for servers from 0.9.2 on
    /// ([`Pong::takes_resume_argv`](crate::Pong::takes_resume_argv)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_argv: Option<ResumeArgv>,
}

impl ReportAgent {
    /// A report of a state only.
    pub fn new(pane_id: PaneId, source: SourceId, agent: AgentLabel, state: ReportState) -> Self {
        Self {
            pane_id,
            source,
            agent,
            state,
            message: None,
            seq: None,
            agent_session_id: None,
            agent_session_path: None,
            resume_argv: None,
        }
    }
}

/// `pane.report_agent_session`: reports the agent's session. From a custom source it has no
/// effect on 0.8.2. From an official source it may lock the pane for all other sources
/// (protocol §5.3, failure B36).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReportAgentSession {
    /// The pane.
    pub pane_id: PaneId,
    /// The source.
    pub source: SourceId,
    /// The agent's label.
    pub agent: AgentLabel,
    /// As [`ReportAgent::seq`], with the same mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<SessionId>,
    /// The session file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_path: Option<SessionPath>,
    /// Why the session began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_start_source: Option<StartSource>,
    /// As [`ReportAgent::resume_argv`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_argv: Option<ResumeArgv>,
}

impl ReportAgentSession {
    /// A report without a session; set the id, the path or both.
    pub fn new(pane_id: PaneId, source: SourceId, agent: AgentLabel) -> Self {
        Self {
            pane_id,
            source,
            agent,
            seq: None,
            agent_session_id: None,
            agent_session_path: None,
            session_start_source: None,
            resume_argv: None,
        }
    }
}

/// `pane.release_agent`: releases the claim. It takes effect only for the holder: same source,
/// same label, fresh number (protocol §5.4). Title, labels and tokens stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReleaseAgent {
    /// The pane.
    pub pane_id: PaneId,
    /// The source of the claim.
    pub source: SourceId,
    /// The label of the claim.
    pub agent: AgentLabel,
    /// As [`ReportAgent::seq`], with the same mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
}

impl ReleaseAgent {
    /// A release without a number, which takes effect only on a claim without one.
    pub fn new(pane_id: PaneId, source: SourceId, agent: AgentLabel) -> Self {
        Self { pane_id, source, agent, seq: None }
    }
}

/// `pane.clear_agent_authority`: ends a claim whatever its label is. Unlike a release it also
/// deletes a stored session (protocol §5.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClearAgentAuthority {
    /// The pane.
    pub pane_id: PaneId,
    /// The source of the claim. Absent ends the claim of any source, so a client always sets
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceId>,
    /// As [`ReportAgent::seq`], with the same mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
}

impl ClearAgentAuthority {
    /// Ends the claim of one source.
    pub fn new(pane_id: PaneId, source: SourceId) -> Self {
        Self { pane_id, source: Some(source), seq: None }
    }
}
