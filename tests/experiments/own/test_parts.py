"""The three parts: disjoint, stratified, nested, and large enough for the promise."""

import re

import numpy as np
import pytest

from mmc.experiments.own.errors import RequestError, TableError
from mmc.experiments.own.parts import Goal, Shares, rows_needed, shares, split

Y = np.array(["defect"] * 130 + ["fine"] * 270)


def test_parts_are_disjoint_stratified_and_complete():
    parts = split(Y, Shares(0.2, 0.3), seed=1)
    together = np.concatenate([parts.train, parts.calibration, parts.test])
    assert sorted(together) == list(range(400))
    for rows, share in ((parts.train, 0.5), (parts.calibration, 0.3), (parts.test, 0.2)):
        assert [(Y[rows] == label).sum() for label in ("defect", "fine")] == pytest.approx(
            [130 * share, 270 * share], abs=1
        )


def test_a_larger_calibration_part_takes_training_rows_only():
    small, large = (split(Y, Shares(0.2, share), seed=3) for share in (0.3, 0.5))
    assert set(large.train) < set(small.train)
    assert set(small.calibration) < set(large.calibration)
    assert (small.test == large.test).all()


def test_the_calibration_part_is_as_large_as_the_rates_need():
    counts = {"defect": 130, "fine": 270}
    assert shares(counts, Goal({"defect": 0.1}, 0.95), 0.2, None).calibration == 0.3
    found = shares(counts, Goal({"defect": 0.05}, 0.95), 0.2, None)
    assert 59 <= found.sizes(130)[1] <= 60
    assert shares(counts, Goal({}, 0.95), 0.2, None).calibration == 0.5


def test_too_few_rows_are_refused_with_the_number_needed():
    """59 examples can promise 5 % at 95 %, 58 cannot; half of the rows, rounded up, may calibrate."""
    goal = Goal({"defect": 0.05}, 0.95)
    assert rows_needed(0.05, 0.95, 0.5) == 117
    assert shares({"defect": 117, "fine": 500}, goal, 0.2, None).sizes(117)[1] == 59
    with pytest.raises(TableError, match=r"It needs 117 rows of this class; there are 116, 1 too few"):
        shares({"defect": 116, "fine": 500}, goal, 0.2, None)


def test_a_small_class_is_refused():
    with pytest.raises(TableError, match=r"class 'defect' has 12 rows.*at least 32"):
        shares({"defect": 12, "fine": 8}, Goal({}, 0.95), 0.2, None)
    with pytest.raises(TableError, match=r"It needs 117 rows"):
        shares({"defect": 12, "fine": 8}, Goal({"defect": 0.05}, 0.95), 0.2, None)


@pytest.mark.parametrize(("test", "calibration"), [(0, None), (1.2, None), (0.2, 0.0), (0.5, 0.5), (0.6, None)])
def test_shares_that_cannot_be_meant(test, calibration):
    with pytest.raises(RequestError):
        shares({"defect": 200, "fine": 200}, Goal({}, 0.95), test, calibration)


def test_the_rate_that_could_be_promised_can_be():
    """Two limits share the confidence: what the message offers is then accepted, and nothing less is."""
    counts, rates = {"defect": 170, "fine": 416}, {"defect": 0.05, "fine": 0.1}
    with pytest.raises(TableError) as refused:
        shares(counts, Goal(rates, 0.99), 0.2, None)
    offered = float(re.search(r"these rows ([\d.]+) %", str(refused.value))[1]) / 100
    assert offered > 0.05
    shares(counts, Goal({**rates, "defect": offered}, 0.99), 0.2, None)
    with pytest.raises(TableError):
        shares(counts, Goal({**rates, "defect": offered - 0.001}, 0.99), 0.2, None)
