//! Pushes into a simulated program, with somebody else at the keyboard.

mod program;

use std::collections::VecDeque;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use program::{Deed, Program};

use super::checked;
use super::machine::{Machine, Seen, Step};
use super::outcome::{Outcome, Why};
use crate::error::ErrorKind;
use crate::profile::{Claude, Codex, Profile, Scene, Unguarded};
use crate::screen::Screen;
use crate::text::squash;

/// One push or repeat; panics where an invariant breaks.
struct World<'a> {
    program: Program,
    now: Duration,
    deeds: VecDeque<(Duration, Deed)>,
    text: &'a str,
    parts: usize,
    typed: u32,
}

impl World<'_> {
    fn advance(&mut self, after: Duration) {
        let then = self.now + after;
        while self.deeds.front().is_some_and(|(at, _)| *at <= then) {
            let (_, deed) = self.deeds.pop_front().unwrap();
            // Keys that come while a paste comes in go between its parts.
            self.program.suffer(&deed);
        }
        self.program.show_more();
        self.now = then;
    }

    fn drive(&mut self, machine: &mut Machine<'_>) -> (Outcome, Option<Why>) {
        let mut step = machine.begin();
        for _ in 0..2000 {
            step = match step {
                Step::End(outcome, why) => return (outcome, why),
                Step::Look(after) => {
                    self.advance(after);
                    let seen = if self.program.closed {
                        Seen::Gone
                    } else {
                        Seen::Scene(Scene::of(Screen::parse(&self.program.draw())))
                    };
                    machine.saw(self.now, &seen)
                }
                Step::Type => {
                    // Blanks at the end of a row cannot be seen.
                    assert!(self.program.buffer.trim().is_empty(), "typed into a dirty box");
                    assert!(!self.program.dialog, "typed into a dialog");
                    self.typed += 1;
                    self.program.paste(self.text, self.parts);
                    machine.was_typed(self.now)
                }
                Step::Enter if std::mem::take(&mut self.program.moved) => {
                    machine.was_not_entered(self.now)
                }
                Step::Enter => {
                    assert!(!self.program.dialog, "Enter into a dialog");
                    let (stands, ours) = (squash(&self.program.buffer), squash(self.text));
                    assert_eq!(stands, ours, "Enter on a text that is not ours");
                    self.program.enter();
                    machine.was_entered(self.now)
                }
            };
        }
        panic!("it never ends");
    }
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => prop_oneof![Just("x"), Just(" "), Just("yes please"), Just("/")].prop_map(Deed::Keys),
        2 => Just(Deed::Backspace),
        2 => Just(Deed::Enter),
        2 => Just(Deed::Dialog),
        2 => Just(Deed::Answered),
        1 => Just(Deed::Work),
        1 => Just(Deed::Rest),
        1 => Just(Deed::Close),
        1 => Just(Deed::Scroll),
        1 => Just(Deed::Move),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,6}( [a-z]{1,8}){0,12}",
        1 => "[a-z]{1,6}(\n[a-z]{1,8}){1,2}",
        1 => Just("line of a long paste\n".repeat(240) + "end"),
        1 => Just("word ".repeat(4000) + "end"),
        1 => Just("w".repeat(2668)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn whatever_happens_meanwhile_nothing_is_typed_twice_and_no_enter_goes_astray(
        codex in any::<bool>(),
        text in text(),
        mut deeds in vec((0_u64..12_000, deed()), 0..8),
        eats in vec(prop::bool::weighted(0.4), 0..5),
        parts in 1_usize..6,
        before in prop::option::of("[a-z ]{1,20}"),
        repeats in 0_usize..3,
    ) {
        deeds.sort_by_key(|(at, _)| *at);
        let profile: &dyn Profile = if codex { &Codex } else { &Claude };
        let said: Vec<String> = before.into_iter().chain([text.clone()]).collect();
        let mut world = World {
            program: Program { codex, said, eats: eats.into(), ..Program::default() },
            now: Duration::ZERO,
            deeds: deeds.into_iter().map(|(at, deed)| (Duration::from_millis(at), deed)).collect(),
            text: &text,
            parts,
            typed: 0,
        };
        let said = |program: &Program| {
            program.said.iter().filter(|said| squash(said) == squash(&text)).count()
        };
        let had = said(&world.program);
        let mut machine = Machine::new(profile, &text, world.now);
        for round in 0..=repeats {
            let (outcome, why) = world.drive(&mut machine);
            prop_assert!(world.typed <= 1, "typed twice");
            prop_assert_eq!(machine.typed(), world.typed == 1);
            prop_assert_eq!(outcome != Outcome::Delivered, why.is_some());
            match outcome {
                Outcome::Delivered => {
                    // A repeat cannot know which of two equal texts is its own.
                    prop_assert!(said(&world.program) > had || round > 0);
                    break;
                }
                Outcome::Held | Outcome::TypedUnconfirmed => prop_assert_eq!(machine.enters(), 0),
                Outcome::Pending => prop_assert!(machine.enters() > 0),
                Outcome::Unverified => {}
            }
            let (typed, enters) = (machine.typed(), machine.enters());
            machine = if typed {
                Machine::again(profile, &text, enters, world.now)
            } else {
                Machine::new(profile, &text, world.now)
            };
        }
    }
}

