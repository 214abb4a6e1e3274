//! Printing of a definition as `SHOW CREATE TABLE`, in the style of the server that wrote it.
//!
//! One order of clauses serves both families (`store_create_info`, sql_show.cc, MySQL 5.5-9.7;
//! `show_create_table_ex`, sql_show.cc, MariaDB 10.1-11.8); differences between families and
//! versions are in [`Dialect`].

mod keywords;
mod names;
mod types;

pub(super) use self::names::{Quoting, push_escaped, push_identifier, push_quoted};
use self::types::push_type;
use super::{
    ColumnDef, ColumnDefault, Family, ForeignKeyDef, ForeignKeyRule, IndexDef, IndexKind,
    IndexSource, RowPeriod, ServerVersion, TableDef, TableOptions,
};
use crate::charset::CollationId;
use crate::types::ColumnType;

impl TableDef {
    /// Returns the text of `SHOW CREATE TABLE`, without a final semicolon or line end.
    pub fn to_create_table(&self) -> String {
        let mut out = String::from("CREATE TABLE ");
        push_name(&mut out, &self.name);
        out += " (\n";
        let dialect = Dialect(self.server);
        for (place, column) in self.columns.iter().filter(|column| !column.hidden).enumerate() {
            out += if place > 0 { ",\n  " } else { "  " };
            dialect.push_column(&mut out, column, &self.options);
        }
        if let Some(period) = &self.application_period {
            out += ",\n  PERIOD FOR ";
            push_name(&mut out, &period.name);
            push_names(&mut out, &[&period.start, &period.end]);
        }
        for index in &self.indexes {
            self.push_index(&mut out, index);
        }
        self.push_system_period(&mut out);
        for key in &self.foreign_keys {
            dialect.push_foreign_key(&mut out, key);
        }
        for check in &self.checks {
            out += ",\n  ";
            if !check.name.is_empty() {
                out += "CONSTRAINT ";
                push_name(&mut out, &check.name);
                out.push(' ');
            }
            out += &format!("CHECK ({})", check.expression);
            if !check.enforced {
                out += " /*!80016 NOT ENFORCED */";
            }
        }
        out += "\n)";
        dialect.push_options(&mut out, &self.options);
        if self.versioned {
            out += " WITH SYSTEM VERSIONING";
        }
        if let Some(partitioning) = &self.partitioning {
            dialect.push_partitioning(&mut out, &partitioning.clause);
        }
        out
    }

    /// Returns a type as the server prints it, without charset and collation.
    pub fn type_text(&self, ty: &ColumnType) -> String {
        let mut text = String::new();
        push_type(&mut text, ty, self.server);
        text
    }

    fn push_index(&self, out: &mut String, index: &IndexDef) {
        *out += match index.kind {
            IndexKind::Primary => ",\n  PRIMARY KEY",
            IndexKind::Unique => ",\n  UNIQUE KEY ",
            IndexKind::Key => ",\n  KEY ",
            IndexKind::FullText => ",\n  FULLTEXT KEY ",
            IndexKind::Spatial => ",\n  SPATIAL KEY ",
            IndexKind::Vector => ",\n  VECTOR KEY ",
        };
        if index.kind != IndexKind::Primary {
            push_name(out, &index.name);
        }
        *out += " (";
        let mut first = true;
        for part in &index.parts {
            let column = match &part.source {
                IndexSource::Column(place) => self.columns.get(*place),
                IndexSource::Expression(_) => None,
            };
            if column.is_some_and(|column| column.hidden) {
                continue;
            }
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            match (&part.source, column) {
                (IndexSource::Expression(expression), _) => *out += &format!("({expression})"),
                (_, Some(column)) => push_name(out, &column.name),
                (_, None) => {}
            }
            if let Some(chars) = part.prefix_chars {
                *out += &format!("({chars})");
            }
            if part.descending {
                *out += " DESC";
            }
        }
        if let (true, Some(period)) = (index.without_overlaps, &self.application_period) {
            out.push(',');
            push_name(out, &period.name);
            *out += " WITHOUT OVERLAPS";
        }
        out.push(')');
        Dialect(self.server).push_index_options(out, index, &self.options);
    }

