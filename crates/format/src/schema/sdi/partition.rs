//! Partitions of an SDI document, and the clause that they print as.

use super::PlaceOfIndex;
use super::json::{Object, Properties};
use super::options;
use crate::schema::create_table::{Quoting, push_escaped, push_identifier};
use crate::schema::{Partition, PartitionPhysical, Partitioning, ServerVersion};
use crate::{Error, Result, SpaceId};

/// The partitioning method (`dd::Table::enum_partition_type`, table.h, MySQL 9.7; the subpartition
/// types have the same numbers up to 6).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Range,
    List,
    RangeColumns,
    ListColumns,
    Hash,
    /// Whether the clause has `ALGORITHM = 1`, the hash of MySQL 5.1.
    Key {
        old_algorithm: bool,
    },
}

/// The extent to which the DDL named partitions (`dd::Table::enum_default_partitioning`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    /// Each partition is named.
    All,
    /// Neither names nor their number.
    Nothing,
    /// Only the number of partitions.
    Number,
}

/// One level of partitioning.
struct Level {
    method: Method,
    linear: bool,
    named: Named,
    /// The text in the parentheses.
    expression: String,
}

/// Reads a table's partitioning, `None` when it has none, and the storage of each partition.
pub(super) fn read(
    table: Object<'_>,
    server: ServerVersion,
) -> Result<Option<(Partitioning, Vec<PartitionPhysical>)>> {
    let Some(level) = Level::read(table, server, "")? else { return Ok(None) };
    let sublevel = Level::read(table, server, "sub")?;
    let mut partitions = Vec::new();
    let mut physical = Vec::new();
    let mut clause = Clause::new(server, &level, sublevel.as_ref());
    let objects = table.objects("partitions")?.collect::<Result<Vec<_>>>()?;
    clause.push_head(&level, sublevel.as_ref(), &objects)?;
    for (number, partition) in objects.iter().enumerate() {
        clause.push_partition(*partition, &level, sublevel.as_ref(), number == 0)?;
        let mut subpartitions = Vec::new();
        for subpartition in partition.objects_if_any("subpartitions")? {
            let subpartition = subpartition?;
            subpartitions.push(subpartition.text("name")?.to_owned());
            physical.push(stored(subpartition)?);
        }
        if subpartitions.is_empty() {
            physical.push(stored(*partition)?);
        }
        partitions.push(Partition { name: partition.text("name")?.to_owned(), subpartitions });
    }
    let clause = clause.finish(level.named == Named::All && !objects.is_empty());
    Ok(Some((Partitioning { clause, partitions }, physical)))
}

fn stored(partition: Object<'_>) -> Result<PartitionPhysical> {
    let own = partition.properties("se_private_data")?;
    let mut physical = PartitionPhysical {
        name: partition.text("name")?.to_owned(),
        instant_columns: own.number("instant_col")?,
        table_id: Some(partition.number("se_private_id")?),
        table_version: own.number("version")?.unwrap_or(0),
        ..PartitionPhysical::default()
    };
    if let Some(index) = partition.objects("indexes")?.next() {
        let place = PlaceOfIndex::read(&index?.properties("se_private_data")?)?;
        physical.space = place.space;
        physical.clustered = place.root;
    }
    Ok(physical)
}

impl Level {
    /// Reads one level; `prefix` is `sub` for the second one.
    fn read(table: Object<'_>, server: ServerVersion, prefix: &str) -> Result<Option<Level>> {
        let (method, linear) = match table.number::<u8>(&format!("{prefix}partition_type"))? {
            0 => return Ok(None),
            1 => (Method::Hash, false),
            2 => (Method::Key { old_algorithm: true }, false),
            3 => (Method::Key { old_algorithm: false }, false),
            4 => (Method::Hash, true),
            5 => (Method::Key { old_algorithm: true }, true),
            6 => (Method::Key { old_algorithm: false }, true),
            7 => (Method::Range, false),
            8 => (Method::List, false),
            9 => (Method::RangeColumns, false),
            10 => (Method::ListColumns, false),
            // PT_AUTO is used by NDB only.
            other => return Err(Error::schema(format!("partition type {other} is not known"))),
        };
        let named = match table.number::<u8>(&format!("default_{prefix}partitioning"))? {
            2 => Named::Nothing,
            3 => Named::Number,
            _ => Named::All,
        };
        let expression = table.text(&format!("{prefix}partition_expression"))?;
        let fields =
            matches!(method, Method::Key { .. } | Method::RangeColumns | Method::ListColumns);
        let expression =
            if fields { field_list(expression, server) } else { expression.to_owned() };
        Ok(Some(Level { method, linear, named, expression }))
    }
}

