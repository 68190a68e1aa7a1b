"""The max-margin ratio machine: the theorems of Gu & Guo, and independent solutions of the same linear programs."""

import contextlib
from dataclasses import replace
from math import inf, isinf, isnan

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import make_classification

from mmc.datasets import REGISTRY, load
from mmc.datasets.finding import absent
from mmc.methods import MMRM, FitError, InfeasibleProblem, NotConverged, mmrm
from mmc.methods.dispersions import dispersions
from mmc.methods.numerics.gram import Gram
from mmc.methods.numerics.kernels import KernelSpec
from mmc.methods.solvers import column_generation, interior_point, lp

SOLVERS = ("lp", "column-generation")
KERNELS = ({}, {"kernel": "rbf", "gamma": 0.4}, {"kernel": "poly", "gamma": 0.2, "degree": 2})


def separable(dimensions, seed=0, sizes=(35, 45)):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(dimensions, dimensions))
    shift = np.zeros(dimensions)
    shift[0] = 4.5
    X = np.vstack([rng.normal(size=(sizes[0], dimensions)) + shift, rng.normal(size=(sizes[1], dimensions)) - shift])
    return X @ mix, np.repeat([1.0, -1.0], sizes)


def overlapping(n=90, seed=1, dimensions=3):
    X, y = make_classification(
        n, dimensions, n_informative=dimensions, n_redundant=0, class_sep=0.7, weights=[0.6], random_state=seed
    )
    return X, np.where(y > 0, 1.0, -1.0)


def minimum(cost, rows, right, equal=None, value=0.0, bounds=(None, None)):
    """Return scipy's minimum of cost'v s.t. rows v ≤ right, equal'v = value; inf if there is none."""
    answer = linprog(
        cost, rows, right, None if equal is None else equal[None], [value] if equal is not None else None, bounds
    )
    return answer.fun if answer.status == 0 else inf


def ratio_of_18(X, z):
    """Bisect ρ: (18) is feasible iff some (w, b) with w'(x̄ - ȳ) = 1 satisfies its constraints."""
    means = np.where(z[:, None] > 0, X[z > 0].mean(axis=0), X[z < 0].mean(axis=0))
    d = np.append(X[z > 0].mean(axis=0) - X[z < 0].mean(axis=0), 0.0)
    low, high = 0.0, 1e3
    while high - low > 1e-8 * high:
        rho = (low + high) / 2
        rows = z[:, None] * np.column_stack([rho * (means - X) - X, -np.ones(len(z))])
        if minimum(0 * d, rows, np.zeros(len(z)), d, 1.0) < inf:
            low = rho
        else:
            high = rho
    return low


def ratio_of_23(X, z):
    """max w'(x̄ - ȳ) s.t. the spreads towards the other class, p and q, sum to 1; the optimum is ρ + 1."""
    x_mean, y_mean = X[z > 0].mean(axis=0), X[z < 0].mean(axis=0)
    positive, negative = X[z > 0], X[z < 0]
    rows = np.block(
        [
            [x_mean - positive, np.tile([-1.0, 0.0], (len(positive), 1))],
            [negative - y_mean, np.tile([0.0, -1.0], (len(negative), 1))],
            [np.zeros((1, X.shape[1])), np.ones((1, 2))],
        ]
    )
    return -minimum(np.append(y_mean - x_mean, [0.0, 0.0]), rows, np.append(np.zeros(len(z)), 1.0)) - 1


@pytest.mark.parametrize("dimensions", [2, 5, 12, 30])
def test_theorem_1_lemma_2_theorem_3(dimensions):
    X, z = separable(dimensions)
    model = MMRM(C=inf).fit(X, z)
    d = dispersions(model.coef_, X, z)
    expected = pytest.approx(model.margin_ratio_, rel=1e-6)
    assert d.b_m / d.w_m == expected
    assert ratio_of_18(X, z) == expected
    assert ratio_of_23(X, z) == expected


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_large_C_is_the_hard_margin(solver, kernel):
    X, z = separable(4)
    exact = {"solver": solver, "solver_options": {"gap": 1e-8}, **kernel}
    hard, soft = MMRM(C=inf, **exact).fit(X, z), MMRM(C=1e4, **exact).fit(X, z)
    assert soft.solution_.objective == pytest.approx(hard.solution_.objective, rel=2e-8)
    near = 2e-8 * (1 + hard.margin_ratio_)  # 2 / (w'(x̄ - ȳ) - 2) multiplies a relative error by as much
    assert soft.margin_ratio_ == pytest.approx(hard.margin_ratio_, rel=near)
    assert (z * hard.decision_function(X)).min() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("C", [1.3, 3.0, 30.0])
