#!/usr/bin/env python3
"""Reads Parquet and Arrow files of innoscan by pyarrow, DuckDB, polars and DataFusion, and compares
every value with the text that the server wrote of the same table (SELECT ... INTO OUTFILE).

usage: consumers.py INNOSCAN CORPUS...

A corpus is a folder as `tests/data/unpack.sh` unpacks it: data/, expected/, tables.tsv.
"""

import datetime
import decimal
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

import datafusion
import duckdb
import polars
import pyarrow
import pyarrow.parquet

# Python's names of MySQL's character sets. Text in others is not judged here: Python does not know them, or
# (cp866, cp1256, koi8u) gives some bytes another meaning than MySQL. tests/it/columns.rs compares all.
CHARSETS = {
    "utf8mb4": "utf-8", "utf8mb3": "utf-8", "utf8": "utf-8", "ascii": "ascii",
    "ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be",
    "latin2": "iso8859-2", "latin7": "iso8859-13", "greek": "iso8859-7", "hebrew": "iso8859-8",
    "koi8r": "koi8-r", "cp1250": "cp1250", "cp1251": "cp1251",
    "cp1257": "cp1257", "cp850": "cp850", "cp852": "cp852", "euckr": "euc-kr",
    "gb18030": "gb18030", "binary": None,
}
MICROS = 1_000_000
HOLES = b"\x81\x8d\x8f\x90\x9d"


def rows_of_outfile(text):
    """The fields of INTO OUTFILE with its default options; None for NULL."""
    rows, row, field, at = [], [], bytearray(), 0
    is_null = False
    while at < len(text):
        byte = text[at]
        if byte == 0x5C:
            at += 1
            escaped = text[at]
            if escaped == 0x4E and not field:
                is_null = True
            else:
                field.append(0 if escaped == 0x30 else escaped)
        elif byte in (0x09, 0x0A):
            row.append(None if is_null else bytes(field))
            field, is_null = bytearray(), False
            if byte == 0x0A:
                rows.append(row)
                row = []
        else:
            field.append(byte)
        at += 1
    return rows


def days(year, month, day):
    """Days since 1970-01-01; None for a date that no calendar has. Python has no year 0: 400 years later
    every day is the same."""
    shift = 400 if year == 0 else 0
    try:
        ordinal = datetime.date(year + shift, month, day).toordinal()
    except ValueError:
        return None
    return ordinal - datetime.date(1970, 1, 1).toordinal() - (146_097 if shift else 0)


def micros(text):
    """Microseconds since 1970 of a DATETIME's text; None for one that no calendar has."""
    match = re.fullmatch(r"(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+)(?:\.(\d+))?", text)
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    day_number = days(year, month, day)
    if day_number is None:
        return None
    fraction = int((match.group(7) or "").ljust(6, "0"))
    return ((day_number * 24 + hour) * 60 + minute) * 60 * MICROS + second * MICROS + fraction


class Unknown(Exception):
    """A value that this program cannot judge."""


def expected(field, column):
    """The value that the server's text stands for, as every consumer should have it."""
    if field is None:
        return None
    kind = column["mysql.type"]
    word = re.match(r"\w+", kind).group(0)
    if word in ("tinyint", "smallint", "mediumint", "int", "bigint", "year"):
        return int(field)
    if word == "decimal":
        value = decimal.Decimal(field.decode())
        digits = int(re.match(r"decimal\((\d+)", kind).group(1))
        return value if digits <= 38 else str(value) if "E" not in str(value) else f"{value:f}"
    if word in ("float", "double"):
        return float(field)
    if word == "date":
        return days(*(int(part) for part in field.split(b"-")))
    if word in ("datetime", "timestamp"):
        return micros(field.decode())
    if word == "bit":
        number = int.from_bytes(field, "big")
        return bool(number) if kind == "bit(1)" else number
    if word in ("binary", "varbinary") or word.endswith("blob"):
        return field
    if word in ("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring",
                "multipolygon", "geometrycollection", "geomcollection"):
        return field[4:]
    if word == "vector":
        return list(struct.unpack(f"<{len(field) // 4}f", field))
    if word in ("time", "json", "uuid", "inet4", "inet6"):
        return field.decode()
    collation = column.get("mysql.collation", "")
    charset = collation.split("_")[0]
    if charset == "binary":
        return field
    if charset == "latin1":
        # cp1252, where bytes without a character are control characters.
        return "".join(bytes([b]).decode("cp1252") if b not in HOLES else chr(b) for b in field)
    if charset not in CHARSETS:
        raise Unknown(charset)
    try:
        return field.decode(CHARSETS[charset])
    except UnicodeDecodeError:
        raise Unknown("invalid text")


