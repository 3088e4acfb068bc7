//! The report methods: checks in the server's order, then the rule (protocol
//! 4.2 and 5). They answer `ok` even when the rule ignores the report.

use std::time::Duration;

use herdr_proto::limits;
use serde_json::{Value, json};

use super::Model;
use super::call::{
    AgentReport, Clear, Release, ReportAgent, ReportMetadata, ReportSession, WorkspaceMetadata,
};
use super::dispatch::{Outcome, ok};
use super::failure::Failure;
use super::ids;
use super::report::StateReport;
use super::session::SessionReport;
use super::sources::{SessionRef, StartSource};
use super::text;

impl Model {
    pub(super) fn report_agent(&mut self, params: ReportAgent) -> Outcome {
        let (pane, label, session) = self.check_report(&params.report)?;
        let AgentReport { source, seq, .. } = params.report;
        let report = StateReport { source, label, state: params.state, session, seq };
        self.change(pane, |terminal| terminal.report_state(report).into());
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.detector.schedule_prompt_repeat(self.now);
        }
        ok()
    }

    pub(super) fn report_agent_session(&mut self, params: ReportSession) -> Outcome {
        let (pane, label, session) = self.check_report(&params.report)?;
        let AgentReport { source, seq, .. } = params.report;
        let start = params.session_start_source.as_deref().and_then(StartSource::parse);
        let report = SessionReport { source, label, session, seq, start };
        self.change(pane, |terminal| terminal.report_session(report).into());
        ok()
    }

    /// The pane, the normalised label and the session of a report.
    fn check_report(
        &self,
        report: &AgentReport,
    ) -> Result<(u64, String, Option<SessionRef>), Failure> {
        let pane = self.find_pane(&report.pane_id)?;
        let label = text::label(&report.agent)?;
        self.check_resume(pane, &report.source, report.resume_argv.as_ref())?;
        let id = report.agent_session_id.as_deref();
        let path = report.agent_session_path.as_deref();
        let session = SessionRef::from_report(&report.source, &label, id, path);
        Ok((pane, label, session))
    }

    pub(super) fn release_agent(&mut self, params: &Release) -> Outcome {
        let pane = self.find_pane(&params.pane_id)?;
        let label = text::label(&params.agent)?;
        let changed =
            self.change(pane, |terminal| terminal.release(&params.source, &label, params.seq));
        // Without this, the next look would take the agent's process for a new one.
        if let (true, Some(known), Some(entry)) =
            (changed, herdr_proto::canonical_label(&label), self.panes.get_mut(&pane))
        {
            entry.detector.release(self.now, known);
        }
        ok()
    }

    pub(super) fn clear_agent_authority(&mut self, params: &Clear) -> Outcome {
        let pane = self.find_pane(&params.pane_id)?;
        self.change(pane, |terminal| terminal.clear(params.source.as_deref(), params.seq));
        ok()
    }

    pub(super) fn report_pane_metadata(&mut self, params: ReportMetadata) -> Outcome {
        let pane = self.find_pane(&params.pane_id)?;
        let report = check_metadata(params)?;
        let now = self.now;
        let mut result = Ok(super::metadata::MetadataChange::default());
        self.change(pane, |terminal| {
            result = terminal.report_metadata(now, &report);
            result.as_ref().is_ok_and(|change| change.presentation).into()
        });
        if result?.tokens {
            self.emit_tokens(pane);
        }
        ok()
    }

    pub(super) fn report_workspace_metadata(&mut self, params: &WorkspaceMetadata) -> Outcome {
        let found = self.find_workspace(&params.workspace_id);
        let source = text::metadata_source(&params.source);
        // The server resolves a list position only after it has checked the source.
        if ids::place(&params.workspace_id).is_none() {
            found.clone()?;
        }
        let source = source?;
        let ttl = check_ttl(params.ttl_ms)?;
        if params.tokens.is_empty() {
            return Err(Failure::new(
                "invalid_metadata_token",
                "there is no token to set or clear",
            ));
        }
        let patch = text::tokens(&params.tokens)?;
        let workspace = found?;
        let now = self.now;
        let entry = &mut self.workspaces[workspace];
        let mark = entry.token_marks.get(&source).copied();
        if let (Some(seq), Some(mark)) = (params.seq, mark)
            && seq <= mark
        {
            return ok();
        }
        if entry.tokens.count_after(&patch) > limits::TOKENS_PER_PANE {
            return Err(Failure::new("metadata_token_limit", "the workspace has too many tokens"));
        }
        if let Some(seq) = params.seq {
            if mark.is_none() && entry.token_marks.len() >= limits::TOKEN_SOURCES_PER_PANE {
                return Err(Failure::new(
                    "metadata_sequence_source_limit",
                    "the workspace has too many sources that number their tokens",
                ));
            }
            entry.token_marks.insert(source, seq);
        }
        if entry.tokens.patch(&patch, ttl.map(|ttl| now.saturating_add(ttl))) {
            self.emit_workspace_tokens(workspace);
        }
        ok()
    }

    pub(super) fn emit_workspace_tokens(&mut self, workspace: usize) {
        let view = self.workspace_view(workspace);
        self.emit("workspace_metadata_updated", json!({ "workspace": view }));
    }

    pub(super) fn emit_tokens(&mut self, pane: u64) {
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.revision += 1;
        }
        self.emit("pane_updated", json!({ "pane": self.pane_view(pane) }));
    }

    /// From 0.9.2 on the source that holds the claim may say how to resume its
    /// agent. An invalid command fails the whole report.
    fn check_resume(&self, pane: u64, source: &str, argv: Option<&Value>) -> Result<(), Failure> {
        let Some(argv) = argv.filter(|argv| self.profile.resumes && !argv.is_null()) else {
            return Ok(());
        };
        let words: Option<Vec<String>> = serde_json::from_value(argv.clone()).ok();
        if words.is_none_or(|words| herdr_proto::ResumeArgv::parse(words).is_err()) {
            return Err(Failure::new(
                "invalid_resume_argv",
                "expected a bare command name and plain arguments",
            ));
        }
        let holder = self.panes.get(&pane).and_then(|pane| pane.terminal.claim.as_ref());
        if holder.is_some_and(|claim| claim.source != source) {
            return Err(Failure::new("resume_not_accepted", "another source holds the pane"));
        }
        Ok(())
    }
}

