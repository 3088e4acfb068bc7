//! The report methods: checks in the server's order, then the rule (protocol 4.2 and 5). Their
//! `ok` does not tell what the rule did.

use std::time::Duration;

use herdr_proto::limits;
use serde_json::{Value, json};

use super::Model;
use super::call::{Clear, Release, ReportAgent, ReportMetadata, ReportSession, WorkspaceMetadata};
use super::dispatch::{Outcome, ok};
use super::failure::Failure;
use super::ids;
use super::report::StateReport;
use super::session::SessionReport;
use super::sources::{SessionRef, StartSource};
use super::text;

impl Model {
    pub(super) fn report_agent(&mut self, params: ReportAgent) -> Outcome {
        let pane = self.find_pane(&params.pane_id)?;
        let label = text::label(&params.agent)?;
        self.check_resume(pane, &params.source, params.resume_argv.as_ref())?;
        let report = StateReport {
            session: SessionRef::from_report(
                &params.source,
                &label,
                params.agent_session_id.as_deref(),
                params.agent_session_path.as_deref(),
            ),
            source: params.source,
            label,
            state: params.state,
            seq: params.seq,
        };
        self.change(pane, |terminal| terminal.report_state(report).into());
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.detector.tell_prompt_again(self.now);
        }
        ok()
    }

    pub(super) fn report_agent_session(&mut self, params: ReportSession) -> Outcome {
        let pane = self.find_pane(&params.pane_id)?;
        let label = text::label(&params.agent)?;
        self.check_resume(pane, &params.source, params.resume_argv.as_ref())?;
        let report = SessionReport {
            session: SessionRef::from_report(
                &params.source,
                &label,
                params.agent_session_id.as_deref(),
                params.agent_session_path.as_deref(),
            ),
            source: params.source,
            label,
            seq: params.seq,
            start: params.session_start_source.as_deref().and_then(StartSource::parse),
        };
        self.change(pane, |terminal| terminal.report_session(report).into());
        ok()
    }

    pub(super) fn release_agent(&mut self, params: &Release) -> Outcome {
        let pane = self.find_pane(&params.pane_id)?;
        let label = text::label(&params.agent)?;
        let told =
            self.change(pane, |terminal| terminal.release(&params.source, &label, params.seq));
        // Its process must not count as one that has just started.
        if let (true, Some(known), Some(entry)) =
            (told, herdr_proto::canonical_label(&label), self.panes.get_mut(&pane))
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
            self.tell_tokens(pane);
        }
        ok()
    }

    pub(super) fn report_workspace_metadata(&mut self, params: &WorkspaceMetadata) -> Outcome {
        let found = self.find_workspace(&params.workspace_id);
        let source = text::metadata_source(&params.source);
        // A position in the list is checked only after the source.
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
            self.tell_workspace_tokens(workspace);
        }
        ok()
    }

    pub(super) fn tell_workspace_tokens(&mut self, workspace: usize) {
        let view = self.workspace_view(workspace);
        self.tell("workspace_metadata_updated", json!({ "workspace": view }));
    }

    pub(super) fn tell_tokens(&mut self, pane: u64) {
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.revision += 1;
        }
        self.tell("pane_updated", json!({ "pane": self.pane_view(pane) }));
    }

    /// From 0.9.2 on, a custom source that holds the pane may set the command that restarts its
    /// agent. A wrong command makes the whole report fail.
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
        let holder = self.panes.get(&pane).and_then(|pane| pane.terminal.claim());
        if holder.is_some_and(|claim| claim.source != source) {
            return Err(Failure::new("resume_not_accepted", "another source holds the pane"));
        }
        Ok(())
    }
}

/// Checks a metadata report in the server's order, and returns it with normalised values.
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
        return invalid("a field is to be set and cleared at once");
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
