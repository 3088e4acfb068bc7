//! Texts that are not quite Unicode cost nobody an event.

use std::borrow::Cow;

/// The same line with U+FFFD in the place of every byte that is not UTF-8 and of every escape that
/// is half of a pair. A line without such is as it was.
pub fn repaired(line: &[u8]) -> String {
    halves_replaced(&String::from_utf8_lossy(line)).into_owned()
}

fn halves_replaced(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut fixed: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        let step = match (unit(bytes, at), unit(bytes, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                let fixed = fixed.get_or_insert_with(|| bytes.to_vec());
                fixed[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            // Another escape, such as of a backslash.
            _ => 2,
        };
        at = bytes.len().min(at + step);
    }
    match fixed.and_then(|fixed| String::from_utf8(fixed).ok()) {
        Some(fixed) => fixed.into(),
        None => text.into(),
    }
}

/// The UTF-16 unit that an escape at this place stands for.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
