import pickle
import subprocess
import sys
import threading

import innoscan
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from innoscan import errors

from conftest import FIXTURES


def ids(scan):
    return pa.table(scan)["id"].to_pylist()


def test_a_table(orders):
    assert orders.name == "shop.orders"
    assert orders.columns == ["id", "customer", "total", "placed", "state", "note"]
    assert orders.primary_key == ["id"]
    assert orders.left_out == []
    assert orders.schema_sql().startswith("CREATE TABLE `orders` (\n  `id` int unsigned NOT NULL")
    assert orders.checksum() == {"rows": 400, "checksum": 219019651, "stored_columns_checksum": None}
    assert [cost["name"] for cost in orders.explain(device="gp3")["devices"]] == ["gp3"]
    assert pa.schema(orders) == pa.table(orders).schema


def test_what_is_selected(orders):
    assert ids(orders) == list(range(1, 401))
    assert ids(orders.scan(keys=5)) == [5]
    assert ids(orders.scan(keys=[range(5, 8), (10,), slice(399, None), slice(None, 3)])) == [1, 2, 5, 6, 7, 10, 399, 400]
    assert ids(orders.scan(["total", "id"], limit=3)) == [1, 2, 3]
    assert ids(orders.scan(where="id < 50 AND state = 'paid'", limit=2)) == [2, 4]
    assert orders.scan(limit=0).count() == 0
    assert orders.scan(where="id <= 7").count() == 7
    assert pa.schema(orders.scan(types="portable")).field("id").type == pa.int64()
    assert pa.schema(orders.scan(column_types={"state": "text"})).field("state").type == pa.string()


