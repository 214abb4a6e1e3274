//! The options of Parquet and Arrow from the arguments.

use anyhow::bail;
use innoscan_columnar::{
    ArrowContainer, ArrowOptions, Codec, GroupOptions, ParquetOptions, TypeOptions,
};
use innoscan_engine::cores::threads_or_cores;
use innoscan_export::dump::Dump;
use innoscan_export::sink::Format;
use innoscan_export::sink::columnar::ColumnarOptions;
use innoscan_format::schema::TableDef;

use crate::args::{CompressArg, DumpArgs, DumpOutput, OrderArg};

pub(super) fn set_parquet_options(
    options: &mut ColumnarOptions<ParquetOptions>,
    args: &DumpArgs,
) -> anyhow::Result<()> {
    set_types(&mut options.types, args)?;
    options.files.codec = match args.compress {
        None | Some(CompressArg::Zstd) => Codec::Zstd,
        Some(CompressArg::Snappy) => Codec::Snappy,
        Some(CompressArg::None) => Codec::None,
        Some(CompressArg::Gzip) => {
            bail!("with --format parquet, --compress takes zstd, snappy or none, not gzip")
        }
    };
    options.files.field_ids = args.columnar.field_ids;
    options.files.in_any_order = args.read.order != OrderArg::Key;
    options.groups = groups(args);
    Ok(())
}

pub(super) fn set_arrow_options(
    options: &mut ColumnarOptions<ArrowOptions>,
    args: &DumpArgs,
) -> anyhow::Result<()> {
    set_types(&mut options.types, args)?;
    options.files.is_compressed = match args.compress {
        None | Some(CompressArg::Zstd) => true,
        Some(CompressArg::None) => false,
        Some(CompressArg::Gzip | CompressArg::Snappy) => {
            bail!("with --format arrow, --compress takes zstd or none")
        }
    };
    options.files.container = match args.output() {
        DumpOutput::Stdout => ArrowContainer::Stream,
        _ => ArrowContainer::File,
    };
    options.groups = groups(args);
    Ok(())
}

fn set_types(types: &mut TypeOptions, args: &DumpArgs) -> anyhow::Result<()> {
    for text in &args.columnar.types {
        types.choose(text).map_err(|why| anyhow::anyhow!("--types: {why}"))?;
    }
    for text in &args.columnar.column {
        types.choose_column(text).map_err(|why| anyhow::anyhow!("--column: {why}"))?;
    }
    Ok(())
}

fn groups(args: &DumpArgs) -> GroupOptions {
    let threads = threads_or_cores(args.read.threads.unwrap_or_default());
    GroupOptions::within(args.read.memory.0, threads)
}

/// Refuses columns that no table has.
pub(super) fn check(format: &Format, dump: &Dump<'_>) -> anyhow::Result<()> {
    let types = match format {
        Format::Parquet(options) => &options.types,
        Format::Arrow(options) => &options.types,
        _ => return Ok(()),
    };
    let defs: Vec<&TableDef> = dump.tables.iter().map(|table| &table.def).collect();
    // The columns of tables that are locked later are not known yet.
    if dump.deferred.is_empty()
        && dump.small.tables.is_empty()
        && let Some(name) = types.column_of_none(&defs)
    {
        bail!("--column: no table of the dump has a column `{name}`");
    }
    Ok(())
}

/// The memory of the groups of rows that are encoded at once.
pub(super) fn group_bytes(format: &Format) -> u64 {
    match format {
        Format::Parquet(options) => options.groups.memory_bytes(),
        Format::Arrow(options) => options.groups.memory_bytes(),
        _ => 0,
    }
}
