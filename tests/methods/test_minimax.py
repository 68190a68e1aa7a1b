"""MPM and BMPM: what the paper proves of them, what must not change them, and what they refuse."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, make_blobs

from mmc.methods import BMPM, MPM, InfeasibleProblem, NotConverged
from mmc.methods.problems.moment_pair import SingularCovariance

RBF = {"kernel": "rbf", "gamma": 0.05}
pytestmark = pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")  # with a small ridge they are due


def two_classes(n=4, m=60, seed=0, gap=1.5):
    """Two overlapping classes of different shape; class 1 has 3/2 as many points."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) @ rng.normal(size=(n, n))
    Y = rng.normal(size=(3 * m // 2, n)) @ rng.normal(size=(n, n)) + gap * rng.normal(size=n)
    return np.vstack([X, Y]), np.repeat([0, 1], [m, 3 * m // 2])


def kappa(level):
    return np.sqrt(level / (1 - level))


def accuracies(model):
    """The promised accuracies (positive, negative) of a model whose positive class is 1."""
    return 1 - model.worst_case_error_[::-1]


def linear(X, Z):
    return X @ Z.T


# -- the theorems ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("params", [{"ridge": 0}, {**RBF, "ridge": 1e-4, "ridge_kind": "w"}, {**RBF, "ridge": 1e-4}])
def test_the_level_of_mpm_gives_mpm(params):
    X, y = two_classes()
    mpm = MPM(**params).fit(X, y)
    assert mpm.worst_case_error_[0] == pytest.approx(mpm.worst_case_error_[1], abs=1e-12)
    for level in (None, accuracies(mpm)[1]):
        bmpm = BMPM(level, **params).fit(X, y)
        np.testing.assert_allclose(bmpm.worst_case_error_, mpm.worst_case_error_, atol=1e-12)
        np.testing.assert_allclose(bmpm.decision_function(X), mpm.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("level", [0.05, 0.3, 0.5])
def test_both_inequalities_are_active(level):
    """Lemma 2 and (13): b lies exactly κ(α) deviations from x̄ and κ(γ) deviations from ȳ."""
    X, y = two_classes()
    model = BMPM(level, ridge=0).fit(X, y)
    alpha, beta = accuracies(model)
    assert beta == pytest.approx(level, abs=1e-12)
    f = model.decision_function(X)
    assert f[y == 1].mean() == pytest.approx(kappa(alpha) * f[y == 1].std(), rel=1e-9)
    assert -f[y == 0].mean() == pytest.approx(kappa(level) * f[y == 0].std(), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 6),
    share=st.floats(0.01, 0.99),
    params=st.sampled_from(
        [{"ridge": 0}, {"ridge": None}, {**RBF, "ridge": 1e-3}, {**RBF, "ridge": 1e-3, "ridge_kind": "w"}]
    ),
)
def test_the_bound_holds_for_the_data_that_have_the_moments(seed, n, share, params):
    """The training data are one of the distributions that the worst case is taken over, with or without a ridge."""
    X, y = two_classes(n, 20, seed)
    level = share * MPM(**params).fit(X, y).frontier(2)[1][1]
    model = BMPM(level, **params).fit(X, y)
    wrong = model.predict(X) != y
    assert np.all([wrong[y == c].mean() <= model.worst_case_error_[c] + 1e-9 for c in (0, 1)])
    assert model.solution_.gap < 1e-6


def test_the_frontier_is_monotone_and_made_of_solutions():
    X, y = two_classes()
    pos, neg = BMPM(0.3, ridge=0).fit(X, y).frontier(41)
    assert neg[0] == pos[-1] == 0
    assert np.all(np.diff(pos) < 0)
    assert np.all(np.diff(neg) > 0)
    for i in (1, 10, 20, 39):
        np.testing.assert_allclose(accuracies(BMPM(neg[i], ridge=0).fit(X, y)), [pos[i], neg[i]], atol=1e-9)
    balanced = accuracies(MPM(ridge=0).fit(X, y))[0]
    i = np.searchsorted(neg, balanced)
    assert pos[i] <= balanced <= pos[i - 1]


@pytest.mark.parametrize("params", [{}, {**RBF, "ridge": 1e-4, "ridge_kind": "w"}])
def test_swapping_the_classes_mirrors_the_frontier(params):
    X, y = two_classes()
    model = MPM(**params).fit(X, y)
    swapped = MPM(**params, pos_label=0).fit(X, y)
    pos, neg = model.frontier(21)
    assert swapped.frontier(2)[1][1] == pytest.approx(pos[0], rel=1e-9)
    for i in (3, 10, 17):
        mirrored = BMPM(pos[i], **params, pos_label=0).fit(X, y)
        np.testing.assert_allclose(mirrored.worst_case_error_, [1 - neg[i], 1 - pos[i]], atol=1e-8)
        same = BMPM(neg[i], **params).fit(X, y)
        assert np.array_equal(mirrored.predict(X), same.predict(X))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 5))
def test_an_invertible_affine_map_changes_nothing(seed, n):
    X, y = two_classes(n, 30, seed)
    rng = np.random.default_rng(seed + 1)
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    A, shift = Q * 10 ** rng.uniform(-1, 1, n), 10 * rng.normal(size=n)  # wider, and rounding makes one singular
    for make in (MPM(ridge=0), BMPM(0.02, ridge=0)):
        try:
            plain = make.fit(X, y)
        except InfeasibleProblem:
            continue
        f, errors = plain.decision_function(X), plain.worst_case_error_
        mapped = make.fit(X @ A + shift, y)
        np.testing.assert_allclose(mapped.worst_case_error_, errors, atol=1e-9)
        np.testing.assert_allclose(mapped.decision_function(X @ A + shift), f, atol=1e-7)


# -- the ridge ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ridge", [0, 1e-3, 0.5, None, "auto"])
def test_a_linear_kernel_has_one_kind_of_ridge_however_it_is_given(ridge):
    X, y = two_classes()
    level = 0.3
    plain = BMPM(level, ridge=ridge, ridge_kind="input").fit(X, y)
    feature = BMPM(level, ridge=ridge, ridge_kind="feature").fit(X, y)
    assert np.array_equal(plain.coef_, feature.coef_)
    if ridge != 0:  # a Gram matrix leaves no room for rounding in a bound without a ridge
        called = BMPM(level, kernel=linear, ridge=ridge, ridge_kind="feature").fit(X, y)
        assert called.ridge_ == pytest.approx(plain.ridge_, rel=1e-9)
        assert called.rank_ == X.shape[1]
        np.testing.assert_allclose(called.worst_case_error_, plain.worst_case_error_, atol=1e-9)
        np.testing.assert_allclose(called.decision_function(X), plain.decision_function(X), atol=1e-6)


def test_the_w_ridge_is_the_linear_problem_on_the_columns_of_the_gram_matrix():
    """(16): the dual coefficients w are a hyperplane for the points K̃, so ridge·I belongs to that space."""
    X, y = two_classes()
    K = np.exp(-0.05 * ((X[:, None] - X) ** 2).sum(axis=2))
    kernel = BMPM(0.5, **RBF, ridge=1e-3, ridge_kind="w").fit(X, y)
    columns = BMPM(0.5, ridge=1e-3).fit(K, y)
    np.testing.assert_allclose(kernel.worst_case_error_, columns.worst_case_error_, atol=1e-9)
    np.testing.assert_allclose(kernel.decision_function(X), columns.decision_function(K), atol=1e-8)


def test_a_ridge_of_the_feature_kind_adds_the_norm_of_the_kernels_space():
    """The objective with ridge·w'Kw beside each variance, evaluated in dual coefficients, is what is optimised."""
    X, y = two_classes()
    ridge, level = 1e-2, 0.5
    model = BMPM(level, **RBF, ridge=ridge).fit(X, y)
    K = np.exp(-0.05 * ((X[:, None] - X) ** 2).sum(axis=2))

    def alpha(w):
        f = K @ w
        norm = w @ K @ w
        sx, sy = (np.sqrt(f[y == c].var() + ridge * norm) for c in (1, 0))
        return (f[y == 1].mean() - f[y == 0].mean() - kappa(level) * sy) / sx

    w = model.dual_coef_[0]
    best = alpha(w)
    assert best == pytest.approx(kappa(accuracies(model)[0]), rel=1e-9)
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2):
        assert all(alpha(w + size * np.abs(w).max() * rng.normal(size=len(w))) < best for _ in range(20))


@pytest.mark.parametrize("kind", ["w", "feature"])
def test_low_rank_is_a_restriction_that_becomes_exact(kind):
    """Fewer points can only lower the bound, which still is one; with a small tolerance nothing is lost."""
    X, y = two_classes()
    K = np.exp(-0.05 * ((X[:, None] - X) ** 2).sum(axis=2))
    exact = MPM(**RBF, ridge=1e-2, ridge_kind=kind).fit(X, y).worst_case_error_[0]
    previous = 1.0
    for tol in (1e-1, 1e-2, 1e-3):
        low = MPM(**RBF, ridge=1e-2, ridge_kind=kind, rank_tol=tol).fit(X, y)
        S, error = low.support_, low.worst_case_error_[0]
        assert len(S) == low.rank_ < len(X)
        assert exact - 1e-12 <= error <= previous
        assert np.max(1 - np.einsum("ij,ji->i", K[:, S], np.linalg.solve(K[np.ix_(S, S)], K[S]))) <= tol
        previous = error
    assert previous == pytest.approx(exact, abs=0.02)
    least = MPM(**RBF, ridge=1e-2, ridge_kind=kind, rank_tol=1e-12).fit(X, y)
    assert least.worst_case_error_[0] == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ridge_kind": "w"}, "ridge_kind='w' is about dual coefficients"),
        ({"rank_tol": 0.1}, "rank_tol is about dual coefficients"),
        ({**RBF, "ridge_kind": "input"}, "ridge_kind='input' is for the linear kernel"),
    ],
)
def test_a_ridge_that_the_kernel_cannot_have_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        MPM(**params).fit(*two_classes())