fn push(
    program: Program,
    deeds: &[(u64, Deed)],
    text: &str,
) -> (Outcome, Option<Why>, u8, Program) {
    let deeds = deeds.iter().map(|(at, deed)| (Duration::from_millis(*at), deed.clone())).collect();
    let mut world = World { program, now: Duration::ZERO, deeds, text, parts: 1, typed: 0 };
    let profile: &dyn Profile = if world.program.codex { &Codex } else { &Claude };
    let mut machine = Machine::new(profile, text, Duration::ZERO);
    let (outcome, why) = world.drive(&mut machine);
    (outcome, why, machine.enters(), world.program)
}

#[test]
fn each_way_a_push_ends() {
    let program = Program::default;
    let ends = |program, deeds: &[(u64, Deed)]| {
        let (outcome, why, enters, _) = push(program, deeds, "fix the tests");
        (outcome, why, enters)
    };
    assert_eq!(ends(program(), &[]), (Outcome::Delivered, None, 1));
    let codex = Program { codex: true, ..program() };
    assert_eq!(ends(codex, &[]), (Outcome::Delivered, None, 1));
    let eats = |times: usize| Program { eats: vec![true; times].into(), ..program() };
    assert_eq!(ends(eats(1), &[]), (Outcome::Delivered, None, 2));
    assert_eq!(ends(eats(2), &[]), (Outcome::Pending, Some(Why::StillInBox), 2));
    let dirty = Program { buffer: "half a thou".into(), ..program() };
    assert_eq!(ends(dirty, &[]), (Outcome::Held, Some(Why::BoxNotEmpty), 0));
    let asking = Program { dialog: true, ..program() };
    assert_eq!(ends(asking, &[]), (Outcome::Held, Some(Why::Dialog), 0));
    // Somebody types while the text waits for its Enter.
    let typing = ends(program(), &[(250, Deed::Keys("x"))]);
    assert_eq!(typing, (Outcome::Held, Some(Why::NotWhatWasTyped), 0));
    let asked = ends(program(), &[(250, Deed::Dialog)]);
    assert_eq!(asked, (Outcome::TypedUnconfirmed, Some(Why::Dialog), 0));
    let gone = ends(program(), &[(250, Deed::Close)]);
    assert_eq!(gone, (Outcome::TypedUnconfirmed, Some(Why::PaneGone), 0));
    let moved = ends(program(), &[(250, Deed::Move)]);
    assert_eq!(moved, (Outcome::Delivered, None, 1));
    let gone = ends(eats(1), &[(600, Deed::Close)]);
    assert_eq!(gone, (Outcome::Unverified, Some(Why::PaneGone), 1));
}

#[test]
fn long_texts_arrive_whole_or_folded() {
    let lines = "line of a long paste\n".repeat(240) + "end";
    for text in ["w".repeat(2668), lines, "word ".repeat(4000) + "end"] {
        for codex in [false, true] {
            let (outcome, why, enters, program) =
                push(Program { codex, ..Program::default() }, &[], &text);
            assert_eq!((outcome, why, enters), (Outcome::Delivered, None, 1));
            assert_eq!(program.said, [text.as_str()]);
        }
    }
}

