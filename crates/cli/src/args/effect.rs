//! Options that would have no effect beside the others: they are refused, so that nobody believes
//! they had one.

use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::dump::{DumpArgs, FormatArg, GetArgs, LayoutArg};
use super::ls::LsArgs;
use super::server::{ConsistencyArg, LockModeArg, ServerArgs};
use super::tablespaces::{ServerListArg, TablespacesArgs};
use super::verify::VerifyArgs;
use super::{OrderArg, ReadAheadArg, ReadArgs, Verb};

/// Options of a verb, and when they have an effect.
struct Rule<C: ?Sized> {
    /// Their ids: the names of the arguments' fields.
    options: &'static [&'static str],
    has_effect: fn(&C) -> bool,
    /// Why they have none otherwise, and what to do.
    why: &'static str,
}

/// Why one of the options that were typed has no effect: the first such.
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

    /// `dump -u root shop`, as mysqldump takes it: a database where files are named.
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
        // What follows -p may be meant as a password.
        if args.server.password.is_some() {
            return Some(
                "what follows -p is neither a file nor a password: databases of a running server are \
                 named with -B, tables with -T DB.TABLE"
                    .to_owned(),
            );
        }
        let named = args.sources.iter().filter(is_name);
        let databases: Vec<&str> = args.databases.iter().chain(named).map(String::as_str).collect();
        let databases = databases.join(",");
        Some(format!(
            "there is no file of that name: use -B {databases} for databases of a running server or of \
             a data directory, -T DB.TABLE for tables"
        ))
    }

    /// Of reading the tables of files.
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

/// Where a dump's tables come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Server,
    Directory,
    /// Tables that are named one by one.
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
        self.outputdir != "-"
    }

    fn is_of_shell(&self) -> bool {
        self.is_to_directory() && self.layout == Some(LayoutArg::Mysqlsh)
    }

    fn is_sql(&self) -> bool {
        self.is_written_as(FormatArg::Sql)
    }

    fn is_written_as(&self, format: FormatArg) -> bool {
        !self.is_of_shell() && self.format.unwrap_or(FormatArg::Sql) == format
    }

    /// Whether it is for a loader, which reads every file there is.
    fn is_for_loader(&self) -> bool {
        let is_default = self.layout.is_none() && self.is_sql();
        let is_one = matches!(self.layout, Some(LayoutArg::Mydumper | LayoutArg::Mysqlsh));
        self.is_to_directory() && (is_default || is_one)
    }

    /// Why the rows of what was named cannot go to stdout, where that is certain before it is looked
    /// at.
    fn untold_tables(&self) -> Option<String> {
        let from = self.comes_from();
        let is_all =
            self.tables_list.is_empty() && self.databases.is_empty() && from != From::Tables;
        let named = [&self.sources, &self.databases, &self.tables_list];
        let is_many = named.iter().any(|names| names.len() > 1);
        let is_stream = !self.is_to_directory() && !self.is_sql() && self.regex.is_none();
        (is_stream && (is_all || is_many)).then(|| {
            "rows of several tables on stdout could not be told apart in this format: name a directory \
             with -o, one table, or use --format sql"
                .to_owned()
        })
    }

    /// Whether definitions are written: rows alone go to stdout in other formats than SQL.
    fn has_definitions(&self) -> bool {
        !self.no_schemas && (self.is_sql() || self.is_to_directory())
    }
}

/// Options that say where a server is, and as whom one goes there.
const SERVER_OPTIONS: &[&str] = &[
    "socket",
    "host",
    "port",
    "user",
    "password",
    "ssl_mode",
    "ssl_ca",
    "defaults_file",
    "defaults_extra_file",
    "no_defaults",
];

