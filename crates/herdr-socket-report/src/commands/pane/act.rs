use std::io::{self, Read as _};
use std::time::Duration;

use herdr_pane_control::{
    AgentStatus, Error, ErrorKind, Intent, Key, OperationId, Origin, PaneControl, PromptOptions,
    PushOptions, ReadOptions, Target, WaitOptions,
};
use herdr_reporter::Config;
use herdr_reporter::sidecar::LeaseFile;
use herdr_socket_transport::env::HERDR_PANE_ID;
use herdr_socket_transport::{Client, Endpoint, Options, find_socket};

use super::outcome::CommandOutcome;
use super::{Args, Command, Manner, Source};
use crate::exit::Exit;
use crate::input::signals::Signals;
use crate::output::say;
use crate::place::REPLY_MAX;
use crate::wait::blocking;

/// Set to 1 by a daemon that serves several panes, so that its children never take the daemon's
/// own pane as their target.
const SHARED: &str = "HERDR_REPORT_SHARED";

/// The longest text that is read from stdin, in bytes.
const TEXT_MAX: u64 = 64 * 1024;

pub(crate) fn run(args: &Args) -> Exit {
    let outcome = blocking(act(args)).unwrap_or_else(|| Err(wrong(&"there is no runtime")));
    outcome.unwrap_or_else(|error| CommandOutcome::error(&error)).report(args.common.json)
}

fn wrong(what: &impl ToString) -> Error {
    Error::invalid(what.to_string())
}

async fn act(args: &Args) -> Result<CommandOutcome, Error> {
    let socket = find_socket(args.common.socket.as_deref(), |name| std::env::var_os(name));
    let socket = socket.map_err(|error| wrong(&error))?;
    let options = Options::default().reply_cap(REPLY_MAX);
    let options = options.allow_foreign_socket(args.common.allow_foreign_socket);
    let client = Client::new(&socket, options);
    if args.common.pane.is_some() && matches!(args.command, Command::List | Command::Watch { .. }) {
        return Err(wrong(&"--pane has no effect on this command"));
    }
    let target = || Target::resolve(args.common.pane.as_deref(), &origin());
    let mut builder = PaneControl::builder(client);
    if let Command::Push { options, .. } | Command::Prompt { options, .. } = &args.command
        && options.operation.is_some()
    {
        let endpoint = Endpoint::new(&socket, target()?.pane().clone());
        let lease = LeaseFile::of_pane(&Config::default(), &endpoint);
        builder = builder.operations_in(lease.path().with_file_name("operations"));
    }
    let control = builder.build();
    Ok(match &args.command {
        Command::List => CommandOutcome::list(&control.list().await?),
        Command::Probe => CommandOutcome::probe(&control.probe(&target()?).await?),
        Command::Tick => CommandOutcome::tick(&control.tick(&target()?).await?),
        Command::Read { source, ansi, lines } => {
            let mut options = ReadOptions::of(match source {
                Source::Screen => herdr_pane_control::Source::Screen,
                Source::Visible => herdr_pane_control::Source::Visible,
                Source::Recent => herdr_pane_control::Source::Recent,
                Source::RecentUnwrapped => herdr_pane_control::Source::RecentUnwrapped,
            });
            (options.ansi, options.lines) = (*ansi, *lines);
            CommandOutcome::reading(&control.read(&target()?, options).await?)
        }
        Command::Keys { keys } => {
            press(&control, &target()?, keys).await?;
            CommandOutcome::done()
        }
        Command::Push { text, options } => {
            let text = given(text)?;
            CommandOutcome::pushed(&control.push(&target()?, &text, &push_options(options)?).await?)
        }
        Command::Prompt { text, allow_push, options, wait } => {
            let mut prompt = PromptOptions::default();
            (prompt.allow_push, prompt.push) = (*allow_push, push_options(options)?);
            let until = [AgentStatus::IDLE, AgentStatus::BLOCKED];
            prompt.wait = wait.map(|wait| WaitOptions::new(until, Duration::from_secs(wait)));
            CommandOutcome::prompted(&control.prompt(&target()?, &given(text)?, &prompt).await?)
        }
        Command::Answer { digest, keys } => {
            let keys: Vec<Key> = keys.iter().map(|key| key.parse()).collect::<Result<_, _>>()?;
            control.answer(&target()?, *digest, &keys).await?;
            CommandOutcome::done()
        }
        Command::Wait { until, after, timeout } => {
            let until: Vec<_> =
                until.iter().map(|status| status_of(status)).collect::<Result<_, _>>()?;
            let mut options = WaitOptions::new(until, Duration::from_secs(*timeout));
            options.after = *after;
            CommandOutcome::waited(&control.wait(&target()?, &options).await?)
        }
        Command::Watch { panes } => {
            let targets = panes.iter().map(|pane| pane.parse()).collect::<Result<Vec<_>, _>>()?;
            return watch(&control, targets, args.common.json).await;
        }
    })
}

