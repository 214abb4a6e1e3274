"""Tables as DataFrames of Daft, one task for each split.

    import innoscan.daft

    orders = innoscan.daft.read("/backup/mysql/shop/orders.ibd")
    orders.groupby("state").sum("total").show()

Only the columns that are used are read, and a limit ends each task early. Daft itself filters.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import daft
from daft.io.pushdowns import Pushdowns
from daft.io.source import DataSource, DataSourceTask
from daft.recordbatch import RecordBatch
from daft.schema import Schema

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
) -> daft.DataFrame:
    """A DataFrame of a table, or of the path of its file.

    splits: the number of tasks; None: one for each 256 MiB. The other arguments are those of ``Table.scan``;
    ``options`` are those of ``open``.
    """
    reading = Reading.of(source, columns, where, types, on_corrupt, options)
    return _Source(reading, splits).read()


class _Source(DataSource):
    def __init__(self, reading: Reading, splits: int | None) -> None:
        self.reading = reading
        self.split_count = splits

    @property
    def name(self) -> str:
        return f"innoscan {self.reading.table.name}"

    @property
    def schema(self) -> Schema:
        return Schema.from_pyarrow_schema(self.reading.schema)

    async def get_tasks(self, pushdowns: Pushdowns) -> AsyncIterator[DataSourceTask]:
        columns = pushdowns.columns
        if columns is not None:
            # In the order of the table, with those that filters need.
            needed = {*columns, *pushdowns.filter_required_column_names()}
            columns = [name for name in self.reading.schema.names if name in needed]
        reading = self.reading.with_columns(columns)
        # The limit is that of the rows that filters leave.
        limit = pushdowns.limit if pushdowns.filters is None else None
        for split in reading.splits(self.split_count):
            yield _Task(reading, split, limit)


class _Task(DataSourceTask):
    def __init__(self, reading: Reading, split: Split, limit: int | None) -> None:
        self.reading = reading
        self.split = split
        self.limit = limit

    @property
    def schema(self) -> Schema:
        return Schema.from_pyarrow_schema(self.reading.schema)

    async def read(self) -> AsyncIterator[RecordBatch]:
        schema = self.reading.schema
        batches = self.reading.batches(self.split, self.limit)
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            yield RecordBatch.from_arrow_record_batches([batch], schema)
