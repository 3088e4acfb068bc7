//! Faults that a server can be given.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A way in which a server misbehaves.
///
/// Each fault has a name for `--fault` and for control lines, which [`FromStr`] and
/// [`Display`](fmt::Display) use. *Applied* means that the model applies the request before the
/// answer goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// `never`: reads the request, does not apply it, and keeps the connection open until the
    /// client closes it.
    NeverAnswers,
    /// `late:MS`: applied at once, answered after this delay.
    AnswersLate(Duration),
    /// `close`: reads the request, does not apply it, and closes the connection.
    ClosesEarly,
    /// `reset`: closes the connection without reading the request, which resets it.
    Resets,
    /// `look-late`: does not find the request at the first look, as if the client were a moment
    /// late, and looks again 100 ms later (protocol 7.3).
    LooksLate,
    /// `half-line`: applied; half of the answer is sent, then the connection closes.
    HalfLine,
    /// `byte-by-byte`: applied; every byte of the answer is sent separately.
    ByteByByte,
    /// `two-lines`: applied; an additional line is sent in the same packet.
    TwoLines,
    /// `wrong-id`: applied; the answer has the id of another request.
    WrongId,
    /// `empty-id`: applied; the answer has the id `""`.
    EmptyId,
    /// `null-id`: applied; the answer has the id `null`.
    NullId,
    /// `json-rpc`: not applied; the answer is one of herdr-core, which is another protocol
    /// (protocol 8.1).
    JsonRpc,
    /// `oversize`: applied; the answer has 10 MiB.
    Oversize,
    /// `invalid-utf8`: applied; the answer is not UTF-8.
    InvalidUtf8,
    /// `unknown`: applied; the answer has fields and values that no known server sends.
    Unknown,
    /// `refuse:METHOD` or `refuse:METHOD:CODE`: not applied; this method is refused with this
    /// code, by default `internal_error`. Other methods work.
    Refuses {
        /// The method.
        method: String,
        /// The error code of the answer.
        code: String,
    },
    /// `slow:MS`: every request takes the application thread this long, one after the other.
    SlowApp(Duration),
    /// `freeze`: like a stopped process. Connections are accepted and requests received, but
    /// not answered. When the fault is cleared, everything that was received is applied.
    Frozen,
    /// `full-backlog`: the backlog is full, so a non-blocking connect fails.
    FullBacklog,
    /// `gone`: there is no socket at the path.
    Gone,
    /// `refusing`: there is a socket file without a listener.
    Refusing,
}

impl Fault {
    /// Whether the fault is about connecting, not about answering a request: [`Fault::Frozen`],
    /// [`Fault::FullBacklog`], [`Fault::Gone`] and [`Fault::Refusing`].
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::Frozen | Self::FullBacklog | Self::Gone | Self::Refusing)
    }

    /// Whether the fault affects a request of this method.
    pub(super) fn concerns(&self, request_method: &str) -> bool {
        match self {
            Self::Refuses { method, .. } => method == request_method,
            // These have their effect before there is a request.
            Self::Resets | Self::LooksLate => false,
            other => !other.is_lasting(),
        }
    }
}

/// The name of a fault is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFault(String);

impl fmt::Display for UnknownFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = PLAIN.iter().map(|(name, _)| *name).collect();
        write!(
            f,
            "there is no fault {:?}: expected {}, late:MS, slow:MS, refuse:METHOD or refuse:METHOD:CODE",
            self.0,
            names.join(", ")
        )
    }
}

impl std::error::Error for UnknownFault {}

