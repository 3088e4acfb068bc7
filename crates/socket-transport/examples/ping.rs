//! Measures how long a `ping` takes, one connection each.
//!
//! `cargo run --release -p herdr-socket-transport --example ping [SOCKET] [COUNT]`

#![expect(clippy::print_stdout, reason = "it is what the example is for")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use herdr_proto::Ping;
use herdr_socket_transport::{Client, Options, find_socket};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let flag = arguments.next().map(PathBuf::from);
    let count: usize = match arguments.next() {
        Some(count) => count.to_str().ok_or("COUNT is not a number")?.parse()?,
        None => 200,
    };
    let socket = find_socket(flag.as_deref(), |name| std::env::var_os(name))?;
    let client = Client::new(socket, Options::default());

    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        client.call(&Ping::default()).await?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    let at =
        |share: usize| -> Option<&Duration> { times.get((count * share / 100).min(count - 1)) };
    if let (Some(median), Some(slow), Some(last)) = (at(50), at(95), times.last()) {
        println!("{count} pings: median {median:?}, p95 {slow:?}, slowest {last:?}");
    }
    Ok(())
}
