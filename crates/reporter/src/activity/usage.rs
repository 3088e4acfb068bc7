/// The used context of a model as a text for the sidebar: `used/window`, or only `used` if the
/// window is unknown (`None` or 0).
///
/// Numbers from 1 000 on are rounded to whole `k`, and from a million on to `M` with one decimal.
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
