//! What Herdr shows of agents, drawn in a terminal or told in lines.

mod agent;
mod line;
mod rows;
mod screen;

pub(crate) use agent::Agent;
pub(crate) use line::{Line, Style};
pub(crate) use rows::Rows;
pub(crate) use screen::Screen;
