//! A table's definition, whatever it was read from: SDI, `.frm` or `SHOW CREATE TABLE` text.

pub mod counters;
mod create_table;
mod ddl;
pub mod dictionary;
pub mod filename;
mod frm;
mod physical;
mod sdi;
pub mod sql_mode;
pub mod tablespaces;
pub mod text_file;

pub use ddl::{from_create_table, server_of_text};
pub use frm::{from_frm, from_frm_shown_by, is_sequence, is_view};
pub use physical::{InstantDefault, PartitionPhysical, Physical, StoredColumn, StoredSource};
pub use sdi::{Properties, SdiNames, from_sdi, from_sdi_documents};

pub use crate::server::{Family, RowFormat, ServerVersion};

use crate::charset::CollationId;
use crate::types::ColumnType;

/// A table as its server defined it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDef {
    /// The database; empty when the source of the definition does not say.
    pub schema: String,
    /// The table's name as SQL knows it (not its file name).
    pub name: String,
    /// The server that wrote the definition; it decides how the definition prints.
    pub server: ServerVersion,
    /// Columns as SQL orders them: visible, invisible and generated; none that were dropped.
    pub columns: Vec<ColumnDef>,
    /// Indexes in the order `SHOW CREATE TABLE` prints them.
    pub indexes: Vec<IndexDef>,
    /// Foreign keys, in the order they print.
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// `CHECK` constraints of the table, in the order they print.
    pub checks: Vec<CheckDef>,
    /// How it is partitioned.
    pub partitioning: Option<Partitioning>,
    /// What follows the closing parenthesis.
    pub options: TableOptions,
    /// How the clustered index stores the columns, as far as the definition says.
    pub physical: Physical,
    /// MariaDB's application period, printed before the indexes.
    pub application_period: Option<PeriodDef>,
    /// MariaDB `WITH SYSTEM VERSIONING`.
    pub versioned: bool,
    /// SQL does not show it: InnoDB's tables behind a full-text index, a half-made copy.
    pub hidden: bool,
    /// `HA_OPTION_PACK_RECORD` as the dictionary has it: the server's own records have no bit for
    /// "deleted". `None` where the source of the definition does not say.
    pub packs_records: Option<bool>,
}

/// MariaDB `PERIOD FOR name (start, end)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodDef {
    /// Its name.
    pub name: String,
    /// The column of its start.
    pub start: String,
    /// The column of its end.
    pub end: String,
}

impl TableDef {
    /// `db.table`, or the table alone where the database is not known.
    pub fn qualified_name(&self) -> String {
        match self.schema.as_str() {
            "" => self.name.clone(),
            schema => format!("{schema}.{}", self.name),
        }
    }

    /// MariaDB's long unique keys: behind each is a hidden column with the hash of its columns.
    pub fn long_unique_keys(&self) -> impl Iterator<Item = &IndexDef> {
        let is_mariadb = self.server.family == Family::MariaDb;
        self.indexes.iter().filter(move |index| is_mariadb && index.is_unique_by_hash())
    }

    /// A table with nothing in it.
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

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDef {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ColumnType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Its default.
    pub default: ColumnDefault,
    /// `ON UPDATE CURRENT_TIMESTAMP[(fsp)]`, as it prints after `ON UPDATE `.
    pub on_update: Option<String>,
    /// `AUTO_INCREMENT`.
    pub auto_increment: bool,
    /// `GENERATED ALWAYS AS (...)`.
    pub generated: Option<Generated>,
    /// Hidden from `SELECT *` (`INVISIBLE`).
    pub invisible: bool,
    /// Its charset or collation was written in the DDL, so MySQL 8 prints it even when it is the
    /// table's own.
    pub explicit_collation: bool,
    /// `COMMENT`.
    pub comment: String,
    /// MySQL 8 `/*!80003 SRID n */`.
    pub srid: Option<u32>,
    /// MariaDB column-level `CHECK (...)`: the expression.
    pub check: Option<String>,
    /// Further attributes in the order they print, ready as text. MySQL's (`MASKING POLICY ...`,
    /// `NOT SECONDARY`, `/*!50606 STORAGE DISK */`, `/*!50606 COLUMN_FORMAT FIXED */`) print before
    /// the default, but `/*!80021 ENGINE_ATTRIBUTE ... */` and MariaDB's after the comment.
    pub attributes: Vec<String>,
    /// SQL does not show it, so it never prints: MariaDB's implicit `row_start` and `row_end`, which
    /// rows hold, and the hash behind a long unique key, which they do not.
    pub hidden: bool,
    /// MariaDB `GENERATED ALWAYS AS ROW START` or `ROW END`; hidden or not.
    pub row_period: Option<RowPeriod>,
    /// MariaDB `WITHOUT SYSTEM VERSIONING`.
    pub without_versioning: bool,
    /// MariaDB `/*M!100301 COMPRESSED*/`: each value is compressed by itself.
    pub compressed: bool,
}

/// Which end of a row's life a MariaDB system-versioning column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "names say it")]
pub enum RowPeriod {
    Start,
    End,
}

impl ColumnDef {
    /// A nullable column that says nothing but its type.
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

