/// Who serves a socket, as the kernel noted it when the server began to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    uid: u32,
    pid: Option<u32>,
}

impl Peer {
    #[cfg(unix)]
    pub(crate) fn new(uid: u32, pid: Option<u32>) -> Self {
        // Process 0 stands for one that cannot be seen from here, as from
        // within a container.
        Self { uid, pid: pid.filter(|&pid| pid != 0) }
    }

    /// The server's user.
    pub fn uid(self) -> u32 {
        self.uid
    }

    /// The server's process, or `None` where the platform does not tell or the
    /// process cannot be seen from this one's namespace.
    pub fn pid(self) -> Option<u32> {
        self.pid
    }
}
