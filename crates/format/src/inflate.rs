//! zlib streams that come in parts, with an expected length.

use std::fmt;

use zlib_rs::{Inflate, InflateFlush, Status};

use crate::{Error, Result};

/// The growth of an output: the expected length comes from a file and may be wrong.
const STEP_BYTES: usize = 64 << 10;

/// The inflating of one stream.
pub(crate) struct Inflater {
    inflate: Inflate,
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflater").finish_non_exhaustive()
    }
}

impl Inflater {
    /// Begins a stream with zlib's header and checksum.
    pub fn new() -> Inflater {
        Inflater { inflate: Inflate::new(true, 15) }
    }

    /// Begins a stream without them.
    pub fn raw() -> Inflater {
        Inflater { inflate: Inflate::new(false, 15) }
    }

    /// Inflates the next part of the stream and appends the result, which may have `bytes_max`; returns whether
    /// the stream has ended. What follows its end is ignored.
    ///
    /// # Errors
    /// The stream is damaged, or is longer.
    pub fn feed(&mut self, input: &[u8], bytes_max: usize, out: &mut Vec<u8>) -> Result<bool> {
        let end = out.len().saturating_add(bytes_max);
        let mut taken = 0;
        loop {
            // One byte more, so that the stream can show its end, or that it is longer.
            let (len, room) = (out.len(), (end - out.len() + 1).min(STEP_BYTES));
            out.resize(len + room, 0);
            let before = (self.inflate.total_in(), self.inflate.total_out());
            let rest = input.get(taken..).unwrap_or_default();
            let output = out.get_mut(len..).unwrap_or_default();
            let status = self.inflate.decompress(rest, output, InflateFlush::NoFlush);
            taken += (self.inflate.total_in() - before.0) as usize;
            let given = (self.inflate.total_out() - before.1) as usize;
            out.truncate(len + given);
            let status = status.map_err(|error| damaged(error.as_str()))?;
            if out.len() > end {
                return Err(damaged("it is longer than it should be"));
            }
            match status {
                Status::StreamEnd => return Ok(true),
                _ if given < room => return Ok(false),
                _ => {}
            }
        }
    }
}

/// Inflates a whole stream with zlib's header to exactly `len` bytes, which it appends.
///
/// # Errors
/// The stream is damaged, or of another length.
pub(crate) fn inflate(input: &[u8], len: usize, out: &mut Vec<u8>) -> Result<()> {
    inflate_all(Inflater::new(), input, len, out)
}

/// Inflates a whole stream to exactly `len` bytes, which it appends.
///
/// # Errors
/// As for [`inflate`].
pub(crate) fn inflate_all(
    mut inflater: Inflater,
    input: &[u8],
    len: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let start = out.len();
    let has_ended = inflater.feed(input, len, out)?;
    match out.len() - start {
        given if has_ended && given == len => Ok(()),
        given => Err(damaged(&format!("it has {given} bytes, where {len} are expected"))),
    }
}

#[cold]
fn damaged(why: &str) -> Error {
    Error::corrupt(format!("a compressed value does not decompress: {why}"))
}

#[cfg(test)]
mod tests {
    use zlib_rs::{DeflateConfig, ReturnCode, compress_slice};

    use super::*;

    fn deflated(plain: &[u8]) -> Vec<u8> {
        let mut room = vec![0; plain.len() + 100];
        let (stream, code) = compress_slice(&mut room, plain, DeflateConfig::default());
        assert_eq!(code, ReturnCode::Ok);
        stream.to_vec()
    }

    #[test]
    fn a_stream_is_inflated_in_parts_of_any_size() {
        let plain: Vec<u8> = (0..200_000u32).map(|at| (at / 7 % 251) as u8).collect();
        let stream = deflated(&plain);
        for part_bytes in [1, 37, stream.len()] {
            let (mut inflater, mut out) = (Inflater::new(), b"before".to_vec());
            let ends: Vec<bool> = stream
                .chunks(part_bytes)
                .map(|part| inflater.feed(part, plain.len() - (out.len() - 6), &mut out).unwrap())
                .collect();
            assert_eq!(out[6..], plain);
            assert!(ends.iter().rev().skip(1).all(|ended| !ended) && ends.last() == Some(&true));
        }
    }

    #[test]
    fn a_wrong_length_and_damage_are_errors() {
        let plain = vec![7; 100_000];
        let mut stream = deflated(&plain);
        let inflated = |stream: &[u8], len| {
            let mut out = Vec::new();
            inflate(stream, len, &mut out).map(|()| out)
        };
        assert_eq!(inflated(&stream, plain.len()).as_deref(), Ok(&plain[..]));
        let zeroes_behind = [&stream[..], &[0; 50]].concat();
        assert!(inflated(&zeroes_behind, plain.len()).is_ok());
        assert!(inflated(&stream, plain.len() - 1).is_err());
        assert!(inflated(&stream, plain.len() + 1).is_err());
        assert!(inflated(&stream[..stream.len() - 1], plain.len()).is_err());
        assert!(inflated(&[], 1).is_err());
        // The checksum at the stream's end is verified.
        *stream.last_mut().unwrap() ^= 1;
        assert!(inflated(&stream, plain.len()).is_err());
    }
}
