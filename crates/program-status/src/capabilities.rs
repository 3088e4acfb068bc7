use crate::state::{BlockedKind, State};

/// What a terminal that answered understands.
///
/// A terminal may list states and kinds in its answer. If it lists none, it understands all of
/// revision 0.4. Every terminal understands [`Report::clear`](crate::Report::clear). A terminal
/// discards a report with a state that it does not understand, and ignores such a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    states: Vec<State>,
    kinds: Vec<BlockedKind>,
}

impl Capabilities {
    /// Reads the part of an answer after the `?`: pairs separated by colons. Unknown keys,
    /// unknown names and malformed pairs are skipped.
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

    /// Whether the terminal accepts reports of this state.
    pub fn accepts_state(&self, state: State) -> bool {
        self.states.contains(&state)
    }

    /// Whether the terminal distinguishes this kind from others.
    pub fn accepts_kind(&self, kind: BlockedKind) -> bool {
        self.kinds.contains(&kind)
    }
}