fn origin() -> Origin {
    if std::env::var_os(SHARED).is_some_and(|value| value == "1") {
        return Origin::Shared;
    }
    let pane = std::env::var(HERDR_PANE_ID).ok().and_then(|pane| pane.parse().ok());
    pane.map_or(Origin::Outside, Origin::Pane)
}

/// Presses keys. A word that begins with a colon is an intent. All words are parsed before the
/// first key is pressed.
async fn press(control: &PaneControl, target: &Target, words: &[String]) -> Result<(), Error> {
    enum Press {
        Keys(Vec<Key>),
        Meant(Intent),
    }
    let mut presses = Vec::new();
    for word in words {
        if Intent::named(word).is_some() && word.parse::<Key>().is_err() {
            return Err(wrong(&format!("{word:?} is not a key; it is written :{word}")));
        }
        match word.strip_prefix(':').filter(|name| !name.is_empty()) {
            Some(name) => presses.push(Press::Meant(Intent::named(name).ok_or_else(|| {
                wrong(&format!("{word:?} does not name an intent, such as :interrupt"))
            })?)),
            None => match presses.last_mut() {
                Some(Press::Keys(keys)) => keys.push(word.parse()?),
                _ => presses.push(Press::Keys(vec![word.parse()?])),
            },
        }
    }
    for press in presses {
        match press {
            Press::Keys(keys) => control.keys(target, &keys).await?,
            Press::Meant(intent) => control.intend(target, intent, None).await?,
        }
    }
    Ok(())
}

fn push_options(push: &Manner) -> Result<PushOptions, Error> {
    let mut options = PushOptions::default();
    options.profile.clone_from(&push.profile);
    options.operation = push.operation.clone().map(OperationId::parse).transpose()?;
    Ok(options)
}

fn status_of(word: &str) -> Result<AgentStatus, Error> {
    let known = [
        AgentStatus::WORKING,
        AgentStatus::BLOCKED,
        AgentStatus::IDLE,
        AgentStatus::DONE,
        AgentStatus::UNKNOWN,
    ];
    let words = || known.each_ref().map(|status| status.as_str().to_owned()).join(", ");
    let status = known.iter().find(|status| status.as_str() == word).cloned();
    status.ok_or_else(|| wrong(&format!("{word:?} is not a status; there are {}", words())))
}

fn given(text: &str) -> Result<String, Error> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = String::new();
    let got = io::stdin().lock().take(TEXT_MAX + 1).read_to_string(&mut read);
    got.map_err(|error| wrong(&format!("stdin is not a text: {error}")))?;
    if read.len() as u64 > TEXT_MAX {
        return Err(wrong(&format!("the text on stdin is over {TEXT_MAX} bytes")));
    }
    Ok(read)
}

/// Prints changes until a signal arrives, the named panes are gone, or the reader is gone.
async fn watch(
    control: &PaneControl,
    targets: Vec<Target>,
    json: bool,
) -> Result<CommandOutcome, Error> {
    let signals = Signals::catch().map_err(|error| wrong(&error))?;
    let mut changes = control.changes(targets);
    let mut away = false;
    loop {
        let change = tokio::select! {
            () = signals.arrived() => return Ok(CommandOutcome::nothing()),
            change = changes.next() => change,
        };
        match change {
            Ok(change) => {
                away = false;
                if !CommandOutcome::change(&change).print(json) {
                    return Ok(CommandOutcome::nothing());
                }
            }
            // A watch continues when its server comes back.
            Err(error) if matches!(error.kind(), ErrorKind::NoServer | ErrorKind::Timeout) => {
                if !std::mem::replace(&mut away, true) {
                    say(&error.to_string());
                }
            }
            Err(error) => return Err(error),
        }
    }
}
