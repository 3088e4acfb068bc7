//! Servers that answer wrongly, and what comes of it (failures B59, B60, B79).

#![cfg(unix)]

mod support;

use herdr_proto::limits::SERVER_LINE_MAX;
use herdr_proto::{ErrorCode, Ping};
use herdr_socket_transport::{Client, Error, ErrorKind, Options, Phase};
use support::{PONG, Server, drain, read_line, write};

async fn ping(server: &Server) -> Result<(), Error> {
    let pong = server.client().call(&Ping::default()).await?;
    assert_eq!((pong.version.as_str(), pong.protocol), ("0.8.2", 20));
    Ok(())
}

#[tokio::test]
async fn what_is_no_reply_gets_its_own_kind() {
    let cases: [(&str, &[u8], ErrorKind); 15] = [
        ("closes", b"", ErrorKind::ClosedWithoutReply),
        ("half a line", &PONG[..20], ErrorKind::ClosedMidReply),
        ("all but the newline", &PONG[..PONG.len() - 1], ErrorKind::ClosedMidReply),
        ("a blank line", b"\n", ErrorKind::Malformed),
        ("a blank line, then the reply", &[b"\n", PONG].concat(), ErrorKind::Malformed),
        ("invalid UTF-8", b"{\"id\":\"\xff\xfe\",\"result\":{}}\n", ErrorKind::Malformed),
        ("no UTF-8 at all", b"\x80\x81\x82\n", ErrorKind::Malformed),
        ("no JSON", b"HTTP/1.1 400 Bad Request\r\n", ErrorKind::Malformed),
        ("half of JSON", b"{\"id\":\"t1\",\n", ErrorKind::Malformed),
        ("a list", b"[]\n", ErrorKind::Malformed),
        ("neither result nor error", b"{\"id\":\"t1\"}\n", ErrorKind::Malformed),
        ("the reply of another call", b"{\"id\":\"t1\",\"result\":7}\n", ErrorKind::Malformed),
        ("a bare null", b"null\n", ErrorKind::Malformed),
        (
            "JSON-RPC result",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"type\":\"pong\"}}\n",
            ErrorKind::NotPaneApi,
        ),
        (
            "JSON-RPC error",
            b"{\"id\":null,\"error\":{\"code\":-32601,\"message\":\"m\",\"data\":{}}}\n",
            ErrorKind::NotPaneApi,
        ),
    ];
    for (name, reply, kind) in cases {
        let server = Server::answering(reply);
        let error = ping(&server).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{name}: {error}");
        assert_eq!(error.phase(), Some(Phase::Read), "{name}");
        assert!(error.rejection().is_none(), "{name}");
    }
}

#[tokio::test]
async fn a_reply_is_taken_however_it_comes_and_whatever_its_id() {
    let with_id = |id: &str| String::from_utf8_lossy(PONG).replace("\"t1\"", id).into_bytes();
    let replies = [
        PONG.to_vec(),
        [PONG, b"{\"half a second line"].concat(),
        [PONG, PONG].concat(),
        [&PONG[..PONG.len() - 1], b"\r\n"].concat(),
        with_id("\"\""),
        with_id("null"),
        with_id("\"another\""),
    ];
    for reply in replies {
        ping(&Server::answering(reply.clone())).await.unwrap_or_else(|error| {
            panic!("{}: {error}", reply.escape_ascii());
        });
    }
}

#[tokio::test]
async fn a_reply_byte_by_byte_is_a_reply() {
    let server = Server::start(|stream| {
        read_line(&stream);
        for byte in PONG {
            write(&stream, &[*byte]);
            std::thread::yield_now();
        }
    });
    ping(&server).await.unwrap();
}

