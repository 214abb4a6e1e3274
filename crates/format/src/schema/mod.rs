//! Table definitions, whether read from SDI, `.frm` or `SHOW CREATE TABLE` text.

pub mod counters;
mod create_table;
pub mod data_directory;
mod ddl;
pub mod dictionary;
pub mod filename;
mod frm;
mod physical;
mod quoted_name;
mod sdi;
pub mod sql_mode;
pub mod tablespaces;
pub mod text_file;

pub use ddl::{from_create_table, server_of_text};
pub use frm::{from_frm, from_frm_shown_by, is_sequence, is_view};
pub use physical::{InstantDefault, PartitionPhysical, Physical, StoredColumn, StoredSource};
pub use quoted_name::quoted_name;
pub use sdi::{Properties, SdiNames, from_sdi, from_sdi_documents};

pub use crate::server::{Family, RowFormat, ServerVersion};

use std::collections::BTreeSet;

use crate::charset::CollationId;
use crate::types::ColumnType;

/// A table as its server defined it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDef {
    /// Name of the database; empty when the source of the definition does not have it.
    pub schema: String,
    /// Name of the table in SQL (not its file name).
    pub name: String,
    /// The server that wrote the definition, and whose style it prints in.
    pub server: ServerVersion,
    /// Columns in SQL order: visible, invisible and generated; without dropped ones.
    pub columns: Vec<ColumnDef>,
    /// Indexes in the order in which `SHOW CREATE TABLE` prints them.
    pub indexes: Vec<IndexDef>,
    /// Foreign keys, in the order in which they print.
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// `CHECK` constraints of the table, in the order in which they print.
    pub checks: Vec<CheckDef>,
    /// Partitioning, if any.
    pub partitioning: Option<Partitioning>,
    /// Table options, which follow the closing parenthesis.
    pub options: TableOptions,
    /// Storage of the columns in the clustered index, as far as the definition describes it.
    pub physical: Physical,
    /// MariaDB's application period, printed before the indexes.
    pub application_period: Option<PeriodDef>,
    /// Whether the table is MariaDB's `WITH SYSTEM VERSIONING`.
    pub versioned: bool,
    /// Whether the table is hidden from SQL: InnoDB's tables behind a full-text index, an
    /// unfinished copy.
    pub hidden: bool,
    /// `HA_OPTION_PACK_RECORD` according to the dictionary: the server's own records have no bit
    /// for "deleted". `None` where the source of the definition does not have it.
    pub packs_records: Option<bool>,
}

/// MariaDB `PERIOD FOR name (start, end)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodDef {
    /// Name of the period.
    pub name: String,
    /// Name of the column with the period's start.
    pub start: String,
    /// Name of the column with the period's end.
    pub end: String,
}

impl TableDef {
    /// Returns `db.table`, or the table only where the database is not known.
    pub fn qualified_name(&self) -> String {
        match self.schema.as_str() {
            "" => self.name.clone(),
            schema => format!("{schema}.{}", self.name),
        }
    }

    /// Returns the primary key.
    pub fn primary_key(&self) -> Option<&IndexDef> {
        self.indexes.iter().find(|index| index.kind == IndexKind::Primary)
    }

    /// Returns the names of the general tablespaces in the definition (MySQL), quoted.
    pub fn general_tablespaces(&self) -> BTreeSet<&str> {
        let of_table = self.options.others.iter().filter(|(name, _)| name == "TABLESPACE");
        let of_table = of_table.map(|(_, name)| name.as_str());
        let clause = self.partitioning.as_ref().map_or("", |partitioning| &partitioning.clause);
        let of_partitions = clause.split("TABLESPACE = ").skip(1).filter_map(|text| {
            let (end, _) = text.match_indices('`').nth(1)?;
            text.get(..=end)
        });
        let is_general = |name: &&str| !name.trim_matches('`').starts_with("innodb_");
        of_table.chain(of_partitions).filter(is_general).collect()
    }

    /// Iterates over MariaDB's long unique keys, each of which has a hidden column with the hash of
    /// its columns.
    pub fn long_unique_keys(&self) -> impl Iterator<Item = &IndexDef> {
        let is_mariadb = self.server.family == Family::MariaDb;
        self.indexes.iter().filter(move |index| is_mariadb && index.is_unique_by_hash())
    }

