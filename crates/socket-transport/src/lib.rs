//! Herdr's pane socket: finding it, making one request per connection, and the held stream.
//!
//! The crate has no state except a path. [`Endpoint::from_env`] tells whether this process runs
//! in a pane and where the pane's server is. [`Client`] makes requests to the server.
//!
//! # What goes over the wire
//!
//! One exchange is one connection (protocol.md section 7.3):
//!
//! 1. Connect without blocking. If the server's backlog is full, wait a little and try again
//!    within the deadline.
//! 2. Check which user serves the socket. A socket of another user who is not root gets no
//!    byte.
//! 3. Send the whole line with its newline in **one** system call, without an await since the
//!    first step. If the server does not find the first byte at once, it looks again 100 ms
//!    later.
//! 4. Read one line of at most [`Options::reply_cap`] bytes. A line without a newline before
//!    the end of the stream is an error.
//! 5. Close.
//!
//! One deadline covers all of this ([`Options::deadline`]). Connections are not pooled or
//! opened in advance. A line is sent again only if the caller says that this is safe
//! ([`Client::exchange_repeatable`]).
//!
//! A [`HeldStream`] is different: its connection stays open only to show when the server goes
//! away.
//!
//! # Platforms
//!
//! Linux and macOS. On other platforms the crate builds, and every request fails with
//! [`ErrorKind::Unsupported`].

mod client;
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
#[cfg(not(unix))]
mod unsupported;

pub use client::Client;
pub use endpoint::{Absence, Discovery, Endpoint};
pub use error::{Error, ErrorKind, Phase};
pub use find::find_socket;
pub use identity::{SocketIdentity, inode};
pub use misconfiguration::{Misconfiguration, Why};
pub use options::{DEFAULT_DEADLINE, DEFAULT_REPLY_CAP, Options};
pub use peer::Peer;
pub use stream::{Ended, HeldStream};

#[cfg(unix)]
use unix::Connection;
#[cfg(not(unix))]
use unsupported::Connection;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
