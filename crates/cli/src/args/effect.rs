//! Options that have no effect together with the others: they are refused, so that no user relies on
//! them.

use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;
use innoscan_export::sink::Format;

use super::dump::{DumpArgs, DumpOutput, GetArgs, LayoutArg};
use super::ls::LsArgs;
use super::server::{ConsistencyArg, LockModeArg, ServerArgs};
use super::tablespaces::{ServerListArg, TablespacesArgs};
use super::verify::VerifyArgs;
use super::{OrderArg, ReadAheadArg, ReadArgs, Verb};

/// Options of a command, and when they have an effect.
struct Rule<C: ?Sized> {
    /// The clap ids of the options: the field names of the arguments.
    options: &'static [&'static str],
    has_effect: fn(&C) -> bool,
    /// Why they have no effect otherwise, and what to do instead.
    why: &'static str,
}

/// The message about the first option on the command line that has no effect, if there is one.
pub fn refusal(command: &clap::Command, verb: &Verb, typed: &ArgMatches) -> Option<String> {
    let typed = Typed { command, matches: typed };
    match verb {
        Verb::Dump(args) => typed
            .stray_source(args)
            .or_else(|| typed.first_idle(args, DUMP))
            .or_else(|| typed.first_idle(&args.server, SERVER))
            .or_else(|| typed.of_files(&args.sources, &args.read))
            .or_else(|| args.untold_tables()),
        Verb::Get(args) => {
            typed.first_idle(args, GET).or_else(|| typed.of_files([&args.source], &args.read))
        }
        Verb::Scan(args) => typed.of_files([&args.table.source], &args.table.read),
        Verb::Explain(args) => typed.of_file(&args.table.source),
        Verb::Warm(args) => {
            typed.first_idle(&(), WARM).or_else(|| typed.of_file(&args.table.source))
        }
        Verb::Bench(args) => typed
            .first_idle(&args.policies.contains(&ReadAheadArg::Auto), BENCH)
            .or_else(|| typed.of_file(&args.table.source)),
        Verb::Schema(args) => typed.of_file(&args.source),
        Verb::Check(args) => args.sources.iter().find_map(|source| typed.of_file(source)),
        Verb::Ls(args) => typed.first_idle(args, LS),
        Verb::Verify(args) => {
            typed.first_idle(args, VERIFY).or_else(|| typed.first_idle(&args.server, SERVER))
        }
        Verb::Inspect(args) => typed.of_file(&args.file),
        // Its options are those of another program.
        Verb::Sql(_) | Verb::Manual(_) => None,
        Verb::Tablespaces(args) => {
            typed.first_idle(args, TABLESPACES).or_else(|| typed.first_idle(&args.server, SERVER))
        }
    }
}

struct Typed<'t> {
    command: &'t clap::Command,
    matches: &'t ArgMatches,
}

impl Typed<'_> {
    fn is_typed(&self, id: &str) -> bool {
        let is_known = self.matches.try_contains_id(id).unwrap_or(false);
        is_known && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    fn first_idle<C: ?Sized>(&self, args: &C, rules: &[Rule<C>]) -> Option<String> {
        let idle = rules.iter().filter(|rule| !(rule.has_effect)(args));
        let mut options = idle.flat_map(|rule| rule.options.iter().map(move |id| (id, rule.why)));
        let (id, why) = options.find(|(id, _)| self.is_typed(id))?;
        let argument = self.command.get_arguments().find(|argument| argument.get_id() == id);
        let long = argument.and_then(clap::Arg::get_long).unwrap_or(id);
        Some(format!("--{long} has no effect: {why}"))
    }

    /// The message about `dump -u root shop`: mysqldump's syntax, with a database in the place of files.
    fn stray_source(&self, args: &DumpArgs) -> Option<String> {
        let is_name =
            |source: &&String| !source.contains(['/', '.']) && !Path::new(source).exists();
        let goes_to_server = SERVER_OPTIONS.iter().any(|id| self.is_typed(id))
            || args.all_databases
            || !args.databases.is_empty();
        if args.from.datadir.is_some() || !args.sources.iter().any(|source| is_name(&source)) {
            return None;
        }
        if !goes_to_server && args.sources.len() > 1 {
            return None;
        }
        // The word after -p may be a password, which must not be repeated.
        if args.server.password.is_some() {
            return Some(
                "the word after -p is neither a file nor a password: -p takes no value; name the \
                 databases of a running server with -B, tables with -T DB.TABLE"
                    .to_owned(),
            );
        }
        let named = args.sources.iter().filter(is_name);
        let databases: Vec<&str> = args.databases.iter().chain(named).map(String::as_str).collect();
        let databases = databases.join(",");
        Some(format!(
            "no such file: use -B {databases} for databases of a running server or of a data \
             directory, -T DB.TABLE for tables"
        ))
    }

    /// The message about options for reading the files of tables.
    fn of_files<'s>(
        &self,
        sources: impl IntoIterator<Item = &'s String>,
        read: &ReadArgs,
    ) -> Option<String> {
        let mut sources = sources.into_iter();
        let of_sources = sources.find_map(|source| self.of_file(source));
        of_sources.or_else(|| self.first_idle(read, READ))
    }

    fn of_file(&self, source: &str) -> Option<String> {
        self.first_idle(source, &SOURCE)
    }
}

