"""The banded SVM and the relative margin machine: optimality, independent solvers, and the limits that tie them together."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from mmc.methods import BSVM, RMM, SVM, NotConverged

BANDS = [  # C1, C2, rho1, rho2
    (10.0, 100.0, 1.0, 1.5),
    (2.0, 2.0, 1.0, 1.5),
    (50.0, 0.5, 0.5, 3.0),
    (1.0, 0.0, 1.0, 2.0),
    (0.05, 0.2, 1.0, 1.1),
]
KERNELS = [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.5}]


def by_kernel(kernel):
    return kernel["kernel"]


def data(n=100, seed=0):
    return make_classification(
        n, 4, n_informative=3, n_redundant=0, n_clusters_per_class=1, flip_y=0.1, weights=[0.6], random_state=seed
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=by_kernel)
@pytest.mark.parametrize("band", BANDS, ids=str)
def test_optimality_conditions(band, kernel):
    """(3.25): where a multiplier is zero, free or at its bound, the decision value says so."""
    X, y = data(seed=2)
    C1, C2, rho1, rho2 = band
    model = BSVM(C1, C2, rho1, rho2, **kernel).fit(X, y)
    margin = (2 * y - 1) * model.decision_function(X)
    alpha, theta = model.alpha_, model.theta_
    assert np.all(alpha * theta == 0)
    bounded = np.setdiff1d(model.alpha_support_, model.alpha_free_)
    assert np.all(margin[bounded] <= rho1 + 1e-5)
    np.testing.assert_allclose(margin[model.alpha_free_], rho1, atol=1e-5)
    np.testing.assert_allclose(margin[model.theta_free_], rho2, atol=1e-5)
    assert np.all(margin[np.setdiff1d(model.theta_support_, model.theta_free_)] >= rho2 - 1e-5)
    assert np.all(margin[alpha == 0] >= rho1 - 1e-5)
    if C2:
        assert np.all(margin[theta == 0] <= rho2 + 1e-5)
    else:
        assert not len(model.theta_support_)
    if kernel["kernel"] == "rbf":
        expected = ((alpha - theta) * (2 * y - 1))[model.support_]
        np.testing.assert_allclose(model.dual_coef_[0], expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=by_kernel)
@pytest.mark.parametrize("band", BANDS, ids=str)
def test_slacks_and_their_multipliers(band, kernel):
    """(3.25): ξ and η are feasible, the objective (2.3) is theirs, and μξ = ψη = 0."""
    X, y = data(seed=2)
    C1, C2, rho1, rho2 = band
    model = BSVM(C1, C2, rho1, rho2, **kernel).fit(X, y)
    margin = (2 * y - 1) * model.decision_function(X)
    assert np.all(model.xi_ >= 0)
    assert np.all(model.eta_ >= 0)
    assert np.all(model.xi_ >= rho1 - margin - 1e-9)
    assert np.all(model.eta_ >= margin - rho2 - 1e-9)
    signed = (model.alpha_ - model.theta_) * (2 * y - 1)
    square = signed @ (margin * (2 * y - 1) - model.intercept_)
    loss = C1 * model.xi_.sum() + C2 * model.eta_.sum()
    assert square / 2 + loss == pytest.approx(model.solution_.objective, rel=1e-9)
    np.testing.assert_allclose(model.mu_ * model.xi_, 0, atol=1e-5 * C1)
    np.testing.assert_allclose(model.psi_ * model.eta_, 0, atol=1e-5 * max(C2, 1))


@pytest.mark.parametrize("solver", ["smo", "libsvm", "qp", "interior-point"])
@pytest.mark.parametrize("kernel", KERNELS, ids=by_kernel)
def test_without_the_upper_penalty_it_is_scikit_learns_svc(kernel, solver):
    X, y = data()
    model = BSVM(C1=3.0, C2=0.0, rho1=1.0, rho2=1.5, solver=solver, **kernel).fit(X, y)
    peer = SVC(C=3.0, tol=1e-6, **kernel).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-4)


def test_the_band_and_the_costs_have_a_unit():
    """f/ρ1 depends on C·ρ only through C/ρ1 and ρ2/ρ1."""
    X, y = data()
    one = BSVM(4.0, 8.0, 1.0, 1.5, kernel="rbf", gamma=0.5).fit(X, y)
    ten = BSVM(40.0, 80.0, 10.0, 15.0, kernel="rbf", gamma=0.5).fit(X, y)
    np.testing.assert_allclose(10 * one.decision_function(X), ten.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS, ids=by_kernel)
def test_the_relative_margin_machine_is_the_limit_of_the_banded_svm(kernel):
    X, y = data()
    hard = RMM(C=5.0, B=1.3, **kernel).fit(X, y)
    soft = BSVM(C1=5.0, C2=1e6, rho1=1.0, rho2=1.3, **kernel).fit(X, y)
    np.testing.assert_allclose(hard.decision_function(X), soft.decision_function(X), atol=1e-4)
    assert hard.solution_.objective == pytest.approx(soft.solution_.objective, rel=1e-5)
    assert len(hard.theta_support_) > 0


@pytest.mark.parametrize("B", [1.05, 1.5, 4.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=by_kernel)
def test_the_bound_is_hard(kernel, B):
    X, y = data(seed=3)
    model = RMM(C=10.0, B=B, **kernel).fit(X, y)
    margin = (2 * y - 1) * model.decision_function(X)
    assert np.max(margin) <= B * (1 + 1e-12)
    free = SVM(C_pos=10.0, C_neg=10.0, **kernel).fit(X, y)
    assert model.solution_.objective >= free.solution_.objective * (1 - 1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=by_kernel)
def test_a_bound_that_nothing_meets_leaves_the_svm(kernel):
    X, y = data()
    svm = SVM(C_pos=2.0, C_neg=2.0, **kernel).fit(X, y)
    B = 1.01 * np.max((2 * y - 1) * svm.decision_function(X))
    model = RMM(C=2.0, B=B, **kernel).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svm.decision_function(X), atol=1e-4)
    assert not len(model.theta_support_)


@pytest.mark.parametrize("method", [BSVM(kernel="rbf", gamma=0.5), RMM(kernel="rbf", gamma=0.5)], ids=["BSVM", "RMM"])
def test_a_path_is_the_separate_fits(method):
    X, y = data(60)
    X_test, _ = data(20, seed=5)
    names = {"BSVM": ("C1", "rho2"), "RMM": ("C", "B")}[type(method).__name__]
    grid = [dict(zip(names, point, strict=True)) for point in ((0.1, 1.2), (1.0, 1.2), (1.0, 3.0))]
    for step in method.fit_path(X, y, grid, X_test):
        alone = type(method)(**{**method.get_params(), **step.params}).fit(X, y)
        np.testing.assert_allclose(step.decision, alone.decision_function(X_test), atol=1e-10)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BSVM(rho1=1.5, rho2=1.5), "rho2 must be greater than rho1: got rho1=1.5, rho2=1.5"),
        (BSVM(rho1=0.0), "'rho1' parameter of BSVM must be a float in the range"),
        (BSVM(C1=0.0), "'C1' parameter of BSVM must be a float in the range"),
        (BSVM(C2=-1.0), "'C2' parameter of BSVM must be a float in the range"),
        (RMM(B=1.0), "B must be greater than 1"),
        (RMM(C=0.0), "'C' parameter of RMM must be a float in the range"),
    ],
    ids=lambda v: str(v) if not isinstance(v, str) else "",
)
def test_bad_parameters_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*data(20))


def test_stopped_short():
    X, y = data()
    with pytest.raises(NotConverged, match="raise max_iter"):
        BSVM(kernel="rbf", gamma=0.5, solver_options={"max_iter": 2}).fit(X, y)
    with pytest.raises(NotConverged, match="relative duality gap"):
        BSVM(kernel="rbf", gamma=0.5, solver="qp", solver_options={"max_iter": 2}).fit(X, y)
