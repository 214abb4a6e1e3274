//! Point lookups during a scan: the pages that a lookup by primary key reads, from the root to the
//! leaf, where some keys are looked up far more often than others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use innoscan_engine::scan::foreground::{Foreground, Pages};
use innoscan_engine::scan::{ScanOptions, open_spaces};
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::{Error, ErrorKind, Result, Table};
use innoscan_format::layout::Layout;
use innoscan_format::page::{self, IndexPage, Scratch};
use innoscan_format::{PageNo, tree};
use innoscan_io::engine::memory::splitmix64;

/// The kind and number of lookups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookupOptions {
    /// The number of lookup threads.
    pub threads: usize,
    /// Lookups per second, of all threads together; `None`: each starts when the one before it is
    /// finished.
    pub rate: Option<f64>,
    /// The skew: the key of rank r is looked up r^-s as often as the first; 0: all equally often.
    pub zipf: f64,
}

/// The lookups of a table; see the module's text.
pub struct Lookups {
    options: LookupOptions,
    trees: Vec<Tree>,
    /// Threads started so far.
    started: AtomicU64,
    /// The time of each lookup, in microseconds.
    latencies_us: Mutex<Vec<u32>>,
    error: Mutex<Option<Error>>,
}

struct Tree {
    root: PageNo,
    layout: Layout,
}

/// The latencies of lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latencies {
    /// The number of lookups.
    pub lookups: u64,
    /// The mean time.
    pub mean: Duration,
    /// The time that half of the lookups did not exceed.
    pub p50: Duration,
    /// The time that 99 of 100 lookups did not exceed.
    pub p99: Duration,
    /// The longest time.
    pub most: Duration,
}

/// The number of distinct keys.
const KEYS: u64 = 1 << 32;

impl Lookups {
    /// The lookups of a table, whose root pages are read now.
    pub fn new(table: &Table, scan: &ScanOptions, options: LookupOptions) -> Result<Lookups> {
        let mut trees = Vec::new();
        for (space, file) in open_spaces(table, scan)?.into_iter().zip(&table.files) {
            let root = file.clustered_root.unwrap_or(space.first_root());
            let layout = SpaceReader::new(space)?.clustered(&table.def_of(file), root)?.layout;
            trees.push(Tree { root, layout });
        }
        Ok(Lookups {
            options,
            trees,
            started: AtomicU64::new(0),
            latencies_us: Mutex::new(Vec::new()),
            error: Mutex::new(None),
        })
    }

    /// The latencies since the last call.
    ///
    /// # Errors
    /// A page could not be read, which ended the lookups.
    pub fn take(&self) -> Result<Latencies> {
        if let Some(error) = lock(&self.error).take() {
            return Err(error);
        }
        let mut all = std::mem::take(&mut *lock(&self.latencies_us));
        all.sort_unstable();
        let Some(last) = all.last() else { return Ok(Latencies::default()) };
        let at = |share: f64| all[((all.len() as f64 * share) as usize).min(all.len() - 1)];
        let micros = |us: u32| Duration::from_micros(u64::from(us));
        let sum_us: u64 = all.iter().map(|us| u64::from(*us)).sum();
        Ok(Latencies {
            lookups: all.len() as u64,
            mean: Duration::from_micros(sum_us / all.len() as u64),
            p50: micros(at(0.5)),
            p99: micros(at(0.99)),
            most: micros(*last),
        })
    }

    /// Looks up keys until the scan is over.
    fn look_up(&self, pages: &Pages<'_>, latencies_us: &mut Vec<u32>) -> Result<()> {
        let mut chance = Chance(self.started.fetch_add(1, Ordering::Relaxed));
        let every = self
            .options
            .rate
            .map(|rate| Duration::from_secs_f64(self.options.threads as f64 / rate.max(1e-3)));
        let mut begins = Instant::now();
        let mut children = Vec::new();
        while !pages.is_over() {
            match every {
                // Measured from the scheduled start: a late lookup makes others wait.
                Some(every) => {
                    begins += every;
                    std::thread::sleep(begins.saturating_duration_since(Instant::now()));
                }
                None => begins = Instant::now(),
            }
            let rank = rank(chance.next_share(), self.options.zipf);
            self.descend(pages, rank, &mut children)?;
            let us = begins.elapsed().as_micros();
            latencies_us.push(u32::try_from(us).unwrap_or(u32::MAX));
        }
        Ok(())
    }

