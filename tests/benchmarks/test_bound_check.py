"""The benchmark of bound warnings counts what it says it counts."""

import csv
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from benchmarks._bound_report import draw, text, verdict
from benchmarks._bound_simulation import ALLOWED, Row, gaussian, situation, true_error
from mmc.methods import MPM

COMMITTED = Path(__file__).parent.parent.parent / "results" / "bound_check"


def row(**changed):
    usual = {"classes": "noise", "setting": "rbf, auto", "method": "mpm", "n": 30, "p": 2, "draws": 100, "no_fit": 0}
    counts = {"holds": 90, "false_alarms": 0, "twice": 9, "broken": 10, "far": 4, "caught": 3}
    return Row(**{**usual, **counts, **changed})


def test_counts_of_a_situation_add_up():
    for found in situation("noise", "rbf, 0.001", 15, 8, 6):
        assert found.holds + found.broken + found.no_fit == found.draws == 6
        assert found.false_alarms <= found.holds
        assert found.caught <= found.far <= found.broken
        assert found.far > 0 or found.method == "bmpm"


def test_the_true_error_is_that_of_the_whole_population_or_far_from_the_bound():
    rng = np.random.default_rng(0)
    X, y = np.vstack([gaussian(rng, label, 30, 2) for label in (0, 1)]), np.repeat([0, 1], 30)
    new, model = gaussian(rng, 1, 20_000, 2), MPM().fit(X, y)
    exact = np.mean(model.predict(new) != 1)
    assert true_error(model, 1, new) == pytest.approx(exact, abs=0.03)
    model.worst_case_error_ = np.full(2, exact)
    assert true_error(model, 1, new) == exact


def test_verdicts():
    many = [row(false_alarms=9), row(false_alarms=1), row(holds=40, broken=60, false_alarms=20)]
    assert [verdict(one, many) for one in many] == ["TOO MANY", "ok", "ill-posed"]
    page = text(many)
    assert "in 1 of the 2 well-posed situations" in page
    assert "TOO MANY" in page
    assert len(draw(many).axes) == 8


def test_the_committed_simulation_has_no_situation_with_too_many_false_alarms():
    with (COMMITTED / "simulation.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    kinds = {field.name: str if field.type == "str" else int for field in fields(Row)}
    rows = [Row(**{name: kind(line[name]) for name, kind in kinds.items()}) for line in table]
    assert len(rows) == 720
    assert "TOO MANY" not in {verdict(one, rows) for one in rows}
    assert sum(one.false_alarms for one in rows) < ALLOWED * sum(one.holds for one in rows)
    assert (COMMITTED / "simulation.md").read_text("utf-8") == text(rows)
