//! The checks of the server, of the pane, and of this process being in the pane.

use herdr_proto::{
    ErrorCode, PaneGet, PaneId, PaneInfo, Ping, Pong, ProcessInfoGet, ProcessInfoReply, decode,
    encode,
};
use herdr_reporter::machine::Identity;
use herdr_reporter::sidecar::judge_place;
use herdr_reporter::{Config, UnverifiedPane};
use herdr_socket_transport::{Client, Error, ErrorKind, Peer};

use super::check::{Check, Obstacle};
use crate::exit::Exit;
use crate::text::shown;

/// The protocol numbers of the servers that this version was made for (protocol §1).
const KNOWN_PROTOCOLS: [u64; 2] = [20, 22];

pub(super) async fn server(client: &Client) -> Result<Check, Obstacle> {
    const NAME: &str = "server";
    let pong = client.call(&Ping::default()).await.map_err(|error| unreachable(NAME, &error))?;
    let Pong { version, protocol, server, .. } = &pong;
    let product = server.as_deref().unwrap_or("herdr");
    let version = if version.is_empty() { "of no version" } else { version };
    let finding = format!("{} {}, protocol {protocol}", word(product), word(version));
    Ok(match product {
        "tuios" => Check::fine(
            NAME,
            format!(
                "{finding}: TUIOS takes reports from the pane's own processes only, and metadata \
                 at 5 a second"
            ),
        ),
        _ if KNOWN_PROTOCOLS.contains(protocol) => Check::fine(NAME, finding),
        _ => Check::open(NAME, format!("{finding}, which this program has not been tried with")),
    })
}

pub(super) async fn pane(client: &Client, id: &PaneId) -> Result<(Check, PaneInfo), Obstacle> {
    const NAME: &str = "pane";
    let reply = client.call(&PaneGet::new(id.clone())).await;
    let info = match reply {
        Ok(reply) => reply.pane,
        Err(error) if is(&error, &ErrorCode::PANE_NOT_FOUND) => {
            let finding = format!("the server has no pane {}", word(id.as_str()));
            let check = Check::wrong(NAME, finding).remedy(
                "the pane was closed, or the variables are of another server: open another pane",
            );
            return Err((Exit::Refused, check));
        }
        Err(error) => return Err(unreachable(NAME, &error)),
    };
    let now = word(info.pane_id.as_str());
    let finding = if info.pane_id == *id {
        format!("{now} exists")
    } else {
        format!("{} has moved and is {now} now; both ids lead to it", word(id.as_str()))
    };
    Ok((Check::fine(NAME, finding), info))
}

/// Whether this process runs in the pane, as far as that can be told.
pub(super) async fn identity(
    client: &Client,
    pane: &PaneId,
    config: &Config,
) -> Result<Check, Obstacle> {
    const NAME: &str = "identity";
    let (identity, why) = judge(client, pane).await.map_err(|error| unreachable(NAME, &error))?;
    let denied = config.unverified_pane == UnverifiedPane::Deny;
    match identity {
        Identity::Proven => Ok(Check::fine(NAME, why)),
        _ if config.any_pane => Ok(Check::open(NAME, format!("{why}; any_pane reports anyway"))),
        Identity::Foreign => {
            let remedy = "run it in that pane, or report anyway with --any-pane";
            Err((Exit::Refused, Check::wrong(NAME, why).remedy(remedy)))
        }
        _ if denied => {
            let check = Check::wrong(NAME, format!("{why}, and unverified_pane is deny"));
            Err((Exit::Refused, check.remedy("allow it with --unverified-pane allow")))
        }
        _ => Ok(Check::open(NAME, format!("{why}; it is taken for ours (unverified_pane)"))),
    }
}

/// The identity of this process according to the pane's processes, with an explanation.
async fn judge(client: &Client, pane: &PaneId) -> Result<(Identity, String), Error> {
    let cannot = |why: &str| {
        Ok((
            Identity::Unprovable,
            format!("whether this process runs in the pane cannot be told: {why}"),
        ))
    };
    let Ok(line) = encode("doctor", &ProcessInfoGet::new(pane.clone())) else {
        return cannot("the pane's id cannot be sent");
    };
    let (reply, server): (_, Peer) = client.exchange_with(&line).await?;
    let info = match decode(&reply) {
        Ok(Ok(ProcessInfoReply { process_info, .. })) => process_info,
        Ok(Err(refused)) => {
            return cannot(&format!("the server answers {}", word(refused.code.as_str())));
        }
        _ => return cannot("the server's answer is not understood"),
    };
    let unseen = cfg!(target_os = "linux") && server.pid().is_none();
    match (judge_place(&info, None, client.socket(), server).await, info.shell_pid) {
        (Identity::Proven, _) => {
            Ok((Identity::Proven, "this process runs in the pane, proven by its shell".to_owned()))
        }
        (Identity::Foreign, shell) => {
            let shell = shell.map_or_else(String::new, |pid| format!(" (process {pid})"));
            let finding = format!(
                "this process does not run in the pane: it does not descend from the pane's \
                 shell{shell}"
            );
            Ok((Identity::Foreign, finding))
        }
        _ if unseen => cannot("the server's process cannot be seen from here, as in a container"),
        (_, None) => cannot("the server does not name the pane's shell"),
        (_, Some(pid)) => {
            cannot(&format!("the pane's shell, process {pid}, cannot be seen from here"))
        }
    }
}

/// The check for a request that was not answered.
fn unreachable(name: &'static str, error: &Error) -> Obstacle {
    let (exit, remedy) = match error.kind() {
        ErrorKind::Rejected => {
            (Exit::Refused, "see the server's code; another version of it may help")
        }
        ErrorKind::NotPaneApi => (
            Exit::Unreachable,
            "this is herdr-core, which speaks JSON-RPC: set HERDR_SOCKET_PATH to the pane socket",
        ),
        ErrorKind::Refused => (
            Exit::Unreachable,
            "no process listens there any more: start the killed server again and open another \
             pane, or whatever forwards the socket, such as ssh",
        ),
        ErrorKind::Timeout(_) | ErrorKind::Busy => {
            (Exit::Unreachable, "the server hangs or is stopped: see whether its windows react")
        }
        ErrorKind::Permission => {
            (Exit::Unreachable, "run it as the server's user, and outside of a sandbox")
        }
        ErrorKind::ForeignOwner => (
            Exit::Unreachable,
            "run it as the server's user, or trust that user with --allow-foreign-socket",
        ),
        _ => (Exit::Unreachable, "see which program listens there, and its log"),
    };
    (exit, Check::wrong(name, error.to_string()).remedy(remedy))
}

fn is(error: &Error, code: &ErrorCode) -> bool {
    error.rejection().is_some_and(|rejection| rejection.code == *code)
}

/// A text of the server, shortened to fit a message.
fn word(text: &str) -> String {
    shown(text).trim_matches('"').to_owned()
}