def test_the_linear_program_does_not_depend_on_an_affine_map(C):
    X, z = overlapping()
    rng = np.random.default_rng(5)
    A, shift = rng.normal(size=(3, 3)) * [1.0, 30.0, 0.01], rng.normal(size=3) * 10
    first, second = MMRM(C=C).fit(X, z), MMRM(C=C).fit(X @ A + shift, z)
    assert second.solution_.objective == pytest.approx(first.solution_.objective, rel=1e-9)
    np.testing.assert_allclose(
        second.decision_function(X @ A + shift), first.decision_function(X), rtol=1e-6, atol=1e-7
    )
    np.testing.assert_allclose(second.coef_ @ A.T, first.coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_signs_of_the_kernel_form_matter(solver):
    """With free signs (30) maps each class to one point on overlapping data: ratio ∞. α, β ≥ 0 prevent it."""
    X, z = overlapping(40)
    model = MMRM(C=1e6, kernel="rbf", gamma=2.0, solver=solver).fit(X, z)
    assert np.all(model.dual_coef_[0] * z[model.support_] > 0)
    G = np.outer(z, z) * KernelSpec("rbf", 2.0)(X, X)
    weight = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
    free = lp.solve(lp.RatioLP.of(G, z, weight, 1e6 * weight.max(), False))
    assert free.objective == pytest.approx(2, abs=1e-6)
    assert free.v.min() < 0
    assert 2 / model.margin_ratio_ > 1000 * abs(free.spread - 2)


def reference(X, z, C, kernel):
    """(28) or (30) by cvxpy, as the paper prints them."""
    n_x, n_y = np.sum(z > 0), np.sum(z < 0)
    b, slack = cp.Variable(), cp.Variable(len(z), nonneg=True)
    if kernel:
        K = KernelSpec(**kernel)(X, X)
        coefficients = cp.Variable(len(z), nonneg=True)
        f = K @ cp.multiply(z, coefficients)
    else:
        f = X @ cp.Variable(X.shape[1])
    spread = cp.sum(f[z > 0]) / n_x - cp.sum(f[z < 0]) / n_y
    problem = cp.Problem(cp.Minimize(spread + C * cp.sum(slack)), [cp.multiply(z, f + b) >= 1 - slack])
    return problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)