/// The faults without a parameter.
const PLAIN: [(&str, Fault); 18] = [
    ("never", Fault::NeverAnswers),
    ("close", Fault::ClosesEarly),
    ("reset", Fault::Resets),
    ("look-late", Fault::LooksLate),
    ("half-line", Fault::HalfLine),
    ("byte-by-byte", Fault::ByteByByte),
    ("two-lines", Fault::TwoLines),
    ("wrong-id", Fault::WrongId),
    ("empty-id", Fault::EmptyId),
    ("null-id", Fault::NullId),
    ("json-rpc", Fault::JsonRpc),
    ("oversize", Fault::Oversize),
    ("invalid-utf8", Fault::InvalidUtf8),
    ("unknown", Fault::Unknown),
    ("freeze", Fault::Frozen),
    ("full-backlog", Fault::FullBacklog),
    ("gone", Fault::Gone),
    ("refusing", Fault::Refusing),
];

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let unknown = || UnknownFault(text.to_owned());
        if let Some((_, fault)) = PLAIN.iter().find(|(name, _)| *name == text) {
            return Ok(fault.clone());
        }
        let (name, value) = text.split_once(':').ok_or_else(unknown)?;
        let time = || value.parse().map(Duration::from_millis).map_err(|_| unknown());
        match name {
            "late" => time().map(Self::AnswersLate),
            "slow" => time().map(Self::SlowApp),
            "refuse" if !value.is_empty() => {
                let (method, code) = value.split_once(':').unwrap_or((value, "internal_error"));
                if method.is_empty() || code.is_empty() {
                    return Err(unknown());
                }
                Ok(Self::Refuses { method: method.to_owned(), code: code.to_owned() })
            }
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnswersLate(time) => write!(f, "late:{}", time.as_millis()),
            Self::SlowApp(time) => write!(f, "slow:{}", time.as_millis()),
            Self::Refuses { method, code } => write!(f, "refuse:{method}:{code}"),
            plain => {
                let name = PLAIN.iter().find(|(_, fault)| fault == plain).map(|(name, _)| *name);
                f.write_str(name.unwrap_or_default())
            }
        }
    }
}

/// The faults that are set, each permanently or for a number of requests.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<(Fault, Option<u32>)>);

impl Faults {
    pub(super) fn set(&mut self, fault: Fault, times: Option<u32>) {
        self.0.retain(|(known, _)| *known != fault);
        if times != Some(0) {
            self.0.push((fault, times));
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn has(&self, fault: &Fault) -> bool {
        self.0.iter().any(|(known, _)| known == fault)
    }

    /// The first fault that affects a request. It uses up one of its times.
    pub(super) fn strike(&mut self, method: &str) -> Option<Fault> {
        let place = self.0.iter().position(|(fault, _)| fault.concerns(method))?;
        self.use_up(place)
    }

    /// This fault, if it is set. It uses up one of its times.
    pub(super) fn strike_exactly(&mut self, fault: &Fault) -> bool {
        let place = self.0.iter().position(|(known, _)| known == fault);
        place.and_then(|place| self.use_up(place)).is_some()
    }

    fn use_up(&mut self, place: usize) -> Option<Fault> {
        let (fault, times) = self.0.get_mut(place)?;
        let fault = fault.clone();
        if let Some(times) = times {
            *times -= 1;
            if *times == 0 {
                self.0.remove(place);
            }
        }
        Some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_faults() {
        let more = ["late:250", "slow:5", "refuse:pane.get:pane_not_found"];
        for name in PLAIN.iter().map(|(name, _)| *name).chain(more) {
            assert_eq!(name.parse::<Fault>().unwrap().to_string(), name);
        }
        let refuses =
            Fault::Refuses { method: "ping".to_owned(), code: "internal_error".to_owned() };
        assert_eq!("refuse:ping".parse(), Ok(refuses));
        for nonsense in
            ["", "late", "late:x", "late:-1", "refuse:", "refuse::x", "refuse:ping:", "freezer"]
        {
            let message = nonsense.parse::<Fault>().unwrap_err().to_string();
            assert!(message.contains("half-line") && message.contains("late:MS"), "{message}");
        }
    }

    #[test]
    fn a_fault_lasts_as_long_as_it_was_set_for() {
        let mut faults = Faults::default();
        faults.set(Fault::HalfLine, Some(2));
        faults.set("refuse:ping".parse().unwrap(), None);
        assert_eq!(faults.strike("x"), Some(Fault::HalfLine));
        assert_eq!(faults.strike("x"), Some(Fault::HalfLine));
        assert_eq!(faults.strike("x"), None);
        assert!(faults.strike("ping").is_some() && faults.strike("ping").is_some());
        faults.set(Fault::Frozen, None);
        assert!(faults.has(&Fault::Frozen) && faults.strike("x").is_none());
        faults.clear();
        assert!(!faults.has(&Fault::Frozen) && faults.strike("ping").is_none());
    }
}
