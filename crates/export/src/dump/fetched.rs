//! Small tables that are fetched from a server, by several connections in parallel.
//!
//! Locking thousands of tables for the export of their files costs a server more than sending the rows of
//! the small ones. All connections share one consistent snapshot. Each fetches every n-th table, a limited
//! number of messages ahead of the writer, which takes the tables in their order: so memory is bounded,
//! and no connection waits for another.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;

use innoscan_catalog::catalog::TableName;
use innoscan_engine::checksum_sink::TableChecksum;
use innoscan_engine::scan::spawn;
use innoscan_engine::{Error, Result};
use innoscan_format::schema::{ServerVersion, TableDef, from_create_table, quoted_name};
use innoscan_format::types::Codec;

use super::rows::{Batches, Rows};
use super::{DumpOptions, TableOutcome};
use crate::sink::{Encoded, TableEncoder};

/// The number of messages that a connection may be ahead of the writer; a small table has three.
const MESSAGES_AHEAD: usize = 24;

/// The size in bytes at which a batch of rows is sent to the writer.
const BATCH_BYTES: u64 = 1 << 20;

/// A connection to a server whose transaction sees the consistent snapshot of the dump.
pub trait TableSession: Send {
    /// The server's version.
    fn version(&self) -> ServerVersion;

    /// A table's `SHOW CREATE TABLE`.
    ///
    /// # Errors
    /// The server reports an error.
    fn create_table(&mut self, name: &TableName) -> Result<String>;

    /// Calls `row` with every row of a table, in the order of its clustered index: the value of each of
    /// `expressions` as text in charset `binary` and time zone +00:00, or `None` for NULL.
    ///
    /// # Errors
    /// The server reports an error, or `row` returns one.
    fn for_each_row(
        &mut self,
        name: &TableName,
        expressions: &[String],
        row: &mut SentRowFn<'_>,
    ) -> Result<()>;

    /// Checks that the connection, and its transaction, still exists.
    ///
    /// # Errors
    /// It does not.
    fn confirm(&mut self) -> Result<()>;
}

/// The function that is called with each row that a server sends.
pub type SentRowFn<'a> = dyn FnMut(&[Option<Vec<u8>>]) -> Result<()> + 'a;

/// A small table that is fetched from a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallTable {
    /// Its name.
    pub name: TableName,
    /// The approximate size of its files in bytes.
    pub size_bytes: u64,
}

/// Small tables, and the connections that fetch them.
#[derive(Default)]
pub struct SmallTables {
    /// The tables.
    pub tables: Vec<SmallTable>,
    /// The connections; at least one where there are tables.
    pub sessions: Vec<Box<dyn TableSession>>,
}

/// A message of a connection to the writer.
enum Message {
    Definition(Box<Definition>),
    Rows(Box<Encoded>, u32),
    End(Option<TableChecksum>),
    /// The table cannot be fetched.
    Failed(Error),
    /// The connection was lost, and its snapshot with it.
    Lost(Error),
}

struct Definition {
    def: TableDef,
    create: String,
}

/// Small tables between the connections that fetch them and the writer.
pub(super) struct Fetching {
    messages: Vec<Receiver<Message>>,
    taken: usize,
}

impl Fetching {
    /// Starts a thread for each connection. The threads end when all tables are fetched, or when this value
    /// is dropped.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        sessions: Vec<Box<dyn TableSession>>,
        tables: &'scope [SmallTable],
        options: &'scope DumpOptions,
    ) -> Result<Fetching> {
        if sessions.is_empty() && !tables.is_empty() {
            return Err(Error::resources("there is no connection that could fetch the tables"));
        }
        let count = sessions.len();
        let mut messages = Vec::new();
        for (nth, session) in sessions.into_iter().enumerate() {
            let (sender, receiver) = sync_channel(MESSAGES_AHEAD);
            messages.push(receiver);
            spawn(scope, format!("fetch-{nth}"), move || {
                let mut connection = Connection { session, options, sender };
                let own = tables.iter().skip(nth).step_by(count);
                // An error means that the writer takes no more messages.
                _ = own.map(|table| connection.fetch(&table.name)).find(|sent| sent.is_err());
            })?;
        }
        Ok(Fetching { messages, taken: 0 })
    }

    /// Passes the next table, in order, to `write`.
    pub fn next(&mut self, write: impl FnOnce(&mut dyn Rows) -> Result<()>) -> Result<Result<()>> {
        let messages = self.messages.get(self.taken % self.messages.len().max(1));
        let messages = messages.ok_or_else(nothing_sent)?;
        self.taken += 1;
        let definition = match messages.recv() {
            Ok(Message::Definition(definition)) => definition,
            Ok(Message::Failed(error)) => return Ok(Err(error)),
            Ok(Message::Lost(error)) => return Err(error),
            Ok(Message::Rows(..) | Message::End(_)) | Err(_) => return Err(nothing_sent()),
        };
        let mut table = FetchedTable { definition: *definition, messages, end: Ending::Pending };
        let written = write(&mut table);
        // The messages that the writer did not take.
        while matches!(table.end, Ending::Pending) {
            table.message()?;
        }
        match table.end {
            Ending::Lost(error) => Err(error),
            _ => Ok(written),
        }
    }
}

fn nothing_sent() -> Error {
    Error::resources("the thread that fetches tables has ended before its time")
}

/// A table that is being fetched.
struct FetchedTable<'m> {
    definition: Definition,
    messages: &'m Receiver<Message>,
    end: Ending,
}

/// The end of a table.
enum Ending {
    /// The table has not ended yet.
    Pending,
    /// All rows were sent; this is their checksum.
    Whole(Option<TableChecksum>),
    Failed(Option<Error>),
    Lost(Error),
}

