//! Options for reading files, shared by all commands that read pages.

use std::time::Duration;

use innoscan_io::engine::throttled::Throttled;
use innoscan_io::{self as io, Direct, Engine, EngineKind};

use crate::Result;
use crate::devices::KnownDevices;

/// Options for reading files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IoOptions {
    /// Whether to bypass the page cache (`O_DIRECT`).
    pub direct: Direct,
    /// The kernel interface for reads.
    pub engine: EngineKind,
    /// The most reads in flight. A block device's queue holds no more than 128 or 256 mostly; beyond
    /// that the kernel makes submissions wait.
    pub depth: usize,
    /// The device the files are on, where the caller names it.
    pub device: Option<io::Device>,
    /// The devices of earlier scans, to which the scan adds what it learns of its own.
    pub known_devices: KnownDevices,
    /// The most bytes between two wanted pages that are read rather than skipped, unless the device's
    /// model has a value.
    pub gap_bytes: u64,
    /// The most bytes of one read.
    pub request_bytes_max: u64,
    /// The device to emulate: no read is faster than on it.
    pub emulated: io::Device,
    /// The throttle: reads are spread so that no limit of this is exceeded.
    pub limits: io::Device,
    /// The pause after each window of logical read-ahead.
    pub pause: Duration,
    /// Whether reads yield to those of others: at most one is in flight, of at most
    /// [`IoOptions::YIELDING_BYTES`], and the device is busy with them for at most a third of the time;
    /// where they meet a limit on the rate of reads, they stay below it.
    pub yields: bool,
}

impl IoOptions {
    /// The default of [`IoOptions::depth`].
    pub const DEPTH: usize = 128;
    /// The most bytes of a read that yields.
    pub const YIELDING_BYTES: u64 = 256 << 10;
    /// The least bytes of a long read: transferring them takes any device longer than the request itself.
    pub(crate) const ENOUGH_BYTES: u64 = 256 << 10;
}

impl Default for IoOptions {
    fn default() -> IoOptions {
        IoOptions {
            direct: Direct::Optional,
            engine: EngineKind::Auto,
            depth: IoOptions::DEPTH,
            device: None,
            known_devices: KnownDevices::default(),
            gap_bytes: 16 << 10,
            request_bytes_max: 1 << 20,
            emulated: io::Device::default(),
            limits: io::Device::default(),
            pause: Duration::ZERO,
            yields: false,
        }
    }
}

impl IoOptions {
    /// Whether reads are slower than the device would be: throttled, or as on another device.
    pub(crate) fn slows_reads(&self) -> bool {
        !self.emulated.is_unlimited()
            || !self.limits.is_unlimited()
            || !self.pause.is_zero()
            || self.yields
    }

    /// Opens the engine that these options describe. `window_bytes`: the bytes after which it pauses.
    #[doc(hidden)]
    pub fn open_engine(&self, window_bytes: u64) -> Result<Box<dyn Engine>> {
        let mut engine = io::engine::open(self.engine, self.depth)?;
        let pauses =
            io::Pauses { after_bytes: window_bytes, pause: self.pause, yields: self.yields };
        if !self.emulated.is_unlimited() {
            let none = io::Pauses::default();
            engine = Box::new(Throttled::new(engine, io::ThrottledReads::All, self.emulated, none));
        }
        if !self.limits.is_unlimited() || !pauses.is_none() {
            let reads = io::ThrottledReads::AllButForeground;
            engine = Box::new(Throttled::new(engine, reads, self.limits, pauses));
        }
        Ok(engine)
    }

    /// The most unwanted pages between two wanted ones that are read rather than skipped.
    pub(crate) fn gap_pages(&self, device: Option<io::Device>, page_bytes: usize) -> u32 {
        let gap_bytes = device.and_then(|device| device.gap_bytes());
        pages_of(gap_bytes.unwrap_or(self.gap_bytes), page_bytes)
    }

    /// The most bytes of one read, whatever the device.
    pub(crate) fn run_bytes_max(&self) -> u64 {
        match self.yields {
            true => self.request_bytes_max.min(IoOptions::YIELDING_BYTES),
            false => self.request_bytes_max,
        }
    }

    /// The most bytes of one read, on a device that may be known: reads of others wait behind ours, so no read is
    /// longer than the device needs for its rate.
    pub(crate) fn run_bytes(&self, device: Option<io::Device>) -> u64 {
        let gap_bytes = device.and_then(|device| device.gap_bytes());
        let enough = gap_bytes.map_or(u64::MAX, |gap| (4 * gap).max(IoOptions::ENOUGH_BYTES));
        self.run_bytes_max().min(enough)
    }

    /// The most pages of one read, on a device that may be known; at least 1.
    #[doc(hidden)]
    pub fn run_pages(&self, device: Option<io::Device>, page_bytes: usize) -> u32 {
        pages_of(self.run_bytes(device), page_bytes).max(1)
    }
}

/// The whole pages in a number of bytes; at most `u32::MAX`.
pub(crate) fn pages_of(bytes: u64, page_bytes: usize) -> u32 {
    u32::try_from(bytes / page_bytes as u64).unwrap_or(u32::MAX)
}
