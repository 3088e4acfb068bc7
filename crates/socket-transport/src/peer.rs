/// The process that serves a socket. The kernel noted it when the server called `listen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    uid: u32,
    pid: Option<u32>,
}

impl Peer {
    #[cfg(unix)]
    pub(crate) fn new(uid: u32, pid: Option<u32>) -> Self {
        // The kernel gives process 0 for a process that is not visible from here, such as one
        // outside this container.
        Self { uid, pid: pid.filter(|&pid| pid != 0) }
    }

    /// The server's user.
    pub fn uid(self) -> u32 {
        self.uid
    }

    /// The server's process; `None` if the platform does not tell, or the process is not in
    /// this process's pid namespace.
    pub fn pid(self) -> Option<u32> {
        self.pid
    }
}
