"""Every program of docs/gallery.md runs, on a backup with one database and one table."""

import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

TEXT = (ROOT / "docs/gallery.md").read_text()
RECIPES = re.findall(r"^## (.+?)$.*?^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)

# What each prints at its end.
PRINTS = {
    "A query that reads what it needs": "└───────┴─────┴───────────────┘",
    "What changed between two backups": "gone: 0",
    "A whole backup as Parquet": "shop.orders 400",
    "A Delta table": "400",
    "An Iceberg table of files that exist": "10",
    "All cores, in processes of their own": "20325.45",
    "Is the backup right?": "{'rows': 400, 'checksum': 219019651, 'stored_columns_checksum': None}",
}


def test_all_recipes_are_found():
    assert len(RECIPES) == TEXT.count("```python") >= 10
    assert set(PRINTS) <= {title for title, _ in RECIPES}


@pytest.mark.parametrize(("title", "program"), RECIPES, ids=[title for title, _ in RECIPES])
def test_recipe(title, program, tmp_path):
    for backup in ["mysql", "yesterday"]:
        (tmp_path / backup / "shop").mkdir(parents=True)
        shutil.copy(ROOT / "tests/data/orders/orders.ibd", tmp_path / backup / "shop")
    (tmp_path / "recipe.py").write_text(program.replace('"/backup/', f'"{tmp_path}/'))
    command = [sys.executable, "-W", "ignore", "recipe.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if title in PRINTS:
        assert done.stdout.rstrip().endswith(PRINTS[title]), done.stdout
    elif title == "A plot":
        assert (tmp_path / "sales.png").read_bytes().startswith(b"\x89PNG")
    else:
        assert done.stdout
