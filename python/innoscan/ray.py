"""Tables as Datasets of Ray, one read task for each split.

    import innoscan.ray

    orders = innoscan.ray.read("/backup/mysql/shop/orders.ibd")
    orders.select_columns(["state", "total"]).groupby("state").sum("total").show()

Only the columns that are used are read, and a limit ends each task early. The files must have the same path on every
node.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import ray.data
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from . import Split, Table
from ._reading import Reading

__all__ = ["read"]


def read(
    source: Table | str | os.PathLike[str],
    *,
    columns: list[str] | None = None,
    where: str | None = None,
    splits: int | None = None,
    types: str = "native",
    on_corrupt: str = "fail",
    **options: Any,
) -> ray.data.Dataset:
    """A Dataset of a table, or of the path of its file.

    splits: the number of read tasks; None: as many as Ray finds useful. The other arguments are those of
    ``Table.scan``; ``options`` are those of ``open``.
    """
    reading = Reading.of(source, columns, where, types, on_corrupt, options)
    blocks = {} if splits is None else {"override_num_blocks": splits}
    return ray.data.read_datasource(_Source(reading), **blocks)


class _Source(Datasource):
    def __init__(self, reading: Reading) -> None:
        super().__init__()
        # The mixin for projections has no constructor.
        self._projection_map: dict[str, str] | None = None
        self.reading = reading

    def get_name(self) -> str:
        return f"innoscan {self.reading.table.name}"

    def estimate_inmemory_data_size(self) -> int | None:
        return self.reading.table.size_bytes

    def supports_projection_pushdown(self) -> bool:
        return True

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        columns = self._get_data_columns()
        if columns == []:
            # Ray counts the rows of columns: those of one are enough.
            columns = self.reading.table.columns[:1]
        reading = self.reading.with_columns(columns)
        schema = reading.schema
        tasks = []
        for split in reading.splits(max(parallelism, 1)):
            files = [os.fspath(path) for path in reading.table.files]
            # The rows are estimated, and Ray takes a number of rows for exact.
            metadata = BlockMetadata(
                num_rows=None, size_bytes=split.estimated_bytes, input_files=files, exec_stats=None
            )
            blocks = partial(_blocks, reading, split, per_task_row_limit)
            tasks.append(ReadTask(blocks, metadata, schema=schema, per_task_row_limit=per_task_row_limit))
        return tasks


def _blocks(reading: Reading, split: Split, limit: int | None) -> Iterator[pa.Table]:
    empty = True
    for batch in reading.batches(split, limit):
        empty = False
        yield pa.Table.from_batches([batch])
    if empty:
        yield reading.schema.empty_table()
