//! The integration tests: one binary.

mod backups;
mod check;
mod corpus;
mod cut_short;
mod damage;
mod datadir;
mod ddl;
mod frm;
mod frm_objects;
mod fuzz;
mod holds;
mod inspect;
mod keys;
mod layouts;
mod live;
mod objects;
mod other_engines;
mod pages;
mod parity;
mod read_ahead;
mod restore;
mod sdi;
mod shell_loader;
mod tablespaces;
mod tidy;
mod usage;
