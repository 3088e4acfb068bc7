//! How the panes of a tab divide its area, and which of them has the focus.

use serde::{Deserialize, Serialize};
use serde_json::Number;

/// The direction of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Direction {
    Right,
    Down,
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
    fn opposite(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    fn axis(self) -> Direction {
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
    fn split(self, direction: Direction, ratio: f32) -> (Self, Self) {
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

    /// The start and the end along a direction.
    fn span(self, along: Direction) -> (u16, u16) {
        match along {
            Direction::Right => (self.x, self.x + self.width),
            Direction::Down => (self.y, self.y + self.height),
        }
    }

    /// The edge on a side.
    fn edge(self, side: Side) -> u16 {
        let (begin, end) = self.span(side.axis());
        if matches!(side, Side::Left | Side::Up) { begin } else { end }
    }

    /// The number of cells in which two panes overlap across a direction.
    fn overlap(self, other: Self, axis: Direction) -> u16 {
        let across = if axis == Direction::Right { Direction::Down } else { Direction::Right };
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

/// A ratio within the server's bounds.
fn bounded(ratio: f32) -> f32 {
    if ratio.is_finite() { ratio.clamp(0.1, 0.9) } else { 0.5 }
}

/// The panes of a tab, by their internal numbers.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    root: Node,
    focused: u64,
    /// The pane that had the focus before, if it is still in this tab.
    before: Option<u64>,
}

#[derive(Debug, Clone)]
enum Node {
    Pane(u64),
    Split { direction: Direction, ratio: f32, first: Box<Node>, second: Box<Node> },
}

/// A split as the server lists it: its place in the tree, and the area that it divides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SplitView {
    id: String,
    direction: Direction,
    /// Written with the digits of an `f32`.
    ratio: Number,
    rect: Rect,
    #[serde(skip)]
    pub(crate) held: f32,
    #[serde(skip)]
    path: String,
}

impl Layout {
    pub(crate) fn of(pane: u64) -> Self {
        Self { root: Node::Pane(pane), focused: pane, before: None }
    }

    pub(crate) fn focused(&self) -> u64 {
        self.focused
    }

    pub(crate) fn focus(&mut self, pane: u64) {
        if pane != self.focused {
            self.before = Some(std::mem::replace(&mut self.focused, pane));
        }
    }

    /// The panes from left to right and from top to bottom.
    pub(crate) fn ids(&self) -> Vec<u64> {
        let none = Rect { x: 0, y: 0, width: 0, height: 0 };
        self.panes(none).into_iter().map(|(pane, _)| pane).collect()
    }

    /// The panes with their areas.
    pub(crate) fn panes(&self, area: Rect) -> Vec<(u64, Rect)> {
        let mut panes = Vec::new();
        self.root.walk(area, &mut String::new(), &mut panes, &mut Vec::new());
        panes
    }

    pub(crate) fn splits(&self, area: Rect) -> Vec<SplitView> {
        let mut splits = Vec::new();
        self.root.walk(area, &mut String::new(), &mut Vec::new(), &mut splits);
        splits
    }

    /// Adds a pane beside another one. The focus stays.
    pub(crate) fn split(&mut self, beside: u64, pane: u64, direction: Direction, ratio: f32) {
        self.root.each(&mut |node| {
            if matches!(node, Node::Pane(here) if *here == beside) {
                *node = Node::Split {
                    direction,
                    ratio: bounded(ratio),
                    first: Box::new(Node::Pane(beside)),
                    second: Box::new(Node::Pane(pane)),
                };
                return true;
            }
            false
        });
    }

    /// The layout without a pane; `None` if nothing is left. If the pane had the focus, the
    /// focus returns to the pane before it, or goes to the next pane.
    pub(crate) fn without(&self, pane: u64) -> Option<Self> {
        let ids = self.ids();
        let place = ids.iter().position(|here| *here == pane)?;
        let root = self.root.clone().without(pane)?;
        if self.focused != pane {
            let before = self.before.filter(|before| *before != pane);
            return Some(Self { root, focused: self.focused, before });
        }
        let next = ids.get(place + 1).or_else(|| ids.get(place.wrapping_sub(1))).copied();
        let focused = self.before.filter(|before| ids.contains(before)).or(next)?;
        Some(Self { root, focused, before: None })
    }

    pub(crate) fn swap(&mut self, one: u64, other: u64) {
        self.root.each(&mut |node| {
            if let Node::Pane(here) = node {
                *here = match *here {
                    pane if pane == one => other,
                    pane if pane == other => one,
                    pane => pane,
                };
            }
            false
        });
    }

    /// Moves the nearest border of a pane towards a side. Returns false if none could be moved.
    pub(crate) fn resize(&mut self, pane: u64, side: Side, amount: f32, area: Rect) -> bool {
        let Some(rect) = rect_of(pane, &self.panes(area)) else { return false };
        let splits = self.splits(area);
        let nearest = |side: Side| {
            let distance = |split: &SplitView| {
                split
                    .rect
                    .split(split.direction, split.held)
                    .0
                    .edge(match side.axis() {
                        Direction::Right => Side::Right,
                        Direction::Down => Side::Down,
                    })
                    .abs_diff(rect.edge(side))
            };
            splits
                .iter()
                .filter(|split| split.direction == side.axis())
                .filter(|split| split.rect.overlap(rect, side.axis()) > 0 && distance(split) <= 1)
                .min_by_key(|split| distance(split))
        };
        let Some(split) = nearest(side).or_else(|| nearest(side.opposite())) else { return false };
        let grows = matches!(side, Side::Right | Side::Down);
        let wanted = bounded(split.held + if grows { amount } else { -amount });
        self.root.set_ratio(&split.path, wanted);
        wanted.to_bits() != split.held.to_bits()
    }

    /// The neighbour of a pane on a side: the nearest pane, and of several the one with the
    /// longest common border.
    pub(crate) fn neighbour(&self, pane: u64, side: Side, area: Rect) -> Option<u64> {
        let panes = self.panes(area);
        let from = rect_of(pane, &panes)?;
        let middle = |rect: Rect| {
            let across =
                if side.axis() == Direction::Right { Direction::Down } else { Direction::Right };
            let (begin, end) = rect.span(across);
            begin + end
        };
        let away = |rect: Rect| match side {
            Side::Left | Side::Up => from.edge(side).checked_sub(rect.edge(side.opposite())),
            Side::Right | Side::Down => rect.edge(side.opposite()).checked_sub(from.edge(side)),
        };
        let beside = panes.into_iter().filter(|(here, rect)| {
            *here != pane && rect.overlap(from, side.axis()) > 0 && away(*rect).is_some()
        });
        let nearest = beside.min_by_key(|(_, rect)| {
            let overlap = std::cmp::Reverse(rect.overlap(from, side.axis()));
            (away(*rect), overlap, middle(*rect).abs_diff(middle(from)))
        });
        nearest.map(|(pane, _)| pane)
    }
}

fn rect_of(pane: u64, panes: &[(u64, Rect)]) -> Option<Rect> {
    panes.iter().find(|(here, _)| *here == pane).map(|(_, rect)| *rect)
}

impl Node {
    /// Visits the nodes until `visit` returns true.
    fn each(&mut self, visit: &mut impl FnMut(&mut Self) -> bool) -> bool {
        if visit(self) {
            return true;
        }
        match self {
            Self::Pane(_) => false,
            Self::Split { first, second, .. } => first.each(visit) || second.each(visit),
        }
    }

    fn without(self, pane: u64) -> Option<Self> {
        match self {
            Self::Pane(here) => (here != pane).then_some(self),
            Self::Split { direction, ratio, first, second } => {
                match (first.without(pane), second.without(pane)) {
                    (Some(first), Some(second)) => {
                        let (first, second) = (Box::new(first), Box::new(second));
                        Some(Self::Split { direction, ratio, first, second })
                    }
                    (one, other) => one.or(other),
                }
            }
        }
    }

    fn set_ratio(&mut self, path: &str, wanted: f32) {
        let Self::Split { ratio, first, second, .. } = self else { return };
        match path.split_at_checked(1) {
            None => *ratio = wanted,
            Some(("0", rest)) => first.set_ratio(rest, wanted),
            Some((_, rest)) => second.set_ratio(rest, wanted),
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
                    ratio: ratio.to_string().parse().unwrap_or(Number::from(0)),
                    rect: area,
                    held: *ratio,
                    path: path.clone(),
                });
                let (one, other) = area.split(*direction, *ratio);
                for (branch, node, area) in [('0', first, one), ('1', second, other)] {
                    path.push(branch);
                    node.walk(area, path, panes, splits);
                    path.pop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect { x: 26, y: 1, width: 94, height: 39 };

    #[test]
    fn splits_share_the_area_and_close_up() {
        let mut layout = Layout::of(1);
        layout.split(1, 2, Direction::Right, 0.5);
        layout.split(2, 3, Direction::Down, 7.0);
        layout.split(9, 4, Direction::Down, 0.5);
        assert_eq!(layout.ids(), [1, 2, 3]);
        let panes = layout.panes(AREA);
        assert_eq!((panes[0].1.width, panes[1].1.x, panes[1].1.height), (47, 73, 35));
        let ids: Vec<_> = layout.splits(AREA).into_iter().map(|split| split.id).collect();
        assert_eq!(ids, ["split_0_root", "split_1_1"]);
        let layout = layout.without(2).unwrap().without(1).unwrap();
        assert_eq!(layout.panes(AREA), [(3, AREA)]);
        assert!(layout.without(3).is_none());
    }

    #[test]
    fn the_focus_goes_back_to_where_it_came_from() {
        let mut layout = Layout::of(1);
        layout.split(1, 2, Direction::Right, 0.5);
        layout.split(2, 3, Direction::Right, 0.5);
        layout.focus(3);
        assert_eq!(layout.without(3).unwrap().focused(), 1, "from there it came");
        assert_eq!(layout.without(1).unwrap().without(3).unwrap().focused(), 2);
        layout.focus(2);
        let mut later = layout.without(2).unwrap();
        assert_eq!(later.focused(), 3);
        later.focus(1);
        assert_eq!(later.without(1).unwrap().focused(), 3);
    }

    #[test]
    fn borders_move_and_neighbours_are_found() {
        let mut layout = Layout::of(1);
        layout.split(1, 2, Direction::Right, 0.5);
        layout.split(2, 3, Direction::Down, 0.25);
        assert_eq!(layout.neighbour(1, Side::Right, AREA), Some(3), "the longer border");
        assert_eq!(layout.neighbour(3, Side::Up, AREA), Some(2));
        assert_eq!(layout.neighbour(1, Side::Left, AREA), None);
        assert!(layout.resize(1, Side::Right, 0.2, AREA));
        assert!(layout.resize(3, Side::Down, 0.1, AREA), "the only border there is");
        let ratios = layout.splits(AREA).into_iter().map(|split| split.held.to_string());
        assert_eq!(ratios.collect::<Vec<_>>(), ["0.7", "0.35"]);
        assert!(!layout.resize(1, Side::Up, 0.1, AREA));
        layout.swap(1, 3);
        assert_eq!(layout.ids(), [3, 2, 1]);
    }
}
