"""The max-margin ratio machine: the theorems of Gu & Guo, and independent solutions of the same linear programs."""

import contextlib
from math import inf, isinf, isnan

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import make_classification

from mmc.datasets import REGISTRY, load
from mmc.datasets.finding import absent
from mmc.methods import MMRM, FitError, InfeasibleProblem, NotConverged
from mmc.methods.dispersions import dispersions
from mmc.methods.numerics.kernels import KernelSpec
from mmc.methods.problems.ratio_matrices import dense_program
from mmc.methods.solvers import lp

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
    assert soft.solution_.objective == pytest.approx(hard.solution_.objective, rel=2e-7)
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
    free = dense_program(G, z, weight, 1e6 * weight.max(), False)
    answer = lp.solve(free)
    assert free.certify(answer.primal, answer.dual).objective == pytest.approx(2, abs=1e-6)
    assert answer.primal.v.min() < 0
    assert 2 / model.margin_ratio_ > 1000 * abs(answer.primal.spread - 2)


@pytest.mark.parametrize("multiple", [1.2, 2.0, 20.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_all_solvers_agree(kernel, multiple):
    X, z = overlapping()
    C = multiple / min(np.sum(z > 0), np.sum(z < 0))
    written = MMRM(C=C, C_unit="absolute", solver="cvxpy", solver_options={"gap": 1e-5}, **kernel).fit(X, z)
    expected = written.solution_.objective  # better than its certificate, which a kernel of low rank leaves no room
    for solver in SOLVERS:
        model = MMRM(C=C, C_unit="absolute", solver=solver, **kernel).fit(X, z)
        assert model.solution_.objective == pytest.approx(expected, rel=1e-6)
        assert model.solution_.gap < 1e-6
        f = model.decision_function(X)
        slack = np.maximum(1 - z * f, 0).sum()
        assert f[z > 0].mean() - f[z < 0].mean() + C * slack == pytest.approx(model.solution_.objective, rel=1e-6)


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


@pytest.mark.parametrize("gamma", [0.01, 0.2, 1.0])
def test_interior_points_alone_reach_the_optimum_though_they_leave_out_v_on_the_way(gamma):
    X, z = overlapping(120)
    grid = [{"C": C} for C in (1.2, 5.0, 2.0)]
    inside, vertices = (
        MMRM(kernel="rbf", gamma=gamma, solver=solver, solver_options=options).fit_path(X, z, grid)
        for solver, options in (("column-generation", {"gap": 1e-8, "few": 0}), ("lp", {"gap": 1e-7}))
    )
    for one, other in zip(inside, vertices, strict=True):
        assert one.estimator.solution_.version.startswith("interior point")
        assert one.estimator.solution_.objective == pytest.approx(other.estimator.solution_.objective, rel=2e-7)


@pytest.mark.parametrize("kernel", [{}, {"kernel": "rbf", "gamma": 0.2}], ids=["linear", "rbf"])
def test_the_bias_22_makes_the_ratios_of_both_classes_equal(kernel):
    """The equality in (21): (w'x* + b) / w'(x̄ − x*) = −(w'y* + b) / w'(y* − ȳ) = ρ; w is the same with either bias."""
    X, y = separable(4)
    model = MMRM(C=np.inf, bias="ratio", **kernel).fit(X, y)
    f = model.decision_function(X)
    x, others = f[y > 0], f[y < 0]
    ratios = x.min() / (x.mean() - x.min()), -others.max() / (others.max() - others.mean())
    np.testing.assert_allclose(ratios, model.margin_ratio_, rtol=1e-6)
    plain = MMRM(C=np.inf, **kernel).fit(X, y)
    shift = plain.decision_function(X) - f
    np.testing.assert_allclose(shift, shift[0], atol=1e-8)
    assert abs(shift[0]) > 1e-3


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
    with pytest.raises(NotConverged, match="relative duality gap"):
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


def test_the_cap_does_not_bind_for_classes_that_a_kernel_tells_apart():
    X, z, kernel = far_point(10, 5, seed=1)
    K = KernelSpec(**kernel)(X, X)
    G = z[:, None] * z * (K - K.mean(axis=0))
    G /= np.sqrt(np.mean(G[1:] ** 2, axis=0))  # v may be counted in any unit
    weight = np.full(40, 1 / 20)
    p = dense_program(G, z, weight, 10 / 20, True)
    answer = lp.solve(p)
    attained = p.certify(answer.primal, answer.dual).objective
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


def test_a_row_that_is_given_twice_has_the_weight_two():
    """What the refusal of weights says: (28) with means and slacks weighted, solved by itself, is (28) on repeated rows."""
    draw = np.random.default_rng(4)
    X, z = draw.normal(size=(30, 3)), np.where(np.arange(30) % 3, 1.0, -1.0)
    X[z > 0] += 0.7
    weight = draw.integers(1, 4, 30)
    G, C = X * z[:, None], 0.4
    u = weight / np.where(z > 0, weight[z > 0].sum(), weight[z < 0].sum())
    n, p = G.shape
    program = linprog(
        np.concatenate([u @ G, [0.0], C * weight]),
        A_ub=-np.column_stack([G, z, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(None, None)] * (p + 1) + [(0, None)] * n,
    )
    repeated = np.repeat(np.arange(n), weight)
    for solver in (*SOLVERS, "cvxpy"):
        model = MMRM(C, C_unit="absolute", solver=solver).fit(X[repeated], z[repeated])
        assert model.solution_.objective == pytest.approx(program.fun, rel=1e-6)
    with pytest.raises(TypeError, match="Repeat a row to count it more than once"):
        MMRM().fit(X, z, sample_weight=weight)
