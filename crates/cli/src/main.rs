//! The `innoscan` command.

mod args;
mod sizes;

use clap::Parser;

fn main() {
    let cli = args::Cli::parse();
    println!("{cli:?}");
}
