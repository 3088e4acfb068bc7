use crate::capabilities::Capabilities;
use crate::limits::SEQUENCE_MAX;

/// The query whether the terminal reads reports. Write it unchanged.
///
/// Its second half asks for the terminal's device attributes, which every terminal answers, in
/// order. If only this answer comes, the terminal does not read reports.
pub const QUERY: &[u8] = b"\x1b]7501;?\x1b\\\x1b[c";

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
/// The rest of an answer after its escape character.
const ANSWER: &[u8] = b"]7501;?";

/// The terminal's answer to [`QUERY`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// It reads reports.
    Supported(Capabilities),
    /// It answered only the second half of the query.
    Unsupported,
}

/// Removes the answers to [`QUERY`] from the terminal's input and returns all other bytes
/// unchanged and in order.
///
/// Send the query once. From then on all input goes through the filter until it [is
/// complete](Self::is_complete). No other request for device attributes may be open, because
/// its answer looks the same. An answer that comes after the program has stopped waiting is
/// still removed, so keep the filter and decide without the answer.
///
/// Bytes that may be the beginning of an answer are held back until more bytes arrive. The
/// Escape key alone is such a beginning: call [`release`](Self::release) when the input pauses,
/// as programs do that use time to tell the key from a sequence.
///
/// ```
/// use herdr_program_status::{Answer, AnswerFilter, State};
///
/// let mut filter = AnswerFilter::new();
/// let mut keys = Vec::new();
/// filter.feed(b"typed \x1b]7501;?:states=idle,work", &mut keys);
/// filter.feed(b"ing\x1b\\ahead\x1b[?62;22c", &mut keys);
/// assert_eq!(keys, b"typed ahead");
/// assert!(filter.is_complete());
/// let Some(Answer::Supported(terminal)) = filter.answer() else { panic!("it answered") };
/// assert!(terminal.accepts_state(State::Working) && !terminal.accepts_state(State::Done));
/// ```
#[derive(Debug, Clone, Default)]
pub struct AnswerFilter {
    stage: Stage,
    held: Vec<u8>,
    answer: Option<Answer>,
    complete: bool,
}

/// The meaning of the bytes that are held back.
#[derive(Debug, Clone, Copy, Default)]
enum Stage {
    /// No bytes are held back.
    #[default]
    Text,
    Escape,
    /// The first bytes of [`ANSWER`], this many.
    Prefix(usize),
    /// The rest of an answer.
    Pairs,
    /// An escape character that may end the answer.
    PairsEscape,
    /// The beginning of a control sequence.
    Control,
    /// The numbers of a device attributes answer.
    Attributes,
}

/// The effect of the next byte.
enum Step {
    Hold(Stage),
    Answer,
    Attributes,
    Other,
}

impl AnswerFilter {
    /// A filter that waits for the answers to one query.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes from the terminal and appends those for the program to `rest`.
    pub fn feed(&mut self, input: &[u8], rest: &mut Vec<u8>) {
        for &byte in input {
            self.take(byte, rest);
        }
    }

    /// Appends the bytes that are held back to `rest`. They no longer count as the beginning of
    /// an answer.
    pub fn release(&mut self, rest: &mut Vec<u8>) {
        rest.append(&mut self.held);
        self.stage = Stage::Text;
    }

    /// The answer; `None` while it is not known.
    pub fn answer(&self) -> Option<&Answer> {
        self.answer.as_ref()
    }

    /// Whether both halves of the query are settled, so that no more answers are expected.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    fn take(&mut self, byte: u8, rest: &mut Vec<u8>) {
        match self.step(byte) {
            Step::Hold(stage) => {
                self.held.push(byte);
                self.stage = stage;
            }
            Step::Answer => {
                let pairs = &self.held[1 + ANSWER.len()..];
                let pairs = pairs.strip_suffix(&[ESC]).unwrap_or(pairs);
                self.answer = Some(Answer::Supported(Capabilities::read(pairs)));
                self.forget();
            }
            Step::Attributes => {
                self.answer.get_or_insert(Answer::Unsupported);
                self.complete = true;
                self.forget();
            }
            Step::Other if self.held.is_empty() => rest.push(byte),
            Step::Other => {
                // An answer may begin with the byte that ended this one, or with the escape
                // character before it.
                let escape = matches!(self.stage, Stage::PairsEscape).then(|| self.held.pop());
                self.release(rest);
                for byte in escape.flatten().into_iter().chain([byte]) {
                    self.take(byte, rest);
                }
            }
        }
    }

    fn step(&self, byte: u8) -> Step {
        if self.held.len() >= SEQUENCE_MAX {
            return Step::Other;
        }
        match (self.stage, byte) {
            (Stage::Text, ESC) => Step::Hold(Stage::Escape),
            (Stage::Escape, b'[') => Step::Hold(Stage::Control),
            (Stage::Escape, b']') => Step::Hold(Stage::Prefix(1)),
            (Stage::Prefix(n), _) if byte == ANSWER[n] => {
                let whole = n + 1 == ANSWER.len();
                Step::Hold(if whole { Stage::Pairs } else { Stage::Prefix(n + 1) })
            }
            (Stage::Pairs, BEL) | (Stage::PairsEscape, b'\\') => Step::Answer,
            (Stage::Pairs, ESC) => Step::Hold(Stage::PairsEscape),
            (Stage::Pairs, b' '..=b'~') => Step::Hold(Stage::Pairs),
            // Only the first answer of this form belongs to the query.
            (Stage::Control, b'?') if !self.complete => Step::Hold(Stage::Attributes),
            (Stage::Attributes, b'0'..=b'9' | b';') => Step::Hold(Stage::Attributes),
            (Stage::Attributes, b'c') => Step::Attributes,
            _ => Step::Other,
        }
    }

    fn forget(&mut self) {
        self.held.clear();
        self.stage = Stage::Text;
    }
}