    /// Creates a table without columns.
    pub fn new(
        schema: impl Into<String>,
        name: impl Into<String>,
        server: ServerVersion,
        options: TableOptions,
    ) -> TableDef {
        TableDef {
            schema: schema.into(),
            name: name.into(),
            server,
            columns: Vec::new(),
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            partitioning: None,
            options,
            physical: Physical::default(),
            application_period: None,
            versioned: false,
            hidden: false,
            packs_records: None,
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDef {
    /// Name of the column.
    pub name: String,
    /// Type of the column.
    pub ty: ColumnType,
    /// Whether the column may be NULL.
    pub nullable: bool,
    /// Default of the column.
    pub default: ColumnDefault,
    /// The value of `ON UPDATE CURRENT_TIMESTAMP[(fsp)]`, as printed after `ON UPDATE `.
    pub on_update: Option<String>,
    /// Whether the column is `AUTO_INCREMENT`.
    pub auto_increment: bool,
    /// The expression of a column `GENERATED ALWAYS AS (...)`.
    pub generated: Option<Generated>,
    /// Whether the column is hidden from `SELECT *` (`INVISIBLE`).
    pub invisible: bool,
    /// Whether charset or collation were written in the DDL, so that MySQL 8 prints them even when
    /// they are the table's own.
    pub explicit_collation: bool,
    /// Comment of the column; empty without.
    pub comment: String,
    /// The spatial reference system, MySQL 8's `/*!80003 SRID n */`.
    pub srid: Option<u32>,
    /// The expression of MariaDB's column-level `CHECK (...)`.
    pub check: Option<String>,
    /// Further attributes as text, in the order in which they print. MySQL's (`MASKING POLICY ...`,
    /// `NOT SECONDARY`, `/*!50606 STORAGE DISK */`, `/*!50606 COLUMN_FORMAT FIXED */`) print before
    /// the default, but `/*!80021 ENGINE_ATTRIBUTE ... */` and MariaDB's after the comment.
    pub attributes: Vec<String>,
    /// Whether the column is hidden from SQL and never prints: MariaDB's implicit `row_start` and
    /// `row_end`, which rows hold, and the hash behind a long unique key, which they do not.
    pub hidden: bool,
    /// The end of the row's life in a column `GENERATED ALWAYS AS ROW START` or `ROW END` of
    /// MariaDB, hidden or not.
    pub row_period: Option<RowPeriod>,
    /// Whether the column is MariaDB's `WITHOUT SYSTEM VERSIONING`.
    pub without_versioning: bool,
    /// Whether the column is MariaDB's `/*M!100301 COMPRESSED*/`: each value is compressed by
    /// itself.
    pub compressed: bool,
}

/// The end of a row's life that a MariaDB system-versioning column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "names say it")]
pub enum RowPeriod {
    Start,
    End,
}

impl ColumnDef {
    /// Creates a nullable column of a type, without further attributes.
    pub fn new(name: impl Into<String>, ty: ColumnType) -> ColumnDef {
        ColumnDef {
            name: name.into(),
            ty,
            nullable: true,
            default: ColumnDefault::None,
            on_update: None,
            auto_increment: false,
            generated: None,
            invisible: false,
            explicit_collation: false,
            comment: String::new(),
            srid: None,
            check: None,
            attributes: Vec::new(),
            hidden: false,
            row_period: None,
            without_versioning: false,
            compressed: false,
        }
    }

    /// Returns whether rows hold the column's value: all except virtual generated columns, which
    /// include the hash behind MariaDB's long unique keys.
    pub fn is_stored(&self) -> bool {
        let is_computed = self.generated.as_ref().is_some_and(|generated| !generated.stored);
        !is_computed && !self.is_key_hash()
    }

    /// Returns whether the column is the hash behind a long unique key of MariaDB.
    pub fn is_key_hash(&self) -> bool {
        self.hidden && self.row_period.is_none()
    }
}

/// The default of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnDefault {
    /// No default clause.
    None,
    /// `DEFAULT NULL`.
    Null,
    /// A literal that the server prints in quotes; the text is without them, and unescaped.
    Quoted(String),
    /// A default printed without quotes: `CURRENT_TIMESTAMP(6)`, `b'101'`, `(uuid())`, `0`.
    Verbatim(String),
}

/// The expression of a generated column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The expression, as printed between the parentheses.
    pub expression: String,
    /// Whether the column is `STORED`/`PERSISTENT` rather than `VIRTUAL`.
    pub stored: bool,
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDef {
    /// Name of the index (`PRIMARY` for the primary key).
    pub name: String,
    /// Kind of the index.
    pub kind: IndexKind,
    /// Parts of the index, in order.
    pub parts: Vec<IndexPart>,
    /// The value of `USING BTREE|HASH|RTREE`, if it prints.
    pub using: Option<String>,
    /// `KEY_BLOCK_SIZE`, 0 when none.
    pub key_block_size: u32,
    /// Name of the full-text parser, `WITH PARSER`.
    pub parser: Option<String>,
    /// Comment of the index; empty without.
    pub comment: String,
    /// Whether the index is MySQL's `INVISIBLE` or MariaDB's `IGNORED`.
    pub invisible: bool,
    /// Further options as text, in the order in which they print.
    pub attributes: Vec<String>,
    /// Whether MariaDB's application period is the last part, printed as ``,`period` WITHOUT
    /// OVERLAPS``; the period's two columns are not among `parts`.
    pub without_overlaps: bool,
}

impl IndexDef {
    /// Returns whether the index is a long unique key of MariaDB, unique by the hash of its
    /// columns.
    pub fn is_unique_by_hash(&self) -> bool {
        self.kind == IndexKind::Unique && self.using.as_deref() == Some("HASH")
    }

    /// Creates an index of columns, without further options.
    pub fn new(name: impl Into<String>, kind: IndexKind, parts: Vec<IndexPart>) -> IndexDef {
        IndexDef {
            name: name.into(),
            kind,
            parts,
            using: None,
            key_block_size: 0,
            parser: None,
            comment: String::new(),
            invisible: false,
            attributes: Vec::new(),
            without_overlaps: false,
        }
    }
}

/// The kinds of index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own names")]
pub enum IndexKind {
    Primary,
    Unique,
    Key,
    FullText,
    Spatial,
    Vector,
}

/// A part of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPart {
    /// The indexed column or expression.
    pub source: IndexSource,
    /// Length of the prefix in **characters**, as in SQL; `None` for the whole column.
    pub prefix_chars: Option<u32>,
    /// Whether the part is `DESC`.
    pub descending: bool,
}

/// The column or expression of an index part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexSource {
    /// A column, as an index into [`TableDef::columns`].
    Column(usize),
    /// The expression of a functional key part, as printed between the parentheses.
    Expression(String),
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKeyDef {
    /// Name of the constraint.
    pub name: String,
    /// Names of the columns of this table.
    pub columns: Vec<String>,
    /// Database of the parent table; empty when it is the same one.
    pub parent_schema: String,
    /// Name of the parent table.
    pub parent_table: String,
    /// Names of the parent table's columns.
    pub parent_columns: Vec<String>,
    /// The rule for `ON DELETE`.
    pub on_delete: ForeignKeyRule,
    /// The rule for `ON UPDATE`.
    pub on_update: ForeignKeyRule,
    /// Whether the dictionary records that no unique key of the parent table has exactly these
    /// columns.
    pub parent_not_unique: bool,
}

/// The action of a foreign key when its parent row is deleted or updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own names")]
pub enum ForeignKeyRule {
    /// No rule, so nothing prints.
    Default,
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}

/// A `CHECK` constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckDef {
    /// Name of the constraint; empty when it has none.
    pub name: String,
    /// The expression, as printed between the parentheses.
    pub expression: String,
    /// Whether the constraint is enforced, not MySQL's `NOT ENFORCED`.
    pub enforced: bool,
}

