//! The decode workers: they verify leaves, find the columns of records, and pass rows to the sink.

use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender};
use innoscan_format::locate::{Fields, Located, Row};
use innoscan_format::page::{self, IndexPage, Scratch, StoredAs};
use innoscan_format::record::Record;
use innoscan_format::undo::{SystemColumns, Version};
use innoscan_format::{Error as FormatError, PageNo};

use super::keys::{End, edge};
use super::leaf_sorter::Unpacking;
use super::lob::LobFetcher;
use super::order::Output;
use super::requests::PageRequests;
use super::task::{Item, LeafBytes, SpaceContext, Task};
use super::undo::UndoFetcher;
use super::{
    Damage, LeafId, Lost, OnCorrupt, OpeningTimes, RowOrder, ScanOptions, Shared, StopOnPanic,
};
use crate::condition::RowFilter;
use crate::walk::Sibling;
use crate::{Error, ErrorKind, Result, RowSink};

/// A callback that takes the output so far of a large task when its turn has come, so that batches stay
/// small.
pub(super) type TakePart<'t, B> = dyn FnMut(Output<B>) -> Result<()> + 't;

type Channels<'s, B> = (Receiver<Task>, Sender<Output<B>>, PageRequests<'s>);

/// A decode worker.
pub(super) struct Worker<'s, S: RowSink> {
    decoder: Decoder<'s, S>,
    shared: &'s Shared,
    tasks: Receiver<Task>,
    outputs: Sender<Output<S::Batch>>,
}

/// A decoder of tasks.
pub(super) struct Decoder<'s, S: RowSink> {
    sink: &'s S,
    options: &'s ScanOptions,
    lobs: LobFetcher<'s>,
    undo: UndoFetcher<'s>,
    fields: Fields,
    /// A buffer for a row's key, and for a value that is compared.
    key: Vec<u8>,
    unpacking: Unpacking,
    /// A buffer for an opened leaf, which is taken out while one is decoded.
    scratch: Scratch,
}

impl<'s, S: RowSink> Worker<'s, S> {
    pub fn new(
        sink: &'s S,
        options: &'s ScanOptions,
        shared: &'s Shared,
        (tasks, outputs, requests): Channels<'s, S::Batch>,
    ) -> Worker<'s, S> {
        Worker { decoder: Decoder::new(sink, options, Some(requests)), shared, tasks, outputs }
    }

    /// Works until there are no more tasks.
    pub fn run(self) {
        let Worker { mut decoder, shared, tasks, outputs } = self;
        let _stop = StopOnPanic(shared);
        let mut take_part = |part: Output<S::Batch>| {
            shared.turn.wait_for(part.task, || shared.is_stopped());
            outputs.send(part).map_err(|_| Error::interrupted())
        };
        while let Ok(task) = tasks.recv() {
            if shared.is_stopped() {
                continue;
            }
            let output = decoder.decode(task, &mut take_part);
            shared.wake_driver();
            if outputs.send(output).is_err() {
                shared.stop();
            }
        }
    }
}

