"""A certificate is about the rule that is stored: nothing that is not finite or not optimal passes for solved."""

import numpy as np
import pytest

from mmc.methods import (
    BMPM,
    BSVM,
    HMEM,
    LDA,
    M4,
    MEMPM,
    MMRM,
    MPM,
    RMM,
    SCSVM,
    SMEM,
    SVM,
    TSVC,
    ErrorRateClassifier,
    Moments,
    NotConverged,
)
from mmc.methods.base import BinaryMethod


def blobs(n=40, d=3, apart=1.0, seed=0):
    draw = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    return draw.normal(size=(2 * n, d)) + apart * y[:, None], y


RBF = {"kernel": "rbf", "gamma": 0.3}
MODELS = [
    SVM(),
    SVM(**RBF),
    BSVM(),
    BSVM(**RBF),
    RMM(),
    MMRM(),
    MMRM(**RBF),
    M4(),
    M4(**RBF),
    LDA(),
    TSVC(),
    SMEM(),
    SCSVM(),
]
BY_MOMENTS = [
    ErrorRateClassifier(0.9, 0.9),
    ErrorRateClassifier(mean_uncertainty=0.1, covariance_uncertainty=0.01),
    MPM(),
    MPM(ridge=0.0, mean_uncertainty=(0.1, 0.2)),
    BMPM(0.3),
    MEMPM(0.6),
    LDA(),
]
IN_KERNELS = [
    ErrorRateClassifier(0.6, 0.6, **RBF),
    ErrorRateClassifier(0.6, 0.6, ridge=0.0, **RBF),
    ErrorRateClassifier(0.6, 0.6, solver="ellipsoid", **RBF),
    MPM(**RBF),
    MPM(ridge=1e-3, ridge_kind="w", **RBF),
    MPM(ridge=1e-3, rank_tol=1e-3, **RBF),
    BMPM(0.3, **RBF),
    MEMPM(0.6, **RBF),
]
WEIGHED = [SVM(), SVM(**RBF), BSVM(), RMM(), *BY_MOMENTS, *IN_KERNELS]
pytestmark = pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")


@pytest.fixture(params=["scale", "turn", "intercept", "nan"])
def tampering(request, monkeypatch):
    """Whatever the solver found, another rule is stored."""
    wrong, store = request.param, BinaryMethod._store

    def tampered(self, fitted, space):
        if wrong == "intercept":
            object.__setattr__(fitted, "intercept", fitted.intercept + 0.3)
        else:
            for name in ("coef", "dual"):
                right = getattr(fitted, name)
                if right is not None:
                    first = np.arange(len(right)) < len(right) / 2
                    factor = {"scale": 1.3, "turn": np.where(first, 1.3, 1.0), "nan": np.nan}[wrong]
                    object.__setattr__(fitted, name, factor * right)
        store(self, fitted, space)

    monkeypatch.setattr(BinaryMethod, "_store", tampered)
    return wrong


@pytest.mark.usefixtures("tampering")
@pytest.mark.parametrize("model", [*MODELS, *BY_MOMENTS, *IN_KERNELS], ids=str)
def test_a_rule_that_is_stored_wrongly_is_not_certified(model):
    """What counts is what `decision_function` will use."""
    with pytest.raises(NotConverged, match="not certified"):
        model.fit(*blobs())
    assert not hasattr(model, "solution_")
    assert not hasattr(model, "intercept_")


@pytest.mark.usefixtures("tampering")
@pytest.mark.parametrize("model", WEIGHED, ids=str)
def test_a_fit_with_weights_is_judged_too(model):
    X, y = blobs()
    with pytest.raises(NotConverged, match="not certified"):
        model.fit(X, y, sample_weight=np.random.default_rng(1).uniform(0.0, 2.0, len(y)))


@pytest.mark.parametrize("model", BY_MOMENTS, ids=str)
def test_a_fit_from_moments_alone_is_judged_too_and_names_the_scale_at_fault(model, tampering):
    if isinstance(model, LDA) and tampering == "scale":
        return  # the threshold of moments is 0 seen from between the means, and a discriminant has no scale
    X, y = blobs()
    with pytest.raises(NotConverged, match="not certified"):
        model.fit_moments(Moments.of(X, y))
    if model.ridge == 0:
        with pytest.raises(NotConverged, match=r"feature \d varies by .* standardise"):
            model.fit_moments(Moments.of(X * [1.0, 1e-9, 1e6], y))


