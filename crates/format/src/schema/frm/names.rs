//! Names, and members of `ENUM` and `SET`: lists whose first byte is the separator.

use super::cursor::text;
use crate::{Error, Result};

/// The members of one `ENUM` or `SET`, in bytes of the column's charset.
pub(super) type Members = Vec<Vec<u8>>;

/// Reads the lists of a section (`fix_type_pointers`, sql/table.cc).
///
/// A list is a separator, then each value followed by a separator, then a zero byte; an empty list
/// is the zero byte alone. A member that begins with a zero byte looks like the end of its list;
/// only in the last list can the two be distinguished, by the bytes that follow.
pub(super) fn parse_lists(section: &[u8], n_lists: u16) -> Result<Vec<Members>> {
    let mut lists = Vec::new();
    let mut rest = section;
    for list in 1..=n_lists {
        let mut members = Vec::new();
        let (separator, after) = rest.split_first().ok_or_else(cut_short)?;
        rest = after;
        while *separator != 0 && !rest.is_empty() {
            let len = rest.iter().position(|byte| byte == separator).ok_or_else(cut_short)?;
            let (member, after) = rest.split_at(len);
            members.push(member.to_vec());
            rest = after.split_first().map_or(&[][..], |(_, after)| after);
            match rest.split_first() {
                Some((0, after)) if list < n_lists || after.is_empty() => {
                    rest = after;
                    break;
                }
                _ => {}
            }
        }
        lists.push(members);
    }
    Ok(lists)
}

/// Parses one list of names.
pub(super) fn parse_names(section: &[u8]) -> Result<Vec<String>> {
    let lists = parse_lists(section, 1)?;
    Ok(lists.iter().flatten().map(|name| text(name)).collect())
}

#[cold]
fn cut_short() -> Error {
    Error::corrupt("a list of names in the .frm file is not terminated")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(section: &[u8], n_lists: u16) -> Vec<Vec<String>> {
        let lists = parse_lists(section, n_lists).unwrap();
        let shown = |list: &Members| list.iter().map(|member| text(member)).collect();
        lists.iter().map(shown).collect()
    }

    #[test]
    fn lists_of_a_file() {
        let section = b"\xffa\xffit's\xff\0,x\xff,y,\0\0";
        assert_eq!(lists(section, 3), [vec!["a", "it's"], vec!["x\u{fffd}", "y"], vec![]]);
    }

    #[test]
    fn a_zero_byte_begins_a_member_of_the_last_list_alone() {
        assert_eq!(lists(b"\xffa\xff\0b\xff\0", 1), [vec!["a", "\0b"]]);
        assert_eq!(lists(b"\xffa\xff\0,b,\0", 2), [vec!["a"], vec!["b"]]);
    }

    #[test]
    fn cut_off_lists_are_errors() {
        for section in [&b"\xffa"[..], b"", b"\xffa\xffb"] {
            assert!(parse_lists(section, 1).is_err(), "{section:?}");
        }
        assert!(parse_lists(b"\xffa\xff\0", u16::MAX).is_err());
    }
}
