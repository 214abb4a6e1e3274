//! The server's binary log, as far as it tells which prepared transactions were committed.
//!
//! ```text
//! file    FE "bin", then events; FD "bin": encrypted (MySQL 8)
//! event   0 time   4 type   5 server   9 length of the whole event   13 position of the next   17 flags
//! type 16 XID (8, after the header, the last event of a transaction)
//!       2 a statement, also XA COMMIT     38 XA PREPARE: one phase (1), format (4), lengths (4, 4), name
//!      15 the first event     40 compressed transactions (MySQL 8.0.20)
//!     161 the file from which MariaDB's recovery begins: length (4), name      164 encrypted (MariaDB)
//! ```
//!
//! A server looks in the last file, MariaDB from the file named by the last event of type 161 on
//! (`TC_LOG_BINLOG::recover`, log.cc, MariaDB 10.11; `Binlog_recovery`, MySQL 8.0).

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Remedy, Result};
use innoscan_format::bytes;
use innoscan_format::page::undo::Xid;

/// `BINLOG_MAGIC`.
const MAGIC: &[u8; 4] = b"\xFEbin";
/// `Rpl_encryption_header::ENCRYPTION_MAGIC`.
const MAGIC_ENCRYPTED: &[u8; 4] = b"\xFDbin";
/// `LOG_EVENT_HEADER_LEN`.
const HEADER_BYTES: usize = 19;
/// The most bytes of an event of the types that are looked into.
const BODY_BYTES_MAX: u64 = 64 << 10;

/// `FORMAT_DESCRIPTION_EVENT`, with which every file begins.
const FORMAT_DESCRIPTION: u8 = 15;
/// `QUERY_EVENT`.
const STATEMENT: u8 = 2;
/// `XA_PREPARE_LOG_EVENT`.
const XA_PREPARE: u8 = 38;
/// `XID_EVENT`.
const XID: u8 = 16;
/// `TRANSACTION_PAYLOAD_EVENT`.
const PAYLOAD: u8 = 40;
/// `BINLOG_CHECKPOINT_EVENT`.
const CHECKPOINT: u8 = 161;
/// `START_ENCRYPTION_EVENT`.
const ENCRYPTED: u8 = 164;

/// The transactions in the end of a binary log.
#[derive(Debug, Default)]
pub(crate) struct Logged {
    /// The numbers of the server's own.
    pub xids: HashSet<u64>,
    /// The last `XA COMMIT` or `XA PREPARE` of each name, as events have it.
    of_users: HashMap<String, bool>,
    /// The file from which recovery begins, according to the last event that names one.
    from: Option<String>,
}

impl Logged {
    /// Whether the last event about the transaction of a user is its `XA COMMIT`.
    pub fn has_committed(&self, xid: &Xid) -> bool {
        self.of_users.get(&name_of(xid)) == Some(&true)
    }

    fn add(&mut self, kind: u8, body: &[u8]) {
        match kind {
            XID => self.xids.extend(body.first_chunk().map(|xid| u64::from_le_bytes(*xid))),
            CHECKPOINT => self.from = checkpoint_file(body),
            XA_PREPARE => {
                if let Some(xid) = prepared_xid(body) {
                    self.of_users.insert(name_of(&xid), false);
                }
            }
            _ => {
                if let Some(name) = committed_name(body) {
                    self.of_users.insert(name, true);
                }
            }
        }
    }
}

/// The name of a transaction as in the server's `XA COMMIT`, in lower case (`serialize_xid`, `sql/xa.h`, MySQL 8.0).
fn name_of(xid: &Xid) -> String {
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("x'{}',x'{}',{}", digits(&xid.global), digits(&xid.branch), xid.format)
}

/// The transaction of an event of type 38.
fn prepared_xid(body: &[u8]) -> Option<Xid> {
    let format = bytes::u32_le_at(body, 1).ok()?;
    let global_len = bytes::u32_le_at(body, 5).ok()? as usize;
    let branch_len = bytes::u32_le_at(body, 9).ok()? as usize;
    let global = bytes::slice(body, 13, global_len).ok()?.to_vec();
    let branch = bytes::slice(body, 13usize.checked_add(global_len)?, branch_len).ok()?.to_vec();
    Some(Xid { format, global, branch })
}

/// The name in a statement `XA COMMIT`, which ends an event of type 2.
fn committed_name(body: &[u8]) -> Option<String> {
    const COMMIT: &[u8] = b"XA COMMIT ";
    let at = body.windows(COMMIT.len()).position(|words| words.eq_ignore_ascii_case(COMMIT))?;
    let name = std::str::from_utf8(body.get(at + COMMIT.len()..)?).ok()?;
    // `ONE PHASE` commits without `XA PREPARE`.
    name.split_whitespace().next().map(str::to_ascii_lowercase)
}