/// Returns the columns' names, which the dictionary separates by `;`, with `\` before a `;` or `\`
/// that is part of a name (`get_field_list_str`, dd_table.cc, MySQL 9.7).
fn field_list(text: &str, server: ServerVersion) -> String {
    let mut names = vec![String::new()];
    let mut chars = text.chars();
    while let Some(character) = chars.next() {
        match (character, names.last_mut()) {
            (';', _) => names.push(String::new()),
            (character, Some(name)) => {
                name.push(if character == '\\' { chars.next().unwrap_or('\\') } else { character });
            }
            (_, None) => {}
        }
    }
    let mut out = String::new();
    for (place, name) in names.iter().filter(|name| !name.is_empty()).enumerate() {
        if place > 0 {
            out.push(',');
        }
        push_identifier(&mut out, name, Quoting::WhereNeeded(server));
    }
    out
}

/// A writer of the clause (`generate_partition_syntax`, sql_partition.cc, MySQL 9.7).
struct Clause {
    text: String,
    server: ServerVersion,
    /// `/*!50100`, or with later features, `/*!50500`.
    comment: &'static str,
}

impl Clause {
    fn new(server: ServerVersion, level: &Level, sublevel: Option<&Level>) -> Clause {
        // TO_SECONDS is the only function with a version in which it was introduced
        // (`Item::intro_version`).
        let new = matches!(level.method, Method::RangeColumns | Method::ListColumns)
            || [Some(level), sublevel].iter().flatten().any(|level| {
                level.method == Method::Hash && is_new(level)
                    || matches!(level.method, Method::Range | Method::List) && is_new(level)
            });
        let comment = if new { "/*!50500" } else { "/*!50100" };
        Clause { text: comment.to_owned(), server, comment }
    }

