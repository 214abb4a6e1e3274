//! Splits as text: JSON with a version number.

use std::fmt;
use std::str::FromStr;

use innoscan_format::PageNo;
use serde_json::{Value, json};

use super::{Part, Split};
use crate::{Error, Result};

/// The version of the JSON that this release writes and reads.
const FORMAT: u64 = 1;

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = |path: &[PageNo]| path.iter().map(|page| page.0).collect::<Vec<_>>();
        let part = |part: &Part| {
            json!({
                "number": part.number,
                "file": part.file,
                "stamp": part.stamp,
                "from": pages(&part.from),
                "to": pages(&part.to),
            })
        };
        let parts: Vec<Value> = self.parts.iter().map(part).collect();
        let split = json!({
            "innoscan_split": FORMAT,
            "table": self.table,
            "rows": self.rows,
            "bytes": self.bytes,
            "lower_key": self.lower_key,
            "upper_key": self.upper_key,
            "parts": parts,
        });
        split.fmt(f)
    }
}

impl FromStr for Split {
    type Err = Error;

    fn from_str(text: &str) -> Result<Split> {
        let json: Value = serde_json::from_str(text).map_err(|_| no_split())?;
        match json["innoscan_split"].as_u64() {
            Some(FORMAT) => split_of(&json).ok_or_else(no_split),
            Some(format) => {
                let why = format!("the split has format {format}; this version reads {FORMAT}");
                Err(Error::usage(why, "make and read splits with the same version"))
            }
            None => Err(no_split()),
        }
    }
}

fn no_split() -> Error {
    Error::usage("the text is not a split", "pass what Split::to_string gave")
}

fn split_of(json: &Value) -> Option<Split> {
    let parts: Option<Vec<Part>> = json["parts"].as_array()?.iter().map(part_of).collect();
    Some(Split {
        table: json["table"].as_str()?.to_owned(),
        parts: parts?,
        rows: json["rows"].as_u64()?,
        bytes: json["bytes"].as_u64()?,
        lower_key: key_of(&json["lower_key"])?,
        upper_key: key_of(&json["upper_key"])?,
    })
}

fn key_of(json: &Value) -> Option<Option<Vec<String>>> {
    if json.is_null() {
        return Some(None);
    }
    let texts = json.as_array()?.iter().map(|text| text.as_str().map(str::to_owned));
    texts.collect::<Option<_>>().map(Some)
}

fn part_of(json: &Value) -> Option<Part> {
    Some(Part {
        number: usize::try_from(json["number"].as_u64()?).ok()?,
        file: json["file"].as_str()?.to_owned(),
        stamp: json["stamp"].as_str()?.to_owned(),
        from: path_of(&json["from"])?,
        to: path_of(&json["to"])?,
    })
}

fn path_of(json: &Value) -> Option<Vec<PageNo>> {
    let page = |page: &Value| page.as_u64().and_then(|page| u32::try_from(page).ok()).map(PageNo);
    json.as_array()?.iter().map(page).collect()
}
