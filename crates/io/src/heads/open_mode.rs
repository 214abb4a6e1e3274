//! The mode in which one file is opened and read.

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::HeadMethod;
use crate::ALIGNMENT;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenMode {
    /// Whether the access time stays unchanged: otherwise reading a million files would write a
    /// million inodes. The kernel permits this to the files' owner and to root.
    keeps_access_time: bool,
    is_direct: bool,
    pub bytes: usize,
}

impl OpenMode {
    /// Returns the mode to try first.
    pub(super) fn first(method: HeadMethod) -> OpenMode {
        OpenMode {
            keeps_access_time: true,
            is_direct: method.is_direct(),
            bytes: method.read_bytes(),
        }
    }

    /// Returns the mode to try when the kernel refused this one; `None` when it refused the file.
    pub(super) fn after(self, refusal: Errno) -> Option<OpenMode> {
        match refusal {
            Errno::PERM if self.keeps_access_time => {
                Some(OpenMode { keeps_access_time: false, ..self })
            }
            // The device has larger blocks.
            Errno::INVAL if self.is_direct && self.bytes < ALIGNMENT => {
                Some(OpenMode { bytes: ALIGNMENT, ..self })
            }
            // The file system cannot bypass the page cache.
            Errno::INVAL if self.is_direct => Some(OpenMode { is_direct: false, ..self }),
            _ => None,
        }
    }

    pub(super) fn flags(self) -> OFlags {
        let mut flags = OFlags::RDONLY;
        flags.set(OFlags::NOATIME, self.keeps_access_time);
        flags.set(OFlags::DIRECT, self.is_direct);
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_modes_are_given_up_one_by_one() {
        let first = OpenMode::first(HeadMethod::Batched);
        let blocks = first.after(Errno::INVAL).unwrap();
        assert_eq!(
            (blocks.bytes, blocks.is_direct, blocks.keeps_access_time),
            (ALIGNMENT, true, true)
        );
        let foreign = blocks.after(Errno::PERM).unwrap();
        assert_eq!((foreign.is_direct, foreign.keeps_access_time), (true, false));
        let buffered = foreign.after(Errno::INVAL).unwrap();
        assert_eq!((buffered.is_direct, buffered.keeps_access_time), (false, false));
        for refusal in [Errno::INVAL, Errno::PERM] {
            assert_eq!(buffered.after(refusal), None);
        }
        assert_eq!(first.after(Errno::ACCESS), None);
    }
}