/// The partitioning of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitioning {
    /// The clause as `SHOW CREATE TABLE` prints it, from `/*!50100 PARTITION BY` or `PARTITION BY`
    /// to its end.
    pub clause: String,
    /// The partitions in order.
    pub partitions: Vec<Partition>,
}

/// A partition; without subpartitions it has a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Name of the partition.
    pub name: String,
    /// Names of the subpartitions, each with a file.
    pub subpartitions: Vec<String>,
}

impl Partitioning {
    /// Returns the names of all partitions, or of all subpartitions if there are any.
    pub fn names(&self) -> Vec<String> {
        let names =
            self.partitions.iter().flat_map(|partition| match &partition.subpartitions[..] {
                [] => vec![partition.name.clone()],
                subpartitions => subpartitions.to_vec(),
            });
        names.collect()
    }
}

/// Table options: the text after a definition's closing parenthesis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Name of the engine, `ENGINE=`.
    pub engine: String,
    /// Default collation of the table.
    pub collation: CollationId,
    /// Whether the collation was written in the DDL, so that it prints even when it is the
    /// charset's default.
    pub explicit_collation: bool,
    /// The value of `AUTO_INCREMENT=`, if it prints.
    pub auto_increment: Option<u64>,
    /// The value of `ROW_FORMAT=`, if it was written in the DDL.
    pub row_format: Option<String>,
    /// Comment of the table; empty without.
    pub comment: String,
    /// All other options as `(NAME, value)`, in the order in which they print, values as text.
    pub others: Vec<(String, String)>,
    /// Text printed after the comment, with its leading blank (MariaDB's engine options: ``
    /// `PAGE_COMPRESSED`=1``).
    pub tail: String,
}

impl TableOptions {
    /// Creates options with only engine and collation.
    pub fn new(engine: impl Into<String>, collation: CollationId) -> TableOptions {
        TableOptions {
            engine: engine.into(),
            collation,
            explicit_collation: false,
            auto_increment: None,
            row_format: None,
            comment: String::new(),
            others: Vec::new(),
            tail: String::new(),
        }
    }
}
