"""The cone program of the largest margin: its backends."""

import pytest

from mmc.methods.problems.ellipsoid_pair import EllipsoidPair
from mmc.methods.solvers import margin_socp

from ..ellipsoids import coordinates, fold


def test_backends_that_do_not_exist():
    problem = EllipsoidPair(coordinates(*fold("two_norm")), (0.5, 0.5))
    with pytest.raises(ValueError, match="did you mean 'clarabel'"):
        margin_socp.solve(problem, backend="claribel")
