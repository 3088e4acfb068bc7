//! What a script is played on.

use std::time::Duration;

/// A server, real or not.
pub trait Target {
    /// Sends bytes on a connection of its own and gives the line that came
    /// back; `None` if the server closed without one.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached.
    fn exchange(&mut self, bytes: &[u8]) -> anyhow::Result<Option<String>>;

    /// Opens a stream with a request line and gives the first line.
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

    /// Ends the client's half of a stream.
    ///
    /// # Errors
    ///
    /// If there is no such stream.
    fn half_close(&mut self, stream: &str) -> anyhow::Result<()>;

    /// Lets time pass and collects what streams receive meanwhile.
    ///
    /// # Errors
    ///
    /// If a stream breaks.
    fn wait(&mut self, time: Duration) -> anyhow::Result<()>;

    /// The time since the beginning.
    fn now(&self) -> Duration;

    /// Begins a program with the name of an agent in a pane's foreground. It
    /// draws nothing. Nothing happens where there is no such pane.
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

    /// How much longer than recorded a time to live lasts: between two requests
    /// real time passes, which none did in a recording.
    fn lag(&self) -> Duration;

    /// How much longer than recorded an event may take. In real time a window
    /// is exact in the order of events, not in their time.
    fn grace(&self) -> Duration;

    /// Takes the lines that a stream got since the last time, and whether the
    /// server has closed it.
    fn take(&mut self, stream: &str) -> (Vec<String>, bool);
}
