use crate::key::Key;
use crate::profile::Profile;

/// The purpose of a key. The program's profile decides which key that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Intent {
    /// Stops what runs: `ctrl+c`, or `esc` in agents that `ctrl+c` would quit.
    Interrupt,
    /// Sends the text in the input box.
    Submit,
    /// Clears the line in the input box.
    ClearLine,
    /// Leaves a dialog or a menu.
    Escape,
    /// Goes to the next field or completes.
    Tab,
    /// Goes to the previous field.
    BackTab,
    /// Goes up.
    Up,
    /// Goes down.
    Down,
    /// Goes left.
    Left,
    /// Goes right.
    Right,
}

/// The names of intents on a command line.
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
    /// The key for this intent in a program with this profile.
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
