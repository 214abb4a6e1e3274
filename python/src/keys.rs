//! Keys and ranges of keys from Python's values.

use std::ops::Bound as End;

use innoscan::{Key, KeyRange, KeyValue};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyList, PyRange, PySlice, PyString, PyTuple};

/// One key or range, or a list of them.
pub fn key_ranges(keys: &Bound<'_, PyAny>) -> PyResult<Vec<KeyRange>> {
    match keys.cast::<PyList>() {
        Ok(list) => list.iter().map(|key| key_range(&key)).collect(),
        Err(_) => Ok(vec![key_range(keys)?]),
    }
}

fn key_range(value: &Bound<'_, PyAny>) -> PyResult<KeyRange> {
    let is_range = value.is_instance_of::<PyRange>();
    if !is_range && !value.is_instance_of::<PySlice>() {
        let key = key(value)?;
        return Ok(KeyRange::new(End::Included(key.clone()), End::Included(key)));
    }
    let step = value.getattr("step")?;
    if !step.is_none() && !step.eq(1)? {
        return Err(PyTypeError::new_err("a range of keys has no step"));
    }
    let end = |name: &str, end: fn(Key) -> End<Key>| {
        let value = value.getattr(name)?;
        if value.is_none() { Ok(End::Unbounded) } else { key(&value).map(end) }
    };
    Ok(KeyRange::new(end("start", End::Included)?, end("stop", End::Excluded)?))
}

fn key(value: &Bound<'_, PyAny>) -> PyResult<Key> {
    match value.cast::<PyTuple>() {
        Ok(values) => {
            let values: PyResult<Vec<KeyValue>> =
                values.iter().map(|value| key_value(&value)).collect();
            Ok(Key::new(values?))
        }
        Err(_) => Ok(Key::new([key_value(value)?])),
    }
}

/// Numbers, text and bytes are what they are; dates, times, decimals and UUIDs are their text.
fn key_value(value: &Bound<'_, PyAny>) -> PyResult<KeyValue> {
    if value.is_none() {
        return Err(PyTypeError::new_err(
            "None is no key: columns of a primary key are never NULL",
        ));
    }
    if value.is_instance_of::<PyInt>() {
        return match value.extract::<i128>() {
            Ok(number) => Ok(number.into()),
            Err(_) => Err(PyTypeError::new_err(format!("{value} is no key: it is too large"))),
        };
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(value.extract::<f64>()?.into());
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().into());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_cow()?.into_owned().into());
    }
    let module: String = value.get_type().getattr("__module__")?.extract()?;
    if ["datetime", "decimal", "uuid", "ipaddress"].contains(&module.as_str()) {
        return Ok(value.str()?.to_cow()?.into_owned().into());
    }
    let class = value.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!("a {class} cannot be a key")))
}