#[tokio::test]
async fn an_error_is_seen_before_any_id() {
    let ids = ["\"\"", "null", "\"another\"", "\"t1:sub:0:probe\"", "7", "\"t1\""];
    for id in ids {
        let reply = format!(
            "{{\"id\":{id},\"error\":{{\"code\":\"pane_not_found\",\"message\":\"secret\"}}}}\n"
        );
        let error = ping(&Server::answering(reply)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Rejected, "{id}");
        let rejection = error.rejection().unwrap();
        assert_eq!(rejection.code, ErrorCode::PANE_NOT_FOUND, "{id}");
        assert_eq!(rejection.message, "secret");
        // The code is for logs, the message may quote the request.
        assert!(error.to_string().contains("pane_not_found"), "{error}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
}

#[tokio::test]
async fn a_code_of_any_length_makes_a_short_message() {
    let reply = format!("{{\"error\":{{\"code\":\"{}\\n\"}}}}\n", "c".repeat(100_000));
    let error = ping(&Server::answering(reply)).await.unwrap_err();
    assert_eq!(error.rejection().unwrap().code.as_str().len(), 100_001);
    assert!(error.to_string().len() < 500);
    let reply = "{\"error\":{\"code\":\"two\\nlines\\u001b[31m\"}}\n";
    let error = ping(&Server::answering(reply)).await.unwrap_err();
    assert!(!error.to_string().contains(char::is_control), "{error:?}");
}

#[tokio::test]
async fn a_line_over_the_cap_ends_the_exchange() {
    let big = vec![b'x'; 10 * 1024 * 1024];
    for ending in [&b"\n"[..], b""] {
        let server = Server::answering([&big, ending].concat());
        let error = ping(&server).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Oversize);
    }
}

#[tokio::test]
async fn a_line_at_the_cap_is_still_a_reply() {
    let server = Server::answering(b"123456789\n");
    for (cap, fits) in [(9, true), (8, false)] {
        let options = server.client().options().reply_cap(cap);
        let client = Client::new(server.socket(), options);
        let outcome = client.exchange(b"{}\n").await;
        assert_eq!(outcome.as_deref().ok(), fits.then_some(&b"123456789"[..]));
    }
}

#[tokio::test]
async fn a_server_that_never_reads_may_still_answer_or_close() {
    // Whether the client had written already when the server closed, is up to
    // the scheduler; the outcome is not.
    for _ in 0..50 {
        let closing = Server::start(drop);
        assert_eq!(ping(&closing).await.unwrap_err().kind(), ErrorKind::ClosedWithoutReply);
        let refusing = Server::start(|stream| {
            write(
                &stream,
                b"{\"id\":\"\",\"error\":{\"code\":\"rate_limited\",\"message\":\"\"}}\n",
            );
        });
        let error = ping(&refusing).await.unwrap_err();
        assert_eq!(error.rejection().unwrap().code, ErrorCode::RATE_LIMITED);
    }
}

#[tokio::test]
async fn a_large_request_to_a_server_that_closes_ends_as_its_answer_says() {
    let mut line = vec![b'x'; 1024 * 1024];
    line.push(b'\n');
    let refusing = Server::start(|stream| write(&stream, b"too much\n"));
    assert_eq!(refusing.client().exchange(&line).await.unwrap(), "too much");
    let closing = Server::start(drop);
    let error = closing.client().exchange(&line).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ClosedWithoutReply);
}

#[tokio::test]
async fn the_client_closes_after_the_first_line() {
    let server = Server::start(|stream| {
        read_line(&stream);
        write(&stream, PONG);
        // Ends only when the client closes, and nothing more came before.
        assert_eq!(drain(&stream), b"");
    });
    ping(&server).await.unwrap();
}

#[tokio::test]
async fn raw_lines_come_back_as_they_are() {
    let server = Server::answering(b"\xff raw \r\nsecond\n");
    let reply = server.client().exchange(b"anything\n").await.unwrap();
    assert_eq!(reply, &b"\xff raw \r"[..]);
    let error = server.client().exchange(b"no newline").await.unwrap_err();
    assert_eq!((error.kind(), error.phase()), (ErrorKind::InvalidRequest, None));
}

#[tokio::test]
async fn lines_that_a_server_would_drop_are_not_sent() {
    let longest = [vec![b'x'; SERVER_LINE_MAX], b"\n".to_vec()].concat();
    let over = [&b"x"[..], &longest].concat();
    for line in [&b""[..], b"{}", b"\n", b" \t\r\n", b"{}\n{}\n", &over] {
        let error = Client::new("/nowhere", Options::default()).exchange(line).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{} bytes", line.len());
    }
    for line in [&b"{}\r\n"[..], &longest] {
        let error = Client::new("/nowhere", Options::default()).exchange(line).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSuchSocket, "it was tried");
    }
}
