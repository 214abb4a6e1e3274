"""What the engines share: a table, how it is read, and its splits, all of which can be pickled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from . import Split, Table, open

# The bytes of a split that engines read as one task.
SPLIT_BYTES = 256 << 20


@dataclass(frozen=True)
class Reading:
    """A table and how it is read. The files must have the same path wherever it is read."""

    table: Table
    columns: list[str] | None = None
    where: str | None = None
    limit: int | None = None
    types: str = "portable"
    how: dict[str, Any] = field(default_factory=dict)

    def scan(self, split: Split | None = None, limit: int | None = None) -> Any:
        limits = [rows for rows in (self.limit, limit) if rows is not None]
        return self.table.scan(
            self.columns,
            where=self.where,
            split=split,
            limit=min(limits, default=None),
            types=self.types,
            # Engines run as many tasks as there are cores.
            **{"threads": 1, **self.how},
        )

    @classmethod
    def of(
        cls,
        source: Table | str | os.PathLike[str],
        columns: list[str] | None,
        where: str | None,
        types: str,
        on_corrupt: str,
        options: dict[str, Any],
    ) -> Reading:
        """Reads a table, or the one that a path and the options of ``open`` name."""
        table = source if isinstance(source, Table) else open(source, **options)
        return cls(table, columns, where, types=types, how={"on_corrupt": on_corrupt})

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(self.scan())

    def batches(self, split: Split | None, limit: int | None = None) -> Iterator[pa.RecordBatch]:
        return iter(pa.RecordBatchReader.from_stream(self.scan(split, limit)))

    def splits(self, count: int | None = None) -> list[Split]:
        """``count`` splits, or as many as have about ``SPLIT_BYTES`` each."""
        return self.table.splits(bytes=SPLIT_BYTES) if count is None else self.table.splits(count)

    def with_columns(self, columns: list[str] | None) -> Reading:
        return self if columns is None else replace(self, columns=list(columns))