impl<'s, S: RowSink> Decoder<'s, S> {
    /// A decoder that requests pages through `requests`, or, where it is `None`, reads them on the caller's thread.
    pub fn new(
        sink: &'s S,
        options: &'s ScanOptions,
        requests: Option<PageRequests<'s>>,
    ) -> Decoder<'s, S> {
        Decoder {
            sink,
            options,
            lobs: LobFetcher::new(requests.clone(), options.rows.lob_bytes_max),
            undo: UndoFetcher::new(requests),
            fields: Fields::default(),
            key: Vec::new(),
            unpacking: Unpacking::default(),
            scratch: Scratch::default(),
        }
    }

    /// The number of pages of off-page columns that were read from memory.
    pub fn lob_pages(&self) -> u64 {
        self.lobs.pages_in_memory()
    }

    /// Decodes a task; parts of a large one are passed to `take_part` on the way.
    pub fn decode(
        &mut self,
        task: Task,
        take_part: &mut TakePart<'_, S::Batch>,
    ) -> Output<S::Batch> {
        let mut output = self.new_output(task.number);
        let page_bytes = task.space.page_context.physical_bytes();
        let mut scratch = std::mem::take(&mut self.scratch);
        let unpacked = |item| Some(self.unpacked(item, page_bytes));
        let mut items: Vec<Option<Item>> = task.items.into_iter().map(unpacked).collect();
        for place in 0..items.len() {
            let listed = output.damage.len();
            let damaged = items[place].take_if(|item| matches!(item, Item::Damaged { .. }));
            let result = match (&items[place], damaged) {
                (Some(Item::Leaf { page_no, page, prev, next }), _) => {
                    output.leaves += 1;
                    let spent = &mut output.opening;
                    let leaf = open_leaf(&task.space, *page_no, page, &mut scratch, spent);
                    self.leaf(&task.space, (*page_no, leaf), (*prev, *next), &mut output, take_part)
                }
                (_, Some(Item::Damaged { page_no, error })) => {
                    self.pass_over(&task.space.path, page_no, Lost::Page, error, &mut output)
                }
                _ => Ok(()),
            };
            if let Err(error) = result {
                output.error = Some(error.in_file(&task.space.path));
                break;
            }
            for damage in output.damage.iter_mut().skip(listed) {
                name_neighbours(&task.space, &items, place, damage);
            }
        }
        self.scratch = scratch;
        if let Err(error) = self.sink.finish(&mut output.batch) {
            output.error.get_or_insert(error);
        }
        output.is_last = true;
        output.end = match items.last() {
            Some(Some(Item::Leaf { page_no, .. })) if self.options.rows.order == RowOrder::Key => {
                Some(LeafId { file: task.space.number, page: *page_no })
            }
            _ => None,
        };
        output
    }

    fn unpacked(&mut self, item: Item, page_bytes: usize) -> Item {
        let Item::Packed { page_no, packed, prev, next } = item else { return item };
        match self.unpacking.unpack(packed, page_bytes) {
            Ok(page) => Item::Leaf { page_no, page: LeafBytes::Unpacked(page), prev, next },
            Err(error) => Item::Damaged { page_no, error },
        }
    }

    fn new_output(&self, task: u64) -> Output<S::Batch> {
        Output {
            task,
            is_last: false,
            end: None,
            batch: self.sink.new_batch(),
            rows: 0,
            leaves: 0,
            opening: OpeningTimes::default(),
            damage: Vec::new(),
            error: None,
        }
    }

    /// Counts damage where it may be skipped, else returns it as an error.
    #[cold]
    fn pass_over(
        &self,
        path: &Path,
        page: PageNo,
        lost: Lost,
        error: Error,
        output: &mut Output<S::Batch>,
    ) -> Result<()> {
        let may_skip = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Read);
        if self.options.rows.on_corrupt == OnCorrupt::Fail || !may_skip {
            return Err(error);
        }
        output.damage.push(Damage {
            path: path.to_owned(),
            page,
            lost,
            after_key: None,
            before_key: None,
            error: error.to_string(),
        });
        Ok(())
    }

    fn leaf(
        &mut self,
        space: &SpaceContext,
        (page_no, leaf): (PageNo, innoscan_format::Result<IndexPage<'_>>),
        siblings: (Sibling, Sibling),
        output: &mut Output<S::Batch>,
        take_part: &mut TakePart<'_, S::Batch>,
    ) -> Result<()> {
        let leaf = match leaf {
            Ok(leaf) => leaf,
            Err(error) => {
                return self.pass_over(&space.path, page_no, Lost::Page, error.into(), output);
            }
        };
        if space.is_definition_given
            && let Err(error) = space.layout.check_fit(&leaf, &mut self.fields)
        {
            let lost = Lost::RowsOfPage(u64::from(leaf.n_recs()));
            return self.pass_over(&space.path, page_no, lost, error.into(), output);
        }
        if let Err(error) = check_place(&leaf, space, siblings) {
            let error = leaf.page().locate_error(error).into();
            self.pass_over(&space.path, page_no, Lost::Nothing, error, output)?;
        }
        self.rows(space, &leaf, output, take_part)
    }

    fn rows(
        &mut self,
        space: &SpaceContext,
        leaf: &IndexPage<'_>,
        output: &mut Output<S::Batch>,
        take_part: &mut TakePart<'_, S::Batch>,
    ) -> Result<()> {
        let page_no = leaf.page_no();
        let mut cells = Vec::with_capacity(space.layout.n_columns());
        let mut fields = std::mem::take(&mut self.fields);
        let has_unfinished = space.versions.is_some();
        let mut left = u64::from(leaf.n_recs());
        for record in leaf.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let lost = Lost::RowsOfPage(left);
                    self.pass_over(&space.path, page_no, lost, error.into(), output)?;
                    break;
                }
            };
            left = left.saturating_sub(1);
            let decoded = if has_unfinished {
                self.committed_row(space, record, &mut fields, &mut cells, &mut output.batch)
            } else if record.is_row() {
                self.row(space, &record, &mut fields, &mut cells, &mut output.batch)
            } else {
                continue;
            };
            match decoded {
                Ok(is_wanted) => output.rows += u64::from(is_wanted),
                Err(error) => {
                    let error = located(error, leaf, record);
                    self.pass_over(&space.path, page_no, Lost::Row, error, output)?;
                }
            }
            if self.sink.is_full(&output.batch) {
                self.hand_over_part(output, take_part)?;
            }
        }
        self.fields = fields;
        Ok(())
    }

    /// Passes the committed row of a record to the sink; `false` if there is none, or the filter excludes it.
    #[inline(never)]
    fn committed_row<'d>(
        &mut self,
        space: &'d SpaceContext,
        record: Record<'d>,
        fields: &mut Fields,
        cells: &mut Vec<Option<&'d [u8]>>,
        batch: &mut S::Batch,
    ) -> Result<bool> {
        let Some(versions) = space.versions.as_ref().filter(|_| !record.is_metadata()) else {
            return Ok(false);
        };
        let system = space.layout.system_columns(&record)?;
        if versions.is_unfinished(&system) {
            return self.row_before(space, &record, system, batch);
        }
        match record.is_delete_marked() {
            true => Ok(false),
            false => self.row(space, &record, fields, cells, batch),
        }
    }

    /// Passes the row that a record was before unfinished transactions to the sink.
    #[cold]
    fn row_before(
        &mut self,
        space: &SpaceContext,
        record: &Record<'_>,
        system: SystemColumns,
        batch: &mut S::Batch,
    ) -> Result<bool> {
        let Some(versions) = &space.versions else { return Ok(false) };
        let version = self.undo.version(space, versions, record, system, &mut self.key)?;
        let Some(version) = version else { return Ok(false) };
        let row = version.row(&space.layout);
        if let Some(filter) = &space.filter
            && !self.is_wanted(space, filter, &row, Some(&version))?
        {
            return Ok(false);
        }
        self.row_with_made_values(space, row, Some(&version), batch).map(|()| true)
    }

    /// Passes a row to the sink; `false` if the filter excludes it. It is called at two places, and for each row.
    #[inline(always)]
    fn row<'d>(
        &mut self,
        space: &'d SpaceContext,
        record: &Record<'d>,
        fields: &mut Fields,
        cells: &mut Vec<Option<&'d [u8]>>,
        batch: &mut S::Batch,
    ) -> Result<bool> {
        let row = space.layout.locate(record, fields)?;
        if let Some(wanted) = &space.wanted
            && !wanted.have(record, &row, &mut self.key)?
        {
            return Ok(false);
        }
        if let Some(filter) = &space.filter
            && !self.is_wanted(space, filter, &row, None)?
        {
            return Ok(false);
        }
        if space.layout.has_compressed()
            || !row.write_values(cells, |place| self.sink.reads_column(place))?
        {
            return self.row_with_made_values(space, row, None, batch).map(|()| true);
        }
        self.sink.row(cells, batch)?;
        Ok(true)
    }

    /// Whether a row satisfies a condition; off-page values are fetched when they are compared. `older`: the version
    /// that the row is of.
    fn is_wanted(
        &mut self,
        space: &SpaceContext,
        filter: &RowFilter,
        row: &Row<'_, '_>,
        older: Option<&Version>,
    ) -> Result<bool> {
        // The buffer is lent: a value needs the decoder too.
        let mut room = std::mem::take(&mut self.key);
        let has =
            filter.has(row, &mut room, |place, stored| self.value(space, place, stored, older));
        self.key = room;
        has
    }

    /// Passes on a row with off-page or compressed columns; their values live as long as the call.
    #[cold]
    fn row_with_made_values(
        &self,
        space: &SpaceContext,
        row: Row<'_, '_>,
        older: Option<&Version>,
        batch: &mut S::Batch,
    ) -> Result<()> {
        let mut values = Vec::with_capacity(row.len());
        for place in 0..row.len() {
            values.push(match self.sink.reads_column(place) {
                true => self.value(space, place, row.get(place)?, older)?,
                false => None,
            });
        }
        let cells: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
        self.sink.row(&cells, batch)
    }

    /// The value of a column; `None` for NULL.
    fn value<'d>(
        &self,
        space: &SpaceContext,
        place: usize,
        stored: Located<'d>,
        older: Option<&Version>,
    ) -> Result<Option<Cow<'d, [u8]>>> {
        let at_column = |error: Error| {
            error.map_format(|error| error.at_column(space.layout.column_name(place)))
        };
        let stored = match stored {
            Located::Null => return Ok(None),
            Located::Inline(bytes) | Located::Default(bytes) => Cow::Borrowed(bytes),
            Located::External { prefix, lob } => {
                let mut bytes = prefix.to_vec();
                self.lobs.fetch(space, lob, &mut bytes).map_err(at_column)?;
                if let Some(version) = older {
                    let restored = version.restore_lob(place, lob.page_no, &mut bytes);
                    restored.map_err(|error| at_column(error.into()))?;
                }
                Cow::Owned(bytes)
            }
        };
        if !space.layout.is_compressed(place) {
            return Ok(Some(stored));
        }
        let value = self.lobs.decompress(&stored).map_err(at_column)?;
        Ok(Some(Cow::Owned(value)))
    }

    #[cold]
    fn hand_over_part(
        &self,
        output: &mut Output<S::Batch>,
        take_part: &mut TakePart<'_, S::Batch>,
    ) -> Result<()> {
        let mut part = std::mem::replace(output, self.new_output(output.task));
        self.sink.finish(&mut part.batch)?;
        take_part(part)
    }
}