/// Checks a metadata report in the server's order and normalises its values.
fn check_metadata(mut report: ReportMetadata) -> Result<ReportMetadata, Failure> {
    let invalid = |message: &str| Err(Failure::new("invalid_metadata_request", message));
    report.agent = report.agent.as_deref().map(text::label).transpose()?;
    report.source = text::metadata_source(&report.source)?;
    report.tokens = text::tokens(&report.tokens)?;
    check_ttl(report.ttl_ms)?;
    let applies = report.applies_to_source.as_deref().map(text::metadata_source);
    report.applies_to_source = applies.transpose()?;
    let state_labels = text::state_labels(&report.state_labels)?;
    let set_and_cleared = report.title.is_some() && report.clear_title
        || report.display_agent.is_some() && report.clear_display_agent
        || !report.state_labels.is_empty() && report.clear_state_labels;
    if set_and_cleared {
        return invalid("a field cannot be set and cleared at once");
    }
    report.state_labels = state_labels;
    report.title = report.title.as_deref().and_then(text::presentation);
    report.display_agent = report.display_agent.as_deref().and_then(text::presentation);
    if !report.is_presentation() && report.tokens.is_empty() {
        return invalid("there is nothing to set or clear");
    }
    Ok(report)
}

fn check_ttl(ttl_ms: Option<u64>) -> Result<Option<Duration>, Failure> {
    if ttl_ms.is_some_and(|ttl| !(1..=limits::TTL_MAX_MS).contains(&ttl)) {
        return Err(Failure::new("invalid_metadata_ttl", "ttl_ms is from 1 to 86 400 000"));
    }
    Ok(ttl_ms.map(Duration::from_millis))
}
