"""M4 by Newton steps against the cone program."""

import numpy as np
import pytest

from mmc.methods import M4, NotConverged
from tests.methods.test_mmrm import overlapping


@pytest.mark.parametrize("ridge", [1e-3, 0.05])
@pytest.mark.parametrize("C", [0.01, 0.05, 0.3, 2.0])
@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_it_agrees_with_the_cone_program(gamma, C, ridge):
    X, z = overlapping(80)
    same = {"kernel": "rbf", "gamma": gamma, "C": C, "ridge": ridge}
    exact = {"solver_options": {"tol": 1e-11, "gap": 1e-9}}
    cones, steps = M4(**same, **exact).fit(X, z), M4(solver="newton", **same).fit(X, z)
    assert steps.solution_.gap <= 1e-6
    assert steps.solution_.objective == pytest.approx(cones.solution_.objective, rel=1e-6)
    if steps.solution_.gap < 1e-11 and steps.rho_ > 0:  # if w = 0, several b may be optimal
        np.testing.assert_allclose(steps.decision_function(X), cones.decision_function(X), rtol=1e-3, atol=1e-4)


def test_with_a_tiny_C_nothing_is_separated():
    """Then w = 0 and b' = ±1 are optimal: every point of the smaller class has a slack of 2."""
    X, z = overlapping(60)
    z = z.copy()
    z[np.flatnonzero(z > 0)[:10]] = -1
    model = M4(C=1e-4, kernel="rbf", gamma=0.5, ridge=0.1, solver="newton").fit(X, z)
    assert model.solution_.objective == pytest.approx(2e-4 * np.sum(z > 0), rel=1e-6)
    assert np.isnan(model.rho_)
    assert set(model.predict(X)) == {-1}


def test_the_linear_kernel_too():
    X, z = overlapping()
    one, other = (M4(C=0.1, ridge=1e-3, solver=solver).fit(X, z) for solver in ("newton", "sequential-socp"))
    assert one.solution_.objective == pytest.approx(other.solution_.objective, rel=1e-6)


def test_what_it_cannot_do_is_an_error():
    X, z = overlapping()
    with pytest.raises(ValueError, match="C=inf is for solver='sequential-socp'"):
        M4(C=np.inf, solver="newton").fit(X, z)
    with pytest.raises(NotConverged, match="certified to"):
        M4(solver="newton", solver_options={"gap": 1e-300, "max_iter": 2}).fit(X, z)
