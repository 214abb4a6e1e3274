"""Engines read a table from splits, and agree with the server's sums (orders: 400 rows, 20325.45)."""

import decimal
import os
import pathlib
import subprocess
import sys
import warnings

import innoscan
import pyarrow as pa
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOTAL = decimal.Decimal("20325.45")
warnings.simplefilter("ignore", innoscan.InnoscanWarning)


@pytest.fixture(scope="session")
def orders() -> innoscan.Table:
    return innoscan.open(ROOT / "tests/data/orders/orders.ibd")


def test_dask(orders):
    import innoscan.dask

    frame = innoscan.dask.read(orders, splits=3)
    assert frame.npartitions == 3
    assert frame.id.sum().compute() == 80_200
    assert round(frame.total.astype(float).sum().compute(), 2) == float(TOTAL)
    assert len(frame) == 400
    assert frame.groupby("state").size().compute().sum() == 400
    # Columns that are not used are not read.
    assert "columns" in str(frame[["id"]].optimize(fuse=False).expr.tree_repr())
    assert list(frame[["id"]].compute().columns) == ["id"]


@pytest.fixture(scope="session")
def ray_session():
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_ray(orders, ray_session):
    import innoscan.ray

    dataset = innoscan.ray.read(orders, splits=3)
    assert dataset.count() == 400
    assert dataset.sum("total") == TOTAL
    assert dataset.select_columns(["id"]).schema().names == ["id"]
    assert sorted(row["id"] for row in dataset.select_columns(["id"]).iter_rows()) == list(range(1, 401))
    assert len(dataset.limit(5).take_all()) == 5


def test_daft(orders):
    import daft
    import innoscan.daft

    frame = innoscan.daft.read(orders, splits=3)
    assert frame.count_rows() == 400
    assert frame.sum("total").to_pydict() == {"total": [TOTAL]}
    assert sorted(frame.select("id").to_pydict()["id"]) == list(range(1, 401))
    few = frame.where(daft.col("id") > 395).select("customer").to_pydict()
    assert few == {"customer": [f"customer {number}" for number in range(396, 401)]}
    assert len(frame.limit(5).to_pydict()["id"]) == 5


@pytest.fixture(scope="session")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    import innoscan.spark

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = session.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    session = session.config("spark.sql.python.filterPushdown.enabled", "true").getOrCreate()
    innoscan.spark.register(session)
    yield session
    session.stop()


def test_spark(orders, spark):
    reader = spark.read.format("innoscan").option("splits", "3")
    frame = reader.load(os.fspath(orders.files[0]))
    assert frame.rdd.getNumPartitions() == 3
    assert frame.count() == 400
    assert frame.selectExpr("sum(total)").collect()[0][0] == TOTAL
    assert [row.id for row in frame.orderBy("id").collect()] == list(range(1, 401))
    assert reader.option("columns", "id,total").load(os.fspath(orders.files[0])).columns == ["id", "total"]


def test_spark_filters(orders, spark):
    reader = spark.read.format("innoscan").option("splits", "3").option("pushFilters", "true")
    frame = reader.load(os.fspath(orders.files[0]))
    assert [row.customer for row in frame.where("id >= 5 AND id < 7 AND total > 0").collect()] == ["customer 5", "customer 6"]


def test_what_readings_share(orders):
    from innoscan._reading import Reading

    reading = Reading(orders, columns=["id"], where="id > 390", limit=5)
    assert pa.table(reading.scan(limit=3))["id"].to_pylist() == [391, 392, 393]
    rows = [row for split in reading.splits(4) for batch in reading.batches(split) for row in batch["id"].to_pylist()]
    assert rows == list(range(391, 396))


@pytest.fixture(scope="session")
def killed(tmp_path_factory):
    """The directory of a killed server, with its checksums."""
    archive = ROOT / "tests/data/killed/mariadb-10.11-4k.tar.zst"
    unpacked = tmp_path_factory.mktemp("killed")
    subprocess.run(["tar", "--zstd", "-x", "-S", "-C", unpacked, "-f", archive], check=True)
    return unpacked / "mariadb-10.11-4k"


def test_dask_tells_states_apart(killed):
    """A name of Dask's for some rows must not be that of others."""
    import dask.base
    import innoscan.dask

    def name(**options):
        table = innoscan.open("d.young", datadir=killed, **options)
        return dask.base.tokenize(innoscan.dask._Read(innoscan.dask.Reading(table)))

    assert name() == name() == name(prepared="refuse")
    assert name() != name(prepared="rollback")
    assert name() != name(force=True)


def test_spark_of_a_killed_server(killed, spark):
    sums = dict(line.split("\t") for line in (killed / "checksums.tsv").read_text().splitlines())
    table = innoscan.open("d.young", datadir=killed)
    assert table.checksum()["checksum"] == int(sums["d.young"])
    reader = spark.read.format("innoscan").option("datadir", os.fspath(killed)).option("splits", "2")
    rows = [tuple(row) for row in reader.option("prepared", "rollback").load("d.young").collect()]
    expected = [tuple(row.values()) for row in pa.table(table.scan(types="portable")).to_pylist()]
    assert len(rows) > 0 and sorted(rows, key=repr) == sorted(expected, key=repr)
    for option, value, what in [("incremental", "/none;/nor", "in /nor;"), ("prepared", "drop", "prepared is commit")]:
        with pytest.raises(Exception, match=what):
            reader.option(option, value).load("d.young").collect()
