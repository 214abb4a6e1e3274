//! Sums a column of numbers, on as many threads as there are splits:
//! `cargo run --example sum -- shop/orders.ibd total`

use innoscan::{Result, Split, Table};

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(column)) = (args.next(), args.next()) else {
        return Err("usage: sum FILE COLUMN".into());
    };
    let table = innoscan::open(path)?;
    let splits = table.splits(std::thread::available_parallelism()?.get())?;
    let sums: Vec<Result<(f64, u64)>> = std::thread::scope(|scope| {
        let (table, column) = (&table, &*column);
        let sum = |split| scope.spawn(move || sum_of(table, split, column));
        let threads: Vec<_> = splits.iter().map(sum).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let (mut total, mut values) = (0.0, 0);
    for sum in sums {
        let (of_split, values_of_split) = sum?;
        total += of_split;
        values += values_of_split;
    }
    println!("{total} of {values} values in {} splits", splits.len());
    Ok(())
}

fn sum_of(table: &Table, split: &Split, column: &str) -> Result<(f64, u64)> {
    let (mut sum, mut values) = (0.0, 0);
    // One thread for each split; pages of other columns' off-page values are not read.
    for row in table.rows().columns([column]).split(split).threads(1).read()? {
        if let Some(text) = row?.utf8(0)? {
            sum += text.parse::<f64>().unwrap_or_default();
            values += 1;
        }
    }
    Ok((sum, values))
}
