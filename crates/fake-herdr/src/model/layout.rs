//! The layout of a tab: how its panes share the area, and which one has the focus.

use serde::Serialize;
use serde_json::Number;

use super::geometry::{Direction, Rect, Side};

/// A ratio within the server's limits.
fn bounded(ratio: f32) -> f32 {
    if ratio.is_finite() { ratio.clamp(0.1, 0.9) } else { 0.5 }
}

/// The panes of a tab, by their raw numbers.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    root: Node,
    focused: u64,
    /// The pane that had the focus before, if it is still in the tab.
    before: Option<u64>,
}

#[derive(Debug, Clone)]
enum Node {
    Pane(u64),
    Split { direction: Direction, ratio: f32, first: Box<Node>, second: Box<Node> },
}

/// A split as replies list it, with its path in the tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SplitView {
    id: String,
    direction: Direction,
    /// The shortest text of the 32-bit ratio, without the digits of a 64-bit float.
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

    /// The panes from left to right and top to bottom.
    pub(crate) fn ids(&self) -> Vec<u64> {
        let none = Rect { x: 0, y: 0, width: 0, height: 0 };
        self.panes(none).into_iter().map(|(pane, _)| pane).collect()
    }

    /// The panes with their areas, in the same order.
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

    /// Puts a pane beside another one. The focus does not change.
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

    /// The layout without a pane; `None` if no pane is left. If the pane had the
    /// focus, it returns to the pane that had it before, or goes to the next one.
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

    /// Moves the nearest border of a pane towards a side; `false` if no border moved.
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

    /// The neighbour of a pane on a side: the nearest pane, and among several the one
    /// with the longest common border.
    pub(crate) fn neighbour(&self, pane: u64, side: Side, area: Rect) -> Option<u64> {
        let panes = self.panes(area);
        let from = rect_of(pane, &panes)?;
        let middle = |rect: Rect| {
            let (begin, end) = rect.span(side.axis().across());
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
    /// Visits the nodes until `visit` returns `true`.
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
        assert_eq!(layout.without(3).unwrap().focused(), 1, "it had the focus before");
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