/// The source of a dump.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Server,
    Directory,
    /// Tables named one by one.
    Tables,
}

impl DumpArgs {
    fn comes_from(&self) -> From {
        match &self.sources[..] {
            [] => From::Server,
            [one] if Path::new(one).is_dir() => From::Directory,
            _ => From::Tables,
        }
    }

    fn is_of_server(&self) -> bool {
        self.comes_from() == From::Server
    }

    fn is_to_directory(&self) -> bool {
        !self.output().is_stream()
    }

    fn is_of_shell(&self) -> bool {
        self.is_to_directory() && self.layout == Some(LayoutArg::Mysqlsh)
    }

    fn is_sql(&self) -> bool {
        self.is_written_as(Format::is_sql)
    }

    fn is_written_as(&self, is_wanted: impl Fn(&Format) -> bool) -> bool {
        let format = self.format.clone().unwrap_or_default();
        !self.is_of_shell() && is_wanted(&format)
    }

    /// Whether the dump is for a loader, which reads every file of the directory.
    fn is_for_loader(&self) -> bool {
        let is_default = self.layout.is_none() && self.is_sql();
        let is_one = matches!(self.layout, Some(LayoutArg::Mydumper | LayoutArg::Mysqlsh));
        self.is_to_directory() && (is_default || is_one)
    }

    /// The message about rows of several tables on stdout, if the arguments alone show that there are
    /// several.
    fn untold_tables(&self) -> Option<String> {
        let from = self.comes_from();
        let is_all =
            self.tables_list.is_empty() && self.databases.is_empty() && from != From::Tables;
        let named = [&self.sources, &self.databases, &self.tables_list];
        let is_many = named.iter().any(|names| names.len() > 1);
        let is_stream = !self.is_to_directory() && !self.is_sql() && self.regex.is_none();
        (is_stream && (is_all || is_many)).then(|| {
            "in this format, rows of several tables cannot be distinguished in one stream: use -o DIR, name \
             one table, or use --format sql"
                .to_owned()
        })
    }

    /// Whether definitions are written; on stdout, only SQL has them.
    fn has_definitions(&self) -> bool {
        !self.no_schemas && (self.is_sql() || self.is_to_directory())
    }
}

/// Options for the address and account of a server.
const SERVER_OPTIONS: &[&str] =
    &["socket", "host", "port", "user", "password", "ssl_mode", "ssl_ca"];

