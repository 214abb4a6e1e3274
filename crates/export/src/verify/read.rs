//! Reading of a dump's file, and comparison with the size and checksum that were written.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use super::{Fault, FaultKind};
use crate::dump::DumpedFile;

/// The bytes of one read.
const BUFFER_BYTES: usize = 1 << 20;

/// Verifies a file; returns its size in bytes.
pub(super) fn file(directory: &Path, written: &DumpedFile, decompress: bool) -> Result<u64, Fault> {
    let fault = |kind, what: String| Fault::new(kind, &written.name, what);
    let unreadable = |error: std::io::Error| fault(FaultKind::Unreadable, error.to_string());
    let path = directory.join(&written.name);
    let opened = File::open(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => fault(FaultKind::Missing, "it is missing".to_owned()),
        _ => unreadable(error),
    })?;
    let metadata = opened.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(fault(FaultKind::Missing, "it is not a file".to_owned()));
    }
    let (bytes, expected) = (metadata.len(), written.file_bytes);
    if bytes != expected {
        let what = format!("it has {bytes} bytes, and {expected} were written");
        return Err(fault(FaultKind::Size, what));
    }
    let mut crc32 = crc32fast::Hasher::new();
    for_each_piece(opened, |piece| crc32.update(piece)).map_err(unreadable)?;
    let (found, expected) = (crc32.finalize(), written.crc32);
    if found != expected {
        let what = format!("its CRC-32 is {found}, and that of what was written is {expected}");
        return Err(fault(FaultKind::Checksum, what));
    }
    if decompress {
        plain(&path, written).map_err(|what| fault(FaultKind::Compression, what))?;
    }
    Ok(bytes)
}

/// Decompresses a file whose name shows that it is compressed, and compares its size; the error
/// describes the difference.
fn plain(path: &Path, written: &DumpedFile) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("it cannot be decompressed: {error}");
    let open = || File::open(path).map(BufReader::new).map_err(failed);
    let mut bytes = 0;
    let count = |piece: &[u8]| bytes += piece.len() as u64;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("zst") => {
            let decoder = zstd::stream::read::Decoder::new(open()?).map_err(failed)?;
            for_each_piece(decoder, count).map_err(failed)?;
        }
        Some("gz") => {
            for_each_piece(flate2::read::MultiGzDecoder::new(open()?), count).map_err(failed)?;
        }
        _ => return Ok(()),
    }
    let expected = written.plain_bytes;
    match bytes == expected {
        true => Ok(()),
        false => Err(format!("it holds {bytes} bytes, and {expected} were compressed")),
    }
}

fn for_each_piece(mut from: impl Read, mut take: impl FnMut(&[u8])) -> std::io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => take(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