    /// Descends from a root to the leaf of the key of this rank. The leaf's place is independent of
    /// the rank, so the frequent keys are spread over the tree.
    fn descend(&self, pages: &Pages<'_>, rank: u64, children: &mut Vec<PageNo>) -> Result<()> {
        let mut place = Chance(rank);
        let at = (place.next_share() * self.trees.len() as f64) as usize;
        let (Some(tree), Some(space)) = (self.trees.get(at), pages.spaces().get(at)) else {
            return Ok(());
        };
        let in_file = |error: Error| error.in_file(space.file().path());
        let mut share = place.next_share();
        let (mut page_no, mut above) = (tree.root, None);
        let mut scratch = Scratch::default();
        loop {
            let bytes = pages.get(at, page_no)?;
            let opened = page::open(&bytes, space.page_context(), page_no, &mut scratch);
            let parsed = opened.and_then(IndexPage::parse);
            let page = parsed.map_err(|error| in_file(error.into()))?;
            if page.is_leaf() {
                return Ok(());
            }
            if above.is_some_and(|above| page.level() >= above) {
                let what = "a page is no lower in its tree than the page above it";
                let error = page.page().locate_error(innoscan_format::Error::corrupt(what));
                return Err(in_file(error.into()));
            }
            above = Some(page.level());
            children.clear();
            tree::children(&page, &tree.layout, children).map_err(|error| in_file(error.into()))?;
            let at = share * children.len() as f64;
            let Some(child) = children.get(at as usize) else { return Ok(()) };
            (page_no, share) = (*child, at.fract());
        }
    }
}

impl Foreground for Lookups {
    fn threads(&self) -> usize {
        self.options.threads
    }

    fn run(&self, pages: &Pages<'_>) {
        let mut latencies_us = Vec::new();
        let ended = self.look_up(pages, &mut latencies_us);
        lock(&self.latencies_us).append(&mut latencies_us);
        if let Err(error) = ended
            && error.kind() != ErrorKind::Interrupted
        {
            lock(&self.error).get_or_insert(error);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rank of a key, from 1, by a share of 0 to 1: drawn from the density x^-s, whose integral
/// can be inverted.
fn rank(share: f64, zipf: f64) -> u64 {
    let keys = KEYS as f64;
    let x = if (zipf - 1.0).abs() < 1e-6 {
        keys.powf(share)
    } else {
        let power = 1.0 - zipf;
        (1.0 + share * (keys.powf(power) - 1.0)).powf(1.0 / power)
    };
    x as u64
}

/// Pseudo-random numbers, the same each time.
struct Chance(u64);

impl Chance {
    /// The next share from 0 to 1, without 1.
    fn next_share(&mut self) -> f64 {
        (splitmix64(&mut self.0) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use innoscan_engine::checksum_sink::Checksum;
    use innoscan_engine::scan::ReadAheadPolicy;
    use innoscan_engine::scan::scan;
    use innoscan_engine::testing::{MYSQL, POLICIES, small, table};
    use innoscan_testkit::fixture::Fixture;

    fn rows(table: &Table, options: &ScanOptions) -> u64 {
        scan(table, options, &Checksum::count_only(), |_| Ok(())).unwrap().rows
    }

    #[test]
    fn some_keys_are_wanted_more_often_than_others() {
        let mut chance = Chance(1);
        let ranks = |zipf: f64, chance: &mut Chance| -> Vec<u64> {
            (0..10_000).map(|_| rank(chance.next_share(), zipf)).collect()
        };
        let share_of_first = |ranks: &[u64], most: u64| {
            ranks.iter().filter(|rank| **rank <= most).count() as f64 / ranks.len() as f64
        };
        let even = share_of_first(&ranks(0.0, &mut chance), KEYS / 2);
        assert!((even - 0.5).abs() < 0.03, "{even}");
        // Of 2^32 keys with s = 1 half of the wishes are for the first 2^16.
        let uneven = share_of_first(&ranks(1.0, &mut chance), 1 << 16);
        assert!((uneven - 0.5).abs() < 0.03, "{uneven}");
        let steep = share_of_first(&ranks(1.5, &mut chance), 100);
        assert!(steep > 0.85, "{steep}");
    }

    #[test]
    fn scans_and_lookups_on_one_pool_get_their_pages() {
        let fixture = Fixture::unpack("read_ahead/grown");
        let table = table(&fixture.create_sql, MYSQL, &fixture.file);
        for read_ahead in POLICIES {
            for rate in [None, Some(20_000.0)] {
                // Fewer frames than the table has leaves.
                let scan = small(60, 2).with(|scan| {
                    scan.plan.policy = Some(read_ahead);
                });
                let options = LookupOptions { threads: 3, rate, zipf: 0.9 };
                let lookups = Arc::new(Lookups::new(&table, &scan, options).unwrap());
                let beside = scan.clone().with(|scan| {
                    scan.hooks.foreground = Some(lookups.clone());
                });
                assert_eq!(rows(&table, &beside), rows(&table, &scan));
                lookups.take().unwrap();
            }
        }
        let scan = small(60, 2).with(|scan| {
            scan.plan.policy = Some(ReadAheadPolicy::None);
        });
        let options = LookupOptions { threads: 2, rate: None, zipf: 0.0 };
        let lookups = Lookups::new(&table, &scan, options).unwrap();
        let reads = innoscan_engine::scan::alone::run_alone(
            &table,
            &scan,
            &lookups,
            Duration::from_millis(200),
        )
        .unwrap();
        let felt = lookups.take().unwrap();
        assert!(felt.lookups > 0 && felt.p50 <= felt.p99 && felt.p99 <= felt.most, "{felt:?}");
        assert!(reads.foreground.requests > 0 && reads.requests() == 0, "{reads:?}");
    }
}
