"""Both solvers of the ratio programs: their points, from the definition, and each other."""

from dataclasses import replace
from math import inf, isinf
from types import SimpleNamespace

import highspy
import numpy as np
import pytest

from mmc.methods import FitError, InfeasibleProblem, NotConverged, mmrm
from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import KernelSpec
from mmc.methods.problems.ratio import CAP
from mmc.methods.problems.ratio_matrices import dense_program
from mmc.methods.solvers import Session, column_generation, lp
from tests.methods.test_mmrm import KERNELS, overlapping, separable


def judged(p, primal, dual):
    """Return the points and what they prove, side by side."""
    bracket = p.certify(primal, dual)
    return SimpleNamespace(
        v=primal.v,
        b=primal.b,
        spread=primal.spread,
        dual=dual.weights,
        objective=bracket.objective,
        gap=bracket.gap,
    )


def solved(solve, p, **options):
    answer = solve(p, **options)
    return judged(p, answer.primal, answer.dual)


def program(seed, kernel=None, data=overlapping, **size):
    """Return a ratio program without its C, its G as an array, and the threshold of C."""
    X, z = data(seed=seed, **size)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    u = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
    G = KernelSpec(**kernel)(X, X) * z if kernel else X
    G = z[:, None] * (G - G.mean(axis=0))
    return dense_program(G, z, u, inf, bool(kernel)), G, u.max()