    /// MariaDB: appends the system period, if the DDL named its columns.
    fn push_system_period(&self, out: &mut String) {
        let column = |end| {
            let named = |column: &&ColumnDef| column.row_period == Some(end) && !column.hidden;
            self.columns.iter().find(named)
        };
        if let (true, Some(start), Some(end)) =
            (self.versioned, column(RowPeriod::Start), column(RowPeriod::End))
        {
            *out += ",\n  PERIOD FOR SYSTEM_TIME";
            push_names(out, &[&start.name, &end.name]);
        }
    }
}

fn push_name(out: &mut String, name: &str) {
    push_identifier(out, name, Quoting::Always);
}

fn push_names<T: AsRef<str>>(out: &mut String, names: &[T]) {
    *out += " (";
    for (place, name) in names.iter().enumerate() {
        if place > 0 {
            *out += ", ";
        }
        push_name(out, name.as_ref());
    }
    out.push(')');
}

/// The differences between servers in printing.
#[derive(Clone, Copy)]
struct Dialect(ServerVersion);

impl Dialect {
    fn is_mysql(self) -> bool {
        self.0.family == Family::MySql
    }

    fn is_mysql_8(self) -> bool {
        self.is_mysql() && self.0.number >= 80_000
    }

    /// Returns whether the server is a MariaDB of this version or newer.
    fn is_mariadb_since(self, number: u32) -> bool {
        self.0.family == Family::MariaDb && self.0.number >= number
    }

    fn push_column(self, out: &mut String, column: &ColumnDef, table: &TableOptions) {
        push_name(out, &column.name);
        out.push(' ');
        push_type(out, &column.ty, self.0);
        if column.compressed {
            // 10.6 hides it from MySQL, too.
            let hidden = if self.0.number >= 100_600 { "M" } else { "" };
            *out += &format!(" /*{hidden}!100301 COMPRESSED*/");
        }
        self.push_column_collation(out, column, table.collation);
        if let Some(generated) = &column.generated {
            self.push_generated(out, &generated.expression, generated.stored);
        }
        let (early, late): (Vec<_>, Vec<_>) =
            column.attributes.iter().partition(|attribute| self.is_early(attribute));
        for attribute in early.iter().filter(|attribute| attribute.starts_with("MASKING")) {
            *out += &format!(" {attribute}");
        }
        if self.is_mysql() || column.generated.is_none() {
            self.push_nullability(out, column);
        }
        let late_invisible = column.generated.is_none() && self.is_mariadb_since(110_800);
        if !self.is_mysql() && column.invisible && !late_invisible {
            *out += " INVISIBLE";
        }
        if let Some(srid) = column.srid {
            *out += &format!(" /*!80003 SRID {srid} */");
        }
        for attribute in early.iter().filter(|attribute| !attribute.starts_with("MASKING")) {
            *out += &format!(" {attribute}");
        }
        self.push_default(out, column);
        if column.without_versioning {
            *out += " WITHOUT SYSTEM VERSIONING";
        }
        if let Some(on_update) = &column.on_update {
            *out += &format!(" ON UPDATE {on_update}");
        }
        if column.auto_increment {
            *out += " AUTO_INCREMENT";
        }
        if self.is_mysql() && column.invisible {
            *out += " /*!80023 INVISIBLE */";
        }
        if column.invisible && late_invisible {
            *out += " INVISIBLE";
        }
        let check = column.check.iter().map(|check| format!(" CHECK ({check})"));
        let check_first = self.0.number < 100_300;
        out.extend(check.clone().filter(|_| check_first));
        if !column.comment.is_empty() {
            *out += " COMMENT ";
            push_quoted(out, &column.comment);
        }
        for attribute in late {
            *out += &format!(" {attribute}");
        }
        out.extend(check.filter(|_| !check_first));
    }

    /// Returns whether an attribute prints before the default, as MySQL's storage attributes do;
    /// all others print after the comment.
    fn is_early(self, attribute: &str) -> bool {
        self.is_mysql() && !attribute.starts_with("/*!80021")
    }

