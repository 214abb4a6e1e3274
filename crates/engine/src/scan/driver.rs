//! The scan thread: one loop that feeds branch pages to the walk, passes the policy's runs to the
//! engine, leaves to the workers and LOB pages to those who requested them, and waits when none of
//! these can proceed.

mod branches;
mod current;
mod in_flight;
mod learnt;
mod plan;
mod run_length;
mod slow_start;
mod sorting;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam_channel::Sender;
use innoscan_format::PageNo;
use innoscan_format::page::{Scratch, unverified_links};
use innoscan_io::{self as io, Kind, Wait};

use self::current::{Current, Leaves};
use self::in_flight::InFlight;
use self::learnt::Learnt;
use self::run_length::RunLength;
use self::slow_start::SlowStart;
use super::plan::Planner;
use super::pooled_undo::PooledUndo;
use super::requests::PageService;
use super::task::{Item, LeafBytes, PageSource, SpaceContext, Task};
use super::tree::{Tree, require_met};

use super::{Budget, ScanOptions, ScanOutcome, Shared};
use crate::ahead::{Links, PolicyTraits, ReadAheadPolicy};
use crate::io_options::IoOptions;
use crate::pool::{FileSlot, Lookup, PageKey, PageRef, Pool, Presence, Request, Retention};
use crate::space::Space;
use crate::stats::PoolStats;
use crate::walk::Step;
use crate::{Result, Table};

/// The counts of a scan thread at its end.
#[derive(Debug, Default)]
pub(super) struct DriverOutcome {
    /// The policy that read ahead, of the last tablespace.
    pub policy: ReadAheadPolicy,
    pub branch_pages: u64,
    pub lob_pages: u64,
    pub spilled_bytes: u64,
    pub reads: io::Counters,
    pub pool: PoolStats,
}

impl DriverOutcome {
    /// Adds the scan thread's counts to the outcome.
    pub fn add_to(self, outcome: &mut ScanOutcome) {
        outcome.branch_pages = self.branch_pages;
        outcome.read_ahead = self.policy;
        outcome.lob_pages = self.lob_pages;
        outcome.spilled_bytes = self.spilled_bytes;
        outcome.requests = self.reads.requests();
        outcome.read_bytes = self.reads.read_bytes();
        outcome.reads = self.reads;
        outcome.pool = self.pool;
    }
}

/// The scan thread's state.
pub(super) struct Driver<'s> {
    table: &'s Table,
    options: &'s ScanOptions,
    budget: &'s Budget,
    shared: &'s Shared,
    traits: PolicyTraits,
    planner: Planner<'s>,
    pool: Pool,
    undo: Arc<[PooledUndo]>,
    in_flight: InFlight,
    run_length: RunLength,
    learnt: Learnt,
    slow_start: SlowStart,
    tasks: Sender<Task>,
    requests: PageService,
    /// A buffer for an opened branch page.
    scratch: Scratch,
    /// Tasks sent to workers.
    handed: u64,
    /// The items of the next task, which is not full yet.
    building: Vec<Item>,
    /// Leaves of the tablespaces that are finished.
    past_leaves: u64,
    driven: DriverOutcome,
    is_announced: bool,
}

