//! The data directory of a server, verified.
//!
//! A server reports its data directory, but it may run on another machine or in a container. So the
//! process that holds the lock on that directory's system tablespace (`os_file_lock`, os0file.cc) must be
//! the server that answers: the process at the other end of the socket, or the one in the server's pid
//! file. Each table's file is verified again when it is locked: `FLUSH TABLES ... FOR EXPORT` writes a
//! `.cfg` beside it (see [`lock`](crate::lock)).

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use innoscan_catalog::datadir::lock_holder;
use innoscan_catalog::system_files::SystemFiles;
use innoscan_engine::{Error, Result};
use rustix::process::Pid;

use crate::account::Account;
use crate::session::Session;

/// The data directory of a server.
///
/// # Errors
/// If it is not on this machine, or belongs to another server.
pub fn data_directory(session: &mut Session, account: &Account) -> Result<PathBuf> {
    let said = session.text("SELECT @@datadir")?.unwrap_or_default();
    let path = std::fs::canonicalize(&said).map_err(|error| {
        Error::refused(
            format!("the server's data directory {said} is not accessible here: {error}"),
            "run innoscan on the server's machine (outside the container, if it runs in one), \
             as a user that may read the directory",
        )
    })?;
    let holder = holder_of(&system_tablespace(session, &path)?)?;
    let answering = match account.socket()? {
        Some(socket) => peer_of(&socket)?,
        None => pid_of_file(session, &path)?,
    };
    if holder != answering {
        return Err(Error::refused(
            format!(
                "the server that answers at {} is process {answering}, but the files of {} are held \
                 by process {holder}: the directory belongs to another server",
                account.place(),
                path.display()
            ),
            "connect to the server whose directory it is, on its own machine",
        ));
    }
    Ok(path)
}

/// The first file of the server's system tablespace.
fn system_tablespace(session: &mut Session, directory: &Path) -> Result<PathBuf> {
    let home = session.text("SELECT @@innodb_data_home_dir")?.filter(|home| !home.is_empty());
    let path = session.text("SELECT @@innodb_data_file_path")?.and_then(|path| path.parse().ok());
    // A relative one is relative to the data directory, where servers run.
    let home = home.map(|home| directory.join(home));
    Ok(SystemFiles { home, path }.first(directory))
}

/// The process that has the system tablespace locked, by its first file.
fn holder_of(path: &Path) -> Result<i32> {
    let held = lock_holder(path).map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => Error::permission(
            "you may not read the server's files",
            "run innoscan as root, or as the server's own user",
        )
        .in_file(path),
        _ => Error::read("cannot find out which process has it locked", error).in_file(path),
    })?;
    let pid = held.and_then(|lock| lock.pid).map(Pid::as_raw_nonzero);
    pid.map(|pid| pid.get()).ok_or_else(|| {
        Error::refused(
            "no process of this machine has it locked: the server has another data directory, or \
             runs on another machine",
            "run innoscan on the server's machine, outside any container",
        )
        .in_file(path)
    })
}

/// The process at the other end of a socket.
fn peer_of(socket: &Path) -> Result<i32> {
    let stream = UnixStream::connect(socket)
        .map_err(|error| Error::read("connecting", error).in_file(socket))?;
    let peer = rustix::net::sockopt::socket_peercred(&stream).map_err(|error| {
        Error::read("cannot find out which process listens", error.into()).in_file(socket)
    })?;
    Ok(peer.pid.as_raw_nonzero().get())
}

fn pid_of_file(session: &mut Session, directory: &Path) -> Result<i32> {
    let file = directory.join(session.text("SELECT @@pid_file")?.unwrap_or_default());
    let text = std::fs::read_to_string(&file)
        .map_err(|error| Error::read("cannot read the server's pid file", error).in_file(&file))?;
    text.trim().parse().map_err(|_| {
        let what = format!("the server's pid file holds `{}`", text.trim());
        Error::refused(what, "connect by the server's socket").in_file(&file)
    })
}
