//! Reading and driving the panes of Herdr, over its socket.
//!
//! For coordinators that watch and prompt other panes, and that have to know
//! what happened: a closed pane has no screen rather than an empty one, a missing
//! signal never counts as idle, nothing is typed twice, and no dialog is answered by
//! accident.
//!
//! ```
//! use herdr_pane_control::{Life, PaneControl, Target};
//! use herdr_socket_transport::{Client, Options};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let herdr = fake_herdr::FakeHerdr::start()?;
//! let control = PaneControl::new(Client::new(herdr.socket_path(), Options::default()));
//!
//! let target: Target = "w1:p1".parse()?;
//! let probe = control.probe(&target).await?;
//! println!("{:?}: {}", probe.life, probe.evidence);
//! let gone = control.probe(&"w9:p9".parse()?).await?;
//! assert_eq!(gone.life, Life::Dead);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A coordinator of some thirty lines:
//!
//! ```no_run
#![doc = include_str!("../examples/coordinator.rs")]
//! ```
//!
//! What looks at a screen is a [`Profile`], and what decides on a push is a
//! machine without clock and socket; both are pure. The rest asks and types.

mod changes;
mod control;
mod digest;
mod error;
mod intent;
mod key;
mod probe;
mod profile;
mod prompt;
mod push;
mod read;
mod screen;
mod send;
mod target;
mod text;
mod transcript;
mod wait;

pub use changes::{Change, Changes, What};
pub use control::{Builder, PaneControl};
pub use digest::Digest;
pub use error::{Error, ErrorKind};
pub use herdr_proto::{AgentInfo, AgentStatus, PaneId, PaneInfo, ProcessInfo};
pub use intent::Intent;
pub use key::Key;
pub use probe::{Evidence, Life, Missing, Probe, Signal, Tick};
pub use profile::{BoxState, Claude, Codex, Look, Profile, Scene, Shell, Unguarded};
pub use prompt::{PromptOptions, Prompted, Way};
pub use push::{OperationId, Outcome, PushOptions, Pushed, Why};
pub use read::{ReadOptions, Reading, Source};
pub use screen::{Row, Screen};
pub use target::{Origin, Target};
pub use wait::WaitOptions;
