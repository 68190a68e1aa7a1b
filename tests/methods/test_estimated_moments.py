"""Moments are estimates: shrinkage by default, a warning where a bound means nothing, and room for error on request."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mmc.datasets import load
from mmc.methods import BMPM, MPM, BoundWarning, ErrorRateClassifier, FitError, InfeasibleProblem
from mmc.methods.numerics.kernels import KernelSpec

RBF = {"kernel": "rbf", "gamma": 0.1}
SILENT = pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")


def noise(seed=0, n=60, p=20):
    """Two classes that are the same."""
    return np.random.default_rng(seed).normal(size=(2 * n, p)), np.repeat([0, 1], n)


def well_posed(seed, n=100, p=5, apart=1.5):
    """Ten or more points per feature; every third draw is skewed."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2 * n, p)) if seed % 3 else rng.exponential(size=(2 * n, p)), np.repeat([0, 1], n)
    X[y == 1] *= np.linspace(0.5, 2, p)
    X[y == 1, 0] += apart
    return X, y


def heart():
    data = load("heart_statlog")
    return (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), (data.y == data.positive).astype(int)


def warned(model, X, y):
    """Whether a fit warned of its bound."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert all(issubclass(w.category, BoundWarning) for w in caught)
    return bool(caught)


# -- shrinkage ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "make", [lambda: ErrorRateClassifier(0.8, 0.9), lambda: BMPM(0.2), MPM], ids=["er", "bmpm", "mpm"]
)
def test_a_linear_fit_uses_the_covariances_that_scikit_learn_shrinks(make):
    X, y = noise(n=25, p=6)
    X[y == 1] = 1.5 * X[y == 1] + np.linspace(0, 2, 6)
    model = make().fit(X, y)
    w, f = model.coef_[0], model.decision_function(X)
    for i, label in enumerate((0, 1)):
        covariance, shrinkage = ledoit_wolf(X[y == label])
        assert model.shrinkage_[i] == pytest.approx(shrinkage)
        side, variance = abs(f[y == label].mean()), w @ covariance @ w
        assert model.worst_case_error_[i] == pytest.approx(variance / (variance + side**2), rel=1e-6)


@pytest.mark.parametrize(
    "make", [ErrorRateClassifier, MPM, lambda **kernel: BMPM(0.2, **kernel)], ids=["er", "mpm", "bmpm"]
)
def test_a_kernel_shrinks_in_its_feature_space(make):
    """The linear kernel as a callable gives the same rule as the linear one."""
    X, y = well_posed(1, n=30)
    direct, called = make().fit(X, y), make(kernel=lambda A, B: A @ B.T).fit(X, y)
    np.testing.assert_allclose(called.shrinkage_, direct.shrinkage_, rtol=1e-9)
    np.testing.assert_allclose(called.ridge_, direct.ridge_, rtol=1e-9)
    np.testing.assert_allclose(called.worst_case_error_, direct.worst_case_error_, atol=1e-8)
    np.testing.assert_allclose(called.bound_check_, direct.bound_check_, atol=1e-6)
    np.testing.assert_allclose(called.decision_function(X), direct.decision_function(X), atol=1e-5)


def test_the_default_depends_on_units_and_scaled_features_do_not():
    """What the docs say of the wines: in their own units one feature drowns the others."""
    X, y = load_wine(return_X_y=True)
    raw, scaled = MPM(), make_pipeline(StandardScaler(), MPM())
    assert cross_val_score(raw, X, y, cv=10).mean() == pytest.approx(0.75, abs=0.01)
    assert cross_val_score(scaled, X, y, cv=10).mean() == pytest.approx(0.99, abs=0.01)
    units = 10.0 ** np.linspace(-3, 3, X.shape[1])
    np.testing.assert_array_equal(scaled.fit(X * units, y).predict(X * units), scaled.fit(X, y).predict(X))


@SILENT
def test_a_class_of_one_or_two_points_can_be_fitted():
    X, y = well_posed(1, n=20)
    for few in (1, 2):
        rows = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:few]])
        for make in (ErrorRateClassifier, MPM):
            for kernel in ({}, RBF):
                model = make(**kernel).fit(X[rows], y[rows])
                assert model.ridge_.min() > 0
                assert model.solution_.gap < 1e-6


# -- what a bound is worth ------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_noise_is_found_out(seed):
    """Without a ridge the bound of a kernel is 0 on pure noise; the default's bound is not broken by far, or it warns."""
    X, y = noise(seed)
    bare = ErrorRateClassifier(0.5, 0.5, kernel="rbf", gamma=0.05, ridge=0)
    assert warned(bare, X, y)
    assert bare.worst_case_error_.max() < 1e-20
    assert bare.bound_check_.min() > 0.9
    for make in (ErrorRateClassifier, MPM):
        model = make(kernel="rbf", gamma=0.05)
        assert warned(model, X, y) or model.worst_case_error_.min() >= 0.4
        assert model.bound_check_.min() > 0.9


