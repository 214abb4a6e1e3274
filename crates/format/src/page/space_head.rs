//! Identification of a file by its first bytes, which a server examines when it starts.
//!
//! The page's checksum is not verified, since that would take the whole page. Instead, the
//! tablespace id must be equal in both its places and the flags must be some that a server writes,
//! which excludes most files that are not tablespaces.

use super::{DATA, FspFlags};
use crate::{Error, Lsn, PageNo, Result, SpaceId, bytes};

/// The header fields in the first bytes of a tablespace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceHead {
    /// Tablespace id.
    pub space: SpaceId,
    /// Tablespace flags; the most likely reading if some are unknown to all servers.
    pub flags: FspFlags,
    /// LSN of the newest change to the page.
    pub lsn: Lsn,
}

impl SpaceHead {
    /// Bytes that [`SpaceHead::parse`] needs.
    pub const BYTES: usize = 64;

    /// Returns whether a file's first bytes are those of a page that was never written.
    pub fn is_unwritten(first_bytes: &[u8]) -> bool {
        first_bytes.get(..SpaceHead::BYTES).is_some_and(|head| head.iter().all(|&byte| byte == 0))
    }

    /// Parses a file's first bytes.
    ///
    /// # Errors
    /// When they are not those of a tablespace.
    pub fn parse(first_bytes: &[u8]) -> Result<SpaceHead> {
        let Some(head) = first_bytes.get(..SpaceHead::BYTES) else {
            let len = first_bytes.len();
            return Err(Error::corrupt(format!("the file has {len} bytes: no page is whole")));
        };
        if SpaceHead::is_unwritten(head) {
            return Err(Error::corrupt("page 0 begins with zeroes: it was never written"));
        }
        let space = SpaceId(bytes::u32_at(head, DATA)?);
        let page_no = PageNo(bytes::u32_at(head, 4)?);
        if page_no != PageNo(0) {
            return Err(Error::corrupt(format!("its first page says it is page {page_no}")));
        }
        let twin = SpaceId(bytes::u32_at(head, DATA - 4)?);
        if twin != space {
            return Err(Error::corrupt(format!(
                "its first page has two tablespace ids: {twin} and {space}"
            )));
        }
        let raw = bytes::u32_at(head, DATA + 16)?;
        let Some(&flags) = FspFlags::candidates(raw).first() else {
            return Err(Error::corrupt(format!(
                "{raw:#x} are no tablespace flags any server writes"
            )));
        };
        Ok(SpaceHead { space, flags, lsn: Lsn(bytes::u64_at(head, 16)?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> [u8; SpaceHead::BYTES] {
        let mut head = [0; SpaceHead::BYTES];
        head[16..24].copy_from_slice(&77u64.to_be_bytes());
        head[34..38].copy_from_slice(&5u32.to_be_bytes());
        head[38..42].copy_from_slice(&5u32.to_be_bytes());
        head[54..58].copy_from_slice(&0x21u32.to_be_bytes());
        head
    }

    #[test]
    fn bytes_that_are_no_tablespace_are_an_error() {
        let parsed = SpaceHead::parse(&head()).unwrap();
        assert_eq!((parsed.space, parsed.lsn, parsed.flags.raw), (SpaceId(5), Lsn(77), 0x21));
        let broken = |at: usize, byte: u8| {
            let mut head = head();
            head[at] = byte;
            SpaceHead::parse(&head).unwrap_err().to_string()
        };
        assert!(broken(7, 1).contains("says it is page 1"));
        assert!(broken(37, 6).contains("tablespace ids: 6 and 5"));
        assert!(broken(54, 0xff).contains("are no tablespace flags"));
        assert!(SpaceHead::parse(&[0; 64]).unwrap_err().to_string().contains("never written"));
        assert!(SpaceHead::parse(&head()[..63]).unwrap_err().to_string().contains("63 bytes"));
    }
}
