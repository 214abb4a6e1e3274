//! Names in a tablespace's definitions: the file and tables that they describe.

use crate::Result;
use crate::schema::filename;

use super::for_each_document;

/// The file and tables of a tablespace, according to its definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SdiNames {
    /// The file, as the server names it: `./db/table.ibd`. `None` in the file of a server that
    /// wrote no definition of the tablespace.
    file: Option<String>,
    /// Whether the tablespace belongs to one table or partition, and has its name.
    is_of_table: bool,
    /// Schema and name of the tables.
    tables: Vec<(String, String)>,
}

impl SdiNames {
    /// Collects the names from a tablespace's SDI documents.
    ///
    /// # Errors
    /// When a document has a form that servers do not write.
    pub fn of<T: AsRef<[u8]>>(documents: &[T]) -> Result<SdiNames> {
        let mut names = SdiNames::default();
        for_each_document(documents, |kind, document| {
            let object = document.object("dd_object")?;
            match kind {
                "Table" => {
                    let table = (object.text("schema_ref")?, object.text("name")?);
                    names.tables.push((table.0.to_owned(), table.1.to_owned()));
                }
                "Tablespace" => {
                    names.is_of_table = object.text("name")?.contains('/');
                    let file = object.objects("files")?.next().transpose()?;
                    names.file =
                        file.map(|file| file.text("filename")).transpose()?.map(Into::into);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(names)
    }

    /// Returns whether the definitions include this table.
    pub fn has_table(&self, schema: &str, name: &str) -> bool {
        self.tables.iter().any(|table| table.0 == schema && table.1 == name)
    }

    /// Returns the schema and name of the table, if the definitions are of a single one.
    pub fn only_table(&self) -> Option<(&str, &str)> {
        match &self.tables[..] {
            [(schema, table)] => Some((schema, table)),
            _ => None,
        }
    }

    /// Returns the owner of the definitions, if they are not those of this file in this directory.
    /// Letters may differ in case, as they do with `lower_case_table_names`.
    pub fn of_another(&self, directory: &str, file: &str) -> Option<String> {
        let is_same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
        let stem = file.strip_suffix(".ibd").unwrap_or(file);
        if let (true, [(schema, table)]) = (self.is_of_table, &self.tables[..]) {
            let named = filename::decode_table(stem).table;
            if !is_same(schema, &filename::decode(directory)) || !is_same(table, &named) {
                return Some(format!("table {schema}.{table}"));
            }
        }
        let said = self.file.as_deref()?;
        let mut parts = said.rsplit('/');
        let (said_file, said_directory) = (parts.next(), parts.next());
        let is_of_directory =
            !self.is_of_table || said_directory.is_some_and(|said| is_same(said, directory));
        let is_this = is_of_directory && said_file.is_some_and(|said| is_same(said, file));
        (!is_this).then(|| format!("file {said}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(file: &str, space: &str, tables: &[&str]) -> SdiNames {
        let tables = tables.iter().map(|name| {
            format!(
                r#"{{"dd_object_type":"Table","dd_object":{{"schema_ref":"d ö","name":"{name}"}}}}"#
            )
        });
        let space = format!(
            r#"{{"dd_object_type":"Tablespace","dd_object":{{"name":"{space}","files":[{{"filename":"{file}"}}]}}}}"#
        );
        SdiNames::of(&tables.chain([space]).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_file_by_another_name_is_told() {
        let of_table = names("./d@0020@00f6/t.ibd", "d ö/t", &["t"]);
        let of_partition = names("/data/d@0020@00f6/t#p#p0.ibd", "d ö/t#p#p0", &[]);
        let general = names("./of g.ibd", "g", &["one", "two"]);
        let renamed = names("./d@0020@00f6/t.ibd", "d ö/t", &["before"]);
        for (names, directory, file, expected) in [
            (&of_table, "d@0020@00f6", "t.ibd", None),
            (&of_table, "d@0020@00f6", "T.ibd", None),
            (&of_table, "d@0020@00f6", "u.ibd", Some("table d ö.t")),
            (&of_table, "e", "t.ibd", Some("table d ö.t")),
            (&of_partition, "d@0020@00f6", "t#p#p0.ibd", None),
            (&of_partition, "d@0020@00f6", "t#p#p1.ibd", Some("file /data/d@0020@00f6/t#p#p0.ibd")),
            (&of_partition, "e", "t#p#p0.ibd", Some("file /data/d@0020@00f6/t#p#p0.ibd")),
            (&general, "anywhere", "of g.ibd", None),
            (&general, "anywhere", "h.ibd", Some("file ./of g.ibd")),
            (&renamed, "d@0020@00f6", "t.ibd", Some("table d ö.before")),
            (&SdiNames::default(), "d", "t.ibd", None),
        ] {
            let other = names.of_another(directory, file);
            assert_eq!(other.as_deref(), expected, "{directory}/{file} {names:?}");
        }
    }
}
