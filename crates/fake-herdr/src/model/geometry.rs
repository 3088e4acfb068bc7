//! Areas, sides and directions in cells.

use serde::{Deserialize, Serialize};

/// The side of an existing pane on which a new pane goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Direction {
    Right,
    Down,
}

impl Direction {
    pub(super) fn across(self) -> Self {
        match self {
            Self::Right => Self::Down,
            Self::Down => Self::Right,
        }
    }
}

/// A side of a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    Left,
    Right,
    Up,
    Down,
}

impl Side {
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    pub(super) fn axis(self) -> Direction {
        match self {
            Self::Left | Self::Right => Direction::Right,
            Self::Up | Self::Down => Direction::Down,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Rect {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl Rect {
    pub(super) fn split(self, direction: Direction, ratio: f32) -> (Self, Self) {
        let (mut first, mut second) = (self, self);
        match direction {
            Direction::Right => {
                first.width = share(self.width, ratio);
                second.x += first.width;
                second.width -= first.width;
            }
            Direction::Down => {
                first.height = share(self.height, ratio);
                second.y += first.height;
                second.height -= first.height;
            }
        }
        (first, second)
    }

    /// The first cell and the end along a direction.
    pub(super) fn span(self, along: Direction) -> (u16, u16) {
        match along {
            Direction::Right => (self.x, self.x + self.width),
            Direction::Down => (self.y, self.y + self.height),
        }
    }

    /// The coordinate of the edge on a side.
    pub(super) fn edge(self, side: Side) -> u16 {
        let (begin, end) = self.span(side.axis());
        if matches!(side, Side::Left | Side::Up) { begin } else { end }
    }

    /// The number of cells in which two areas overlap across a direction.
    pub(super) fn overlap(self, other: Self, axis: Direction) -> u16 {
        let across = axis.across();
        let ((begin, end), (from, to)) = (self.span(across), other.span(across));
        end.min(to).saturating_sub(begin.max(from))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the ratio is between 0 and 1, so the product fits the length"
)]
fn share(length: u16, ratio: f32) -> u16 {
    (f32::from(length) * ratio).round() as u16
}
