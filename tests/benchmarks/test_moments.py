"""The page of what a pass costs: the law is extended, and the files are written."""

import csv

import pytest

from benchmarks._moments import AHEAD, Pass, ahead, text, write
from benchmarks._shared import row

PASSES = [Pass(10**k, 1e-7 * 10**k, 40.0) for k in range(4, 9)]
PARQUET = Pass(10**7, 4.0, 120.0)


def test_the_law_is_proportional():
    assert ahead(PARQUET, 1) == pytest.approx(4.0 * AHEAD / 10**7)
    assert ahead(PARQUET, 100) == pytest.approx(0.04 * AHEAD / 10**7)


def test_the_page_has_the_ratios_and_what_limits_the_law():
    page = text(PASSES, PARQUET, [row("scan", "floor", 0.5, 4.0, 3.0)], 1e-4)
    assert "| scan | floor | 4.0 | 3.0 | 0.75 | 0.5 |" in page
    assert "600 MB per second" in page
    assert "60 GB" in page
    assert page.count("extrapolated") == 2


def test_the_files_are_written(tmp_path):
    write(PASSES, PARQUET, [], 1e-4, tmp_path)
    with (tmp_path / "moments.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(found["n"]) for found in rows] == [*(one.n for one in PASSES), 10**7]
    assert {path.name for path in tmp_path.iterdir()} == {"moments.csv", "moments.md", "moments.png", "moments.svg"}
