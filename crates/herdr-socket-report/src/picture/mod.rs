//! Agents as Herdr shows them, drawn in a terminal or written as lines.

mod agent;
mod line;
mod rows;
mod screen;

pub(crate) use agent::Agent;
pub(crate) use line::{Line, Style};
pub(crate) use rows::Rows;
pub(crate) use screen::Screen;