const DUMP: &[Rule<Box<DumpArgs>>] = &[
    Rule {
        options: SERVER_OPTIONS,
        has_effect: |args| args.is_of_server(),
        why: "it is for a running server, but files are named; leave out one or the other",
    },
    Rule {
        options: &[
            "lock_mode",
            "consistency",
            "small_tables",
            "lock_wait_timeout",
            "long_query_guard",
        ],
        has_effect: |args| args.is_of_server(),
        why: "files are read without locks; it is for the tables of a running server (--socket)",
    },
    Rule {
        options: &["no_views", "no_triggers", "no_routines", "no_events", "users"],
        has_effect: |args| args.comes_from() != From::Tables,
        why: "tables are named one by one; views, triggers, routines, events and accounts are \
              only dumped from a data directory or a running server",
    },
    Rule {
        options: &["no_views", "no_triggers", "no_routines", "no_events", "users"],
        has_effect: |args| args.has_definitions(),
        why: "only rows are written, no definitions",
    },
    Rule {
        options: &["databases", "tables_list", "all_databases", "ignore_table", "regex"],
        has_effect: |args| args.comes_from() != From::Tables,
        why: "it selects tables of a data directory or of a running server, but the tables are named \
              one by one",
    },
    Rule {
        options: &["datadir"],
        has_effect: |args| args.comes_from() == From::Tables,
        why: "it is for tables named db.table; to dump a directory, name only the directory",
    },
    Rule {
        options: &["schema", "force", "prepared"],
        has_effect: |args| !args.is_of_server(),
        why: "it is for files, but none is named",
    },
    Rule {
        options: &["layout", "chunk_filesize", "no_checksums", "resume"],
        has_effect: |args| args.is_to_directory(),
        why: "it is for dumps into a directory, but the output is stdout or one file; name a directory with -o",
    },
    Rule {
        options: &["overwrite"],
        has_effect: |args| args.output() != DumpOutput::Stdout,
        why: "it is for dumps into a directory or a file, but the output is stdout; name one with -o",
    },
    Rule {
        options: &["overwrite"],
        has_effect: |args| !args.is_for_loader(),
        why: "a loader would also load the old files of the directory; use an empty directory or \
              --layout files",
    },
    Rule {
        options: &["no_schemas"],
        has_effect: |args| !args.no_data,
        why: "together with --no-data it leaves nothing to dump",
    },
    Rule {
        options: &["no_data"],
        has_effect: |args| args.has_definitions(),
        why: "in this format only rows are written to stdout; use --format sql, or name a directory \
              with -o",
    },
    Rule {
        options: &["no_checksums"],
        has_effect: |args| args.is_for_loader() && !args.no_data,
        why: "only the layouts mydumper and mysqlsh record checksums",
    },
    Rule {
        options: &[
            "condition",
            "chunk_filesize",
            "statement_size",
            "insert_ignore",
            "replace",
            "include_invisible",
            "on_corrupt",
            "fields_terminated_by",
            "fields_enclosed_by",
            "fields_optionally_enclosed_by",
            "fields_escaped_by",
            "lines_starting_by",
            "lines_terminated_by",
            "no_header",
            "null",
            "binary",
            "timestamps",
            "types",
            "column",
            "field_ids",
        ],
        has_effect: |args| !args.no_data,
        why: "with --no-data no rows are read",
    },
    Rule {
        options: &["statement_size", "insert_ignore", "replace"],
        has_effect: |args| args.is_sql(),
        why: "it is for rows as INSERT statements (--format sql)",
    },
    Rule {
        options: &["add_drop_table"],
        has_effect: |args| args.has_definitions(),
        why: "no CREATE TABLE is written; use --format sql, or name a directory with -o",
    },
    Rule {
        options: &["fields_terminated_by", "lines_terminated_by"],
        has_effect: |args| {
            args.is_written_as(|format| matches!(format, Format::Outfile(_) | Format::Csv(_)))
        },
        why: "it is for --format text and --format csv",
    },
    Rule {
        options: &[
            "fields_enclosed_by",
            "fields_optionally_enclosed_by",
            "fields_escaped_by",
            "lines_starting_by",
        ],
        has_effect: |args| args.is_written_as(|format| matches!(format, Format::Outfile(_))),
        why: "it is for --format text",
    },
    Rule {
        options: &["no_header", "null", "binary"],
        has_effect: |args| args.is_written_as(|format| matches!(format, Format::Csv(_))),
        why: "it is for --format csv",
    },
    Rule {
        options: &["types", "column"],
        has_effect: |args| args.is_columnar(),
        why: "it is for --format parquet and --format arrow",
    },
    Rule {
        options: &["field_ids"],
        has_effect: |args| args.is_written_as(|format| format.name() == Some("parquet")),
        why: "it is for --format parquet",
    },
    Rule {
        options: &["timestamps"],
        has_effect: |args| {
            args.is_written_as(|format| matches!(format, Format::Csv(_) | Format::Ndjson(_)))
        },
        why: "it is for --format csv and --format ndjson",
    },
    Rule {
        options: &["include_invisible"],
        has_effect: |args| !args.is_sql() && !args.is_of_shell(),
        why: "SQL and the layout mysqlsh always include invisible columns",
    },
    Rule {
        options: &["consistency", "lock_wait_timeout", "long_query_guard"],
        has_effect: |args| args.lock.lock_mode != LockModeArg::None,
        why: "with --lock-mode none, another connection holds the lock",
    },
    Rule {
        options: &["small_tables"],
        has_effect: |args| {
            args.lock.lock_mode != LockModeArg::None && args.lock.consistency == ConsistencyArg::All
        },
        why: "it is for --consistency all without --lock-mode none",
    },
];

