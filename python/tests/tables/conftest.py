"""Tables that servers wrote: tests/data, and fixtures that test.sh unpacks."""

import os
import pathlib
import warnings

import pytest

import innoscan

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIXTURES = [pathlib.Path(path) for path in os.environ["INNOSCAN_FIXTURES"].split(":")]


@pytest.fixture
def orders() -> innoscan.Table:
    with warnings.catch_warnings():
        # A file beside no data directory: nothing says whether its server was shut down.
        warnings.simplefilter("ignore", innoscan.InnoscanWarning)
        return innoscan.open(ROOT / "tests/data/orders/orders.ibd")


@pytest.fixture
def large() -> innoscan.Table:
    """18 MB of off-page values."""
    return innoscan.open("t_lob.many", datadir=FIXTURES[0] / "data")
