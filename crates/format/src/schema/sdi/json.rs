//! Typed access to an SDI document: a required member that is missing, or of another type, is an
//! error with the member's name.

use serde_json::Value;

use crate::{Error, Result, base64};

/// A JSON object of an SDI document.
#[derive(Clone, Copy)]
pub(super) struct Object<'a>(&'a serde_json::Map<String, Value>);

impl<'a> Object<'a> {
    /// Converts `value` to an object; `what` is its name in the error.
    pub(super) fn from_value(value: &'a Value, what: &str) -> Result<Object<'a>> {
        value.as_object().map(Object).ok_or_else(|| wrong(what, "an object"))
    }

    fn member(self, name: &str) -> Result<&'a Value> {
        self.0.get(name).ok_or_else(|| Error::schema(format!("the SDI has no `{name}`")))
    }

    /// Returns a required text.
    pub(super) fn text(self, name: &str) -> Result<&'a str> {
        self.member(name)?.as_str().ok_or_else(|| wrong(name, "a string"))
    }

    /// Returns a text that older servers do not write; empty when missing.
    pub(super) fn text_or_empty(self, name: &str) -> Result<&'a str> {
        if self.0.contains_key(name) { self.text(name) } else { Ok("") }
    }

    /// Returns a required number.
    pub(super) fn number<T: TryFrom<u64>>(self, name: &str) -> Result<T> {
        let number = self.member(name)?.as_u64().ok_or_else(|| wrong(name, "a number"))?;
        T::try_from(number)
            .map_err(|_| Error::schema(format!("the SDI's `{name}` is too large: {number}")))
    }

    /// Returns a required boolean.
    pub(super) fn flag(self, name: &str) -> Result<bool> {
        self.member(name)?.as_bool().ok_or_else(|| wrong(name, "true or false"))
    }

    /// Iterates over the objects of a required array.
    pub(super) fn objects(self, name: &'a str) -> Result<impl Iterator<Item = Result<Object<'a>>>> {
        let array = self.member(name)?.as_array().ok_or_else(|| wrong(name, "an array"))?;
        Ok(array.iter().map(move |value| Object::from_value(value, name)))
    }

    /// Iterates over the objects of an array that older servers do not write.
    pub(super) fn objects_if_any(
        self,
        name: &'a str,
    ) -> Result<impl Iterator<Item = Result<Object<'a>>>> {
        let array = match self.0.get(name) {
            Some(value) => value.as_array().ok_or_else(|| wrong(name, "an array"))?.as_slice(),
            None => &[],
        };
        Ok(array.iter().map(move |value| Object::from_value(value, name)))
    }

    /// Returns a required object.
    pub(super) fn object(self, name: &str) -> Result<Object<'a>> {
        Object::from_value(self.member(name)?, name)
    }

    /// Returns bytes, which the SDI holds in base64.
    pub(super) fn binary(self, name: &str) -> Result<Vec<u8>> {
        base64::decode(self.text(name)?).ok_or_else(|| wrong(name, "base 64"))
    }

    /// Returns a dictionary property list, `key=value;key=value;`.
    pub(super) fn properties(self, name: &str) -> Result<Properties> {
        Properties::parse(self.text(name)?).ok_or_else(|| wrong(name, "a list of properties"))
    }
}

#[cold]
fn wrong(name: &str, expected: &str) -> Error {
    Error::schema(format!("the SDI's `{name}` is not {expected}"))
}

/// A list of properties (`dd::Properties`): the text between `;` and `=`, in which each `\` is
/// dropped and the character after it kept (`properties_impl.cc`, `dd::unescape`, MySQL 9.7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(Vec<(String, String)>);

impl Properties {
    /// Parses a list; `None` when the text is none.
    pub fn parse(text: &str) -> Option<Properties> {
        let mut pairs = Vec::new();
        let mut pair = (String::new(), String::new());
        let mut in_value = false;
        let mut chars = text.chars();
        while let Some(character) = chars.next() {
            let kept = match character {
                ';' => {
                    in_value.then_some(())?;
                    pairs.push(std::mem::take(&mut pair));
                    in_value = false;
                    continue;
                }
                '=' if !in_value => {
                    in_value = true;
                    continue;
                }
                '\\' => chars.next()?,
                other => other,
            };
            if in_value { pair.1.push(kept) } else { pair.0.push(kept) }
        }
        (!in_value && pair.0.is_empty()).then_some(Properties(pairs))
    }

    /// Returns the text of a property.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a numeric property.
    pub fn number<T: TryFrom<u64>>(&self, key: &str) -> Result<Option<T>> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let number = text.parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
        number.map(Some).ok_or_else(|| wrong(key, "a number that fits"))
    }

    /// Returns whether a property is not 0; `None` when it is missing.
    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        Ok(self.number::<u64>(key)?.map(|number| number != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_unescape() {
        let properties = Properties::parse(r"a=1;b\;=x\=\\y;c=;").unwrap();
        assert_eq!(properties.text("a"), Some("1"));
        assert_eq!(properties.text("b;"), Some(r"x=\y"));
        assert_eq!(properties.text("c"), Some(""));
        assert!(Properties::parse("a").is_none());
        assert!(Properties::parse("a;").is_none());
        assert!(Properties::parse("a=\\").is_none());
        assert!(Properties::parse("").is_some());
    }
}
