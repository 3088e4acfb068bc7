//! The part that needs Unix sockets.

mod connection;
mod dial;
mod lines;
mod socket;

pub(crate) use connection::Connection;
