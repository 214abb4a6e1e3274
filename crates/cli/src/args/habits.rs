//! Options that users of mysqldump, mydumper and mysql type out of habit, with an answer to each.

use std::ffi::OsString;

/// The message about a password on the command line, if there is one. `typed` has the program name
/// first. Checked before parsing, since a parser's message would repeat the password.
pub fn refusal(typed: &[OsString]) -> Option<&'static str> {
    let words = words(typed);
    words.iter().any(|word| is_password(word)).then_some(
        "a password on the command line is visible to all users of the machine: use -p alone, an \
         option file, or MYSQL_PWD",
    )
}

/// The same words, with a trailing `-h`, which has no host after it, as a request for help.
pub fn with_help(mut typed: Vec<OsString>) -> Vec<OsString> {
    if words(&typed).last() == Some(&"-h")
        && let Some(last) = typed.last_mut()
    {
        *last = "--short-help".into();
    }
    typed
}

/// The words up to `--` after a command that connects to servers; none for other commands.
fn words(typed: &[OsString]) -> Vec<&str> {
    let mut words = typed.iter().skip(1).map(|word| word.to_str().unwrap_or_default());
    let goes_to_server = matches!(words.next(), Some("dump" | "tablespaces" | "verify"));
    words.take_while(|word| goes_to_server && *word != "--").collect()
}

/// Short flags of `dump`, `tablespaces` and `verify` without a value: other flags may follow in the
/// same word.
const FLAGS: &str = "AdmNqvW";

/// `-pSECRET`, also after flags in the same word, or `--password=SECRET`.
fn is_password(word: &str) -> bool {
    let secret = match word.strip_prefix("--") {
        Some(long) => long.strip_prefix("password="),
        None => word.strip_prefix('-').and_then(|letters| {
            letters.trim_start_matches(|c| FLAGS.contains(c)).strip_prefix('p')
        }),
    };
    secret.is_some_and(|secret| !secret.is_empty())
}

/// The answer to an option of another program that innoscan does not have; `None` if no such program
/// has it either.
pub fn instead_of(option: &str) -> Option<String> {
    let name = option.split('=').next().unwrap_or(option);
    let long = name.strip_prefix("--").map(|long| long.replace('_', "-"));
    let name = long.as_ref().map_or_else(|| name.to_owned(), |long| format!("--{long}"));
    let known = OPTIONS.iter().find(|(names, _)| names.contains(&&*name));
    if let Some((_, answer)) = known {
        return Some(format!("there is no {name}; {answer}"));
    }
    let skipped = name.strip_prefix("--skip-")?;
    let has_no = match skipped {
        "triggers" => "use --no-triggers",
        "views" => "use --no-views",
        "routines" => "use --no-routines",
        "events" => "use --no-events",
        "add-drop-table" => "not needed: DROP TABLE is written only with --add-drop-table",
        "ssl" => "use --ssl-mode DISABLED",
        _ => "see --help for the options of innoscan",
    };
    Some(format!("there is no {name}; {has_no}"))
}

