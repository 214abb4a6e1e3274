//! Filters of a plan as conditions that limit which pages are read.
//!
//! DataFusion filters again in any case, so what is not understood here is left to it, and a condition may let more
//! rows through than its filter.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, Column, InListExpr, Literal};
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;

/// The columns whose comparisons with integers mean the same in SQL of the server.
pub type Integers = Arc<HashSet<String>>;

/// The conditions of the filters as they are now: dynamic filters know more when the other side of a join was read.
pub fn conditions(filters: &[Arc<dyn PhysicalExpr>], integers: &Integers) -> Vec<String> {
    let mut terms = Vec::new();
    for filter in filters {
        // A filter that cannot be taken as it is now limits nothing.
        if let Ok(filter) = snapshot_physical_expr(Arc::clone(filter)) {
            add_terms(&filter, integers, &mut terms);
        }
    }
    terms
}

/// Adds the terms that all must be true.
fn add_terms(filter: &Arc<dyn PhysicalExpr>, integers: &Integers, terms: &mut Vec<String>) {
    if let Some(binary) = filter.downcast_ref::<BinaryExpr>() {
        match binary.op() {
            Operator::And => {
                add_terms(binary.left(), integers, terms);
                add_terms(binary.right(), integers, terms);
            }
            Operator::Or => terms.extend(alternatives(filter, integers)),
            _ => {
                let compared = comparison(binary, integers);
                let term = |(column, operator, number)| format!("{column} {operator} {number}");
                terms.extend(compared.map(term));
            }
        }
    } else if let Some(list) = filter.downcast_ref::<InListExpr>() {
        terms.extend(membership(list, integers));
    }
}

/// `id = 3 OR id = 9` as a membership: DataFusion writes short lists so.
fn alternatives(filter: &Arc<dyn PhysicalExpr>, integers: &Integers) -> Option<String> {
    let mut numbers = Vec::new();
    let mut column = None;
    let mut left = vec![filter];
    while let Some(filter) = left.pop() {
        let binary = filter.downcast_ref::<BinaryExpr>()?;
        if *binary.op() == Operator::Or {
            left.extend([binary.right(), binary.left()]);
            continue;
        }
        let (name, operator, number) = comparison(binary, integers)?;
        if operator != "=" || column.get_or_insert_with(|| name.clone()) != &name {
            return None;
        }
        numbers.push(number.to_string());
    }
    Some(format!("{} IN ({})", column?, numbers.join(", ")))
}

/// A column, an operator, and the number it is compared with.
fn comparison(binary: &BinaryExpr, integers: &Integers) -> Option<(String, &'static str, i128)> {
    let left = (column(binary.left(), integers), integer(binary.right()));
    let right = (column(binary.right(), integers), integer(binary.left()));
    let (column, operator, number) = match (left, right) {
        ((Some(column), Some(number)), _) => (column, *binary.op(), number),
        (_, (Some(column), Some(number))) => (column, binary.op().swap()?, number),
        _ => return None,
    };
    let operator = match operator {
        Operator::Eq => "=",
        Operator::Lt => "<",
        Operator::LtEq => "<=",
        Operator::Gt => ">",
        Operator::GtEq => ">=",
        _ => return None,
    };
    Some((column, operator, number))
}

fn membership(list: &InListExpr, integers: &Integers) -> Option<String> {
    let column = column(list.expr(), integers).filter(|_| !list.negated())?;
    let numbers: Option<Vec<String>> =
        list.list().iter().map(|value| Some(integer(value)?.to_string())).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty())?;
    Some(format!("{column} IN ({})", numbers.join(", ")))
}

/// The quoted name of a column of integers, whatever it is cast to: a comparison with an integer has the same result.
fn column(expr: &Arc<dyn PhysicalExpr>, integers: &Integers) -> Option<String> {
    if let Some(cast) = expr.downcast_ref::<CastExpr>() {
        return column(cast.expr(), integers).filter(|_| cast.cast_type().is_integer());
    }
    let name = expr.downcast_ref::<Column>()?.name();
    integers.contains(name).then(|| format!("`{}`", name.replace('`', "``")))
}

fn integer(expr: &Arc<dyn PhysicalExpr>) -> Option<i128> {
    Some(match expr.downcast_ref::<Literal>()?.value() {
        ScalarValue::Int8(number) => i128::from((*number)?),
        ScalarValue::Int16(number) => i128::from((*number)?),
        ScalarValue::Int32(number) => i128::from((*number)?),
        ScalarValue::Int64(number) => i128::from((*number)?),
        ScalarValue::UInt8(number) => i128::from((*number)?),
        ScalarValue::UInt16(number) => i128::from((*number)?),
        ScalarValue::UInt32(number) => i128::from((*number)?),
        ScalarValue::UInt64(number) => i128::from((*number)?),
        _ => return None,
    })
}
