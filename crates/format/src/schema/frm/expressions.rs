//! Expressions of generated columns, defaults and checks, as text.
//!
//! The section has three forms (`parse_vcol_defs`, sql/table.cc, MariaDB 10.11):
//!
//! ```text
//! MariaDB 10.2+   16 bytes, then each: kind, column (2), length (2), name's length, name, text
//! MariaDB to 10.1 each generated column: 1 or 2, type, stored, [list of members if 2], text;
//!                 its length in all is in the column's description
//! MySQL 5.7       each generated column: 1, length (2), stored, text
//! ```

use super::columns::RawColumn;
use super::conditions::resolved;
use super::cursor::{Cursor, text};
use super::image::Image;
use crate::schema::{CheckDef, Generated};
use crate::{Error, Result};

const NEW_HEADER_BYTES: usize = 16;

/// The expressions of the columns, and the checks of the table.
pub(super) struct Expressions {
    columns: Vec<ColumnExpressions>,
    pub(super) table_checks: Vec<CheckDef>,
}

/// The expressions of a column.
#[derive(Clone, Default)]
pub(super) struct ColumnExpressions {
    pub(super) generated: Option<Generated>,
    pub(super) default: Option<String>,
    pub(super) check: Option<String>,
    /// The type of a generated column in MariaDB to 10.1, whose description only says that it is
    /// generated.
    pub(super) old_kind: Option<u8>,
    /// The list of members of such a generated column.
    pub(super) old_list: Option<u8>,
}

impl Expressions {
    pub(super) fn parse(image: &Image, raw: &[RawColumn]) -> Result<Expressions> {
        let mut expressions = Expressions {
            columns: vec![ColumnExpressions::default(); raw.len()],
            table_checks: Vec::new(),
        };
        let mut cursor = Cursor::new(image.expressions);
        if image.new_expressions {
            if !cursor.is_empty() {
                cursor.take(NEW_HEADER_BYTES)?;
            }
            while !cursor.is_empty() {
                expressions.read_new(&mut cursor)?;
            }
            return Ok(expressions);
        }
        for (raw_column, column) in raw.iter().zip(&mut expressions.columns) {
            if raw_column.is_generated_57(image.server) {
                column.read_57(&mut cursor)?;
            } else if raw_column.is_generated_in_old_mariadb(image.server) {
                column.read_old(cursor.take(usize::from(raw_column.interval))?)?;
            }
        }
        Ok(expressions)
    }

    /// Returns the expressions of the column at a place.
    pub(super) fn of_column(&self, place: usize) -> ColumnExpressions {
        self.columns.get(place).cloned().unwrap_or_default()
    }

    /// Returns whether the column at a place is generated and not stored.
    pub(super) fn is_virtual(&self, place: usize) -> bool {
        let generated = self.columns.get(place).and_then(|column| column.generated.as_ref());
        generated.is_some_and(|generated| !generated.stored)
    }

    fn read_new(&mut self, cursor: &mut Cursor) -> Result<()> {
        let kind = cursor.u8()?;
        let place = cursor.u16()?;
        let len = cursor.u16()?;
        let name_len = cursor.u8()?;
        let name = text(cursor.take(usize::from(name_len))?);
        let expression = resolved(&text(cursor.take(usize::from(len))?));
        if kind == KIND_CHECK_TABLE {
            self.table_checks.push(CheckDef { name, expression, enforced: true });
            return Ok(());
        }
        let column = self
            .columns
            .get_mut(usize::from(place))
            .ok_or_else(|| Error::corrupt("an expression in the .frm file refers to no column"))?;
        match kind {
            KIND_VIRTUAL => column.generated = Some(Generated { expression, stored: false }),
            KIND_STORED => column.generated = Some(Generated { expression, stored: true }),
            KIND_DEFAULT => column.default = Some(expression),
            KIND_CHECK_FIELD => column.check = Some(expression),
            _ => {
                return Err(Error::corrupt(format!(
                    "an expression in the .frm file has the unknown kind {kind}"
                )));
            }
        }
        Ok(())
    }
}

/// `enum_vcol_info_type` (sql/field.h, MariaDB 10.11).
const KIND_VIRTUAL: u8 = 0;
const KIND_STORED: u8 = 1;
const KIND_DEFAULT: u8 = 2;
const KIND_CHECK_FIELD: u8 = 3;
const KIND_CHECK_TABLE: u8 = 4;

impl ColumnExpressions {
    fn read_57(&mut self, cursor: &mut Cursor) -> Result<()> {
        if cursor.u8()? != 1 {
            return Err(Error::corrupt("a generated column's expression does not begin with 1"));
        }
        let len = cursor.u16()?;
        let stored = cursor.u8()? != 0;
        let expression = text(cursor.take(usize::from(len))?);
        self.generated = Some(Generated { expression, stored });
        Ok(())
    }

    fn read_old(&mut self, entry: &[u8]) -> Result<()> {
        let mut cursor = Cursor::new(entry);
        let form = cursor.u8()?;
        self.old_kind = Some(cursor.u8()?);
        let stored = cursor.u8()? & 1 != 0;
        match form {
            1 => {}
            2 => self.old_list = Some(cursor.u8()?),
            _ => {
                return Err(Error::corrupt(
                    "a generated column's expression does not begin with 1 or 2",
                ));
            }
        }
        self.generated = Some(Generated { expression: text(cursor.rest()), stored });
        Ok(())
    }
}
