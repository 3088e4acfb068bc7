/// The context of a model for the sidebar: `used/window`, or the bare `used`
/// while the window is unknown (`None` or 0).
///
/// Below 1 000 as it is, below a million in whole `k`, above in `M` with one
/// decimal; half up, carried.
pub fn show_context(used: u64, window: Option<u64>) -> String {
    match window {
        Some(window) if window > 0 => format!("{}/{}", count(used), count(window)),
        _ => count(used),
    }
}

fn count(tokens: u64) -> String {
    if tokens < 1_000 {
        return tokens.to_string();
    }
    let thousands = tokens.saturating_add(500) / 1_000;
    if thousands < 1_000 {
        return format!("{thousands}k");
    }
    let tenths = tokens.saturating_add(50_000) / 100_000;
    format!("{}.{}M", tenths / 10, tenths % 10)
}
