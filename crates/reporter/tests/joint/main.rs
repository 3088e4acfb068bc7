//! The pure machine and the fake's pure model, joined without a socket, a thread or a clock.
//! Scenarios test single rules, properties test interleavings.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agreement;
mod detected;
mod endings;
mod events;
mod fates;
mod identity;
mod leavings;
mod one_shots;
mod other_writers;
mod outages;
mod properties;
mod refusals;
mod rules;
mod sequence_numbers;
mod successors;
mod verdicts;
mod world;
mod wrong_answers;