    /// Appends charset and collation. MySQL 8 prints them if written in the DDL or different from
    /// the table's; MariaDB since 10.3.37, 10.4.27, 10.5.18 and 10.6.11 (MDEV-29446) prints both if
    /// different from the table's; the others print a different charset, and a collation that is
    /// not its charset's default.
    fn push_column_collation(self, out: &mut String, column: &ColumnDef, table: CollationId) {
        let collation = match &column.ty {
            ColumnType::Char { collation, .. }
            | ColumnType::VarChar { collation, .. }
            | ColumnType::Text { collation, .. }
            | ColumnType::Enum { collation, .. }
            | ColumnType::Set { collation, .. } => *collation,
            _ => return,
        };
        let explicit = self.is_mysql_8() && column.explicit_collation;
        let differs = collation != table || explicit;
        let Ok(charset) = collation.charset() else { return };
        if differs {
            *out += &format!(" CHARACTER SET {}", charset.name_in(self.0));
        }
        let named = if self.names_collations() {
            differs && collation != CollationId::BINARY
        } else {
            !collation.is_default(self.0)
                || explicit
                || self.is_mysql_8() && differs && collation == UTF8MB4_0900_AI_CI
        };
        if named {
            self.push_collation(out, " COLLATE ", collation);
        }
    }

    fn push_collation(self, out: &mut String, before: &str, collation: CollationId) {
        if let Some(name) = collation.name(self.0) {
            *out += before;
            *out += &name;
        }
    }

    /// Returns whether the server prints the collation even when it is the charset's default
    /// (MariaDB, MDEV-29446).
    fn names_collations(self) -> bool {
        let number = self.0.number;
        let since = match number {
            0..100_400 => 100_337,
            100_400..100_500 => 100_427,
            100_500..100_600 => 100_518,
            100_600..100_700 => 100_611,
            100_700..100_800 => 100_707,
            100_800..100_900 => 100_806,
            100_900..101_000 => 100_904,
            101_000..101_100 => 101_002,
            _ => 0,
        };
        self.is_mariadb_since(since)
    }

    fn push_generated(self, out: &mut String, expression: &str, stored: bool) {
        let old_mariadb = !self.is_mysql() && self.0.number < 100_200;
        *out += if old_mariadb { " AS (" } else { " GENERATED ALWAYS AS (" };
        *out += expression;
        *out += match (stored, old_mariadb) {
            (true, false) => ") STORED",
            (true, true) => ") PERSISTENT",
            (false, _) => ") VIRTUAL",
        };
    }

    fn push_nullability(self, out: &mut String, column: &ColumnDef) {
        match column.row_period {
            Some(RowPeriod::Start) => *out += " GENERATED ALWAYS AS ROW START",
            Some(RowPeriod::End) => *out += " GENERATED ALWAYS AS ROW END",
            None if !column.nullable => *out += " NOT NULL",
            // TIMESTAMP is NOT NULL by default.
            None if matches!(column.ty, ColumnType::Timestamp(_)) => *out += " NULL",
            None => {}
        }
    }

    fn push_default(self, out: &mut String, column: &ColumnDef) {
        if column.generated.is_some() || column.row_period.is_some() {
            return;
        }
        match &column.default {
            ColumnDefault::None => {}
            ColumnDefault::Null if self.has_silent_null(&column.ty) => {}
            ColumnDefault::Null => *out += " DEFAULT NULL",
            ColumnDefault::Quoted(text) if self.has_bare_default(&column.ty) => {
                *out += &format!(" DEFAULT {text}");
            }
            ColumnDefault::Quoted(text) if self.has_hex_default(&column.ty) && !text.is_empty() => {
                let digits = text.bytes().map(|byte| format!("{byte:02x}"));
                *out += &format!(" DEFAULT x'{}'", digits.collect::<String>());
            }
            ColumnDefault::Quoted(text) => {
                *out += " DEFAULT ";
                push_quoted(out, text);
            }
            ColumnDefault::Verbatim(text) => *out += &format!(" DEFAULT {text}"),
        }
    }

    /// Returns whether no `DEFAULT NULL` prints, as for `TEXT` and `BLOB`, which can have no
    /// default; MariaDB allows them one since 10.2.1.
    fn has_silent_null(self, ty: &ColumnType) -> bool {
        matches!(ty, ColumnType::Text { .. } | ColumnType::Blob { .. })
            && !self.is_mariadb_since(100_201)
    }

