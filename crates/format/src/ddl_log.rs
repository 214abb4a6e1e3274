//! MariaDB's DDL log, `ddl_recovery.log`: the statements that define tables and that the server had not finished
//! (`ddl_log.cc, ddl_log.h`, MariaDB 10.6 and later).
//!
//! ```text
//! block 0            header: magic, bytes of a block, place of the names in a block
//! other blocks       an execution: the block of a statement's first action
//!                    an action: the block of the next one, what is done, how far it is, names
//! ```
//!
//! When it starts, the server ends the statements whose executions are active, or takes them back.

use crate::{Error, Result, bytes};

const MAGIC: [u8; 4] = [254, 254, 11, 2];

/// Places in a block: its kind; of an action, what it is and how far.
const KIND_AT: usize = 0;
const CODE_AT: usize = 1;
const PHASE_AT: usize = 2;

/// Kinds of blocks (`ddl_log_entry_code`).
const EXECUTION: u8 = 1;
const ACTION: u8 = 2;
const ENDED_ACTION: u8 = 3;

/// The phase of an action that has ended (`DDL_LOG_FINAL_PHASE`).
const FINAL_PHASE: u8 = 0xff;

/// A table, by its names in SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedTable {
    /// The name of its database.
    pub schema: String,
    /// Its own name.
    pub table: String,
}

/// What an unfinished statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// `ALTER TABLE` and what is executed as one (`OPTIMIZE TABLE`, `CREATE INDEX`).
    Alter(Alter),
    /// `RENAME TABLE`, which the server takes back.
    Rename {
        /// The old name.
        from: LoggedTable,
        /// The new name.
        to: LoggedTable,
    },
    /// `DROP TABLE`, which the server ends.
    Drop(LoggedTable),
    /// `CREATE TABLE`, which the server takes back.
    Create(LoggedTable),
    /// Another change of a table, or one that the server ends or takes back by its binary log.
    Unknown(LoggedTable),
    /// Partitions of a table that are made anew, by the paths of their files.
    Partitions([String; 3]),
    /// Something that concerns no table's rows or definition: the statement's text, triggers, views, files.
    Other,
}

/// An unfinished `ALTER TABLE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alter {
    /// The table.
    pub table: LoggedTable,
    /// The path of the new definition, without its extension, from the data directory.
    pub definition: String,
    /// How far the statement is.
    pub phase: AlterPhase,
    /// The transaction that changes the table in place; 0 if only the definition changes.
    pub trx_id: u64,
    /// Whether it is about one table of InnoDB without partitions, which keeps its name.
    pub is_plain: bool,
}

/// How far an `ALTER TABLE` is (`enum_ddl_log_alter_table_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterPhase {
    /// The old table is as it was; the new one is not complete.
    Begun,
    /// InnoDB may have changed the table in place; the new definition has not the table's name yet.
    InPlace,
    /// InnoDB has changed the table in place; the new definition may not have the table's name yet.
    InPlaceDone,
    /// A complete copy of the table takes the place of the old one.
    Copied,
    /// The old table takes the place of the copy again.
    TakenBack,
    /// The new table has its name.
    Done,
}

/// Reads the actions of the unfinished statements; none if the file is not such a log, which the server ignores, too.
///
/// # Errors
/// The log contradicts itself.
pub fn unfinished(log: &[u8]) -> Result<Vec<Action>> {
    let Some(header) = Header::parse(log)? else { return Ok(Vec::new()) };
    let mut actions = Vec::new();
    for block in log.chunks_exact(header.block_bytes).skip(1) {
        if bytes::u8_at(block, KIND_AT)? != EXECUTION {
            continue;
        }
        let is_in_binary_log = bytes::u64_le_at(block, 10)? != 0;
        let mut next = bytes::u32_le_at(block, 4)? as usize;
        let mut blocks_left = log.len() / header.block_bytes;
        while next != 0 {
            blocks_left = blocks_left
                .checked_sub(1)
                .ok_or_else(|| Error::corrupt("the DDL log's actions link in a circle"))?;
            let begin = next.saturating_mul(header.block_bytes);
            let block = bytes::slice(log, begin, header.block_bytes)?;
            let is_ended = bytes::u8_at(block, PHASE_AT)? == FINAL_PHASE;
            match bytes::u8_at(block, KIND_AT)? {
                ACTION if !is_ended => {
                    let action = action(block, header.names_at)?;
                    actions.extend(action.decided(is_in_binary_log));
                }
                ACTION | ENDED_ACTION => {}
                _ => break,
            }
            next = bytes::u32_le_at(block, 4)? as usize;
        }
    }
    Ok(actions)
}

