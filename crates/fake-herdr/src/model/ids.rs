//! Public numbers and the spellings of pane ids (protocol 2.3).

/// The digits of public numbers. Bijective base 32: the digits stand for 1 to
/// 32, so `0` is the digit for 32 and no number has a leading zero.
const DIGITS: &[u8; 32] = b"123456789ABCDEFGHJKMNPQRSTVWXYZ0";

/// Writes a public number, `1` for 1, `A` for 10, `11` for 33.
pub(crate) fn encode(mut number: u64) -> String {
    let mut digits = Vec::new();
    while number > 0 {
        let rest = number - 1;
        digits.push(char::from(DIGITS[usize::try_from(rest % 32).unwrap_or(0)]));
        number = rest / 32;
    }
    digits.iter().rev().collect()
}

/// Reads a public number; `None` if the text is empty, has another character than
/// the digits or is too large.
pub(crate) fn decode(text: &str) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.bytes().try_fold(0u64, |number, byte| {
        let digit = DIGITS.iter().position(|known| *known == byte)?;
        number.checked_mul(32)?.checked_add(u64::try_from(digit).ok()? + 1)
    })
}

/// Reads a position in the list of workspaces and counts it from 0: `1` and `w_1`
/// give 0.
pub(crate) fn place(text: &str) -> Option<usize> {
    text.strip_prefix("w_").unwrap_or(text).parse::<usize>().ok()?.checked_sub(1)
}

/// A pane id as a caller spelled it. Ids from before a move are looked up elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaneName<'a> {
    /// A number within a workspace: `w1:p1`, `1-1`, `w1-1`, `w_1:p1`.
    Numbered { workspace: &'a str, number: u64 },
    /// The server's own number of the pane, which a move does not change: `p_1`,
    /// `p_w1_1`.
    Raw {
        /// The workspace that must contain the pane, if the spelling names one.
        workspace: Option<&'a str>,
        number: u64,
    },
}

/// Reads any spelling of a pane id; `None` if the text is not a pane id.
pub(crate) fn pane_name(text: &str) -> Option<PaneName<'_>> {
    if let Some(rest) = text.strip_prefix("p_") {
        let (workspace, number) = match rest.rsplit_once('_') {
            Some((workspace, number)) => (Some(workspace), number),
            None => (None, rest),
        };
        return Some(PaneName::Raw { workspace, number: number.parse::<u32>().ok()?.into() });
    }
    if let Some((workspace, number)) = text.rsplit_once(":p") {
        return Some(PaneName::Numbered { workspace, number: decode(number)? });
    }
    let (workspace, number) = text.rsplit_once('-')?;
    Some(PaneName::Numbered { workspace, number: number.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_numbers_count_without_a_zero() {
        for (number, text) in [(1, "1"), (9, "9"), (10, "A"), (32, "0"), (33, "11"), (64, "10")] {
            assert_eq!(encode(number), text);
            assert_eq!(decode(text), Some(number));
        }
        assert_eq!(decode(""), None);
        assert_eq!(decode("a"), None, "digits are upper case");
        assert_eq!(decode("ZZZZZZZZZZZZZZZZZZZZ"), None, "too large");
        for number in 1..5_000 {
            assert_eq!(decode(&encode(number)), Some(number));
        }
    }

    #[test]
    fn pane_ids_have_four_spellings() {
        let numbered = |workspace, number| Some(PaneName::Numbered { workspace, number });
        assert_eq!(pane_name("w1:p1"), numbered("w1", 1));
        assert_eq!(pane_name("w1:pA"), numbered("w1", 10));
        assert_eq!(pane_name("1-10"), numbered("1", 10));
        assert_eq!(pane_name("w1-1"), numbered("w1", 1));
        assert_eq!(pane_name("w_1:p1"), numbered("w_1", 1));
        let raw = |workspace, number| Some(PaneName::Raw { workspace, number });
        assert_eq!(pane_name("p_7"), raw(None, 7));
        assert_eq!(pane_name("p_w1_7"), raw(Some("w1"), 7));
        for nonsense in ["", "w1", "w1:p", "w1:pé", "p_x", "term_1"] {
            assert_eq!(pane_name(nonsense), None, "{nonsense}");
        }
    }
}
