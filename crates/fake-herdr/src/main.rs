//! `fake-herdr`: the fake server as a program, for tests in any language.

#[cfg(unix)]
mod program;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(unix))]
fn main() -> std::process::ExitCode {
    // The fake server has only a Unix socket.
    std::process::ExitCode::from(2)
}
