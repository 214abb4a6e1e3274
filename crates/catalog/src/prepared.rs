//! Transactions that were prepared: whether they count as committed.
//!
//! With a binary log, a server prepares each of its transactions in InnoDB, writes it to the binary
//! log, and then commits it in InnoDB. After a crash it commits the prepared ones that its binary log
//! has, and rolls back the others (`TC_LOG::recover`, log.cc, MariaDB 10.11). Those that a user prepared
//! (`XA PREPARE`) stay prepared, and nobody sees their changes; but MySQL 8 commits those whose `XA COMMIT` its
//! binary log has (`Binlog_recovery::process_xa_commit`, binlog/recovery.cc, MySQL 8.0).

use std::path::Path;
use std::str::FromStr;

use innoscan_engine::{Error, Remedy, Result};
use innoscan_format::page::undo::Prepared as PreparedBy;

use crate::binlog;

/// The user's choice for prepared transactions whose state the binary log does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prepared {
    /// Their changes are shown.
    Commit,
    /// Their changes are taken back.
    Rollback,
    /// A directory with such transactions of the server's own is refused; those that a user prepared are not shown.
    #[default]
    Refuse,
}

impl Prepared {
    /// The words for the choices.
    pub const WORDS: [&str; 3] = ["commit", "rollback", "refuse"];

    /// The word for the choice.
    pub fn word(self) -> &'static str {
        let [commit, rollback, refuse] = Prepared::WORDS;
        match self {
            Prepared::Commit => commit,
            Prepared::Rollback => rollback,
            Prepared::Refuse => refuse,
        }
    }
}

impl FromStr for Prepared {
    type Err = String;

    fn from_str(word: &str) -> std::result::Result<Prepared, String> {
        let mut choices = [Prepared::Commit, Prepared::Rollback, Prepared::Refuse].into_iter();
        let choice = choices.find(|choice| choice.word() == word);
        choice.ok_or_else(|| format!("commit, rollback or refuse, not {word:?}"))
    }
}

/// A transaction that was prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreparedTransaction {
    /// Its id.
    pub trx_id: u64,
    /// Who prepared it.
    pub by: PreparedBy,
}

/// The prepared transactions of a directory, by what becomes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decided {
    /// The ids of those whose changes are taken back.
    pub rolled_back: Vec<u64>,
    /// How many were prepared by a user and are not shown.
    pub hidden_of_users: usize,
    /// How many are shown.
    pub committed: usize,
    /// Whether the binary log decided about those of the server.
    pub by_binlog: bool,
}

/// Decides about the prepared transactions of the directory `root`.
///
/// # Errors
/// The binary log is needed and cannot be read, or is not there and the user made no choice.
pub(crate) fn decide(
    root: &Path,
    transactions: &[PreparedTransaction],
    choice: Prepared,
    is_of_mysql_8: bool,
) -> Result<Decided> {
    let mut decided = Decided::default();
    let of_server =
        transactions.iter().filter(|one| matches!(one.by, PreparedBy::ByServer { .. })).count();
    let needs_binlog = of_server > 0 || is_of_mysql_8 && !transactions.is_empty();
    let logged = if needs_binlog { binlog::logged(root)? } else { None };
    decided.by_binlog = logged.is_some();
    for transaction in transactions {
        let known = match (&transaction.by, &logged) {
            (PreparedBy::ByServer { xid }, Some(logged)) => Some(logged.xids.contains(xid)),
            (PreparedBy::ByUser(Some(xid)), Some(logged)) if is_of_mysql_8 => {
                logged.has_committed(xid).then_some(true)
            }
            _ => None,
        };
        let is_of_user = matches!(transaction.by, PreparedBy::ByUser(_));
        let is_committed = match (known, choice) {
            (Some(is_committed), _) => is_committed,
            (None, Prepared::Commit) => true,
            (None, Prepared::Rollback) => false,
            (None, Prepared::Refuse) if is_of_user => false,
            (None, Prepared::Refuse) => return Err(undecided(root, of_server)),
        };
        if is_committed {
            decided.committed += 1;
        } else {
            decided.hidden_of_users += usize::from(is_of_user);
            decided.rolled_back.push(transaction.trx_id);
        }
    }
    Ok(decided)
}

fn undecided(root: &Path, count: usize) -> Error {
    Error::refused_directory(
        format!(
            "{count} transactions are prepared, and the binary log, which tells whether the server \
             had committed them, is not in the directory"
        ),
        [
            "put the last file of the binary log there, and its index".into(),
            Remedy::DecidePrepared,
            Remedy::ReadUnended,
        ],
    )
    .in_file(root)
}
