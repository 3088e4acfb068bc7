//! Who has a lease.

use std::path::Path;

/// The process that holds the lock of this file, as the kernel lists it.
/// Elsewhere than on Linux, and on file systems that number their files twice,
/// nobody is named.
pub fn owner_of(lease: &Path) -> Option<u32> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;

        let inode = std::fs::metadata(lease).ok()?.ino();
        owner_in(&std::fs::read_to_string("/proc/locks").ok()?, inode)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = lease;
        None
    }
}

/// `1: FLOCK  ADVISORY  WRITE 4711 00:2d:1234 0 EOF`, one lock a line; a waiter's
/// line has an arrow in it.
#[cfg(target_os = "linux")]
fn owner_in(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, file, ..] = words[..] else { return None };
        let (_, number) = file.rsplit_once(':')?;
        // A process of another namespace has the number 0.
        let pid = pid.parse().ok().filter(|pid| *pid != 0)?;
        (number.parse() == Ok(inode)).then_some(pid)
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_owner_is_found_among_the_kernels_locks() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 00:2d:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 00:2d:78 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 13 00:2d:77 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 0 00:2d:79 0 EOF\n\
                     5: FLOCK  ADVISORY  WRITE 14 00:2d:77 0 EOF\n";
        assert_eq!(owner_in(locks, 77), Some(14));
        assert_eq!(owner_in(locks, 78), Some(12));
        assert_eq!(owner_in(locks, 79), None);
        assert_eq!(owner_in("nonsense", 1), None);
    }
}
