use crate::key::Key;
use crate::profile::Profile;

/// What a key is pressed for; the program decides which key that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Intent {
    /// Stop what runs: `ctrl+c`, and `esc` in agents, where `ctrl+c` would quit.
    Interrupt,
    /// Send what stands in the input box.
    Submit,
    /// Empty the input box's line.
    ClearLine,
    /// Leave a dialog or a menu.
    Escape,
    /// The next field or the completion.
    Tab,
    /// The field before.
    BackTab,
    /// One up.
    Up,
    /// One down.
    Down,
    /// One to the left.
    Left,
    /// One to the right.
    Right,
}

/// Intents by the names that a command line has for them.
const INTENTS: [(&str, Intent); 10] = [
    ("interrupt", Intent::Interrupt),
    ("submit", Intent::Submit),
    ("clear-line", Intent::ClearLine),
    ("escape", Intent::Escape),
    ("tab", Intent::Tab),
    ("back-tab", Intent::BackTab),
    ("up", Intent::Up),
    ("down", Intent::Down),
    ("left", Intent::Left),
    ("right", Intent::Right),
];

impl Intent {
    /// The key for this in a program of this profile.
    pub fn key(self, profile: &dyn Profile) -> Key {
        let name = match self {
            Self::Interrupt => return profile.interrupt(),
            Self::Submit => "enter",
            Self::ClearLine => "ctrl+u",
            Self::Escape => "esc",
            Self::Tab => "tab",
            Self::BackTab => "shift+tab",
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        };
        Key::known(name)
    }

    /// The intent of this name, for example `clear-line`.
    pub fn named(name: &str) -> Option<Self> {
        INTENTS.iter().find(|(known, _)| *known == name).map(|(_, intent)| *intent)
    }
}