impl<'s> Driver<'s> {
    pub fn new(
        table: &'s Table,
        options: &'s ScanOptions,
        budget: &'s Budget,
        shared: &'s Shared,
        (pool, undo): (Pool, Arc<[PooledUndo]>),
        (tasks, requests): (Sender<Task>, PageService),
    ) -> Driver<'s> {
        let planner = Planner::new(options);
        Driver {
            table,
            options,
            budget,
            shared,
            traits: planner.traits(),
            planner,
            in_flight: InFlight::new(
                options.io.depth,
                usize::try_from(options.io.request_bytes_max).unwrap_or(usize::MAX),
            ),
            run_length: RunLength::new(IoOptions::ENOUGH_BYTES, options.io.run_bytes_max()),
            learnt: Learnt::new(options),
            slow_start: SlowStart::new(planner.starts_slowly(), budget.task_leaves),
            pool,
            undo,
            tasks,
            requests,
            scratch: Scratch::default(),
            handed: 0,
            building: Vec::new(),
            past_leaves: 0,
            driven: DriverOutcome { policy: planner.first().policy, ..DriverOutcome::default() },
            is_announced: false,
        }
    }

    /// Scans all tablespaces, and stays until the workers are finished.
    pub fn run(mut self, spaces: Vec<(&Space, FileSlot)>) -> Result<DriverOutcome> {
        let first = self.options.rows.after.map_or(0, |after| after.file);
        for (number, &(space, slot)) in spaces.iter().enumerate().skip(first) {
            let is_last = number + 1 == spaces.len();
            self.scan_space(space, slot, number, is_last)
                .map_err(|error| error.in_file(space.file().path()))?;
        }
        while self.delivered() < self.handed && !self.shared.is_stopped() {
            let progress = self.serve() | (self.pool.poll(Wait::No)? > 0);
            self.wait_unless(progress)?;
        }
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.driven.reads = self.pool.counters();
        self.driven.pool = self.pool.stats();
        self.driven.lob_pages = self.requests.demand_pages;
        Ok(self.driven)
    }

    /// Serves the page requests of workers and foreground readers; whether there was any progress.
    fn serve(&mut self) -> bool {
        self.requests.serve(&mut self.pool, self.budget.reserve)
    }

    fn scan_space(
        &mut self,
        space: &Space,
        slot: FileSlot,
        number: usize,
        is_last: bool,
    ) -> Result<()> {
        let Some(mut current) = self.open_tree(space, slot, number)? else { return Ok(()) };
        while !current.is_done() && !self.shared.is_stopped() {
            let mut progress = self.serve();
            progress |= self.feed_walk(&mut current, is_last)?;
            progress |= self.read_branches(&mut current);
            progress |= self.sort_leaves(&mut current)?;
            progress |= self.assemble(&mut current)?;
            progress |= self.read_ahead(&mut current);
            self.reconsider(&mut current)?;
            progress |= self.pool.poll(Wait::No)? > 0;
            if !progress && self.is_stuck() {
                self.unstick(&current)?;
            }
            current.has_waited |= !progress && self.is_announced && current.is_due;
            self.wait_unless(progress)?;
        }
        self.hand_over(&current.context);
        if !self.shared.is_stopped() {
            require_met(&current.walk)?;
        }
        match &current.leaves {
            Leaves::Sorted(_, sort) => self.driven.spilled_bytes += sort.written_bytes(),
            _ => self.remember_device(&current),
        }
        self.past_leaves += current.walk.found_leaves();
        self.driven.branch_pages += current.walk.branch_pages();
        Ok(())
    }

    fn delivered(&self) -> u64 {
        self.shared.delivered.load(Ordering::SeqCst)
    }

    /// Waits for the engine or a wake-up. The first call only announces the wait: events before
    /// the announcement are seen by the next round, and events after it wake the thread.
    fn wait_unless(&mut self, progress: bool) -> Result<()> {
        if progress {
            self.is_announced = false;
            return Ok(());
        }
        if !self.is_announced {
            self.is_announced = true;
            self.shared.is_driver_waiting.store(true, Ordering::SeqCst);
            std::sync::atomic::fence(Ordering::SeqCst);
            return Ok(());
        }
        if !self.shared.is_stopped() {
            self.pool.poll(Wait::UntilSomething)?;
        }
        self.is_announced = false;
        self.shared.read_bytes.store(self.pool.counters().read_bytes(), Ordering::Relaxed);
        Ok(())
    }

    /// Reads the root, and the metadata of instant `ALTER TABLE` on the leftmost leaf; `None` when the
    /// scan was stopped meanwhile.
    fn open_tree(
        &mut self,
        space: &Space,
        slot: FileSlot,
        number: usize,
    ) -> Result<Option<Current>> {
        let waited_before = self.waited();
        self.learnt.begin(space.file(), self.reading());
        self.begin_reads();
        let (table, options) = (self.table, self.options);
        let source = PageSource::Pool(slot, Arc::clone(&self.undo));
        let opened = Tree::open(table, options, space, (number, source), |page| {
            Ok(self.fetch(slot, page)?.map(LeafBytes::Frame))
        })?;
        let Some(Tree { context, walk, root }) = opened else { return Ok(None) };
        if let Some(branch) = root {
            self.pool.evict(PageKey { file: slot, page: branch });
        }
        let sizes = self.sizes(context.format());
        let policy = self.planner.first().policy.begin(&sizes);
        let context = Arc::new(context);
        Ok(Some(Current {
            context,
            slot,
            walk,
            leaves: match self.planner.is_auto() || self.traits.in_file_order {
                true => Leaves::Awaited,
                false => Leaves::OfWalk,
            },
            policy,
            waited_before,
            is_plan_due: false,
            is_cost_set: false,
            is_due: false,
            has_waited: false,
            run: Vec::new(),
            pages: Vec::new(),
        }))
    }

    /// Waits for a page that is needed before the walk can start, and meanwhile serves the workers of
    /// the previous tablespace.
    fn fetch(&mut self, file: FileSlot, page: PageNo) -> Result<Option<PageRef>> {
        let key = PageKey { file, page };
        let request = Request {
            kind: Kind::Demand,
            retention: Retention::Keep,
            spare_frames: self.budget.threads,
        };
        while !self.shared.is_stopped() {
            let mut progress = self.serve();
            match self.pool.request(key, request) {
                Ok(page) => return page.map(Some),
                Err(Presence::Started) => progress = true,
                Err(Presence::NoRoom) if self.is_stuck() => progress |= self.pool.evict_any(),
                Err(_) => {}
            }
            progress |= self.pool.poll(Wait::No)? > 0;
            self.wait_unless(progress)?;
        }
        Ok(None)
    }

    /// Takes a page out of the pool for its user, and reports the access to the policy.
    fn hand_out(&mut self, current: &mut Current, page: PageNo) -> Option<Result<PageRef>> {
        let key = PageKey { file: current.slot, page };
        if !self.traits.keeps_used {
            return self.pool.take(key);
        }
        let is_first = self.pool.status(key)?.first_access.is_none();
        let handed = self.pool.take(key)?;
        if let (true, Ok(bytes)) = (is_first, &handed) {
            let (prev, next) = unverified_links(bytes);
            let view = current.view(&self.pool);
            current.policy.on_access(page, Links { prev, next }, &view);
            // A server also reads ahead before it requests the next page.
            self.read_ahead(current);
        }
        Some(handed)
    }

    /// Whether a page that is needed next may be read: one frame per worker must stay free.
    fn may_read_on_demand(&mut self) -> bool {
        self.pool.reserve_frames(self.budget.threads + 1);
        self.pool.free_frames() > self.budget.threads && self.pool.engine_room() > 0
    }

    /// Puts the leaves that are present into tasks, as far as key order allows.
    fn assemble(&mut self, current: &mut Current) -> Result<bool> {
        let mut progress = false;
        while self.handed - self.delivered() < self.budget.tasks {
            if self.building.len() >= self.budget.task_leaves {
                self.hand_over(&current.context);
            }
            match self.next_item(current)? {
                Next::Item(item) => self.building.push(item),
                Next::Requested => {
                    progress = true;
                    break;
                }
                Next::NotYet => break,
            }
            progress = true;
        }
        let is_short_of_frames = self.pool.free_frames() <= self.budget.reserve;
        if !self.building.is_empty()
            && is_short_of_frames
            && self.handed - self.delivered() < self.budget.tasks
        {
            self.hand_over(&current.context);
            progress = true;
        }
        Ok(progress)
    }

    fn next_item(&mut self, current: &mut Current) -> Result<Next> {
        if matches!(current.leaves, Leaves::Sorted(..)) {
            return Driver::next_sorted(current);
        }
        Ok(self.next_of_pool(current))
    }

    /// The next leaf, or the damage in its place, where leaves are delivered in the order they are read.
    fn next_of_pool(&mut self, current: &mut Current) -> Next {
        let Some(leaf) = current.peek() else {
            return match current.next_step() {
                Some(Step::Damaged { page, error }) => {
                    Next::Item(Item::Damaged { page_no: page, error })
                }
                _ => Next::NotYet,
            };
        };
        if !self.slow_start.has_next() {
            return Next::NotYet;
        }
        match self.presence(current, leaf) {
            Presence::Here => {}
            Presence::Started => return Next::Requested,
            Presence::Pending | Presence::NoRoom => return Next::NotYet,
        }
        // Checked before the leaf is taken: the leaf after it may not be known yet.
        let Some(Step::Leaf { page, prev, next }) = current.next_step() else {
            return Next::NotYet;
        };
        current.policy.on_consumed(page, std::mem::take(&mut current.has_waited));
        self.slow_start.note_used();
        current.is_due = false;
        match self.hand_out(current, leaf) {
            Some(Ok(bytes)) => {
                let bytes = LeafBytes::Frame(bytes);
                Next::Item(Item::Leaf { page_no: page, page: bytes, prev, next })
            }
            Some(Err(error)) => Next::Item(Item::Damaged { page_no: page, error }),
            None => Next::NotYet,
        }
    }

    /// Whether the next leaf is present; requests it if the policy will not read it.
    fn presence(&mut self, current: &mut Current, leaf: PageNo) -> Presence {
        let key = PageKey { file: current.slot, page: leaf };
        let is_absent = matches!(self.pool.lookup(key), Lookup::Absent);
        if is_absent && current.policy.will_read(leaf) {
            current.is_due = true;
            return Presence::Pending;
        }
        let presence = self.pool.ensure(key, Kind::Demand, self.budget.threads);
        current.is_due |= presence != Presence::Here;
        if presence == Presence::Started {
            let view = current.view(&self.pool);
            current.policy.on_miss(leaf, &view);
            self.read_ahead(current);
        }
        presence
    }

    fn hand_over(&mut self, context: &Arc<SpaceContext>) {
        if self.building.is_empty() {
            return;
        }
        let items =
            std::mem::replace(&mut self.building, Vec::with_capacity(self.budget.task_leaves));
        let task = Task { number: self.handed, space: Arc::clone(context), items };
        self.handed += 1;
        // Workers are gone only when the scan was stopped, and the thread that stopped it has the error.
        if self.tasks.send(task).is_err() {
            self.shared.stop();
        }
    }

    /// Passes the policy's runs to the engine.
    fn read_ahead(&mut self, current: &mut Current) -> bool {
        let mut progress = false;
        // Each foreground reader waits for one page at a time.
        let others = self.options.hooks.foreground.as_ref().map_or(0, |others| others.threads());
        let others = others.min(self.options.io.depth / 2);
        self.in_flight.observe(&self.pool.counters().ahead, || self.pool.progress());
        if self.in_flight.is_settled() {
            self.run_length.observe(&self.pool.progress());
        }
        while self.may_start(others) {
            if current.run.is_empty() {
                let most = self.frames_for_a_run().min(self.run_pages());
                current.policy.next_run(u32::try_from(most).unwrap_or(u32::MAX), &mut current.run);
            }
            let Some(first) = current.run.first() else { return progress };
            let span = current.run.last().map_or(0, |last| (last.0 - first.0) as usize + 1);
            self.pool.reserve_frames(self.budget.reserve + span);
            let spare = self.spare_frames();
            let is_fitting = |page: &&PageNo| ((page.0 - first.0) as usize) < spare;
            let fitting = current.run.iter().take_while(is_fitting).count();
            let dealt = self.pool.read(current.slot, &current.run[..fitting], Kind::Ahead);
            current.run.drain(..dealt);
            if dealt == 0 {
                return progress;
            }
            progress = true;
        }
        progress
    }

    /// Whether another read may start, besides those that `others` may start.
    fn may_start(&mut self, others: usize) -> bool {
        if self.pool.engine_room() <= others {
            self.in_flight.note_full();
            return false;
        }
        self.in_flight.admits(self.pool.pending_reads(), self.pool.pending_bytes())
    }

    /// The most pages of one read.
    fn run_pages(&self) -> usize {
        (self.run_length.limit_bytes() as usize / self.pool.page_bytes()).max(1)
    }

    /// Frames that read-ahead may use now.
    fn spare_frames(&self) -> usize {
        self.pool.free_frames().saturating_sub(self.budget.reserve)
    }

    /// The most pages that a run may have; 0 when it must wait.
    fn frames_for_a_run(&mut self) -> usize {
        if self.traits.evicts_unused {
            return self.pool.frames() - self.budget.reserve;
        }
        // In a shared pool, pages that others have used are evicted.
        self.pool.reserve_frames(self.budget.reserve + self.run_pages());
        self.spare_frames()
    }

    /// Whether no read is in flight and no worker is active.
    fn is_stuck(&self) -> bool {
        !self.pool.is_reading()
            && self.building.is_empty()
            && self.requests.is_idle()
            && self.delivered() == self.handed
    }

    /// Reads the needed page when all frames hold other pages read ahead, evicting one of them if
    /// necessary.
    fn unstick(&mut self, current: &Current) -> Result<()> {
        let file = current.slot;
        let absent = |page: &PageNo| {
            matches!(self.pool.lookup(PageKey { file, page: *page }), Lookup::Absent)
        };
        let needed = current.peek().into_iter().chain(current.walk.fronts()).find(absent);
        let Some(page) = needed else { return Ok(()) };
        while !self.may_read_on_demand() && self.pool.evict_any() {}
        self.pool.read(file, &[page], Kind::Demand);
        Ok(())
    }
}

/// The state of the next place in the rows' order.
enum Next {
    Item(Item),
    /// The page was requested.
    Requested,
    NotYet,
}