const SERVER: &[Rule<ServerArgs>] = &[
    Rule {
        options: &["socket"],
        has_effect: |args| args.host.as_deref().is_none_or(|host| host == "localhost"),
        why: "hosts other than localhost are reached over TCP; leave out --socket or --host",
    },
    Rule {
        options: &["port", "ssl_mode", "ssl_ca"],
        has_effect: |args| !args.is_by_socket(),
        why: "the connection uses the socket, which has no port and no TLS; use --host 127.0.0.1 for TCP",
    },
    Rule {
        options: &["defaults_file", "defaults_extra_file"],
        has_effect: |args| !args.option_files.no_defaults,
        why: "with --no-defaults, no option file is read",
    },
    Rule {
        options: &["defaults_extra_file"],
        has_effect: |args| args.option_files.defaults_file.is_none(),
        why: "with --defaults-file, no other option file is read",
    },
];

impl ServerArgs {
    /// Whether the arguments select a connection through the socket.
    fn is_by_socket(&self) -> bool {
        match self.host.as_deref() {
            None => self.socket.is_some(),
            Some(host) => host == "localhost",
        }
    }
}

const GET: &[Rule<Box<GetArgs>>] = &[Rule {
    options: &["include_invisible"],
    has_effect: |args| !args.format.is_sql(),
    why: "SQL always includes invisible columns",
}];

const SOURCE: [Rule<str>; 1] = [Rule {
    options: &["datadir", "incremental"],
    has_effect: |source| !Path::new(source).is_file(),
    why: "it is for tables named db.table, but a file is named",
}];

const READ: &[Rule<ReadArgs>] = &[
    Rule {
        options: &["read_ahead_threshold"],
        has_effect: |args| args.read_ahead == Some(ReadAheadArg::Linear),
        why: "it is for --read-ahead linear",
    },
    Rule {
        options: &["lra_size"],
        has_effect: |args| {
            let keep_window = [ReadAheadArg::Logical, ReadAheadArg::Segment, ReadAheadArg::Auto];
            keep_window.contains(&args.read_ahead()) || !args.lra_sleep.is_zero()
        },
        why: "only --read-ahead logical, segment and auto have a window",
    },
    Rule {
        options: &["tmpdir", "no_spill"],
        has_effect: |args| {
            let may_sort = [ReadAheadArg::Segment, ReadAheadArg::Auto];
            args.order == OrderArg::Key && may_sort.contains(&args.read_ahead())
        },
        why: "leaves are spilled only with --read-ahead segment or auto and --order key",
    },
];

const WARM: &[Rule<()>] = &[Rule {
    options: &["order", "tmpdir", "no_spill", "read_ahead_threshold"],
    has_effect: |()| false,
    why: "warm loads pages into the page cache and returns no rows",
}];

/// The context is whether `auto` is among the policies.
const BENCH: &[Rule<bool>] = &[
    Rule { options: &["read_ahead"], has_effect: |_| false, why: "bench runs each of --policies" },
    Rule {
        options: &["order"],
        has_effect: |picks| *picks,
        why: "each policy has an order of its own; only auto takes one",
    },
];

const TABLESPACES: &[Rule<TablespacesArgs>] = &[Rule {
    options: SERVER_OPTIONS,
    has_effect: |args| args.server_list == Some(ServerListArg::Server),
    why: "a running server is only asked with --server-list=server",
}];

const LS: &[Rule<LsArgs>] = &[Rule {
    options: &["databases", "tables_list"],
    has_effect: |args| args.sources.iter().any(|source| source.is_dir()),
    why: "it selects objects of a directory, but only files are named",
}];

const VERIFY: &[Rule<Box<VerifyArgs>>] = &[
    Rule {
        options: SERVER_OPTIONS,
        has_effect: |args| args.is_against_server(),
        why: "a running server is only asked with --against server",
    },
    Rule {
        options: &[
            "threads",
            "memory",
            "force",
            "innodb_directories",
            "innodb_data_home_dir",
            "innodb_data_file_path",
            "innodb_undo_directory",
            "incremental",
            "prepared",
        ],
        has_effect: |args| args.is_against_files(),
        why: "it is for reading the tables of --against DIR",
    },
];
