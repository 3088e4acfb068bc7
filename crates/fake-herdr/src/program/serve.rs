//! `serve` and `server`.

use std::fs;
use std::io::{self, Write as _};
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
    let builder = FakeHerdr::builder().panes(settings.panes).profile(profile);
    let faults = settings.fault.iter().cloned();
    run(faults.fold(builder, Builder::fault), &settings.socket)
}

/// As `herdr server`: with nothing open, and the folder is made if it is
/// missing.
pub(super) fn server(socket: &Path) -> anyhow::Result<()> {
    if let Some(folder) = socket.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    run(FakeHerdr::builder().panes(0), socket)
}

fn run(builder: Builder, socket: &Path) -> anyhow::Result<()> {
    let herdr = builder
        .poll(true)
        .socket_path(socket)
        .start()
        .with_context(|| format!("cannot serve on {}", socket.display()))?;
    let herdr = Arc::new(herdr);
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).context("cannot hear signals")?;
    let hush = signals.handle();
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
    // Nobody waits for this thread: it may sit in a read that never ends.
    let controlled = Arc::downgrade(&herdr);
    thread::spawn(move || control::obey(&mut io::stdin().lock(), &mut io::stdout(), &controlled));
    herdr.wait();
    hush.close();
    let _ = listener.join();
    Ok(())
}
