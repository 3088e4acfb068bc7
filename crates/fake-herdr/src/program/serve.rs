//! The commands `serve` and `server`.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use fake_herdr::{Builder, FakeHerdr, Profile};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::{Serve, control};

pub(super) fn serve(settings: &Serve) -> anyhow::Result<()> {
    let profile =
        settings.profile.clone().unwrap_or_else(|| Profile::for_protocol(settings.protocol));
    let builder = FakeHerdr::builder().panes(settings.panes.into()).profile(profile);
    let builder = settings.fault.iter().cloned().fold(builder, Builder::fault);
    #[cfg(feature = "pty")]
    let builder = match &settings.shell {
        None => builder,
        Some(program) if program.is_empty() => builder.program([shell()]),
        Some(program) => builder.program([program]),
    };
    run(builder, &settings.socket)
}

/// Starts as `herdr server` does: without a workspace, and with the socket's folder
/// made if it is missing. With the feature `pty`, panes run the user's shell.
pub(super) fn server(socket: &Path) -> anyhow::Result<()> {
    if let Some(folder) = socket.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let builder = FakeHerdr::builder().panes(0);
    #[cfg(feature = "pty")]
    let builder = builder.program([shell()]);
    run(builder, socket)
}

/// The shell that Herdr runs in a new pane.
#[cfg(feature = "pty")]
fn shell() -> std::ffi::OsString {
    let set = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
    set.unwrap_or_else(|| "/bin/sh".into())
}

fn run(builder: Builder, socket: &Path) -> anyhow::Result<()> {
    // Registered first, so that a signal cannot leave a socket file behind.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).context("cannot handle signals")?;
    let herdr = builder
        .poll(true)
        .socket_path(socket)
        .start()
        .with_context(|| format!("cannot serve on {}", socket.display()))?;
    let herdr = Arc::new(herdr);
    let signals_handle = signals.handle();
    let stopper = herdr.stopper();
    let listener = thread::spawn(move || {
        if signals.forever().next().is_some() {
            stopper.stop();
        }
    });
    let mut output = io::stdout().lock();
    writeln!(output, "ready {}", socket.display())?;
    output.flush()?;
    drop(output);
    if io::stdin().is_terminal() {
        writeln!(io::stderr(), "{}", control::hint())?;
    }
    // This thread is not joined, because its read may never end.
    let controlled = Arc::downgrade(&herdr);
    thread::spawn(move || control::run(&mut io::stdin().lock(), &mut io::stdout(), &controlled));
    herdr.wait();
    signals_handle.close();
    let _ = listener.join();
    Ok(())
}
