"""ErrorRateClassifier: the bounds it promises, its invariances, and what it says where there is no answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmc.datasets import load
from mmc.methods import ErrorRateClassifier, FitError, InfeasibleProblem, NotConverged

KERNELS = (
    {"kernel": "linear", "ridge": 0},
    {"kernel": "rbf", "gamma": 0.2, "ridge": 0},
    {"kernel": "poly", "gamma": 0.2, "degree": 2, "ridge": 0},
    {"kernel": "rbf", "gamma": 0.2, "ridge": 1e-2},
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.2},
    {"kernel": "poly", "gamma": 0.2, "degree": 2},
)
pytestmark = pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")  # without a ridge they are due


def linear(X, Z):
    return X @ Z.T


def two_classes(seed=0, m=120, n=4, apart=2.0):
    """Two normal classes of different shape; ``apart`` is the distance of the means in each feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    X[: m // 3] = X[: m // 3] * rng.uniform(0.7, 1.3, n) + apart
    return X, (np.arange(m) < m // 3).astype(int)


def feature_moments(model, X, y, kernel):
    """Mean and variance of the decision values of each class, from the training points, shrunk as the model says."""
    f = model.decision_function(X)
    if kernel["kernel"] == "linear":
        norm2 = float(model.coef_[0] @ model.coef_[0])
    else:
        K = model._kernel(model.support_vectors_, model.support_vectors_)
        norm2 = float(model.dual_coef_[0] @ K @ model.dual_coef_[0])
    return [
        (f[y == c].mean(), (1 - shrinkage) * f[y == c].var() + ridge * norm2)
        for c, shrinkage, ridge in zip(model.classes_, model.shrinkage_, model.ridge_, strict=True)
    ]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("etas", [(0.5, 0.5), (0.9, 0.3), (1.0, 0.4), (1.0, 1.0)])
def test_constraints_hold_and_are_active(kernel, etas):
    """(3.14): each mean lies 1 + κ_i standard deviations on its side of the hyperplane, and no further."""
    X, y = two_classes()
    model = ErrorRateClassifier(*etas, **kernel).fit(X, y)
    assert model.solution_.gap <= 1e-8
    assert model.solution_.status == "solved"
    (neg, var_neg), (pos, var_pos) = feature_moments(model, X, y, kernel)
    for distance, variance, eta, bound in (
        (pos, var_pos, etas[0], model.worst_case_error_[1]),
        (-neg, var_neg, etas[1], model.worst_case_error_[0]),
    ):
        assert distance == pytest.approx(1 + np.sqrt((1 - eta) / eta * variance), rel=1e-6)
        assert bound == pytest.approx(variance / (variance + distance**2), rel=1e-6)
        assert bound < eta


@settings(deadline=None, derandomize=True, max_examples=25)
@given(seed=st.integers(0, 1000), eta=st.floats(0.3, 1.0), ridge=st.sampled_from([0.0, 0.1]))
def test_the_bound_holds_on_the_data_that_it_is_made_of(seed, eta, ridge):
    """Chebyshev-Cantelli is a theorem: with the moments of a sample it bounds the errors on that sample."""
    X, y = two_classes(seed, m=60, n=3, apart=1.5)
    try:
        model = ErrorRateClassifier(eta, 1.0, ridge=ridge).fit(X, y)
    except InfeasibleProblem:
        return
    f = model.decision_function(X)
    assert np.mean(f[y == 1] <= 0) <= model.worst_case_error_[1] + 1e-12
    assert np.mean(f[y == 0] >= 0) <= model.worst_case_error_[0] + 1e-12


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_no_rates_mean_half_way_to_the_best(kernel):
    """The default lies in the middle between the edge of feasibility and 1, and the same holds for one rate."""
    X, y = two_classes(apart=0.8)
    default = ErrorRateClassifier(**kernel).fit(X, y)
    best = 2 * default_rate(default, X, y, kernel) - 1
    with pytest.raises(InfeasibleProblem):
        ErrorRateClassifier(best - 1e-3, best - 1e-3, **kernel).fit(X, y) if best > 1e-2 else infeasible()
    model = ErrorRateClassifier(eta_pos=0.8, **kernel)
    edge = model.feasible_eta_neg(X, y, [0.8])[0]
    np.testing.assert_allclose(
        model.fit(X, y).decision_function(X),
        ErrorRateClassifier(0.8, (1 + edge) / 2, **kernel).fit(X, y).decision_function(X),
        rtol=1e-6,
    )


def infeasible():
    raise InfeasibleProblem("every rate is feasible")


def default_rate(model, X, y, kernel):
    """The equal rates that the default chose, from the margin: the mean lies at 1 + κ·spread."""
    (neg, var_neg), (pos, var_pos) = feature_moments(model, X, y, kernel)
    kappas = [(pos - 1) / np.sqrt(var_pos), (-neg - 1) / np.sqrt(var_neg)]
    assert kappas[0] == pytest.approx(kappas[1], rel=1e-5)
    return 1 / (1 + kappas[0] ** 2)


def test_rates_beyond_the_edge_are_infeasible_and_the_message_helps():
    X, y = two_classes(apart=0.8)
    with pytest.raises(InfeasibleProblem, match=r"ask for .* times what the data allow") as caught:
        ErrorRateClassifier(0.05, 0.1).fit(X, y)
    assert caught.value.distance > 0
    advice = dict(part.split("=") for part in str(caught.value).split("equally, ")[1].split(" would")[0].split(", "))
    ErrorRateClassifier(float(advice["eta_pos"]), float(advice["eta_neg"])).fit(X, y)
    edge = ErrorRateClassifier().feasible_eta_neg(X, y, [0.5, 0.9, 1.0])
    assert np.all(np.diff(edge) < 0)
    for eta_pos, eta_neg in zip((0.5, 0.9, 1.0), edge, strict=True):
        ErrorRateClassifier(eta_pos, eta_neg + 1e-4).fit(X, y)
        with pytest.raises(InfeasibleProblem):
            ErrorRateClassifier(eta_pos, eta_neg - 1e-4).fit(X, y)


def test_equal_means_are_infeasible_at_any_rates():
    few = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    many = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [-1.0, -1.0]])
    for X, y in (
        (few, [0, 0, 1, 1]),
        (np.concatenate([many, 2 * many]), [0] * 6 + [1] * 6),
        (np.zeros((4, 3)), [0, 0, 1, 1]),
    ):
        for etas in ((1.0, 1.0), (0.9, 0.9), (None, None), (0.9, None)):
            for kernel in ("linear", linear):
                with pytest.raises(InfeasibleProblem, match="same mean"):
                    ErrorRateClassifier(*etas, kernel=kernel, ridge=0).fit(X, y)


