//! `doctor`: finds out what would keep a report from showing.

mod check;
mod environment;
mod lease;
mod others;
mod server;
mod trial;

use std::time::{Duration, Instant};

use herdr_proto::{AgentLabel, PaneInfo, SourceId};
use herdr_reporter::sidecar::{LeaseFile, SourceNotice};
use herdr_reporter::{Config, Role};
use herdr_socket_transport::{Absence, Client, Endpoint, Options};

use crate::commands::emit::{hello, named_supervisor};
use crate::commands::sidebar;
use crate::exit::{Exit, Stop, say_why, usage};
use crate::output::{columns, is_colourful, json_line, print};
use crate::place::{PaneFlags, Place};
use crate::program_status::Terminal;
use crate::settings::flags::SettingFlags;
use crate::settings::{Settings, Sources, load};
use crate::wait::runtime;
use check::{Check, Findings};
use lease::{Hold, Lease, look, of_supervisor};
use others::others;
use trial::trial;

/// Find out what would keep a report from showing
///
/// It checks the settings, the variables, the socket, the server, the pane and
/// other reporters of the pane. If the pane has no reporter, it also reports
/// once, reads the pane back, and releases it at once; otherwise the pane is
/// left alone. It takes less than ten seconds, even if the server hangs.
///
/// Exit codes: 0 a report would show, 3 outside Herdr or no server, 4 refused,
/// 5 a report would be delivered and not show.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print one JSON object: checks and verdict
    #[arg(long)]
    json: bool,
    /// Try a report even if the pane has a reporter; its row is lost until that
    /// reports again
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    pane: PaneFlags,
    #[command(flatten)]
    settings: SettingFlags,
}

/// The time limit for one request.
const REQUEST: Duration = Duration::from_secs(2);
/// Until when a report may be tried, counted from the start.
const REPORT_BY: Duration = Duration::from_secs(7);
/// Until when it has to be taken back.
const BACK_BY: Duration = Duration::from_secs(9);

pub(crate) fn run(args: Args) -> Exit {
    say_why(doctor(args))
}

fn doctor(args: Args) -> Result<Exit, Stop> {
    let Args { json, write, pane, settings } = args;
    let place = pane.find().map_err(usage)?;
    let nothing = |error| Stop(Exit::Unreachable, format!("nothing can be asked: {error}"));
    let runtime = runtime().map_err(nothing)?;
    let started = Instant::now();
    let mut findings = Findings::default();
    let flags = settings.clone();
    let settings = read(Sources::of_process(settings), &mut findings);
    let mut examination = Examination { started, flags, settings, findings, write };
    let verdict = runtime.block_on(examination.examine(&place, &pane));
    examination.findings.add(rows());
    let terminal = Terminal::finding(&examination.settings, &place);
    examination.findings.add(Check::open("terminal", terminal));
    let report = examination.findings.conclude(verdict);
    let text = if json {
        format!("{}\n", json_line(&report.json()))
    } else {
        report.text(columns().unwrap_or(usize::MAX), is_colourful())
    };
    Ok(match print(text.as_bytes(), std::io::stdout()) {
        Exit::Fine => report.exit(),
        other => other,
    })
}

/// Reads the settings and checks the names in them. If they cannot be read, the built-in ones
/// are used, so that the other checks can be made.
fn read(sources: Sources, findings: &mut Findings) -> Settings {
    let loaded = match load(sources) {
        Ok(loaded) => loaded,
        Err(problems) => {
            let check = Check::wrong("settings", problems.join("; "));
            findings.fail(Exit::NotApplied, check.remedy("correct what is named here"));
            return Settings::default();
        }
    };
    let config = &loaded.settings.config;
    if let Some((source, label)) = names(&loaded.settings) {
        let who = format!("source {source} with agent {label}");
        findings.add(match SourceNotice::of(&source, &label) {
            None => Check::fine("source", who),
            Some(notice) => Check::open("source", format!("{who}: {}", notice.text())),
        });
    }
    if !config.enabled {
        let check = Check::wrong("settings", "enabled is false, so nothing is reported");
        findings.fail(Exit::NotApplied, check.remedy("config show says where that is set"));
    } else if config.role != Role::Interactive {
        let check = Check::wrong("settings", "this role never claims a pane");
        findings.fail(Exit::NotApplied, check.remedy("leave role at interactive"));
    } else {
        let mut finding = "they can be read, and reporting is on".to_owned();
        for warning in loaded.warnings.iter().filter(|warning| warning.contains("trust_project")) {
            finding.push_str("; ");
            finding.push_str(warning);
        }
        findings.add(Check::fine("settings", finding));
    }
    loaded.settings
}

