//! The statements of objects, with their session settings, and with delimiters that the reader of the file
//! understands.

use innoscan_format::charset::Charset;

use super::objects::{Object, ObjectKind, ObjectSession};
use crate::sink::{quoted_name, sql};

/// The way to mark the end of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The `DELIMITER` command of the clients.
    Delimiter,
    /// `;` at the end of any line, for myloader.
    LineEnd,
}

impl Ending {
    /// Appends a statement and its end.
    fn append(self, statement: &[u8], out: &mut Vec<u8>) {
        let holds = |bytes: &[u8]| statement.windows(bytes.len()).any(|part| part == bytes);
        match self {
            Ending::Delimiter if !holds(b";") => {
                out.extend_from_slice(statement);
                out.extend_from_slice(b";\n");
            }
            Ending::Delimiter => {
                let free = (2..).map(|count| ";".repeat(count)).find(|it| !holds(it.as_bytes()));
                let delimiter = free.unwrap_or_default();
                out.extend_from_slice(format!("DELIMITER {delimiter}\n").as_bytes());
                out.extend_from_slice(statement);
                out.extend_from_slice(format!(" {delimiter}\nDELIMITER ;\n").as_bytes());
            }
            Ending::LineEnd => {
                for line in statement.split_inclusive(|&byte| byte == b'\n') {
                    match line.strip_suffix(b";\n") {
                        None => out.extend_from_slice(line),
                        Some(line) => {
                            out.extend_from_slice(line);
                            out.extend_from_slice(b"; \n");
                        }
                    }
                }
                out.extend_from_slice(b";\n");
            }
        }
    }
}

/// An object's statements, after its session settings. `create_database` is the statement of its database.
pub(super) fn of_object(object: &Object, create_database: &str, ending: Ending) -> Vec<u8> {
    let texts = object.statements.iter().map(|text| text.trim_end().trim_end_matches(';'));
    let texts: Vec<&str> = texts.collect();
    let (mut out, charset) = session(object.session.as_ref(), &texts);
    let collations = moved_collation(object, create_database);
    if let Some((made_in, _)) = collations {
        out.extend_from_slice(alter_collation(&object.database, made_in).as_bytes());
    }
    for text in texts {
        let mut bytes = Vec::new();
        charset.encode(text, &mut bytes);
        ending.append(&bytes, &mut out);
    }
    if let Some((_, now)) = collations {
        out.extend_from_slice(alter_collation(&object.database, now).as_bytes());
    }
    out
}

/// The `SET` statements of an object's session, and the charset of the statements after them.
fn session(session: Option<&ObjectSession>, texts: &[&str]) -> (Vec<u8>, Charset) {
    let Some(session) = session else {
        let sets = format!("{}{}", sql::SET_UTF8, sql::SCHEMA_SESSION);
        return (sets.into_bytes(), Charset::Utf8Mb4);
    };
    let encodes =
        |charset: &Charset| texts.iter().all(|text| charset.encode(text, &mut Vec::new()) == 0);
    let named = Charset::by_name(&session.character_set_client);
    let charset = named.filter(encodes).unwrap_or(Charset::Utf8Mb4);
    let mut sets = format!("/*!40101 SET NAMES {} */;\n", charset.name().replace("mb3", ""));
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if is_name(&session.collation_connection) {
        let collation = &session.collation_connection;
        sets += &format!("/*!40101 SET COLLATION_CONNECTION={collation} */;\n");
    }
    let zone = match &*session.time_zone {
        "" => "+00:00",
        zone => zone,
    };
    let mode = literal(&session.sql_mode);
    sets += &format!("/*!40101 SET SQL_MODE={mode} */;\n");
    sets += &format!("/*!40103 SET TIME_ZONE={} */;\n", literal(zone));
    (sets.into_bytes(), charset)
}

/// A literal that means the same in any `sql_mode`: the settings have no backslashes.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "").replace('\'', "''"))
}