def spreads(model, f, y, weight):
    """Return means and deviations of f as the regularised moments have them, written down once more."""
    dual = getattr(model, "dual_coef_", None)
    if dual is None:
        square = model.coef_[0] @ model.coef_[0]
    else:
        Z = model.support_vectors_
        square = dual[0] @ np.exp(-model.gamma_ * ((Z[:, None] - Z) ** 2).sum(axis=2)) @ dual[0]
        if getattr(model, "ridge_kind", "") == "w":
            square = dual[0] @ dual[0]
    found = []
    for place, label in enumerate((0, 1)):
        part, w = f[y == label], weight[y == label]
        mean = np.average(part, weights=w)
        variance = np.average((part - mean) ** 2, weights=w)
        rho = model.covariance_uncertainty
        spread = (1 - model.shrinkage_[place]) * variance + (model.ridge_[place] + rho) * square
        found.append((mean, np.sqrt(spread)))
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [*BY_MOMENTS[:-1], *IN_KERNELS], ids=str)
def test_bounds_and_objective_are_those_of_the_decision_values(model, weighted):
    X, y = blobs()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    model.fit(X, y, sample_weight=weight if weighted else None)
    (low, s_neg), (high, s_pos) = spreads(model, model.decision_function(X), y, weight)
    nu_pos, nu_neg = np.broadcast_to(model.mean_uncertainty, 2)
    sizes = np.maximum([-low / s_neg - nu_neg, high / s_pos - nu_pos], 0)
    assert model.worst_case_error_ == pytest.approx(1 / (1 + sizes**2), rel=1e-9)
    if isinstance(model, MEMPM):
        worth = model.weight_pos * (1 - model.worst_case_error_[1])
        worth += (1 - model.weight_pos) * (1 - model.worst_case_error_[0])
    elif isinstance(model, ErrorRateClassifier):
        return
    else:
        worth = sizes[1] if isinstance(model, BMPM) else sizes.min()
    assert model.solution_.objective == pytest.approx(worth, rel=1e-9)


def test_hmem_at_1e7_separates_what_is_apart():
    X, y = blobs(30, 2, apart=20.0)
    model = HMEM().fit(X + 1e7, y)
    assert model.score(X + 1e7, y) == 1.0
    assert model.solution_.gap < 1e-3


@pytest.mark.parametrize("C2", [1e-10, 1e3, 1e10, 1e14])
@pytest.mark.parametrize("solver", ["libsvm", "qp", "interior-point"])
def test_bsvm_with_extreme_ratios_claims_its_own_objective_or_names_the_cost(C2, solver):
    X, y = blobs()
    sign, refusal = 2.0 * y - 1, ""
    try:
        model = BSVM(C2=C2, solver=solver).fit(X, y)
    except NotConverged as error:
        refusal = str(error)
    if refusal:
        assert f"C2={C2:.3g} is extreme" in refusal
        assert C2 > 1e3
        return
    margins = sign * model.decision_function(X)
    value = model.coef_[0] @ model.coef_[0] / 2 + np.maximum(1 - margins, 0).sum()
    value += C2 * np.maximum(margins - 1.5, 0).sum()
    assert model.solution_.objective == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_m4_with_a_kernel_claims_what_its_decision_values_show(seed):
    X, y = blobs(25, 2, seed=seed)
    C = 10.0**seed
    try:
        model = M4(C=C, kernel="poly", gamma=1.0, degree=5, ridge=1e-9).fit(X, y)
    except NotConverged:
        return
    f = model.decision_function(X)
    from mmc.methods.numerics.kernels import KernelSpec

    K = KernelSpec("poly", 1.0, 5, 1.0)(X, X)
    dual = np.zeros(len(X))
    dual[model.support_] = model.dual_coef_[0]
    s_x, s_y = (np.sqrt(f[y == side].var() + 1e-9 * max(dual @ K @ dual, 0)) for side in (1, 0))
    rho = 2 / (s_x + s_y)
    slack = np.maximum(rho * np.where(y == 1, s_x, s_y) - (2 * y - 1) * f, 0).sum()
    assert model.solution_.objective == pytest.approx(2 / rho + C * slack, rel=1e-4)


def test_the_error_names_the_scale_at_fault():
    X, y = blobs()
    X[:, 1] *= 1e-9
    with pytest.raises(NotConverged, match=r"feature \d varies by .* standardise"):
        RMM(C=1e12, solver="libsvm").fit(X * 1e6, y)


@pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")
def test_a_class_that_is_one_point_costs_no_certificate():
    """It has no spread, and rounding has nothing to add to it."""
    X, y = np.random.default_rng(0).normal(size=(32, 3)), np.repeat([0, 1], 16)  # 16 equal numbers have their mean
    X[y == 1] = [3.0, 3.0, 3.0]
    model = ErrorRateClassifier(0.5, 0.5, ridge=0).fit(X, y)
    assert model.solution_.gap < 1e-6
    assert model.worst_case_error_[1] < 1e-9
