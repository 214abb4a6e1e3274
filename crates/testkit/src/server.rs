//! Real servers, installed and driven by the scripts of `tests/servers`.
//!
//! Each server has a data directory of its own, reads no option file, opens no network port and is
//! stopped by its own pid; every wait has a deadline.

use std::io::{Error, Result, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use tempfile::TempDir;

/// A running server of one version. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    version: String,
    dir: PathBuf,
    socket: PathBuf,
    running: bool,
    _own: Option<TempDir>,
}

/// Returns the folder of the scripts.
fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/servers")
}

/// Returns the output of a successful command, or the error text of another.
fn checked(what: &str, output: Output) -> Result<Vec<u8>> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(Error::other(format!("{what}: {}: {}", output.status, text.trim_end())))
}

/// Runs `server.sh VERSION COMMAND DIR ARGS...`.
fn server_sh(version: &str, command: &str, dir: &Path, args: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(scripts().join("server.sh"))
        .args([version, command])
        .arg(dir)
        .args(args)
        .stdin(Stdio::null())
        .output()?;
    checked(&format!("server.sh {version} {command}"), output)
}

/// Installs `version` if it is missing (`tests/servers/install.sh` lists the versions).
///
/// # Errors
/// The script's message about what is missing.
pub fn install(version: &str) -> Result<()> {
    let output =
        Command::new(scripts().join("install.sh")).arg(version).stdin(Stdio::null()).output()?;
    checked(&format!("install.sh {version}"), output).map(drop)
}

/// Returns the folder of the fixtures of `tests/data`, unpacked below the build directory: a folder
/// for each archive.
///
/// # Errors
/// The message of `unpack.sh`.
pub fn fixtures() -> Result<PathBuf> {
    // tests run at the same time, and one unpacking is enough
    static UNPACKED: Mutex<Option<PathBuf>> = Mutex::new(None);
    let mut unpacked = UNPACKED.lock().map_err(|_| Error::other("unpacking died before"))?;
    if let Some(root) = &*unpacked {
        return Ok(root.clone());
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or(workspace.join("target"), PathBuf::from);
    let root = target.join("fixtures");
    let script = workspace.join("tests/data/unpack.sh");
    let output = Command::new(script).arg(&root).stdin(Stdio::null()).output()?;
    checked("unpack.sh", output)?;
    Ok(unpacked.insert(root.canonicalize()?).clone())
}

impl Server {
    /// Starts a new server of `version` with an empty data directory, created with `options` (such
    /// as `--innodb-page-size=4k`), which later starts use, too.
    ///
    /// # Errors
    /// When the server cannot be installed, initialized or started.
    pub fn start(version: &str, options: &[&str]) -> Result<Self> {
        let own = tempfile::Builder::new().prefix("innoscan-server-").tempdir()?;
        let dir = own.path().to_owned();
        let mut server = Self::start_in(version, &dir, options)?;
        server._own = Some(own);
        Ok(server)
    }

    /// Starts a server in `dir`, which is kept; an existing data directory is used unchanged.
    ///
    /// # Errors
    /// When the server cannot be installed, initialized or started.
    pub fn start_in(version: &str, dir: &Path, options: &[&str]) -> Result<Self> {
        install(version)?;
        let mut all = vec!["--default-time-zone=+00:00", "--character-set-server=utf8mb4"];
        all.extend(options);
        server_sh(version, "run", dir, &all)?;
        let mut server = Self {
            version: version.to_owned(),
            dir: dir.to_owned(),
            socket: PathBuf::new(),
            running: true,
            _own: None,
        };
        let socket = server_sh(version, "socket", dir, &[])?;
        server.socket = String::from_utf8_lossy(&socket).trim_end().into();
        Ok(server)
    }

    /// Starts the server again after [`Self::stop`], on the same files.
    ///
    /// # Errors
    /// When the server cannot be started.
    pub fn restart(&mut self) -> Result<()> {
        server_sh(&self.version, "start", &self.dir, &[])?;
        self.running = true;
        Ok(())
    }

    /// Starts the server again after [`Self::stop`], this once with `options` too.
    ///
    /// # Errors
    /// When the server cannot be started.
    pub fn restart_with(&mut self, options: &[&str]) -> Result<()> {
        server_sh(&self.version, "start", &self.dir, options)?;
        self.running = true;
        Ok(())
    }

    /// Returns a server on a copy of the files of this one, which does not run.
    ///
    /// # Errors
    /// When this one runs, or its files cannot be copied.
    pub fn copy(&self) -> Result<Self> {
        if self.running {
            return Err(Error::other("a running server's files cannot be copied"));
        }
        let own = tempfile::Builder::new().prefix("innoscan-server-").tempdir()?;
        let dir = own.path().to_owned();
        let output = Command::new("cp")
            .args(["-a", "--sparse=always", "--"])
            .args([self.dir.join("data"), self.dir.join("options"), dir.clone()])
            .stdin(Stdio::null())
            .output()?;
        checked("cp", output)?;
        let socket = server_sh(&self.version, "socket", &dir, &[])?;
        Ok(Self {
            version: self.version.clone(),
            socket: String::from_utf8_lossy(&socket).trim_end().into(),
            dir,
            running: false,
            _own: Some(own),
        })
    }

    /// Returns the version, as `install.sh` names it.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the path of the data directory.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// Returns the path of the socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Runs statements and returns the client's output: a line per row, cells separated by tabs,
    /// nothing escaped. Time zone +00:00, character set utf8mb4.
    ///
    /// # Errors
    /// The first statement that fails ends the run.
    pub fn sql(&self, statements: impl AsRef<[u8]>) -> Result<Vec<u8>> {
        let mut input = b"SET time_zone = '+00:00';\n".to_vec();
        input.extend_from_slice(statements.as_ref());
        self.feed(&mut &*input)
    }

    /// Passes a dump, or any stream of statements, to the client.
    ///
    /// # Errors
    /// The first statement that fails ends the run.
    pub fn feed(&self, input: &mut dyn std::io::Read) -> Result<Vec<u8>> {
        self.client().feed(input)
    }

    /// Returns a client of the server, for another thread.
    #[must_use]
    pub fn client(&self) -> Client {
        Client { socket: self.socket.clone() }
    }

    /// Returns `CHECKSUM TABLE`; `None` when the server returns NULL.
    ///
    /// # Errors
    /// When the table is missing, or the server has stopped.
    pub fn checksum(&self, db: &str, table: &str) -> Result<Option<u64>> {
        let text = self.sql(format!("CHECKSUM TABLE {}.{};", quote(db), quote(table)))?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.trim_end().rsplit('\t').next().and_then(|cell| cell.parse().ok()))
    }

    /// Returns the statements in the server's binary logs, up to a position in one of them.
    ///
    /// # Errors
    /// The message of the reader of binary logs.
    pub fn logged(&self, file: &str, position: u64) -> Result<Vec<u8>> {
        let (stem, last) = file.rsplit_once('.').ok_or_else(|| Error::other(file.to_owned()))?;
        let last: u32 = last.parse().map_err(Error::other)?;
        let files = (1..=last).map(|number| self.data().join(format!("{stem}.{number:06}")));
        let stop = format!("--stop-position={position}");
        let files: Vec<String> = files.map(|file| file.to_string_lossy().into_owned()).collect();
        let args: Vec<&str> =
            std::iter::once(&*stop).chain(files.iter().map(String::as_str)).collect();
        server_sh(&self.version, "binlog", &self.dir, &args)
    }

    /// Shuts the server down cleanly and waits until it has stopped.
    ///
    /// # Errors
    /// When the server is still running at the deadline.
    pub fn stop(&mut self) -> Result<()> {
        server_sh(&self.version, "stop", &self.dir, &[])?;
        self.running = false;
        Ok(())
    }

    /// Kills the server, like a crash.
    ///
    /// # Errors
    /// When the server is still running at the deadline.
    pub fn kill(&mut self) -> Result<()> {
        server_sh(&self.version, "kill", &self.dir, &[])?;
        self.running = false;
        Ok(())
    }
}

