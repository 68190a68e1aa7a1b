"""The certificate of the ratio programs: it brackets the optimum, and no wrong point passes."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from mmc.methods import mmrm
from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import KernelSpec
from mmc.methods.problems.ratio import CAP
from mmc.methods.problems.ratio_matrices import dense_program
from mmc.methods.solvers import lp
from tests.methods.solvers.test_ratio import judged, program, solved
from tests.methods.test_mmrm import KERNELS, overlapping


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_certificate_brackets_the_optimum_whatever_it_is_given(kernel):
    p, _, threshold = program(0, kernel, n=60)
    p, rng = replace(p, C=5 * threshold), np.random.default_rng(0)
    best = solved(lp.solve, p, gap=1e-9)
    scale = np.abs(best.v).max()
    for noise in (1e-6, 1e-3, 0.1, 1.0):
        v = best.v + noise * scale * rng.normal(size=len(best.v))
        dual = best.dual + noise * p.C * rng.normal(size=len(best.dual))
        answer = judged(p, *p.points(v, best.b + noise * rng.normal(), dual))
        assert answer.objective >= best.objective * (1 - 1e-9)
        assert answer.objective - answer.gap * max(answer.objective, 1) <= best.objective * (1 + 1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_wrong_point_has_a_gap(kernel):
    p, _, threshold = program(1, kernel, n=60)
    p = replace(p, C=5 * threshold)
    best = solved(lp.solve, p, gap=1e-9)
    v, b, dual = best.v, best.b, best.dual
    moved = dual.copy()
    moved[np.argmax(dual)] = 0.0
    wrong = {
        "nothing": (0 * v, 0.0, 0 * dual),
        "longer": (1.1 * v, b, dual),
        "shifted": (v, b + 0.1, dual),
        "without its largest": (np.where(v == v.max(), 0.0, v), b, dual),
        "no λ": (v, b, 0 * dual),
        "the feasible λ = u": (v, b, p.weight),
        "smaller λ": (v, b, 0.99 * dual),
        "larger λ": (v, b, 1.05 * dual),
        "one λ less": (v, b, moved),
        "mixed up": (v, b, np.roll(dual, 1)),
        "all at the bound": (v, b, np.full_like(dual, p.C)),
    }
    assert judged(p, *p.points(v, b, dual)).gap < 1e-9
    for name, point in wrong.items():
        assert judged(p, *p.points(*point)).gap > 1e-4, name


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_solution_of_another_program_has_a_gap(kernel):
    """λ of a larger C exceeds the bounds; λ for v ≥ 0 leaves G'λ below G'u, which is not enough where v is free."""
    p, _, threshold = program(1, kernel, n=60)
    p = replace(p, C=5 * threshold)
    best, larger = solved(lp.solve, p), solved(lp.solve, replace(p, C=20 * threshold))
    assert larger.dual.sum() > best.objective * 1.01
    assert judged(p, *p.points(best.v, best.b, larger.dual)).gap > 1e-4
    if not kernel:
        fewer = solved(lp.solve, replace(p, nonnegative=True))
        assert fewer.objective > best.objective * 1.01
        assert judged(p, *p.points(fewer.v, fewer.b, fewer.dual)).gap > 1e-4


def test_a_multiple_of_u_need_not_be_multiplied_with_every_row():
    p, G, _ = program(2, KERNELS[1], n=50)
    rng = np.random.default_rng(0)
    inside = rng.permutation(50)[:15]
    dual = np.where(p.sign > 0, 0.7, 0.2) * p.weight
    dual[inside] = rng.uniform(size=15)
    np.testing.assert_allclose(p.pull(dual, inside), G.T @ dual, atol=1e-12)
    np.testing.assert_allclose(p.pull(dual, None), G.T @ dual, atol=1e-12)
    np.testing.assert_allclose(p.pull(dual, np.arange(50)), G.T @ dual, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS[1:], ids=str)
def test_both_forms_of_a_centred_matrix_are_the_same(kernel):
    X, z = overlapping(50)
    u = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
    spec, rng = KernelSpec(**kernel), np.random.default_rng(0)
    K = spec(X, X)
    middle, size = mmrm._of_kernel(K, z, u, True)[1:]
    G = z[:, None] * z * (K - middle)
    some, others = rng.permutation(50)[:9], rng.permutation(50)[:20]
    x = rng.normal(size=50)
    for matrix, whole in ((K, True), (K, False), (LazyGram(spec, X, memory=0), False)):
        p, *both = mmrm._of_kernel(matrix, z, u, whole)
        np.testing.assert_allclose(both, [middle, size])
        np.testing.assert_allclose(size * p.matrix.whole(), G, atol=1e-9)
        np.testing.assert_allclose(size[others] * p.matrix.block(some, others), G[np.ix_(some, others)], atol=1e-9)
        np.testing.assert_allclose(p.matrix.times(size * x), G @ x, atol=1e-9)
        np.testing.assert_allclose(size * p.matrix.pull(x), x @ G, atol=1e-9)
        for side, cost in zip((z > 0, z < 0), p.costs, strict=True):
            np.testing.assert_allclose(size * cost, (u * side) @ G, atol=1e-9)


def test_no_gap_vouches_for_a_bound_above_the_objective():
    """Nearly singular: the v of length CAP have margins of 0.01, and λ is anything."""
    z = np.array([1.0, -1.0])
    p = dense_program(2e-10 * np.eye(2), z, np.ones(2), inf, True)
    answer = judged(p, *p.points(np.full(2, CAP / 2), 0.0, np.full(2, 1e3)))
    assert answer.v.sum() <= CAP
    assert answer.gap > 1