/// Options of mysqldump (MySQL 9.7, MariaDB 11.8), mydumper (0.19), MySQL Shell (9) and xtrabackup
/// that innoscan does not have, and what to do instead.
const OPTIONS: &[(&[&str], &str)] = &[
    (
        &["--single-transaction", "--trx-tables", "--trx-consistency-only", "--use-savepoints"],
        "not needed: a dump is one consistent snapshot of all tables",
    ),
    (
        &["--lock-tables", "-l", "--lock-all-tables", "--no-locks", "--less-locking"],
        "not needed: tables are locked while they are read; see --lock-mode and --consistency",
    ),
    (
        &["--routines", "-R"],
        "not needed: functions, procedures and packages are dumped, unless --no-routines is given",
    ),
    (&["--events", "-E"], "not needed: events are dumped, unless --no-events is given"),
    (&["--triggers", "-G"], "not needed: triggers are dumped, unless --no-triggers is given"),
    (&["--views"], "not needed: views are dumped, unless --no-views is given"),
    (
        &[
            "--opt",
            "--add-locks",
            "--disable-keys",
            "-K",
            "--set-charset",
            "--create-options",
            "--quote-names",
            "-Q",
            "--no-autocommit",
            "--comments",
            "-i",
            "--dump-date",
        ],
        "not needed: the dump loads fast without it",
    ),
    (&["--quick", "--low-memory"], "not needed: --memory limits the memory for tables of any size"),
    (&["--all", "-a"], "use --all-databases (-A) for all databases of a server"),
    (&["--hex-blob"], "not needed: binary values are always written as 0x..."),
    (
        &["--extended-insert", "-e"],
        "not needed: an INSERT has many rows, up to --statement-size bytes",
    ),
    (&["--complete-insert"], "not needed: every INSERT names its columns"),
    (
        &["--rows", "-r", "--chunk-rows"],
        "use --chunk-filesize (-F) to split files by size; all threads work on one table at a time",
    ),
    (
        &[
            "--master-data",
            "--source-data",
            "--dump-slave",
            "--dump-replica",
            "--gtid",
            "--include-master-host-port",
            "--include-source-host-port",
        ],
        "not needed: a dump of a running server always records the binary log position and the GTIDs",
    ),
    (
        &["--set-gtid-purged"],
        "not needed: the GTIDs are recorded (in SQL as a comment), but not set",
    ),
    (&["--result-file"], "use > FILE, or -o DIR for a directory"),
    (&["--tab"], "use --format text -o DIR"),
    (&["--xml", "-X"], "use --format csv or ndjson"),
    (
        &["--compress-protocol", "--compression-algorithms", "-C"],
        "not needed: rows are read from files, not over a connection; -c compresses the output",
    ),
    (
        &["--no-tablespaces", "-y", "--all-tablespaces", "-Y"],
        "not needed: CREATE TABLESPACE is never written",
    ),
    (&["--column-statistics"], "not needed: histograms are never dumped"),
    (
        &["--default-character-set", "--no-set-names"],
        "not needed: text is written in the character set of its column",
    ),
    (&["--max-allowed-packet", "--net-buffer-length"], "use --statement-size (-s)"),
    (&["--no-create-info"], "use --no-schemas (-m)"),
    (&["--no-create-db", "-n"], "not needed: CREATE DATABASE is written with IF NOT EXISTS"),
    (&["--add-drop-database"], "use --add-drop-table, or drop the database with a client"),
    (&["--tables"], "use -T DB.TABLE,DB.TABLE"),
    (&["--database"], "use --databases (-B)"),
    (&["--ignore-database"], "use --ignore-table DB"),
    (&["--order-by-primary"], "not needed: rows are in primary key order"),
    (&["--tz-utc"], "not needed: TIMESTAMP values are always in UTC"),
    (&["--compact"], "not needed: the SQL has few comments, and no LOCK TABLES or DISABLE KEYS"),
    (
        &["--compatible", "--dialect"],
        "the SQL is for MySQL and MariaDB; for other programs use --format csv, text or ndjson",
    ),
    (
        &["--flush-logs", "--delete-master-logs", "--delete-source-logs"],
        "use FLUSH LOGS or PURGE BINARY LOGS in a client: a dump changes nothing on the server",
    ),
    (
        &["--flush-privileges", "--system"],
        "use --users: accounts are written as CREATE USER and GRANT, which need no FLUSH PRIVILEGES",
    ),
    (
        &["-f", "--success-on-1146", "--ignore-errors"],
        "not needed: a table that cannot be dumped does not stop the others, and the exit code is 2; \
         --force has another meaning here, see --help",
    ),
    (
        &["-k"],
        "use --lock-mode none while another connection holds FLUSH TABLES ... FOR EXPORT, or \
         --consistency table for short locks",
    ),
    (
        &["--sync-thread-lock-mode", "--no-backup-locks", "--no-ddl-lock", "--lock-ddl"],
        "see --lock-mode and --consistency for how tables are locked",
    ),
    (
        &["--logfile", "-L", "--log-error"],
        "use 2> FILE: all messages go to stderr, and innoscan.json lists what was dumped",
    ),
    (
        &["--daemon", "-D", "--snapshot-interval", "-I", "--snapshot-count"],
        "use cron or a systemd timer; docs/cron.md has an example",
    ),
    (&["--parallel", "--use-threads"], "use --threads (-t)"),
    (&["--target-dir", "--output-directory"], "use --outputdir (-o)"),
    (
        &["--backup"],
        "innoscan dump writes rows, not copies of files; to dump from a physical backup, prepare it \
         and name its directory",
    ),
    (
        &[
            "--prepare",
            "--apply-log",
            "--copy-back",
            "--move-back",
            "--export",
            "--incremental-basedir",
        ],
        "use the program that made the backup; innoscan dump reads prepared backups",
    ),
    (
        &["--build-empty-files"],
        "not needed: the definition of a table without rows is dumped, and innoscan.json lists it",
    ),
    (
        &["--omit-from-file", "-O", "--ignore-engines", "--exclude-tables", "--exclude-schemas"],
        "use --ignore-table DB,DB.TABLE or --regex",
    ),
    (&["--include-tables"], "use --tables-list (-T)"),
    (&["--include-schemas", "--schemas"], "use --databases (-B)"),
    (
        &["--ignore-table-data", "--no-data-med"],
        "use --no-data (-d) with -T for tables without rows, and --ignore-table for the rest",
    ),
    (
        &["--updated-since", "-U"],
        "use -T with the tables that UPDATE_TIME in information_schema.tables shows",
    ),
    (
        &["--as-of", "--dump-history", "-H"],
        "only the current rows of system-versioned tables are dumped; mariadb-dump can dump the history",
    ),
    (&["--ask-password"], "use --password (-p), without a value"),
    (&["--protocol"], "use --socket (-S) or --host (-h)"),
    (&["--ssl-verify-server-cert"], "use --ssl-mode VERIFY_IDENTITY"),
    (&["--ca"], "use --ssl-ca"),
    (
        &["--ocimds", "--compatibility", "--skip-definer"],
        "definitions are written as the server shows them; edit them (with sed, for example) for another target",
    ),
    (&["--ddl-only"], "use --no-data (-d)"),
    (&["--data-only"], "use --no-schemas (-m)"),
    (&["--show-progress", "--progress"], "not needed: progress is shown unless --quiet is given"),
    (&["--bytes-per-chunk", "--chunking"], "use --chunk-filesize (-F)"),
    (&["--order-by-size"], "not needed: small tables are read in parallel"),
    (&["--add-drop-trigger"], "not needed: --add-drop-table drops a table's triggers too"),
    (
        &["--apply-slave-statements", "--apply-replica-statements"],
        "set up the replica in a client: innoscan.json has the binary log position",
    ),
    (&["--delayed-insert"], "InnoDB has no INSERT DELAYED; see --insert-ignore and --replace"),
    (&["--header"], "use --format csv, which starts with a header line"),
    (&["--max-statement-time"], "not needed: rows are read from files, not by statements"),
    (
        &[
            "--ssl-cert",
            "--ssl-key",
            "--ssl-cipher",
            "--ssl-capath",
            "--ssl-crl",
            "--ssl-crlpath",
            "--tls-version",
            "--cert",
            "--capath",
            "--cipher",
        ],
        "use --socket (-S) on the server's machine, or --ssl-mode and --ssl-ca",
    ),
    (
        &["--plugin-dir", "--default-auth"],
        "not needed: the authentication plugin of the account is used",
    ),
    (&["--stream"], "leave out --outputdir to write one stream to stdout"),
    (
        &["--kill-long-queries"],
        "no query is ever killed; --long-query-guard refuses to wait for long ones",
    ),
    (&["--ssl"], "use --ssl-mode REQUIRED"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_seen_in_all_its_forms() {
        for word in ["-pSECRET", "-ppw", "-pwd", "-p=x", "-Apw", "-qpx", "--password=x"] {
            assert!(is_password(word), "{word}");
        }
        for word in ["-p", "-Ap", "--password", "-P3306", "-tp", "--port=3", "p", "-", "--"] {
            assert!(!is_password(word), "{word}");
        }
    }

    #[test]
    fn every_answer_is_of_an_option_that_is_not_there() {
        let mut command = <super::super::Cli as clap::CommandFactory>::command();
        command.build();
        let dump = command.find_subcommand("dump").unwrap();
        let has = |name: &str| {
            dump.get_arguments().any(|argument| match name.strip_prefix("--") {
                Some(long) => argument.get_long() == Some(long),
                None => argument.get_short() == name.chars().nth(1),
            })
        };
        for (names, _) in OPTIONS {
            for name in *names {
                assert!(!has(name), "{name}");
            }
        }
        assert_eq!(
            instead_of("--single_transaction").unwrap(),
            "there is no --single-transaction; not needed: a dump is one consistent snapshot of all tables"
        );
        assert_eq!(instead_of("--nonsense"), None);
    }
}
