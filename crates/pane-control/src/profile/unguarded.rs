use super::{Look, Profile, Scene};

/// No profile. The screen is not checked, so an Enter may have any effect. A push with it is
/// never `delivered`, and its outcomes are marked.
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
