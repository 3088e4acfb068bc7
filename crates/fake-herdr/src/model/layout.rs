//! How the panes of a tab share its area.

use serde::{Deserialize, Serialize};

/// The area of a headless server's tab, in cells, beside the sidebar.
const AREA: Rect = Rect { x: 26, y: 1, width: 94, height: 39 };

/// Where a new pane goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Direction {
    Right,
    Down,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Rect {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl Rect {
    fn split(self, direction: Direction, ratio: f64) -> (Self, Self) {
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
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the ratio is between 0 and 1, so the product fits the length"
)]
fn share(length: u16, ratio: f64) -> u16 {
    (f64::from(length) * ratio.clamp(0.0, 1.0)).round() as u16
}

/// A tree of splits with panes (by their raw numbers) as leaves.
#[derive(Debug, Clone)]
pub(crate) enum Layout {
    Pane(u64),
    Split { direction: Direction, ratio: f64, first: Box<Layout>, second: Box<Layout> },
}

/// A split as it is listed: its place in the tree, and what it divides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SplitView {
    id: String,
    direction: Direction,
    ratio: f64,
    rect: Rect,
}

impl Layout {
    pub(crate) fn area() -> Rect {
        AREA
    }

    /// The panes from left to right and top to bottom, with their places.
    pub(crate) fn panes(&self) -> Vec<(u64, Rect)> {
        let mut panes = Vec::new();
        self.walk(AREA, &mut String::new(), &mut panes, &mut Vec::new());
        panes
    }

    pub(crate) fn splits(&self) -> Vec<SplitView> {
        let mut splits = Vec::new();
        self.walk(AREA, &mut String::new(), &mut Vec::new(), &mut splits);
        splits
    }

    /// Puts a pane beside another one; `false` if that one is not here.
    pub(crate) fn split(
        &mut self,
        beside: u64,
        pane: u64,
        direction: Direction,
        ratio: f64,
    ) -> bool {
        match self {
            Self::Pane(here) if *here == beside => {
                *self = Self::Split {
                    direction,
                    ratio,
                    first: Box::new(Self::Pane(beside)),
                    second: Box::new(Self::Pane(pane)),
                };
                true
            }
            Self::Pane(_) => false,
            Self::Split { first, second, .. } => {
                first.split(beside, pane, direction, ratio)
                    || second.split(beside, pane, direction, ratio)
            }
        }
    }

    /// The tree without a pane; `None` if nothing is left.
    pub(crate) fn without(self, pane: u64) -> Option<Self> {
        match self {
            Self::Pane(here) => (here != pane).then_some(self),
            Self::Split { direction, ratio, first, second } => {
                match (first.without(pane), second.without(pane)) {
                    (Some(first), Some(second)) => Some(Self::Split {
                        direction,
                        ratio,
                        first: Box::new(first),
                        second: Box::new(second),
                    }),
                    (one, other) => one.or(other),
                }
            }
        }
    }

    fn walk(
        &self,
        area: Rect,
        path: &mut String,
        panes: &mut Vec<(u64, Rect)>,
        splits: &mut Vec<SplitView>,
    ) {
        match self {
            Self::Pane(pane) => panes.push((*pane, area)),
            Self::Split { direction, ratio, first, second } => {
                let place = if path.is_empty() { "root" } else { path.as_str() };
                splits.push(SplitView {
                    id: format!("split_{}_{place}", splits.len()),
                    direction: *direction,
                    ratio: *ratio,
                    rect: area,
                });
                let (one, other) = area.split(*direction, *ratio);
                for (branch, layout, area) in [('0', first, one), ('1', second, other)] {
                    path.push(branch);
                    layout.walk(area, path, panes, splits);
                    path.pop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_share_the_area_and_close_up() {
        let mut layout = Layout::Pane(1);
        assert!(layout.split(1, 2, Direction::Right, 0.5));
        assert!(layout.split(2, 3, Direction::Down, 0.5));
        assert!(!layout.split(9, 4, Direction::Down, 0.5));
        let panes = layout.panes();
        assert_eq!(panes.iter().map(|(pane, _)| *pane).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!((panes[0].1.width, panes[1].1.x, panes[1].1.height), (47, 73, 20));
        let ids: Vec<_> = layout.splits().into_iter().map(|split| split.id).collect();
        assert_eq!(ids, ["split_0_root", "split_1_1"]);
        let layout = layout.without(2).unwrap().without(1).unwrap();
        assert_eq!(layout.panes(), [(3, Layout::area())]);
        assert!(layout.without(3).is_none());
    }
}
