//! Measuring of a device, by reading from a file on it for half a second: single random places one
//! after the other, many at once, and long sequential ranges.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::{self, EngineKind, Wait};
use crate::{Device, Engine, Error, File, Kind, Read, Result, Slab};

/// Duration of each of the three trials, without the reads then still in flight.
const TRIAL: Duration = Duration::from_millis(150);

/// Bytes of a single place: a page of most servers.
const PLACE_BYTES: usize = 16 << 10;

/// Places of a sequential range.
const STRETCH_PLACES: u64 = 64;

/// Reads in flight, of single places and of ranges.
const PLACES_AT_ONCE: usize = 32;
const STRETCHES_AT_ONCE: usize = 4;

/// The result of a trial.
struct TrialResult {
    requests: f64,
    bytes: f64,
    elapsed: Duration,
}

/// Measures the device of a file through reads of this file: through the page cache, unless the
/// file is opened to bypass it.
///
/// # Errors
/// When nothing can be read from the file.
pub fn measure(file: &Arc<File>, kind: EngineKind) -> Result<Device> {
    let mut engine = engine::open(kind, PLACES_AT_ONCE)?;
    let frames = STRETCHES_AT_ONCE * STRETCH_PLACES as usize;
    let slab = Slab::new(frames.max(PLACES_AT_ONCE), PLACE_BYTES)?;
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut anywhere = |places: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % places
    };
    let engine = &mut *engine;
    let alone = trial(engine, file, &slab, Shape::singly(1), &mut anywhere)?;
    let many = trial(engine, file, &slab, Shape::singly(PLACES_AT_ONCE), &mut anywhere)?;
    let stretches =
        Shape { at_once: STRETCHES_AT_ONCE, places: STRETCH_PLACES, is_in_batches: false };
    let long = trial(engine, file, &slab, stretches, &mut onward(STRETCH_PLACES))?;

    let iops = many.requests / many.elapsed.as_secs_f64();
    let bytes_per_second = long.bytes / long.elapsed.as_secs_f64();
    let device =
        Device { iops: Some(iops), bytes_per_second: Some(bytes_per_second), ..Device::default() };
    let alone = alone.elapsed.div_f64(alone.requests);
    let latency = alone.saturating_sub(device.occupied(PLACE_BYTES as u64));
    Ok(Device { latency, ..device })
}

/// Read rates, in bytes per second, of the same adjacent pages requested in three ways.
#[derive(Clone, Copy, Debug)]
pub struct Submissions {
    /// One page at a time, each after the one before has arrived.
    pub one_by_one: f64,
    /// 64 requests of a page in one submission.
    pub together: f64,
    /// One request of 64 pages.
    pub joined: f64,
}

/// Measures the effect of submitting requests together and of joining them, like MySQL's bug 68659:
/// with pages of 16 KiB, from the beginning of the file.
///
/// # Errors
/// When nothing can be read from the file.
pub fn measure_submissions(file: &Arc<File>, engine: &mut dyn Engine) -> Result<Submissions> {
    let slab = Slab::new(STRETCH_PLACES as usize, PLACE_BYTES)?;
    let mut rate = |at_once: usize, places: u64| {
        let shape = Shape { at_once, places, is_in_batches: true };
        let result = trial(engine, file, &slab, shape, &mut onward(places))?;
        Ok::<f64, Error>(result.bytes / result.elapsed.as_secs_f64())
    };
    Ok(Submissions {
        one_by_one: rate(1, 1)?,
        together: rate(STRETCH_PLACES as usize, 1)?,
        joined: rate(1, STRETCH_PLACES)?,
    })
}

/// Chooses one range after the other from the first place on, repeatedly.
fn onward(stretch: u64) -> impl FnMut(u64) -> u64 {
    let mut next = 0;
    move |places| {
        next += 1;
        (next - 1) * stretch % places
    }
}

/// The pattern of a trial's reads.
#[derive(Clone, Copy)]
struct Shape {
    /// Requests in flight.
    at_once: usize,
    /// Adjacent places per request.
    places: u64,
    /// Whether all requests must complete before new ones are made.
    is_in_batches: bool,
}

impl Shape {
    fn singly(at_once: usize) -> Shape {
        Shape { at_once, places: 1, is_in_batches: false }
    }
}

/// Reads for the time of a trial, at places that `choose` selects from a given number.
fn trial(
    engine: &mut dyn Engine,
    file: &Arc<File>,
    slab: &Slab,
    shape: Shape,
    choose: &mut dyn FnMut(u64) -> u64,
) -> Result<TrialResult> {
    let cannot = |what: &str| Error::Unmeasured { path: file.path().to_owned(), what: what.into() };
    let file_places = file.size_bytes() / PLACE_BYTES as u64;
    let places = shape.places.min(file_places);
    if places == 0 {
        return Err(cannot("it is too small"));
    }
    let at_once = shape.at_once.min(engine.depth());
    let begin = Instant::now();
    let mut result = TrialResult { requests: 0.0, bytes: 0.0, elapsed: Duration::ZERO };
    let mut done = Vec::new();
    loop {
        let is_turn = !shape.is_in_batches || engine.in_flight() == 0;
        while is_turn && begin.elapsed() < TRIAL && engine.in_flight() < at_once {
            let place = choose(file_places - places + 1);
            let frames: Vec<_> = (0..places).map_while(|_| slab.take()).collect();
            let (file, offset) = (Arc::clone(file), place * PLACE_BYTES as u64);
            engine.push(Read { token: 0, file, offset, frames, kind: Kind::Demand });
        }
        if engine.in_flight() == 0 {
            break;
        }
        engine.poll(Wait::UntilSomething, &mut done)?;
        for read in done.drain(..) {
            if let Some(error) = read.error {
                return Err(cannot(&error.to_string()));
            }
            result.requests += 1.0;
            result.bytes += read.good_bytes as f64;
        }
    }
    result.elapsed = begin.elapsed();
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direct;

    #[test]
    fn a_file_is_measured_or_why_not_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, vec![1; 4 << 20]).unwrap();
        let file = Arc::new(File::open(&path, Direct::Off).unwrap());
        let device = measure(&file, EngineKind::Pread).unwrap();
        assert!(device.iops.unwrap() > 0.0 && device.gap_bytes().is_some(), "{device}");
        std::fs::write(&path, b"short").unwrap();
        let file = Arc::new(File::open(&path, Direct::Off).unwrap());
        let error = measure(&file, EngineKind::Pread).unwrap_err().to_string();
        assert!(error.contains("too small"), "{error}");
    }

    #[test]
    fn submissions_are_told_apart() {
        let file = Arc::new(File::memory("t", vec![7; 8 << 20]));
        // A device with a fixed number of requests per second, whatever their size.
        let device = "iops=2000".parse().unwrap();
        let mut engine = engine::throttled::Throttled::new(
            engine::open(EngineKind::Pread, 32).unwrap(),
            engine::throttled::ThrottledReads::All,
            device,
            engine::throttled::Pauses::default(),
        );
        let found = measure_submissions(&file, &mut engine).unwrap();
        assert!(found.one_by_one <= 2000.0 * 16384.0 * 1.1, "{found:?}");
        assert!(found.joined > 8.0 * found.together, "{found:?}");
    }
}
