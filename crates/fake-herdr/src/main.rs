//! `fake-herdr`: the fake server as a program, for tests in any language.

#[cfg(unix)]
mod program;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(unix))]
fn main() -> std::process::ExitCode {
    // There are no Unix sockets on this platform.
    std::process::ExitCode::from(2)
}
