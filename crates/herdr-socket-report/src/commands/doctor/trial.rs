//! One report that is read back and taken back.

use std::time::Instant;

use herdr_proto::{AgentLabel, ReportState, SourceId};
use herdr_reporter::{Config, Reason};
use herdr_socket_transport::Endpoint;
use tokio::time::timeout_at;

use super::check::Check;
use super::server::Obstacle;
use crate::direct::{Direct, Problem, Said};
use crate::exit::Exit;

/// Reports that the agent is idle, until `report_by`, and gives the pane back,
/// until `back_by`. Title, labels and tokens are left as they are.
pub(super) async fn trial(
    endpoint: &Endpoint,
    source: SourceId,
    label: AgentLabel,
    config: &Config,
    (report_by, back_by): (Instant, Instant),
) -> Result<Check, Obstacle> {
    const NAME: &str = "report";
    let fresh = SourceId::parse(format!("{source}.2")).ok().filter(|_| config.fresh_source);
    let mut sources = vec![source];
    sources.extend(fresh);
    // A source that nothing unmutes is replaced here, where it can be released.
    let mut plain = config.clone();
    plain.fresh_source = false;
    let mut outcome = Ok(Check::fine(NAME, "reported, shown, and taken back"));
    for source in sources {
        let direct = Direct::new(endpoint, source, label.clone(), config.metadata_ttl, &plain);
        let said = Said::default();
        let report = direct.state(ReportState::Idle, &said);
        let reported = timeout_at(report_by.into(), report).await;
        let back = timeout_at(back_by.into(), direct.give_back()).await;
        let muted = matches!(reported, Ok(Err(Problem::NotApplied(Reason::StaleSequence))));
        outcome = match (reported, back) {
            (Err(_), _) => Err(late()),
            (Ok(Err(problem)), _) => Err(failed(&problem)),
            (Ok(Ok(_)), Ok(Ok(()))) => Ok(Check::fine(NAME, "reported, shown, and taken back")),
            (Ok(Ok(_)), _) => {
                let check = Check::open(NAME, "reported and shown, but it could not be taken back");
                Ok(check.remedy("herdr-socket-report release, with the same --agent and --source"))
            }
        };
        if !muted {
            break;
        }
    }
    outcome
}

fn failed(problem: &Problem) -> Obstacle {
    let (finding, remedy) = match problem {
        Problem::NotApplied(reason) => {
            (format!("the server said ok and shows something else: {reason}"), reason.remedy())
        }
        other if other.exit() == Exit::Refused => {
            (other.to_string(), "see the server's code; TUIOS takes reports from the pane only")
        }
        other => (other.to_string(), "see whether the server's windows react"),
    };
    (problem.exit(), Check::wrong("report", finding).remedy(remedy))
}

fn late() -> Obstacle {
    let check = Check::wrong("report", "the server is too slow to try a report");
    (Exit::Unreachable, check.remedy("see whether its windows react, and try again"))
}
