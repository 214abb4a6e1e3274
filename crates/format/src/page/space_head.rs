//! Who a file is, from its first half kilobyte: what a server looks at when it starts.
//!
//! The page's checksum is not looked at, since it would take the whole page; that the tablespace's
//! number stands there twice, and flags that no server writes, tell most of what is no tablespace.

use super::{DATA, FspFlags};
use crate::{Error, Lsn, PageNo, Result, SpaceId, bytes};

/// The tablespace's first page, its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceHead {
    /// The tablespace.
    pub space: SpaceId,
    /// Its flags; of one that has some unknown to any server the likeliest reading.
    pub flags: FspFlags,
    /// Of the newest change to the page.
    pub lsn: Lsn,
}

impl SpaceHead {
    /// The bytes that are wanted.
    pub const BYTES: usize = 64;

    /// Whether a file's first bytes are those of a page that was never written.
    pub fn is_unwritten(first_bytes: &[u8]) -> bool {
        first_bytes.get(..SpaceHead::BYTES).is_some_and(|head| head.iter().all(|&byte| byte == 0))
    }

    /// Reads a file's first bytes.
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
                "its first page says it is of tablespace {twin}, and of {space}"
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
    fn what_is_no_tablespace_is_told() {
        let parsed = SpaceHead::parse(&head()).unwrap();
        assert_eq!((parsed.space, parsed.lsn, parsed.flags.raw), (SpaceId(5), Lsn(77), 0x21));
        let broken = |at: usize, byte: u8| {
            let mut head = head();
            head[at] = byte;
            SpaceHead::parse(&head).unwrap_err().to_string()
        };
        assert!(broken(7, 1).contains("says it is page 1"));
        assert!(broken(37, 6).contains("of tablespace 6, and of 5"));
        assert!(broken(54, 0xff).contains("are no tablespace flags"));
        assert!(SpaceHead::parse(&[0; 64]).unwrap_err().to_string().contains("never written"));
        assert!(SpaceHead::parse(&head()[..63]).unwrap_err().to_string().contains("63 bytes"));
    }
}
