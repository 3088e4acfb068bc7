//! Text that is not quite Unicode must not cost an event.

/// The line with U+FFFD in place of each invalid UTF-8 sequence and each escape of half a surrogate
/// pair. A valid line stays the same.
pub fn repaired(line: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(line).into_owned().into_bytes();
    let mut at = 0;
    while let Some(found) = text[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        let length = match (escaped_unit(&text, at), escaped_unit(&text, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                text[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            // Another escape, for example of a backslash.
            _ => 2,
        };
        at = text.len().min(at + length);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The UTF-16 code unit of a `\u` escape that begins at `at`.
fn escaped_unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
