//! `innoscan inspect`.

use std::path::Path;

use innoscan_format::PageNo;
use innoscan_tools::check::Subject;
use innoscan_tools::inspect::InspectOptions;

use crate::args::InspectArgs;
use crate::messages::Exit;

pub fn run(args: &InspectArgs) -> anyhow::Result<Exit> {
    let table = super::check::table(&args.from, &args.key_files, &args.file)?;
    let io = super::io_options(&args.io)?;
    let subject =
        Subject::open(Path::new(&args.file), table.as_ref(), &io, &super::keys(&args.key_files)?)?;
    let options = InspectOptions { hex: args.hex };
    out!("{}", subject.inspect(PageNo(args.page), options)?.trim_end_matches('\n'));
    Ok(Exit::Done)
}