/// A client of a server. It does not keep the server running.
#[derive(Clone, Debug)]
pub struct Client {
    socket: PathBuf,
}

impl Client {
    /// Runs a stream of statements and returns the output.
    ///
    /// # Errors
    /// The first statement that fails ends the run.
    pub fn feed(&self, input: &mut dyn std::io::Read) -> Result<Vec<u8>> {
        let mut client = Command::new("mariadb")
            .args(["--no-defaults", "--skip-ssl", "-uroot", "-N", "-B", "-r", "--binary-mode"])
            .args(["--default-character-set=utf8mb4", "--max-allowed-packet=64M", "-S"])
            .arg(&self.socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stdin = client.stdin.take();
        std::thread::scope(|scope| {
            // the client answers while it still reads: both ends have to move
            let waiter = scope.spawn(move || client.wait_with_output());
            if let Some(pipe) = stdin.as_mut() {
                // a client that stops early reports the reason itself
                let _ = std::io::copy(input, pipe).and_then(|_| pipe.flush());
            }
            drop(stdin.take());
            let output = waiter.join().map_err(|_| Error::other("the client's thread died"))??;
            checked("mariadb", output)
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.running && self.stop().is_err() {
            let _ = self.kill();
        }
    }
}

/// Returns an identifier in backticks.
#[must_use]
pub fn quote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `INNOSCAN_LIVE` names the versions instead of Debian's own.
    #[test]
    fn a_server_starts_answers_and_stops() {
        let versions = std::env::var("INNOSCAN_LIVE").unwrap_or("mariadb-10.11".into());
        for version in versions.split(',').filter(|version| !version.is_empty()) {
            let mut server = Server::start(version, &[]).unwrap();
            let create = "CREATE DATABASE d; CREATE TABLE d.t (a INT) ENGINE=InnoDB;";
            server.sql(format!("{create} INSERT INTO d.t VALUES (1),(2);")).unwrap();
            assert_eq!(server.sql("SELECT SUM(a) FROM d.t").unwrap(), b"3\n");
            let before = server.checksum("d", "t").unwrap();
            assert!(before.is_some());
            assert!(server.sql("SELECT nonsense").unwrap_err().to_string().contains("nonsense"));
            server.stop().unwrap();
            assert!(server.data().join("d/t.ibd").exists());
            assert!(server.sql("SELECT 1").is_err());
            server.restart().unwrap();
            assert_eq!(server.checksum("d", "t").unwrap(), before);
            server.kill().unwrap();
        }
    }
}
