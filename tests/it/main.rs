//! The integration tests: one binary.

/// A path inside of the folder `tests`.
fn tests_dir(below: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(below)
}

mod backups;
mod changed_plan;
mod check;
mod checksums;
#[cfg(feature = "columnar")]
mod columns;
mod corpus;
mod cut_short;
mod damage;
mod datadir;
mod ddl;
mod elsewhere;
mod encrypted;
mod facade;
mod failing_output;
mod frm;
mod frm_objects;
mod fuzz;
mod given_definition;
mod here;
mod holds;
mod inspect;
mod json_schema;
mod keys;
mod killed;
mod layouts;
mod ledger;
mod ledger_random;
mod live;
mod log;
mod ls;
mod manual;
mod metrics;
mod mysql_objects;
mod objects;
mod offline_restore;
mod other_engines;
mod pages;
mod parity;
mod read_ahead;
mod restore;
mod sdi;
mod shell_loader;
#[cfg(feature = "columnar")]
mod single_file;
mod small_tables;
mod snapshots;
#[cfg(feature = "columnar")]
mod splits;
mod string_literals;
mod tablespaces;
mod tidy;
mod timestamps;
mod unfinished;
mod usage;
mod verify;
mod views;
mod where_condition;
mod words;
