"""The area on the wrong side: exact where a hyperplane cuts, sampled with its standard error elsewhere."""

import math

import numpy as np
import pytest

from mmc.experiments.areas import SAMPLE, uniform, volumes, wrong_area
from mmc.methods import SMEM

ROOT = np.array([[0.9, 0.2, 0.1], [0.0, 0.5, -0.3], [0.0, 0.0, 0.7]])


class Plane:
    """f = ⟨w, x⟩ + b with its coefficients shown."""

    def __init__(self, w, b):
        self.coef_, self.intercept_ = np.array([w], dtype=float), np.array([b], dtype=float)

    def decision_function(self, X):
        return X @ self.coef_[0] + self.intercept_[0]


class Hidden:
    """The same rule with nothing but its decision values: it has to be sampled."""

    def __init__(self, rule):
        self.decision_function = rule.decision_function


def shares(model, X, y, shapes, seed=0):
    counts, facts = wrong_area(model, np.array(X, dtype=float), np.array(y), shapes, seed)
    assert counts.n_pos + counts.n_neg == pytest.approx(SAMPLE)
    return counts.wrong_pos / SAMPLE, counts.wrong_neg / SAMPLE, facts["error_se"] / 100


@pytest.mark.parametrize("t", [-1.5, -1, -0.4, 0, 0.3, 0.9, 1, 2])
def test_a_line_cuts_a_circular_segment(t):
    """The other class is as large and untouched, so that half of the segment's share is wrong."""
    inside = min(max(t, -1), 1)
    segment = (math.acos(inside) - inside * math.sqrt(1 - inside**2)) / math.pi
    pos, neg, se = shares(Plane([3, 0], 6 * t), [[0, 0], [-50, 7]], [1, -1], [2.0, 2.0])
    assert pos == pytest.approx(segment / 2, abs=1e-12)
    assert neg == se == 0


def test_the_two_sides_of_a_set_make_one():
    w, sigma = np.array([1.0, -0.4, 0.2]), ROOT @ ROOT.T
    one = shares(Plane(w, 0.3), [[0.1, 0.2, 0.3], [99, 0, 0]], [1, -1], [sigma, 0.0])[0]
    other = shares(Plane(-w, -0.3), [[0.1, 0.2, 0.3], [99, 0, 0]], [1, -1], [sigma, 0.0])[0]
    assert one + other == pytest.approx(1)
    assert 0.05 < one < 0.95


@pytest.mark.parametrize("d", [2, 3])
def test_sampled_and_exact_agree_within_the_standard_error(d):
    X, y = np.array([[0, 0, 0], [1, 0.5, 0], [2, 0, 1]])[:, :d], [1, -1, -1]
    shapes = [1.2, (ROOT @ ROOT.T)[:d, :d], 0.4]
    plane = Plane(np.array([-1.0, 0.3, 0.2])[:d], 0.8)
    exact = shares(plane, X, y, shapes)
    assert min(exact[:2]) > 0.005
    errors = []
    for seed in range(12):
        *sampled, se = shares(Hidden(plane), X, y, shapes, seed)
        errors.append((sum(sampled) - sum(exact[:2])) / se)
    assert np.max(np.abs(errors)) < 4
    assert 0.4 < np.std(errors) < 1.8  # the standard error is neither too small nor idle


def test_no_error_in_a_sample_is_not_certainty():
    *wrong, se = shares(Hidden(Plane([1, 0], 0)), [[5, 0], [-5, 0]], [1, -1], [1.0, 1.0])
    assert wrong == [0, 0]
    assert 0 < se < 1e-4


def test_points_are_uniform_in_an_ellipsoid():
    """u = Σ^{-1/2}(x − x̄) has second moment I/(d+2) and P(‖u‖ ≤ ½) = 2^{-d}."""
    n, center = 50_000, np.array([1.0, -2, 3])
    x = uniform(center, ROOT @ ROOT.T, n, np.random.default_rng(0)) - center
    u = np.linalg.solve(ROOT, x.T).T
    assert np.linalg.norm(u, axis=1).max() <= 1 + 1e-12
    np.testing.assert_allclose(u.T @ u / n, np.eye(3) / 5, atol=5 / math.sqrt(n) / 3)
    assert np.mean(np.linalg.norm(u, axis=1) <= 0.5) == pytest.approx(1 / 8, abs=5 * math.sqrt(0.11 / n))


def test_larger_sets_count_more():
    np.testing.assert_allclose(volumes([2.0, np.diag([4.0, 9.0]), 0.0, np.diag([1.0, 0.0])], 2), [4, 6, 0, 0])
    pos, neg, _ = shares(Plane([1, 0], 0), [[-9, 0], [-9, 5], [-9, -5]], [1, -1, 1], [1.0, 2.0, 0.0])
    assert (pos, neg) == pytest.approx((1 / 5, 0))


def test_a_fitted_line_and_the_same_line_as_a_polynomial():
    X, y, radii = np.array([[0.0, 0], [1.6, 0.9], [1.2, -0.9]]), np.array([1, -1, -1]), [1.0, 0.6, 0.2]
    line = SMEM(C=1.0, eps=0.1).fit(X, y, radii)
    same = SMEM(C=1.0, eps=0.1, kernel="poly", gamma=1.0, degree=1, coef0=0.0).fit(X, y, radii)
    exact, sampled = (wrong_area(m, X, y, radii, 3) for m in (line, same))
    assert exact[1]["error_se"] == 0 < sampled[1]["error_se"]
    total = [100 * (counts.wrong_pos + counts.wrong_neg) / SAMPLE for counts, _ in (exact, sampled)]
    assert total[0] > 1
    assert abs(total[0] - total[1]) < 4 * sampled[1]["error_se"]
