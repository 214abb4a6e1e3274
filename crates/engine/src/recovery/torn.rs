//! Pages whose write was not finished: their copy in the doublewrite buffer takes their place.

use innoscan_format::page::{self, Encryption};
use innoscan_format::{Error as FormatError, Lsn, bytes};

use super::index::{Base, Chain};
use super::settle::{PageLog, Settling};
use crate::{Error, Result};

/// `FIL_PAGE_OFFSET`, `FIL_PAGE_LSN`, `FIL_PAGE_SPACE_ID`.
const PAGE_NO_AT: usize = 4;
const LSN_AT: usize = 16;
const SPACE_AT: usize = 34;

impl PageLog<'_> {
    /// Replaces a page that is torn, or all zeroes, by its copy in the doublewrite buffer, if there is one that is sound.
    ///
    /// # Errors
    /// The copy is older than the page, and the log does not have what changed since; it cannot be read.
    pub fn restore(
        &self,
        chain: Option<&Chain>,
        page: &mut [u8],
        buffers: &mut Settling,
    ) -> Result<()> {
        let space = self.format().space;
        let is_void = matches!(chain, Some(Chain { base: Base::Freed | Base::Nothing, .. }));
        match self.recovery.doublewrite.has(space, self.page_no)
            && !is_void
            && !self.log.index.is_cut(space, self.page_no)
        {
            true => self.restore_torn(chain, page, buffers),
            false => Ok(()),
        }
    }

    #[cold]
    fn restore_torn(
        &self,
        chain: Option<&Chain>,
        page: &mut [u8],
        buffers: &mut Settling,
    ) -> Result<()> {
        let is_zeroes = page.iter().all(|&byte| byte == 0);
        let Settling { scratch, .. } = buffers;
        if !is_zeroes && page::open(page, self.context, self.page_no, scratch).is_ok() {
            return Ok(());
        }
        let log = &self.log.log;
        let torn = page.to_vec();
        let is_sound = |copy: &[u8]| page::open(copy, self.context, self.page_no, scratch).is_ok();
        let copy =
            self.recovery.doublewrite.restore(self.format().space, self.page_no, page, is_sound)?;
        match copy {
            Some(copy) if !is_zeroes && !log.has_all_changes() => {
                self.require_newest(chain, &torn, copy, buffers)
            }
            _ => Ok(()),
        }
    }

    /// Requires that what is left of a torn page is not newer than its copy, or the record that initialises it, at LSN
    /// `copy`, but for changes that the log has. A write that was not finished leaves parts of the copy, and of an older
    /// page. But pages may also be damaged later, when a newer copy gave way to others.
    pub fn require_newest(
        &self,
        chain: Option<&Chain>,
        torn: &[u8],
        copy: Lsn,
        buffers: &mut Settling,
    ) -> Result<()> {
        let end = self.log.end;
        let left = [self.lsn_at_head(torn)?, self.lsn_at_end(torn, copy)?];
        let mut left =
            left.into_iter().flatten().filter(|lsn| (Lsn(1)..=end).contains(lsn)).peekable();
        let mut is_known = left.peek().is_some();
        for lsn in left.filter(|&lsn| lsn > copy) {
            is_known &= self.is_change(chain, copy, lsn, buffers)?;
        }
        match is_known {
            true => Ok(()),
            false => Err(self.older(copy)),
        }
    }

    /// The LSN at the head of a torn page, if the head is one of this page.
    fn lsn_at_head(&self, torn: &[u8]) -> Result<Option<Lsn>> {
        let is_head = bytes::u32_at(torn, PAGE_NO_AT)? == self.page_no.0
            && bytes::u32_at(torn, SPACE_AT)? == self.format().space.0;
        let lsn = Lsn(bytes::u64_at(torn, LSN_AT)?);
        Ok(is_head.then_some(lsn))
    }

    /// The LSN at the end of a torn page, which has the low half of it, where pages are stored as they are in memory.
    fn lsn_at_end(&self, torn: &[u8], copy: Lsn) -> Result<Option<Lsn>> {
        let format = self.format();
        let is_plain = !format.is_zip && matches!(self.context.encryption(), Encryption::None);
        let from_end = if format.full_crc32 { 8 } else { 4 };
        let low = bytes::u32_at(torn, torn.len().saturating_sub(from_end))?;
        // The nearest LSN to the copy's with this half.
        let distance = low.wrapping_sub(copy.0 as u32).cast_signed();
        let lsn = Lsn(copy.0.saturating_add_signed(i64::from(distance)));
        Ok((is_plain && low != 0).then_some(lsn))
    }

    /// Whether the log has a change of a page that ends at an LSN.
    fn is_change(
        &self,
        chain: Option<&Chain>,
        from: Lsn,
        lsn: Lsn,
        buffers: &mut Settling,
    ) -> Result<bool> {
        let Some(chain) = chain else { return Ok(false) };
        for run in chain.runs.iter().filter(|run| (from..lsn).contains(&run.mtr)) {
            if self.log.log.end_of_mini_transaction(run.at, &mut buffers.run)? == lsn {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn older(&self, copy: Lsn) -> Error {
        let what = format!(
            "what they have, from LSN {copy} on, may be older than the damaged page, whose changes need not be in the log"
        );
        let error = FormatError::corrupt(what).with_prefix(page::UNRECOVERED);
        Error::from(error.at_page(self.format().space, self.page_no))
    }
}
