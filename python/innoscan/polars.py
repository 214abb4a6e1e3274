"""Tables as LazyFrames of polars, which read only what a query needs.

    import innoscan.polars

    orders = innoscan.polars.scan("/backup/mysql/shop/orders.ibd")
    orders.filter(pl.col("id") >= 1_000_000).select("customer", "total").collect()

The columns that a query needs are the only ones that are read. Comparisons of integers, decimals, dates, times and
bytes with values are passed on, and of text by equality, so that only pages with such keys are read where the columns
begin the primary key; polars filters again in any case. ``head`` and ``limit`` end the scan early.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from . import Table, open
from ._sql import Conditions

__all__ = ["scan"]

# The comparisons of SQL, and what they become when their sides are exchanged.
_OPERATORS = {"Eq": ("=", "="), "Lt": ("<", ">"), "LtEq": ("<=", ">="), "Gt": (">", "<"), "GtEq": (">=", "<=")}
_BETWEEN = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}


def scan(
    source: Table | str | os.PathLike[str],
    *,
    types: str = "native",
    column_types: dict[str, str] | None = None,
    order: str = "key",
    on_corrupt: str = "fail",
    memory: int | None = None,
    threads: int = 0,
    **options: Any,
) -> pl.LazyFrame:
    """A LazyFrame of a table, or of the path of its file; see ``Table.scan`` and, for ``options``, ``open``."""
    table = source if isinstance(source, Table) else open(source, **options)
    how = {
        "types": types,
        "column_types": column_types,
        "order": order,
        "on_corrupt": on_corrupt,
        "memory": memory,
        "threads": threads,
    }
    schema = pl.DataFrame(table.scan(limit=0, **how)).schema
    conditions = Conditions(table, types, column_types)

    def frames(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _batch_rows: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = columns
        where = None
        if predicate is not None:
            where = _condition(predicate, conditions)
            if columns is not None:
                columns = columns + [name for name in predicate.meta.root_names() if name not in columns]
        # With a predicate, the limit is that of the rows that satisfy it.
        limit = rows if predicate is None else None
        for batch in table.scan(columns, where=where, limit=limit, **how).batches():
            frame = pl.DataFrame(batch)
            if predicate is not None:
                frame = frame.filter(predicate)
            if rows is not None:
                frame = frame.head(rows)
                rows -= frame.height
            yield frame if wanted is None else frame.select(wanted)
            if rows == 0:
                return

    return register_io_source(frames, schema=schema)


def _condition(predicate: pl.Expr, conditions: Conditions) -> str | None:
    """The part of a predicate that is a condition of SQL; None if none is."""
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    except (ValueError, TypeError, pl.exceptions.PolarsError):
        # Literals that have no form in JSON: polars alone filters.
        return None
    return " AND ".join(_terms(tree, conditions)) or None


def _terms(node: Any, conditions: Conditions) -> list[str]:
    """The conditions that all must be true; what is not understood is left to polars."""
    match node:
        case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
            return _terms(left, conditions) + _terms(right, conditions)
        case {"BinaryExpr": {"left": {"Column": name}, "op": op, "right": right}} if op in _OPERATORS:
            return _comparison(name, _OPERATORS[op][0], right, conditions)
        case {"BinaryExpr": {"left": left, "op": op, "right": {"Column": name}}} if op in _OPERATORS:
            return _comparison(name, _OPERATORS[op][1], left, conditions)
        case {
            "Function": {
                "input": [{"Column": name}, low, high],
                "function": {"Boolean": {"IsBetween": {"closed": closed}}},
            }
        } if closed in _BETWEEN:
            above, below = _BETWEEN[closed]
            return _comparison(name, above, low, conditions) + _comparison(name, below, high, conditions)
        case {"Function": {"input": [{"Column": name}, values], "function": {"Boolean": {"IsIn": _}}}}:
            return conditions.membership(name, _values(values))
    return []


def _comparison(name: str, operator: str, literal: Any, conditions: Conditions) -> list[str]:
    values = _values(literal)
    return conditions.comparison(name, operator, values[0]) if len(values) == 1 else []


def _values(literal: Any) -> list[Any]:
    """The values of a literal; empty for other expressions, and for dates and times that Python does not have."""
    if not isinstance(literal, dict) or "Literal" not in literal:
        return []
    try:
        values = pl.select(pl.Expr.deserialize(json.dumps(literal).encode(), format="json")).to_series()
        if isinstance(values.dtype, pl.List):
            values = values.explode()
        is_finer = isinstance(values.dtype, pl.Datetime) and values.dtype.time_unit == "ns"
        return [] if is_finer else values.to_list()
    except (ValueError, TypeError, pl.exceptions.PolarsError):
        return []
