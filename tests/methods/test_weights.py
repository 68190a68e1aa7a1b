"""Weights of rows and of classes: a row of weight 2 is two rows, and a class weight is a cost."""

from inspect import signature

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from mmc.experiments.errors import ConfigError
from mmc.experiments.validation import load
from mmc.methods import BSVM, CATALOGUE, RMM, SVM

METHODS = [
    *(SVM(C_pos=2.0, C_neg=0.5, solver=solver) for solver in CATALOGUE["svm"].solvers),
    *(BSVM(3.0, 3.0, 1.0, 1.5, solver=solver) for solver in CATALOGUE["bsvm"].solvers),
    *(BSVM(3.0, 0.7, 1.0, 1.5, solver=solver) for solver in CATALOGUE["bsvm"].solvers),
    *(BSVM(3.0, 0.0, 1.0, 1.5, solver=solver) for solver in CATALOGUE["bsvm"].solvers),
    *(RMM(3.0, 1.3, solver=solver) for solver in CATALOGUE["rmm"].solvers),
]


def data(n=60):
    X, y = make_classification(n, 4, n_redundant=0, class_sep=0.8, weights=[0.7], random_state=2)
    return X, y, np.random.default_rng(0).integers(0, 4, n)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_row_of_weight_w_counts_as_w_rows(method, kernel):
    X, y, weight = data()
    method.set_params(kernel=kernel, gamma=0.3)
    weighted = method.fit(X, y, sample_weight=weight)
    f, value, alpha = weighted.decision_function(X), weighted.solution_.objective, weighted.alpha_
    assert len(alpha) == len(X)
    assert not alpha[weight == 0].any()
    assert not np.isin(weighted.support_, np.flatnonzero(weight == 0)).any()
    repeated = np.repeat(np.arange(len(X)), weight)
    several = method.fit(X[repeated], y[repeated])
    assert several.solution_.objective == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(several.decision_function(X), f, atol=2e-3)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.5, 1: 3.0}, {1: 3.0}], ids=str)
@pytest.mark.parametrize("method", [SVM(), BSVM(), RMM()], ids=str)
def test_a_class_weight_is_the_weight_of_its_rows(method, class_weight):
    X, y, weight = data()
    by_class = method.set_params(class_weight=class_weight).fit(X, y, weight + 1.0).decision_function(X)
    method.set_params(class_weight=None)
    by_row = method.fit(X, y, (weight + 1.0) * compute_sample_weight(class_weight, y)).decision_function(X)
    np.testing.assert_allclose(by_class, by_row, atol=1e-6)
    unweighted = method.fit(X, y).decision_function(X)
    assert np.abs(unweighted - by_row).max() > 1e-3


def test_weights_are_those_of_svc():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, len(X))
    given = {"kernel": "rbf", "class_weight": {0: 1.0, 1: 4.0, 2: 0.5}}
    for labels in (y, y > 0):
        params = {**given, "class_weight": {False: 1.0, True: 4.0}} if labels is not y else given
        model = SVM(**params).fit(X, labels, weight)
        peer = SVC(tol=1e-8, **params).fit(X, labels, weight)
        np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)


def test_weights_of_a_precomputed_kernel():
    X, y, weight = data()
    model = SVM(kernel="precomputed").fit(rbf_kernel(X), y, weight)
    named = SVM(kernel="rbf", gamma=1 / 4).fit(X, y, weight)
    np.testing.assert_allclose(model.decision_function(rbf_kernel(X)), named.decision_function(X), atol=1e-6)


def test_a_path_has_the_class_weights_of_each_step():
    X, y, _ = data()
    grid = [{"class_weight": None}, {"class_weight": "balanced"}]
    for step in SVM(kernel="rbf").fit_path(X, y, grid, X):
        alone = SVM(kernel="rbf", **step.params).fit(X, y)
        np.testing.assert_allclose(step.decision, alone.decision_function(X), atol=1e-10)


def test_weights_in_a_search():
    X, y, weight = data()
    search = GridSearchCV(SVM(), {"class_weight": [None, "balanced"]}, cv=3).fit(X, y, sample_weight=weight)
    assert search.best_score_ > 0.5


def test_what_is_no_weight_is_refused():
    X, y, weight = data()
    with pytest.raises(ValueError, match="all rows of a class have weight 0"):
        SVM().fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="Negative values"):
        SVM().fit(X, y, sample_weight=weight - 1.0)
    with pytest.raises(ValueError, match="class_weight must be above 0"):
        SVM(class_weight={0: 0.0}).fit(X, y)
    with pytest.raises(ValueError, match="'class_weight' parameter of SVM"):
        SVM(class_weight="balance").fit(X, y)


ROWS = ("error-rate", "mpm", "bmpm", "mempm", "lda", "svm", "bsvm", "rmm")
CLASSES = ("svm", "bsvm", "rmm")


@pytest.mark.parametrize("key", CATALOGUE)
def test_weights_are_taken_or_refused_in_words(key):
    X, y, weight = data()
    kind = CATALOGUE[key].load()
    rows = [CATALOGUE[one].name for one in CATALOGUE if one in ROWS]
    assert has_fit_parameter(kind, "sample_weight") == (key in ROWS)
    assert ("class_weight" in signature(kind).parameters) == (key in CLASSES)
    if key not in ROWS:
        with pytest.raises(
            TypeError, match=f"^{kind.__name__} takes no sample_weight: .*that take it: {', '.join(rows)}$"
        ):
            kind().fit(X, y, sample_weight=weight + 1.0)
        assert kind().fit(X + 9.0 * y[:, None], y, sample_weight=None).classes_.tolist() == [0, 1]
        with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'weights'"):
            kind().fit(X, y, weights=weight)
    if key not in CLASSES:
        with pytest.raises(TypeError, match=f"^{kind.__name__} has no class_weight: .*that have it: RMM, SVM, BSVM$"):
            kind(class_weight="balanced")
        with pytest.raises(ValueError, match="Invalid parameter 'class_weight'"):
            kind().set_params(class_weight="balanced")


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("mmrm, class_weight: balanced", "mmrm has no class_weight: .*methods that have it: rmm, svm, bsvm$"),
        ("lda, sample_weight: [1]", "sample_weight is given to fit, in Python: a config has no weights of rows"),
    ],
)
def test_weights_in_a_config_are_refused_with_the_line(tmp_path, method, told):
    path = tmp_path / "weights.yaml"
    path.write_text(f"title: t\ndatasets: {{sonar: }}\nmethods:\n  M: {{method: {method}}}\n")
    with pytest.raises(ConfigError, match=rf"weights.yaml:4: {told}"):
        load(path)
