//! Where the demo plays: the pane, the reporter and a client that reads the pane.

use std::time::Duration;

use fake_herdr::FakeHerdr;
use herdr_proto::{PaneGet, PaneId, SessionSnapshot};
use herdr_reporter::{Config, ReasonLabel, Reporter};
use herdr_socket_transport::{Client, Endpoint, Error, Options};
use tokio::runtime::Runtime;

use crate::commands::sidebar;
use crate::exit::{Exit, Stop, usage};
use crate::picture::{Agent, Rows};
use crate::place::{PaneFlags, Place, REPLY_MAX};
use crate::settings::flags::SettingFlags;
use crate::settings::{Sources, load};
use crate::wait::runtime;

const AGENT: &str = "demo";
const NAME: &str = "Demo agent";
/// The time limit for reading the pane.
const LOOK: Duration = Duration::from_millis(500);

pub(crate) struct Stage {
    endpoint: Endpoint,
    config: Config,
    client: Client,
    runtime: Runtime,
    /// The present id of the pane.
    pane: PaneId,
    /// The server of the pane, unless the pane is a real one. It ends with the stage.
    fake: Option<FakeHerdr>,
}

pub(crate) struct Shown {
    pub(crate) agent: Option<Agent>,
    /// Whether the pane has a title or a token.
    pub(crate) remains: bool,
}

impl Shown {
    pub(crate) fn sentence(&self) -> String {
        self.agent.as_ref().map_or_else(|| "- no agent".to_owned(), Agent::sentence)
    }
}

impl Stage {
    /// The pane of the environment if `live`, otherwise one of a built-in Herdr.
    pub(crate) fn set(live: bool, pane: &PaneFlags) -> Result<Self, Stop> {
        let built_in = |error: &dyn std::fmt::Display| {
            usage(format!("the built-in Herdr does not start: {error}"))
        };
        let (fake, endpoint, mut config) = if live {
            let (endpoint, config) = live_pane(pane)?;
            (None, endpoint, config)
        } else {
            let fake = FakeHerdr::start().map_err(|error| built_in(&error))?;
            let pane = PaneId::parse(fake.pane_id()).map_err(|error| built_in(&error))?;
            let endpoint = Endpoint::new(fake.socket_path(), pane);
            let mut config = Config::default();
            // The lease is kept beside the built-in Herdr's socket, so it is removed with it.
            config.runtime_folder = fake.socket_path().parent().map(Into::into);
            (Some(fake), endpoint, config)
        };
        config.display_name = Some(NAME.to_owned());
        // So that the tools are shown while they run.
        config.reason_label = ReasonLabel::All;
        let options = Options::default().deadline(LOOK).reply_cap(REPLY_MAX);
        let options = options.allow_foreign_socket(config.allow_foreign_socket);
        let client = Client::new(endpoint.socket(), options);
        let runtime = runtime().map_err(|error| built_in(&error))?;
        // Playing is useless if the pane cannot be read.
        let found = runtime.block_on(client.call(&PaneGet::new(endpoint.pane().clone())));
        let pane = found.map_err(|error| Stop(Exit::Unreachable, error.to_string()))?.pane.pane_id;
        Ok(Self { endpoint, config, client, runtime, pane, fake })
    }

    pub(crate) fn reporter(&self) -> Reporter {
        let builder = Reporter::builder(AGENT).config(self.config.clone());
        builder.endpoint(self.endpoint.clone()).start()
    }

    pub(crate) fn look(&self) -> Result<Shown, Error> {
        let snapshot = self.runtime.block_on(self.client.call(&SessionSnapshot::default()))?;
        let snapshot = snapshot.snapshot;
        let agent = snapshot.agents.iter().find(|agent| agent.pane_id == self.pane);
        let pane = snapshot.panes.iter().find(|pane| pane.pane_id == self.pane);
        Ok(Shown {
            agent: agent.map(|agent| Agent::of(agent, &snapshot)),
            remains: pane.is_none_or(|pane| pane.title.is_some() || !pane.tokens.is_empty()),
        })
    }

    /// The rows of the sidebar that shows the pane. If Herdr cannot read its settings, it uses
    /// its default rows, and `end` says what is wrong with the settings.
    pub(crate) fn rows(&self) -> Rows {
        if self.is_live() {
            sidebar::present_rows().unwrap_or_else(|_| sidebar::herdrs_own_rows())
        } else {
            sidebar::all_rows()
        }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.fake.is_none()
    }

    pub(crate) fn place(&self) -> String {
        let whose = if self.is_live() { "your Herdr" } else { "a built-in Herdr" };
        format!("pane {} of {whose}", self.endpoint.pane())
    }
}

fn live_pane(pane: &PaneFlags) -> Result<(Endpoint, Config), Stop> {
    let loaded = load(Sources::of_process(SettingFlags::default()));
    let settings = loaded.map_err(|problems| usage(problems.join("\n")))?.settings;
    if !settings.config.enabled {
        return Err(usage("reporting is switched off (enabled = false)"));
    }
    match pane.find().map_err(usage)? {
        Place::Pane(endpoint) => Ok((endpoint, settings.config)),
        Place::Broken(why) => Err(usage(why)),
        Place::Outside(absence) => Err(usage(format!(
            "--live plays on a pane of Herdr, and this is not one: {absence}; run it in one, or \
                 name one with --socket and --pane"
        ))),
    }
}
