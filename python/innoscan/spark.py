"""Tables as a data source of Spark 4, one partition for each split.

    import innoscan.spark

    innoscan.spark.register(spark)
    spark.read.format("innoscan").load("/backup/mysql/shop/orders.ibd")
    spark.read.format("innoscan").option("datadir", "/backup/mysql").load("shop.orders")

Options, besides those of ``innoscan.open`` (lists of directories with semicolons between them; no ``force``):

columns       the columns to read, with commas between them; Spark does not say which ones a query needs
where         a condition as of ``Table.scan``
splits        the number of partitions; by default one for each 256 MiB
pushFilters   true: comparisons with values are passed on, those of text by equality alone, so that only pages with
              such keys are read. This needs Spark 4.1 with spark.sql.python.filterPushdown.enabled, which is off by
              default

The files must have the same path on every executor. Values have the ``portable`` types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import datasource as spark
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from . import Split
from ._reading import Reading
from ._sql import Conditions

__all__ = ["InnoscanDataSource", "register"]

_OPEN_OPTIONS = ("datadir", "keyring", "key_file", "key_file_password_file", "defaults_file", "prepared")
_OPEN_LISTS = ("innodb_directories", "incremental")


def register(session: SparkSession) -> None:
    """Makes the format ``innoscan`` known to a session."""
    session.dataSource.register(InnoscanDataSource)


class InnoscanDataSource(spark.DataSource):
    """The format ``innoscan``."""

    @classmethod
    def name(cls) -> str:
        return "innoscan"

    def _reading(self) -> Reading:
        path = self.options.get("path")
        if path is None:
            raise ValueError("give the path of an .ibd file, or with the option datadir a table's name")
        places: dict[str, Any] = {name: self.options[name] for name in _OPEN_OPTIONS if name in self.options}
        places |= {name: self.options[name].split(";") for name in _OPEN_LISTS if name in self.options}
        columns = self.options.get("columns")
        names = None if columns is None else [name.strip() for name in columns.split(",")]
        return Reading.of(path, names, self.options.get("where"), "portable", "fail", places)

    def schema(self) -> StructType:
        return from_arrow_schema(self._reading().schema)

    def reader(self, schema: StructType) -> spark.DataSourceReader:
        reading = self._reading().with_columns(schema.fieldNames())
        splits = self.options.get("splits")
        pushes = self.options.get("pushFilters", "false").lower() == "true"
        return (_FilteringReader if pushes else _Reader)(reading, None if splits is None else int(splits))


class _Partition(spark.InputPartition):
    def __init__(self, split: Split) -> None:
        super().__init__(str(split))


class _Reader(spark.DataSourceReader):
    def __init__(self, reading: Reading, splits: int | None) -> None:
        self.reading = reading
        self.split_count = splits

    def partitions(self) -> list[_Partition]:
        return [_Partition(split) for split in self.reading.splits(self.split_count)]

    def read(self, partition: spark.InputPartition) -> Iterator[pa.RecordBatch]:
        return self.reading.batches(Split(partition.value))


_OPERATORS = {
    "EqualTo": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}


class _FilteringReader(_Reader):
    """Spark finds by the method that filters can be passed on."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:
        conditions = Conditions(self.reading.table, self.reading.types)
        terms = [self.reading.where] if self.reading.where else []
        for pushed in filters:
            terms += _terms(pushed, conditions)
            # Spark filters again.
            yield pushed
        if terms:
            self.reading = replace(self.reading, where=" AND ".join(terms))


def _terms(pushed: Any, conditions: Conditions) -> list[str]:
    name = ".".join(getattr(pushed, "attribute", ()))
    value = getattr(pushed, "value", None)
    operator = type(pushed).__name__
    if operator == "In":
        return conditions.membership(name, value)
    return conditions.comparison(name, _OPERATORS[operator], value) if operator in _OPERATORS else []
