//! The faults that a server can have.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A way in which a server misbehaves.
///
/// Each has a name for `--fault` and for control lines, which [`FromStr`] reads and
/// [`Display`](fmt::Display) writes. *Applied* and *not applied* say whether the model
/// takes the request before the answer goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// `never`: not applied; the connection stays open without an answer until the
    /// client leaves.
    NeverAnswers,
    /// `late:MS`: applied at once; the answer comes after this time.
    AnswersLate(Duration),
    /// `close`: not applied; the connection closes once the request is read.
    ClosesEarly,
    /// `reset`: not applied; the connection closes before the request is read, which
    /// resets it.
    Resets,
    /// `look-late`: applied 100 ms later, as when the request comes just after the
    /// server has looked for it (protocol 7.3).
    LooksLate,
    /// `half-line`: applied; half of the answer comes, and the connection closes.
    HalfLine,
    /// `byte-by-byte`: applied; every byte of the answer is sent on its own.
    ByteByByte,
    /// `two-lines`: applied; a second, unrequested line comes in the same packet.
    TwoLines,
    /// `wrong-id`: applied; the answer carries the id of another request.
    WrongId,
    /// `empty-id`: applied; the answer carries the id `""`.
    EmptyId,
    /// `null-id`: applied; the answer carries the id `null`.
    NullId,
    /// `json-rpc`: not applied; the answer is in the protocol of herdr-core, which is
    /// another one (protocol 8.1).
    JsonRpc,
    /// `oversize`: applied; the answer has 10 MiB.
    Oversize,
    /// `invalid-utf8`: applied; the answer is not UTF-8.
    InvalidUtf8,
    /// `unknown`: applied; the answer has fields and values that no known
    /// server sends.
    Unknown,
    /// `refuse:METHOD` or `refuse:METHOD:CODE`: not applied; requests of this method
    /// get an error with this code, `internal_error` by default.
    Refuses {
        /// The method.
        method: String,
        /// The error code of the answer.
        code: String,
    },
    /// `slow:MS`: applied after this time, during which the application thread handles
    /// no other request.
    SlowApp(Duration),
    /// `freeze`: like a stopped process. Clients can connect and send requests, but get
    /// no answers. When the fault ends, these requests are applied.
    Frozen,
    /// `full-backlog`: the backlog takes no further connection; a non-blocking connect
    /// fails.
    FullBacklog,
    /// `gone`: there is no socket at the path.
    Gone,
    /// `refusing`: the socket file exists, and no process listens at it.
    Refusing,
}

impl Fault {
    /// Whether the fault is about connecting and not about a single request:
    /// [`Fault::Frozen`], [`Fault::FullBacklog`], [`Fault::Gone`] and
    /// [`Fault::Refusing`].
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::Frozen | Self::FullBacklog | Self::Gone | Self::Refusing)
    }

    /// Whether the fault changes the handling of a request of this method.
    pub(super) fn applies_to(&self, request_method: &str) -> bool {
        match self {
            Self::Refuses { method, .. } => method == request_method,
            // These take effect before a request is read.
            Self::Resets | Self::LooksLate => false,
            other => !other.is_lasting(),
        }
    }
}

/// A text is not the name of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFault(String);

impl fmt::Display for UnknownFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = WITHOUT_PARAMETER.iter().map(|(name, _)| *name).collect();
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
const WITHOUT_PARAMETER: [(&str, Fault); 18] = [
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
        if let Some((_, fault)) = WITHOUT_PARAMETER.iter().find(|(name, _)| *name == text) {
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
                let name = WITHOUT_PARAMETER
                    .iter()
                    .find(|(_, fault)| fault == plain)
                    .map(|(name, _)| *name);
                f.write_str(name.unwrap_or_default())
            }
        }
    }
}

/// The faults that are set, each until it is cleared or for a number of
/// requests.
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

    /// Returns the first fault that applies to a request, and uses one of its times.
    pub(super) fn take(&mut self, method: &str) -> Option<Fault> {
        let place = self.0.iter().position(|(fault, _)| fault.applies_to(method))?;
        self.use_up(place)
    }

    /// Whether this fault is set; uses one of its times.
    pub(super) fn take_exact(&mut self, fault: &Fault) -> bool {
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
    fn names_are_read_back() {
        let more = ["late:250", "slow:5", "refuse:pane.get:pane_not_found"];
        for name in WITHOUT_PARAMETER.iter().map(|(name, _)| *name).chain(more) {
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
        assert_eq!(faults.take("x"), Some(Fault::HalfLine));
        assert_eq!(faults.take("x"), Some(Fault::HalfLine));
        assert_eq!(faults.take("x"), None);
        assert!(faults.take("ping").is_some() && faults.take("ping").is_some());
        faults.set(Fault::Frozen, None);
        assert!(faults.has(&Fault::Frozen) && faults.take("x").is_none());
        faults.clear();
        assert!(!faults.has(&Fault::Frozen) && faults.take("ping").is_none());
    }
}