    /// Whether rows hold its value: everything but virtual generated columns, of which the hash
    /// behind MariaDB's long unique keys is one.
    pub fn is_stored(&self) -> bool {
        let is_computed = self.generated.as_ref().is_some_and(|generated| !generated.stored);
        !is_computed && !self.is_key_hash()
    }

    /// Whether it is the hash behind a long unique key of MariaDB.
    pub fn is_key_hash(&self) -> bool {
        self.hidden && self.row_period.is_none()
    }
}

/// The default of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnDefault {
    /// Says nothing.
    None,
    /// `DEFAULT NULL`.
    Null,
    /// A literal the server prints in quotes; the text without them, unescaped.
    Quoted(String),
    /// Printed as it stands: `CURRENT_TIMESTAMP(6)`, `b'101'`, `(uuid())`, `0`.
    Verbatim(String),
}

/// A generated column's expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// As it prints between the parentheses.
    pub expression: String,
    /// `STORED`/`PERSISTENT`, or `VIRTUAL`.
    pub stored: bool,
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDef {
    /// Its name (`PRIMARY` for the primary key).
    pub name: String,
    /// Its kind.
    pub kind: IndexKind,
    /// Its parts.
    pub parts: Vec<IndexPart>,
    /// `USING BTREE|HASH|RTREE` when it prints.
    pub using: Option<String>,
    /// `KEY_BLOCK_SIZE`, 0 when none.
    pub key_block_size: u32,
    /// `WITH PARSER`.
    pub parser: Option<String>,
    /// `COMMENT`.
    pub comment: String,
    /// MySQL `INVISIBLE`, MariaDB `IGNORED`.
    pub invisible: bool,
    /// Further options in the order they print, ready as text.
    pub attributes: Vec<String>,
    /// MariaDB: the application period is its last part, printed as
    /// ``,`period` WITHOUT OVERLAPS``; the period's two columns are not among `parts`.
    pub without_overlaps: bool,
}

impl IndexDef {
    /// Whether the key is unique by the hash of its columns, in a MariaDB: a long unique key.
    pub fn is_unique_by_hash(&self) -> bool {
        self.kind == IndexKind::Unique && self.using.as_deref() == Some("HASH")
    }

    /// An index that says nothing but its columns.
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
    /// What is indexed.
    pub source: IndexSource,
    /// The prefix's length in **characters** as SQL counts it; `None` for the whole column.
    pub prefix_chars: Option<u32>,
    /// `DESC`.
    pub descending: bool,
}

/// What an index part is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexSource {
    /// A column: its place in [`TableDef::columns`].
    Column(usize),
    /// A functional key part: the expression as it prints between the parentheses.
    Expression(String),
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKeyDef {
    /// The constraint's name.
    pub name: String,
    /// The columns of this table.
    pub columns: Vec<String>,
    /// The other table's database; empty when it is the same one.
    pub parent_schema: String,
    /// The other table.
    pub parent_table: String,
    /// Its columns.
    pub parent_columns: Vec<String>,
    /// `ON DELETE`.
    pub on_delete: ForeignKeyRule,
    /// `ON UPDATE`.
    pub on_update: ForeignKeyRule,
    /// The dictionary says that no unique key of the other table has these columns, and no others.
    pub parent_not_unique: bool,
}

/// What a foreign key does when its parent goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own names")]
pub enum ForeignKeyRule {
    /// Nothing was said, so nothing prints.
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
    /// Its name; empty when it has none.
    pub name: String,
    /// As it prints between the parentheses.
    pub expression: String,
    /// MySQL: not `NOT ENFORCED`.
    pub enforced: bool,
}

/// How a table is partitioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitioning {
    /// The clause as `SHOW CREATE TABLE` prints it, from `/*!50100 PARTITION BY` or
    /// `PARTITION BY` to its end.
    pub clause: String,
    /// The partitions in their order.
    pub partitions: Vec<Partition>,
}

/// A partition; without subpartitions it has a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// Its subpartitions' names, each with a file.
    pub subpartitions: Vec<String>,
}

impl Partitioning {
    /// The names of all partitions, or of their subpartitions.
    pub fn names(&self) -> Vec<String> {
        let names =
            self.partitions.iter().flat_map(|partition| match &partition.subpartitions[..] {
                [] => vec![partition.name.clone()],
                subpartitions => subpartitions.to_vec(),
            });
        names.collect()
    }
}

/// What follows a definition's closing parenthesis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// `ENGINE=`.
    pub engine: String,
    /// The table's default collation.
    pub collation: CollationId,
    /// The collation was written, so it prints even when it is the charset's default.
    pub explicit_collation: bool,
    /// `AUTO_INCREMENT=`, when it prints.
    pub auto_increment: Option<u64>,
    /// `ROW_FORMAT=` when it was written in the DDL.
    pub row_format: Option<String>,
    /// `COMMENT`.
    pub comment: String,
    /// All other options as `(NAME, value)`, in the order they print, values ready as text.
    pub others: Vec<(String, String)>,
    /// What prints after the comment, ready as text with its leading blank (MariaDB's engine
    /// options: `` `PAGE_COMPRESSED`=1``).
    pub tail: String,
}

impl TableOptions {
    /// Options that say nothing but engine and collation.
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