impl Action {
    /// The actions of a statement that may be in the binary log, by which the server decides on it.
    fn decided(self, is_in_binary_log: bool) -> Vec<Action> {
        match self {
            Action::Rename { from, to } if is_in_binary_log => {
                vec![Action::Unknown(from), Action::Unknown(to)]
            }
            Action::Create(table) if is_in_binary_log => vec![Action::Unknown(table)],
            action => vec![action],
        }
    }
}

struct Header {
    block_bytes: usize,
    names_at: usize,
}

impl Header {
    fn parse(log: &[u8]) -> Result<Option<Header>> {
        // A log of a server that has defined nothing since its start is empty.
        if !log.starts_with(&MAGIC) {
            return Ok(None);
        }
        let block_bytes = usize::from(bytes::u16_le_at(log, 4)?);
        let names_at = usize::from(bytes::u16_le_at(log, 6)?);
        if block_bytes < 512 || !(42..block_bytes).contains(&names_at) {
            let what =
                format!("the DDL log has blocks of {block_bytes} bytes, names at {names_at}");
            return Err(Error::corrupt(what));
        }
        Ok(Some(Header { block_bytes, names_at }))
    }
}

/// Names of an action, in their order.
struct Names {
    handler: String,
    schema: String,
    table: String,
    from_handler: String,
    from_schema: String,
    from_table: String,
    /// A path from the data directory.
    path: String,
}

fn action(block: &[u8], names_at: usize) -> Result<Action> {
    let mut at = names_at;
    let mut name = || {
        let len = usize::from(bytes::u16_le_at(block, at)?);
        let name = bytes::slice(block, at + 2, len)?;
        at += 2 + len + 1;
        Ok::<_, Error>(String::from_utf8_lossy(name).into_owned())
    };
    let names = Names {
        handler: name()?,
        schema: name()?,
        table: name()?,
        from_handler: name()?,
        from_schema: name()?,
        from_table: name()?,
        path: name()?,
    };
    let named = LoggedTable { schema: names.schema.clone(), table: names.table.clone() };
    let from = LoggedTable { schema: names.from_schema.clone(), table: names.from_table.clone() };
    // enum ddl_log_action_code
    Ok(match bytes::u8_at(block, CODE_AT)? {
        1..=4 => Action::Partitions([names.table, names.from_table, names.path]),
        5 => Action::Rename { from, to: named },
        8 => Action::Drop(named),
        // DDL_LOG_FLAG_ONLY_FRM: the server did not make the rows' file.
        12 if bytes::u16_le_at(block, 8)? != 0 => Action::Unknown(named),
        12 => Action::Create(named),
        16 => Action::Alter(alter(block, &names, from)?),
        // Of these, 6 and 9 are of views.
        6 | 7 | 9..=11 | 13..=15 | 17 => Action::Other,
        unknown => {
            let what = format!("an action of type {unknown} in the DDL log");
            return Err(Error::unsupported(what, "start the server on this directory (or a copy)"));
        }
    })
}

