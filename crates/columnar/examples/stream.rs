//! Reads a table as Arrow batches, and counts its rows, as `innoscan scan` does; prints both times. Then reads
//! its first ten rows, and prints how much was read from the device for them.
//!
//! ```sh
//! cargo run --release -p innoscan-columnar --example stream -- /backup/mysql/shop/orders.ibd
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use innoscan::RowsBuilder;
use innoscan_columnar::{BatchReader, TypeOptions};
use innoscan_engine::checksum_sink::Checksum;
use innoscan_engine::scan::{ScanOptions, scan};

/// Rounds; the best of them counts.
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("give the path of an .ibd file")?;
    let table = innoscan::open(path)?;
    let (mut scanned, mut streamed) = (Duration::MAX, Duration::MAX);
    let mut rows = 0;
    for _ in 0..ROUNDS {
        scanned = scanned.min(timed(|| {
            scan(&table, &ScanOptions::default(), &Checksum::count_only(), |_| Ok(()))?;
            Ok(())
        })?);
        streamed = streamed.min(timed(|| {
            rows = stream(table.rows())?;
            Ok(())
        })?);
    }
    let rate = rows as f64 / streamed.as_secs_f64() / 1e6;
    println!("{rows} rows: scan {scanned:.2?}, Arrow {streamed:.2?}, {rate:.1} million rows/s");
    println!("Arrow / scan: {:.2}", streamed.as_secs_f64() / scanned.as_secs_f64());
    let before = device_bytes()?;
    let mut rows = 0;
    let limited = timed(|| {
        rows = stream(table.rows().limit(10))?;
        Ok(())
    })?;
    let read_bytes = device_bytes()? - before;
    println!("LIMIT 10: {rows} rows in {limited:.2?}, {read_bytes} bytes read");
    Ok(())
}

fn timed(work: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed())
}

/// The bytes that this process has read from devices; reads of the page cache do not count.
fn device_bytes() -> Result<u64, Box<dyn Error>> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let bytes = io.lines().find_map(|line| line.strip_prefix("read_bytes: "));
    Ok(bytes.ok_or("no read_bytes in /proc/self/io")?.parse()?)
}

/// The rows of all batches.
fn stream(rows: RowsBuilder<'_>) -> Result<u64, Box<dyn Error>> {
    let reader = BatchReader::new(rows.selection()?, &TypeOptions::default())?;
    let mut rows = 0;
    for batch in reader {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}