def test_few_points_in_many_dimensions_are_found_out():
    """Twenty points of noise in 18 dimensions: the true errors are 1/2. For so few points 1/5 is far below it, 1/3 is not."""
    low = 0
    for seed in range(40):
        X, y = noise(seed, n=20, p=18)
        model = BMPM(0.2, ridge=0)
        told, bound = warned(model, X, y), model.worst_case_error_[1]
        assert told or bound > 1 / 5
        assert not (told and bound > 1 / 3)
        low += bound <= 1 / 5
    assert low > 10


def test_heart_disease_with_a_gaussian_kernel_is_found_out():
    """The bound is 0, and one in five is missed under cross-validation."""
    X, y = heart()
    bare = ErrorRateClassifier(0.1, 0.5, kernel="rbf", gamma=0.16, ridge=0)
    assert warned(bare, X, y)
    assert bare.worst_case_error_[1] < 1e-20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundWarning)
        missed = np.mean(cross_val_predict(bare, X, y, cv=5)[y == 1] == 0)
    assert missed > 0.1
    assert bare.bound_check_[1] > missed


def test_well_posed_draws_raise_no_alarm():
    """benchmarks/bound_check.py draws many more."""
    alarms = 0
    for seed in range(60):
        X, y = well_posed(seed)
        alarms += sum(warned(model, X, y) for model in (ErrorRateClassifier(), MPM(), MPM(ridge=0)))
    assert alarms == 0


@pytest.mark.parametrize("make", [ErrorRateClassifier, MPM], ids=["er", "mpm"])
def test_thirty_skewed_points_and_a_kernel_raise_no_alarm_where_the_bounds_hold(make):
    """The bounds are about half of what left-out moments say, and still above the true errors: Chebyshev's are wide."""
    rng = np.random.default_rng(0)

    def points(label, n):
        return rng.lognormal(0, 0.6, (n, 8)) + 1.5 * np.eye(8)[0] if label else rng.exponential(size=(n, 8))

    new, held, doubled = [points(label, 20_000) for label in (0, 1)], 0, 0
    for _ in range(30):
        X, y = np.vstack([points(label, 30) for label in (0, 1)]), np.repeat([0, 1], 30)
        model = make(kernel="rbf")
        told = warned(model, X, y)
        true = [np.mean(model.predict(new[label]) != label) for label in (0, 1)]
        if np.all(true <= model.worst_case_error_):
            held += 1
            doubled += bool(np.any(model.bound_check_ > 2 * model.worst_case_error_))
            assert not told
    assert held > 15
    assert doubled > 10


def test_the_estimate_is_near_the_truth_where_the_bound_is_not():
    """Moments of 50,000 new points along w: the training bound is far below them, the left-out one is not."""
    rng = np.random.default_rng(0)
    X, y = noise(1, n=30, p=20)
    X[y == 1] += 0.5
    model = BMPM(0.2, ridge=0)
    warned(model, X, y)
    new = rng.normal(size=(50_000, 20))
    for label, shift in ((0, 0.0), (1, 0.5)):
        f = (2 * label - 1) * model.decision_function(new + shift)
        true = f.var() / (f.var() + f.mean() ** 2)
        off, left_out_off = abs(model.worst_case_error_[label] - true), abs(model.bound_check_[label] - true)
        assert left_out_off < 0.15
        assert left_out_off < off / 2


def test_the_warning_says_what_is_wrong_and_what_to_do():
    X, y = noise()
    with pytest.warns(BoundWarning) as caught:
        MPM(kernel="rbf", gamma=0.05, ridge=1e-6).fit(X, np.array(["bad", "good"])[y])
    text = str(caught[0].message)
    assert "class 'bad'" in text
    assert "ridge" in text
    assert caught[0].filename == __file__


