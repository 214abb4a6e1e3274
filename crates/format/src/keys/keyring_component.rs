//! The keyring of MySQL's `component_keyring_file`, in JSON (`json_reader.cc`, `components/keyrings`, MySQL 8.0).

use std::borrow::Cow;

use serde::Deserialize;

use super::KeyFileError;
use crate::secret::Secret;

/// The file. Digits of keys are borrowed from it, so that no copies of them remain.
#[derive(Deserialize)]
struct Keyring<'a> {
    #[serde(borrow)]
    elements: Vec<Element<'a>>,
}

#[derive(Deserialize)]
struct Element<'a> {
    #[serde(borrow)]
    data_id: Cow<'a, str>,
    data: &'a str,
}

/// The configuration of the component, which names the keyring.
#[derive(Deserialize)]
struct Configuration {
    path: String,
}

/// Whether a file may be a keyring of the component. An empty file is an empty keyring.
pub(super) fn is_one(file: &[u8]) -> bool {
    file.is_empty() || file.trim_ascii_start().starts_with(b"{")
}

/// The keys by their names.
pub(super) fn parse(file: &[u8]) -> Result<Vec<(String, Secret)>, KeyFileError> {
    if file.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    // The parser's own message could quote the file.
    let keyring: Keyring<'_> = serde_json::from_slice(file).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        KeyFileError::new(format!(
            "it is not a keyring of component_keyring_file (line {line}, column {column})"
        ))
    })?;
    let key = |Element { data_id, data }: Element<'_>| match Secret::from_hex(data.as_bytes()) {
        Some(key) => Ok((data_id.into_owned(), key)),
        None => Err(KeyFileError::new(format!("the key {data_id} is not in hexadecimal digits"))),
    };
    keyring.elements.into_iter().map(key).collect()
}

/// Returns the keyring that a configuration of the component names (`component_keyring_file.cnf`), if the file is
/// one.
pub fn keyring_path(file: &[u8]) -> Option<String> {
    let configuration: Configuration = serde_json::from_slice(file).ok()?;
    Some(configuration.path).filter(|path| !path.is_empty())
}
