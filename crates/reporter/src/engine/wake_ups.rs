//! A test of how often the engine wakes up.

use std::cell::Cell;
use std::sync::mpsc;
use std::time::Duration;

use fake_herdr::FakeHerdr;
use futures_timer::Delay;
use herdr_proto::{AgentLabel, PaneId, SourceId};
use herdr_socket_transport::{Client, Endpoint, Options};

use super::Plan;
use super::run::Engine;
use super::shared::Shared;
use crate::activity::Activity;
use crate::config::Config;
use crate::event::AgentEvent;
use crate::machine::Claim;
use crate::{Flushed, ReportState};

#[derive(Debug, Default)]
pub(super) struct Probe {
    waits: Cell<usize>,
    in_flight: Cell<bool>,
}

impl Probe {
    /// The engine waits. `in_flight` is whether a request is in flight.
    pub(super) fn waits(&self, in_flight: bool) {
        self.waits.set(self.waits.get() + 1);
        self.in_flight.set(in_flight);
    }

    /// Lets the engine run until it waits without a request in flight.
    async fn rests(&self) {
        loop {
            Delay::new(Duration::from_millis(2)).await;
            if !self.in_flight.get() {
                return;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn f54_an_idle_reporter_wakes_up_at_most_twice_a_minute_beside_its_requests() {
    const MINUTES: usize = 5;
    // While a blocking task runs, the paused clock moves only when the test advances it.
    let (blocks, blocked) = mpsc::channel::<()>();
    let blocking = tokio::task::spawn_blocking(move || blocked.recv());

    let herdr = FakeHerdr::start().unwrap();
    let pane = PaneId::parse(herdr.pane_id()).unwrap();
    let leases = herdr.socket_path().with_file_name("leases");
    let config = Config { runtime_folder: Some(leases), ..Config::default() };
    let source = SourceId::parse("custom:host").unwrap();
    let label = AgentLabel::parse("host").unwrap();
    let claim = Claim::new(pane.clone(), source, label, config.clone());
    let endpoint = Endpoint::new(herdr.socket_path(), pane);
    let shared = Shared::new(config, None, Activity::default(), None);
    let client = Client::new(herdr.socket_path(), Options::default().hedge(false));
    let mut engine = Engine::new(&shared, Plan { claim, client, endpoint, agent: None }, None);
    let probe = engine.probe.clone();

    let idle = async {
        shared.record([
            AgentEvent::state_set(ReportState::Idle, None),
            AgentEvent::title_changed(Some("T".into())),
        ]);
        assert_eq!(shared.flush_async(Duration::from_secs(20)).await, Flushed::Delivered);
        // A read-back and the held stream follow the flush.
        for _ in 0..10 {
            tokio::time::advance(Duration::from_secs(1)).await;
            probe.rests().await;
        }
        let held = |exchange: &fake_herdr::Exchange| exchange.request.contains("events.sub");
        while !herdr.log().iter().any(held) {
            probe.rests().await;
        }
        let (waits, asked) = (probe.waits.get(), herdr.log().len());
        for _ in 0..60 * MINUTES {
            tokio::time::advance(Duration::from_secs(1)).await;
            probe.rests().await;
        }
        (probe.waits.get() - waits, herdr.log().len() - asked)
    };
    let (wakes, requests) = tokio::select! {
        biased;
        counted = idle => counted,
        ended = engine.run() => panic!("{ended:?}"),
    };
    // Each request causes two wake-ups: one when it is due, and one for its answer.
    let beside = wakes.saturating_sub(2 * requests);
    assert!(beside <= 2 * MINUTES, "{wakes} wake-ups, {requests} requests");
    assert!((MINUTES..=4 * MINUTES).contains(&requests), "{requests} requests");
    drop(blocks);
    blocking.await.unwrap().unwrap_err();
}