/// Adds a record's place to an error, unless it is one of another file: of undo logs.
#[cold]
fn located(error: Error, leaf: &IndexPage<'_>, record: Record<'_>) -> Error {
    match error.file() {
        Some(_) => error,
        None => error.map_format(|error| leaf.page().locate_error(record.locate_error(error))),
    }
}

/// Opens a leaf of the index from its bytes; adds to `spent` the time for one that is stored encrypted or compressed.
fn open_leaf<'a>(
    space: &SpaceContext,
    page_no: PageNo,
    bytes: &'a [u8],
    scratch: &'a mut Scratch,
    spent: &mut OpeningTimes,
) -> innoscan_format::Result<IndexPage<'a>> {
    let begun = Instant::now();
    let page = page::open(bytes, &space.page_context, page_no, scratch)?;
    match page.stored_as() {
        StoredAs::Plain => {}
        StoredAs::Encrypted => spent.decrypt += begun.elapsed(),
        StoredAs::Compressed => spent.decompress += begun.elapsed(),
    }
    let leaf = IndexPage::parse(page)?;
    leaf.require(space.index, 0)?;
    Ok(leaf)
}

/// Adds the nearest keys of the same task's leaves to a damaged page's report.
#[cold]
fn name_neighbours(
    space: &SpaceContext,
    items: &[Option<Item>],
    place: usize,
    damage: &mut Damage,
) {
    if damage.lost == Lost::Nothing {
        return;
    }
    let key_of = |item: &Option<Item>, end: End| match item {
        Some(Item::Leaf { page_no, page, .. }) => edge(space, *page_no, page, end),
        _ => None,
    };
    let (before, after) = items.split_at(place);
    damage.after_key = before.iter().rev().find_map(|item| key_of(item, End::Last));
    damage.before_key = after.iter().skip(1).find_map(|item| key_of(item, End::First));
}

/// Compares a leaf's links with its neighbours in key order, and its LSN with the server's newest.
fn check_place(
    leaf: &IndexPage<'_>,
    space: &SpaceContext,
    (prev, next): (Sibling, Sibling),
) -> innoscan_format::Result<()> {
    // Unwanted leaves may lie between those with wanted keys.
    if space.wanted.is_none() {
        prev.require(leaf.prev(), "previous")?;
        next.require(leaf.next(), "next")?;
    }
    match space.newest_lsn {
        Some(newest) if leaf.page().lsn() > newest => Err(FormatError::corrupt(format!(
            "the page's LSN {} is newer than the server's last, {newest}: the file was copied \
             while the server wrote it, or is not of this directory",
            leaf.page().lsn()
        ))),
        _ => Ok(()),
    }
}
