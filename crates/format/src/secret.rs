//! Bytes that must not be seen: keys and passwords.

use std::fmt;

use zeroize::Zeroizing;

/// Secret bytes. They are wiped when they are dropped, and never printed.
#[derive(Clone)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes bytes, which are wiped with the secret.
    pub fn new(bytes: Vec<u8>) -> Secret {
        Secret(Zeroizing::new(bytes))
    }

    /// Decodes hexadecimal digits; `None` if they are anything else.
    pub fn from_hex(digits: &[u8]) -> Option<Secret> {
        let (pairs, []) = digits.as_chunks::<2>() else { return None };
        // The exact capacity, since a vector that grows leaves copies behind.
        let mut secret = Zeroizing::new(Vec::with_capacity(pairs.len()));
        for &[high, low] in pairs {
            let digit = |digit: u8| char::from(digit).to_digit(16);
            secret.push((digit(high)? << 4 | digit(low)?) as u8);
        }
        Some(Secret(secret))
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_decoded_and_never_printed() {
        let secret = Secret::from_hex(b"00fFa5").unwrap();
        assert_eq!(secret.bytes(), [0, 0xFF, 0xA5]);
        assert_eq!(format!("{secret:?}"), "Secret(3 bytes)");
        assert!(Secret::from_hex(b"0g").is_none());
        assert!(Secret::from_hex(b"abc").is_none());
    }
}
