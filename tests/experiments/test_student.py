"""Student's quantiles are scipy's."""

from __future__ import annotations

from math import inf

import pytest
from scipy.special import stdtrit

from mmc.experiments.student import quantile


@pytest.mark.parametrize("df", [*range(1, 40), 99, 100, 1001, inf])
@pytest.mark.parametrize("p", [0.51, 0.9, 0.975, 0.995])
def test_it_is_scipys(df, p):
    assert quantile(df, p) == pytest.approx(float(stdtrit(df, p)), rel=1e-12)


@pytest.mark.parametrize(("df", "p"), [(0, 0.9), (2.5, 0.9), (3, 0.5), (3, 1.0)])
def test_what_it_does_not_know_is_refused(df, p):
    with pytest.raises(ValueError, match="whole numbers"):
        quantile(df, p)
