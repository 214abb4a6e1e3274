//! Triggers: a `.TRG` file holds all triggers of a table, in the order in which they run for each
//! event; a `.TRN` file names the table of a trigger (sql/sql_trigger.cc, MariaDB 10.11 and MySQL
//! 5.7).

use super::lex::Tokens;
use super::{TextFile, charset_named, decoded, utf8};
use crate::charset::Charset;
use crate::{Error, Result};

/// A trigger of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerDefinition {
    /// Name of the trigger.
    pub name: String,
    /// The statement that created the trigger, as `SHOW CREATE TRIGGER` prints it.
    pub statement: String,
    /// The bits of `sql_mode` at the trigger's creation.
    pub sql_mode: u64,
    /// `character_set_client` at the trigger's creation; empty in files of MySQL 5.0.
    pub character_set_client: String,
    /// `collation_connection` at the trigger's creation; empty in files of MySQL 5.0.
    pub collation_connection: String,
    /// Collation of the database at the trigger's creation; empty in files of MySQL 5.0.
    pub database_collation: String,
}

/// The triggers of a table.
#[derive(Clone, Debug)]
pub struct TriggersFile {
    /// Triggers in the file's order; an error for each that cannot be read.
    pub triggers: Vec<Result<TriggerDefinition>>,
}

impl TriggersFile {
    /// Parses a `.TRG` file.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn parse(bytes: &[u8]) -> Result<TriggersFile> {
        let file = TextFile::parse(bytes, "TRIGGERS")?;
        let texts = file.texts("triggers")?;
        let texts = texts.ok_or_else(|| Error::corrupt("the file has no line triggers="))?;
        let modes = file.numbers("sql_modes")?;
        let lists = [
            file.texts("client_cs_names")?,
            file.texts("connection_cl_names")?,
            file.texts("db_cl_names")?,
        ];
        if lists.iter().flatten().count() % lists.len() != 0 {
            return Err(Error::corrupt("the file lacks charsets or collations of its triggers"));
        }
        let lengths = modes.iter().map(Vec::len).chain(lists.iter().flatten().map(Vec::len));
        if let Some(other) = lengths.into_iter().find(|&length| length != texts.len()) {
            return Err(Error::corrupt(format!(
                "the file has {} triggers and {other} of something that each has",
                texts.len()
            )));
        }
        let modes = modes.ok_or_else(|| Error::corrupt("the file has no line sql_modes="))?;
        let mut triggers = Vec::new();
        for (at, (text, sql_mode)) in texts.iter().zip(modes).enumerate() {
            let names = lists.each_ref().map(|list| list.as_ref().and_then(|list| list.get(at)));
            triggers.push(trigger(text, sql_mode, names));
        }
        Ok(TriggersFile { triggers })
    }
}

fn trigger(text: &[u8], sql_mode: u64, names: [Option<&Vec<u8>>; 3]) -> Result<TriggerDefinition> {
    let [client, connection, database] =
        names.map(|name| utf8(name.cloned().unwrap_or_default(), "a trigger's charset"));
    let character_set_client = client?;
    let charset = match &*character_set_client {
        "" => Charset::Utf8Mb3,
        name => charset_named(name)?,
    };
    let statement = decoded(text, charset, "a trigger")?;
    let name = trigger_name(&statement);
    let name = name.ok_or_else(|| Error::corrupt("a trigger's statement does not name it"))?;
    Ok(TriggerDefinition {
        name,
        statement,
        sql_mode,
        character_set_client,
        collation_connection: connection?,
        database_collation: database?,
    })
}

/// Returns the name in `CREATE [DEFINER=...] TRIGGER [IF NOT EXISTS] [db.]name`. A definer can be
/// called `TRIGGER` only in quotes.
fn trigger_name(statement: &str) -> Option<String> {
    let mut tokens = Tokens::new(statement);
    tokens.next().filter(|token| token.is_word("create"))?;
    tokens.find(|token| token.is_word("trigger"))?;
    let mut name = tokens.next()?;
    let mut behind = tokens;
    let condition: Vec<_> = behind.by_ref().take(2).collect();
    if let (true, [not, exists]) = (name.is_word("if"), condition.as_slice())
        && not.is_word("not")
        && exists.is_word("exists")
    {
        name = behind.next()?;
        tokens = behind;
    }
    let mut behind = tokens;
    if behind.next() == Some(super::lex::Token::Symbol('.')) {
        name = behind.next()?;
    }
    name.name()
}

/// Returns the table that a `.TRN` file names.
///
/// # Errors
/// When the file is damaged.
pub fn trigger_table(bytes: &[u8]) -> Result<String> {
    let file = TextFile::parse(bytes, "TRIGGERNAME")?;
    utf8(file.text("trigger_table")?, "trigger_table=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_statements() {
        let named = |statement: &str| trigger_name(statement).unwrap_or_default();
        assert_eq!(named("CREATE DEFINER=`a trigger b`@`c` TRIGGER t0 BEFORE"), "t0");
        assert_eq!(named("CREATE TRIGGER /* x */ `a``b` AFTER"), "a`b");
        assert_eq!(named("CREATE TRIGGER IF NOT EXISTS \"q\"\"q\" AFTER"), "q\"q");
        assert_eq!(named("CREATE DEFINER=``@`` trigger d.`x` -- y\n AFTER"), "x");
        assert_eq!(named("CREATE /*!50017 DEFINER=a@b*/ /*!50003 TRIGGER if AFTER */"), "if");
        assert_eq!(trigger_name("CREATE TABLE t"), None);
    }

    #[test]
    fn lists_of_different_lengths_are_damage() {
        let file = b"TYPE=TRIGGERS\ntriggers='CREATE TRIGGER a'\nsql_modes=1 2\n";
        assert!(TriggersFile::parse(file).is_err());
        let file = b"TYPE=TRIGGERS\ntriggers='CREATE TRIGGER a' 'x'\nsql_modes=1 2\n";
        let triggers = TriggersFile::parse(file).unwrap().triggers;
        assert_eq!(triggers[0].as_ref().unwrap().name, "a");
        assert!(triggers[1].is_err());
    }
}