fn alter(block: &[u8], names: &Names, table: LoggedTable) -> Result<Alter> {
    // DDL_LOG_FLAG_ALTER_RENAME, _ENGINE_CHANGED, _PARTITION
    const NOT_PLAIN: u16 = 1 | 2 | 16;
    let flags = bytes::u16_le_at(block, 8)?;
    let of_innodb = [&names.handler, &names.from_handler].iter().all(|name| *name == "InnoDB");
    let phase = match bytes::u8_at(block, PHASE_AT)? {
        // INIT, RENAME_FAILED, PREPARE_INPLACE, CREATED
        0 | 4 | 5 => AlterPhase::Begun,
        2 => AlterPhase::InPlaceDone,
        3 => AlterPhase::InPlace,
        6 | 7 => AlterPhase::Copied,
        1 => AlterPhase::TakenBack,
        _ => AlterPhase::Done,
    };
    Ok(Alter {
        table,
        definition: names.path.clone(),
        phase,
        trx_id: bytes::u64_le_at(block, 34)?,
        is_plain: of_innodb && flags & NOT_PLAIN == 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK_BYTES: usize = 4096;

    fn header() -> Vec<u8> {
        let mut block = vec![254, 254, 11, 2, 0, 0x10, 56, 0];
        block.resize(BLOCK_BYTES, 0);
        block
    }

    fn execution(first: u8) -> Vec<u8> {
        let mut block = vec![EXECUTION, 0, 0, 0, first];
        block.resize(BLOCK_BYTES, 0);
        block
    }

    fn action(code: u8, phase: u8, next: u8, names: [&str; 7]) -> Vec<u8> {
        let mut block = vec![ACTION, code, phase, 0, next];
        block.resize(34, 0);
        block.extend([0x9b, 6]);
        block.resize(56, 0);
        for name in names {
            block.extend([name.len() as u8, 0]);
            block.extend(name.as_bytes());
            block.push(0);
        }
        block.resize(BLOCK_BYTES, 0);
        block
    }

    #[test]
    fn the_actions_of_active_executions_are_read() {
        let alter = ["InnoDB", "d", "#sql-alter-7-7", "InnoDB", "d", "t", "./d/#sql-alter-7-7"];
        let rename = ["InnoDB", "d", "new", "", "d", "old", ""];
        let mut log = header();
        log.extend(execution(2));
        log.extend(action(17, 0, 3, ["", "d", "", "", "", "", ""]));
        log.extend(action(16, 3, 0, alter));
        log.extend(execution(5));
        log.extend(action(5, 2, 0, rename));
        let table = |table: &str| LoggedTable { schema: "d".to_owned(), table: table.to_owned() };
        let alter = Alter {
            table: table("t"),
            definition: "./d/#sql-alter-7-7".to_owned(),
            phase: AlterPhase::InPlace,
            trx_id: 0x69b,
            is_plain: true,
        };
        let renamed = Action::Rename { from: table("old"), to: table("new") };
        assert_eq!(
            unfinished(&log).unwrap(),
            [Action::Other, Action::Alter(alter.clone()), renamed]
        );
        // An execution that has ended, and a rename that the binary log decides on.
        log[BLOCK_BYTES] = ENDED_ACTION;
        log[4 * BLOCK_BYTES + 10] = 1;
        let unknown = [Action::Unknown(table("old")), Action::Unknown(table("new"))];
        assert_eq!(unfinished(&log).unwrap(), unknown);
    }

    #[test]
    fn damage_is_an_error() {
        assert_eq!(unfinished(b"").unwrap(), []);
        let mut log = header();
        log.extend(execution(2));
        log.extend(action(17, 0, 2, [""; 7]));
        assert!(unfinished(&log).unwrap_err().to_string().contains("circle"));
        log[2 * BLOCK_BYTES + 4] = 9;
        assert!(unfinished(&log).is_err());
        log[2 * BLOCK_BYTES + 1] = 99;
        assert!(unfinished(&log).unwrap_err().to_string().contains("type 99"));
        log[4] = 1;
        log[5] = 0;
        assert!(unfinished(&log).is_err());
    }
}