def test_a_stream_is_read_when_it_is_asked_and_again(orders):
    scan = orders.scan(["id"])
    pa.schema(scan)
    unread = pa.RecordBatchReader.from_stream(scan)
    assert scan.report is None and scan.progress["read_bytes"] == 0
    assert unread.read_all().num_rows == 400
    report = scan.report
    assert report["rows"] == 400 and report["damaged"] == 0
    first, second = pa.RecordBatchReader.from_stream(scan), pa.RecordBatchReader.from_stream(scan)
    del orders
    assert first.read_all() == second.read_all()
    # Two threads read one scan at once.
    read = []
    threads = [threading.Thread(target=lambda: read.append(ids(scan))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == [list(range(1, 401))] * 4


def test_batches(large):
    batches = large.scan(["id"], limit=5).batches()
    assert sum(len(batch) for batch in batches) == 5
    first = next(large.scan().batches())
    assert pa.record_batch(first).num_rows == len(first)


def test_splits_and_pickles(orders):
    splits = orders.splits(3)
    assert splits == pickle.loads(pickle.dumps(splits))
    again = pickle.loads(pickle.dumps(orders))
    assert [row for split in splits for row in ids(again.scan(split=split))] == list(range(1, 401))
    assert innoscan.Split(str(splits[0])) == splits[0]
    assert len(orders.splits(bytes=1 << 30)) == 1
    with pytest.raises(ValueError):
        orders.splits(0)


def test_errors_have_kinds(orders, tmp_path):
    with pytest.raises(errors.NotFoundError) as raised:
        innoscan.open(tmp_path / "x.ibd")
    assert isinstance(raised.value, FileNotFoundError) and raised.value.file == tmp_path / "x.ibd"
    with pytest.raises(errors.UsageError, match="has no column `nope`") as raised:
        orders.scan(["nope"])
    assert raised.value.remedies
    for wrong in [{"types": "x"}, {"order": "x"}, {"on_corrupt": "x"}, {"where": "id ~ 1"}]:
        with pytest.raises(ValueError):
            orders.scan(**wrong)
    for wrong in [[None], range(1, 5, 2), object()]:
        with pytest.raises(TypeError):
            orders.scan(keys=wrong)


def damaged_copy(table, tmp_path):
    """A copy of a table with one byte of a row changed, page 5 of its file."""
    path = tmp_path / "orders.ibd"
    bytes = bytearray(table.files[0].read_bytes())
    bytes[-5000] ^= 0xFF
    path.write_bytes(bytes)
    return path


@pytest.mark.filterwarnings("ignore::innoscan.InnoscanWarning")
def test_damage(orders, tmp_path):
    damaged = innoscan.open(damaged_copy(orders, tmp_path))
    with pytest.raises(errors.CorruptError, match="checksum") as raised:
        damaged.checksum()
    assert raised.value.page is not None and raised.value.file == damaged.files[0]
    with pytest.raises(errors.CorruptError):
        for _ in damaged.scan().batches():
            pass
    with pytest.raises(pa.ArrowException, match="checksum"):
        pa.table(damaged)
    with pytest.raises(errors.CorruptError):
        damaged.scan().to_parquet(tmp_path / "failed.parquet")
    assert not (tmp_path / "failed.parquet").exists() and len(list(tmp_path.iterdir())) == 1
    scan = damaged.scan(on_corrupt="skip")
    rows = pa.table(scan).num_rows
    report = scan.report
    assert 0 < rows < 400 and report["rows"] == rows and report["damaged"] == len(report["damage"]) == 1
    with pytest.warns(innoscan.InnoscanWarning, match="damage was skipped: .*page"):
        assert scan.to_parquet(tmp_path / "left.parquet")["rows"] == rows
    # A limit ends a scan before it knows.
    limited = damaged.scan(on_corrupt="skip", limit=3)
    with pytest.warns(innoscan.InnoscanWarning, match="not known"):
        assert limited.to_parquet(tmp_path / "three.parquet")["damaged"] is None


def test_parquet(orders, tmp_path):
    path = tmp_path / "orders.parquet"
    report = orders.scan(types="portable").to_parquet(path)
    assert report["rows"] == 400
    assert pq.read_table(path).cast(pa.schema(orders.scan(types="portable"))) == pa.table(orders.scan(types="portable"))
    # The schema of Arrow would give a reader back the types that the portable ones replace.
    assert b"ARROW:schema" not in pq.read_metadata(path).metadata
    with pytest.raises(errors.RefusedError, match="overwrite=True"):
        orders.scan().to_parquet(path)
    assert orders.scan(["id"], limit=3).to_parquet(path, overwrite=True, compression="snappy")["rows"] == 3
    assert pq.read_table(path)["id"].to_pylist() == [1, 2, 3]
    assert b"ARROW:schema" in pq.read_metadata(path).metadata


def test_progress_and_its_exceptions(large, tmp_path):
    seen = []
    # At a megabyte a second the scan cannot end before it reports.
    scan = large.scan(max_rate=1_000_000)

    def stop(progress):
        seen.append(progress)
        if progress["read_bytes"] > 0:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        scan.to_parquet(tmp_path / "x.parquet", progress=stop)
    assert seen[-1]["share"] < 1 and scan.report is None
    assert not list(tmp_path.iterdir())


INTERRUPTED = """
import os, signal, sys, threading
import innoscan, pyarrow as pa
table = innoscan.open("t_lob.many", datadir=sys.argv[1])
scan = table.scan(max_rate=1_000_000)

def interrupt():
    while scan.progress["read_bytes"] == 0:
        pass
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    {read}
except {exception}:
    assert scan.report is None
    print("interrupted")
"""


@pytest.mark.parametrize(
    ("read", "exception"),
    [
        ("scan.to_parquet(sys.argv[2])", "KeyboardInterrupt"),
        ("scan.count()", "KeyboardInterrupt"),
        ("for batch in scan.batches(): pass", "KeyboardInterrupt"),
        # A consumer raises its own exception when a stream fails.
        ("pa.table(scan)", "pa.ArrowInvalid"),
    ],
)
def test_ctrl_c(read, exception, tmp_path):
    program = [sys.executable, "-c", INTERRUPTED.format(read=read, exception=exception), FIXTURES[0] / "data", tmp_path / "x.parquet"]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.stdout == "interrupted\n", done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore::innoscan.InnoscanWarning")
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.name)
def test_every_table_of_a_server(fixture, tmp_path):
    """A stream has the rows that a Parquet file has, which `make test-columns` compares with the server's."""
    names = innoscan.catalog(fixture / "data")
    assert len(names) > 50
    read = 0
    for name in names:
        try:
            table = innoscan.open(name, datadir=fixture / "data")
            scan = table.scan(types="portable")
        except errors.UnsupportedError:
            continue
        streamed = pa.table(scan)
        path = tmp_path / "table.parquet"
        scan.to_parquet(path, overwrite=True)
        assert pq.ParquetFile(path).metadata.num_rows == streamed.num_rows == scan.count(), name
        assert streamed.equals(pq.read_table(path).cast(streamed.schema)), name
        read += 1
    assert read > 50
