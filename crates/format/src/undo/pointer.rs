//! `DB_ROLL_PTR`: where the undo record of a row's last change is.

use crate::PageNo;

/// A roll pointer (`trx_undo_decode_roll_ptr`, `trx0undo.ic`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollPointer {
    /// Whether the change was the row's insert: there is no older version.
    pub is_insert: bool,
    /// MariaDB and MySQL 5: the rollback segment's slot on the transaction system's page. MySQL 8:
    /// the number of the undo tablespace, 0 for the system tablespace.
    pub number: u8,
    /// The page in that tablespace.
    pub page_no: PageNo,
    /// The offset of the undo record on the page.
    pub offset: u16,
}

impl RollPointer {
    /// Decodes the seven bytes of a roll pointer, as a number.
    pub fn new(word: u64) -> RollPointer {
        RollPointer {
            is_insert: word >> 55 & 1 == 1,
            number: (word >> 48) as u8 & 0x7F,
            page_no: PageNo((word >> 16) as u32),
            offset: word as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_pointer() {
        let pointer = RollPointer::new(0x83_0000_0145_1F2A);
        let parts = (pointer.is_insert, pointer.number, pointer.page_no, pointer.offset);
        assert_eq!(parts, (true, 3, PageNo(0x145), 0x1F2A));
        assert!(!RollPointer::new(0x7F_FFFF_FFFF_FFFF).is_insert);
    }
}
