"""The exceptions of innoscan, one class for each kind of error.

Each has ``file``, the file in which the error occurred, ``page``, the number of the page where damage was found,
and ``remedies``, a list of what can be done.

An error in the middle of an Arrow stream reaches Python as the consumer's own exception (pyarrow's, polars',
DuckDB's) with the same text, since Arrow passes on nothing but text.
"""

from __future__ import annotations

import os


class InnoscanWarning(UserWarning):
    """Rows or columns may be missing or old; the text says which, and why."""


class InnoscanError(Exception):
    """An error of innoscan."""

    file: os.PathLike[str] | None = None
    page: int | None = None
    remedies: list[str] = []


class CorruptError(InnoscanError):
    """A page or a row is damaged."""


class UnsupportedError(InnoscanError):
    """The bytes are sound, in a form that this version does not read."""


class NoKeyError(InnoscanError):
    """The table is encrypted, and its key is not known."""


class WrongKeyError(InnoscanError):
    """The table is encrypted, and the key that was given does not decrypt it."""


class SchemaError(InnoscanError):
    """A table definition cannot be parsed, or does not belong to the file."""


class NotFoundError(InnoscanError, FileNotFoundError):
    """A file, directory, database, table or column does not exist."""


class AccessError(InnoscanError, PermissionError):
    """The system denies this user access."""


class ReadError(InnoscanError, OSError):
    """The device or the file system failed a read."""


class WriteError(InnoscanError, OSError):
    """The output could not be written."""


class UsageError(InnoscanError, ValueError):
    """A request makes no sense: a condition, or arguments that exclude each other."""


class RefusedError(InnoscanError):
    """The operation is possible but unsafe, on this table or output."""


class RefusedDirectoryError(RefusedError):
    """The whole data directory is unsafe to read: its server runs, or was not shut down cleanly."""


class ResourcesError(InnoscanError):
    """There is not enough memory, threads or another limited resource."""
