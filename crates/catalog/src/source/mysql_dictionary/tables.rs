//! Tables in the dictionary, of any engine, and views.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use innoscan_format::Result;

use crate::mysql_ibd::Row;

/// A table or view of a server, as in `information_schema.TABLES`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DictionaryTable {
    /// The name of the database.
    pub schema: String,
    /// The name of the table or view.
    pub name: String,
    /// The engine by the server's name; `None` for views.
    pub engine: Option<String>,
    /// The kind of table.
    pub kind: DictionaryTableKind,
    /// The place of the rows; in a partitioned table each partition has its own.
    pub location: TableLocation,
    /// The partitions in their order; if there are subpartitions, these, which hold the rows.
    pub partitions: Vec<DictionaryPartition>,
}

/// A partition or subpartition, as in `information_schema.PARTITIONS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DictionaryPartition {
    /// The name of the partition.
    pub name: String,
    /// The partition that contains a subpartition.
    pub parent: Option<String>,
    /// The place of the rows.
    pub location: TableLocation,
}

/// The kinds of `information_schema.TABLES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DictionaryTableKind {
    /// `BASE TABLE`.
    Table,
    /// `VIEW`.
    View,
    /// `SYSTEM VIEW`, one of `information_schema` itself.
    SystemView,
}

/// The place of the rows of a table or partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableLocation {
    /// No tablespace: a view, or a table of another engine than InnoDB.
    NoTablespace,
    /// A tablespace for this table. The file is named as in the server: relative to the data
    /// directory (`./db/table.ibd`), or absolute for `DATA DIRECTORY`. `None` when the
    /// dictionary has no such tablespace.
    FilePerTable {
        /// The file.
        file: Option<PathBuf>,
    },
    /// A general tablespace, with its name and file.
    General {
        /// The name of the tablespace.
        tablespace: String,
        /// The file, by the server's name.
        file: Option<PathBuf>,
    },
    /// The system tablespace.
    System,
}

impl TableLocation {
    /// The file outside of the data directory, if `DATA DIRECTORY` was used.
    pub fn data_directory_file(&self) -> Option<&Path> {
        match self {
            TableLocation::FilePerTable { file: Some(file) } if file.is_absolute() => Some(file),
            _ => None,
        }
    }
}

/// The columns of `mysql.table_partitions`.
pub(super) const PARTITION_COLUMNS: [&str; 6] =
    ["id", "table_id", "parent_partition_id", "number", "name", "tablespace_id"];
/// The columns of `mysql.tablespaces`.
pub(super) const TABLESPACE_COLUMNS: [&str; 2] = ["id", "name"];
/// The columns of `mysql.tablespace_files`.
pub(super) const FILE_COLUMNS: [&str; 2] = ["tablespace_id", "file_name"];

/// The name of the system tablespace (`dict_sys_t::s_sys_space_name`, dict0dict.h, MySQL 9.7).
const SYSTEM: &str = "innodb_system";

/// Tablespaces by id, and those of tables by the tables' names.
#[derive(Debug, Default)]
pub(super) struct Tablespaces {
    by_id: HashMap<u64, (String, Option<PathBuf>)>,
    /// Tablespaces by `db/table`, in lower case, since the server writes partitions in lower case here.
    by_name: HashMap<String, u64>,
}

impl Tablespaces {
    pub fn new(spaces: &[Row], files: &[Row]) -> Result<Tablespaces> {
        let mut of_file: HashMap<u64, PathBuf> = HashMap::new();
        for file in files {
            let path = PathBuf::from(file.text("file_name")?);
            of_file.entry(file.number("tablespace_id")?).or_insert(path);
        }
        let mut tablespaces = Tablespaces::default();
        for space in spaces {
            let (id, name) = (space.number("id")?, space.text("name")?);
            tablespaces.by_name.insert(name.to_lowercase(), id);
            tablespaces.by_id.insert(id, (name.to_owned(), of_file.remove(&id)));
        }
        Ok(tablespaces)
    }

