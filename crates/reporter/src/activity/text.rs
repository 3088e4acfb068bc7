use herdr_proto::{PresentationText, strip_controls};

/// Absent, null and blank are the same: nothing to show.
pub(super) fn clean(text: Option<&str>) -> Option<PresentationText> {
    text.and_then(PresentationText::normalize)
}

/// A few names for a message, cleaned and cut.
pub(super) fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{}`", strip_controls(name).chars().take(40).collect::<String>()))
        .collect();
    if names.len() > SHOWN {
        shown.push(format!("and {} more", names.len() - SHOWN));
    }
    shown.join(", ")
}