/// The transactions in the end of the binary log of the data directory `root`; `None` if there is no binary log.
///
/// # Errors
/// It cannot be read, or is of a form that this version does not read.
pub(crate) fn logged(root: &Path) -> Result<Option<Logged>> {
    let Some(files) = listed_files(root)? else { return Ok(None) };
    let Some(last) = files.last() else { return Ok(None) };
    let mut logged = read(last)?;
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(from) = logged.from.take().filter(|from| *from != name(last)) {
        let first = files.iter().position(|path| name(path) == from);
        let first = first.ok_or_else(|| missing(root, &from))?;
        for path in &files[first..files.len() - 1] {
            logged.xids.extend(read(path)?.xids);
        }
    }
    Ok(Some(logged))
}

/// The files that the index of the binary log lists; `None` if there is no index.
fn listed_files(root: &Path) -> Result<Option<Vec<PathBuf>>> {
    let entries = std::fs::read_dir(root)
        .and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>())
        .map_err(|error| Error::read("listing it", error).in_file(root))?;
    let mut indexes = Vec::new();
    for path in entries.into_iter().map(|entry| entry.path()) {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_index = file.ends_with(".index") && !file.contains("relay");
        if !is_index || !path.is_file() {
            continue;
        }
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Error::read("reading it", error).in_file(&path))?;
        // Only the names count: the directory may be a copy.
        let names = text.lines().filter_map(|line| Path::new(line.trim()).file_name());
        let files: Vec<PathBuf> = names.map(|name| root.join(name)).collect();
        if !files.is_empty() {
            indexes.push((path, files));
        }
    }
    match indexes.len() {
        0 => Ok(None),
        1 => Ok(indexes.pop().map(|(_, files)| files)),
        _ => Err(Error::refused_directory(
            "there are several indexes of binary logs, and transactions that only the right one knows",
            ["remove the others".into(), Remedy::ReadUnended],
        )
        .in_file(root)),
    }
}

fn read(path: &Path) -> Result<Logged> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => missing(
            path.parent().unwrap_or(path),
            &path.file_name().unwrap_or_default().to_string_lossy(),
        ),
        _ => Error::read("reading it", error).in_file(path),
    };
    let file = File::open(path).map_err(failed)?;
    let mut events = BufReader::with_capacity(1 << 20, file);
    let mut magic = [0; MAGIC.len()];
    events.read_exact(&mut magic).map_err(failed)?;
    match &magic {
        MAGIC => {}
        MAGIC_ENCRYPTED => return Err(refused("it is encrypted", path)),
        _ => return Err(refused("it does not begin like a binary log", path)),
    }
    let mut logged = Logged::default();
    let mut is_first = true;
    let mut sum_bytes = 0;
    while let Some((kind, body_bytes)) = next_event(&mut events).map_err(failed)? {
        if is_first && kind != FORMAT_DESCRIPTION {
            return Err(refused(&format!("its first event is of type {kind}, not 15"), path));
        }
        is_first = false;
        let body = match kind {
            PAYLOAD => return Err(refused("it has compressed transactions", path)),
            ENCRYPTED => return Err(refused("it is encrypted", path)),
            FORMAT_DESCRIPTION | XID | CHECKPOINT | STATEMENT | XA_PREPARE
                if body_bytes <= BODY_BYTES_MAX =>
            {
                let mut body = Vec::new();
                (&mut events).take(body_bytes).read_to_end(&mut body).map_err(failed)?;
                // What the server had not written completely does not count.
                if (body.len() as u64) < body_bytes {
                    break;
                }
                body
            }
            _ => {
                if !skip(&mut events, body_bytes).map_err(failed)? {
                    break;
                }
                continue;
            }
        };
        if kind == FORMAT_DESCRIPTION {
            sum_bytes = checksum_bytes(&body);
            continue;
        }
        logged.add(kind, &body[..body.len().saturating_sub(sum_bytes)]);
    }
    Ok(logged)
}

/// The bytes of the checksum at the end of events, by the first event, which always has room for one behind the number of
/// the algorithm (`Log_event_footer::get_checksum_alg`, MySQL 8.0).
fn checksum_bytes(first: &[u8]) -> usize {
    const SUM_BYTES: usize = 4;
    match first.len().checked_sub(SUM_BYTES + 1).and_then(|at| first.get(at)) {
        Some(1) => SUM_BYTES,
        _ => 0,
    }
}

/// The type of the next event and the bytes behind its header; `None` at the end of what was written.
fn next_event(events: &mut impl Read) -> std::io::Result<Option<(u8, u64)>> {
    let mut header = [0; HEADER_BYTES];
    match events.read_exact(&mut header) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let event_bytes = bytes::u32_le_at(&header, 9).unwrap_or_default();
    Ok(u64::from(event_bytes).checked_sub(HEADER_BYTES as u64).map(|body| (header[4], body)))
}