def is_same(wanted, found, column):
    word = re.match(r"\w+", column["mysql.type"]).group(0)
    if wanted is None or found is None:
        return wanted is None and found is None
    if word == "float":
        # The server prints six digits.
        return math.isclose(wanted, found, rel_tol=5e-6, abs_tol=10.0 ** -decimals(column))
    if word == "double":
        return wanted == found or math.isclose(wanted, found, rel_tol=0, abs_tol=10.0 ** -decimals(column))
    if word == "vector":
        return len(wanted) == len(found) and all(
            a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(wanted, found))
    return wanted == found and (wanted in (True, False)) == (found in (True, False))


def decimals(column):
    match = re.search(r"\(\d+,(\d+)\)", column["mysql.type"])
    return int(match.group(1)) if match else 400


def python_values(array):
    """An Arrow column as Python values; dates and times as their numbers, which have a year 0 too."""
    kind = array.type
    if pyarrow.types.is_dictionary(kind):
        array, kind = array.cast(pyarrow.string()), pyarrow.string()
    if pyarrow.types.is_date32(kind):
        return array.cast(pyarrow.int32()).to_pylist()
    if pyarrow.types.is_timestamp(kind):
        return array.cast(pyarrow.int64()).to_pylist()
    if isinstance(kind, pyarrow.BaseExtensionType):
        return array.cast(kind.storage_type).to_pylist()
    return array.to_pylist()


def by_pyarrow(path):
    table = pyarrow.parquet.read_table(path)
    table.validate(full=True)
    return [python_values(column.combine_chunks()) for column in table.columns]


def by_duckdb(path):
    connection = duckdb.connect()
    connection.execute("SET TimeZone='UTC'")
    found = connection.execute(f"DESCRIBE SELECT * FROM read_parquet('{path}')").fetchall()
    parts = []
    for name, kind, *_ in found:
        name = '"' + name.replace('"', '""') + '"'
        if kind == "DATE":
            parts.append(f"({name} - DATE '1970-01-01')::BIGINT")
        elif kind.startswith("TIMESTAMP"):
            parts.append(f"epoch_us({name})")
        elif kind.startswith("GEOMETRY"):
            parts.append(f"ST_AsWKB({name})::BLOB")
        else:
            parts.append(name)
    # Every expression by itself: a thousand columns in one query are slow.
    query = f"SELECT {', '.join(parts)} FROM read_parquet('{path}')"
    rows = connection.execute(query).fetchall()
    return [[row[place] for row in rows] for place in range(len(parts))]


def by_polars(path):
    frame = polars.read_parquet(path)
    lists = []
    for name in frame.columns:
        series = frame[name]
        if series.dtype == polars.Date:
            series = series.cast(polars.Int32)
        elif series.dtype == polars.Datetime:
            series = series.cast(polars.Int64)
        lists.append(series.to_list())
    return lists


def by_datafusion(path):
    context = datafusion.SessionContext()
    table = context.read_parquet(path).to_arrow_table()
    return [python_values(table.column(place).combine_chunks()) for place in range(table.num_columns)]


CONSUMERS = {
    "pyarrow": by_pyarrow, "duckdb": by_duckdb, "polars": by_polars, "datafusion": by_datafusion,
}


class Count:
    def __init__(self):
        self.values, self.unknown, self.wrong = {}, 0, []


def sources(corpus, db, table, place, flags):
    options = []
    listed = os.path.join(corpus, "source-options")
    if os.path.exists(listed):
        options = [line.strip().replace("{corpus}", corpus) for line in open(listed)]
    file = os.path.join(corpus, "data", place + ".ibd")
    if "partitioned" in flags or not os.path.exists(file):
        return [f"{db}.{table}", "--datadir", os.path.join(corpus, "data"), *options]
    return [file, *options]


