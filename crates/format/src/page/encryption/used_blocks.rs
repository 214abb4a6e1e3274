//! Decryption of a B-tree's page without its free space, which can be a third of a page. In CBC mode a block needs no
//! other decrypted block, only the encrypted one before it.

use std::ops::Range;

use aes::cipher::{BlockModeDecrypt, InnerIvInit};
use aes::{Aes128, Block};

use super::{BLOCK, range_mut};
use crate::page::DATA;
use crate::{Error, Result, bytes};

/// Blocks that are decrypted at once. A part of a page that begins and ends at a multiple of them takes the least time.
const AT_ONCE: usize = 8;
/// `PAGE_HEADER + PAGE_N_DIR_SLOTS`.
const SLOTS_AT: usize = DATA;
/// `PAGE_HEADER + PAGE_HEAP_TOP`.
const HEAP_TOP_AT: usize = DATA + 2;
/// Bytes behind the directory (`PAGE_DIR`).
const TRAILER_BYTES: usize = 8;

/// Encrypted blocks, and what decrypts them.
pub(super) struct EncryptedBlocks<'a> {
    pub cipher: &'a Aes128,
    pub iv: [u8; BLOCK],
    pub blocks: &'a [Block],
}

impl EncryptedBlocks<'_> {
    /// Decrypts them to the bytes of `page` from `at` on, which is before the page's header. Free space becomes zeroes.
    ///
    /// # Errors
    /// The page is shorter than the blocks.
    pub fn decrypt_used(&self, page: &mut [u8], at: usize) -> Result<()> {
        let all = self.blocks.len();
        let head = AT_ONCE.min(all);
        self.decrypt(0..head, page, at)?;
        let free = free_blocks(page, at)?;
        if free.start < head || free.end < free.start || all < free.end {
            return self.decrypt(head..all, page, at);
        }
        self.decrypt(head..free.start, page, at)?;
        range_mut(page, at + free.start * BLOCK, free.len() * BLOCK)?.fill(0);
        self.decrypt(free.end..all, page, at)
    }

    fn decrypt(&self, range: Range<usize>, page: &mut [u8], at: usize) -> Result<()> {
        let before = range.start.checked_sub(1).and_then(|before| self.blocks.get(before));
        let iv = before.copied().unwrap_or(Block::from(self.iv));
        let plain = range_mut(page, at + range.start * BLOCK, range.len() * BLOCK)?;
        let (plain, _) = Block::slice_as_chunks_mut(plain);
        let blocks = self.blocks.get(range).unwrap_or_default();
        let mut cbc = cbc::Decryptor::inner_iv_init(self.cipher, &iv);
        cbc.decrypt_blocks_b2b(blocks, plain)
            .map_err(|_| Error::corrupt("the encrypted blocks end before their range"))
    }
}

/// The blocks between the heap and the directory. If the header is damaged, they may be any.
fn free_blocks(page: &[u8], at: usize) -> Result<Range<usize>> {
    let heap_top = usize::from(bytes::u16_at(page, HEAP_TOP_AT)?);
    let slots = usize::from(bytes::u16_at(page, SLOTS_AT)?);
    let directory = page.len().saturating_sub(TRAILER_BYTES + 2 * slots);
    let heap_blocks = heap_top.saturating_sub(at).div_ceil(BLOCK * AT_ONCE) * AT_ONCE;
    Ok(heap_blocks..directory.saturating_sub(at) / (BLOCK * AT_ONCE) * AT_ONCE)
}
