//! The text of floats: the fewest digits that give the same float again.
//!
//! A server reads a number as a `DOUBLE` first and rounds that to a `FLOAT`. Two of all floats do not
//! survive this with their fewest digits (all 2^31 were tried): 7.038531e-26 is rounded twice and
//! becomes its neighbour, and the digits of the greatest float are a double just beyond it. These two
//! are written as doubles.

use innoscan_format::value::Value;

/// The text of a `FLOAT` or `DOUBLE`; `None` for NaN and infinity, which no server stores.
pub(super) fn real_text<'b>(value: &Value<'_>, buffer: &'b mut zmij::Buffer) -> Option<&'b str> {
    let text = match *value {
        Value::Float(real) if is_lost_as_double(real) => buffer.format_finite(f64::from(real)),
        Value::Float(real) if real.is_finite() => buffer.format_finite(real),
        Value::Double(real) if real.is_finite() => buffer.format_finite(real),
        _ => return None,
    };
    Some(text.strip_suffix(".0").unwrap_or(text))
}

fn is_lost_as_double(real: f32) -> bool {
    matches!(real.abs().to_bits(), 0x15ae_43fd | 0x7f7f_ffff)
}

/// Appends a `FLOAT` or `DOUBLE`; `not_finite` for NaN and infinity.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_survive_being_read_as_doubles() {
        let few = [0, 1, 0x15ae_43fc, 0x15ae_43fd, 0x15ae_43fe, 0x7f7f_fffe, 0x7f7f_ffff];
        for bits in (0..0x7f80_0000).step_by(100_003).chain(few) {
            let real = f32::from_bits(bits);
            let mut buffer = zmij::Buffer::new();
            let double: f64 = real_text(&Value::Float(real), &mut buffer).unwrap().parse().unwrap();
            assert_eq!(double as f32, real);
            assert!(double <= f64::from(f32::MAX));
        }
    }

    #[test]
    fn what_is_no_number_is_told_apart() {
        let mut out = Vec::new();
        append_real(&Value::Double(f64::NAN), b"null", &mut out);
        append_vector(&[1.0f32, f32::INFINITY].map(f32::to_le_bytes).concat(), &mut out);
        assert_eq!(out, b"null[1,null]");
    }
}
