//! The target on which a script is played.

use std::time::Duration;

/// A server, real or simulated.
pub trait Target {
    /// Sends bytes on a new connection and returns the line of the answer; `None` if the server
    /// closed without one.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached.
    fn exchange(&mut self, bytes: &[u8]) -> anyhow::Result<Option<String>>;

    /// Opens a stream with a request line and returns the first line.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached.
    fn open(&mut self, stream: &str, line: &[u8]) -> anyhow::Result<Option<String>>;

    /// Writes to an open stream.
    ///
    /// # Errors
    ///
    /// If there is no such stream.
    fn write(&mut self, stream: &str, bytes: &[u8]) -> anyhow::Result<()>;

    /// Closes the client's sending direction of a stream.
    ///
    /// # Errors
    ///
    /// If there is no such stream.
    fn half_close(&mut self, stream: &str) -> anyhow::Result<()>;

    /// Lets time pass and collects what streams receive.
    ///
    /// # Errors
    ///
    /// If a stream breaks.
    fn wait(&mut self, time: Duration) -> anyhow::Result<()>;

    /// The time since the start.
    fn now(&self) -> Duration;

    /// Starts a program with the name of an agent in a pane's foreground. It draws nothing. If
    /// the pane does not exist, nothing happens.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached.
    fn begin(&mut self, pane: &str, agent: &str) -> anyhow::Result<()>;

    /// Ends the program in a pane's foreground.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached.
    fn end(&mut self, pane: &str) -> anyhow::Result<()>;

    /// How much longer than recorded a ttl lasts, because real time passes between two
    /// requests.
    fn lag(&self) -> Duration;

    /// How late an event may be. In real time only the order of events is exact.
    fn grace(&self) -> Duration;

    /// Takes the lines that a stream has received since the last call, and whether the server
    /// has closed it.
    fn take(&mut self, stream: &str) -> (Vec<String>, bool);
}
