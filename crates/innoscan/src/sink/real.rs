//! Floats with the fewest digits that give the same float again.

use innoscan_format::value::Value;

/// The text of a `FLOAT` or `DOUBLE`; `None` where it is no number, which no server stores.
pub(super) fn real_text<'b>(value: &Value<'_>, buffer: &'b mut zmij::Buffer) -> Option<&'b str> {
    let text = match *value {
        Value::Float(real) if real.is_finite() => buffer.format_finite(real),
        Value::Double(real) if real.is_finite() => buffer.format_finite(real),
        _ => return None,
    };
    Some(text.strip_suffix(".0").unwrap_or(text))
}

/// Appends a `FLOAT` or `DOUBLE`, or what is given where it is no number.
pub(super) fn append_real(value: &Value<'_>, not_finite: &[u8], out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let text = real_text(value, &mut buffer).map_or(not_finite, str::as_bytes);
    out.extend_from_slice(text);
}

/// Appends a `VECTOR` (4-byte floats, little-endian) as `[1.5,-2]`.
pub(super) fn append_vector(stored: &[u8], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, float) in stored.as_chunks::<4>().0.iter().enumerate() {
        out.extend_from_slice(if index > 0 { b"," } else { b"" });
        append_real(&Value::Float(f32::from_le_bytes(*float)), b"null", out);
    }
    out.push(b']');
}
