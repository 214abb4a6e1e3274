//! Which Arrow type each column becomes: two tables of defaults, and the user's choices.
//!
//! `native` keeps the meaning of each type as closely as Arrow can. `portable` uses only types that all
//! common readers of Parquet take as they are: no unsigned integers, durations or dictionaries.

mod choose;
pub(crate) mod form;
mod parse;

pub(crate) use self::choose::form_of;

/// The table of default types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypeTable {
    /// The Arrow type closest to each column's own.
    #[default]
    Native,
    /// Types that Spark, Iceberg, Delta, Trino and BigQuery read without conversion.
    Portable,
}

/// What becomes of a date that no calendar has: a zero date, a zero month or day, February 31.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZeroDates {
    /// NULL; such values are counted.
    #[default]
    Null,
    /// The dump of the table fails.
    Fail,
    /// All dates of the table are text.
    Text,
}

/// What becomes of bytes that are not valid in their column's charset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidText {
    /// U+FFFD; such characters are counted.
    #[default]
    Replace,
    /// The dump of the table fails.
    Fail,
    /// All text columns of the table are binary, in their own charsets.
    Binary,
}

/// The user's choice of types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeOptions {
    /// The table of defaults.
    pub table: TypeTable,
    /// What becomes of dates that no calendar has.
    pub zero_dates: ZeroDates,
    /// What becomes of invalid text.
    pub invalid_text: InvalidText,
    /// Types in the place of the table's, for kinds of columns.
    pub(crate) kinds: Vec<(Kind, TypeName)>,
    /// Types of single columns, by their names.
    pub(crate) columns: Vec<(String, TypeName)>,
}

/// A kind of column whose type can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    TinyInt1,
    U64,
    WideDecimal,
    Bit,
    Time,
    Enum,
    Set,
    Json,
    Geometry,
    Uuid,
    Inet,
}

/// A type that can be chosen for a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeName {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float32,
    Float64,
    Decimal,
    Decimal256,
    Date,
    Timestamp,
    Duration,
    Time64,
    Text,
    Binary,
    Fixed,
    Dictionary,
    Index,
    List,
    Json,
    Uuid,
    Wkb,
    Ewkb,
    Raw,
    Struct,
}

impl TypeOptions {
    /// The defaults of a table.
    pub fn of(table: TypeTable) -> TypeOptions {
        TypeOptions { table, ..TypeOptions::default() }
    }
}