def test_a_path_neither_warns_nor_checks():
    X, y = noise()
    model = MPM(kernel="rbf", gamma=0.05)
    steps = list(model.fit_path(X, y, [{"ridge": 1e-6}, {"ridge": "auto"}]))
    assert not any(hasattr(step.estimator, "bound_check_") for step in steps)


# -- robust to wrong moments ----------------------------------------------------------------------------------
def half(S):
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.sqrt(np.maximum(values, 0))).T


def coordinates(X, kernel):
    """Points with the inner products of the kernel."""
    if not kernel:
        return X
    values, vectors = np.linalg.eigh(KernelSpec(kernel["kernel"], kernel["gamma"])(X, X))
    return (vectors * np.sqrt(np.maximum(values, 0)))[:, values > 1e-12]


def spreads(Z, y, ridge, rho, a):
    """The standard deviations of positive and negative class along a, with ridge and ρ, as cvxpy expressions."""
    S = [
        np.cov(Z[y == label].T, bias=True) + (ridge + r) * np.eye(Z.shape[1])
        for label, r in zip((1, 0), rho, strict=True)
    ]
    return [cp.norm(half(part) @ a) for part in S]


UNCERTAIN = [((0.2, 0.2), (0.0, 0.0)), ((0.3, 0.1), (0.0, 0.05)), ((0.0, 0.2), (0.1, 0.1)), ((0.0, 0.0), (0.2, 0.0))]


@SILENT
@pytest.mark.parametrize("solver", ["secular", "socp", "ellipsoid", "cvxpy"])
@pytest.mark.parametrize("kernel", [{}, RBF], ids=["linear", "rbf"])
@pytest.mark.parametrize(("nu", "rho"), UNCERTAIN)
def test_the_robust_error_rates_are_the_cone_program(nu, rho, kernel, solver):
    X, y = well_posed(2, n=25, p=3, apart=2.5)
    etas = (0.6, 0.8)
    options = {"tol": 1e-8} if solver == "ellipsoid" else None
    common = {"ridge": 0.01, "mean_uncertainty": nu, "covariance_uncertainty": rho}
    model = ErrorRateClassifier(*etas, **common, **kernel, solver=solver, solver_options=options).fit(X, y)
    Z = coordinates(X, kernel)
    w, b = cp.Variable(Z.shape[1]), cp.Variable()
    sx, sy = spreads(Z, y, 0.01, rho, w)
    kappa = [np.sqrt((1 - eta) / eta) + n for eta, n in zip(etas, nu, strict=True)]
    program = cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2),
        [Z[y == 1].mean(axis=0) @ w - b >= 1 + kappa[0] * sx, b - Z[y == 0].mean(axis=0) @ w >= 1 + kappa[1] * sy],
    )
    program.solve(solver="CLARABEL")
    assert model.solution_.objective == pytest.approx(program.value, rel=1e-5)
    assert model.solution_.gap < 1e-6
    np.testing.assert_allclose(model.decision_function(X), Z @ w.value - b.value, atol=1e-3)
    assert np.all(model.worst_case_error_[::-1] <= np.array(etas) + 1e-9)


@SILENT
@pytest.mark.parametrize("solver", ["frontier", "fractional", "gradient-projection", "socp", "least-squares", "cvxpy"])
@pytest.mark.parametrize("kernel", [{}, RBF], ids=["linear", "rbf"])
@pytest.mark.parametrize(("nu", "rho"), UNCERTAIN)
def test_the_robust_minimax_machines_are_the_cone_program(nu, rho, kernel, solver):
    """At the levels that are promised, min (κα + νx) √(a'Σx a) + (κβ + νy) √(a'Σy a) s.t. a'd = 1 is 1: no room is left."""
    X, y = well_posed(2, n=25, p=3, apart=2.5)
    Z = coordinates(X, kernel)
    d = Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0)
    machines = {"MPM": MPM, "BMPM": BMPM, "BMPM at .2": lambda **params: BMPM(0.2, **params)}
    for name, make in machines.items():
        if (solver in ("fractional", "gradient-projection")) == (name == "MPM") or (solver, name) == (
            "least-squares",
            "BMPM",
        ):
            continue
        if solver == "least-squares" and name != "MPM":
            continue
        model = make(ridge=0.01, mean_uncertainty=nu, covariance_uncertainty=rho, solver=solver, **kernel).fit(X, y)
        assert model.solution_.gap < 1e-5
        a = cp.Variable(len(d))
        sx, sy = spreads(Z, y, 0.01, rho, a)
        kappa = np.sqrt(1 / model.worst_case_error_[::-1] - 1) + nu
        program = cp.Problem(cp.Minimize(kappa[0] * sx + kappa[1] * sy), [d @ a == 1])
        program.solve(solver="CLARABEL")
        assert program.value == pytest.approx(1, abs=1e-5)
        if name == "BMPM at .2":
            assert model.worst_case_error_[0] == pytest.approx(0.8)
        else:
            assert model.worst_case_error_[0] == pytest.approx(model.worst_case_error_[1], abs=1e-6)