    /// The place of the rows of a table, or of a partition `table#p#name`.
    fn location(&self, schema: &str, name: &str, id: Option<u64>) -> TableLocation {
        let own = format!("{schema}/{name}").to_lowercase();
        let id = id.or_else(|| self.by_name.get(&own).copied());
        match id.and_then(|id| self.by_id.get(&id)) {
            None => TableLocation::FilePerTable { file: None },
            Some((name, _)) if name == SYSTEM => TableLocation::System,
            // The name of a general tablespace contains no slash.
            Some((name, file)) if name.contains('/') => {
                TableLocation::FilePerTable { file: file.clone() }
            }
            Some((name, file)) => {
                TableLocation::General { tablespace: name.clone(), file: file.clone() }
            }
        }
    }
}

/// The rows of `mysql.table_partitions`, by table.
pub(super) fn by_table(partitions: Vec<Row>) -> Result<HashMap<u64, Vec<Row>>> {
    let mut of_table: HashMap<u64, Vec<Row>> = HashMap::new();
    for row in partitions {
        of_table.entry(row.number("table_id")?).or_default().push(row);
    }
    Ok(of_table)
}

/// The table of a row of `mysql.tables`.
pub(super) fn table(
    row: &Row,
    schema: &str,
    partitions: &[Row],
    tablespaces: &Tablespaces,
) -> Result<DictionaryTable> {
    let name = row.text("name")?.to_owned();
    let kind = match row.text("type")? {
        "VIEW" => DictionaryTableKind::View,
        "SYSTEM VIEW" => DictionaryTableKind::SystemView,
        _ => DictionaryTableKind::Table,
    };
    let engine = row.text_if_any("engine")?.filter(|engine| !engine.is_empty());
    let is_innodb = engine.is_some_and(|engine| engine.eq_ignore_ascii_case("InnoDB"));
    let whole = row.number_if_any("tablespace_id")?;
    let location = |name: &str, id| match is_innodb {
        true => tablespaces.location(schema, name, id),
        false => TableLocation::NoTablespace,
    };
    let mut listed = Vec::new();
    for (part, parent) in in_order(partitions)? {
        let part_name = part.text("name")?.to_owned();
        let (parent, file) = match parent {
            None => (None, format!("{name}#p#{part_name}")),
            Some(parent) => {
                let parent = parent.text("name")?;
                (Some(parent.to_owned()), format!("{name}#p#{parent}#sp#{part_name}"))
            }
        };
        let id = part.number_if_any("tablespace_id")?.or(whole);
        let location = location(&file, id);
        listed.push(DictionaryPartition { name: part_name, parent, location });
    }
    Ok(DictionaryTable {
        schema: schema.to_owned(),
        engine: engine.map(str::to_owned),
        kind,
        location: location(&name, whole),
        partitions: listed,
        name,
    })
}

/// The partitions that hold rows, each with its parent, in the order of their numbers.
fn in_order(partitions: &[Row]) -> Result<Vec<(&Row, Option<&Row>)>> {
    let mut by_id: HashMap<u64, &Row> = HashMap::new();
    let mut parents = Vec::new();
    for part in partitions {
        by_id.insert(part.number("id")?, part);
        parents.extend(part.number_if_any::<u64>("parent_partition_id")?);
    }
    let mut ordered = Vec::new();
    for part in partitions {
        if parents.contains(&part.number("id")?) {
            continue;
        }
        let number: u32 = part.number("number")?;
        let parent = part.number_if_any::<u64>("parent_partition_id")?;
        let parent = parent.and_then(|parent| by_id.get(&parent).copied());
        let of_parent: Option<u32> = parent.map(|parent| parent.number("number")).transpose()?;
        ordered.push((of_parent, number, part, parent));
    }
    ordered.sort_by_key(|(of_parent, number, ..)| (*of_parent, *number));
    Ok(ordered.into_iter().map(|(_, _, part, parent)| (part, parent)).collect())
}
