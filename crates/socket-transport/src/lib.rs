//! Herdr's pane socket: where it is, one request per connection, the held
//! stream.
//!
//! The crate has no state beyond a path. [`Endpoint::from_env`] says whether
//! this process runs in a pane and where its server is; [`Client`] makes
//! requests there.
//!
//! # What goes over the wire
//!
//! One exchange is one connection (protocol.md section 7.3):
//!
//! 1. Connect, without blocking. When the server's backlog is full, wait a
//!    little and try again within the deadline.
//! 2. Look at whose server it is. A socket that another user serves, who is not
//!    root, gets no byte.
//! 3. Send the whole line, newline included, with **one** system call and no
//!    await since step 1. A server that does not find the first byte at once
//!    comes back 100 ms later.
//! 4. Read one line, of at most [`Options::reply_cap`] bytes. A line without a
//!    newline before the end of the stream is a broken end, not a line.
//! 5. Close.
//!
//! One deadline covers all of it ([`Options::deadline`]). There is no pool and no
//! connecting ahead. A line is repeated only where the caller says that it may
//! be ([`Client::exchange_repeatable`]).
//!
//! A [`HeldStream`] is the exception, a connection that stays open for no other
//! purpose than to end when the server does.
//!
//! # Platforms
//!
//! Linux and macOS. Elsewhere the crate builds, and every request ends with
//! [`ErrorKind::Unsupported`].

mod client;
#[cfg(not(unix))]
mod elsewhere;
mod endpoint;
pub mod env;
mod error;
mod find;
mod hedge;
mod identity;
mod misconfiguration;
mod options;
mod peer;
mod read;
mod stream;
#[cfg(unix)]
mod unix;

pub use client::Client;
pub use endpoint::{Absence, Discovery, Endpoint};
pub use error::{Error, ErrorKind, Phase};
pub use find::find_socket;
pub use identity::{SocketIdentity, inode};
pub use misconfiguration::{Misconfiguration, Why};
pub use options::{DEFAULT_DEADLINE, DEFAULT_REPLY_CAP, Options};
pub use peer::Peer;
pub use stream::{Ended, HeldStream};

#[cfg(not(unix))]
use elsewhere::Connection;
#[cfg(unix)]
use unix::Connection;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
