"""Printed numbers that are plausible one by one need not be plausible together."""

import numpy as np
import pytest

from mmc.experiments.cells import Cell, Verdict
from mmc.experiments.joint import joint_tests, p_value


def drawn(rng, count, shape):
    """Return so many correlated repetitions: the cells of a table share their test points."""
    return rng.standard_normal((count, len(shape))) @ shape


@pytest.mark.parametrize(("n", "d"), [(30, 4), (10, 20)])
def test_papers_of_the_same_protocol_are_rarely_called_implausible(n, d):
    """With few repetitions the test errs on the side of the paper; it never rejects much more often than it says."""
    rng = np.random.default_rng(1)
    shape = np.eye(d) + 0.5 * rng.standard_normal((d, d))
    found = []
    for _ in range(120):
        values = drawn(rng, n, shape)
        found.append(p_value(values, np.abs(values.mean(axis=0) - drawn(rng, 1, shape)[0]), np.ones(d)))
    for level in (0.05, 0.2):
        share = np.mean(np.array(found) < level)
        assert share <= level + 3 * np.sqrt(level * (1 - level) / len(found))
    if n > d:
        assert np.mean(np.array(found) < 0.2) > 0.08


def test_many_small_differences_are_implausible_together():
    """Each of twelve independent cells is 2.5 standard deviations off: inside its own interval, together impossible."""
    rng = np.random.default_rng(2)
    values = rng.standard_normal((20, 12))
    cells = []
    for j, column in enumerate(values.T):
        printed = f"{column.mean() + 2.5 * column.std(ddof=1):.4f}"
        cells.append(Cell({"dataset": "d"}, f"m{j}", tuple(column), reported=printed, verdict=Verdict.MATCH))
    (test,) = joint_tests(cells)
    assert (test.used, test.unused) == (12, ())
    assert test.p < 0.001
    near = [Cell(c.keys, c.metric, c.by_repetition, reported=f"{c.mean:.4f}", verdict=Verdict.MATCH) for c in cells]
    (fine,) = joint_tests(near)
    assert fine.p > 0.9


def test_what_could_not_be_used_is_said():
    def cell(values, verdict=Verdict.MATCH, **more):
        return Cell({"dataset": "d"}, "error", values, reported="1.0", verdict=verdict, **more)

    spread = (1.0, 2.0, 1.5)
    (test,) = joint_tests(
        [
            cell(spread),
            cell((2.0, 1.0, 1.2)),
            cell((1.0, 1.0, 1.0)),
            cell(spread[:2]),
            cell(spread, same_as="SOCP"),
            cell((), Verdict.INFEASIBLE),
            cell(spread, Verdict.KNOWN),
            cell((), Verdict.NOT_RUN),
        ]
    )
    assert test.used == 2
    reasons = {"without spread": 1, "of fewer draws": 1, "repeated": 1, "infeasible as printed": 1}
    assert dict(test.unused) == {**reasons, "explained deviation": 1}


def test_every_reading_of_a_sweep_has_its_own_test():
    """Cells without the key, of a method that it does not concern, are together."""
    rng = np.random.default_rng(3)
    readings = [{"ridge": 0.1}, {"ridge": 1.0}, {}]
    cells = [
        Cell({"dataset": "d", **keys}, f"m{j}", tuple(rng.normal(size=5)), reported="0.0", verdict=Verdict.MATCH)
        for keys in readings
        for j in range(2)
    ]
    found = {test.place: test.used for test in joint_tests(cells, ["ridge"])}
    assert found == {("d", "ridge = 0.1"): 2, ("d", "ridge = 1"): 2, ("d",): 2}
    assert [test.used for test in joint_tests(cells)] == [6]
