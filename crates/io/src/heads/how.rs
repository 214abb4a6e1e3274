//! The mode in which one file is opened and read.

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::HeadWay;
use crate::ALIGNMENT;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct How {
    /// Whether the access time stays unchanged: otherwise reading a million files would write a
    /// million inodes. The kernel permits this to the files' owner and to root.
    is_unnoticed: bool,
    is_direct: bool,
    pub bytes: usize,
}

impl How {
    /// Returns the mode to try first.
    pub(super) fn of(way: HeadWay) -> How {
        How { is_unnoticed: true, is_direct: way.is_direct(), bytes: way.read_bytes() }
    }

    /// Returns the mode to try when the kernel refused this one; `None` when it refused the file.
    pub(super) fn after(self, refusal: Errno) -> Option<How> {
        match refusal {
            Errno::PERM if self.is_unnoticed => Some(How { is_unnoticed: false, ..self }),
            // The device has larger blocks.
            Errno::INVAL if self.is_direct && self.bytes < ALIGNMENT => {
                Some(How { bytes: ALIGNMENT, ..self })
            }
            // The file system cannot bypass the page cache.
            Errno::INVAL if self.is_direct => Some(How { is_direct: false, ..self }),
            _ => None,
        }
    }

    pub(super) fn flags(self) -> OFlags {
        let mut flags = OFlags::RDONLY;
        flags.set(OFlags::NOATIME, self.is_unnoticed);
        flags.set(OFlags::DIRECT, self.is_direct);
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_given_up_one_after_the_other() {
        let first = How::of(HeadWay::Batched);
        let blocks = first.after(Errno::INVAL).unwrap();
        assert_eq!((blocks.bytes, blocks.is_direct, blocks.is_unnoticed), (ALIGNMENT, true, true));
        let foreign = blocks.after(Errno::PERM).unwrap();
        assert_eq!((foreign.is_direct, foreign.is_unnoticed), (true, false));
        let buffered = foreign.after(Errno::INVAL).unwrap();
        assert_eq!((buffered.is_direct, buffered.is_unnoticed), (false, false));
        for refusal in [Errno::INVAL, Errno::PERM] {
            assert_eq!(buffered.after(refusal), None);
        }
        assert_eq!(first.after(Errno::ACCESS), None);
    }
}
