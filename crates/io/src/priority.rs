//! The I/O priority of this process, which some of the kernel's I/O schedulers honour.

use std::path::PathBuf;

use crate::Identity;

/// An I/O priority below the normal one (`ioprio_set(2)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Best effort, at the lowest level.
    Lowest,
    /// Only while no other process reads or writes.
    Idle,
}

impl Priority {
    /// The class and the level, as the system call takes them (`linux/ioprio.h`).
    fn value(self) -> libc::c_int {
        let (class, level) = match self {
            Priority::Lowest => (2, 7),
            Priority::Idle => (3, 0),
        };
        class << 13 | level
    }

    /// Gives the calling thread this priority, and the threads that it starts from now on.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn apply(self) -> std::io::Result<()> {
        const IOPRIO_WHO_PROCESS: libc::c_int = 1;
        const THIS_THREAD: libc::c_int = 0;
        // SAFETY: the call takes three integers and touches no memory of this process.
        let result = unsafe {
            libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, THIS_THREAD, self.value())
        };
        match result {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
}

/// The I/O scheduler of the device of a file; `None` where it is unknown, as for network file systems.
pub fn scheduler_of(file: Identity) -> Option<String> {
    let (major, minor) = (libc::major(file.device), libc::minor(file.device));
    let device = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    // A partition has its device above it.
    let lists = ["queue/scheduler", "../queue/scheduler"];
    let list = lists.iter().find_map(|list| std::fs::read_to_string(device.join(list)).ok())?;
    let (_, chosen) = list.split_once('[')?;
    Some(chosen.split_once(']')?.0.to_owned())
}

/// Whether a scheduler honours priorities (`block/bfq-iosched.c`, `block/mq-deadline.c`, Linux 5.14).
pub fn honours_priorities(scheduler: &str) -> bool {
    matches!(scheduler, "bfq" | "mq-deadline" | "cfq")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_inherit_the_priority() {
        let priority_of_thread = || {
            // SAFETY: as above.
            unsafe { libc::syscall(libc::SYS_ioprio_get, 1, 0) }
        };
        std::thread::spawn(move || {
            for priority in [Priority::Lowest, Priority::Idle] {
                priority.apply().unwrap();
                let inherited = std::thread::spawn(priority_of_thread).join().unwrap();
                assert_eq!(inherited, libc::c_long::from(priority.value()));
            }
        })
        .join()
        .unwrap();
    }
}