@pytest.mark.parametrize("multiple", [1.2, 2.0, 20.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_both_solvers_and_cvxpy_agree(kernel, multiple):
    X, z = overlapping()
    C = multiple / min(np.sum(z > 0), np.sum(z < 0))
    expected = reference(X, z, C, kernel)
    for solver in SOLVERS:
        model = MMRM(C=C, C_unit="absolute", solver=solver, **kernel).fit(X, z)
        assert model.solution_.objective == pytest.approx(expected, rel=1e-6)
        assert model.solution_.gap < 1e-6
        f = model.decision_function(X)
        slack = np.maximum(1 - z * f, 0).sum()
        assert f[z > 0].mean() - f[z < 0].mean() + C * slack == pytest.approx(model.solution_.objective, rel=1e-6)


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("solve", [lp.solve, column_generation.solve])
def test_the_points_behind_the_certificate_are_feasible_and_complementary(solve, nonnegative):
    X, z = overlapping(150)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    G = z[:, None] * (z * KernelSpec("rbf", 1.0)(X, X) if nonnegative else X)
    u = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
    C = 4 * u.max()
    answer = solve(lp.RatioLP.of(G, z, u, C, nonnegative), gap=1e-9)
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


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_path_over_C_equals_separate_fits(solver, kernel):
    X, z = overlapping(70)
    grid = [{"C": C} for C in (1.2, 30.0, 2.0, 5.0)]
    settings = {"solver": solver, "solver_options": {"gap": 1e-8}, **kernel}
    for step in MMRM(**settings).fit_path(X, z, grid, X):
        alone = MMRM(**settings, **step.params).fit(X, z)
        assert step.estimator.solution_.objective == pytest.approx(alone.solution_.objective, rel=1e-8)
        # two points of one optimal face, each within the gap: a vertex is the same one, an interior point is not
        near = 1e-6 if solver == "lp" else 1e-4
        np.testing.assert_allclose(step.decision, alone.decision_function(X), rtol=10 * near, atol=near)


def test_C_counts_in_multiples_of_the_threshold_or_is_absolute():
    X, z = overlapping()
    threshold = 1 / min(np.sum(z > 0), np.sum(z < 0))
    relative, absolute = MMRM(C=3.0).fit(X, z), MMRM(C=3.0 * threshold, C_unit="absolute").fit(X, z)
    assert relative.solution_.objective == absolute.solution_.objective


@pytest.mark.parametrize(("C", "unit"), [(0.99, "threshold"), (0.01, "absolute")])
def test_C_below_the_threshold_is_refused_with_its_value(C, unit):
    X, z = overlapping()
    threshold = 1 / min(np.sum(z > 0), np.sum(z < 0))
    with pytest.raises(FitError, match=f"threshold .* = {threshold:g}"):
        MMRM(C=C, C_unit=unit).fit(X, z)
    first, second = MMRM(C_unit=unit).fit_path(X, z, [{"C": C}, {"C": 2.0}])
    assert first.error is not None
    assert second.estimator.solution_.objective > 2


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", KERNELS[::2], ids=str)
def test_a_hard_margin_of_overlapping_classes_is_infeasible_and_says_by_how_much(solver, kernel):
    X, z = overlapping()
    with pytest.raises(InfeasibleProblem, match="not separable") as error:
        MMRM(C=inf, solver=solver, **kernel).fit(X, z)
    F = z[:, None] * (KernelSpec(**kernel)(X, X) * z if kernel else X)
    rows = -np.column_stack([F, z, np.eye(len(z))])
    cost = np.append(np.zeros(F.shape[1] + 1), np.ones(len(z)))
    bounds = [(0 if kernel else None, None)] * F.shape[1] + [(None, None)] + [(0, None)] * len(z)
    assert error.value.distance == pytest.approx(minimum(cost, rows, -np.ones(len(z)), bounds=bounds), rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_gap_that_is_not_reached_is_an_error(solver):
    X, z = overlapping()
    with pytest.raises(NotConverged, match="certified to"):
        MMRM(kernel="rbf", gamma=0.4, solver=solver, solver_options={"gap": 1e-300}).fit(X, z)


def test_the_ratio_of_degenerate_solutions():
    X, z = overlapping()
    at_threshold = MMRM(C=1.0).fit(X, z)
    assert at_threshold.solution_.objective == pytest.approx(2)
    assert isnan(at_threshold.margin_ratio_)
    flat = np.column_stack([z, np.arange(len(z))])
    assert isinf(MMRM(C=inf).fit(flat, z).margin_ratio_)


def test_classes_that_a_kernel_can_hardly_tell_apart_still_get_a_certificate():
    """Random labels and a smooth kernel: G is singular in double precision, and only the cap bounds the coefficients."""
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(80, 2)), rng.choice([-1.0, 1.0], 80)
    first, second = (MMRM(C=5.0, kernel="rbf", gamma=0.1, solver=solver).fit(X, z) for solver in SOLVERS)
    assert first.solution_.objective == pytest.approx(second.solution_.objective, rel=2e-6)


def test_a_row_without_slack_that_is_violated_leaves_the_face_finite():
    """Where v exceeds the cap, its λ has no upper bound to stand at."""
    rng = np.random.default_rng(0)
    A = np.vstack([np.full(6, -1.0), rng.normal(size=(12, 6))])
    z, e = np.append(0.0, np.repeat([1.0, -1.0], 6)), np.append(-10.0, np.ones(12))
    program = interior_point.Program(A, z, e, rng.uniform(1, 2, 6), np.append(inf, np.full(12, 3.0)))
    point = interior_point.solve(program, np.ones(6), 0.0, np.zeros(13), tol=1e-6)
    beyond = interior_point.Point(point.v + 100.0, point.b, point.dual, point.steps, point.active)
    found = interior_point.face(program, beyond)
    assert np.all(np.isfinite(found.v))
    assert np.all(np.isfinite(found.dual))


# -- the certificate, and column generation ----------------------------------------------------------------------
def program(seed, kernel=None, data=overlapping, **size):
    """Return a ratio program without its C, its G as an array, and the threshold of C."""
    X, z = data(seed=seed, **size)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    u = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
    G = KernelSpec(**kernel)(X, X) * z if kernel else X
    G = z[:, None] * (G - G.mean(axis=0))
    return lp.RatioLP.of(G, z, u, inf, bool(kernel)), G, u.max()


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
    length = min(10 * (1 + np.abs(v).sum()), lp.CAP)
    costs = lp.CAP * np.maximum(excess - rounding, 0) + length * np.minimum(excess, rounding)
    return u @ G @ v + (0 if isinf(C) else C * slack), dual.sum() - max(costs.max(), 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("data", [overlapping, separable])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_column_generation_is_the_whole_program_for_every_C_in_any_order(kernel, data, seed):
    size = {"n": 60} if data is overlapping else {"dimensions": 3, "sizes": (25, 35)}
    p, G, threshold = program(seed, kernel, data, **size)
    session, gap = {}, 1e-7
    multiples = [1.0, 1.3, 5.0, 100.0, *([inf] if data is separable else [])]
    for multiple in np.random.default_rng(seed).permutation(multiples):
        this = replace(p, C=multiple * threshold)
        answer, whole = column_generation.solve(this, gap=gap, session=session), lp.solve(this, gap=gap)
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


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_certificate_brackets_the_optimum_whatever_it_is_given(kernel):
    p, _, threshold = program(0, kernel, n=60)
    p, rng = replace(p, C=5 * threshold), np.random.default_rng(0)
    best = lp.solve(p, gap=1e-9)
    scale = np.abs(best.v).max()
    for noise in (1e-6, 1e-3, 0.1, 1.0):
        v = best.v + noise * scale * rng.normal(size=len(best.v))
        dual = best.dual + noise * p.C * rng.normal(size=len(best.dual))
        answer = lp.certify(p, v, best.b + noise * rng.normal(), dual, 0)
        assert answer.objective >= best.objective * (1 - 1e-9)
        assert answer.objective - answer.gap * max(answer.objective, 1) <= best.objective * (1 + 1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_wrong_point_has_a_gap(kernel):
    p, _, threshold = program(1, kernel, n=60)
    p = replace(p, C=5 * threshold)
    best = lp.solve(p, gap=1e-9)
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
    assert lp.certify(p, v, b, dual, 0).gap < 1e-9
    for name, point in wrong.items():
        assert lp.certify(p, *point, 0).gap > 1e-4, name


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_solution_of_another_program_has_a_gap(kernel):
    """λ of a larger C exceeds the bounds; λ for v ≥ 0 leaves G'λ below G'u, which is not enough where v is free."""
    p, _, threshold = program(1, kernel, n=60)
    p = replace(p, C=5 * threshold)
    best, larger = lp.solve(p), lp.solve(replace(p, C=20 * threshold))
    assert larger.dual.sum() > best.objective * 1.01
    assert lp.certify(p, best.v, best.b, larger.dual, 0).gap > 1e-4
    if not kernel:
        fewer = lp.solve(replace(p, nonnegative=True))
        assert fewer.objective > best.objective * 1.01
        assert lp.certify(p, fewer.v, fewer.b, fewer.dual, 0).gap > 1e-4


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
    for matrix, whole in ((K, True), (K, False), (Gram(spec, X, memory=0), False)):
        p, *both = mmrm._of_kernel(matrix, z, u, whole)
        np.testing.assert_allclose(both, [middle, size])
        np.testing.assert_allclose(size * p.matrix.whole(), G, atol=1e-9)
        np.testing.assert_allclose(size[others] * p.matrix.block(some, others), G[np.ix_(some, others)], atol=1e-9)
        np.testing.assert_allclose(p.matrix.times(size * x), G @ x, atol=1e-9)
        np.testing.assert_allclose(size * p.matrix.pull(x), x @ G, atol=1e-9)
        for side, cost in zip((z > 0, z < 0), p.costs, strict=True):
            np.testing.assert_allclose(size * cost, (u * side) @ G, atol=1e-9)


def many(n=80, memory=4e9, spec=KERNELS[1], seed=1):
    """Return the program of rows on demand, and its kernel."""
    X, z = overlapping(n, seed)
    K = Gram(KernelSpec(**spec), X, memory)
    u = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
    return replace(mmrm._of_kernel(K, z, u, False)[0], C=5 * u.max()), K


@pytest.mark.parametrize("memory", [0.0, 8 * 80 * 10.0])
def test_memory_changes_nothing_but_what_is_kept(memory):
    (p, K), (reference, _) = many(), many()
    answer, expected = column_generation.solve(p, memory=memory), column_generation.solve(reference)
    assert sum(rows.nbytes for _, rows in K._slabs) <= memory
    assert answer.objective == pytest.approx(expected.objective, rel=1e-9)
    np.testing.assert_allclose(answer.v, expected.v, rtol=1e-4, atol=1e-6)


def test_column_generation_that_is_stopped_short():
    p, _ = many()
    with pytest.raises(NotConverged, match="column generation is certified to") as error:
        column_generation.solve(p, max_rounds=1)
    assert error.value.residual > 1e-6
    assert error.value.iterations > 0


@pytest.mark.real
def test_a_pair_of_usps():
    if absent(REGISTRY["usps"], None):
        pytest.skip("usps is neither in MMC_DATA_DIR nor in the cache; `mmc data fetch usps` downloads it")
    usps = load("usps")
    X, y = usps.X[: usps.n_train], usps.y[: usps.n_train]
    X, y = X[np.isin(y, ["3", "5"])], y[np.isin(y, ["3", "5"])]
    assert len(y) == 1214
    settings = {"C": 10.0, "C_unit": "absolute", "kernel": "rbf", "gamma": 2.0**-7}
    first = MMRM(**settings, solver="column-generation", solver_options={"gap": 1e-4}).fit(X, y)
    assert first.solution_.gap <= 1e-4
    second = MMRM(**settings).fit(X, y)
    assert second.solution_.objective <= first.solution_.objective * (1 + second.solution_.gap)
    assert first.solution_.objective * (1 - first.solution_.gap) <= second.solution_.objective


# -- the edges -----------------------------------------------------------------------------------------------
def far_point(far, degree, seed):
    """Return two classes, one point far outside, and the kernel whose values it dwarfs."""
    rng, z = np.random.default_rng(seed), np.repeat([1.0, -1.0], 20)
    X = rng.normal(size=(40, 3))
    X[:, 0] += z
    X[0] *= far
    return X, z, {"kernel": "poly", "gamma": 1.0, "degree": degree}


def test_the_certificate_holds_where_the_columns_of_G_have_different_lengths():
    """One solver may be defeated by 15 orders of magnitude, but then it says so."""
    for far, degree, seed in ((10, 5, 1), (30, 3, 0), (30, 5, 2)):
        X, z, kernel = far_point(far, degree, seed)
        found = []
        for solver in SOLVERS:
            with contextlib.suppress(*[NotConverged] if (far, degree) == (30, 5) else []):
                found.append(MMRM(C=10.0, solver=solver, **kernel).fit(X, z).solution_)
        assert found
        best = min(solution.objective for solution in found)
        assert max(solution.objective * (1 - solution.gap) for solution in found) <= best * (1 + 1e-9)


def test_no_gap_vouches_for_a_bound_above_the_objective():
    """Nearly singular: the v of length CAP have margins of 0.01, and λ is anything."""
    z = np.array([1.0, -1.0])
    p = lp.RatioLP.of(2e-10 * np.eye(2), z, np.ones(2), inf, True)
    answer = lp.certify(p, np.full(2, lp.CAP / 2), 0.0, np.full(2, 1e3), 0)
    assert answer.v.sum() <= lp.CAP
    assert answer.gap > 1


def test_the_cap_does_not_bind_for_classes_that_a_kernel_tells_apart():
    X, z, kernel = far_point(10, 5, seed=1)
    K = KernelSpec(**kernel)(X, X)
    G = z[:, None] * z * (K - K.mean(axis=0))
    G /= np.sqrt(np.mean(G[1:] ** 2, axis=0))  # v may be counted in any unit
    weight = np.full(40, 1 / 20)
    attained = lp.solve(lp.RatioLP.of(G, z, weight, 10 / 20, True)).objective
    assert MMRM(C=10.0, **kernel).fit(X, z).solution_.objective == pytest.approx(attained, rel=1e-5)


def test_a_hard_margin_that_a_smooth_kernel_does_not_have():
    rng, z = np.random.default_rng(0), np.repeat([1.0, -1.0], 15)
    X = rng.normal(size=(30, 1)) + 0.5 * z[:, None]
    with contextlib.suppress(FitError):
        MMRM(C=inf, kernel="rbf", gamma=0.005, solver="column-generation").fit(X, z)


def test_points_that_occur_twice_under_a_smooth_kernel():
    rng = np.random.default_rng(459)
    n = int(rng.integers(20, 60))
    z = np.repeat([1.0, -1.0], [n // 2, n - n // 2])
    X = np.round(rng.normal(size=(n, 1)) + 0.5 * z[:, None])
    with contextlib.suppress(FitError):
        MMRM(C=100.0, kernel="rbf", gamma=0.005, solver="column-generation").fit(X, z)


def test_memory_is_bounded_where_there_is_no_hard_margin_too():
    p, K = many(spec={"kernel": "linear"})
    with pytest.raises(InfeasibleProblem):
        column_generation.solve(replace(p, C=inf), memory=1e4)
    assert sum(rows.nbytes for _, rows in K._slabs) <= 1e4


def test_no_rounds_at_all():
    p, _ = many()
    with pytest.raises((FitError, ValueError)):
        column_generation.solve(p, max_rounds=0)
