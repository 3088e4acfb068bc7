//! Ready profiles: what the bottom of a program's screen tells about its input box.

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

/// What a profile is given about a pane.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Scene {
    /// The screen.
    pub screen: Screen,
    /// Whether the pane's shell is in the foreground; `None` if the profile does not need it
    /// ([`Profile::wants_processes`]) or the server does not tell.
    pub shell_in_front: Option<bool>,
}

impl Scene {
    /// A scene with only a screen.
    pub fn of(screen: Screen) -> Self {
        Self { screen, shell_in_front: None }
    }
}

/// The state of an input box.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BoxState {
    /// The box is there and empty.
    Empty,
    /// There is a text in the box.
    Dirty,
    /// There is no box because the program works.
    Busy,
    /// A dialog or menu takes the keys.
    Dialog,
    /// The state is not certain.
    #[default]
    Unknown,
}

/// What a profile recognises on a screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Look {
    /// The state of the box.
    pub state: BoxState,
    /// Whether the program shows that it works, with or without a box.
    pub busy: bool,
    /// Whether a list of completions is open, which would catch an Enter.
    pub menu: bool,
    /// The text in the box, row by row, without suggestions.
    pub text: String,
    /// The rows above the box.
    pub transcript: Vec<String>,
}

/// A kind of program, recognised by its screen. Hosts can add profiles of their own.
///
/// All methods are pure functions of their arguments.
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
    /// The name by which a caller selects the profile.
    fn name(&self) -> &str;

    /// Recognises the input box on a screen.
    fn look(&self, scene: &Scene) -> Look;

    /// Whether the box contains this text and nothing else. A program that shortens long pastes
    /// has to override this.
    fn holds(&self, look: &Look, text: &str) -> bool {
        text::shows(&look.text, text)
    }

    /// The short form of a paste in the box, if there is one. The transcript may show it
    /// instead of the text.
    fn fold(&self, _look: &Look) -> Option<String> {
        None
    }

    /// Whether the program asks for bracketed pastes, so that several lines are
    /// one text. Default false.
    fn brackets(&self) -> bool {
        false
    }

    /// Whether this text is a command of the program, which has to be typed and not pasted.
    /// Default never.
    fn is_command(&self, _text: &str) -> bool {
        false
    }

    /// Whether rows that the terminal wrapped are joined before [`look`](Self::look), for
    /// programs that leave wrapping to the terminal. Default false.
    fn joins_rows(&self) -> bool {
        false
    }

    /// Whether [`Scene::shell_in_front`] is needed. Default false.
    fn wants_processes(&self) -> bool {
        false
    }

    /// The key that stops what runs. Default `ctrl+c`.
    fn interrupt(&self) -> Key {
        Key::ctrl_c()
    }

    /// Whether the profile looks at the screen at all. Outcomes of one that does not are
    /// marked.
    fn guards(&self) -> bool {
        true
    }
}

/// The profiles of a [`PaneControl`](crate::PaneControl): Claude Code, Codex, a plain shell,
/// none, and added ones.
#[derive(Debug, Clone)]
pub(crate) struct Profiles(Vec<Arc<dyn Profile>>);

impl Default for Profiles {
    fn default() -> Self {
        let shell = Shell::default();
        Self(vec![Arc::new(Claude), Arc::new(Codex), Arc::new(shell), Arc::new(Unguarded)])
    }
}

impl Profiles {
    /// Adds a profile. It takes precedence over an earlier one of the same name.
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
