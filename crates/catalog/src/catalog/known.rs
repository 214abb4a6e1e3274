//! Facts that may not be there, or that cannot be read.

use std::rc::Rc;

use innoscan_engine::{Error, Result};

/// Facts that a server keeps outside of its tables; rows can be read without them.
#[derive(Debug)]
pub(super) enum Known<T> {
    /// The source does not exist, or must not be read.
    Nothing,
    /// The source cannot be read, for this reason, which the user should see.
    Unreadable(Rc<Error>),
    Read(Rc<T>),
}

impl<T> Clone for Known<T> {
    fn clone(&self) -> Known<T> {
        match self {
            Known::Nothing => Known::Nothing,
            Known::Unreadable(error) => Known::Unreadable(Rc::clone(error)),
            Known::Read(value) => Known::Read(Rc::clone(value)),
        }
    }
}

impl<T> Known<T> {
    pub fn of(read: Result<T>) -> Known<T> {
        match read {
            Ok(value) => Known::Read(Rc::new(value)),
            Err(error) => Known::Unreadable(Rc::new(error)),
        }
    }

    /// The error, if it is that of a key.
    pub fn key_error(&self) -> Option<&Error> {
        let Known::Unreadable(error) = self else { return None };
        error.is_of_key().then_some(&**error)
    }

    pub fn get(&self) -> Option<&T> {
        match self {
            Known::Read(value) => Some(value),
            Known::Nothing | Known::Unreadable(_) => None,
        }
    }
}