# -- solvers and grids through the estimator ------------------------------------------------------------------
@pytest.mark.parametrize("solver", ["fractional", "gradient-projection", "socp"])
@pytest.mark.parametrize("params", [{"ridge": 0}, {**RBF, "ridge": 1e-3, "ridge_kind": "w"}])
def test_every_solver_gives_the_same_classifier(solver, params):
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[:150]
    y = y[:150]
    for level in (None, 0.5):
        reference = BMPM(level, **params).fit(X, y)
        model = BMPM(level, **params, solver=solver).fit(X, y)
        np.testing.assert_allclose(model.worst_case_error_, reference.worst_case_error_, atol=1e-8)
        np.testing.assert_allclose(model.decision_function(X), reference.decision_function(X), atol=1e-3)
        assert model.solution_.gap < 1e-5
        np.testing.assert_array_equal(model.frontier(5), reference.frontier(5))


@pytest.mark.parametrize("params", [{}, {**RBF, "ridge": 1e-3}])
def test_a_path_equals_separate_fits(params):
    X, y = two_classes()
    grid = [{"min_accuracy_neg": level} for level in (0.1, 0.4, None, 0.999999)] + [{"ridge": 0.1}]
    steps = list(BMPM(**params).fit_path(X[::2], y[::2], grid, X_test=X[1::2]))
    for step, point in zip(steps, grid, strict=True):
        model = BMPM(**{**params, **point})
        if step.error is not None:
            with pytest.raises(InfeasibleProblem):
                model.fit(X[::2], y[::2])
            continue
        model.fit(X[::2], y[::2])
        np.testing.assert_allclose(step.estimator.worst_case_error_, model.worst_case_error_, rtol=1e-12)
        np.testing.assert_allclose(step.decision, model.decision_function(X[1::2]), rtol=1e-9, atol=1e-12)