    fn push_head(
        &mut self,
        level: &Level,
        sublevel: Option<&Level>,
        partitions: &[Object<'_>],
    ) -> Result<()> {
        self.text += " PARTITION BY ";
        self.push_level(level);
        if level.named == Named::Number {
            self.text += &format!("\nPARTITIONS {}", partitions.len());
        }
        if let Some(sublevel) = sublevel {
            self.text += "\nSUBPARTITION BY ";
            self.push_level(sublevel);
            if sublevel.named == Named::Number {
                let count = match partitions.first() {
                    Some(partition) => partition.objects_if_any("subpartitions")?.count(),
                    None => 0,
                };
                self.text += &format!("\nSUBPARTITIONS {count}");
            }
        }
        Ok(())
    }

    fn push_level(&mut self, level: &Level) {
        if level.linear {
            self.text += "LINEAR ";
        }
        match level.method {
            Method::Range => self.text += "RANGE ",
            Method::List => self.text += "LIST ",
            Method::RangeColumns => self.text += "RANGE  COLUMNS",
            Method::ListColumns => self.text += "LIST  COLUMNS",
            Method::Hash => self.text += "HASH ",
            Method::Key { old_algorithm } => {
                self.text += "KEY ";
                if old_algorithm {
                    self.text += "*/ /*!50611 ALGORITHM = 1 */ ";
                    self.text += self.comment;
                    self.text += " ";
                }
            }
        }
        self.text += "(";
        self.text += &level.expression;
        self.text += ")";
    }

    fn push_partition(
        &mut self,
        partition: Object<'_>,
        level: &Level,
        sublevel: Option<&Level>,
        first: bool,
    ) -> Result<()> {
        if level.named != Named::All {
            return Ok(());
        }
        self.text += if first { "\n(" } else { ",\n " };
        self.text += "PARTITION ";
        self.push_name(partition)?;
        self.push_values(partition, level)?;
        if sublevel.is_none_or(|sublevel| sublevel.named != Named::All) {
            return self.push_options(partition);
        }
        self.text += "\n (";
        for (number, subpartition) in partition.objects_if_any("subpartitions")?.enumerate() {
            let subpartition = subpartition?;
            if number > 0 {
                self.text += ",\n  ";
            }
            self.text += "SUBPARTITION ";
            self.push_name(subpartition)?;
            self.push_options(subpartition)?;
        }
        self.text += ")";
        Ok(())
    }

    fn push_name(&mut self, partition: Object<'_>) -> Result<()> {
        push_identifier(&mut self.text, partition.text("name")?, Quoting::WhereNeeded(self.server));
        Ok(())
    }

    fn push_values(&mut self, partition: Object<'_>, level: &Level) -> Result<()> {
        let mut values = partition.objects("values")?.map(|value| Value::read(value?));
        let values = values.by_ref().collect::<Result<Vec<_>>>()?;
        match level.method {
            Method::Range => match values.first() {
                Some(value) if value.text != "MAXVALUE" => {
                    self.text += &format!(" VALUES LESS THAN ({})", value.text);
                }
                _ => self.text += " VALUES LESS THAN MAXVALUE",
            },
            Method::RangeColumns => {
                let texts: Vec<_> = values.iter().map(|value| value.text.as_str()).collect();
                self.text += &format!(" VALUES LESS THAN ({})", texts.join(","));
            }
            Method::List => {
                // NULL belongs to the partition and comes first (`has_null_value`).
                let (nulls, others): (Vec<_>, Vec<_>) =
                    values.iter().partition(|value| value.text == "NULL");
                let texts: Vec<_> =
                    nulls.into_iter().chain(others).map(|value| value.text.as_str()).collect();
                self.text += &format!(" VALUES IN ({})", texts.join(","));
            }
            Method::ListColumns => {
                let tuples: Vec<_> = values
                    .chunk_by(|one, next| one.list_place == next.list_place)
                    .map(tuple)
                    .collect();
                self.text += &format!(" VALUES IN ({})", tuples.join(","));
            }
            Method::Hash | Method::Key { .. } => {}
        }
        Ok(())
    }

    fn push_options(&mut self, partition: Object<'_>) -> Result<()> {
        let options: Properties = partition.properties("options")?;
        let text = &mut self.text;
        text.push(' ');
        // A partition has a tablespace name only when the DDL had one; InnoDB adds that of the system tablespace
        // (`ha_innopart::update_part_elem`, MySQL 8.0).
        let in_system = is_in_system(partition)?.then_some("innodb_system");
        if let Some(tablespace) = options::tablespace(partition, &options)?.or(in_system) {
            *text += "TABLESPACE = ";
            push_identifier(text, tablespace, Quoting::Always);
            text.push(' ');
        }
        for (keyword, key) in
            [("NODEGROUP", "nodegroup_id"), ("MAX_ROWS", "max_rows"), ("MIN_ROWS", "min_rows")]
        {
            if let Some(number) = options.number::<u64>(key)? {
                *text += &format!("{keyword} = {number} ");
            }
        }
        for (keyword, key) in
            [("DATA DIRECTORY", "data_file_name"), ("INDEX DIRECTORY", "index_file_name")]
        {
            if let Some(path) = options.text(key).filter(|path| !path.is_empty()) {
                *text += &format!("{keyword} = '");
                let directory = without_file(path);
                push_backslashed(text, directory);
                // InnoDB prints a slash at the end.
                *text += if directory.ends_with('/') { "' " } else { "/' " };
            }
        }
        let comment = partition.text("comment")?;
        if !comment.is_empty() {
            *text += "COMMENT = '";
            push_backslashed(text, comment);
            *text += "' ";
        }
        *text += "ENGINE = ";
        *text += partition.text("engine")?;
        Ok(())
    }

    fn finish(mut self, has_list: bool) -> String {
        self.text += if has_list { ") */" } else { " */" };
        self.text
    }
}

fn is_new(level: &Level) -> bool {
    level.expression.to_ascii_lowercase().contains("to_seconds(")
}

fn tuple(values: &[Value]) -> String {
    let texts: Vec<_> = values.iter().map(|value| value.text.as_str()).collect();
    match texts.as_slice() {
        [one] => (*one).to_owned(),
        several => format!("({})", several.join(",")),
    }
}

/// A value of `VALUES LESS THAN` or `VALUES IN`, as printed.
struct Value {
    list_place: u32,
    text: String,
}

impl Value {
    fn read(value: Object<'_>) -> Result<Value> {
        let text = if value.flag("max_value")? {
            "MAXVALUE"
        } else if value.flag("null_value")? || value.text("value_utf8")?.is_empty() {
            "NULL"
        } else {
            value.text("value_utf8")?
        };
        Ok(Value { list_place: value.number("list_num")?, text: text.to_owned() })
    }
}

/// Removes the file name that may follow a partition's directory (`truncate_partition_filename`).
fn without_file(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some((directory, file)) if file.contains("#P#") || file.contains("#p#") => directory,
        _ => path,
    }
}

/// Appends a string of a partition, with quotes escaped by backslashes, too (`append_escaped`).
fn push_backslashed(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '\'' => out.push_str("\\'"),
            '\u{1a}' => out.push_str("\\Z"),
            other => push_escaped(out, other),
        }
    }
}

/// Whether a partition is in the system tablespace, by the place of its first index.
fn is_in_system(partition: Object<'_>) -> Result<bool> {
    let Some(index) = partition.objects_if_any("indexes")?.next() else { return Ok(false) };
    let place = PlaceOfIndex::read(&index?.properties("se_private_data")?)?;
    Ok(place.space == Some(SpaceId::SYSTEM))
}