    /// Returns whether a default prints without quotes, as MariaDB prints numbers since 10.2.2.
    fn has_bare_default(self, ty: &ColumnType) -> bool {
        let number = matches!(
            ty,
            ColumnType::Int { .. }
                | ColumnType::Decimal { .. }
                | ColumnType::Float(_)
                | ColumnType::Double(_)
                | ColumnType::Year { .. }
        );
        number && self.is_mariadb_since(100_202)
    }

    /// Returns whether a default prints as hexadecimal digits, as MariaDB 11.8 prints bytes.
    fn has_hex_default(self, ty: &ColumnType) -> bool {
        matches!(ty, ColumnType::Binary { .. } | ColumnType::VarBinary { .. })
            && self.is_mariadb_since(110_800)
    }

    fn push_index_options(self, out: &mut String, index: &IndexDef, table: &TableOptions) {
        if let Some(using) = &index.using {
            *out += &format!(" USING {using}");
        }
        let of_table = table.others.iter().find(|(name, _)| name == "KEY_BLOCK_SIZE");
        let of_table = of_table.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
        if index.key_block_size != 0 && index.key_block_size != of_table {
            *out += &format!(" KEY_BLOCK_SIZE={}", index.key_block_size);
        }
        if !index.comment.is_empty() {
            *out += " COMMENT ";
            push_quoted(out, &index.comment);
        }
        if index.invisible {
            *out += if self.is_mysql() { " /*!80000 INVISIBLE */" } else { " IGNORED" };
        }
        let push_attributes = |out: &mut String| {
            for attribute in &index.attributes {
                *out += &format!(" {attribute}");
            }
        };
        if self.is_mysql() {
            push_attributes(out);
        }
        if let Some(parser) = &index.parser {
            *out += " /*!50100 WITH PARSER ";
            push_name(out, parser);
            *out += " */ ";
        }
        if !self.is_mysql() {
            push_attributes(out);
        }
    }

