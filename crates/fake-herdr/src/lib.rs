//! A Herdr that behaves.

mod model;

pub use model::{AgentSession, Answer, Model, Observation, PaneProcess, Profile, Stream};
