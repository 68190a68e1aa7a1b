"""A kernel matrix on demand is the matrix, for whatever part of it is kept; and methods on many points never make it whole."""

from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import make_classification

from mmc.methods import BSVM, MMRM, RMM, SVM, mmrm, stored, training
from mmc.methods.numerics import gram
from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import KernelSpec

KERNELS = [KernelSpec("linear"), KernelSpec("rbf", 0.3), KernelSpec("poly", 0.5, 3, 1.0)]
ROWS = 7  # that are made in one go


@pytest.fixture
def X(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 4))
    monkeypatch.setattr(gram, "_SLAB", 8 * len(X) * ROWS)
    return X


def counting(X):
    """Return a linear kernel, and the count of how often it made the row of each point: the first feature tells them apart."""
    made, number = Counter(), {x: i for i, x in enumerate(X[:, 0])}

    def kernel(A, B):
        assert len(A) * len(B) <= ROWS * len(X)
        made.update(number[x] for x in A[:, 0])
        return A @ B.T

    return KernelSpec(kernel), made


@pytest.mark.parametrize("rows", [0, 1, ROWS, 30, 60])
@pytest.mark.parametrize("spec", KERNELS, ids=lambda spec: spec.kernel)
def test_it_is_the_whole_matrix(spec, rows, X):
    rng = np.random.default_rng(1)
    whole, K = spec(X, X), LazyGram(spec, X, memory=8 * len(X) * rows)
    near = {"rtol": 1e-12, "atol": 1e-12 * np.abs(whole).max()}
    assert len(K) == len(X)
    np.testing.assert_allclose(K.diagonal(), np.diag(whole), **near)
    for share in (0.1, 0.5, 1.0, 0.0, 0.3):  # what was kept for one product serves the next
        a = rng.normal(size=len(X)) * (rng.random(len(X)) < share)
        np.testing.assert_allclose(K @ a, whole @ a, **near)
    A = rng.normal(size=(len(X), 3))
    np.testing.assert_allclose(K @ A, whole @ A, **near)
    some, others = rng.permutation(len(X))[:23], rng.integers(0, len(X), 9)
    np.testing.assert_allclose(K[np.ix_(some, others)], whole[np.ix_(some, others)], **near)


def test_a_row_is_made_once_while_it_fits(X):
    spec, made = counting(X)
    K, rng = LazyGram(spec, X), np.random.default_rng(2)
    asked = set()
    for _ in range(6):
        support = rng.permutation(len(X))[:20]
        a = np.zeros(len(X))
        a[support] = rng.normal(size=20)
        K @ a
        asked.update(support)
        assert made == dict.fromkeys(asked, 1)


def test_dense_columns_make_each_value_once(X):
    made = []

    def kernel(A, B):
        made.append(len(A) * len(B))
        return A @ B.T

    A = np.random.default_rng(3).normal(size=(len(X), 2))
    np.testing.assert_allclose(LazyGram(KernelSpec(kernel), X) @ A, X @ (X.T @ A), rtol=1e-12, atol=1e-12)
    assert sum(made) <= 0.7 * len(X) ** 2  # half, and the tiles on the diagonal
    assert max(made) <= ROWS * len(X)


@pytest.mark.parametrize("rows", [0, 6, 7, 8, 20, 21, 59, 60])
def test_the_rows_that_do_not_fit_are_made_anew_and_no_more_is_kept_than_was_allowed(rows, X):
    spec, made = counting(X)
    K = LazyGram(spec, X, memory=8 * len(X) * rows)
    for product in range(1, 4):
        K @ np.ones(len(X))
        kept = [i for i in made if made[i] == 1]
        assert product == 1 or rows - ROWS < len(kept) <= rows
        assert set(made.values()) <= {1, product}
        assert sum(part.nbytes for _, part in K._slabs) <= K.memory


def test_a_lower_bound_frees_rows(X):
    K = LazyGram(KernelSpec("rbf", 0.3), X)
    problem, _, _ = mmrm._of_kernel(K, np.repeat([1.0, -1.0], 30), np.full(60, 1 / 30), whole=False)
    K @ np.ones(len(X))
    problem.matrix.limit(8 * len(X) * 10)
    K @ np.ones(len(X))
    assert sum(part.nbytes for _, part in K._slabs) <= 8 * len(X) * 10


