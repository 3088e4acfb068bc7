//! What a call of the reporter costs the host, and how soon its report reaches the server.

#![cfg_attr(not(unix), allow(unused, reason = "the server exists only on Unix"))]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::thread;
use std::time::Duration;

use divan::Bencher;
use herdr_proto::ReportState;
use herdr_reporter::Reporter;

fn main() {
    divan::main();
}

/// Long enough for any machine.
const AMPLE: Duration = Duration::from_secs(20);
/// Longer than the least time between two state changes, so that no change waits for the one
/// before.
const PAUSE: Duration = Duration::from_millis(70);

#[divan::bench(threads = [1, 8])]
fn call_outside_herdr(bencher: Bencher<'_, '_>) {
    let pane = Reporter::builder("host").environment(|_| None).start();
    let handle = pane.handle();
    bencher.bench(|| {
        handle.set_usage(12_400);
    });
}

#[cfg(unix)]
mod inside {
    use fake_herdr::FakeHerdr;
    use herdr_proto::PaneId;
    use herdr_reporter::Config;
    use herdr_socket_transport::Endpoint;

    use super::{AMPLE, Bencher, PAUSE, ReportState, Reporter, thread};

    fn start(herdr: &FakeHerdr) -> Reporter {
        let mut config = Config::default();
        config.runtime_folder = Some(herdr.socket_path().with_file_name("leases"));
        let pane = PaneId::parse(herdr.pane_id()).unwrap();
        let endpoint = Endpoint::new(herdr.socket_path(), pane);
        Reporter::builder("host").config(config).endpoint(endpoint).start()
    }

    /// Waits until the pane shows the status.
    fn see(herdr: &FakeHerdr, status: &str) {
        herdr.wait_until(AMPLE, |pane| pane.agent_status == status).unwrap();
    }

    #[divan::bench(threads = [1, 8])]
    fn call(bencher: Bencher<'_, '_>) {
        let herdr = FakeHerdr::start().unwrap();
        let pane = start(&herdr);
        let handle = pane.handle();
        handle.set_state(ReportState::Working);
        bencher.bench(|| {
            handle.set_usage(12_400);
        });
    }

    #[divan::bench(threads = [1, 8])]
    fn turn_with_a_tool(bencher: Bencher<'_, '_>) {
        let herdr = FakeHerdr::start().unwrap();
        let pane = start(&herdr);
        let handle = pane.handle();
        bencher.bench(|| drop(handle.turn().tool("grep")));
    }

    /// The time from the call until the server has applied the state.
    #[divan::bench(sample_count = 50, sample_size = 1)]
    fn from_a_call_to_the_server(bencher: Bencher<'_, '_>) {
        let herdr = FakeHerdr::start().unwrap();
        let pane = start(&herdr);
        pane.set_state(ReportState::Working);
        see(&herdr, "working");
        let turn = std::cell::Cell::new(ReportState::Working);
        let next = || {
            thread::sleep(PAUSE);
            match turn.replace(ReportState::Blocked) {
                ReportState::Working => ReportState::Blocked,
                _ => turn.replace(ReportState::Working),
            }
        };
        bencher.with_inputs(next).bench_local_values(|state| {
            pane.set_state(state);
            see(&herdr, state.as_str());
        });
    }

    /// The time from `start` until the server has applied a state.
    #[divan::bench(sample_count = 30, sample_size = 1)]
    fn from_the_start_to_the_server(bencher: Bencher<'_, '_>) {
        bencher.with_inputs(|| FakeHerdr::start().unwrap()).bench_local_values(|herdr| {
            let pane = start(&herdr);
            pane.set_state(ReportState::Working);
            see(&herdr, "working");
            (herdr, pane)
        });
    }
}
