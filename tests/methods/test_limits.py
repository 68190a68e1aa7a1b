"""Every fit ends: with caps that follow from the problem, with limits that the user sets, and with a refusal before the work."""

import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

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
    FitError,
    InfeasibleProblem,
    NotConverged,
    training,
)
from mmc.methods.numerics import memory
from tests.fuzz import estimators

pytestmark = pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")  # what ends need not be good


def blobs(n=30, d=3, apart=1.0, seed=0):
    draw = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    return draw.normal(size=(2 * n, d)) + apart * y[:, None], y


@pytest.mark.parametrize("solver", ["secular", "ellipsoid", "socp"])
def test_the_same_points_in_both_classes_are_infeasible(solver):
    X = np.random.default_rng(0).normal(size=(10, 3))
    with pytest.raises(FitError, match="same mean"):
        ErrorRateClassifier(0.8, 0.8, solver=solver).fit(np.vstack([X, X]), np.repeat([0, 1], 10))


def test_a_kernel_that_is_not_positive_semi_definite_ends():
    X, y = blobs()
    with pytest.raises(FitError):
        ErrorRateClassifier(0.6, 0.6, kernel=lambda A, B: np.tanh(A @ B.T - 1), ridge=0.0).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [SVM(), RMM(C=0.1), SCSVM(C=0.1), M4(), MPM(), BMPM(0.3), MEMPM(), ErrorRateClassifier(0.2, 0.2)],
    ids=str,
)
@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (lambda A, B: np.tanh(A @ B.T - 1), "the kernel is not positive semi-definite"),
        (lambda A, B: A[:, :1] + A @ B.T, "the kernel is not symmetric"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "the kernel has values that are not finite"),
    ],
    ids=["indefinite", "not symmetric", "nan"],
)
def test_a_function_that_is_no_kernel_has_no_certificate(model, kernel, why):
    """In the coordinates that a solver makes of it, its negative part is lost: a gap of 1e-14 was claimed."""
    with pytest.raises(FitError, match=why):
        clone(model).set_params(kernel=kernel).fit(*blobs())


def test_of_many_points_some_tell_that_a_function_is_no_kernel(monkeypatch):
    monkeypatch.setattr(training, "WHOLE", 0)
    with pytest.raises(FitError, match="the kernel is not positive semi-definite"):
        MPM(kernel=lambda A, B: np.tanh(A @ B.T - 1), ridge=0.1).fit(*blobs())


def test_a_kernel_that_overflows_is_told_in_words():
    X, y = blobs()
    with pytest.raises(FitError, match="kernel 'poly' has values that are not finite on these points"):
        SVM(kernel="poly", degree=30, gamma=1.0).fit(1e12 * X, y)
    with pytest.raises(NotConverged, match=r"not finite; feature \d lies at 1e\+09"):
        SVM(kernel="poly", degree=3, gamma=0.5).fit(X + 1e9, y)


@pytest.mark.parametrize("cls", [SVM, BSVM, RMM])
def test_points_that_are_all_0_have_a_machine(cls):
    """cvxpy takes no variable without entries."""
    model = cls(solver="cvxpy").fit(np.zeros((20, 2)), np.repeat([0, 1], 10))
    assert model.solution_.objective == pytest.approx(
        cls().fit(np.zeros((20, 2)), np.repeat([0, 1], 10)).solution_.objective
    )


def test_rbf_on_time_stamps_ends():
    X, y = blobs()
    X[:, 0] = 1.7e9 + 1e6 * X[:, 0]
    model = ErrorRateClassifier(0.9, 0.9, kernel="rbf", gamma=0.5, ridge=1e-3).fit(X, y)
    assert model.solution_.gap < 1e-4


def test_an_alternation_without_end_says_how_far_it_came():
    draw = np.random.default_rng(0)
    X, y = np.hstack([draw.normal(size=(40, 5))] * 6) + 1e-3 * draw.normal(size=(40, 30)), np.repeat([0, 1], 20)
    with pytest.raises(NotConverged, match=r"training points for \d+ sets.*max_per_set"):
        SMEM(C=10.0, eps=1e-3, solver_options={"max_per_set": 4}).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        SMEM(C=10.0, eps=1e-9, solver_options={"max_seconds": 0.0}),
        MMRM(solver="column-generation", solver_options={"max_seconds": 0.0, "gap": -1.0}),
        BMPM(0.6, ridge=1e-3, solver="gradient-projection", solver_options={"max_seconds": 0.0}),
    ],
    ids=str,
)
def test_max_seconds(model):
    with pytest.raises(NotConverged, match=r"max_seconds=0 .* was "):
        model.fit(*blobs(60))


