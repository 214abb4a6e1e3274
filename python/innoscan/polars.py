"""Tables as LazyFrames of polars, which read only what a query needs.

    import innoscan.polars

    orders = innoscan.polars.scan("/backup/mysql/shop/orders.ibd")
    orders.filter(pl.col("id") >= 1_000_000).select("customer", "total").collect()

The columns that a query needs are the only ones that are read. Comparisons of integer columns with numbers are passed
on, so that only pages with such keys are read where the columns begin the primary key; polars filters again in any
case. ``head`` and ``limit`` end the scan early.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from . import Table, open
from ._sql import comparison, membership

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
    integers = {name for name in table._integer_columns if schema.get(name, pl.Null).is_integer()}

    def frames(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _batch_rows: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = columns
        where = None
        if predicate is not None:
            where = _condition(predicate, integers)
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


def _condition(predicate: pl.Expr, integers: set[str]) -> str | None:
    """The part of a predicate that is a condition of SQL; None if none is."""
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    except (ValueError, TypeError, pl.exceptions.PolarsError):
        # Literals that have no form in JSON: polars alone filters.
        return None
    return " AND ".join(_terms(tree, integers)) or None


def _terms(node: Any, integers: set[str]) -> list[str]:
    """The conditions that all must be true; what is not understood is left to polars."""
    match node:
        case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
            return _terms(left, integers) + _terms(right, integers)
        case {"BinaryExpr": {"left": {"Column": name}, "op": op, "right": right}} if op in _OPERATORS:
            return _comparison(name, _OPERATORS[op][0], right, integers)
        case {"BinaryExpr": {"left": left, "op": op, "right": {"Column": name}}} if op in _OPERATORS:
            return _comparison(name, _OPERATORS[op][1], left, integers)
        case {
            "Function": {
                "input": [{"Column": name}, low, high],
                "function": {"Boolean": {"IsBetween": {"closed": closed}}},
            }
        } if closed in _BETWEEN:
            above, below = _BETWEEN[closed]
            return _comparison(name, above, low, integers) + _comparison(name, below, high, integers)
        case {"Function": {"input": [{"Column": name}, {"Literal": _} as values], "function": {"Boolean": {"IsIn": _}}}}:
            return _membership(name, values, integers)
    return []


def _comparison(name: str, operator: str, literal: Any, integers: set[str]) -> list[str]:
    number = _integer(literal)
    if name not in integers or number is None:
        return []
    return [comparison(name, operator, number)]


def _membership(name: str, values: Any, integers: set[str]) -> list[str]:
    if name not in integers:
        return []
    try:
        literal = pl.Expr.deserialize(json.dumps(values).encode(), format="json")
        numbers = pl.select(literal.explode()).to_series().to_list()
    except (ValueError, TypeError, pl.exceptions.PolarsError):
        return []
    if not numbers or not all(type(number) is int for number in numbers):
        return []
    return [membership(name, numbers)]


def _integer(literal: Any) -> int | None:
    match literal:
        case {"Literal": {"Scalar": dict(value)}} | {"Literal": {"Dyn": dict(value)}} | {"Literal": dict(value)}:
            [(kind, number)] = value.items() if len(value) == 1 else [("", None)]
            if kind.startswith(("Int", "UInt")) and type(number) is int:
                return number
    return None
