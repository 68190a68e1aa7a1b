"""The law of what an order costs, and the page that is written of it."""

import csv

import pytest

from benchmarks._cluster import Command, Cost, Limits, law, write
from benchmarks.cluster import _order, _units


def costs(start=0.1, each=0.005):
    return [
        Cost(workers, units, batch, start + each * units / batch)
        for workers in (1, 2)
        for batch in (1, 64)
        for units in (10, 100, 1000)
    ]


def test_a_line_is_found():
    found = law([c for c in costs() if (c.workers, c.batch) == (1, 1)])
    assert (found.start, found.each) == pytest.approx((0.1, 0.005))


def test_no_part_of_the_law_is_negative():
    found = law([Cost(1, n, 1, n**1.2 / 1000) for n in (10, 100, 1000)])
    assert found.start == 0
    assert found.each > 0


def test_the_page_says_when_the_client_is_the_limit(tmp_path):
    write(Command(22.0, 20.0, 1.15), costs(), Limits(50_000, 2000, 200, 0.25), tmp_path)
    page = (tmp_path / "cluster.md").read_text("utf-8")
    assert "| `--cluster local:2` | 22.0 | 1.10 | 1.15 |" in page
    assert "about 200 orders a second (5 ms each" in page
    assert "from 200 · d workers on: 50 workers with short units, whose orders last 0.25 s" in page
    assert "| 2 workers | 0.15 | 0.6 | 5.1 | 0.1 + 5 ms · units |" in page
    with (tmp_path / "cluster.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 12
    assert (tmp_path / "cluster.svg").stat().st_size > 1000


def test_a_unit_is_small():
    """Nothing that grows with the data travels with it."""
    import pickle

    units = _units(64)
    assert len(pickle.dumps(_order(units[:1]))) < 4000
    assert len(pickle.dumps(_order(units))) < 64 * 400
