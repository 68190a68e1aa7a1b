"""The alternating algorithm of Table 1: which points it trains on, and what it computes."""

from collections import Counter

import numpy as np
import pytest

from mmc.methods.numerics.kernels import KernelSpec
from mmc.methods.problems.knowledge import KnowledgeProblem
from mmc.methods.problems.shapes import knowledge_sets
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import alternating
from tests.methods.test_knowledge import POLY, RBF, knowledge, matrices


@pytest.mark.parametrize("novelty", ["all", "class", "own"])
@pytest.mark.parametrize("params", [{"kernel": "linear"}, RBF, POLY], ids=str)
def test_the_training_set_of_table_1(params, novelty):
    """It starts with the centres and holds points of the sets; at the end no critical point is new."""
    X, y, shapes = knowledge(2, apart=2)
    sets = knowledge_sets(X, np.where(y == 1, 1.0, -1.0), shapes)
    kernel = KernelSpec(coef0=1.0, **params)
    problem = KnowledgeProblem(sets, 1.0, kernel, 0.05, novelty, shared_slack=False)
    found = alternating.solve(problem)
    dual = found.dual
    np.testing.assert_array_equal(dual.points[: len(X)], X)
    np.testing.assert_allclose(dual.gram, kernel(dual.points, dual.points), rtol=1e-9, atol=1e-9)
    for point, owner in zip(dual.points, dual.owner, strict=True):
        step = point - X[owner]
        assert step @ np.linalg.pinv(matrices(shapes)[owner]) @ step <= 1 + 1e-9
    critical, _ = sets.critical(kernel, dual.points, found.primal.weights)
    square = lambda Z: np.array([kernel(z[None], z[None])[0, 0] for z in Z])  # noqa: E731
    distance = np.sqrt(
        np.maximum(square(critical)[:, None] + square(dual.points) - 2 * kernel(critical, dual.points), 0)
    )
    own = np.arange(len(X))[:, None] == dual.owner
    near = {"own": own, "class": sets.sign[:, None] == sets.sign[dual.owner], "all": np.ones_like(own)}[novelty]
    assert np.all(np.where(near, distance, np.inf).min(axis=1) <= 0.05 + 1e-6)
    assert len(dual.points) > len(X)


@pytest.mark.parametrize("params", [{"kernel": "linear"}, POLY], ids=str)
@pytest.mark.parametrize("novelty", ["all", "own"])
def test_kernel_rows_are_computed_once_for_each_critical_point(params, novelty):
    """The rows of the centres, then those of every iteration's critical points: the SVMs reuse them all."""
    X, y, shapes = knowledge(2, apart=2)
    sets = knowledge_sets(X, np.where(y == 1, 1.0, -1.0), shapes)
    rows = []

    class Counting(KernelSpec):
        def __call__(self, first, second):
            rows.extend(map(tuple, first))
            return super().__call__(first, second)

    found = alternating.solve(
        KnowledgeProblem(sets, 1.0, Counting(coef0=1.0, **params), 0.05, novelty, shared_slack=False)
    )
    dual = found.dual
    assert found.iterations > 2
    assert len(rows) == len(X) + found.iterations * np.count_nonzero(sets.radii)
    counts = Counter(rows)
    assert [counts[tuple(point)] for point in dual.points] == [1] * len(dual.points)


def test_with_few_features_no_svm_waits_for_libsvm(monkeypatch):
    """Points join in every round; with more of them than features, most of libsvm's runs ended at their cap, and had to be repeated."""
    draw = np.random.default_rng(0)
    sign = np.repeat([1.0, -1.0], 25)
    X = draw.normal(size=(50, 8)) + 0.7 * sign[:, None]
    sets = knowledge_sets(X, sign, np.full(50, 0.5))
    problem = KnowledgeProblem(sets, 10.0, KernelSpec("linear"), shared_slack=False)
    with monkeypatch.context() as patch:
        patch.delattr(alternating.libsvm, "solve")
        found = alternating.solve(problem)
    monkeypatch.setattr(alternating.hinge_interior, "solve", alternating.libsvm.solve)
    other = alternating.solve(problem)
    assert len(found.dual.points) == len(other.dual.points) > 50
    w, v = (answer.primal.weights @ answer.primal.points for answer in (found, other))
    np.testing.assert_allclose(w, v, rtol=1e-4, atol=1e-6)


def test_rounding_is_not_taken_for_a_hard_margin_that_fails():
    """With slacks there is always a solution: a cone program that calls one infeasible has lost it."""
    X, sign = np.random.default_rng(0).normal(size=(24, 40)), np.repeat([1.0, -1.0], [10, 14])
    X[0, 3] = 1e7
    problem = KnowledgeProblem(knowledge_sets(X, sign, np.ones(24)), 1.0, KernelSpec("linear"))
    with pytest.raises(NotConverged, match="the cone program ended as"):
        alternating.solve(problem)


@pytest.mark.parametrize(("novelty", "points"), [("all", 2), ("class", 3), ("own", 3)])
def test_a_point_of_the_other_class_counts_as_known_only_where_all_do(novelty, points):
    """The critical point of a ball about 0 is the point of the other class, at its edge."""
    sets = knowledge_sets(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([1.0, -1.0]), np.array([1.0, 0.0]))
    problem = KnowledgeProblem(sets, 1.0, KernelSpec("linear"), 0.05, novelty, shared_slack=False)
    assert len(alternating.solve(problem).dual.points) == points
