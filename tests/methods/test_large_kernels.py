"""Kernels whose Gram matrix is not made: the fits are those of the whole matrix, and certified for it."""

import numpy as np
import pytest

from mmc.methods import BMPM, MEMPM, MPM, ErrorRateClassifier, InfeasibleProblem, estimated_moments, stored, training
from mmc.methods.numerics import gram, large_moments
from mmc.methods.numerics.cholesky import landmarks, pivoted_cholesky
from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import KernelSpec
from mmc.methods.numerics.large_moments import LargeMoments

pytestmark = pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")
METHODS = (
    ErrorRateClassifier(0.7, 0.8),
    ErrorRateClassifier(1.0, 0.6),
    ErrorRateClassifier(1.0, 1.0),
    ErrorRateClassifier(0.8, 0.8, mean_uncertainty=0.05, covariance_uncertainty=1e-3),
    MPM(),
    BMPM(0.4),
    BMPM(0.3, mean_uncertainty=(0.05, 0.1)),
    BMPM(0.4, solver="fractional"),
)
KERNELS = (
    {"kernel": "rbf", "gamma": 0.05, "ridge": 1e-3},
    {"kernel": "rbf", "gamma": 2.0, "ridge": 1e-2},  # landmarks do not span it
    {"kernel": "rbf", "gamma": 0.005},
    {"kernel": "poly", "gamma": 0.2, "degree": 2, "ridge": 1e-2},
)


@pytest.fixture
def points(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 4))
    X[:100, :2] += 1.2
    monkeypatch.setattr(large_moments, "_MOST", 150)
    monkeypatch.setattr(gram, "_TILE", 64)
    make = KernelSpec.__call__

    def a_part(spec, A, B):
        assert min(len(A), len(B)) <= 64, "the whole Gram matrix was made"
        return make(spec, A, B)

    monkeypatch.setattr(KernelSpec, "__call__", a_part)
    return X, (np.arange(len(X)) < 100).astype(int)


def nothing_whole(monkeypatch):
    monkeypatch.setattr(estimated_moments, "MANY", 64)
    for module in (stored, training):
        monkeypatch.setattr(module, "WHOLE", 8 * 64**2)


def both(model, kernel, points, monkeypatch):
    """Return a fit of the whole Gram matrix and one without it."""
    nothing_whole(monkeypatch)
    large = type(model)(**{**model.get_params(), **kernel}).fit(*points)
    monkeypatch.undo()
    return type(model)(**{**model.get_params(), **kernel}).fit(*points), large


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("model", METHODS, ids=str)
def test_it_is_the_fit_of_the_whole_matrix(model, kernel, points, monkeypatch):
    whole, large = both(model, kernel, points, monkeypatch)
    tol = 1e-8 if isinstance(model, ErrorRateClassifier) else 1e-6
    auto = "ridge" not in kernel  # a rank, counted in another order of pivots
    np.testing.assert_allclose(large.ridge_, whole.ridge_, rtol=0.05 if auto else 1e-12)
    assert large.solution_.gap <= tol
    assert large.solution_.objective == pytest.approx(whole.solution_.objective, rel=1e-2 if auto else 2 * tol)
    np.testing.assert_allclose(large.worst_case_error_, whole.worst_case_error_, rtol=1e-2 if auto else 1e-4)
    X = points[0]
    f = whole.decision_function(X)
    np.testing.assert_allclose(large.decision_function(X), f, atol=(0.05 if auto else 2e-3) * np.abs(f).max())
    np.testing.assert_allclose(large.bound_check_, whole.bound_check_, atol=0.2)


def test_the_objective_of_no_landmark_rule_is_called_optimal(points, monkeypatch):
    """With a narrow kernel and few landmarks the first rule is far from optimal, and the gap says so: it takes more passes."""
    monkeypatch.setattr(large_moments, "_MOST", 8)
    kernel = {"kernel": "rbf", "gamma": 1.0, "ridge": 1e-2}
    for model in (ErrorRateClassifier(0.8, 0.8), MPM()):
        whole, large = both(model, kernel, points, monkeypatch)
        monkeypatch.setattr(large_moments, "_MOST", 8)
        assert large.n_iter_ > 2
        assert large.solution_.objective == pytest.approx(whole.solution_.objective, rel=2e-6)


