"""The programs as the papers print them, written in cvxpy: every other solver is compared with them on random problems."""

import subprocess
import sys
from math import inf

import numpy as np
import pytest
from sklearn.datasets import make_classification

from mmc.methods import CATALOGUE, HMEM, M4, MMRM, MPM, SVM, ErrorRateClassifier, InfeasibleProblem, NotConverged

# A second problem of each method besides its defaults, and what brings the iterative solvers close enough to compare.
OTHER = {
    "error-rate": {"eta_pos": 0.7, "eta_neg": 0.9},
    "mpm": {"ridge": 1e-2},
    "bmpm": {"min_accuracy_neg": 0.2, "ridge": 1e-2},
    "mmrm": {"C": 1.5},
    "rmm": {"C": 20.0, "B": 1.2},
    "m4": {"C": 0.1, "ridge": 1e-2},
    "svm": {"C_pos": 5.0, "C_neg": 0.3},
    "hmem": {"covering": {"fraction": 0.1}},
    "smem": {"C": 10.0},
    "bsvm": {"C1": 20.0, "C2": 3.0, "rho1": 0.5, "rho2": 1.2},
}
CLOSE = {
    "error-rate": {"ridge": 1e-2},
    "hmem": {"eps": 1e-5, "novelty": "own"},
    "smem": {"eps": 1e-5, "novelty": "own", "slack": "shared"},
}
OPTIONS = {
    ("error-rate", "ellipsoid"): {"tol": 1e-7},
    ("m4", "sequential-socp"): {"tol": 1e-11},
    ("mmrm", "column-generation"): {"gap": 1e-9},
}
pytestmark = pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")  # samples are small here
WRITTEN = [entry for entry in CATALOGUE.values() if "cvxpy" in entry.solvers]
FAST = [(entry, solver) for entry in WRITTEN for solver in entry.solvers if solver != "cvxpy"]


def points(seed, apart=0.0):
    rng = np.random.default_rng(seed)
    X, y = make_classification(
        int(rng.integers(40, 70)), 4, n_redundant=0, class_sep=1.5, flip_y=0.05, weights=[0.4], random_state=seed
    )
    return X + apart * y[:, None], y


def test_every_convex_method_has_a_program():
    others = {
        "lda",
        "tsvc",
        "sc-svm",
        "mempm",
    }  # in closed form, an alternation, plain SVMs, and a sum that is not concave
    assert {entry.key for entry in WRITTEN} == set(CATALOGUE) - others


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", [{}, {"kernel": "rbf", "gamma": 0.2}], ids=["linear", "rbf"])
@pytest.mark.parametrize(("entry", "solver"), FAST, ids=lambda v: v if isinstance(v, str) else v.key)
def test_fast_solvers_find_what_cvxpy_finds(entry, solver, kernel, seed):
    if kernel and entry.key in ("hmem", "smem"):
        pytest.skip("(5) and (6) are cone programs for a linear kernel only")
    X, y = points(seed, apart=12.0 if entry.key == "hmem" else 0.0)
    for params in ({}, OTHER[entry.key]):
        params = {**CLOSE.get(entry.key, {}), **params, **kernel}
        written = entry.load()(solver="cvxpy", **params).fit(X, y)
        fast = entry.load()(solver=solver, solver_options=OPTIONS.get((entry.key, solver)), **params).fit(X, y)
        assert written.solution_.gap <= 1e-6
        assert fast.solution_.objective == pytest.approx(written.solution_.objective, rel=2e-6)
        f, g = written.decision_function(X), fast.decision_function(X)
        np.testing.assert_allclose(g, f, atol=1e-3 * np.abs(f).max())


@pytest.mark.parametrize("backend", ["ECOS", "SCS"])
@pytest.mark.parametrize("entry", WRITTEN, ids=lambda e: e.key)
def test_another_backend_finds_the_same(entry, backend):
    X, y = points(5, apart=12.0 if entry.key == "hmem" else 0.0)
    params = CLOSE.get(entry.key, {})
    one, other = (
        entry.load()(solver="cvxpy", solver_options=options, **params).fit(X, y)
        for options in (None, {"backend": backend, "tol": 1e-9, "gap": 1e-4})
    )
    assert backend in other.solution_.version
    assert other.solution_.gap <= 1e-4
    assert other.solution_.objective == pytest.approx(one.solution_.objective, rel=2e-4)


@pytest.mark.parametrize("entry", WRITTEN, ids=lambda e: e.key)
def test_a_point_that_proves_too_little_is_not_taken(entry):
    X, y = points(0, apart=12.0 if entry.key == "hmem" else 0.0)
    with pytest.raises(NotConverged):
        entry.load()(solver="cvxpy", solver_options={"tol": 1e-3, "gap": 1e-300}).fit(X, y)


def test_a_backend_that_is_not_there_is_named_with_the_nearest():
    X, y = points(0)
    with pytest.raises(ValueError, match="cvxpy does not reach 'CLARABELL' here: did you mean 'CLARABEL'"):
        SVM(solver="cvxpy", solver_options={"backend": "CLARABELL"}).fit(X, y)


def test_a_backend_that_cannot_take_the_cones_says_so():
    X, y = points(0)
    with pytest.raises(NotConverged, match="HIGHS ended with"):
        MPM(solver="cvxpy", solver_options={"backend": "HIGHS"}).fit(X, y)


@pytest.mark.parametrize(
    ("method", "solver", "rel"),
    [
        (ErrorRateClassifier(0.01, 0.01), "secular", 1e-6),
        (MMRM(C=inf), "lp", 1e-6),
        (M4(C=inf), "sequential-socp", 1e-6),
        (HMEM(), "socp", 1e-4),
    ],
    ids=lambda v: type(v).__name__,
)
def test_infeasibility_is_told_with_the_same_distance(method, solver, rel):
    X, y = points(1)
    found = []
    for name in ("cvxpy", solver):
        with pytest.raises(InfeasibleProblem) as caught:
            method.set_params(solver=name).fit(X, y)
        found.append(caught.value.distance)
    assert found[0] == pytest.approx(found[1], rel=rel)


def test_cvxpy_is_imported_only_when_asked_for():
    code = (
        "import sys, numpy as np; from mmc.methods import CATALOGUE\n"
        "X = np.random.default_rng(0).normal(size=(40, 3)); y = np.arange(40) % 2; X[:, 0] += 9 * y\n"
        "[entry.load()().fit(X, y) for entry in CATALOGUE.values()]; assert 'cvxpy' not in sys.modules\n"
        "CATALOGUE['svm'].load()(solver='cvxpy').fit(X, y); assert 'cvxpy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