const DUMP: &[Rule<Box<DumpArgs>>] = &[
    Rule {
        options: SERVER_OPTIONS,
        has_effect: |args| args.is_of_server(),
        why: "it is of a running server, and files were named; leave out one or the other",
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
        why: "files are read without a lock; it is for the tables of a running server (--socket)",
    },
    Rule {
        options: &["no_views", "no_triggers", "no_routines", "no_events", "users"],
        has_effect: |args| args.comes_from() != From::Tables,
        why: "tables are named one by one; views, triggers, routines, events and accounts are \
              dumped from a directory or a running server",
    },
    Rule {
        options: &["no_views", "no_triggers", "no_routines", "no_events", "users"],
        has_effect: |args| args.has_definitions(),
        why: "only rows are written, no definitions",
    },
    Rule {
        options: &["databases", "tables_list", "all_databases", "ignore_table", "regex"],
        has_effect: |args| args.comes_from() != From::Tables,
        why: "it picks tables of a data directory or of a running server, and here the tables are \
              named one by one",
    },
    Rule {
        options: &["datadir"],
        has_effect: |args| args.comes_from() == From::Tables,
        why: "it is for tables that are named as db.table; a directory is dumped by its name alone",
    },
    Rule {
        options: &["schema", "force"],
        has_effect: |args| !args.is_of_server(),
        why: "it is for files, and none is named",
    },
    Rule {
        options: &["layout", "chunk_filesize", "no_checksums", "resume", "overwrite"],
        has_effect: |args| args.is_to_directory(),
        why: "it is for a dump into a directory, and the output is stdout; name a directory with -o",
    },
    Rule {
        options: &["overwrite"],
        has_effect: |args| !args.is_for_loader(),
        why: "a loader would load all files of the directory, the old ones too; give an empty \
              directory, or use --layout files",
    },
    Rule {
        options: &["no_schemas"],
        has_effect: |args| !args.no_data,
        why: "with --no-data it leaves nothing to dump",
    },
    Rule {
        options: &["no_data"],
        has_effect: |args| args.has_definitions(),
        why: "only rows are written to stdout in this format; use --format sql, or name a directory \
              with -o",
    },
    Rule {
        options: &["no_checksums"],
        has_effect: |args| args.is_for_loader() && !args.no_data,
        why: "checksums of rows are written in the layouts mydumper and mysqlsh only",
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
        why: "no CREATE TABLE is written; that takes --format sql, or a directory (-o)",
    },
    Rule {
        options: &["fields_terminated_by", "lines_terminated_by"],
        has_effect: |args| {
            args.is_written_as(FormatArg::Text) || args.is_written_as(FormatArg::Csv)
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
        has_effect: |args| args.is_written_as(FormatArg::Text),
        why: "it is for --format text",
    },
    Rule {
        options: &["no_header", "null", "binary"],
        has_effect: |args| args.is_written_as(FormatArg::Csv),
        why: "it is for --format csv",
    },
    Rule {
        options: &["timestamps"],
        has_effect: |args| {
            args.is_written_as(FormatArg::Csv) || args.is_written_as(FormatArg::Ndjson)
        },
        why: "it is for --format csv and --format ndjson",
    },
    Rule {
        options: &["include_invisible"],
        has_effect: |args| !args.is_sql() && !args.is_of_shell(),
        why: "SQL and the layout mysqlsh always have invisible columns",
    },
    Rule {
        options: &["consistency", "lock_wait_timeout", "long_query_guard"],
        has_effect: |args| args.lock.lock_mode != LockModeArg::None,
        why: "with --lock-mode none another connection holds the tables",
    },
    Rule {
        options: &["small_tables"],
        has_effect: |args| {
            args.lock.lock_mode != LockModeArg::None && args.lock.consistency == ConsistencyArg::All
        },
        why: "it is for tables that are locked all at once",
    },
];

const SERVER: &[Rule<ServerArgs>] = &[
    Rule {
        options: &["socket"],
        has_effect: |args| args.host.as_deref().is_none_or(|host| host == "localhost"),
        why: "a host other than localhost is reached over TCP; leave out --socket or --host",
    },
    Rule {
        options: &["port", "ssl_mode", "ssl_ca"],
        has_effect: |args| !args.is_by_socket(),
        why: "the server is reached by its socket, without port or TLS; use --host 127.0.0.1 for TCP",
    },
    Rule {
        options: &["defaults_file", "defaults_extra_file"],
        has_effect: |args| !args.no_defaults,
        why: "with --no-defaults no option file is read",
    },
    Rule {
        options: &["defaults_extra_file"],
        has_effect: |args| args.defaults_file.is_none(),
        why: "with --defaults-file no other option file is read",
    },
];

impl ServerArgs {
    /// Whether what was typed says that the server is reached by its socket.
    fn is_by_socket(&self) -> bool {
        match self.host.as_deref() {
            None => self.socket.is_some(),
            Some(host) => host == "localhost",
        }
    }
}

const GET: &[Rule<Box<GetArgs>>] = &[Rule {
    options: &["include_invisible"],
    has_effect: |args| args.format != FormatArg::Sql,
    why: "SQL always has invisible columns",
}];

const SOURCE: [Rule<str>; 1] = [Rule {
    options: &["datadir"],
    has_effect: |source| !Path::new(source).is_file(),
    why: "it is for tables that are named as db.table, and a file is named",
}];

const READ: &[Rule<ReadArgs>] = &[
    Rule {
        options: &["read_ahead_threshold"],
        has_effect: |args| args.read_ahead == Some(ReadAheadArg::Linear),
        why: "it is for --read-ahead linear",
    },
    Rule {
        options: &["tmpdir"],
        has_effect: |args| {
            let may_sort = [Some(ReadAheadArg::Segment), Some(ReadAheadArg::Auto)];
            args.order == OrderArg::Key && may_sort.contains(&args.read_ahead)
        },
        why: "leaves are set aside only with --read-ahead segment or auto and --order key",
    },
];

const WARM: &[Rule<()>] = &[Rule {
    options: &["order", "tmpdir", "read_ahead_threshold"],
    has_effect: |()| false,
    why: "warm reads pages into the page cache and delivers no rows",
}];

/// Whether one of the policies is picked.
const BENCH: &[Rule<bool>] = &[
    Rule {
        options: &["read_ahead"],
        has_effect: |_| false,
        why: "bench reads under each of --policies",
    },
    Rule {
        options: &["order"],
        has_effect: |picks| *picks,
        why: "bench reads in the order of each policy; only auto is given one",
    },
];

const TABLESPACES: &[Rule<TablespacesArgs>] = &[Rule {
    options: SERVER_OPTIONS,
    has_effect: |args| args.server_list == Some(ServerListArg::Server),
    why: "a running server is asked only with --server-list=server",
}];

const LS: &[Rule<LsArgs>] = &[Rule {
    options: &["databases", "tables_list"],
    has_effect: |args| args.sources.iter().any(|source| source.is_dir()),
    why: "it picks objects of a directory, and files are named",
}];

const VERIFY: &[Rule<Box<VerifyArgs>>] = &[
    Rule {
        options: &[
            "socket",
            "host",
            "port",
            "user",
            "password",
            "ssl_mode",
            "ssl_ca",
            "defaults_file",
            "defaults_extra_file",
            "no_defaults",
        ],
        has_effect: |args| args.is_against_server(),
        why: "a running server is asked only with --against server",
    },
    Rule {
        options: &["threads", "memory", "force"],
        has_effect: |args| args.is_against_files(),
        why: "it is for reading the tables of --against DIR",
    },
];