#[test]
fn a_pending_text_is_only_entered_and_a_sent_one_is_found_again() {
    let text = "fix the tests";
    let program = Program { eats: vec![true; 2].into(), ..Program::default() };
    let (outcome, _, enters, program) = push(program, &[], text);
    assert_eq!((outcome, enters), (Outcome::Pending, 2));
    let deeds = VecDeque::new();
    let mut world = World { program, now: Duration::ZERO, deeds, text, parts: 1, typed: 1 };
    let mut again = Machine::again(&Claude, text, enters, Duration::ZERO);
    assert_eq!(world.drive(&mut again), (Outcome::Delivered, None));
    assert_eq!((again.enters(), world.typed), (3, 1));
    let mut once_more = Machine::again(&Claude, text, 3, Duration::ZERO);
    assert_eq!(world.drive(&mut once_more), (Outcome::Delivered, None));
    assert_eq!((once_more.enters(), world.typed), (3, 1));
}

#[test]
fn an_enter_that_cannot_be_sent_is_given_up() {
    let text = "fix the tests";
    let mut machine = Machine::new(&Claude, text, Duration::ZERO);
    let mut program = Program::default();
    let (mut step, mut now) = (machine.begin(), Duration::ZERO);
    let end = loop {
        step = match step {
            Step::End(outcome, why) => break (outcome, why, machine.enters()),
            Step::Look(after) => {
                now += after;
                let screen = Screen::parse(&program.draw());
                machine.saw(now, &Seen::Scene(Scene::of(screen)))
            }
            Step::Type => {
                program.paste(text, 1);
                machine.was_typed(now)
            }
            Step::Enter => machine.was_not_entered(now),
        };
        assert!(now < Duration::from_secs(10), "it never ends");
    };
    assert_eq!(end, (Outcome::TypedUnconfirmed, Some(Why::Unreadable), 0));
}

#[test]
fn nothing_is_pressed_where_the_agent_has_ended() {
    // Its last screen shows the box, with the text still in it.
    let end = |text: &str, after: u8| {
        let mut machine = Machine::new(&Claude, text, Duration::ZERO);
        let mut program = Program::default();
        let (mut step, mut now) = (machine.begin(), Duration::ZERO);
        loop {
            step = match step {
                Step::End(outcome, why) => return (outcome, why, machine.enters()),
                Step::Look(wait) => {
                    now += wait;
                    let ended = machine.typed() && machine.enters() == after;
                    let screen = Screen::parse(&program.draw());
                    let scene = Seen::Scene(Scene::of(screen));
                    machine.saw(now, if ended { &Seen::AgentEnded } else { &scene })
                }
                Step::Type => {
                    program.paste(text, 1);
                    machine.was_typed(now)
                }
                Step::Enter => machine.was_entered(now),
            };
        }
    };
    assert_eq!(end("/exit", 1), (Outcome::Delivered, None, 1));
    let ended = Some(Why::AgentEnded);
    assert_eq!(end("/exit", 0), (Outcome::TypedUnconfirmed, ended, 0));
    assert_eq!(end("fix the tests", 1), (Outcome::Unverified, ended, 1));
}

#[test]
fn only_a_paste_has_tabs_and_several_lines() {
    assert_eq!(checked("a\tb\nc", true).unwrap(), "a\tb\nc");
    assert_eq!(checked("a\tb", false).unwrap(), "a b");
    assert_eq!(checked("a\nb", false).unwrap_err().kind(), ErrorKind::SeveralLines);
}

#[test]
fn without_a_profile_the_outcome_is_never_delivered() {
    let mut machine = Machine::new(&Unguarded, "ls", Duration::ZERO);
    assert_eq!(machine.begin(), Step::Type);
    assert!(matches!(machine.was_typed(Duration::ZERO), Step::Look(_)));
    let scene = Seen::Scene(Scene::default());
    assert_eq!(machine.saw(Duration::from_millis(300), &scene), Step::Enter);
    let end = machine.was_entered(Duration::from_millis(300));
    assert_eq!(end, Step::End(Outcome::Unverified, Some(Why::Unguarded)));
}
