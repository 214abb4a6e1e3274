//! Where the definition of a table is: in the SDI of its file, in its `.frm`, in the dictionary of MySQL 8, or the user's.

use std::path::Path;

use innoscan_engine::file_head::FileHead;
use innoscan_engine::space::Space;
use innoscan_engine::{Error, ErrorKind, Result};
use innoscan_format::Remedy as FormatRemedy;
use innoscan_format::schema::data_directory::{data_directory, data_directory_option};
use innoscan_format::schema::filename::{self, TableFile as FileName};
use innoscan_format::schema::{TableDef, from_frm};
use innoscan_io::Direct;

use super::already_read::{AlreadyRead, definition_in_sdi};
use super::{Catalog, Directory, Place, TableName, crashed, stem};
use crate::mysql_definition;

impl Catalog {
    /// The definition of a file's table, and the file's head if it was read.
    pub(super) fn definition_of_file(
        &self,
        ibd: &Path,
        directory: Option<&Directory>,
        already_read: AlreadyRead,
    ) -> Result<(TableDef, Option<FileHead>)> {
        let FileName { table, .. } = filename::decode_table(&stem(ibd));
        if let Some(given) = &self.definition {
            return given.def().map(|def| (def, None));
        }
        let (head, in_sdi) = match already_read.head {
            Some((head, def)) => (Some(head), def),
            None => {
                let name = TableName { schema: self.place_of(ibd).schema, table: table.clone() };
                definition_in_sdi(ibd, || self.partitions_of(&name, ibd), &self.keys)?
            }
        };
        if let Some(def) = in_sdi {
            let name = TableName { schema: def.schema.clone(), table };
            let open = |def: &TableDef| {
                let files = match &def.partitioning {
                    None => vec![ibd.to_owned()],
                    Some(_) => self.partitions_of(&name, ibd)?,
                };
                let opened = files.iter().map(|file| Space::open(file, Direct::Off, &self.keys));
                // A partition that was being made has no page 0 yet. Who reads rows of a damaged one gets its error.
                let is_unmade = |error: &Error| error.kind() == ErrorKind::Corrupt;
                opened.filter(|space| !space.as_ref().is_err_and(is_unmade)).collect()
            };
            return Ok((self.settled_definition(def, &name, directory, open)?, head));
        }
        if let Some(mut def) = already_read.frm {
            complete(&mut def, &stem(ibd), directory)?;
            return Ok((def, head));
        }
        let Place { root, schema } = self.place_of(ibd);
        let mut frm = ibd.with_file_name(format!("{}.frm", filename::encode(&table)));
        if let (false, Some(root)) = (frm.is_file(), &root) {
            frm = root.join(filename::encode(&schema)).join(frm.file_name().unwrap_or_default());
        }
        let definition = match directory {
            Some(found) => found.definition(&frm, &schema, &table),
            None => &frm,
        };
        if !definition.is_file() {
            // A running server writes to its dictionary.
            let is_exported = directory.is_some_and(|found| found.datadir.is_exported());
            let root = root.filter(|_| !is_exported);
            if let Some(def) = self.definition_beside(&schema, &table, root.as_deref())? {
                return Ok((def, head));
            }
            return Err(Error::refused(
                "there is no definition: the file has no SDI, and there is no .frm beside it",
                ["put the table's .frm beside it".into(), FormatRemedy::PassDefinition.into()],
            )
            .in_file(ibd));
        }
        let mut def = read_frm(definition, &schema, &table)?;
        complete(&mut def, &stem(ibd), directory)?;
        add_data_directory(&mut def, &frm);
        Ok((def, head))
    }

    pub(super) fn definition_of_frm(&self, frm: &Path) -> Result<TableDef> {
        let schema = self.place_of(frm).schema;
        let table = filename::decode(&stem(frm));
        let directory = self.directory_of(&frm.with_extension("ibd"), true)?;
        let definition = match &directory {
            Some(found) => found.definition(frm, &schema, &table),
            None => frm,
        };
        let mut def = read_frm(definition, &schema, &table)?;
        complete(&mut def, &stem(frm), directory.as_ref())?;
        Ok(def)
    }

    /// The definition `def` of a table, which its files have; by the dictionary, if an unfinished `ALTER TABLE` has
    /// changed the one in a file. `open`: opens the files that may have it.
    pub(super) fn settled_definition(
        &self,
        def: TableDef,
        name: &TableName,
        directory: Option<&Directory>,
        open: impl FnOnce(&TableDef) -> Result<Vec<Space>>,
    ) -> Result<TableDef> {
        let Some(directory) = directory else { return Ok(def) };
        let Some(logs) = directory.datadir.undo_logs() else { return Ok(def) };
        for space in open(&def)? {
            if space.has_unfinished_sdi(logs.unfinished())? {
                let settled = self.definition_of_dictionary(name, directory)?;
                let lost = || crashed::under_way("the dictionary does not have it");
                return settled.ok_or_else(|| lost().in_file(space.file().path()));
            }
        }
        Ok(def)
    }

    /// The definition of a table in `mysql.ibd`, as committed transactions left it.
    pub(super) fn definition_of_dictionary(
        &self,
        name: &TableName,
        directory: &Directory,
    ) -> Result<Option<TableDef>> {
        let mysql_ibd = directory.datadir.root().join("mysql.ibd");
        let file = (&*mysql_ibd, directory.datadir.undo_logs().cloned());
        mysql_definition::definition(file, &self.keys, &name.schema, &name.table)
    }
}

/// Adds the facts about a table with a `.frm` that only InnoDB's dictionary has.
pub(super) fn complete(
    def: &mut TableDef,
    file_stem: &str,
    directory: Option<&Directory>,
) -> Result<()> {
    let Some(found) = directory else { return Ok(()) };
    let Some(dictionary) = found.dictionary.get() else { return Ok(()) };
    let system = found.datadir.system_tablespace().map(|system| system.first());
    let in_system = |error| Error::from(error).in_file(system.unwrap_or(found.datadir.root()));
    def.foreign_keys = dictionary.foreign_keys(&def.schema, &def.name).map_err(in_system)?;
    let table = dictionary.table(&found.dictionary_name(&def.schema, &def.name, file_stem));
    if let Some(table) = table {
        def.physical.space = Some(table.space);
        let clustered = table.clustered();
        def.physical.clustered = clustered.and_then(|index| Some((index.id, index.root?)));
    }
    Ok(())
}

/// Adds the directory of a table's file outside of the data directory, which only the `.isl` beside its `.frm` has. That
/// path is printed, not followed.
pub(super) fn add_data_directory(def: &mut TableDef, frm: &Path) {
    let link = std::fs::read_to_string(frm.with_extension("isl")).ok();
    if let Some(directory) = link.as_deref().map(str::trim_end).and_then(data_directory) {
        def.options.others.push(data_directory_option(&directory));
    }
}

pub(super) fn read_frm(frm: &Path, schema: &str, table: &str) -> Result<TableDef> {
    let bytes =
        std::fs::read(frm).map_err(|error| Error::read("reading it", error).in_file(frm))?;
    from_frm(&bytes, schema, table).map_err(|error| Error::from(error).in_file(frm))
}
