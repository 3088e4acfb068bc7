/// The context of a model for the sidebar: `used/window`, or the bare `used`
/// while the window is unknown (`None` or 0).
///
/// Below 1 000 as it is, below a million in whole `k`, above in `M` with one
/// decimal; half up, carried.
///
/// ```
/// assert_eq!(herdr_reporter::sidecar::show_context(33_900, Some(1_000_000)), "34k/1.0M");
/// assert_eq!(herdr_reporter::sidecar::show_context(999_600, None), "1.0M");
/// ```
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

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counts_round_half_up_and_carry() {
        for (tokens, shown) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (1_499, "1k"),
            (1_500, "2k"),
            (999_499, "999k"),
            (999_500, "1.0M"),
            (999_600, "1.0M"),
            (1_049_999, "1.0M"),
            (1_050_000, "1.1M"),
            (1_949_999, "1.9M"),
            (12_000_000, "12.0M"),
            (u64::MAX, "18446744073709.5M"),
        ] {
            assert_eq!(count(tokens), shown, "{tokens}");
        }
    }
}
