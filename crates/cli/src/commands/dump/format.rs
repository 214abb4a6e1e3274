//! The output format from the arguments.

use innoscan_export::sink::Format;
use innoscan_export::sink::csv::{BinaryForm, CsvOptions, NullText, Separator, TimestampForm};
use innoscan_export::sink::outfile::OutfileOptions;
use innoscan_export::sink::sql::Verb;

use crate::args::{BinaryArg, DumpArgs, TimestampsArg};
use crate::sizes::separator;

/// The output format, with the options that the arguments set.
pub(super) fn format(args: &DumpArgs) -> anyhow::Result<Format> {
    let mut format = args.format.clone().unwrap_or_default();
    if args.include_invisible {
        format.include_invisible();
    }
    match &mut format {
        Format::Sql(options) => {
            options.statement_size_bytes = usize::try_from(args.sql.statement_size.0)?;
            options.verb = match (args.sql.insert_ignore, args.sql.replace) {
                (true, _) => Verb::InsertIgnore,
                (_, true) => Verb::Replace,
                _ => Verb::Insert,
            };
        }
        Format::Outfile(options) => set_outfile_options(options, args)?,
        Format::Csv(options) => set_csv_options(options, args)?,
        Format::Ndjson(options) => options.timestamps = timestamps(args),
        #[cfg(feature = "columnar")]
        Format::Parquet(options) => super::columnar::set_parquet_options(options, args)?,
        #[cfg(feature = "columnar")]
        Format::Arrow(options) => super::columnar::set_arrow_options(options, args)?,
        // The other formats have no options on the command line.
        _ => {}
    }
    Ok(format)
}

fn timestamps(args: &DumpArgs) -> TimestampForm {
    match args.csv.timestamps {
        TimestampsArg::Server => TimestampForm::Server,
        TimestampsArg::Iso => TimestampForm::Iso,
    }
}

fn set_csv_options(options: &mut CsvOptions, args: &DumpArgs) -> anyhow::Result<()> {
    let bytes = |typed: &str| separator(typed).map_err(anyhow::Error::msg);
    let separator = match &args.text.fields_terminated_by {
        None => Separator::COMMA,
        Some(typed) => Separator::new(&bytes(typed)?).ok_or_else(|| {
            anyhow::anyhow!(
                "with --format csv, --fields-terminated-by takes one character that is in no unquoted \
                 value, such as `;`, `|` or `\\t`, not `{typed}`; --format text takes any"
            )
        })?,
    };
    let line_end = match &args.text.lines_terminated_by {
        None => options.line_end,
        Some(typed) => match &bytes(typed)?[..] {
            b"\n" => "\n",
            b"\r\n" => "\r\n",
            _ => anyhow::bail!(
                "with --format csv, --lines-terminated-by takes `\\n` or `\\r\\n`, not `{typed}`"
            ),
        },
    };
    let null = NullText::new(&args.csv.null, separator).ok_or_else(|| {
        anyhow::anyhow!(
            "--null takes text that needs no quotes, but `{}` contains the separator, a quote or a \
             line end, or starts or ends with a blank",
            args.csv.null
        )
    })?;
    *options = CsvOptions {
        separator,
        null,
        header: !args.csv.no_header,
        line_end,
        binary: match args.csv.binary {
            BinaryArg::Hex => BinaryForm::Hex,
            BinaryArg::Base64 => BinaryForm::Base64,
            BinaryArg::Prefixed => BinaryForm::Prefixed,
        },
        timestamps: timestamps(args),
        ..*options
    };
    Ok(())
}

fn set_outfile_options(options: &mut OutfileOptions, args: &DumpArgs) -> anyhow::Result<()> {
    let bytes = |typed: &str| separator(typed).map_err(anyhow::Error::msg);
    let character = |typed: &str, option: &str| -> anyhow::Result<Option<u8>> {
        match &bytes(typed)?[..] {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            _ => anyhow::bail!("--{option} takes one character, not `{typed}`"),
        }
    };
    let text = &args.text;
    let (enclosed, optional) = match (&text.fields_enclosed_by, &text.fields_optionally_enclosed_by)
    {
        (Some(typed), _) => (character(typed, "fields-enclosed-by")?, false),
        (None, Some(typed)) => (character(typed, "fields-optionally-enclosed-by")?, true),
        (None, None) => (None, false),
    };
    *options = OutfileOptions {
        fields_terminated_by: bytes(text.fields_terminated_by.as_deref().unwrap_or("\\t"))?,
        enclosed_by: enclosed,
        optionally_enclosed: optional,
        escaped_by: character(&text.fields_escaped_by, "fields-escaped-by")?,
        lines_starting_by: bytes(&text.lines_starting_by)?,
        lines_terminated_by: bytes(text.lines_terminated_by.as_deref().unwrap_or("\\n"))?,
        ..*options
    };
    Ok(())
}