/// The collation that an object's database had when the object was created, and the current one, if both
/// are known and differ. The server stores the first with routines, triggers and events.
fn moved_collation<'o>(object: &'o Object, create_database: &'o str) -> Option<(&'o str, &'o str)> {
    let keeps = object.kind.is_routine()
        || matches!(object.kind, ObjectKind::Trigger { .. } | ObjectKind::Event);
    let made_in = &*object.session.as_ref()?.database_collation;
    let now = create_database.split_once(" COLLATE ")?.1.split([' ', '*', ';']).next()?;
    (keeps && !made_in.is_empty() && made_in != now).then_some((made_in, now))
}

fn alter_collation(database: &str, collation: &str) -> String {
    format!("ALTER DATABASE {} COLLATE {collation};\n", quoted_name(database))
}

/// The placeholder of a view, until all tables and views exist: a view with the same column names.
pub(super) fn placeholder_view(view: &Object) -> String {
    let columns: Vec<String> =
        view.columns.iter().map(|column| format!("1 AS {}", quoted_name(column))).collect();
    let (name, columns) = (quoted_name(&view.name), columns.join(",\n  "));
    format!("DROP VIEW IF EXISTS {name};\nCREATE VIEW {name} AS SELECT\n  {columns};\n")
}

/// A view, after the statement that drops its placeholder.
pub(super) fn in_place_of_its_placeholder(view: &Object) -> Object {
    let mut view = view.clone();
    view.statements.insert(0, format!("DROP VIEW IF EXISTS {}", quoted_name(&view.name)));
    view
}

/// The placeholder of a view for myloader: a table with the same column names.
pub(super) fn placeholder_table(view: &Object) -> String {
    let columns: Vec<String> =
        view.columns.iter().map(|column| format!("{} int", quoted_name(column))).collect();
    let (name, columns) = (quoted_name(&view.name), columns.join(",\n"));
    format!("CREATE TABLE IF NOT EXISTS {name} (\n{columns}\n) ENGINE=MEMORY;\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn procedure(statement: &str, session: Option<ObjectSession>) -> Object {
        Object {
            database: "d".into(),
            kind: ObjectKind::Procedure,
            name: "p".into(),
            columns: Vec::new(),
            statements: vec![statement.into()],
            session,
        }
    }

    fn end_of(statement: &str, ending: Ending) -> String {
        let mut out = Vec::new();
        ending.append(statement.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_statement_ends_before_its_end() {
        let body = "BEGIN\nSELECT ';;';\nEND";
        assert_eq!(
            end_of(body, Ending::Delimiter),
            format!("DELIMITER ;;;\n{body} ;;;\nDELIMITER ;\n")
        );
        assert_eq!(end_of(body, Ending::LineEnd), "BEGIN\nSELECT ';;'; \nEND;\n");
        assert_eq!(end_of("DROP VIEW v", Ending::Delimiter), "DROP VIEW v;\n");
    }

    #[test]
    fn an_object_is_written_in_the_charset_of_its_session() {
        let latin1 = ObjectSession {
            character_set_client: "latin1".into(),
            collation_connection: "latin1_swedish_ci".into(),
            ..ObjectSession::default()
        };
        let made = of_object(&procedure("SELECT 'é'", Some(latin1.clone())), "", Ending::LineEnd);
        assert!(made.ends_with(b"SELECT '\xe9';\n"), "{}", made.escape_ascii());
        let made = of_object(&procedure("SELECT '日'", Some(latin1)), "", Ending::LineEnd);
        let made = String::from_utf8(made).unwrap();
        assert!(made.starts_with("/*!40101 SET NAMES utf8mb4 */;\n"), "{made}");
    }

    #[test]
    fn the_database_is_for_a_while_what_it_was() {
        let session =
            ObjectSession { database_collation: "latin1_bin".into(), ..ObjectSession::default() };
        let object = procedure("SELECT 1", Some(session));
        let create = "CREATE DATABASE `d` /*!40100 DEFAULT CHARACTER SET utf8 COLLATE utf8_bin */";
        let made = String::from_utf8(of_object(&object, create, Ending::LineEnd)).unwrap();
        let expected = "ALTER DATABASE `d` COLLATE latin1_bin;\nSELECT 1;\n\
                        ALTER DATABASE `d` COLLATE utf8_bin;\n";
        assert!(made.ends_with(expected), "{made}");
    }
}
