//! The members of `mysql.user.User_attributes`, a JSON object (`sql_user_table.cc, acl_user.cc,
//! MySQL 8.0`).

use innoscan_format::{Error, Result};
use serde_json::Value;

use super::privileges::Privileges;

/// The attributes of an account.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    /// `ATTRIBUTE`, in the server's own format.
    pub metadata: Option<String>,
    /// `FAILED_LOGIN_ATTEMPTS`; 0: not limited.
    pub failed_logins: i64,
    /// `PASSWORD_LOCK_TIME` in days; -1: unlimited.
    pub lock_days: i64,
    /// Partial revokes of privileges on all databases, by database.
    pub restrictions: Vec<(String, Privileges)>,
    /// Whether the account has second or third factors.
    pub has_more_factors: bool,
}

impl Attributes {
    /// Parses the column's text.
    pub fn parse(text: Option<&str>) -> Result<Attributes> {
        let Some(text) = text else { return Ok(Attributes::default()) };
        let wrong = || Error::corrupt("an account's attributes are not what servers write");
        let value: Value = serde_json::from_str(text).map_err(|_| wrong())?;
        let members = value.as_object().ok_or_else(wrong)?;
        let mut attributes = Attributes::default();
        if members.contains_key("metadata") {
            attributes.metadata = Some(member(text, "metadata").ok_or_else(wrong)?.to_owned());
        }
        if let Some(locking) = members.get("Password_locking") {
            let number = |name: &str| locking.get(name).and_then(Value::as_i64).ok_or_else(wrong);
            attributes.failed_logins = number("failed_login_attempts")?;
            attributes.lock_days = number("password_lock_time_days")?;
        }
        if let Some(restrictions) = members.get("Restrictions") {
            for restriction in restrictions.as_array().ok_or_else(wrong)? {
                let database = restriction.get("Database").and_then(Value::as_str);
                let names = restriction.get("Privileges").and_then(Value::as_array);
                let names = names.ok_or_else(wrong)?.iter().filter_map(Value::as_str);
                let privileges = Privileges::of_names(names).ok_or_else(wrong)?;
                let database = database.ok_or_else(wrong)?.to_owned();
                attributes.restrictions.push((database, privileges));
            }
        }
        attributes.restrictions.sort_by(|one, other| one.0.cmp(&other.0));
        let factors = members.get("multi_factor_authentication").and_then(Value::as_array);
        attributes.has_more_factors = factors.is_some_and(|factors| !factors.is_empty());
        Ok(attributes)
    }
}

/// The unchanged text of a member's value in a sound JSON object.
fn member<'t>(object: &'t str, name: &str) -> Option<&'t str> {
    let (mut depth, mut in_string, mut is_escaped) = (0u32, false, false);
    let mut string_from = 0;
    let mut last_string = "";
    let mut value_from = None;
    for (at, byte) in object.bytes().enumerate() {
        if in_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => {
                    in_string = false;
                    last_string = object.get(string_from..at)?;
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => (in_string, string_from) = (true, at + 1),
            b':' if depth == 1 && value_from.is_none() && last_string == name => {
                value_from = Some(at + 1);
            }
            b',' | b'}' if depth == 1 => {
                if let Some(from) = value_from {
                    return object.get(from..at).map(str::trim);
                }
            }
            _ => {}
        }
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_taken_as_they_stand() {
        let object =
            r#"{"a": "metadata", "b": {"metadata": 1}, "metadata": {"x": [1.50, "},\""]}}"#;
        assert_eq!(member(object, "metadata"), Some(r#"{"x": [1.50, "},\""]}"#));
        assert_eq!(member(object, "a"), Some(r#""metadata""#));
        assert_eq!(member(object, "x"), None);
        let last = r#"{"metadata": {"comment": "it's"}, "Password_locking":
            {"failed_login_attempts": 3, "password_lock_time_days": -1}}"#;
        let attributes = Attributes::parse(Some(last)).unwrap();
        assert_eq!(attributes.metadata.as_deref(), Some(r#"{"comment": "it's"}"#));
        assert_eq!((attributes.failed_logins, attributes.lock_days), (3, -1));
        for wrong in ["", "[]", "{\"Restrictions\": [1]}", "{\"Password_locking\": 1}"] {
            Attributes::parse(Some(wrong)).unwrap_err();
        }
    }
}