/// Passes bytes; `false` when there were fewer.
fn skip(events: &mut impl Read, bytes: u64) -> std::io::Result<bool> {
    Ok(std::io::copy(&mut events.take(bytes), &mut std::io::sink())? == bytes)
}

fn checkpoint_file(body: &[u8]) -> Option<String> {
    let len = bytes::u32_le_at(body, 0).ok()? as usize;
    let name = bytes::slice(body, 4, len).ok()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

fn missing(root: &Path, name: &str) -> Error {
    Error::refused_directory(
        format!(
            "the file {name} of the binary log, which tells whether prepared transactions were \
             committed, is not there"
        ),
        ["put it there".into(), Remedy::ReadUnended],
    )
    .in_file(root)
}

fn refused(why: &str, path: &Path) -> Error {
    Error::refused_directory(
        format!("the binary log cannot tell which prepared transactions were committed: {why}"),
        [
            Remedy::from("start the server on a copy of the directory, and shut it down cleanly"),
            Remedy::ReadUnended,
        ],
    )
    .in_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut event = vec![0; HEADER_BYTES];
        event[4] = kind;
        event[9..13].copy_from_slice(&((HEADER_BYTES + body.len()) as u32).to_le_bytes());
        event.extend_from_slice(body);
        event
    }

    fn checkpoint(name: &str) -> Vec<u8> {
        let mut body = (name.len() as u32).to_le_bytes().to_vec();
        body.extend_from_slice(name.as_bytes());
        event(CHECKPOINT, &[&*body, b"sum!"].concat())
    }

    fn directory(files: &[(&str, Vec<Vec<u8>>)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let mut index = String::new();
        for (name, events) in files {
            let mut bytes = MAGIC.to_vec();
            bytes.extend(event(FORMAT_DESCRIPTION, &[&[0; 75][..], &[1], b"sum!"].concat()));
            bytes.extend(events.concat());
            std::fs::write(root.path().join(name), bytes).unwrap();
            index.push_str(&format!("/elsewhere/{name}\n"));
        }
        std::fs::write(root.path().join("b.index"), index).unwrap();
        root
    }

    fn xid(number: u64) -> Vec<u8> {
        event(XID, &[&number.to_le_bytes()[..], b"sum!"].concat())
    }

    #[test]
    fn only_what_recovery_looks_at_counts() {
        let cut = xid(6)[..27].to_vec();
        let files = [
            ("b.000001", vec![xid(1)]),
            ("b.000002", vec![xid(2), checkpoint("b.000001")]),
            ("b.000003", vec![checkpoint("b.000002"), xid(3), event(2, &[7; 40]), xid(4), cut]),
        ];
        let root = directory(&files);
        assert_eq!(logged(root.path()).unwrap().unwrap().xids, HashSet::from([2, 3, 4]));
        std::fs::remove_file(root.path().join("b.000002")).unwrap();
        let error = logged(root.path()).unwrap_err().to_string();
        assert!(error.contains("b.000002"), "{error}");
        assert!(logged(tempfile::tempdir().unwrap().path()).unwrap().is_none());
    }

    #[test]
    fn the_last_event_of_a_name_counts() {
        let xid = |name: &str| Xid { format: 1, global: name.into(), branch: b"b".to_vec() };
        let statement =
            |sql: &str| event(STATEMENT, &[b"\x01\x02 d\0", sql.as_bytes(), b"7ab!"].concat());
        let prepare = |name: &str| {
            let lens = [&1u32.to_le_bytes()[..], &2u32.to_le_bytes(), &1u32.to_le_bytes()].concat();
            event(XA_PREPARE, &[b"\0", &lens[..], name.as_bytes(), b"b", b"sum!"].concat())
        };
        let events = vec![
            prepare("k1"),
            statement("XA COMMIT X'6b31',X'62',1"),
            statement("XA COMMIT X'6b32',X'62',1"),
            prepare("k2"),
            prepare("k3"),
        ];
        let root = directory(&[("b.000001", events)]);
        let logged = logged(root.path()).unwrap().unwrap();
        let committed = ["k1", "k2", "k3", "k4"].map(|name| logged.has_committed(&xid(name)));
        assert_eq!(committed, [true, false, false, false]);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for events in [vec![event(ENCRYPTED, &[1; 17])], vec![xid(1), event(PAYLOAD, &[0; 30])]] {
            let root = directory(&[("b.000001", events)]);
            logged(root.path()).unwrap_err();
        }
        let root = directory(&[("b.000001", vec![xid(1)])]);
        std::fs::write(root.path().join("b.000001"), b"\xFDbin and more").unwrap();
        assert!(logged(root.path()).unwrap_err().to_string().contains("encrypted"));
        std::fs::write(root.path().join("c.index"), "c.000001\n").unwrap();
        assert!(logged(root.path()).unwrap_err().to_string().contains("several indexes"));
    }
}
