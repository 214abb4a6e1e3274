//! Tables of MyISAM and Aria in the files of a stopped server.

mod aria;
mod data_file;
mod myisam;

use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Result};
use innoscan_format as format;
use innoscan_format::schema::filename::{self, decode};
use innoscan_format::schema::{TableDef, from_frm};
use innoscan_format::server_record::{RecordLayout, RowValues};

use self::data_file::DataFile;

/// A callback that receives the rows of a table one after the other.
type RowReceiver<'a> = dyn FnMut(&[Option<&[u8]>]) -> Result<()> + 'a;

/// A table of MyISAM or Aria in the files of a stopped server.
#[derive(Debug)]
pub struct EngineTable {
    /// The table's definition.
    pub def: TableDef,
    parts: Vec<Part>,
}

/// A partition, or a whole table without partitions.
#[derive(Debug)]
enum Part {
    MyIsam(myisam::Part),
    Aria(aria::Part),
}

impl EngineTable {
    /// Opens the table of a `.frm` file, with the `.MYI` and `.MYD`, or `.MAI` and `.MAD`, beside it
    /// or those of its partitions. Reads no row.
    ///
    /// # Errors
    /// The table is of another engine, was not closed cleanly, or has an unsupported form of rows
    /// (compressed by `myisampack` or `aria_pack`, encrypted).
    pub fn open(frm: &Path) -> Result<EngineTable> {
        let bytes = std::fs::read(frm)
            .map_err(|source| Error::read("cannot read the definition", source).in_file(frm))?;
        let file_name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let schema = frm.parent().map(file_name).unwrap_or_default();
        let stem = frm.file_stem().unwrap_or_default().to_string_lossy();
        let def = from_frm(&bytes, &decode(&schema), &decode(&stem))
            .map_err(|error| Error::from(error).in_file(frm))?;
        EngineTable::of_definition(def, &frm.with_extension(""))
    }

    /// Opens a table with a definition that was read elsewhere; `stem` is the path of its files
    /// without extension.
    ///
    /// # Errors
    /// Those of [`EngineTable::open`].
    pub fn of_definition(def: TableDef, stem: &Path) -> Result<EngineTable> {
        let mut parts = Vec::new();
        for stem in stems(&def, stem) {
            parts.push(Part::open(&def, &stem)?);
        }
        Ok(EngineTable { def, parts })
    }

    /// Passes each row to `row`: its stored columns in the definition's order, each in the form of
    /// InnoDB, or `None` for NULL. The order is that of the server's own scan. Returns the number of
    /// rows, which equals the one in the table's header.
    ///
    /// # Errors
    /// Damage, with its place, wherever the rows contradict the header or their checksums,
    /// sometimes found only after the last row; errors of `row`.
    pub fn for_each_row(&self, mut row: impl FnMut(&[Option<&[u8]>]) -> Result<()>) -> Result<u64> {
        let mut rows = 0;
        for part in &self.parts {
            rows += match part {
                Part::MyIsam(part) => part.for_each_row(&mut row)?,
                Part::Aria(part) => part.for_each_row(&mut row)?,
            };
        }
        Ok(rows)
    }

    /// The bytes of the files that hold the rows.
    pub fn size_bytes(&self) -> u64 {
        let size = |part: &Part| match part {
            Part::MyIsam(part) => part.data_bytes(),
            Part::Aria(part) => part.data_bytes(),
        };
        self.parts.iter().map(size).sum()
    }

    /// The number of rows according to the headers.
    pub fn rows(&self) -> u64 {
        let rows = |part: &Part| match part {
            Part::MyIsam(part) => part.rows(),
            Part::Aria(part) => part.rows(),
        };
        self.parts.iter().map(rows).sum()
    }
}

/// The paths of the files without extension, in the order of the partitions.
fn stems(def: &TableDef, whole: &Path) -> Vec<PathBuf> {
    let Some(partitioning) = &def.partitioning else { return vec![whole.to_owned()] };
    let mut stems = Vec::new();
    for partition in &partitioning.partitions {
        let stem = |sub: Option<&str>| filename::partition_stem(&def.name, &partition.name, sub);
        match partition.subpartitions.as_slice() {
            [] => stems.push(whole.with_file_name(stem(None))),
            subs => stems.extend(subs.iter().map(|sub| whole.with_file_name(stem(Some(sub))))),
        }
    }
    stems
}

