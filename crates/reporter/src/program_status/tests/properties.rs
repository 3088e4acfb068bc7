use std::time::Duration;

use herdr_program_status::State;
use herdr_proto::ReportState;
use proptest::prelude::*;

use super::{WRITE_INTERVAL, World};
use crate::config::Config;
use crate::event::{AgentEvent, EventId, Prompt, TurnOutcome};

fn event() -> impl Strategy<Value = AgentEvent> {
    let agent = proptest::sample::select(vec!["main", "a", "b", "c"]).prop_map(EventId::from);
    let id = proptest::sample::select(vec!["1", "2", "3"]);
    let text = "[a-z]{0,3}|\u{1b}]0;x\u{7}|\n\u{202e}x";
    let runs = || proptest::collection::vec("[x-z]", 0..3);
    let outcomes = vec![TurnOutcome::Done, TurnOutcome::Error, TurnOutcome::Cancelled];
    let outcome = proptest::option::of(proptest::sample::select(outcomes));
    let states = vec![ReportState::Idle, ReportState::Working, ReportState::Blocked];
    let state = (proptest::sample::select(states), any::<bool>());
    let own = prop_oneof![
        4 => Just(AgentEvent::agent_started()),
        3 => (outcome, text).prop_map(|(outcome, text)| match outcome {
            Some(outcome) => AgentEvent::agent_settled().with_outcome(outcome, Some(text)),
            None => AgentEvent::agent_settled(),
        }),
        2 => (id.clone(), text).prop_map(|(id, text)| AgentEvent::tool_started(id, text)),
        2 => (id.clone(), text).prop_map(|(id, text)| AgentEvent::prompt_opened(id, Prompt::auth(text))),
        2 => proptest::option::of(any::<u8>()).prop_map(AgentEvent::progress_changed),
    ];
    prop_oneof![
        12 => (own, agent).prop_map(|(event, agent)| event.of_agent(Some(agent))),
        2 => id.clone().prop_map(AgentEvent::tool_finished),
        2 => id.prop_map(AgentEvent::prompt_closed),
        2 => (runs(), runs()).prop_map(|(running, waiting)| AgentEvent::workflow_snapshot("f", running, waiting)),
        1 => (state, text).prop_map(|((state, settles), text)| {
            let set = if settles { AgentEvent::state_settled } else { AgentEvent::state_set };
            set(state, Some(text))
        }),
        1 => text.prop_map(|text| AgentEvent::title_changed(Some(text))),
        1 => Just(AgentEvent::session_ended()),
        1 => Just(AgentEvent::Release),
    ]
}

proptest! {
    #[test]
    fn a_terminal_shows_the_activity_and_is_not_written_to_too_often(
        events in proptest::collection::vec((event(), 0..400_u64), 1..40),
        settle in 0..400_u64,
    ) {
        let config = Config { settle: Duration::from_millis(settle), ..Config::default() };
        let mut world = World::new(config);
        for (event, later) in events {
            world.say([event]);
            let until = world.now + Duration::from_millis(later);
            while let Some(wake) = world.step().filter(|wake| *wake <= until) {
                world.now = wake;
            }
            world.now = until;
        }
        world.rest();
        world.assert_true();
        prop_assert!(world.wrote.windows(2).all(|two| two[0] + WRITE_INTERVAL <= two[1]));
        world.step();
        let wrote = world.wrote.len();
        world.now += 10 * WRITE_INTERVAL;
        prop_assert!(world.step().is_none() && world.wrote.len() == wrote, "nothing is written twice");

        let outcome = world.activity.program(&world.config).map(|program| program.root.state);
        world.end();
        let left: Vec<_> = world.store.iter().map(|(id, record)| (id.is_none(), record.state.to_string())).collect();
        let stays = outcome.filter(|state| matches!(state, State::Done | State::Error));
        prop_assert_eq!(left, Vec::from_iter(stays.map(|state| (true, state.as_str().to_owned()))));
    }
}
