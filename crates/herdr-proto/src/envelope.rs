//! The outer object of every line from the server, which is read before its contents.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::{Error, ErrorKind};
use crate::open::ErrorCode;

/// The server's refusal of a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server refused the request: {code}")]
#[non_exhaustive]
pub struct Rejection {
    /// The code, which tells the caller what to do.
    pub code: ErrorCode,
    /// A message for people; empty if the server gives none. It may quote the request, so do
    /// not log it.
    pub message: String,
}

/// A reply is a result or a refusal.
pub type Reply<R> = Result<R, Rejection>;

/// The parts of a reply except the id, see [`decode`](crate::decode).
#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads a line. The inner result is the refusal, if the line is one.
    pub(crate) fn open(line: &'a [u8]) -> Result<Reply<Self>, Error> {
        // serde skips unknown fields without checking that they are valid UTF-8.
        let line =
            std::str::from_utf8(line).map_err(|_| Error::malformed("the line is not UTF-8"))?;
        let envelope: Self = object(line, "the line is not a JSON object")?;
        if envelope.jsonrpc.is_some() {
            return Err(Error::new(
                ErrorKind::NotPaneApi,
                "the line is JSON-RPC, not Herdr's pane API",
            ));
        }
        match envelope.error {
            Some(error) => rejection(error).map(Err),
            None => Ok(Ok(envelope)),
        }
    }
}

/// Reads a JSON object and nothing else. `problem` describes a failure.
///
/// The first character is checked because serde also reads a struct from an array, with the
/// elements as the fields in their order.
pub(crate) fn object<'a, T: Deserialize<'a>>(
    json: &'a str,
    problem: &'static str,
) -> Result<T, Error> {
    if !json.trim_start().starts_with('{') {
        return Err(Error::malformed(problem));
    }
    serde_json::from_str(json).map_err(|cause| Error::json(problem, &cause))
}

/// As [`object`], for a part of a line that may be missing.
pub(crate) fn part<T: DeserializeOwned>(
    part: Option<&RawValue>,
    missing: &'static str,
    problem: &'static str,
) -> Result<T, Error> {
    object(part.ok_or_else(|| Error::malformed(missing))?.get(), problem)
}

fn rejection(error: &RawValue) -> Result<Rejection, Error> {
    #[derive(Deserialize)]
    struct Refusal<'a> {
        #[serde(borrow)]
        code: &'a RawValue,
        #[serde(borrow, default)]
        message: Option<&'a RawValue>,
    }

    let text = |raw: &RawValue| serde_json::from_str::<String>(raw.get()).ok();
    let refusal: Refusal<'_> = object(error.get(), "the error is not an object with a code")?;
    match text(refusal.code) {
        Some(code) => Ok(Rejection {
            code: ErrorCode::from(code.as_str()),
            message: refusal.message.and_then(text).unwrap_or_default(),
        }),
        None if refusal.code.get().starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            Err(Error::new(
                ErrorKind::NotPaneApi,
                "the error has a numeric code, as JSON-RPC has and Herdr's pane API has not",
            ))
        }
        None => Err(Error::malformed("the error's code is not a text")),
    }
}
