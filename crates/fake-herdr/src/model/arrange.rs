//! The `pane.*` methods about the layout of a tab: swap, zoom and resize.

use serde_json::json;

use super::Model;
use super::call::{PaneResize, PaneSwap, PaneZoom, ZoomMode};
use super::dispatch::{Outcome, without_unset};
use super::failure::Failure;
use super::topology::Place;

impl Model {
    pub(super) fn pane_swap(&mut self, swap: &PaneSwap) -> Outcome {
        let explicit = swap.source_pane_id.as_deref().zip(swap.target_pane_id.as_deref());
        let named = swap.source_pane_id.is_some() || swap.target_pane_id.is_some();
        let (source, target, missing) = match (swap.direction, explicit) {
            (Some(side), None) if !named => {
                let source = self.find_or_focused(swap.pane_id.as_deref())?;
                let neighbour = self
                    .place_of(source)
                    .and_then(|place| self.tab(place).layout.neighbour(source, side, self.area()));
                (Some(source), neighbour, "no_neighbor")
            }
            (None, Some((source, target))) => {
                (self.find_pane(source).ok(), self.find_pane(target).ok(), "not_found")
            }
            _ => {
                let message = "expected a direction, or both source_pane_id and target_pane_id";
                return Err(Failure::new("invalid_pane_swap", message));
            }
        };
        let places = (
            source.and_then(|pane| self.place_of(pane)),
            target.and_then(|pane| self.place_of(pane)),
        );
        let reason = match places {
            (None, _) | (_, None) => Some(missing),
            _ if source == target => Some("same_pane"),
            (from, to) if from != to => Some("cross_tab"),
            _ => None,
        };
        let focused = self
            .focused_workspace()
            .map(|workspace| Place { workspace, tab: self.workspaces[workspace].active });
        let place = places.0.or(places.1).or(focused);
        let place = place.ok_or_else(|| Failure::new("pane_layout_unavailable", "no tab"))?;
        if let (None, Some(source), Some(target)) = (reason, source, target) {
            self.tab_mut(place).layout.swap(source, target);
            self.focus_pane(source);
            self.emit_layout(place);
        }
        let shown = |pane: Option<u64>, asked: &Option<String>| {
            pane.and_then(|pane| self.pane_id(pane)).or_else(|| asked.clone())
        };
        let layout = self.layout_view(place);
        Ok(json!({ "type": "pane_swap", "swap": without_unset(json!({
            "changed": reason.is_none(),
            "reason": reason,
            "source_pane_id": shown(source, &swap.source_pane_id),
            "target_pane_id": shown(target, &swap.target_pane_id),
            "focused_pane_id": layout["focused_pane_id"],
            "layout": layout,
        })) }))
    }

    pub(super) fn pane_zoom(&mut self, zoom: &PaneZoom) -> Outcome {
        let pane = self.find_or_focused(zoom.pane_id.as_deref())?;
        let focus_changed = self.focused_pane() != Some(pane);
        if focus_changed {
            self.focus_pane(pane);
        }
        let place = self.place_of(pane).ok_or_else(|| Failure::pane_not_found("to zoom"))?;
        let tab = self.tab_mut(place);
        let reason = match (zoom.mode, tab.zoomed) {
            _ if tab.layout.ids().len() == 1 => Some("single_pane"),
            (ZoomMode::On, true) => Some("already_zoomed"),
            (ZoomMode::Off, false) => Some("already_unzoomed"),
            _ => None,
        };
        tab.zoomed ^= reason.is_none();
        let zoomed = tab.zoomed;
        let layout = self.layout_view(place);
        let changed = reason.is_none() || focus_changed;
        if changed {
            self.emit_layout(place);
        }
        Ok(json!({ "type": "pane_zoom", "zoom": without_unset(json!({
            "changed": changed,
            "zoom_changed": reason.is_none(),
            "focus_changed": focus_changed,
            "reason": reason,
            "pane_id": self.pane_id(pane),
            "focused_pane_id": layout["focused_pane_id"],
            "zoomed": zoomed,
            "layout": layout,
        })) }))
    }

    pub(super) fn pane_resize(&mut self, resize: &PaneResize) -> Outcome {
        let pane = self.find_or_focused(resize.pane_id.as_deref())?;
        let place = self.place_of(pane).ok_or_else(|| Failure::pane_not_found("to resize"))?;
        let amount = resize.amount.filter(|amount| amount.is_finite()).unwrap_or(0.05);
        let area = self.area();
        let layout = &mut self.tab_mut(place).layout;
        let changed = layout.resize(pane, resize.direction, amount.abs().min(0.5), area);
        let layout = self.layout_view(place);
        if changed {
            self.emit_layout(place);
        }
        Ok(json!({ "type": "pane_resize", "resize": without_unset(json!({
            "changed": changed,
            "reason": (!changed).then_some("unchanged"),
            "pane_id": self.pane_id(pane),
            "focused_pane_id": layout["focused_pane_id"],
            "layout": layout,
        })) }))
    }

    pub(super) fn pane_layout(&self, id: Option<&str>) -> Outcome {
        let pane = self.find_or_focused(id)?;
        let layout = self.place_of(pane).map(|place| self.layout_view(place));
        Ok(json!({ "type": "pane_layout", "layout": layout }))
    }
}