def test_a_saturated_kernel_is_told_in_words():
    draw, y = np.random.default_rng(1), np.repeat([0, 1], 20)
    X = draw.normal(size=(40, 3)) + y[:, None]
    with pytest.raises(NotConverged, match="the kernel has the same value but for rounding"):
        MMRM(kernel="sigmoid", gamma=3.0, coef0=25.0).fit(X, y)


def test_smem_is_certified_where_its_cone_program_makes_little_progress():
    X, y = load_iris(return_X_y=True)
    model = SMEM().fit(X[:100], y[:100])
    assert model.solution_.gap < 1e-4
    assert model.score(X[:100], y[:100]) == 1.0


def test_smem_with_more_features_than_points_gives_up_at_1500_training_points():
    draw, y = np.random.default_rng(0), np.repeat([0, 1], 25)
    X = np.hstack([draw.normal(size=(50, 5))] * 6) + 1e-3 * draw.normal(size=(50, 30))
    with pytest.raises(NotConverged, match=r"with 1[45]\d\d training points for 49 sets.*a larger eps"):
        SMEM(C=10.0, eps=1e-3).fit(X, y)


@pytest.mark.parametrize("model", [LDA(), SVM(), ErrorRateClassifier(0.8, 0.8), HMEM()], ids=str)
@pytest.mark.parametrize(("factor", "message"), [(1e160, "squares overflow"), (1e-310, "varies by")])
def test_features_whose_squares_double_precision_does_not_hold(model, factor, message):
    X, y = blobs(apart=20.0)
    X[:, 1] *= factor
    with pytest.raises(ValueError, match=rf"feature 1 .*{message}"):
        model.fit(X, y)


@pytest.mark.parametrize("model", [RMM(solver="qp"), BSVM(solver="qp"), HMEM(), SMEM(), TSVC(), SCSVM()], ids=str)
def test_what_does_not_fit_into_memory_is_refused_before_the_work(model, monkeypatch):
    """As on a machine with a hundred kilobytes, where these points would need some more."""
    X, y = blobs(100, apart=20.0)
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: type("Memory", (), {"available": 100_000}))
    with pytest.raises(FitError, match=r"would take .* of memory, and 100 kB are free: (take|give)"):
        model.fit(X, y)


@pytest.mark.parametrize("cls", [SVM, BSVM, RMM])
def test_a_program_in_cvxpy_asks_for_the_memory_of_the_whole_kernel(cls, monkeypatch):
    """It took the stand-in for a large Gram matrix for a matrix."""
    X, y = blobs(100)
    monkeypatch.setattr(training, "WHOLE", 0)
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: type("Memory", (), {"available": 100_000}))
    with pytest.raises(FitError, match="the Gram matrix of 200 points"):
        cls(solver="cvxpy").fit(X, y)


def test_sets_that_may_overlap_are_counted_before_their_distances_are_made(monkeypatch):
    X, y = blobs(100, apart=20.0)
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: type("Memory", (), {"available": 100_000}))
    with pytest.raises(FitError, match="the distances between 200 sets would take"):
        HMEM().fit(X, y)


@pytest.mark.parametrize(("size", "words"), [(12.0, "12 B"), (8e12, "8 TB"), (2.5e9, "2.5 GB")])
def test_amounts(size, words):
    assert memory.amount(size) == words


def test_pivots_that_lead_in_a_circle_end():
    """A program of 67 rows: rounding kept HiGHS in it for 40 seconds. The other solver finds what is wrong: a point has both labels."""
    X, y, _ = estimators.make(423, 0)
    model = MMRM(C=np.inf, kernel="poly", degree=2, gamma=1e-6)
    start = time.process_time()
    with pytest.raises(NotConverged, match="standardise the features"):
        model.set_params(solver="lp").fit(X, y)
    with pytest.raises(InfeasibleProblem, match="not separable"):
        model.set_params(solver="column-generation").fit(X, y)
    assert time.process_time() - start < 20


def test_the_svms_of_an_alternation_end():
    """In many coordinates and with a large C, hundreds of SVMs would each take a second."""
    X, y, _ = estimators.make(448, 0)
    start = time.process_time()
    with pytest.raises(NotConverged, match="take a smaller C or gamma"):
        SMEM(kernel="poly", degree=2, gamma=1000.0).fit(X, y)
    assert time.process_time() - start < 20


def test_pairs_that_gain_only_by_rounding_end():
    """A multiplier was paired with itself, without end."""
    X, y, _ = estimators.make(686, 0)
    model = M4(degree=2, gamma=1000.0, kernel="poly", solver="newton").fit(X, y)
    assert model.solution_.gap <= 1e-4