def test_what_is_infeasible_stays_so(points, monkeypatch):
    X, y = points
    nothing_whole(monkeypatch)
    kernel, narrow = ({"kernel": "rbf", "gamma": gamma, "ridge": 1e-2} for gamma in (0.05, 2.0))
    asked = [(0.1, 0.1, kernel), (1.0, 0.05, kernel), (0.55, 0.5, narrow), (0.5, 0.01, narrow)]
    found = []
    for *etas, one in asked:
        with pytest.raises(InfeasibleProblem) as caught:
            ErrorRateClassifier(*etas, **one).fit(X, y)
        found.append(caught.value.distance)
    with pytest.raises(InfeasibleProblem):
        BMPM(0.9, **kernel).fit(X, y)
    for model in (ErrorRateClassifier(0.9, 0.9, **kernel), MPM(**kernel)):
        with pytest.raises(InfeasibleProblem):
            model.fit(np.vstack([X, X]), np.repeat([0, 1], len(X)))
    monkeypatch.undo()
    for (*etas, one), distance in zip(asked, found, strict=True):
        with pytest.raises(InfeasibleProblem) as caught:
            ErrorRateClassifier(*etas, **one).fit(X, y)
        assert distance == pytest.approx(caught.value.distance, rel=1e-2, abs=1e-3)


@pytest.mark.parametrize("most", [4, 16])
@pytest.mark.parametrize("share", [0.6, 0.98, 0.999])
def test_what_landmarks_alone_cannot_keep_is_kept_and_beyond_the_edge_it_is_refused(most, share, points, monkeypatch):
    """The edge is that of the whole matrix, however few landmarks there are."""
    X, y = points
    kernel = {"kernel": "rbf", "gamma": 1.0, "ridge": 1e-2}
    monkeypatch.undo()
    with pytest.raises(InfeasibleProblem) as refused:
        BMPM(0.999, **kernel).fit(X, y)
    largest = 0.999 - refused.value.distance
    size = np.sqrt(largest / (1 - largest))
    level, beyond = ((k := factor * size) ** 2 / (1 + k**2) for factor in (share, 2 - share))
    whole = BMPM(level, **kernel).fit(X, y)
    whole_pair = ErrorRateClassifier(1.0, 1 - level, **kernel).fit(X, y)
    nothing_whole(monkeypatch)
    monkeypatch.setattr(large_moments, "_MOST", most)
    large = BMPM(level, **kernel).fit(X, y)
    assert large.solution_.objective == pytest.approx(whole.solution_.objective, rel=2e-6, abs=1e-6)
    large_pair = ErrorRateClassifier(1.0, 1 - level, **kernel).fit(X, y)
    assert large_pair.solution_.objective == pytest.approx(whole_pair.solution_.objective, rel=2e-6)
    for model in (BMPM(beyond, **kernel), ErrorRateClassifier(1.0, 1 - beyond, **kernel)):
        with pytest.raises(InfeasibleProblem):
            model.fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        ErrorRateClassifier(0.9, 0.9, kernel="rbf", gamma=0.05, ridge=0),
        ErrorRateClassifier(0.9, 0.9, kernel="rbf", gamma=2.0),
        MPM(kernel="rbf", gamma=0.05, ridge=None),
        MEMPM(kernel="rbf", gamma=0.05, ridge=1e-2),
    ],
    ids=str,
)
def test_where_the_whole_matrix_is_needed_it_is_made(model, points, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(large_moments, "_MOST", 100)
    expected = model.fit(*points).decision_function(points[0])
    nothing_whole(monkeypatch)
    np.testing.assert_array_equal(model.fit(*points).decision_function(points[0]), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_spreads_are_those_of_the_gram_matrix(weighted):
    from mmc.methods.numerics.kernel_moments import KernelMoments

    rng = np.random.default_rng(1)
    X, positive = rng.normal(size=(90, 3)), np.arange(90) < 40
    weight = rng.uniform(0.5, 2, 90) if weighted else None
    counts = (40.0, 50.0) if weight is None else (float(weight[:40].sum()), float(weight[40:].sum()))
    spec = KernelSpec("rbf", 0.05)
    large = LargeMoments.of(LazyGram(spec, X), positive, weight)
    assert large.rank is not None
    whole = KernelMoments.of(spec(X, X), positive, weight).spreads(large.rank, counts)
    for one, other in zip(large.spreads(counts), whole, strict=True):
        for name in ("n", "p", "trace", "trace2", "fourth"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9)
    assert large.rank == pytest.approx(pivoted_cholesky(spec(X, X)).dimensions, abs=1)


@pytest.mark.parametrize("most", [5, 40, 200])
def test_landmarks_reproduce_their_own_columns(most):
    X = np.random.default_rng(2).normal(size=(200, 3))
    K = KernelSpec("rbf", 0.3)(X, X)
    factor = landmarks(lambda points: K[:, points], K.diagonal(), most)
    assert factor.rank == len(set(factor.pivots)) <= most
    product = factor.rows @ factor.rows.T
    np.testing.assert_allclose(product[:, factor.pivots], K[:, factor.pivots], atol=1e-9)
    assert np.linalg.eigvalsh(K - product)[0] > -1e-9
    if factor.rank < most:
        assert np.abs(K - product).max() < 1e-9
