//! Prints the rows of a table, some columns of it if they are named:
//! `cargo run --example rows -- shop/orders.ibd id total`

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: rows FILE [COLUMN...]")?;
    let columns: Vec<String> = args.collect();
    let table = innoscan::open(path)?;
    let mut rows = table.rows();
    if !columns.is_empty() {
        rows = rows.columns(columns);
    }
    for row in rows.read()? {
        let row = row?;
        let mut line = String::new();
        for column in 0..row.len() {
            if column > 0 {
                line.push('\t');
            }
            line.push_str(&row.utf8(column)?.unwrap_or("NULL".into()));
        }
        println!("{line}");
    }
    Ok(())
}
