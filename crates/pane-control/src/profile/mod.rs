//! Ready profiles: what the bottom of a program's screen says about its input
//! box.

mod claude;
mod codex;
mod shell;
mod unguarded;
mod words;

use std::fmt::Debug;
use std::sync::Arc;

pub use claude::Claude;
pub use codex::Codex;
use serde::Serialize;
pub use shell::Shell;
pub use unguarded::Unguarded;

use crate::key::Key;
use crate::screen::Screen;
use crate::text;

/// What is known of a pane when a profile looks at it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Scene {
    /// What it shows.
    pub screen: Screen,
    /// Whether the pane's shell itself is in the foreground; `None` if nobody
    /// asked ([`Profile::wants_processes`]) or the server does not say.
    pub shell_in_front: Option<bool>,
}

impl Scene {
    /// A scene of a screen alone.
    pub fn of(screen: Screen) -> Self {
        Self { screen, shell_in_front: None }
    }
}

/// What the input box is ready for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BoxState {
    /// The box is there and empty.
    Empty,
    /// Something stands in the box.
    Dirty,
    /// There is no box because the program works.
    Busy,
    /// A dialog or menu takes the keys.
    Dialog,
    /// None of these is certain.
    #[default]
    Unknown,
}

/// What a profile sees on a screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Look {
    /// What the box is ready for.
    pub state: BoxState,
    /// Whether the program shows that it works, box or no box.
    pub busy: bool,
    /// Whether a list of completions is open, which would take an Enter.
    pub menu: bool,
    /// What stands in the box, row by row, without what is only suggested.
    pub text: String,
    /// The rows above the box.
    pub transcript: Vec<String>,
}

/// A kind of program, by what its screen looks like. Hosts can add their own.
///
/// Everything here is a pure function of what it is given.
///
/// ```
/// use herdr_pane_control::{BoxState, Look, Profile, Scene, Screen};
///
/// /// A program that asks `say> ` on its last row.
/// #[derive(Debug)]
/// struct Say;
///
/// impl Profile for Say {
///     fn name(&self) -> &str {
///         "say"
///     }
///
///     fn look(&self, scene: &Scene) -> Look {
///         let mut look = Look::default();
///         let Some((last, above)) = scene.screen.rows().split_last() else { return look };
///         if let Some(typed) = last.solid().strip_prefix("say>") {
///             look.text = typed.trim().to_owned();
///             look.state = if look.text.is_empty() { BoxState::Empty } else { BoxState::Dirty };
///             look.transcript = above.iter().map(|row| row.text().to_owned()).collect();
///         }
///         look
///     }
/// }
///
/// let look = Say.look(&Scene::of(Screen::parse("hello\nsay> wor")));
/// assert_eq!((look.state, look.text.as_str()), (BoxState::Dirty, "wor"));
/// ```
pub trait Profile: Debug + Send + Sync {
    /// Its name, by which a caller asks for it.
    fn name(&self) -> &str;

    /// What the screen says about the input box.
    fn look(&self, scene: &Scene) -> Look;

    /// Whether the box holds this text and nothing else. A program that shows a
    /// short form for a long paste has to know it here.
    fn holds(&self, look: &Look, text: &str) -> bool {
        text::shows(&look.text, text)
    }

    /// The short form for a paste that stands in the box, if there is one. The
    /// transcript may show it instead of the text.
    fn fold(&self, _look: &Look) -> Option<String> {
        None
    }

    /// Whether the program asks for bracketed pastes, so that several lines are
    /// one text. Default false.
    fn brackets(&self) -> bool {
        false
    }

    /// Whether this text is a command to the program itself, which it wants
    /// typed and not pasted. Default never.
    fn is_command(&self, _text: &str) -> bool {
        false
    }

    /// Whether rows that the terminal wrapped are joined before a look, as for
    /// programs that leave wrapping to it. Default false.
    fn joins_rows(&self) -> bool {
        false
    }

    /// Whether it has to know what is in the foreground. Default false.
    fn wants_processes(&self) -> bool {
        false
    }

    /// The key that stops what runs. Default `ctrl+c`.
    fn interrupt(&self) -> Key {
        Key::ctrl_c()
    }

    /// Whether it looks at all. One that does not is marked in every outcome.
    fn guards(&self) -> bool {
        true
    }
}

/// The profiles that a [`PaneControl`](crate::PaneControl) knows: Claude Code,
/// Codex, a plain shell, none, and those that were added.
#[derive(Debug, Clone)]
pub(crate) struct Profiles(Vec<Arc<dyn Profile>>);

impl Default for Profiles {
    fn default() -> Self {
        let shell = Shell::default();
        Self(vec![Arc::new(Claude), Arc::new(Codex), Arc::new(shell), Arc::new(Unguarded)])
    }
}

impl Profiles {
    /// Adds one; it goes before another of its name.
    pub(crate) fn add(&mut self, profile: Arc<dyn Profile>) {
        self.0.insert(0, profile);
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Arc<dyn Profile>> {
        self.0.iter().find(|profile| profile.name() == name)
    }

    pub(crate) fn names(&self) -> String {
        self.0.iter().map(|profile| profile.name()).collect::<Vec<_>>().join(", ")
    }
}
