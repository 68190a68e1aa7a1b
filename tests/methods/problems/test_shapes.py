"""The geometry of knowledge sets, and the shapes that are refused."""

import cvxpy as cp
import numpy as np
import pytest

from mmc.methods.problems.shapes import knowledge_sets


def random_shapes(rng, n, d):
    """Points, spheres, ellipsoids and flat ellipsoids in turn."""
    shapes = []
    for i in range(n):
        root = rng.normal(size=(d, d - i % 2))
        shapes.append([0.0, abs(rng.normal()), root @ root.T, root @ root.T][i % 4])
    return shapes


def sets_of(seed=0, n=12, d=3):
    rng = np.random.default_rng(seed)
    return knowledge_sets(3 * rng.normal(size=(n, d)), np.resize([1.0, 1.0, -1.0], n), random_shapes(rng, n, d))


def matrices(sets):
    return [sets._matrix(i) for i in range(len(sets.radii))]


def test_reach_is_the_furthest_point_of_the_set():
    sets = sets_of()
    rng = np.random.default_rng(1)
    V = rng.normal(size=sets.centers.shape)
    reach = sets.reach(V)
    for step, v, sigma in zip(reach, V, matrices(sets), strict=True):
        values, vectors = np.linalg.eigh(sigma)
        U = rng.normal(size=(500, len(v)))
        inside = (U / np.linalg.norm(U, axis=1)[:, None]) * np.sqrt(np.maximum(values, 0)) @ vectors.T
        assert np.all(inside @ v <= step @ v + 1e-9)
        assert step @ v == pytest.approx(np.sqrt(v @ sigma @ v))
        assert step @ np.linalg.pinv(sigma) @ step == pytest.approx(1 if sigma.any() else 0)  # on the surface, (9)
    np.testing.assert_allclose(sets.reach(1e-100 * V), reach)  # a direction has no length


def test_reach_is_zero_without_a_direction():
    sets = sets_of()
    assert not sets.reach(np.zeros_like(sets.centers)).any()
    flat = knowledge_sets(np.zeros((1, 2)), np.ones(1), [np.diag([1.0, 0.0])])
    assert not flat.reach(np.array([[0.0, 1.0]])).any()


def test_widths_are_those_of_the_matrices():
    sets = sets_of()
    w = np.array([0.3, -2.0, 1.1])
    np.testing.assert_allclose(sets.widths(w), [np.sqrt(w @ sigma @ w) for sigma in matrices(sets)])


def test_a_subset_keeps_its_shapes():
    sets = sets_of()
    index = np.array([1, 2, 6, 7, 9])
    V = np.random.default_rng(2).normal(size=sets.centers.shape)
    np.testing.assert_allclose(sets.subset(index).reach(V[index]), sets.reach(V)[index])


def test_contact_of_ellipsoids_agrees_with_a_cone_program():
    """The smallest t for which x̄_i + Σ_i^{1/2}u = x̄_j + Σ_j^{1/2}v with ‖u‖, ‖v‖ ≤ t."""
    sets = sets_of(seed=3)
    roots = [np.linalg.cholesky(sigma + 1e-12 * np.eye(3)) for sigma in matrices(sets)]
    for i, j in ((2, 5), (2, 6), (1, 6), (10, 5), (9, 6)):
        u, v, t = cp.Variable(3), cp.Variable(3), cp.Variable()
        meet = sets.centers[i] + roots[i] @ u == sets.centers[j] + roots[j] @ v
        problem = cp.Problem(cp.Minimize(t), [meet, cp.norm(u) <= t, cp.norm(v) <= t])
        assert sets.contact(i, j) == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-5)


def test_contact_does_not_depend_on_the_coordinates():
    sets = sets_of(seed=4)
    M = np.random.default_rng(5).normal(size=(3, 3))
    moved = knowledge_sets(sets.centers @ M.T + 7, sets.sign, [M @ sigma @ M.T for sigma in matrices(sets)])
    for i, j in ((2, 6), (1, 2), (6, 9), (0, 2)):
        assert moved.contact(i, j) == pytest.approx(sets.contact(i, j), rel=1e-6)


def test_contact_of_points_and_flat_sets():
    plate = np.diag([1.0, 1.0, 0.0])
    centers = np.array([[0.0, 0, 0], [0, 0, 1], [3, 0, 0], [0, 0, 0], [1, 0, 0]])
    sets = knowledge_sets(centers, np.ones(5), [plate, plate, plate, 0.0, 0.0])
    assert sets.contact(0, 1) == np.inf  # parallel plates never meet
    assert sets.contact(0, 2) == pytest.approx(1.5)
    assert sets.contact(0, 3) == 0
    assert sets.contact(3, 4) == np.inf


def test_overlapping_names_the_worst_pair():
    centers = np.array([[0.0, 0], [5, 0], [1.5, 0], [6, 0], [9, 9]])
    sign = np.array([1.0, 1, -1, -1, -1])
    assert knowledge_sets(centers, sign, [0.5, 0.4, 0.9, 0.5, 0]).overlapping() is None
    assert knowledge_sets(centers, sign, [1.0, 0.5, 0.9, 0.8, 0]).overlapping() == (1, 3, pytest.approx(1 / 1.3))
    touching = knowledge_sets(centers, sign, [1.0, 0.4, 0.5, 0.5, 0]).overlapping()
    assert touching == (0, 2, pytest.approx(1))
    same = knowledge_sets(np.zeros((2, 2)), np.array([1.0, -1]), [0, 0]).overlapping()
    assert same == (0, 1, 0)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([1, -0.5, 0], r"shapes\[1\]: the radius -0.5 is negative"),
        ([1, 0, np.nan], r"shapes\[2\] has an entry that is not finite"),
        ([1, 0], "2 shapes for 3 centres"),
        (np.ones((3, 2)), "shapes has 2 dimensions"),
        (np.ones((3, 3, 3)), r"shapes\[0\] has shape \(3, 3\); expected a radius or a \(2, 2\) matrix"),
        ([0, np.eye(3), 0], r"shapes\[1\] has shape \(3, 3\)"),
        ([0, 0, [[1, 2], [2, 1]]], r"shapes\[2\]: .*not positive semi-definite, its smallest eigenvalue is -1"),
        ([0, 0, [[1, 2], [0, 1]]], r"shapes\[2\]: the matrix is not symmetric"),
        ([0, 0, [[1, np.inf], [0, 1]]], r"shapes\[2\] has an entry that is not finite"),
        ([0, "big", 0], r"shapes\[1\] is neither a number nor a matrix"),
    ],
)
def test_bad_shapes_are_refused_by_index(shapes, message):
    with pytest.raises(ValueError, match=message):
        knowledge_sets(np.zeros((3, 2)), np.ones(3), shapes)
