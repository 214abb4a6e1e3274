//! `innoscan inspect`.

use std::path::Path;

use innoscan_format::PageNo;
use innoscan_tools::check::Subject;
use innoscan_tools::inspect::InspectOptions;

use crate::args::InspectArgs;
use crate::messages::Exit;

pub fn run(args: &InspectArgs) -> anyhow::Result<Exit> {
    let catalog = super::catalog(&args.from, &args.key_files)?;
    let table = super::check::table(&catalog, &args.file)?;
    let io = super::io_options(&args.io)?;
    let subject = Subject::open(Path::new(&args.file), table.as_ref(), &io, catalog.keys())?;
    let options = InspectOptions { hex: args.hex };
    out!("{}", subject.inspect(PageNo(args.page), options)?.trim_end_matches('\n'));
    Ok(Exit::Done)
}