@pytest.mark.parametrize("eta", [0.0, -0.1, 1.1, "half"])
def test_rates_outside_of_0_1_are_refused(eta):
    X, y = two_classes()
    with pytest.raises(ValueError, match=r"eta_neg.*must be a float in the range"):
        ErrorRateClassifier(0.5, eta).fit(X, y)


def test_many_rates_are_judged_as_one_is():
    X, y = two_classes()
    grid = [{"eta_pos": a, "eta_neg": b} for a in (0.4, 0.6, 0.8, 1.0) for b in (0.5, 0.6, 0.7, 0.8, 1.0)]
    for point, step in zip(grid, ErrorRateClassifier().fit_path(X, y, grid), strict=True):
        alone, model = ErrorRateClassifier(**point).fit(X, y), step.estimator
        assert model is step.estimator
        assert model.get_params() == alone.get_params()
        np.testing.assert_allclose(model.worst_case_error_, alone.worst_case_error_, rtol=1e-8)
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(model.ridge_, alone.ridge_)
        assert model.solution_.objective == pytest.approx(alone.solution_.objective, rel=1e-8)
        assert model.solution_.gap == pytest.approx(alone.solution_.gap, abs=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_path_is_the_same_as_separate_fits(kernel):
    X, y = two_classes(apart=1.0)
    grid = [{"eta_pos": a, "eta_neg": b} for a in (0.2, 0.4, 0.6, 0.8, 1.0) for b in (0.15, 0.5, 0.7, 1.0)]
    statuses = set()
    for step in ErrorRateClassifier(**kernel).fit_path(X, y, grid, X_test=X):
        model = ErrorRateClassifier(**kernel, **step.params)
        if step.error is not None:
            statuses.add(step.error.status)
            with pytest.raises(type(step.error)) as caught:
                model.fit(X, y)
            assert caught.value.distance == pytest.approx(step.error.distance, rel=1e-6)
        else:
            statuses.add("solved")
            assert step.estimator.solution_.gap <= 1e-8
            f = model.fit(X, y).decision_function(X)
            gaps = step.estimator.solution_.gap, model.solution_.gap
            apart = 1e-6 + sum(np.sqrt(gaps))  # ½‖w‖² is strongly convex: ‖w - w*‖ ≤ √gap ‖w‖
            np.testing.assert_allclose(step.decision, f, atol=apart * np.abs(f).max())
    assert "solved" in statuses
    if kernel == KERNELS[0]:
        assert statuses == {"solved", "infeasible"}


def test_what_no_point_of_a_grid_can_have_is_the_error_of_each(monkeypatch):
    """Work that is done ahead for a whole grid leaves its errors to the fits."""

    def too_much(*_):
        raise FitError("no memory")

    monkeypatch.setattr("mmc.methods.error_rate.require", too_much)
    X, y = two_classes()
    grid = [{"eta_pos": 0.5, "eta_neg": eta, "kernel": kernel} for eta in (0.5, 0.7) for kernel in ("linear", "rbf")]
    errors = [step.error for step in ErrorRateClassifier().fit_path(X, y, grid)]
    assert [error is None for error in errors] == [True, False, True, False]
    assert str(errors[1]) == str(errors[3]) == "no memory"


@pytest.mark.parametrize("solver", ["secular", "socp", "ellipsoid"])
def test_a_linear_kernel_is_a_linear_classifier(solver):
    """kernel=linear and the same as a callable, in which every covariance of the span is singular or not."""
    X, y = two_classes(m=40)
    options = {"tol": 1e-9} if solver == "ellipsoid" else None
    direct = ErrorRateClassifier(0.6, 0.5, solver=solver, solver_options=options).fit(X, y)
    through = ErrorRateClassifier(0.6, 0.5, kernel=linear, solver=solver, solver_options=options).fit(X, y)
    np.testing.assert_allclose(direct.decision_function(X), through.decision_function(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(direct.worst_case_error_, through.worst_case_error_, rtol=1e-6)
    assert direct.solution_.objective == pytest.approx(through.solution_.objective, rel=1e-8)
    assert not hasattr(through, "coef_")


@pytest.mark.parametrize("ridge", [1e-6, 1e-2, 0.1])
@pytest.mark.parametrize("kernel", KERNELS[:3], ids=str)
def test_all_solvers_solve_the_same_ridged_problem(kernel, ridge):
    X, y = two_classes(m=50, apart=1.0)
    fits = [
        ErrorRateClassifier(0.7, 0.8, **{**kernel, "ridge": ridge}, solver=solver, solver_options=options)
        for solver, options in (("secular", None), ("socp", None), ("ellipsoid", {"tol": 1e-8, "max_iter": 3000}))
    ]
    f = fits[0].fit(X, y).decision_function(X)
    np.testing.assert_allclose(fits[1].fit(X, y).decision_function(X), f, atol=1e-6 * np.abs(f).max())
    try:
        np.testing.assert_allclose(fits[2].fit(X, y).decision_function(X), f, atol=1e-6 * np.abs(f).max())
    except NotConverged as error:
        assert ridge == 1e-6
        assert error.iterations == 3000  # noqa: PT017
    else:
        assert fits[2].angle_ <= 1e-8


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_units_do_not_change_predictions(scale):
    """X → cX turns w into w/c; with a Gaussian kernel gamma/c² undoes it."""
    X, y = two_classes(apart=1.0)
    for before, after in (({}, {}), ({"kernel": "rbf", "gamma": 0.2}, {"kernel": "rbf", "gamma": 0.2 / scale**2})):
        f = ErrorRateClassifier(0.7, 0.6, **before).fit(X, y).decision_function(X)
        g = ErrorRateClassifier(0.7, 0.6, **after).fit(scale * X, y).decision_function(scale * X)
        np.testing.assert_allclose(f, g, rtol=1e-6, atol=1e-9)


def test_moving_the_origin_changes_nothing():
    X, y = two_classes(apart=1.0)
    f = ErrorRateClassifier(0.7, 0.6).fit(X, y).decision_function(X)
    g = ErrorRateClassifier(0.7, 0.6).fit(X + 100, y).decision_function(X + 100)
    np.testing.assert_allclose(f, g, rtol=1e-6, atol=1e-9)


def test_duplicated_points_change_nothing():
    """The moments are the same, and the Gram matrix is singular. The rule of Ledoit and Wolf sees twice as many points."""
    X, y = two_classes(m=40)
    for kernel in KERNELS[:4]:
        f = ErrorRateClassifier(0.6, 0.5, **kernel).fit(X, y).decision_function(X)
        model = ErrorRateClassifier(0.6, 0.5, **kernel).fit(np.vstack([X, X]), np.append(y, y))
        np.testing.assert_allclose(model.decision_function(X), f, rtol=1e-6, atol=1e-8)


def test_more_features_than_points():
    """Every training point can be separated without spread: the worst-case errors vanish where rates demand it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 100)), np.repeat([0, 1], 10)
    strict = ErrorRateClassifier(0.01, 0.01, ridge=0).fit(X, y)
    assert strict.solution_.gap <= 1e-8
    assert strict.worst_case_error_.max() < 1e-12
    relaxed = ErrorRateClassifier(0.9, 0.9, ridge=0).fit(X, y)
    assert relaxed.solution_.gap <= 1e-8
    assert relaxed.solution_.objective < strict.solution_.objective
    for solver in ("socp",):
        other = ErrorRateClassifier(0.9, 0.9, ridge=0, solver=solver).fit(X, y)
        np.testing.assert_allclose(other.decision_function(X), relaxed.decision_function(X), atol=1e-6)


def test_stricter_rates_cost_margin():
    """The feasible set shrinks: ½‖w‖² grows as either rate falls."""
    X, y = two_classes(apart=1.0)
    values = [
        [ErrorRateClassifier(a, b).fit(X, y).solution_.objective for a in (0.9, 0.7, 0.5)] for b in (0.9, 0.7, 0.5)
    ]
    assert np.all(np.diff(values, axis=0) > 0)
    assert np.all(np.diff(values, axis=1) > 0)


def test_the_truncated_iteration_is_kept_only_on_request():
    data = load("breast_cancer")
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    options = {"max_iter": 100}
    with pytest.raises(NotConverged, match="after 100 steps"):
        ErrorRateClassifier(0.5, 0.3, ridge=0, pos_label="malignant", solver="ellipsoid", solver_options=options).fit(
            X, data.y
        )
    kept = ErrorRateClassifier(
        0.5, 0.3, ridge=0, pos_label="malignant", solver="ellipsoid", solver_options={**options, "at_cap": "keep"}
    )
    kept.fit(X, data.y)
    assert kept.solution_.status == "iteration-cap"
    assert kept.solution_.iterations == 100
    assert kept.angle_ > 0.01
    assert np.mean(kept.predict(X) == data.y) > 0.9
    grid = [{"eta_pos": eta} for eta in (0.9, 0.5, 0.1)]
    steps = list(kept.fit_path(X, data.y, [{**point, "eta_neg": 0.3} for point in grid], X_test=X))
    np.testing.assert_allclose(steps[1].decision, kept.decision_function(X))
    assert isinstance(steps[2].error, InfeasibleProblem)


def test_a_singular_covariance_is_an_error_of_each_step_not_of_the_path():
    """Solver "ellipsoid" prepares all sizes together; what it finds there must not end the path."""
    X, y = two_classes(m=12, n=6)  # the positive class has four points
    grid = [{"eta_pos": eta, "eta_neg": 0.9} for eta in (0.9, 0.8)]
    steps = list(ErrorRateClassifier(ridge=0, solver="ellipsoid").fit_path(X, y, grid))
    assert [type(step.error) for step in steps] == [FitError, FitError]


@pytest.mark.parametrize("uncertain", [0.0, (0.05, 0.15)])
def test_one_stated_rate_is_the_same_whichever_class_it_is_of(uncertain):
    """What is left open for one class is what the mirrored problem leaves open for the other."""
    X, y = two_classes()
    mirrored = uncertain if uncertain == 0.0 else uncertain[::-1]
    pos = ErrorRateClassifier(0.4, None, mean_uncertainty=uncertain).fit(X, y)
    neg = ErrorRateClassifier(None, 0.4, mean_uncertainty=mirrored).fit(X, 1 - y)
    np.testing.assert_allclose(neg.decision_function(X), -pos.decision_function(X), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(neg.worst_case_error_, pos.worst_case_error_[::-1], rtol=1e-6)


def awkward(seed):
    """A problem of any of the kinds that need care: its points, labels and parameters, with rates that are often near the edge."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    X, y = two_classes(seed, m=int(rng.integers(2 * n + 12, 90)), n=n, apart=rng.choice([0.7, 2.0]))
    kind = ("plain", "constant", "dependent", "far", "few")[seed % 5]
    if kind == "constant":
        X[:, 0] = 3.0
    elif kind == "dependent":
        X[:, 1] = X[:, 0]
    elif kind == "far":
        X[:, 0] += 1e9
    elif kind == "few":
        X, y = np.concatenate([X[: n // 2 + 1], X[-2 * n :]]), np.repeat([1, 0], [n // 2 + 1, 2 * n])
    given = {"ridge": (0.0, 0.1, "auto")[seed % 3], "pos_label": seed % 2}
    if seed % 7 == 0:
        given |= {"mean_uncertainty": 0.1, "covariance_uncertainty": 0.05}
    eta = float(rng.uniform(0.3, 1))
    edge = float(ErrorRateClassifier(**given).feasible_eta_neg(X, y, eta)[0])
    room = float(rng.choice([0.99, 1.001, 1.05, 1.3]))
    return X, y, given, {"eta_pos": eta, "eta_neg": min(edge * room, 1.0) if edge > 1e-3 else 0.8}


@pytest.mark.parametrize("seed", range(105))
def test_the_compiled_way_from_rows_is_what_equal_weights_make_of_them(seed):
    """Rows with weights go through numpy: their moments, their judge and their covariances are other code."""
    X, y, given, rates = awkward(seed)
    model, slow = (ErrorRateClassifier(**given, **rates) for _ in range(2))
    refused = None
    try:
        slow.fit(X, y, sample_weight=np.ones(len(y)))
    except InfeasibleProblem as error:
        refused = error.distance
    if refused is not None:
        with pytest.raises(InfeasibleProblem) as caught:
            model.fit(X, y)
        assert caught.value.distance == pytest.approx(refused, rel=1e-6, abs=1e-8)
        (step,) = ErrorRateClassifier(**given).fit_path(X, y, [rates])
        assert isinstance(step.error, InfeasibleProblem)
        return
    model.fit(X, y)
    size = np.abs(slow.coef_).max()
    np.testing.assert_allclose(model.coef_, slow.coef_, atol=1e-6 * size)
    np.testing.assert_allclose(model.worst_case_error_, slow.worst_case_error_, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(model.ridge_, slow.ridge_, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(model.shrinkage_, slow.shrinkage_, rtol=1e-9, atol=1e-14)
    assert model.solution_.objective == pytest.approx(slow.solution_.objective, rel=1e-6)
    assert (model.solution_.status, model.solution_.version) == (slow.solution_.status, slow.solution_.version)
    assert not hasattr(slow, "bound_check_")
    assert model.bound_check_.shape == (2,)
    other = {**rates, "eta_pos": min(1.0, rates["eta_pos"] * 1.1)}
    step, _ = ErrorRateClassifier(**given).fit_path(X, y, [rates, other])
    np.testing.assert_allclose(step.estimator.coef_, slow.coef_, atol=1e-6 * size)
    np.testing.assert_allclose(step.estimator.worst_case_error_, slow.worst_case_error_, rtol=1e-5, atol=1e-12)


def test_awkward_problems_are_of_every_kind():
    """What the comparison is made of: both ends, and each of its ways to go wrong."""
    ends = {}
    for seed in range(105):
        X, y, given, rates = awkward(seed)
        try:
            ErrorRateClassifier(**given, **rates).fit(X, y)
            end = "solved"
        except FitError as error:
            end = str(error.status)
        ends.setdefault(end, set()).add(seed % 5)
    assert ends["solved"] >= {0, 1, 2, 3, 4}
    assert "infeasible" in ends