    fn push_foreign_key(self, out: &mut String, key: &ForeignKeyDef) {
        *out += ",\n  CONSTRAINT ";
        push_name(out, &key.name);
        *out += " FOREIGN KEY";
        push_names(out, &key.columns);
        *out += " REFERENCES ";
        if !key.parent_schema.is_empty() {
            push_name(out, &key.parent_schema);
            out.push('.');
        }
        push_name(out, &key.parent_table);
        push_names(out, &key.parent_columns);
        for (event, rule) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
            if let Some(rule) = self.rule(rule) {
                *out += &format!(" ON {event} {rule}");
            }
        }
    }

    /// Returns the rule to print; `None` for the default: `RESTRICT` for InnoDB
    /// (`dict_print_info_on_foreign_key_in_create_format`, dict0dict.cc), `NO ACTION` for MySQL 8,
    /// whose first versions print neither.
    fn rule(self, rule: ForeignKeyRule) -> Option<&'static str> {
        match rule {
            ForeignKeyRule::Default => None,
            ForeignKeyRule::NoAction => (!self.is_mysql_8()).then_some("NO ACTION"),
            ForeignKeyRule::Restrict => (self.is_mysql_8()
                && self.0.number >= FIRST_TO_PRINT_RESTRICT)
                .then_some("RESTRICT"),
            ForeignKeyRule::Cascade => Some("CASCADE"),
            ForeignKeyRule::SetNull => Some("SET NULL"),
            ForeignKeyRule::SetDefault => Some("SET DEFAULT"),
        }
    }

    fn push_options(self, out: &mut String, options: &TableOptions) {
        self.push_others(out, options, 0..=BEFORE_ENGINE);
        *out += &format!(" ENGINE={}", options.engine);
        if let Some(next) = options.auto_increment.filter(|next| *next > 1) {
            *out += &format!(" AUTO_INCREMENT={next}");
        }
        self.push_table_collation(out, options);
        self.push_others(out, options, BEFORE_ENGINE + 1..=BEFORE_ROW_FORMAT);
        if let Some(row_format) = &options.row_format {
            *out += &format!(" ROW_FORMAT={row_format}");
        }
        self.push_others(out, options, BEFORE_ROW_FORMAT + 1..=BEFORE_COMMENT);
        if !options.comment.is_empty() {
            *out += " COMMENT=";
            push_quoted(out, &options.comment);
        }
        *out += &options.tail;
        self.push_others(out, options, BEFORE_COMMENT + 1..=u8::MAX);
    }

    fn push_table_collation(self, out: &mut String, options: &TableOptions) {
        let collation = options.collation;
        let Ok(charset) = collation.charset() else { return };
        if options.others.iter().any(|(name, _)| name == "SEQUENCE") {
            return;
        }
        *out += &format!(" DEFAULT CHARSET={}", charset.name_in(self.0));
        let named = if self.names_collations() {
            collation != CollationId::BINARY
        } else {
            !collation.is_default(self.0) || self.is_mysql_8() && collation == UTF8MB4_0900_AI_CI
        };
        if named {
            self.push_collation(out, " COLLATE=", collation);
        }
    }

    /// Appends the options whose rank is in the range, in the order of the definition.
    fn push_others(
        self,
        out: &mut String,
        options: &TableOptions,
        ranks: std::ops::RangeInclusive<u8>,
    ) {
        let mut chosen: Vec<_> =
            options.others.iter().map(|other| (rank(&other.0), other)).collect();
        chosen.retain(|(rank, _)| ranks.contains(rank));
        chosen.sort_by_key(|(rank, _)| *rank);
        for (_, (name, value)) in chosen {
            *out += &match name.as_str() {
                "TABLESPACE" => self.tablespace(value, options),
                "STORAGE" => String::new(),
                "AUTOEXTEND_SIZE" => format!(" /*!80023 AUTOEXTEND_SIZE={value} */"),
                _ => format!(" {name}={value}"),
            };
        }
    }

    /// Returns the tablespace clause. MySQL 5.6 and older do not quote the name here.
    fn tablespace(self, quoted: &str, options: &TableOptions) -> String {
        let bare = quoted.trim_matches('`');
        let name = if self.0.number < 50_700 { bare } else { quoted };
        let storage = options.others.iter().find(|(name, _)| name == "STORAGE");
        let storage = storage.map(|(_, value)| format!(" STORAGE {value}")).unwrap_or_default();
        format!(" /*!50100 TABLESPACE {name}{storage} */")
    }

    /// Appends the clause, which is in its printed form already; MariaDB 10.2 and later, which
    /// print it without a comment, put a blank before it.
    fn push_partitioning(self, out: &mut String, clause: &str) {
        *out += if clause.starts_with("/*") { "\n" } else { "\n " };
        *out += clause;
    }
}

/// The default collation of MySQL 8, which it prints nevertheless.
const UTF8MB4_0900_AI_CI: CollationId = CollationId(255);

/// The first MySQL that distinguishes `RESTRICT` from `NO ACTION`.
const FIRST_TO_PRINT_RESTRICT: u32 = 80_013;

const BEFORE_ENGINE: u8 = 1;
const BEFORE_ROW_FORMAT: u8 = 12;
const BEFORE_COMMENT: u8 = 20;

/// Returns the rank of a table option in the printed order.
fn rank(name: &str) -> u8 {
    match name {
        "TABLESPACE" | "STORAGE" => 0,
        "AUTOEXTEND_SIZE" => BEFORE_ENGINE,
        "MIN_ROWS" => 2,
        "MAX_ROWS" => 3,
        "AVG_ROW_LENGTH" => 4,
        "PACK_KEYS" => 5,
        "STATS_PERSISTENT" => 6,
        "STATS_AUTO_RECALC" => 7,
        "STATS_SAMPLE_PAGES" => 8,
        "CHECKSUM" => 9,
        "PAGE_CHECKSUM" => 10,
        "DELAY_KEY_WRITE" => 11,
        "TRANSACTIONAL" => 13,
        "KEY_BLOCK_SIZE" => 14,
        "COMPRESSION" => 15,
        "ENCRYPTION" => 16,
        "CONNECTION" => BEFORE_COMMENT + 1,
        "DATA DIRECTORY" => BEFORE_COMMENT + 2,
        "INDEX DIRECTORY" => BEFORE_COMMENT + 3,
        _ => BEFORE_COMMENT,
    }
}
