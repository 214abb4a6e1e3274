//! `innoscan schema`.

use std::io::Write;

use crate::args::SchemaArgs;
use crate::messages::{self, Exit};

pub fn run(args: &SchemaArgs) -> anyhow::Result<Exit> {
    let (def, notes) = super::catalog(&args.from, &args.key_files)?.definition(&args.source)?;
    messages::definition_notes(&def, &notes);
    let mut text = def.to_create_table();
    text.push('\n');
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(|error| innoscan_engine::Error::write("writing to stdout", error))?;
    Ok(Exit::Done)
}
