//! Finds out what a device gives, by reading from a file on it for half a second: single places one
//! after the other, many at once, and long stretches.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::{self, EngineKind, Wait};
use crate::{Device, Engine, Error, File, Kind, Read, Result, Slab};

/// How long each of the three is tried, beside what is then still under way.
const TRIAL: Duration = Duration::from_millis(150);

/// Bytes of a single place: a page of most servers.
const PLACE_BYTES: usize = 16 << 10;

/// Places of a long stretch.
const STRETCH_PLACES: u64 = 64;

/// Reads at once, of single places and of stretches.
const PLACES_AT_ONCE: usize = 32;
const STRETCHES_AT_ONCE: usize = 4;

/// What a trial's reads brought.
struct Brought {
    requests: f64,
    bytes: f64,
    elapsed: Duration,
}

/// Measures the device a file is on, as reads of this file see it: through the page cache, where it
/// is not opened to go around it.
///
/// # Errors
/// Where nothing can be read from it.
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
    let alone = trial(engine, file, &slab, (1, 1), &mut anywhere)?;
    let many = trial(engine, file, &slab, (PLACES_AT_ONCE, 1), &mut anywhere)?;
    let mut next = 0;
    let mut onward = |places: u64| {
        next += 1;
        (next - 1) * STRETCH_PLACES % places
    };
    let at_once = STRETCHES_AT_ONCE.min(engine.depth());
    let long = trial(engine, file, &slab, (at_once, STRETCH_PLACES), &mut onward)?;

    let iops = many.requests / many.elapsed.as_secs_f64();
    let bytes_per_second = long.bytes / long.elapsed.as_secs_f64();
    let device =
        Device { iops: Some(iops), bytes_per_second: Some(bytes_per_second), ..Device::default() };
    let alone = alone.elapsed.div_f64(alone.requests);
    let latency = alone.saturating_sub(device.occupied(PLACE_BYTES as u64));
    Ok(Device { latency, ..device })
}

/// Reads `places` adjacent places at a time, `at_once` requests under way, where `choose` says among
/// so many.
fn trial(
    engine: &mut dyn Engine,
    file: &Arc<File>,
    slab: &Slab,
    (at_once, places): (usize, u64),
    choose: &mut dyn FnMut(u64) -> u64,
) -> Result<Brought> {
    let cannot = |what: &str| Error::Unmeasured { path: file.path().to_owned(), what: what.into() };
    let file_places = file.size_bytes() / PLACE_BYTES as u64;
    let places = places.min(file_places);
    if places == 0 {
        return Err(cannot("it is too small"));
    }
    let at_once = at_once.min(engine.depth());
    let begin = Instant::now();
    let mut brought = Brought { requests: 0.0, bytes: 0.0, elapsed: Duration::ZERO };
    let mut done = Vec::new();
    loop {
        while begin.elapsed() < TRIAL && engine.in_flight() < at_once {
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
            brought.requests += 1.0;
            brought.bytes += read.good_bytes as f64;
        }
    }
    brought.elapsed = begin.elapsed();
    Ok(brought)
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
}