def test_a_fitted_model_is_small_and_can_be_pickled():
    X, y = two_classes(3, 200)
    model = MPM(**RBF).fit(X, y)
    data = pickle.dumps(model)
    assert len(data) < 20 * X.nbytes
    np.testing.assert_array_equal(pickle.loads(data).frontier(7), model.frontier(7))


@pytest.mark.parametrize("level", [None, 0.5])
def test_a_fit_without_the_decomposition_is_the_same_but_has_no_frontier(level):
    X, y = two_classes()
    params = {**RBF, "ridge": 1e-3, "ridge_kind": "w"}
    reference = BMPM(level, **params).fit(X, y)
    model = BMPM(level, **params, solver_options={"factor": "cholesky"}).fit(X, y)
    np.testing.assert_allclose(model.worst_case_error_, reference.worst_case_error_, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(X), atol=1e-6)
    with pytest.raises(AttributeError, match="fit without it"):
        model.frontier()


# -- bad input ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("solver", ["frontier", "fractional", "gradient-projection", "socp"])
@pytest.mark.parametrize("params", [{"ridge": 0}, {**RBF, "ridge": 1e-2, "ridge_kind": "w"}])
def test_an_infeasible_level_names_the_largest_feasible_one(params, solver):
    X, y = two_classes()
    largest = MPM(**params).fit(X, y).frontier(2)[1][1]
    with pytest.raises(InfeasibleProblem, match=r"largest feasible level is 0\.\d+") as error:
        BMPM(largest + 0.01, **params, solver=solver).fit(X, y)
    assert error.value.distance == pytest.approx(0.01, abs=1e-7)
    named = float(str(error.value).split("level is ")[1].split(",")[0])
    assert named == pytest.approx(largest, abs=1e-8)
    with pytest.raises(InfeasibleProblem):
        BMPM(named + 1e-6, **params).fit(X, y)
    model = BMPM(named - 1e-6, **params).fit(X, y)
    assert 0 < accuracies(model)[0] < 1e-3


