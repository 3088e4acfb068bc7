//! Titles, display names, status texts and tokens (protocol 5.6).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use herdr_proto::limits;

use super::call::ReportMetadata;
use super::failure::Failure;
use super::sources::{agent_of_source, is_official};
use super::terminal::Terminal;
use super::tokens::Tokens;

/// The presentation that readers see, merged from the records of all sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Presentation {
    pub(crate) title: Option<String>,
    pub(crate) display_agent: Option<String>,
    pub(crate) state_labels: BTreeMap<String, String>,
}

impl ReportMetadata {
    fn clears(&self) -> bool {
        self.clear_title || self.clear_display_agent || self.clear_state_labels
    }

    fn sets(&self) -> bool {
        self.title.is_some() || self.display_agent.is_some() || !self.state_labels.is_empty()
    }

    /// Whether the report sets or clears anything besides tokens.
    pub(crate) fn is_presentation(&self) -> bool {
        self.sets() || self.clears()
    }
}

/// The presentation of one source. Each text has its place in the order of
/// reports, so that the newest text of all sources wins, field by field (D4).
#[derive(Debug, Clone, Default)]
struct Record {
    agent: Option<String>,
    applies_to_source: Option<String>,
    title: Option<(u64, String)>,
    display_agent: Option<(u64, String)>,
    state_labels: BTreeMap<String, (u64, String)>,
    expires: Option<Duration>,
}

impl Record {
    fn set(&mut self, order: u64, report: &ReportMetadata) {
        if let Some(title) = &report.title {
            self.title = Some((order, title.clone()));
        }
        if let Some(name) = &report.display_agent {
            self.display_agent = Some((order, name.clone()));
        }
        for (status, text) in &report.state_labels {
            self.state_labels.insert(status.clone(), (order, text.clone()));
        }
    }
}

/// Everything that metadata reports have set on one terminal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metadata {
    records: BTreeMap<String, Record>,
    /// The sequence marks of metadata reports; state reports have their own.
    marks: BTreeMap<String, u64>,
    /// The known agent that each source with sequence numbers has named.
    named: BTreeMap<String, &'static str>,
    /// Sources that have sent tokens with sequence numbers. A source stays listed
    /// after its tokens are gone.
    token_sources: BTreeSet<String>,
    pub(crate) tokens: Tokens,
}

/// What a metadata report changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MetadataChange {
    pub(crate) tokens: bool,
    pub(crate) presentation: bool,
}

impl Metadata {
    pub(crate) fn mark(&self, source: &str) -> Option<u64> {
        self.marks.get(source).copied()
    }

    /// When the next record or token expires.
    pub(crate) fn next_expiry(&self) -> Option<Duration> {
        let records = self.records.values().filter_map(|record| record.expires);
        records.chain(self.tokens.next_expiry()).min()
    }

    /// Removes expired records and tokens; `true` if there was a token among them.
    pub(crate) fn expire(&mut self, now: Duration) -> bool {
        self.records.retain(|_, record| record.expires.is_none_or(|at| now < at));
        self.tokens.expire(now)
    }

    /// D8: removes what belongs to an agent whose process has exited.
    pub(super) fn forget_agent(&mut self, agent: &str) {
        let mut forgotten = Vec::new();
        self.records.retain(|source, record| {
            let (label, applies) = (record.agent.as_deref(), record.applies_to_source.as_deref());
            let gone = belongs_to(agent, source, label, applies);
            if gone {
                forgotten.push(source.clone());
            }
            !gone
        });
        let named = self.named.iter().filter(|(_, of)| **of == agent);
        forgotten.extend(named.map(|(source, _)| source.clone()));
        for source in forgotten {
            self.marks.remove(&source);
            self.named.remove(&source);
            self.token_sources.remove(&source);
        }
    }
}

