import duckdb
import innoscan.polars
import pandas as pd
import polars as pl
import pytest


def test_duckdb_asks_several_times(orders):
    scan = orders.scan(["id", "total"])
    total = duckdb.sql("select count(*), sum(total) from scan").fetchall()[0]
    assert (total[0], str(total[1])) == (400, "20325.45")
    joined = duckdb.sql("select count(*) from scan a join scan b on a.id = b.id + 1").fetchall()
    assert joined == [(399,)]
    assert duckdb.sql("select id from scan limit 2").fetchall() == [(1,), (2,)]


def test_pandas_and_polars(orders):
    assert list(pd.DataFrame.from_arrow(orders.scan(["id"], keys=range(3, 6)))["id"]) == [3, 4, 5]
    assert pl.DataFrame(orders).shape == (400, 6)


@pytest.fixture
def pushed(monkeypatch):
    """The conditions that are passed on."""
    conditions = []
    own = innoscan.polars._condition

    def condition(*args):
        conditions.append(own(*args))
        return conditions[-1]

    monkeypatch.setattr(innoscan.polars, "_condition", condition)
    return conditions


ID = pl.col("id")


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ((ID >= 2) & (ID < 6) & (pl.col("total") > 2), ["`id` >= 2", "`id` < 6"]),
        (ID.is_in([5, 6, 1000]), ["`id` IN (5, 6, 1000)"]),
        (ID.is_between(7, 9, closed="left"), ["`id` >= 7", "`id` < 9"]),
        ((9 > ID) & (pl.col("customer") != "Ada"), ["`id` < 9"]),
        ((ID < 3) | (ID > 398), []),
        (pl.col("state") == "paid", []),
        ((ID == 4) & (ID * 2 < 9), ["`id` = 4"]),
    ],
)
def test_push_down(orders, pushed, predicate, expected):
    lazy = innoscan.polars.scan(orders)
    right = pl.DataFrame(orders).filter(predicate)
    assert lazy.filter(predicate).collect().equals(right)
    assert lazy.filter(predicate).select("customer").head(2).collect().equals(right.select("customer").head(2))
    for condition in pushed:
        assert sorted((condition or "").split(" AND ")) == sorted(expected or [""])


def test_lazy_frames(orders):
    lazy = innoscan.polars.scan(orders)
    assert lazy.collect_schema() == pl.DataFrame(orders).schema
    assert lazy.select(pl.len()).collect().item() == 400
    assert lazy.head(3).select("id").collect()["id"].to_list() == [1, 2, 3]
