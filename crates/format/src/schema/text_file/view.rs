//! Views: `.frm` files that begin with `TYPE=VIEW`.
//!
//! The lines are those of `view_parameters` (sql/sql_view.cc, MariaDB 10.11 and MySQL 5.7). `query`
//! is the statement as printed by the server, with fully qualified names, in the character set of
//! the client that created the view; `view_body_utf8` is a version for display without introducers,
//! which the server does not run.

use super::{TextFile, ViewNames, charset_named, decoded, select_list, unescaped, utf8};
use crate::charset::Charset;
use crate::schema::Family;
use crate::{Error, Result};

/// The algorithm by which a view is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own names")]
pub enum ViewAlgorithm {
    Undefined,
    Merge,
    TempTable,
}

/// The check of rows written through a view (`WITH CHECK OPTION`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own names")]
pub enum CheckOption {
    Local,
    Cascaded,
}

/// The definition of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewDefinition {
    /// The `SELECT` of the view.
    pub query: String,
    /// Names of the columns; `None` where the query does not show them.
    pub columns: Option<Vec<String>>,
    /// Names in the query that are qualified by a database.
    pub names: ViewNames,
    /// Algorithm of the view.
    pub algorithm: ViewAlgorithm,
    /// Name of the definer.
    pub definer_user: String,
    /// Host of the definer; empty for a role of MariaDB.
    pub definer_host: String,
    /// Whether the view runs with the rights of its definer.
    pub is_of_definer: bool,
    /// The check of rows written through the view, if any.
    pub check_option: Option<CheckOption>,
    /// `character_set_client` at the view's creation; empty in files of MySQL 5.0.
    pub character_set_client: String,
    /// `collation_connection` at the view's creation; empty in files of MySQL 5.0.
    pub collation_connection: String,
}

impl ViewDefinition {
    /// Parses the file of a view of a server of `family`, on which the numbers of algorithms
    /// depend.
    ///
    /// # Errors
    /// When the file is damaged, or the query is not valid in its character set.
    pub fn parse(bytes: &[u8], family: Family) -> Result<ViewDefinition> {
        let file = TextFile::parse(bytes, "VIEW")?;
        let named = |name: &str| -> Result<String> {
            utf8(file.find(name).unwrap_or_default().to_vec(), name)
        };
        let character_set_client = named("client_cs_name")?;
        let charset = match &*character_set_client {
            "" => Charset::Utf8Mb3,
            name => charset_named(name)?,
        };
        // Lines that every view has, and those added together: the file may be cut off.
        file.get("source")?;
        if !character_set_client.is_empty() {
            file.get("connection_cl_name")?;
            file.get("view_body_utf8")?;
        }
        let query = decoded(&file.text("query")?, charset, "a view")?;
        let algorithm = match (file.number("algorithm")?, family) {
            (0, _) => ViewAlgorithm::Undefined,
            (1, Family::MariaDb) | (2, Family::MySql) => ViewAlgorithm::Merge,
            (2, Family::MariaDb) | (1, Family::MySql) => ViewAlgorithm::TempTable,
            (other, _) => return Err(unknown("algorithm", other)),
        };
        let is_of_definer = match file.number("suid")? {
            0 => false,
            1 | 2 => true,
            other => return Err(unknown("suid", other)),
        };
        let check_option = match file.number("with_check_option")? {
            0 => None,
            1 => Some(CheckOption::Local),
            2 => Some(CheckOption::Cascaded),
            other => return Err(unknown("with_check_option", other)),
        };
        Ok(ViewDefinition {
            columns: select_list::columns(&query),
            names: ViewNames::of(&query),
            query,
            algorithm,
            definer_user: definer(&file, "definer_user", family)?,
            definer_host: definer(&file, "definer_host", family)?,
            is_of_definer,
            check_option,
            character_set_client,
            collation_connection: named("connection_cl_name")?,
        })
    }
}

#[cold]
fn unknown(name: &str, value: u64) -> Error {
    Error::corrupt(format!("unknown value {name}={value} in a view's file"))
}

/// Returns a definer's name or host, which MariaDB escapes and MySQL does not.
fn definer(file: &TextFile<'_>, name: &str, family: Family) -> Result<String> {
    let raw = file.get(name)?;
    let text = match family {
        Family::MariaDb => unescaped(raw)?,
        Family::MySql => raw.to_vec(),
    };
    utf8(text, name)
}