impl FetchedTable<'_> {
    /// The next rows and their checksum; `None` at the end of the table.
    fn message(&mut self) -> Result<Option<(Encoded, u32)>> {
        self.end = match self.messages.recv().map_err(|_| nothing_sent())? {
            Message::Rows(batch, sum) => return Ok(Some((*batch, sum))),
            Message::End(checksum) => Ending::Whole(checksum),
            Message::Failed(error) => Ending::Failed(Some(error)),
            Message::Lost(error) => Ending::Lost(error),
            Message::Definition(_) => return Err(nothing_sent()),
        };
        Ok(None)
    }
}

impl Rows for FetchedTable<'_> {
    fn def(&self) -> &TableDef {
        &self.definition.def
    }

    fn create_sql(&self) -> Option<&str> {
        Some(&self.definition.create)
    }

    fn give(
        &mut self,
        _: TableEncoder,
        _: &DumpOptions,
        outcome: &mut TableOutcome,
        write: &mut dyn FnMut(&Encoded, u32) -> Result<()>,
    ) -> Result<()> {
        while let Some((batch, sum)) = self.message()? {
            outcome.count(&batch, sum);
            write(&batch, sum)?;
        }
        match &mut self.end {
            Ending::Whole(checksum) => {
                outcome.checksum = *checksum;
                Ok(())
            }
            Ending::Failed(error) => Err(error.take().unwrap_or_else(nothing_sent)),
            Ending::Lost(_) | Ending::Pending => Err(nothing_sent()),
        }
    }
}

/// A connection and its channel to the writer.
struct Connection<'o> {
    session: Box<dyn TableSession>,
    options: &'o DumpOptions,
    sender: SyncSender<Message>,
}

/// The error of a message that cannot be sent: the writer takes no more.
struct ReceiverGone;

impl Connection<'_> {
    fn fetch(&mut self, name: &TableName) -> std::result::Result<(), ReceiverGone> {
        let last = match self.send_table(name) {
            Ok(checksum) => Message::End(checksum),
            Err(error) => match self.session.confirm() {
                Ok(()) => Message::Failed(error),
                Err(_) => Message::Lost(error),
            },
        };
        self.sender.send(last).map_err(|_| ReceiverGone)
    }

    fn send_table(&mut self, name: &TableName) -> Result<Option<TableChecksum>> {
        let Connection { session, options, sender } = self;
        let sent = |message| sender.send(message).map_err(|_| Error::interrupted());
        let create = session.create_table(name)?;
        let mut def = from_create_table(&create, session.version())?;
        def.schema.clone_from(&name.schema);
        def.name.clone_from(&name.table);
        let columns = Received::of(&def)?;
        let mut outcome = TableOutcome::new(&name.schema, &name.table);
        let encoder = options.format.encoder(&def)?;
        let batch_bytes = BATCH_BYTES.min(options.chunk_bytes.unwrap_or(u64::MAX));
        let mut batches = Batches::new(&def, encoder, options, batch_bytes, &mut outcome)?;
        sent(Message::Definition(Box::new(Definition { def, create })))?;
        if !options.rows {
            return Ok(None);
        }
        let mut total = 0_u32;
        let mut deliver = |batch: Encoded, sum: u32| {
            total = total.wrapping_add(sum);
            sent(Message::Rows(Box::new(batch), sum))
        };
        let mut stored = Vec::new();
        let mut places = Vec::new();
        session.for_each_row(name, &columns.expressions, &mut |row| {
            columns.store(row, &mut stored, &mut places)?;
            let values: Vec<Option<&[u8]>> = places
                .iter()
                .map(|place| place.clone().and_then(|place| stored.get(place)))
                .collect();
            batches.row(&values, &mut deliver)
        })?;
        batches.end(&mut deliver)?;
        Ok(outcome.checksum.map(|begun| TableChecksum { sum: total, ..begun }))
    }
}

/// The expressions that fetch the stored columns of a table, and the codecs that convert the values to
/// stored bytes.
struct Received {
    expressions: Vec<String>,
    codecs: Vec<(String, Codec)>,
}

impl Received {
    fn of(def: &TableDef) -> Result<Received> {
        if def.versioned {
            return Err(changed("it has SYSTEM VERSIONING now"));
        }
        let mut received = Received { expressions: Vec::new(), codecs: Vec::new() };
        for column in def.columns.iter().filter(|column| column.is_stored()) {
            let quoted = quoted_name(&column.name);
            received.expressions.push(match column.ty.received_as() {
                Some(received_as) => received_as.expression(&quoted),
                None => return Err(changed("it has a column now that is read from files alone")),
            });
            received.codecs.push((column.name.clone(), Codec::new(&column.ty, def.server)?));
        }
        Ok(received)
    }

    /// Converts a row: appends the stored bytes of its values to `stored`, and the range of each to
    /// `places`.
    fn store(
        &self,
        row: &[Option<Vec<u8>>],
        stored: &mut Vec<u8>,
        places: &mut Vec<Option<std::ops::Range<usize>>>,
    ) -> Result<()> {
        if row.len() != self.codecs.len() {
            let (sent, wanted) = (row.len(), self.codecs.len());
            return Err(changed(&format!("a row has {sent} values, not {wanted}")));
        }
        stored.clear();
        places.clear();
        for (value, (name, codec)) in row.iter().zip(&self.codecs) {
            let start = stored.len();
            let Some(value) = value else {
                places.push(None);
                continue;
            };
            codec.encode_received(value, stored).map_err(|error| error.at_column(name))?;
            places.push(Some(start..stored.len()));
        }
        Ok(())
    }
}

#[cold]
fn changed(how: &str) -> Error {
    Error::refused(
        format!("the table was altered while the dump began: {how}"),
        "begin the dump again",
    )
}
