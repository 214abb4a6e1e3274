//! The user's choice of types as text: `portable,time=int64`, `NAME=uuid`.

use innoscan_format::schema::TableDef;

use super::choose::is_named;
use super::{InvalidText, Kind, TypeName, TypeOptions, TypeTable, ZeroDates};

impl Kind {
    const ALL: [(Kind, &'static str); 11] = [
        (Kind::TinyInt1, "tinyint1"),
        (Kind::U64, "u64"),
        (Kind::WideDecimal, "wide-decimal"),
        (Kind::Bit, "bit"),
        (Kind::Time, "time"),
        (Kind::Enum, "enum"),
        (Kind::Set, "set"),
        (Kind::Json, "json"),
        (Kind::Geometry, "geometry"),
        (Kind::Uuid, "uuid"),
        (Kind::Inet, "inet"),
    ];

    /// The types that a kind's columns can have, besides those of the tables.
    fn types(self) -> &'static [TypeName] {
        match self {
            Kind::TinyInt1 => &[TypeName::Bool, TypeName::Int8, TypeName::Int32],
            Kind::U64 => &[TypeName::UInt64, TypeName::Int64, TypeName::Decimal],
            Kind::WideDecimal => &[TypeName::Text, TypeName::Decimal256],
            Kind::Bit => &[TypeName::UInt64, TypeName::Int64, TypeName::Binary],
            Kind::Time => &[TypeName::Duration, TypeName::Text, TypeName::Time64, TypeName::Int64],
            Kind::Enum => &[TypeName::Dictionary, TypeName::Text, TypeName::Index],
            Kind::Set => &[TypeName::Text, TypeName::List],
            Kind::Json => &[TypeName::Text, TypeName::Json],
            Kind::Geometry => &[TypeName::Wkb, TypeName::Ewkb, TypeName::Raw, TypeName::Struct],
            Kind::Uuid => &[TypeName::Uuid, TypeName::Text, TypeName::Binary],
            Kind::Inet => &[TypeName::Text, TypeName::Binary],
        }
    }
}

impl TypeName {
    const ALL: [(TypeName, &'static str); 29] = [
        (TypeName::Bool, "bool"),
        (TypeName::Int8, "int8"),
        (TypeName::Int16, "int16"),
        (TypeName::Int32, "int32"),
        (TypeName::Int64, "int64"),
        (TypeName::UInt8, "uint8"),
        (TypeName::UInt16, "uint16"),
        (TypeName::UInt32, "uint32"),
        (TypeName::UInt64, "uint64"),
        (TypeName::Float32, "float32"),
        (TypeName::Float64, "float64"),
        (TypeName::Decimal, "decimal"),
        (TypeName::Decimal256, "decimal256"),
        (TypeName::Date, "date"),
        (TypeName::Timestamp, "timestamp"),
        (TypeName::Duration, "duration"),
        (TypeName::Time64, "time64"),
        (TypeName::Text, "text"),
        (TypeName::Binary, "binary"),
        (TypeName::Fixed, "fixed"),
        (TypeName::Dictionary, "dictionary"),
        (TypeName::Index, "index"),
        (TypeName::List, "list"),
        (TypeName::Json, "json"),
        (TypeName::Uuid, "uuid"),
        (TypeName::Wkb, "wkb"),
        (TypeName::Ewkb, "ewkb"),
        (TypeName::Raw, "raw"),
        (TypeName::Struct, "struct"),
    ];

    pub(super) fn name(self) -> &'static str {
        TypeName::ALL.iter().find(|(ty, _)| *ty == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<TypeName> {
        TypeName::ALL.iter().find(|(_, known)| *known == name).map(|(ty, _)| *ty)
    }
}

impl TypeOptions {
    /// Adds choices: the name of a table, `KIND=TYPE`, `zero-dates=...` or `invalid-text=...`, separated by
    /// commas.
    ///
    /// # Errors
    /// A message that names the word that is not known, and those that are.
    pub fn choose(&mut self, text: &str) -> Result<(), String> {
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            self.choose_one(word)?;
        }
        Ok(())
    }

    fn choose_one(&mut self, word: &str) -> Result<(), String> {
        let Some((kind, ty)) = word.split_once('=') else {
            self.table = match word {
                "native" => TypeTable::Native,
                "portable" => TypeTable::Portable,
                _ => return Err(format!("`{word}` is neither native, portable nor KIND=TYPE")),
            };
            return Ok(());
        };
        let wrong = |known: &str| format!("{kind} cannot be `{ty}`: it can be {known}");
        match kind {
            "zero-dates" => {
                self.zero_dates = match ty {
                    "null" => ZeroDates::Null,
                    "fail" => ZeroDates::Fail,
                    "text" => ZeroDates::Text,
                    _ => return Err(wrong("null, fail or text")),
                }
            }
            "invalid-text" => {
                self.invalid_text = match ty {
                    "replace" => InvalidText::Replace,
                    "fail" => InvalidText::Fail,
                    "binary" => InvalidText::Binary,
                    _ => return Err(wrong("replace, fail or binary")),
                }
            }
            _ => {
                let Some((kind, _)) = Kind::ALL.iter().find(|(_, name)| *name == kind) else {
                    let known: Vec<&str> = Kind::ALL.iter().map(|(_, name)| *name).collect();
                    let known = known.join(", ");
                    return Err(format!(
                        "there is no kind `{kind}`: the kinds are {known}, zero-dates, invalid-text"
                    ));
                };
                let types = kind.types();
                let chosen = TypeName::named(ty).filter(|ty| types.contains(ty));
                let known = || types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(", ");
                self.kinds.push((*kind, chosen.ok_or_else(|| wrong(&known()))?));
            }
        }
        Ok(())
    }

    /// Adds the choice for one column, as `NAME=TYPE`.
    ///
    /// # Errors
    /// A message that says what is wrong with the text.
    pub fn choose_column(&mut self, text: &str) -> Result<(), String> {
        let (name, ty) = text
            .rsplit_once('=')
            .ok_or_else(|| format!("`{text}` has no `=` between the column and its type"))?;
        let known = || TypeName::ALL.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
        let ty = TypeName::named(ty)
            .ok_or_else(|| format!("there is no type `{ty}`: the types are {}", known()))?;
        self.columns.push((name.to_owned(), ty));
        Ok(())
    }

    /// A name of a column whose type was chosen, but that none of these tables has.
    pub fn column_of_none<'o>(&'o self, tables: &[&TableDef]) -> Option<&'o str> {
        let has = |def: &TableDef, name: &str| {
            def.columns.iter().any(|column| is_named(def, &column.name, name))
        };
        let names = self.columns.iter().map(|(name, _)| name.as_str());
        names.into_iter().find(|name| !tables.iter().any(|def| has(def, name)))
    }
}
