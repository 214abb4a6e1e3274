//! Bytes from files into aligned memory, many reads at a time, and a count of what it took.
//!
//! The crate knows offsets, lengths and alignments; what the bytes mean is no concern of its own.
//! A [`Slab`] is cut once into frames of one size. A [`Read`] names a file, an offset and the
//! frames to fill with what follows there; an [`Engine`] takes reads, keeps up to its depth of
//! them in flight, and gives each back as a [`Completion`] with how many of its bytes are good.
//!
//! ```text
//! Slab --Frame--> Read --push--> Engine --submit--> kernel
//!   ^                              |
//!   +---- dropped Frame <-- Completion <--poll
//! ```
//!
//! Every `unsafe` block of the workspace's core is in this crate: the slab's memory, and handing
//! the kernel pointers into it.

mod coalesce;
mod counters;
mod device;
pub mod engine;
mod error;
mod file;
mod flight;
pub mod heads;
mod measure;
mod output;
mod read;
mod ring;
mod slab;

pub use coalesce::{Run, coalesce};
pub use counters::{Counters, KindCounters};
pub use device::{Device, byte_unit, duration};
pub use engine::paced::{Paces, Rest};
pub use engine::{Engine, EngineKind, Wait, Wake};
pub use error::{Error, ReadError, Result};
pub use file::{Direct, File, Identity};
pub use measure::{Submissions, measure, measure_submissions};
pub use output::Output;
pub use read::{Completion, Kind, Read};
pub use slab::{ALIGNMENT, Frame, Slab};
