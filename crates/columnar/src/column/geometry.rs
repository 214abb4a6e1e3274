//! Columns of geometries: four bytes of SRID, then WKB.

use std::sync::Arc;

use arrow_array::types::BinaryType;
use arrow_array::{ArrayRef, Int64Array, StructArray};
use arrow_schema::ArrowError;
use innoscan_engine::Losses;
use innoscan_format as format;

use super::ColumnBuilder;
use super::bytes::AppendBytes;
use super::ends::Strings;
use super::nulls::Nulls;
use crate::types::form::geometry_fields;

/// The SRID of a geometry, and its WKB.
fn parts(stored: &[u8]) -> format::Result<(u32, &[u8])> {
    match stored.split_first_chunk::<4>() {
        Some((srid, wkb)) if wkb.len() >= 5 => Ok((u32::from_le_bytes(*srid), wkb)),
        _ => {
            let bytes = stored.len();
            Err(format::Error::corrupt(format!("a geometry of {bytes} bytes has no WKB")))
        }
    }
}

/// Writes WKB without the SRID, which is `expected` in most columns.
pub(super) fn wkb(expected: u32) -> impl AppendBytes {
    move |stored: &[u8], out: &mut Vec<u8>, losses: &mut Losses| {
        let (srid, wkb) = parts(stored)?;
        losses.srids_left_out += u64::from(srid != expected);
        out.extend_from_slice(wkb);
        Ok(())
    }
}

/// Writes WKB with the SRID in it: a flag in the type, and the SRID after it (PostGIS, `liblwgeom/lwin_wkb.c`).
pub(super) fn ewkb() -> impl AppendBytes {
    const HAS_SRID: u32 = 0x2000_0000;
    move |stored: &[u8], out: &mut Vec<u8>, _: &mut Losses| {
        let (srid, wkb) = parts(stored)?;
        let Some((&[1, a, b, c, d], rest)) = wkb.split_first_chunk::<5>() else {
            return Err(format::Error::corrupt("the WKB of a geometry is not little-endian"));
        };
        out.push(1);
        out.extend_from_slice(&(u32::from_le_bytes([a, b, c, d]) | HAS_SRID).to_le_bytes());
        out.extend_from_slice(&srid.to_le_bytes());
        out.extend_from_slice(rest);
        Ok(())
    }
}

/// The builder of a column of SRIDs and WKBs.
#[derive(Debug, Default)]
pub(super) struct Geometries {
    srids: Vec<i64>,
    wkbs: Strings,
    nulls: Nulls,
}

impl ColumnBuilder for Geometries {
    fn append(&mut self, stored: &[u8], _: &mut Losses) -> format::Result<()> {
        let (srid, wkb) = parts(stored)?;
        self.wkbs.bytes.extend_from_slice(wkb);
        self.wkbs.end()?;
        self.srids.push(i64::from(srid));
        self.nulls.value();
        Ok(())
    }

    fn append_null(&mut self) {
        self.nulls.null(self.srids.len());
        self.srids.push(0);
        // The fields of a NULL have values, which have no meaning.
        _ = self.wkbs.end();
    }

    fn truncate(&mut self, rows: usize) {
        self.srids.truncate(rows);
        self.wkbs.truncate(rows);
        self.nulls.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let srids = Int64Array::from(std::mem::take(&mut self.srids));
        let wkbs = self.wkbs.take::<BinaryType>()?;
        let fields: Vec<ArrayRef> = vec![Arc::new(srids), Arc::new(wkbs)];
        Ok(Arc::new(StructArray::try_new(geometry_fields(), fields, self.nulls.finish())?))
    }
}
