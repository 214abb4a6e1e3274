"""Reads every row of an InnoDB table from its files, as Arrow, without a server.

    import innoscan, polars as pl

    orders = innoscan.open("/backup/mysql/shop/orders.ibd")
    pl.DataFrame(orders.scan(["id", "total"], keys=range(1000, 2000)))

A ``Table`` and a ``Scan`` are Arrow streams: polars, DuckDB, pandas, pyarrow and whatever else knows Arrow's C
interface take them as they are.
"""

from __future__ import annotations

from typing import Any

from . import errors
from ._innoscan import Scan, Split, Table, __version__, catalog, open
from .errors import InnoscanError, InnoscanWarning

__all__ = [
    "InnoscanError",
    "InnoscanWarning",
    "Scan",
    "Split",
    "Table",
    "__version__",
    "catalog",
    "errors",
    "open",
]


def _open_again(path: str, options: dict[str, Any]) -> Table:
    """Opens a table that was pickled."""
    return open(path, **options)
