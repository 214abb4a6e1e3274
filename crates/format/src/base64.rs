//! Base64 (RFC 4648, section 4).

/// Appends bytes as base64 with padding (RFC 4648, section 4).
pub fn append(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| DIGITS.get(bits as usize & 63).copied().unwrap_or(b'=');
    let quad = |three: [u8; 3]| {
        let [a, b, c] = three;
        let bits = u32::from_be_bytes([0, a, b, c]);
        [18, 12, 6, 0].map(|shift| digit(bits >> shift))
    };
    out.reserve(bytes.len().div_ceil(3) * 4);
    let (threes, rest) = bytes.as_chunks::<3>();
    for &three in threes {
        out.extend_from_slice(&quad(three));
    }
    match *rest {
        [a] => {
            let [first, second, ..] = quad([a, 0, 0]);
            out.extend_from_slice(&[first, second, b'=', b'=']);
        }
        [a, b] => {
            let [first, second, third, _] = quad([a, b, 0]);
            out.extend_from_slice(&[first, second, third, b'=']);
        }
        _ => {}
    }
}

/// Decodes base64, with line ends anywhere; `None` when the text is none.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits = 0u32;
    let mut held = 0u32;
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lengths_are_encoded_and_decoded() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"\xff\xfe\xfd\xfc", "//79/A=="),
        ] {
            let mut out = Vec::new();
            append(bytes, &mut out);
            assert_eq!(out, text.as_bytes());
            assert_eq!(decode(text).unwrap(), bytes);
        }
        assert_eq!(decode("w7\nxc").unwrap(), [0xc3, 0xbc, b'\\']);
        assert!(decode("-").is_none());
    }
}
