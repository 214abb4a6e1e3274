//! Conditions as SQL that means the same under any `sql_mode`.

use innoscan_format::schema::quoted_name;

use super::literal::Literal;
use super::{Comparison, Operator, Test};

/// The comparisons joined by AND.
pub(super) fn conjunction(comparisons: &[Comparison]) -> String {
    comparisons.iter().map(comparison).collect::<Vec<_>>().join(" AND ")
}

fn comparison(Comparison { column, test }: &Comparison) -> String {
    let column = quoted_name(column);
    let not = |is_not: &bool| if *is_not { "NOT " } else { "" };
    match test {
        Test::Null { is_not } => format!("{column} IS {}NULL", not(is_not)),
        Test::Compare(operator, value) => {
            format!("{column} {} {}", sign(*operator), literal(value))
        }
        Test::OneOf { values, is_not } => {
            let values: Vec<String> = values.iter().map(literal).collect();
            format!("{column} {}IN ({})", not(is_not), values.join(", "))
        }
        Test::Between { low, high, is_not } => {
            format!("{column} {}BETWEEN {} AND {}", not(is_not), literal(low), literal(high))
        }
    }
}

fn sign(operator: Operator) -> &'static str {
    Operator::ALL.iter().find(|(_, of)| *of == operator).map_or("=", |(sign, _)| sign)
}

/// A literal; text is written in hexadecimal, whose meaning no mode of the server changes.
fn literal(value: &Literal) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match value {
        Literal::Text(text) => format!("_utf8mb4 X'{}'", hex(text.as_bytes())),
        Literal::Number(number) => number.clone(),
        Literal::Bytes(bytes) => format!("X'{}'", hex(bytes)),
        Literal::Null => "NULL".to_owned(),
    }
}