def check_table(innoscan, corpus, db, table, place, flags, count):
    name = f"{os.path.basename(corpus)}/{place}"
    expected_path = os.path.join(corpus, "expected", place + ".txt")
    if not os.path.exists(expected_path):
        return
    wanted_rows = rows_of_outfile(open(expected_path, "rb").read())
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        args = [innoscan, "dump", *sources(corpus, db, table, place, flags), "-q", "--format", "parquet"]
        ended = subprocess.run(args, stdout=file, stderr=subprocess.PIPE, text=True)
        if ended.returncode != 0:
            count.wrong.append(f"{name}: {ended.stderr.strip().splitlines()[-1]}")
            return
        schema = pyarrow.parquet.read_schema(file.name)
        columns = list(json.loads(schema.metadata[b"innoscan.columns"]).items())
        shown = visible_fields(schema.metadata[b"innoscan.create_table"].decode(), columns)
        for consumer, read in CONSUMERS.items():
            try:
                found = read(file.name)
            except Exception as error:  # Whatever a consumer raises is the finding.
                count.wrong.append(f"{name}: {consumer}: {type(error).__name__}: {str(error)[:300]}")
                continue
            compare(name, consumer, wanted_rows, shown, columns, found, count)


def visible_fields(create, columns):
    """The place of each written column among the server's fields: virtual columns are only there."""
    names = [match.group(1).replace("``", "`")
             for line in create.splitlines()
             if (match := re.match(r"  `((?:[^`]|``)+)` ", line))
             and "INVISIBLE" not in "".join(line.split("'")[::2])]
    return [names.index(name) for name, _ in columns]


def compare(name, consumer, wanted_rows, shown, columns, found, count):
    lens = {len(values) for values in found}
    if len({len(row) for row in wanted_rows} | {max(shown, default=0) + 1}) > 1 or lens - {len(wanted_rows)}:
        if is_ambiguous(columns):
            # No program can tell where the fields of such text end.
            count.unknown += len(wanted_rows) * len(columns)
            return
    if lens - {len(wanted_rows)}:
        count.wrong.append(f"{name}: {consumer}: {lens} rows for {len(wanted_rows)}")
        return
    for (column_name, column), field, values in zip(columns, shown, found):
        for row, value in zip(wanted_rows, values):
            try:
                wanted = expected(row[field], column)
            except IndexError:
                sys.exit(f"{name}: the server's text has rows of {len(row)} fields")
            except Unknown:
                count.unknown += 1
                continue
            if isinstance(value, bytearray):
                value = bytes(value)
            if not is_same(wanted, value, column):
                shown_pair = f"{value!r:.80} for {wanted!r:.80}"
                count.wrong.append(f"{name}: {consumer}: {column_name} {column['mysql.type']}: {shown_pair}")
                break
            count.values[consumer] = count.values.get(consumer, 0) + 1


def is_ambiguous(columns):
    """Whether the server's text may have bytes of a separator or a backslash within a character, or
    unescaped bits."""
    collations = {column.get("mysql.collation", "").split("_")[0] for _, column in columns}
    of_several = {"big5", "cp932", "gbk", "gb18030", "sjis", "ucs2", "utf16", "utf16le", "utf32"}
    return bool(collations & of_several) or any(
        column["mysql.type"].startswith("bit(") for _, column in columns)


def main():
    innoscan, corpora = sys.argv[1], sys.argv[2:]
    count = Count()
    for corpus in corpora:
        corpus = os.path.abspath(corpus)
        for line in open(os.path.join(corpus, "tables.tsv")):
            db, table, file_db, file_table, flags = line.rstrip("\n").split("\t")
            if file_db == "t_refused":
                continue
            unhex = lambda text: bytes.fromhex(text).decode()
            place = f"{file_db}/{file_table}"
            check_table(innoscan, corpus, unhex(db), unhex(table), place, flags.split(","), count)
    for line in count.wrong:
        print(f"WRONG {line}")
    compared = ", ".join(f"{name} {values}" for name, values in count.values.items())
    print(f"equal values: {compared}; not judged (charset): {count.unknown}; wrong: {len(count.wrong)}")
    sys.exit(1 if count.wrong or not count.values else 0)


if __name__ == "__main__":
    main()