N = 800
RBF, POLY = {"kernel": "rbf", "gamma": 0.03}, {"kernel": "poly", "gamma": 0.1, "degree": 2}
METHODS = [
    SVM(C_pos=2.0, C_neg=1.0),
    RMM(C=2.0, B=2.0, solver="libsvm"),
    BSVM(C1=2.0, C2=2.0, rho2=1.3),
    BSVM(C1=2.0, C2=0.05, rho2=1.3),
    MMRM(C=10.0, solver="column-generation", solver_options={"memory": 1e5, "batch": 100}),
]


@pytest.fixture(scope="module")
def many():
    shape = {"n_informative": 4, "n_redundant": 0, "n_clusters_per_class": 1, "class_sep": 2.0, "flip_y": 0.02}
    X, y = make_classification(N + 200, 4, random_state=0, **shape)
    return X[:N], np.where(y > 0, 1, -1)[:N], X[N:]


@pytest.fixture
def largest(monkeypatch):
    """Make every matrix of more than a 50th of the whole one too large; return a list of the sizes of those that are made."""
    monkeypatch.setattr(mmrm, "_SMALL", 0)
    for module in (stored, training):
        monkeypatch.setattr(module, "WHOLE", 8 * N * N // 50)
    monkeypatch.setattr(gram, "_SLAB", 8 * N * N // 50)
    sizes, call = [], KernelSpec.__call__

    def recorded(self, X, Z):
        sizes.append(len(X) * len(Z))
        return call(self, X, Z)

    monkeypatch.setattr(KernelSpec, "__call__", recorded)
    return sizes


def value(model, X, y):
    """Return the objective of a decision rule, from its values on the training points; ‖w‖² is dual'K dual."""
    margin = y * model.decision_function(X)
    if isinstance(model, MMRM):
        C = model.C / min(np.sum(y > 0), np.sum(y < 0))
        return margin[y > 0].mean() + margin[y < 0].mean() + C * np.maximum(1 - margin, 0).sum()
    square = model.dual_coef_[0] @ (model.decision_function(model.support_vectors_) - model.intercept_[0]) / 2
    if isinstance(model, SVM):
        return square + np.where(y > 0, model.C_pos, model.C_neg) @ np.maximum(1 - margin, 0)
    if isinstance(model, RMM):
        assert margin.max() <= model.B * (1 + 1e-9)
        return square + model.C * np.maximum(1 - margin, 0).sum()
    over = model.C2 * np.maximum(margin - model.rho2, 0).sum()
    return square + model.C1 * np.maximum(model.rho1 - margin, 0).sum() + over


@pytest.mark.parametrize("kernel", [RBF, POLY], ids=str)
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_methods_do_not_need_the_whole_matrix(method, kernel, many, request):
    X, y, X_test = many
    (whole,) = method.fit_path(X, y, [kernel], X_test)
    reference, expected = whole.estimator, whole.decision
    sizes = request.getfixturevalue("largest")
    (step,) = method.fit_path(X, y, [kernel], X_test)
    model = step.estimator
    assert max(sizes) < N * N / (2 if isinstance(method, MMRM) else 4)
    solution, other = model.solution_, reference.solution_
    assert solution.gap <= 1e-6
    near = (solution.gap + other.gap + 1e-11) * other.objective
    assert solution.objective == pytest.approx(other.objective, abs=near)
    assert value(model, X, y) == pytest.approx(solution.objective, rel=1e-9)
    if not isinstance(method, MMRM):  # an optimal face has many points; elsewhere ½‖w - w*‖² is at most the gap
        np.testing.assert_allclose(step.decision, expected, atol=1e-6 + 4 * np.sqrt(2 * near))
    np.testing.assert_allclose(model.decision_function(X_test), step.decision, atol=1e-10)


def test_newton_steps_make_no_large_block_of_the_matrix(many, largest):
    """Where libsvm ends early, more than N of the 2N hinges point inwards at first."""
    X, y, _ = many
    RMM(C=2.0, B=1.5, solver="libsvm", **POLY).fit(X, y)
    assert max(largest) < N * N / 8


def test_decision_values_are_made_in_parts(many, largest):
    X, y, X_test = many
    model = SVM(kernel="rbf", gamma=0.2).fit(X, y)
    every = np.tile(X_test, (40, 1))
    del largest[:]
    values = model.decision_function(every)
    assert max(largest) <= N * N // 50 + len(model.support_)
    assert sum(largest) == len(every) * len(model.support_)
    np.testing.assert_allclose(values, np.tile(model.decision_function(X_test), 40), atol=1e-12)
