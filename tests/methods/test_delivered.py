"""A certificate is about the rule that is stored: nothing that is not finite or not optimal passes for solved."""

import numpy as np
import pytest

from mmc.methods import BSVM, HMEM, LDA, M4, MMRM, RMM, SCSVM, SMEM, SVM, TSVC, NotConverged
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


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("wrong", ["scale", "intercept", "nan"])
def test_a_rule_that_is_stored_wrongly_is_not_certified(model, wrong, monkeypatch):
    """Whatever the solver found: what counts is what `decision_function` will use."""
    store = BinaryMethod._store

    def tampered(self, fitted, space):
        if wrong == "intercept":
            object.__setattr__(fitted, "intercept", fitted.intercept + 0.3)
        else:
            factor = 1.3 if wrong == "scale" else np.nan
            for name in ("coef", "dual"):
                if getattr(fitted, name) is not None:
                    object.__setattr__(fitted, name, factor * getattr(fitted, name))
        store(self, fitted, space)

    monkeypatch.setattr(BinaryMethod, "_store", tampered)
    with pytest.raises(NotConverged, match="not certified"):
        model.fit(*blobs())
    assert not hasattr(model, "solution_")
    assert not hasattr(model, "intercept_")


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
