import datetime
import decimal

import duckdb
import innoscan
import innoscan.datafusion
import innoscan.polars
import pandas as pd
import polars as pl
import pytest

from conftest import FIXTURES
from datafusion import SessionContext


def test_duckdb_asks_several_times(orders):
    scan = orders.scan(["id", "total"])
    total = duckdb.sql("select count(*), sum(total) from scan").fetchall()[0]
    assert (total[0], str(total[1])) == (400, "20325.45")
    joined = duckdb.sql("select count(*) from scan a join scan b on a.id = b.id + 1").fetchall()
    assert joined == [(399,)]
    assert duckdb.sql("select id from scan limit 2").fetchall() == [(1,), (2,)]


def test_datafusion(orders):
    context = SessionContext()
    innoscan.datafusion.register(context, "orders", orders, splits=3)
    rows = lambda sql: context.sql(sql).to_pylist()
    assert rows("SELECT count(*) AS n, sum(total) AS total FROM orders") == [{"n": 400, "total": decimal.Decimal("20325.45")}]
    assert rows("SELECT customer FROM orders WHERE id >= 5 AND 7 > id ORDER BY id") == [
        {"customer": "customer 5"},
        {"customer": "customer 6"},
    ]
    plan = str(context.sql("SELECT id FROM orders WHERE total > 5").execution_plan().display_indent())
    assert "number_of_fragments=" in plan and "projection=[id]" in plan
    joined = "SELECT count(*) AS n FROM orders a JOIN orders b ON a.id = b.id + 1 WHERE a.state <> 'new'"
    assert rows(joined) == [{"n": pl.DataFrame(orders).filter((pl.col("state") != "new") & (pl.col("id") > 1)).height}]


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
TOTAL = pl.col("total")
CUSTOMER = pl.col("customer")
PLACED = pl.col("placed")


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ((ID >= 2) & (ID < 6) & (pl.col("total") > 2), ["`id` >= 2", "`id` < 6", "`total` > 2"]),
        (ID.is_in([5, 6, 1000]), ["`id` IN (5, 6, 1000)"]),
        (ID.is_between(7, 9, closed="left"), ["`id` >= 7", "`id` < 9"]),
        ((9 > ID) & (pl.col("customer") != "Ada"), ["`id` < 9"]),
        ((ID < 3) | (ID > 398), []),
        (pl.col("state") == "paid", []),
        ((ID == 4) & (ID * 2 < 9), ["`id` = 4"]),
        # Values that the column cannot have; polars itself sees to some.
        (ID == -1, []),
        (ID.is_in([5, -6, 99999999999999]), ["`id` IN (5)"]),
        (ID > -1, []),
        (TOTAL <= decimal.Decimal("19.90"), ["`total` <= 19.9"]),
        (TOTAL == decimal.Decimal("19.901"), []),
        (CUSTOMER == "customer 7", ["`customer` = 'customer 7'"]),
        (CUSTOMER.is_in(["customer 8", "o'neil\\"]), ["`customer` IN ('customer 8', 'o''neil\\\\')"]),
        (CUSTOMER > "customer 7", []),
        (PLACED >= datetime.datetime(2024, 3, 1), ["`placed` >= '2024-03-01 00:00:00'"]),
        (pl.lit(datetime.datetime(2024, 3, 1)) > PLACED, ["`placed` < '2024-03-01 00:00:00'"]),
        (PLACED > datetime.datetime(2024, 3, 1, 0, 0, 0, 500_000), []),
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


def test_push_down_loses_no_row(pushed):
    for fixture in FIXTURES:
        data = fixture / "data"
        for name in innoscan.catalog(data)[::3]:
            table = innoscan.open(name, datadir=data)
            if table.size_bytes < 2_000_000:
                compare_push_down(table)
    assert sum(condition is not None for condition in pushed) > 2000


def compare_push_down(table):
    frame = pl.DataFrame(table)
    lazy = innoscan.polars.scan(table)
    kinds = table._push_down("native", None).kinds
    for name in set(frame.columns) & set(kinds):
        values = frame[name].drop_nulls().unique().sort()
        for place in {0, values.len() // 2, values.len() - 1} if values.len() else ():
            try:
                column, value = pl.col(name), pl.lit(values[place], frame.schema[name])
            except ValueError:
                # Python has no year 0.
                continue
            for predicate in [column == value, column <= value, column > value]:
                read = lazy.filter(predicate).select(name).collect()
                assert read.equals(frame.filter(predicate).select(name)), (table.name, predicate)