def certificate(G, p, v, b, dual):
    """Return the objective of (v, b), and the bound of λ, from the definition: numpy, and nothing of the package."""
    z, u, C = p.sign, p.weight, p.C
    dual = np.clip(dual, 0, C)
    heavy = np.sign(z @ dual)
    if heavy:
        dual = np.where(z == heavy, dual * dual[z == -heavy].sum() / dual[z == heavy].sum(), dual)
    margins = G @ v + b * z
    assert not p.nonnegative or v.min() >= 0
    if isinf(C):
        assert margins.min() >= 1 - 1e-9
    slack = np.maximum(1 - margins, 0).sum()
    excess = G.T @ dual - G.T @ u
    rounding = 2 * np.sqrt(len(z)) * np.finfo(float).eps * np.abs(G).T @ dual
    excess = excess if p.nonnegative else np.abs(excess)
    length = min(10 * (1 + np.abs(v).sum()), CAP)
    costs = CAP * np.maximum(excess - rounding, 0) + length * np.minimum(excess, rounding)
    return u @ G @ v + (0 if isinf(C) else C * slack), dual.sum() - max(costs.max(), 0)


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("solve", [lp.solve, column_generation.solve])
def test_the_points_behind_the_certificate_are_feasible_and_complementary(solve, nonnegative):
    X, z = overlapping(150)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    G = z[:, None] * (z * KernelSpec("rbf", 1.0)(X, X) if nonnegative else X)
    u = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
    C = 4 * u.max()
    answer = solved(solve, dense_program(G, z, u, C, nonnegative), gap=1e-9)
    v, dual = answer.v, answer.dual
    margins = G @ v + answer.b * z
    slack = np.maximum(1 - margins, 0)
    assert dual.min() >= 0
    assert dual.max() <= C
    assert abs(z @ dual) < 1e-12
    excess = G.T @ (dual - u)
    assert (excess.max() if nonnegative else np.abs(excess).max()) < 1e-10
    assert not nonnegative or v.min() >= 0
    primal, other = u @ G @ v + C * slack.sum(), dual.sum()
    assert primal == pytest.approx(answer.objective, rel=1e-9)
    assert primal - other == pytest.approx(0, abs=1e-6 * primal)
    assert np.all(dual[margins > 1 + 1e-5] < 1e-7)
    assert np.all(dual[margins < 1 - 1e-5] > C - 1e-7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("data", [overlapping, separable])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_column_generation_is_the_whole_program_for_every_C_in_any_order(kernel, data, seed):
    size = {"n": 60} if data is overlapping else {"dimensions": 3, "sizes": (25, 35)}
    p, G, threshold = program(seed, kernel, data, **size)
    session, gap = Session(), 1e-7
    multiples = [1.0, 1.3, 5.0, 100.0, *([inf] if data is separable else [])]
    for multiple in np.random.default_rng(seed).permutation(multiples):
        this = replace(p, C=multiple * threshold)
        answer = solved(column_generation.solve, this, gap=gap, session=session)
        whole = solved(lp.solve, this, gap=gap)
        near = answer.gap * answer.objective if answer.objective > whole.objective else whole.gap * whole.objective
        assert answer.objective == pytest.approx(whole.objective, abs=near + 1e-9 * whole.objective)
        for each in (answer, whole):
            primal, bound = certificate(G, this, each.v, each.b, each.dual)
            rounding = 1e-9 + 1e-15 * np.abs(each.v).sum()  # at the threshold any v will do, however long
            assert each.objective == pytest.approx(primal, rel=rounding)
            assert (primal - bound) / primal <= gap + rounding
            assert each.gap == pytest.approx(max((primal - bound) / primal, 0), abs=rounding)
            assert each.dual.min() >= 0
            assert each.dual.max() <= this.C
        if multiple == 1.0:
            assert answer.objective == pytest.approx(2, rel=gap)


@pytest.mark.parametrize("gamma", [0.3, 0.03, 0.003])
def test_interior_points_solve_nearly_singular_kernels_by_themselves(gamma):
    """G has the rank of a few points for all that rounding leaves."""
    p, G, threshold = program(2, {"kernel": "rbf", "gamma": gamma}, n=120)
    session = Session()
    for multiple in (1.05, 1.5, 3.0):
        this = replace(p, C=multiple * threshold)
        answer = column_generation.solve(this, gap=1e-5, few=0, session=session)
        assert answer.version == column_generation.VERSION
        whole = solved(lp.solve, this, gap=1e-5)
        primal, bound = certificate(G, this, answer.primal.v, answer.primal.b, answer.dual.weights)
        assert primal == pytest.approx(whole.objective, rel=2e-5)
        assert (primal - bound) / primal <= 2e-5


@pytest.mark.parametrize("few", [0, 400])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_first_round_takes_out_comes_back_where_it_is_missed(seed, few, monkeypatch):
    p, G, threshold = program(seed, {"kernel": "rbf", "gamma": 2.0}, separable, dimensions=3, sizes=(150, 150))
    for name, value in (("_NEAR", 0.001), ("_WIDE", 1.1), ("_FAR", 0.0), ("_IDLE", 1.0)):
        monkeypatch.setattr(column_generation, name, value)
    this = replace(p, C=30 * threshold)
    answer = solved(column_generation.solve, this, few=few, spare=0)
    primal, bound = certificate(G, this, answer.v, answer.b, answer.dual)
    assert primal == pytest.approx(solved(lp.solve, this).objective, rel=2e-6)
    assert (primal - bound) / primal <= 2e-6


@pytest.mark.parametrize("loose", [1e-3, 0.3])
@pytest.mark.parametrize("little", [0, 10**6])
def test_loose_rounds_on_the_way_end_at_the_same_optimum(little, loose, monkeypatch):
    p, G, threshold = program(5, {"kernel": "rbf", "gamma": 2.0}, separable, dimensions=3, sizes=(150, 150))
    for name, value in (("_NEAR", 0.001), ("_WIDE", 1.1), ("_LITTLE", little), ("_LOOSE", loose)):
        monkeypatch.setattr(column_generation, name, value)
    this = replace(p, C=30 * threshold)
    answer = solved(column_generation.solve, this, few=0, spare=0, batch=5)
    primal, bound = certificate(G, this, answer.v, answer.b, answer.dual)
    assert primal == pytest.approx(solved(lp.solve, this).objective, rel=2e-6)
    assert (primal - bound) / primal <= 2e-6


def many(n=80, memory=4e9, spec=KERNELS[1], seed=1):
    """Return the program of rows on demand, and its kernel."""
    X, z = overlapping(n, seed)
    K = LazyGram(KernelSpec(**spec), X, memory)
    u = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
    return replace(mmrm._of_kernel(K, z, u, False)[0], C=5 * u.max()), K


@pytest.mark.parametrize("memory", [0.0, 8 * 80 * 10.0])
def test_memory_changes_nothing_but_what_is_kept(memory):
    (p, K), (reference, _) = many(), many()
    answer = solved(column_generation.solve, p, memory=memory)
    expected = solved(column_generation.solve, reference)
    assert sum(rows.nbytes for _, rows in K._slabs) <= memory
    assert answer.objective == pytest.approx(expected.objective, rel=1e-9)
    np.testing.assert_allclose(answer.v, expected.v, rtol=1e-4, atol=1e-6)


def test_column_generation_that_is_stopped_short():
    p, _ = many()
    with pytest.raises(NotConverged, match="column generation reached a relative duality gap") as error:
        column_generation.solve(p, max_rounds=1)
    assert error.value.residual > 1e-6
    assert error.value.iterations > 0


def test_memory_is_bounded_where_there_is_no_hard_margin_too():
    p, K = many(spec={"kernel": "linear"})
    with pytest.raises(InfeasibleProblem):
        column_generation.solve(replace(p, C=inf), memory=1e4)
    assert sum(rows.nbytes for _, rows in K._slabs) <= 1e4


def test_no_rounds_at_all():
    p, _ = many()
    with pytest.raises((FitError, ValueError)):
        column_generation.solve(p, max_rounds=0)


@pytest.mark.parametrize("defeats", [1, 2, 3])
def test_highs_that_is_defeated_tries_again_and_then_says_so(defeats, monkeypatch):
    """The dual simplex method, anew with a wider tolerance, then the primal one; the certificate judges what they find."""
    p, _, threshold = program(0, KERNELS[1], n=60)
    p = replace(p, C=5 * threshold)
    expected, attempt, tried = solved(lp.solve, p).objective, lp.HighsDual._attempt, []

    def failing(self, *how):
        tried.append(how)
        if len(tried) <= defeats:
            return highspy.HighsModelStatus.kSolveError, 0
        return attempt(self, *how)

    monkeypatch.setattr(lp.HighsDual, "_attempt", failing)
    if defeats == 3:
        with pytest.raises(NotConverged, match="HiGHS stopped with Solve error"):
            lp.solve(p)
    else:
        answer = solved(lp.solve, p)
        assert answer.gap <= 1e-6
        assert answer.objective == pytest.approx(expected, rel=2e-6)
    assert len(set(tried[:3])) == min(defeats + 1, 3)