@pytest.mark.parametrize("params", [{}, {"ridge": 0}, {"ridge": 0.1}, RBF, {**RBF, "ridge_kind": "w"}])
def test_equal_means_are_infeasible(params):
    X = np.vstack([np.eye(3), -np.eye(3), np.eye(3)[::-1], -np.eye(3)[::-1]]) + 1e3
    y = np.repeat([0, 1], 6)
    for make in (MPM, BMPM):
        with pytest.raises(InfeasibleProblem, match="means of the two classes are equal"):
            make(**params).fit(X, y)


@pytest.mark.parametrize("params", [{"ridge": 0}, {**RBF, "ridge": 0}, {**RBF, "ridge": 0, "ridge_kind": "w"}], ids=str)
def test_fewer_points_than_features_without_a_ridge_is_said_to_separate(params):
    X, y = make_blobs([6, 6], 20, random_state=0)
    with pytest.raises(SingularCovariance, match=r"bound is 100 %.*Set ridge > 0"):
        MPM(**params).fit(X, y)
    model = MPM(**{**params, "ridge": 1e-6}).fit(X, y)
    assert model.worst_case_error_[0] < 1e-3
    assert model.solution_.gap < 1e-6


def test_a_class_without_variance_where_the_other_has_some_is_refused_without_a_ridge():
    X, y = two_classes()
    X[y == 1, 2] = 0.5
    with pytest.raises(SingularCovariance, match="the positive class has no variance"):
        BMPM(0.5, ridge=0).fit(X, y)
    with pytest.raises(SingularCovariance, match="the negative class has no variance"):
        BMPM(0.5, ridge=0, pos_label=0).fit(X, y)
    assert BMPM(0.5).fit(X, y).solution_.gap < 1e-6


def test_redundant_features_change_nothing_without_a_ridge():
    """Both covariances are singular, but the means differ only where there is variance: the answer is certified."""
    X, y = two_classes()
    wide = np.column_stack([X, X @ [1.0, -2, 0, 3], X[:, 0], np.full(len(X), 7.0)])
    for make in (MPM(ridge=0), BMPM(0.4, ridge=0)):
        plain = make.fit(X, y).worst_case_error_
        model = make.fit(wide, y)
        assert model.rank_ == X.shape[1]
        assert model.solution_.gap < 1e-9
        np.testing.assert_allclose(model.worst_case_error_, plain, atol=1e-9)


def test_a_ridge_that_is_lost_in_rounding_is_refused():
    X, y = make_blobs([6, 6], 20, random_state=0)
    with pytest.raises(SingularCovariance, match="ridge=1e-25 is lost in rounding"):
        MPM(ridge=1e-25).fit(X, y)


@pytest.mark.parametrize("ridge", ["auto", None])
@pytest.mark.parametrize("params", [{}, RBF, {**RBF, "ridge_kind": "w"}])
def test_the_automatic_ridge_fits_a_class_of_one_point(params, ridge):
    X, y = two_classes(3, 10)
    X, y = X[9:], y[9:]
    assert np.sum(y == 0) == 1
    model = MPM(**params, ridge=ridge).fit(X, y)
    assert model.ridge_.min() > 0
    assert model.solution_.gap < 1e-6


def test_the_certificate_catches_a_solver_that_was_told_to_stop_early():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(NotConverged, match="relative duality gap") as error:
        MPM(solver="least-squares", solver_options={"tol": 1.0}).fit(X, y)
    assert error.value.residual > 1e-4
