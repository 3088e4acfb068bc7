//! The implementation for Unix sockets.

mod connection;
mod dial;
mod lines;
mod socket;

pub(crate) use connection::Connection;
