"""Tables as DataFrames of Dask, one partition for each split.

    import innoscan.dask

    orders = innoscan.dask.read("/backup/mysql/shop/orders.ibd")
    orders.groupby("state").id.count().compute()

Only the columns that are used are read. Each partition is a DataFrame of pandas with the types of Arrow.
Dask cannot add up decimals of Arrow yet: convert them before, ``orders.total.astype(float).sum()``.
"""

from __future__ import annotations

import os
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa

from . import Split, Table
from ._reading import Reading

__all__ = ["read"]


def read(
    source: Table | str | os.PathLike[str],
    *,
    columns: list[str] | None = None,
    where: str | None = None,
    splits: int | None = None,
    types: str = "portable",
    on_corrupt: str = "fail",
    **options: Any,
) -> dd.DataFrame:
    """A DataFrame of a table, or of the path of its file.

    splits: the number of partitions; None: one for each 256 MiB. The other arguments are those of ``Table.scan``;
    ``options`` are those of ``open``.
    """
    reading = Reading.of(source, columns, where, types, on_corrupt, options)
    meta = _pandas(reading.schema.empty_table())
    texts = [str(split) for split in reading.splits(splits)]
    return dd.from_map(_Read(reading), texts, meta=meta)


class _Read:
    """Reads a split. Dask finds by the argument ``columns`` that it can read some columns alone."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def __call__(self, split: str, columns: list[str] | None = None) -> pd.DataFrame:
        return _pandas(pa.table(self.reading.with_columns(columns).scan(Split(split))))

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        reading = self.reading
        return (reading.table._state(), reading.columns, reading.where, reading.types, tuple(reading.how.items()))


def _pandas(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas(types_mapper=pd.ArrowDtype)