/// What Herdr's sidebar hides of a report.
fn rows() -> Check {
    match sidebar::check() {
        Ok(hidden) if hidden.is_empty() => Check::fine("sidebar", sidebar::NOTHING_HIDDEN),
        Ok(hidden) => Check::open("sidebar", hidden.join("; ")).remedy(sidebar::REMEDY),
        Err(wrong) => Check::open("sidebar", wrong),
    }
}

fn names(settings: &Settings) -> Option<(SourceId, AgentLabel)> {
    let label = AgentLabel::parse(&settings.agent).ok()?;
    Some((settings.source(&label), label))
}

struct Examination {
    started: Instant,
    flags: SettingFlags,
    settings: Settings,
    findings: Findings,
    write: bool,
}

/// The verdict of an examination that an obstacle has ended. It is replaced by the obstacle's.
const STOPPED: &str = "nothing was found that is in the way";

impl Examination {
    /// Makes the checks. The result is the verdict if none of them fails.
    async fn examine(&mut self, place: &Place, flags: &PaneFlags) -> &'static str {
        let Some(speaker) = names(&self.settings) else { return STOPPED };
        let variables = environment::variables(place, flags.any());
        let endpoint = match place {
            Place::Pane(endpoint) => endpoint,
            Place::Outside(why) => {
                // A command started with `exec --scrub` still has the address of its
                // supervisor.
                let named = named_supervisor(flags, None).filter(|_| *why != Absence::SwitchedOff);
                let heard =
                    named.and_then(|named| of_supervisor(&named, &hello(None, &self.flags)));
                match heard {
                    Some(Lease { hold: Hold::Reporter, check, .. }) => {
                        self.findings.add(check);
                        return "what hooks say shows, through the supervisor";
                    }
                    Some(Lease { check, .. }) => self.findings.fail(Exit::Refused, check),
                    None => self.findings.fail(Exit::Unreachable, variables),
                }
                return STOPPED;
            }
            Place::Broken(_) => {
                self.findings.fail(Exit::Unreachable, variables);
                return STOPPED;
            }
        };
        self.findings.add(variables);
        let config = self.settings.config.clone();
        let Some(info) = self.ask(endpoint, &config).await else { return STOPPED };
        let pane = (endpoint, LeaseFile::of_pane(&config, endpoint));
        let named = named_supervisor(flags, Some(&pane));
        let hello = hello(Some(&pane), &self.flags);
        let lease = named.and_then(|named| of_supervisor(&named, &hello));
        let lease = lease.unwrap_or_else(|| look(pane.1, hello));
        self.report(endpoint, speaker, &config, &info, lease).await
    }

    /// Reads the pane, if everything up to it is fine.
    async fn ask(&mut self, endpoint: &Endpoint, config: &Config) -> Option<PaneInfo> {
        let allow_foreign = config.allow_foreign_socket;
        self.findings.take(environment::socket(endpoint.socket(), allow_foreign))?;
        let options = Options::default().deadline(REQUEST).allow_foreign_socket(allow_foreign);
        let client = Client::new(endpoint.socket(), options);
        self.findings.take(server::server(&client).await)?;
        let (check, info) = match server::pane(&client, endpoint.pane()).await {
            Ok((check, info)) => (Ok(check), Some(info)),
            Err(obstacle) => (Err(obstacle), None),
        };
        self.findings.take(check)?;
        self.findings.take(server::identity(&client, endpoint.pane(), config).await);
        info
    }

    /// Checks what else is on the pane, and tries a report if that disturbs nobody.
    async fn report(
        &mut self,
        endpoint: &Endpoint,
        (source, label): (SourceId, AgentLabel),
        config: &Config,
        info: &PaneInfo,
        lease: Lease,
    ) -> &'static str {
        // The lease is kept to the end, so that no reporter starts while a report is tried.
        let Lease { hold, check, kept: _kept } = lease;
        let reporter = matches!(hold, Hold::Reporter | Hold::Closed);
        let others = others(info, &source, &label, reporter);
        let disturbs = hold != Hold::Nobody || others.taken;
        let good = self.findings.are_good();
        if hold == Hold::Closed && !self.write {
            self.findings.fail(Exit::Refused, check);
        } else {
            self.findings.add(check);
        }
        if others.block {
            self.findings.fail(Exit::NotApplied, others.check);
        } else {
            self.findings.add(others.check);
        }
        if good && (self.write || !disturbs) {
            let until = (self.started + REPORT_BY, self.started + BACK_BY);
            self.findings.take(trial(endpoint, source, label, config, until).await);
            return "a report shows: one was tried";
        }
        let check = Check::open("report", "not tried, to leave the pane as it is");
        self.findings.add(if good { check.remedy("--write tries it") } else { check });
        match hold {
            Hold::Reporter => {
                "what hooks say would show, through the pane's reporter; a second reporter would \
                 leave the pane to it"
            }
            _ => "a report would show, as far as can be told without one",
        }
    }
}
