//! Batched reads of file bytes into aligned memory, with counters.
//!
//! The crate handles offsets, lengths and alignments, independent of the meaning of the bytes. A
//! [`Slab`] is cut once into frames of one size. A [`Read`] names a file, an offset and the frames
//! to fill from there; an [`Engine`] accepts reads, keeps up to its depth of them in flight, and
//! returns each as a [`Completion`] with the number of its good bytes.
//!
//! ```text
//! Slab --Frame--> Read --push--> Engine --submit--> kernel
//!   ^                              |
//!   +---- dropped Frame <-- Completion <--poll
//! ```
//!
//! Every `unsafe` block of the workspace's core is in this crate: the slab's memory, and passing
//! pointers into it to the kernel.

mod coalesce;
mod counters;
mod depth;
mod device;
pub mod engine;
mod error;
mod file;
mod flight;
pub mod heads;
mod measure;
mod observed;
mod output;
mod priority;
mod read;
mod ring;
mod seeks;
mod slab;

pub use coalesce::{Run, coalesce};
pub use counters::{Counters, KindCounters, SERVICE_BOUNDS_US};
pub use depth::{Depth, Progress};
pub use device::{Device, byte_unit, duration};
pub use engine::throttled::{Pauses, ThrottledReads};
pub use engine::{Engine, EngineKind, Wait, Wake};
pub use error::{Error, ReadError, Result};
pub use file::{Direct, File, Identity, directory_with};
pub use measure::{Submissions, measure, measure_submissions};
pub use observed::Observed;
pub use output::Output;
pub use priority::{Priority, honours_priorities, scheduler_of};
pub use read::{Completion, Kind, Read};
pub use seeks::Seeks;
pub use slab::{ALIGNMENT, Frame, Slab};
