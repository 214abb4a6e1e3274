//! `innoscan inspect`.

use innoscan_format::PageNo;
use innoscan_tools::check::Subject;
use innoscan_tools::inspect::InspectOptions;

use crate::args::InspectArgs;
use crate::messages::Exit;

pub fn run(args: &InspectArgs) -> anyhow::Result<Exit> {
    let catalog = super::catalog(&args.from, &args.key_files)?;
    let space = super::check::tablespace(&catalog, &args.file)?;
    let io = super::io_options(&args.io)?;
    let subject = Subject::open(&space.file, space.tables.iter().map(|table| &**table), &io)?;
    let options = InspectOptions { hex: args.hex };
    out!("{}", subject.inspect(PageNo(args.page), options)?.trim_end_matches('\n'));
    Ok(Exit::Done)
}
