"""Tables for datafusion-python, one partition for each split.

    import innoscan.datafusion

    innoscan.datafusion.register(context, "orders", "/backup/mysql/shop/orders.ibd")
    context.sql("SELECT state, sum(total) FROM orders GROUP BY state").show()

Only the columns that a query needs are read, on all cores. Rows are filtered batch by batch; which pages are read is
said by ``where``, for DataFusion's module passes on its filters in a form that cannot be taken apart.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from datafusion import SessionContext

from . import Split, Table
from ._reading import Reading

__all__ = ["dataset", "register"]


def register(
    context: SessionContext, name: str, source: Table | str | os.PathLike[str], **how: Any
) -> None:
    """Makes a table, or the one of a file, known to a context by a name; ``how`` as for ``dataset``."""
    context.register_dataset(name, dataset(source, **how))


def dataset(
    source: Table | str | os.PathLike[str],
    *,
    columns: list[str] | None = None,
    where: str | None = None,
    splits: int | None = None,
    types: str = "native",
    on_corrupt: str = "fail",
    **options: Any,
) -> ds.Dataset:
    """A table, or the one of a file, as DataFusion takes it.

    splits: the number of partitions; None: one for each 256 MiB. The other arguments are those of ``Table.scan``;
    ``options`` are those of ``open``.
    """
    return _Dataset(Reading.of(source, columns, where, types, on_corrupt, options), splits)


class _Dataset(ds.Dataset):
    """What DataFusion asks of a dataset of pyarrow: a schema, a scanner, and fragments."""

    def __init__(self, reading: Reading, splits: int | None) -> None:
        self._reading = reading
        self._split_count = splits

    @property
    def schema(self) -> pa.Schema:
        return self._reading.schema

    def scanner(self, columns: list[str] | None = None, filter: pc.Expression | None = None, **_: Any) -> _Scanner:
        return _Scanner(self._reading, None, columns, filter)

    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator[_Fragment]:
        return (_Fragment(self._reading, split) for split in self._reading.splits(self._split_count))


class _Fragment:
    def __init__(self, reading: Reading, split: Split) -> None:
        self._reading = reading
        self._split = split

    def scanner(
        self,
        schema: pa.Schema,
        columns: list[str] | None = None,
        filter: pc.Expression | None = None,
        batch_size: int | None = None,
    ) -> _Scanner:
        return _Scanner(self._reading, self._split, columns, filter)


class _Scanner:
    def __init__(
        self, reading: Reading, split: Split | None, columns: list[str] | None, filter: pc.Expression | None
    ) -> None:
        self._columns = reading.schema.names if columns is None else columns
        self._reading = reading.with_columns(_needed(reading.schema, self._columns, filter))
        self._split = split
        self._filter = filter

    @property
    def projected_schema(self) -> pa.Schema:
        return self._reading.with_columns(self._columns).schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._reading.batches(self._split):
            if self._filter is None:
                yield batch
            else:
                yield from pa.Table.from_batches([batch]).filter(self._filter).select(self._columns).to_batches()


def _needed(schema: pa.Schema, columns: list[str], filter: pc.Expression | None) -> list[str]:
    """The columns, and those of a filter, which only its text tells: it may look as if it had more."""
    if filter is None:
        return columns
    text = str(filter)
    needed = [name for name in schema.names if name in columns or name in text]
    try:
        pa.schema([schema.field(name) for name in needed]).empty_table().filter(filter)
    except pa.ArrowInvalid:
        return schema.names
    return needed
