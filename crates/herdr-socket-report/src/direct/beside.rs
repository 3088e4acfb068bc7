//! A report that leaves the state to Herdr: title, tokens, and the reason of a
//! block as its label. The server takes what names an agent off when that agent
//! ends.

use std::collections::BTreeMap;

use herdr_proto::{PresentationText, StateKey, StateLabels, TokenKey};
use herdr_reporter::{Config, Privacy};

use super::batch::{Batch, Wanted, shows_title};
use super::{Direct, Guard, Problem};

/// The tokens that events make.
const MADE: [&str; 3] = ["model", "ctx", "session"];

impl Batch {
    /// Reports what is not on the pane yet. The first problem is the answer.
    pub(crate) async fn report_beside(&self, to: &Direct, config: &Config) -> Result<(), Problem> {
        let pane = to.look().await?;
        let snapshot = self.snapshot(config);
        if (self.titled || self.release) && shows_title(config) {
            let title = self.title.clone();
            if pane.title.as_deref() != title.as_ref().map(PresentationText::as_str) {
                to.title(title, Guard::Agent).await?;
            }
        }
        let presentation = snapshot.as_ref().map(|snapshot| &snapshot.presentation);
        let mut labels = presentation.map(|shown| shown.labels.clone()).unwrap_or_default();
        let told =
            if config.privacy == Privacy::Fixed { BTreeMap::new() } else { self.labels(config) };
        for (state, text) in told {
            match text {
                Some(text) => labels.insert(state, text),
                None => labels.remove(&state),
            };
        }
        let bears = self.release || self.rests || !self.labels.is_empty();
        let asks = self.state != Wanted::Same && labels.contains_key(&StateKey::Blocked);
        if (bears || asks) && !shows(&pane.state_labels, &labels) {
            to.accompany_beside(labels).await?;
        }
        let mut tokens = self.tokens(config, snapshot.as_ref());
        if self.release || self.session.is_some() {
            // What another session left there is not this one's.
            for key in MADE.into_iter().filter_map(|key| TokenKey::parse(key).ok()) {
                tokens.entry(key).or_insert(None);
            }
        }
        tokens.retain(|key, text| {
            let shown = pane.tokens.get(key.as_str()).map(String::as_str);
            shown != text.as_ref().map(PresentationText::as_str)
        });
        if tokens.is_empty() { Ok(()) } else { to.tokens(&tokens).await }
    }
}

/// Whether the pane shows these labels and no reason of a block besides.
fn shows(pane: &BTreeMap<String, String>, labels: &StateLabels) -> bool {
    let shown = |state: &StateKey| pane.get(state.as_str()).map(String::as_str);
    let all = labels.iter().all(|(state, text)| shown(state) == Some(text.as_str()));
    all && (labels.contains_key(&StateKey::Blocked) || shown(&StateKey::Blocked).is_none())
}
