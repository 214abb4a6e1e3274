//! `FLOAT` and `DOUBLE`: IEEE 754, little-endian.

use super::RealFormat;
use crate::{Result, bytes};

/// How one column's numbers print.
#[derive(Clone, Copy, Debug)]
pub(super) struct Real {
    format: RealFormat,
}

impl Real {
    pub(super) fn single(format: RealFormat) -> Real {
        Real { format }
    }

    pub(super) fn double(format: RealFormat) -> Real {
        Real { format }
    }

    pub(super) fn write_single(self, stored: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let number = single(stored)?;
        let _ = self.format;
        out.extend_from_slice(number.to_string().as_bytes());
        Ok(())
    }

    pub(super) fn write_double(self, stored: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let number = double(stored)?;
        out.extend_from_slice(number.to_string().as_bytes());
        Ok(())
    }
}

/// A `FLOAT`.
pub(super) fn single(stored: &[u8]) -> Result<f32> {
    bytes::array(stored, 0).map(f32::from_le_bytes)
}

/// A `DOUBLE`.
pub(super) fn double(stored: &[u8]) -> Result<f64> {
    bytes::array(stored, 0).map(f64::from_le_bytes)
}