impl Part {
    fn open(def: &TableDef, stem: &Path) -> Result<Part> {
        match def.options.engine.to_ascii_lowercase().as_str() {
            "myisam" => myisam::Part::open(def, stem).map(Part::MyIsam),
            "aria" | "maria" => aria::Part::open(def, stem).map(Part::Aria),
            _ => Err(Error::refused(
                format!("`{}`.`{}` is a table of {}", def.schema, def.name, def.options.engine),
                "only MyISAM and Aria are read beside InnoDB: dump it from its server",
            )),
        }
    }
}

/// The path of the file with an extension for `stem`, whose name may contain dots.
fn with_extension(stem: &Path, extension: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(".");
    path.push(extension);
    path.into()
}

/// Reads the header at the start of an index file. `size_bytes` computes its length from the
/// first 24 bytes.
fn read_header(path: &Path, size_bytes: fn(&[u8]) -> format::Result<usize>) -> Result<Vec<u8>> {
    const START_BYTES: usize = 24;
    let mut file = DataFile::open(path)?;
    let in_file = |error: format::Error| Error::from(error).in_file(path);
    let len = size_bytes(file.read(0, START_BYTES)?).map_err(in_file)?;
    file.read(0, len).map(<[u8]>::to_vec)
}

/// The error for a table that a server has open, or left open.
#[cold]
fn not_closed(path: &Path, why: &str) -> Error {
    Error::refused(
        why,
        "start its server and shut it down cleanly, or repair the table (CHECK TABLE, REPAIR TABLE)",
    )
    .in_file(path)
}

/// Refuses a table that crashed or was not closed. `open_count`: the number of openings, from its
/// header.
fn require_closed(index: &Path, crashed: bool, open_count: u16) -> Result<()> {
    match (crashed, open_count) {
        (true, _) => Err(not_closed(index, "the table is marked as crashed")),
        (false, 0) => Ok(()),
        (false, _) => Err(not_closed(index, "the table was changed and not closed")),
    }
}

/// Refuses a file of rows that is shorter than its table's header requires.
fn require_len(path: &Path, said: u64) -> Result<()> {
    let len = DataFile::open(path)?.len();
    if len < said {
        let what = format!("it has {len} bytes, its table's header says {said}");
        return Err(Error::from(format::Error::corrupt(what)).in_file(path));
    }
    Ok(())
}

/// A converter of a table's records to rows.
struct Converter<'a, 'r> {
    layout: &'a RecordLayout,
    values: RowValues,
    receiver: &'r mut RowReceiver<'a>,
    rows: u64,
}

impl<'a, 'r> Converter<'a, 'r> {
    fn new(layout: &'a RecordLayout, receiver: &'r mut RowReceiver<'a>) -> Converter<'a, 'r> {
        Converter { layout, values: RowValues::default(), receiver, rows: 0 }
    }

    fn row(&mut self, record: &[u8], blobs: &[u8]) -> Result<()> {
        self.layout.read(record, blobs, &mut self.values)?;
        self.rows += 1;
        (self.receiver)(&self.values.row(record, blobs))
    }
}

/// Adds the file to an error of damage and, with `at`, the place in it; other errors are not the file's.
fn located(error: Error, path: &Path, at: impl std::fmt::Display) -> Error {
    if error.as_format().is_none() {
        return error;
    }
    error.map_format(|error| error.with_prefix(at)).in_file(path)
}

/// Compares the rows read with the header's counts.
fn require_all(
    path: &Path,
    rows: u64,
    said: u64,
    sum: Option<u32>,
    said_sum: Option<u32>,
) -> Result<()> {
    let wrong = |what: String| Err(Error::from(format::Error::corrupt(what)).in_file(path));
    if rows != said {
        return wrong(format!("it has {rows} rows, its header says {said}"));
    }
    match (sum, said_sum) {
        (Some(sum), Some(said)) if sum != said => {
            wrong(format!("its rows' checksum is {sum}, its header says {said}"))
        }
        _ => Ok(()),
    }
}
