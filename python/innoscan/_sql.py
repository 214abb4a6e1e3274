"""Comparisons of query engines as conditions of a scan, in SQL.

A condition may let more rows through than the comparison, for engines filter again, but never fewer.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence
from typing import Any

from . import Table

_ORDERS = ("<", "<=", ">", ">=")


class Conditions:
    """The conditions that a scan of a table with these types takes."""

    def __init__(self, table: Table, types: str, column_types: dict[str, str] | None = None) -> None:
        self._push_down = table._push_down(types, column_types)
        self._kinds = self._push_down.kinds

    def comparison(self, name: str, operator: str, value: Any) -> list[str]:
        """The comparison of a column with a value; empty if the scan cannot take it over."""
        kind = self._kinds.get(name)
        text = _literal(kind, value)
        # The order of text is that of its collation.
        if text is None or (kind == "text" and operator in _ORDERS):
            return []
        return self._accepted(f"{_quoted(name)} {operator} {text}")

    def membership(self, name: str, values: Sequence[Any]) -> list[str]:
        """The condition that a column has one of the values; empty if the scan cannot take it over."""
        kind = self._kinds.get(name)
        texts = [text for text in (_literal(kind, value) for value in values) if text is not None]
        if not texts or len(texts) < len(values):
            return []
        return self._accepted(f"{_quoted(name)} IN ({', '.join(texts)})")

    def _accepted(self, condition: str) -> list[str]:
        return [condition] if self._push_down.accepts(condition) else []


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(kind: str | None, value: Any) -> str | None:
    """A value in SQL; None if columns of this kind are not compared with such values."""
    match kind, value:
        case _, bool():
            return None
        case "integer" | "decimal", int():
            return str(value)
        case "decimal", decimal.Decimal() if value.is_finite():
            return _without_trailing_zeros(f"{value:f}")
        case "date", datetime.date() if not isinstance(value, datetime.datetime):
            return f"'{value.isoformat()}'"
        case "datetime", datetime.datetime() if value.tzinfo is None:
            return _time(value)
        case "timestamp", datetime.datetime() if value.tzinfo is not None:
            return _time(value.astimezone(datetime.timezone.utc))
        # U+FFFD stands for bytes that are no text.
        case "text", str() if "\ufffd" not in value:
            return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
        case "bytes", bytes() | bytearray():
            return f"0x{value.hex()}"
    return None


def _time(time: datetime.datetime) -> str:
    text = time.replace(tzinfo=None).isoformat(" ", "microseconds")
    return f"'{_without_trailing_zeros(text)}'"


def _without_trailing_zeros(digits: str) -> str:
    """Digits without zeros at the end of the fraction, which may have more of them than the column."""
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
