//! Filters of a plan as conditions that limit which pages are read.
//!
//! DataFusion filters again in any case, so what is not understood here is left to it, and a condition may let more
//! rows through than its filter.

use std::sync::Arc;

use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, Column, InListExpr, Literal};
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;
use innoscan_columnar::{Comparable, PushDown};

/// The conditions of the filters as they are now: dynamic filters know more when the other side of a join was read.
pub fn conditions(filters: &[Arc<dyn PhysicalExpr>], columns: &PushDown) -> Vec<String> {
    let mut terms = Vec::new();
    for filter in filters {
        // A filter that cannot be taken as it is now limits nothing.
        if let Ok(filter) = snapshot_physical_expr(Arc::clone(filter)) {
            add_terms(&filter, columns, &mut terms);
        }
    }
    terms.retain(|term| columns.accepts(term));
    terms
}

/// Adds the terms that all must be true.
fn add_terms(filter: &Arc<dyn PhysicalExpr>, columns: &PushDown, terms: &mut Vec<String>) {
    if let Some(binary) = filter.downcast_ref::<BinaryExpr>() {
        match binary.op() {
            Operator::And => {
                add_terms(binary.left(), columns, terms);
                add_terms(binary.right(), columns, terms);
            }
            Operator::Or => terms.extend(alternatives(filter, columns)),
            _ => {
                let compared = comparison(binary, columns);
                let term = |(column, operator, value)| format!("{column} {operator} {value}");
                terms.extend(compared.map(term));
            }
        }
    } else if let Some(list) = filter.downcast_ref::<InListExpr>() {
        terms.extend(membership(list, columns));
    }
}

/// `id = 3 OR id = 9` as a membership: DataFusion writes short lists so.
fn alternatives(filter: &Arc<dyn PhysicalExpr>, columns: &PushDown) -> Option<String> {
    let mut values = Vec::new();
    let mut column = None;
    let mut left = vec![filter];
    while let Some(filter) = left.pop() {
        let binary = filter.downcast_ref::<BinaryExpr>()?;
        if *binary.op() == Operator::Or {
            left.extend([binary.right(), binary.left()]);
            continue;
        }
        let (name, operator, value) = comparison(binary, columns)?;
        if operator != "=" || column.get_or_insert_with(|| name.clone()) != &name {
            return None;
        }
        values.push(value);
    }
    one_of(&column?, &values)
}

/// A column, an operator, and the value it is compared with.
fn comparison(binary: &BinaryExpr, columns: &PushDown) -> Option<(String, &'static str, String)> {
    let (column, operator, value) = match column(binary.left(), columns) {
        Some(column) => (column, *binary.op(), binary.right()),
        None => (column(binary.right(), columns)?, binary.op().swap()?, binary.left()),
    };
    let (name, comparable) = column;
    let operator = match operator {
        Operator::Eq => "=",
        Operator::Lt => "<",
        Operator::LtEq => "<=",
        Operator::Gt => ">",
        Operator::GtEq => ">=",
        _ => return None,
    };
    let is_sound = comparable.is_ordered() || operator == "=";
    Some((name, operator, literal(value, comparable).filter(|_| is_sound)?))
}

fn membership(list: &InListExpr, columns: &PushDown) -> Option<String> {
    let (name, comparable) = column(list.expr(), columns).filter(|_| !list.negated())?;
    let values: Option<Vec<String>> =
        list.list().iter().map(|value| literal(value, comparable)).collect();
    one_of(&name, &values?)
}

fn one_of(column: &str, values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| format!("{column} IN ({})", values.join(", ")))
}

/// The quoted name of a column, and how its values compare, unless a cast changes that.
fn column(expr: &Arc<dyn PhysicalExpr>, columns: &PushDown) -> Option<(String, Comparable)> {
    if let Some(cast) = expr.downcast_ref::<CastExpr>() {
        let column = column(cast.expr(), columns);
        return column.filter(|(_, comparable)| comparable.is_kept_by_cast(cast.cast_type()));
    }
    let name = expr.downcast_ref::<Column>()?.name();
    Some((format!("`{}`", name.replace('`', "``")), columns.column(name)?))
}

fn literal(expr: &Arc<dyn PhysicalExpr>, comparable: Comparable) -> Option<String> {
    let value = expr.downcast_ref::<Literal>()?.value();
    comparable.literal(value.to_array().ok()?.as_ref(), 0)
}
