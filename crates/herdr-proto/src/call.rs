use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, ErrorKind};
use crate::limits::REQUEST_LINE_MAX;
use crate::open::ErrorCode;

/// A method's parameters, tied to what the server answers.
///
/// The value serialises as the `params` object.
pub trait Call: Serialize {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// What the `result` of a successful reply holds.
    type Reply: DeserializeOwned;
}

/// `{"type": "ok"}`: the request was delivered. Whether it changed anything is
/// another question (protocol §5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Ack {}

/// The server's refusal of a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server refused the request: {code}")]
#[non_exhaustive]
pub struct Rejection {
    /// The code, which is what a caller acts on.
    pub code: ErrorCode,
    /// Text for people. It may quote the request, so it belongs in no log.
    pub message: String,
}

/// A reply is a result or a refusal.
pub type Reply<R> = Result<R, Rejection>;

/// Writes one request line, its newline included. It is meant for a single
/// write: a line that comes in two parts costs 100 ms (protocol §7.3).
///
/// # Errors
///
/// [`ErrorKind::Oversize`] if the line is over [`REQUEST_LINE_MAX`] bytes.
pub fn encode<C: Call>(id: &str, call: &C) -> Result<Vec<u8>, Error> {
    #[derive(Serialize)]
    struct Request<'a, C> {
        id: &'a str,
        method: &'static str,
        params: &'a C,
    }

    let request = Request { id, method: C::METHOD, params: call };
    let mut line = Vec::with_capacity(256);
    serde_json::to_writer(&mut line, &request)
        .map_err(|source| Error::json("the request cannot be written as JSON", source))?;
    line.push(b'\n');
    if line.len() > REQUEST_LINE_MAX {
        return Err(Error::new(ErrorKind::Oversize, "the request is over 64 KiB"));
    }
    Ok(line)
}

/// Reads one reply line. `error` is looked at first; the id is not looked at,
/// because a refused frame comes back with the id `""` (failure B59).
///
/// # Errors
///
/// [`ErrorKind::Malformed`] for a line that is no reply or not one to this
/// call, [`ErrorKind::NotPaneApi`] for a JSON-RPC answer.
pub fn decode<R: DeserializeOwned>(line: &[u8]) -> Result<Reply<R>, Error> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow, default)]
        jsonrpc: Option<&'a RawValue>,
        #[serde(borrow, default)]
        error: Option<&'a RawValue>,
        #[serde(borrow, default)]
        result: Option<&'a RawValue>,
    }

    let envelope: Envelope<'_> = serde_json::from_slice(line)
        .map_err(|source| Error::json("the reply is not a JSON object", source))?;
    if envelope.jsonrpc.is_some() {
        return Err(Error::new(
            ErrorKind::NotPaneApi,
            "the reply is JSON-RPC, not Herdr's pane API",
        ));
    }
    if let Some(error) = envelope.error {
        return decode_rejection(error).map(Err);
    }
    let result = envelope.result.ok_or_else(|| {
        Error::new(ErrorKind::Malformed, "the reply has neither result nor error")
    })?;
    serde_json::from_str(result.get())
        .map(Ok)
        .map_err(|source| Error::json("the result is not what this method answers", source))
}

pub(crate) fn decode_rejection(error: &RawValue) -> Result<Rejection, Error> {
    #[derive(Deserialize)]
    struct Refusal {
        code: serde_json::Value,
        #[serde(default)]
        message: serde_json::Value,
    }

    let refusal: Refusal = serde_json::from_str(error.get())
        .map_err(|source| Error::json("the error has no code", source))?;
    match refusal.code {
        serde_json::Value::String(code) => Ok(Rejection {
            code: ErrorCode::from(code.as_str()),
            message: refusal.message.as_str().unwrap_or_default().to_owned(),
        }),
        serde_json::Value::Number(_) => Err(Error::new(
            ErrorKind::NotPaneApi,
            "the error has a numeric code, as JSON-RPC has and Herdr's pane API has not",
        )),
        _ => Err(Error::new(ErrorKind::Malformed, "the error's code is no text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_looked_at_for_its_error_first() {
        for id in ["\"\"", "null", "\"other\"", "\"t:sub:0:probe\"", "7"] {
            let line =
                format!(r#"{{"id":{id},"error":{{"code":"pane_not_found","message":"m"}}}}"#);
            let refusal = decode::<Ack>(line.as_bytes()).unwrap().unwrap_err();
            assert_eq!(refusal.code, ErrorCode::PANE_NOT_FOUND);
        }
    }

    #[test]
    fn what_is_no_reply_is_told_apart() {
        for (line, kind) in [
            (&b""[..], ErrorKind::Malformed),
            (b"[]", ErrorKind::Malformed),
            (b"{}", ErrorKind::Malformed),
            (b"{\"id\":\"1\",\"result\":7}", ErrorKind::Malformed),
            (b"{\"id\":\"1\",\"error\":{}}", ErrorKind::Malformed),
            (b"\xff\xfe", ErrorKind::Malformed),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", ErrorKind::NotPaneApi),
            (b"{\"id\":1,\"error\":{\"code\":-32601,\"message\":\"m\"}}", ErrorKind::NotPaneApi),
        ] {
            assert_eq!(decode::<Ack>(line).unwrap_err().kind(), kind, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn unknown_codes_and_fields_are_kept_or_skipped() {
        let refusal =
            decode::<Ack>(br#"{"id":"","error":{"code":"brand_new","extra":1}}"#).unwrap();
        assert_eq!(refusal.unwrap_err().code.as_str(), "brand_new");
        assert!(
            decode::<Ack>(br#"{"id":"1","result":{"type":"ok","more":[1]},"x":1}"#)
                .unwrap()
                .is_ok()
        );
    }
}
