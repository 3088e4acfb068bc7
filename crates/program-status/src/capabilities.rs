use crate::state::{BlockedKind, State};

/// What a terminal that answered says it understands.
///
/// A terminal may list states and kinds in its answer. Where it lists none it
/// understands all of revision 0.4, and every terminal understands
/// [`Report::clear`](crate::Report::clear). It discards a report whose state it
/// does not understand, and ignores such a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    states: Vec<State>,
    kinds: Vec<BlockedKind>,
}

impl Capabilities {
    /// Reads what follows the `?` of an answer: pairs after colons, of which
    /// unknown keys, unknown names and anything malformed are skipped.
    pub(crate) fn read(pairs: &[u8]) -> Self {
        let mut found = Self { states: State::ALL.to_vec(), kinds: BlockedKind::ALL.to_vec() };
        let text = String::from_utf8_lossy(pairs);
        for (key, value) in text.split(':').filter_map(|pair| pair.split_once('=')) {
            let names: Vec<&str> = value.split(',').map(str::trim).collect();
            match key.trim() {
                "states" => found.states.retain(|state| names.contains(&state.as_str())),
                "kinds" => found.kinds.retain(|kind| names.contains(&kind.as_str())),
                _ => {}
            }
        }
        found
    }

    /// Whether the terminal takes reports of this state.
    pub fn accepts_state(&self, state: State) -> bool {
        self.states.contains(&state)
    }

    /// Whether the terminal tells this kind from others.
    pub fn accepts_kind(&self, kind: BlockedKind) -> bool {
        self.kinds.contains(&kind)
    }
}