@pytest.mark.parametrize(
    "make", [lambda **p: ErrorRateClassifier(0.8, 0.9, **p), MPM, lambda **p: BMPM(0.2, **p)], ids=["er", "mpm", "bmpm"]
)
@pytest.mark.parametrize("name", ["mean_uncertainty", "covariance_uncertainty"])
def test_more_uncertainty_costs_more_and_none_costs_nothing(make, name):
    X, y = well_posed(2, n=60, apart=2.0)
    plain = make().fit(X, y)
    np.testing.assert_array_equal(make(**{name: (0, 0.0)}).fit(X, y).coef_, plain.coef_)
    models = [make(**{name: size}).fit(X, y) for size in (0.05, 0.1, (0.2, 0.1), 0.2)]
    models.insert(0, plain)
    if isinstance(plain, ErrorRateClassifier):
        cost = [model.solution_.objective for model in models]
    else:
        cost = [model.worst_case_error_[1] for model in models]
    assert np.all(np.diff(cost) > 0)


def test_too_much_uncertainty_is_infeasible_and_the_message_says_so():
    X, y = well_posed(2)
    for model in (ErrorRateClassifier(), ErrorRateClassifier(0.9, 0.9), MPM(), BMPM(0.1)):
        with pytest.raises(InfeasibleProblem, match="mean_uncertainty"):
            model.set_params(mean_uncertainty=50.0).fit(X, y)


def test_the_feasible_rates_leave_room_for_the_uncertain_means():
    X, y = well_posed(2)
    robust = ErrorRateClassifier(mean_uncertainty=(0.1, 0.2))
    edge = robust.feasible_eta_neg(X, y, [0.9])[0]
    assert edge > ErrorRateClassifier().feasible_eta_neg(X, y, [0.9])[0]
    robust.set_params(eta_pos=0.9, eta_neg=edge + 1e-4).fit(X, y)
    with pytest.raises(InfeasibleProblem, match="would be feasible") as caught:
        robust.set_params(eta_neg=edge - 1e-4).fit(X, y)
    advice = dict(part.split("=") for part in str(caught.value).split("equally, ")[1].split(" would")[0].split(", "))
    robust.set_params(eta_pos=float(advice["eta_pos"]), eta_neg=float(advice["eta_neg"])).fit(X, y)


@pytest.mark.parametrize("value", [-1, (0.1, -0.1), (0.1,), (1, 2, 3), "much"])
def test_an_uncertainty_is_one_number_or_two(value):
    for make in (ErrorRateClassifier, MPM):
        with pytest.raises((ValueError, FitError), match="mean_uncertainty"):
            make(mean_uncertainty=value).fit(*well_posed(1))


def test_the_frontier_of_uncertain_means_is_made_of_solutions():
    X, y = well_posed(2)
    model = MPM(mean_uncertainty=(0.1, 0.2)).fit(X, y)
    pos, neg = model.frontier(21)
    for i in (5, 10, 15):
        there = BMPM(neg[i], mean_uncertainty=(0.1, 0.2)).fit(X, y)
        np.testing.assert_allclose(1 - there.worst_case_error_[::-1], [pos[i], neg[i]], atol=1e-8)
    with pytest.raises(InfeasibleProblem, match="largest feasible level") as caught:
        BMPM(neg[-1] + 1e-4, mean_uncertainty=(0.1, 0.2)).fit(X, y)
    assert caught.value.distance == pytest.approx(1e-4, abs=1e-7)