impl Terminal {
    /// Applies a metadata report whose values are already normalised and checked:
    /// D1 and D2, then the limits, then the rest.
    ///
    /// # Errors
    ///
    /// `metadata_token_limit` and `metadata_sequence_source_limit`. A stale
    /// report is not an error.
    pub(crate) fn report_metadata(
        &mut self,
        now: Duration,
        report: &ReportMetadata,
    ) -> Result<MetadataChange, Failure> {
        let (label, applies) = (report.agent.as_deref(), report.applies_to_source.as_deref());
        if self.exited.is_some_and(|gone| belongs_to(gone, &report.source, label, applies)) {
            return Ok(MetadataChange::default());
        }
        let agent = named_agent(report);
        let metadata = &mut self.metadata;
        let mark = metadata.mark(&report.source);
        if let (Some(seq), Some(mark)) = (report.seq, mark)
            && seq <= mark
        {
            return Ok(MetadataChange::default());
        }
        let patch = &report.tokens;
        if !patch.is_empty() {
            if metadata.tokens.count_after(patch) > limits::TOKENS_PER_PANE {
                return Err(Failure::new(
                    "metadata_token_limit",
                    format!("a pane has at most {} tokens", limits::TOKENS_PER_PANE),
                ));
            }
            if report.seq.is_some()
                && !metadata.token_sources.contains(&report.source)
                && metadata.token_sources.len() >= limits::TOKEN_SOURCES_PER_PANE
            {
                return Err(Failure::new(
                    "metadata_sequence_source_limit",
                    format!(
                        "a pane has at most {} sources that number their tokens",
                        limits::TOKEN_SOURCES_PER_PANE
                    ),
                ));
            }
        }
        if let Some(seq) = report.seq {
            metadata.marks.insert(report.source.clone(), seq);
            if let Some(agent) = agent {
                metadata.named.insert(report.source.clone(), agent);
            }
            if !patch.is_empty() {
                metadata.token_sources.insert(report.source.clone());
            }
        }
        let expires = report.ttl_ms.map(|ttl| now.saturating_add(Duration::from_millis(ttl)));
        let tokens = metadata.tokens.patch(patch, expires);
        if report.is_presentation() {
            let order = self.next_order();
            self.present(order, expires, report);
        }
        Ok(MetadataChange { tokens, presentation: report.is_presentation() })
    }

    /// The newest text of every field among the records whose guards hold.
    pub(crate) fn presentation(&self) -> Presentation {
        let shown = || self.metadata.records.values().filter(|record| self.guards_hold(record));
        let newest = |field: fn(&Record) -> Option<&(u64, String)>| {
            shown().filter_map(field).max_by_key(|(order, _)| *order).map(|(_, text)| text.clone())
        };
        let mut state_labels: BTreeMap<&str, &(u64, String)> = BTreeMap::new();
        for (status, text) in shown().flat_map(|record| &record.state_labels) {
            let best = state_labels.entry(status).or_insert(text);
            if best.0 < text.0 {
                *best = text;
            }
        }
        Presentation {
            title: newest(|record| record.title.as_ref()),
            display_agent: newest(|record| record.display_agent.as_ref()),
            state_labels: state_labels
                .into_iter()
                .map(|(status, (_, text))| (status.to_owned(), text.clone()))
                .collect(),
        }
    }

    /// D5: a report without a `clear_*` flag replaces the record, one with a
    /// flag edits it.
    fn present(&mut self, order: u64, expires: Option<Duration>, report: &ReportMetadata) {
        if !report.clears() {
            let mut record = Record {
                agent: report.agent.clone(),
                applies_to_source: report.applies_to_source.clone(),
                expires,
                ..Record::default()
            };
            record.set(order, report);
            self.metadata.records.insert(report.source.clone(), record);
            return;
        }
        let fresh = Record { expires, ..Record::default() };
        let record = self.metadata.records.entry(report.source.clone()).or_insert(fresh);
        if report.clear_title {
            record.title = None;
        }
        if report.clear_display_agent {
            record.display_agent = None;
        }
        if report.clear_state_labels {
            record.state_labels.clear();
        }
        if report.agent.is_some() {
            record.agent.clone_from(&report.agent);
        }
        if report.applies_to_source.is_some() {
            record.applies_to_source.clone_from(&report.applies_to_source);
        }
        record.set(order, report);
        if report.sets() || report.ttl_ms.is_some() {
            record.expires = expires;
        }
    }

    /// D3: whether the guards of a record hold.
    fn guards_hold(&self, record: &Record) -> bool {
        let agent = record.agent.as_deref();
        let source = record.applies_to_source.as_deref();
        agent.is_none_or(|agent| self.label() == Some(agent))
            && source.is_none_or(|source| {
                self.claim.as_ref().is_some_and(|claim| claim.source == source)
            })
    }
}

/// The known agent that a report names, by label or by an official source.
fn named_agent(report: &ReportMetadata) -> Option<&'static str> {
    report
        .agent
        .as_deref()
        .and_then(herdr_proto::canonical_label)
        .or_else(|| agent_of_source(&report.source))
        .or_else(|| report.applies_to_source.as_deref().and_then(agent_of_source))
}

/// D1 and D8: whether any part of a report or a record belongs to this agent.
fn belongs_to(agent: &str, source: &str, label: Option<&str>, applies: Option<&str>) -> bool {
    label == Some(agent)
        || is_official(source, agent)
        || applies.is_some_and(|applies| is_official(applies, agent))
}
