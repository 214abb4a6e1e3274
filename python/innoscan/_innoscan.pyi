import datetime
import decimal
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

__version__: str

Path: TypeAlias = str | os.PathLike[str]
KeyValue: TypeAlias = int | float | str | bytes | decimal.Decimal | datetime.date | datetime.timedelta | uuid.UUID
Key: TypeAlias = KeyValue | tuple[KeyValue, ...]
KeyRange: TypeAlias = Key | range | slice

class Progress(TypedDict):
    share: float
    rows: int
    read_bytes: int

class Report(TypedDict):
    rows: int
    read_bytes: int | None
    seconds: float | None
    replaced_characters: int
    dates_as_null: int
    srids_left_out: int
    damaged: int | None
    damage: list[str] | None

class Checksum(TypedDict):
    rows: int
    checksum: int | None
    stored_columns_checksum: int | None

def open(
    path: Path,
    *,
    datadir: Path | None = None,
    keyring: Path | None = None,
    key_file: Path | None = None,
    key_file_password_file: Path | None = None,
    defaults_file: Path | None = None,
    innodb_directories: Sequence[Path] = (),
    incremental: Sequence[Path] = (),
    prepared: Literal["commit", "rollback", "refuse"] = "refuse",
    force: bool = False,
) -> Table: ...
def catalog(
    datadir: Path,
    *,
    keyring: Path | None = None,
    key_file: Path | None = None,
    key_file_password_file: Path | None = None,
    defaults_file: Path | None = None,
    innodb_directories: Sequence[Path] = (),
    incremental: Sequence[Path] = (),
    prepared: Literal["commit", "rollback", "refuse"] = "refuse",
    force: bool = False,
) -> list[str]: ...

class Table:
    @property
    def name(self) -> str: ...
    @property
    def files(self) -> list[os.PathLike[str]]: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def primary_key(self) -> list[str]: ...
    @property
    def left_out(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...
    def _state(self) -> list[str]: ...
    def _push_down(self, types: str, column_types: dict[str, str] | None) -> PushDown: ...
    def schema_sql(self) -> str: ...
    def scan(
        self,
        columns: Sequence[str] | None = None,
        *,
        keys: KeyRange | list[KeyRange] | None = None,
        where: str | None = None,
        split: Split | None = None,
        limit: int | None = None,
        types: str = "native",
        column_types: dict[str, str] | None = None,
        order: Literal["key", "any"] = "key",
        on_corrupt: Literal["fail", "skip"] = "fail",
        invisible: bool = False,
        memory: int | None = None,
        threads: int = 0,
        max_rate: int | None = None,
    ) -> Scan: ...
    def splits(self, count: int | None = None, *, bytes: int | None = None) -> list[Split]: ...
    def checksum(self, *, progress: Callable[[Progress], object] | None = None) -> Checksum: ...
    def explain(self, *, device: str | None = None) -> dict[str, Any]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class PushDown:
    @property
    def kinds(self) -> dict[str, str]: ...
    def accepts(self, condition: str) -> bool: ...

class Scan:
    @property
    def columns(self) -> list[str]: ...
    @property
    def progress(self) -> Progress: ...
    @property
    def report(self) -> Report | None: ...
    def batches(self) -> Iterator[Batch]: ...
    def count(self, *, progress: Callable[[Progress], object] | None = None) -> int: ...
    def to_parquet(
        self,
        path: Path,
        *,
        compression: Literal["zstd", "snappy", "none"] = "zstd",
        field_ids: bool = False,
        overwrite: bool = False,
        progress: Callable[[Progress], object] | None = None,
    ) -> Report: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Batch:
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
    def __len__(self) -> int: ...

class Split:
    def __init__(self, text: str) -> None: ...
    @property
    def table(self) -> str: ...
    @property
    def estimated_rows(self) -> int: ...
    @property
    def estimated_bytes(self) -> int: ...
    @property
    def lower_key(self) -> list[str] | None: ...
    @property
    def upper_key(self) -> list[str] | None: ...
