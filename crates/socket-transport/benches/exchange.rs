//! What a request costs on a real socket, with a connection of its own.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use divan::Bencher;

fn main() {
    divan::main();
}

#[cfg(unix)]
#[divan::bench]
fn request_and_reply(bencher: Bencher<'_, '_>) {
    use herdr_proto::{PaneGet, PaneId};
    use herdr_socket_transport::{Client, Options};

    let herdr = fake_herdr::FakeHerdr::start().unwrap();
    let client = Client::new(herdr.socket_path(), Options::default());
    let look = PaneGet::new(PaneId::parse(herdr.pane_id()).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    bencher.bench_local(|| runtime.block_on(client.call(&look)).unwrap());
}

#[cfg(unix)]
#[divan::bench]
fn nobody_listens(bencher: Bencher<'_, '_>) {
    use herdr_proto::Ping;
    use herdr_socket_transport::{Client, Options};

    let folder = tempfile::tempdir().unwrap();
    let client = Client::new(folder.path().join("herdr.sock"), Options::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    bencher.bench_local(|| runtime.block_on(client.call(&Ping::default())).unwrap_err());
}
