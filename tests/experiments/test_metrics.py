"""Metrics of counts, against the counts."""

import pytest

from mmc.experiments.metrics import COUNTED, Costs
from mmc.experiments.records import Counts

COUNTS = Counts(n_pos=10, n_neg=20, wrong_pos=3, wrong_neg=4)


def test_the_error_is_the_share_of_all_points():
    assert COUNTED["error"].value(COUNTS, Costs()) == pytest.approx(100 * 7 / 30)


@pytest.mark.parametrize(("pos", "neg"), [(1, 1), (5, 1), (2, 7), (0.5, 0)])
def test_the_risk_is_what_all_errors_cost(pos, neg):
    assert COUNTED["risk"].value(COUNTS, Costs(pos, neg)) == pytest.approx(3 * pos + 4 * neg)
    assert COUNTED["risk_swapped"].value(COUNTS, Costs(pos, neg)) == pytest.approx(3 * neg + 4 * pos)
    assert COUNTED["risk_swapped"].value(COUNTS, Costs(pos, neg)) == COUNTED["risk"].value(COUNTS, Costs(neg, pos))
