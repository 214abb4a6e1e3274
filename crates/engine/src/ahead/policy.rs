//! The policies by name, and the sizes each is made with.

use std::fmt;

use super::{
    Linear, Logical, LogicalOptions, None as NoReadAhead, Physical, PolicyTraits, Random,
    ReadAhead, Segment,
};

/// The name of a read-ahead policy, with its parameters; see [`crate::ahead`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadAheadPolicy {
    /// No read-ahead: pages are read on demand, one by one.
    None,
    /// InnoDB's linear read-ahead.
    Linear {
        /// Pages of an extent that must have been accessed in order, at most 64; 0: no read-ahead.
        threshold: u32,
    },
    /// InnoDB's random read-ahead.
    Random,
    /// The whole file in file order.
    Physical,
    /// A window of leaves in key order, read in file order.
    #[default]
    Logical,
    /// All leaves in file order; rows come in that order too.
    Segment,
}

impl fmt::Display for ReadAheadPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `pad` makes the name fill a table's column.
        f.pad(match self {
            ReadAheadPolicy::None => "none",
            ReadAheadPolicy::Linear { .. } => "linear",
            ReadAheadPolicy::Random => "random",
            ReadAheadPolicy::Physical => "physical",
            ReadAheadPolicy::Logical => "logical",
            ReadAheadPolicy::Segment => "segment",
        })
    }
}

/// Sizes from which a policy is made.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The size of a page in the file, in bytes.
    pub page_bytes: usize,
    /// The size of the file, in pages.
    pub file_pages: u32,
    /// Leaves ahead of the scan that may be read.
    pub window_pages: usize,
    /// The most unwanted pages between two wanted ones that are read rather than skipped.
    pub gap_pages: u32,
    /// The most pages of a run; at least 1.
    pub run_pages: u32,
}

impl Sizes {
    /// Bytes of leaves ahead of a scan in file order: enough to keep a device busy.
    const SEGMENT_BYTES: usize = 32 << 20;

    /// The first window of logical read-ahead, in bytes.
    const FIRST_WINDOW_BYTES: usize = 16 << 20;

    /// Leaves ahead of a scan in file order; half of the memory may be needed to sort them.
    pub fn segment_pages(&self) -> usize {
        (self.window_pages / 2).clamp(1, Sizes::SEGMENT_BYTES / self.page_bytes)
    }
}

impl ReadAheadPolicy {
    /// The policy's demands on pool and walk.
    pub fn traits(self) -> PolicyTraits {
        match self {
            ReadAheadPolicy::None => NoReadAhead::TRAITS,
            ReadAheadPolicy::Linear { .. } => Linear::TRAITS,
            ReadAheadPolicy::Random => Random::TRAITS,
            ReadAheadPolicy::Physical => Physical::TRAITS,
            ReadAheadPolicy::Logical => Logical::TRAITS,
            ReadAheadPolicy::Segment => Segment::TRAITS,
        }
    }

    /// A new policy for one file.
    pub(crate) fn begin(self, sizes: &Sizes) -> Box<dyn ReadAhead> {
        match self {
            ReadAheadPolicy::None => Box::new(NoReadAhead),
            ReadAheadPolicy::Linear { threshold } => Box::new(Linear::new(threshold)),
            ReadAheadPolicy::Random => Box::new(Random::new()),
            ReadAheadPolicy::Physical => Box::new(Physical::new(sizes.file_pages, sizes.run_pages)),
            ReadAheadPolicy::Segment => {
                Box::new(Segment::new(sizes.segment_pages(), sizes.gap_pages, sizes.run_pages))
            }
            ReadAheadPolicy::Logical => Box::new(Logical::new(LogicalOptions {
                window_pages: sizes.window_pages,
                first_pages: Sizes::FIRST_WINDOW_BYTES / sizes.page_bytes,
                gap_pages: sizes.gap_pages,
                run_pages: sizes.run_pages,
            })),
        }
    }
}
