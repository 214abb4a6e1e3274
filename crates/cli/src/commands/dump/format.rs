//! What rows are written as.

use innoscan::dump::Format;
use innoscan::sink::csv::CsvOptions;
use innoscan::sink::sql::{SqlOptions, Verb};
use innoscan::sink::text::TextOptions;

use crate::args::{DumpArgs, FormatArg};
use crate::sizes::separator;

/// The format that was asked for.
pub(super) fn format(args: &DumpArgs) -> anyhow::Result<Format> {
    Ok(match args.format.unwrap_or(FormatArg::Sql) {
        FormatArg::Sql => Format::Sql(SqlOptions {
            statement_size_bytes: usize::try_from(args.sql.statement_size.0)?,
            verb: match (args.sql.insert_ignore, args.sql.replace) {
                (true, _) => Verb::InsertIgnore,
                (_, true) => Verb::Replace,
                _ => Verb::Insert,
            },
            ..SqlOptions::default()
        }),
        FormatArg::Text => Format::Text(text_options(args)?),
        FormatArg::Csv => Format::Csv(CsvOptions {
            include_invisible: args.include_invisible,
            ..CsvOptions::default()
        }),
        FormatArg::Ndjson => Format::Ndjson { include_invisible: args.include_invisible },
    })
}

fn text_options(args: &DumpArgs) -> anyhow::Result<TextOptions> {
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
    Ok(TextOptions {
        fields_terminated_by: bytes(&text.fields_terminated_by)?,
        enclosed_by: enclosed,
        optionally_enclosed: optional,
        escaped_by: character(&text.fields_escaped_by, "fields-escaped-by")?,
        lines_starting_by: bytes(&text.lines_starting_by)?,
        lines_terminated_by: bytes(&text.lines_terminated_by)?,
        include_invisible: args.include_invisible,
    })
}
