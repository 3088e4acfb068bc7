use super::{Look, Profile, Scene};

/// No profile at all: nothing is looked at, so an Enter may hit anything. What
/// is pushed with it is never `delivered`, and its outcomes are marked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unguarded;

impl Profile for Unguarded {
    fn name(&self) -> &'static str {
        "none"
    }

    fn look(&self, _scene: &Scene) -> Look {
        Look::default()
    }

    fn guards(&self) -> bool {
        false
    }
}
