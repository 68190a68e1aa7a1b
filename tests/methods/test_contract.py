"""The contract of DESIGN that every method of the catalogue keeps."""

import gc
import weakref
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

import mmc.methods
from mmc.methods import CATALOGUE, HMEM, LDA, RMM, ErrorRateClassifier, PositiveClassWarning, Solution
from mmc.methods.solvers import Capabilities, load_solver, options_of

PRESENT = [m for m in CATALOGUE.values() if (Path(mmc.methods.__file__).parent / f"{m.module}.py").exists()]


def variants(solvers="default"):
    """Every method with every kernel it takes; with ``solvers="all"`` also with each other solver, linear."""
    for entry in PRESENT:
        cls = entry.load()
        kernels = (
            {"kernel": "linear"},
            {"kernel": "rbf", "gamma": 0.3},
            {"kernel": "poly", "gamma": 0.3, "degree": 2},
        )
        for params in kernels if "kernel" in entry.parameters() else ({},):
            yield cls(**params)
        if solvers == "all":
            yield from (cls(solver=solver) for solver in list(entry.solvers)[1:])


def expected_failures(estimator):
    return getattr(estimator, "_expected_failed_checks", dict)()


def two_classes(estimator):
    """Two classes that hardly overlap; for a hard margin they are moved apart until they do not."""
    X, y = make_classification(90, 4, class_sep=2.5, random_state=3)
    return (X + 4 * y[:, None] if isinstance(estimator, HMEM) else X), y


@pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")  # some checks fit noise
@parametrize_with_checks(list(variants()), expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_plain_arrays_are_treated_as_everything_else():
    X, y = two_classes(None)
    model = LDA().fit(pd.DataFrame(X, columns=list("abcd")), list(y))
    coef, names = model.coef_, model.feature_names_in_
    assert list(names) == list("abcd")
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.coef_, coef)
    for bad, why in (
        (np.where(X > 2, np.nan, X), "NaN"),
        (np.where(X > 2, np.inf, X), "infinity"),
        (X[1:], "inconsistent"),
    ):
        with pytest.raises(ValueError, match=why):
            model.fit(bad, y)
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        model.fit(X[:, :0].copy(), y)


@pytest.mark.parametrize("estimator", list(variants("all")), ids=str)
def test_fitted_attributes(estimator):
    X, y = two_classes(estimator)
    labels = np.array(["a", "b"])[y]
    model = clone(estimator).fit(X, labels)
    assert isinstance(model.solution_, Solution)
    assert model.solution_.solver == model.solver
    assert model.solution_.seconds > 0
    assert model.solution_.version
    assert model.solution_.gap < 1e-3
    assert list(model.classes_) == ["a", "b"]
    assert np.array_equal(model.predict(X) == "b", model.decision_function(X) > 0)
    assert np.mean(model.predict(X) == labels) > 0.8
    if getattr(model, "kernel", "linear") == "linear" and hasattr(model, "coef_"):
        np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_[0], model.decision_function(X))
    else:
        assert model.dual_coef_.shape == (1, len(model.support_))


def numbers(model):
    """The single numbers among the fitted attributes, as records name them; labels and parameters are none of them."""
    labels = ("n_features_in_", "pos_label_", "gamma_")
    return {
        name[:-1]
        for name, value in vars(model).items()
        if name.endswith("_") and name not in labels and isinstance(value, (int, float, np.number))
    }


@pytest.mark.parametrize("entry", PRESENT, ids=lambda e: e.key)
def test_the_catalogue_declares_what_a_fit_leaves(entry):
    left = set()
    for estimator in variants("all"):
        if type(estimator) is entry.load():
            model = clone(estimator).fit(*two_classes(estimator))
            assert numbers(model) <= set(entry.facts)
            assert hasattr(model, "worst_case_error_") == entry.bounds
            left |= {fact for fact in entry.facts if hasattr(model, f"{fact}_")}
    assert left == set(entry.facts)


def test_of_two_words_the_positive_one_is_told_where_it_matters():
    X, y = two_classes(None)
    words = np.array(["bad", "good"])[y]
    with pytest.warns(PositiveClassWarning, match="is 'good'.*pos_label=LABEL") as caught:
        model = ErrorRateClassifier(0.9, 0.3).fit(X, words)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.pos_label_ == "good"
    for silent in (ErrorRateClassifier(0.9, 0.3, pos_label="bad"), ErrorRateClassifier(), LDA()):
        silent.fit(X, words)
    ErrorRateClassifier(0.9, 0.3).fit(X, np.array([False, True])[y])


@pytest.mark.filterwarnings("ignore::mmc.methods.solution.PositiveClassWarning")
@pytest.mark.parametrize("labels", [("2", "10"), (2, 10), (-1.0, 1.0), ("no", "yes"), (False, True)], ids=str)
def test_the_larger_label_is_positive_as_a_number_if_all_are(labels):
    X, y = two_classes(None)
    model = ErrorRateClassifier(0.9, 0.3).fit(X, np.array(labels)[y])
    stated = ErrorRateClassifier(0.9, 0.3, pos_label=labels[1]).fit(X, np.array(labels)[y])
    other = ErrorRateClassifier(0.9, 0.3, pos_label=labels[0]).fit(X, np.array(labels)[y])
    assert (model.pos_label_, other.pos_label_) == (labels[1], labels[0])
    assert list(model.classes_) == sorted(labels)
    np.testing.assert_array_equal(model.coef_, stated.coef_)
    assert not np.allclose(model.coef_, other.coef_)


@pytest.mark.parametrize("estimator", list(variants()), ids=str)
def test_the_positive_class_can_be_the_smaller_label(estimator):
    """Naming the other class positive mirrors a symmetric problem: same data, labels swapped."""
    X, y = two_classes(estimator)
    first = clone(estimator).fit(X, y)
    second = clone(estimator).set_params(pos_label=0).fit(X, 1 - y)
    np.testing.assert_allclose(first.decision_function(X), -second.decision_function(X), rtol=1e-4, atol=1e-5)
    if hasattr(first, "worst_case_error_"):
        np.testing.assert_allclose(first.worst_case_error_, second.worst_case_error_[::-1], rtol=1e-5)


@pytest.mark.parametrize("entry", PRESENT, ids=lambda e: e.key)
def test_an_unknown_solver_or_option_is_refused_with_a_hint(entry):
    X, y = make_classification(40, 4, class_sep=2.5, random_state=3)
    default = next(iter(entry.solvers))
    assert entry.load()().solver == default
    with pytest.raises(ValueError, match=f"did you mean '{default}'"):
        entry.load()(solver=default + "x").fit(X, y)
    with pytest.raises(ValueError, match="has no option 'no_such_option'"):
        entry.load()(solver_options={"no_such_option": 1}).fit(X, y)


def test_a_solver_option_is_refused_before_the_data_are_looked_at():
    with pytest.raises(ValueError, match="did you mean 'tol'"):
        ErrorRateClassifier(solver_options={"tool": 1e-3}).fit(None, None)


@pytest.mark.parametrize("entry", PRESENT, ids=lambda e: e.key)
def test_every_solver_says_what_it_can_do(entry):
    for module in entry.solvers.values():
        assert isinstance(load_solver(module).CAN, Capabilities)
        assert "session" not in options_of(module)


def test_a_solver_for_the_linear_kernel_refuses_others_and_names_those_that_can(monkeypatch):
    monkeypatch.setattr("mmc.methods.solvers.ellipsoid.CAN", Capabilities(kernels=False))
    X, y = two_classes(None)
    ErrorRateClassifier(0.9, 0.9, solver="ellipsoid").fit(X, y)
    with pytest.raises(ValueError, match=r"for kernel='linear' only.*take solver='secular' or 'socp'"):
        ErrorRateClassifier(0.9, 0.9, solver="ellipsoid", kernel="rbf", gamma=1.0).fit(X, y)


def test_a_fit_leaves_nothing_for_the_garbage_collector():
    """A Gram matrix in a reference cycle would stay in memory for many fits."""
    X, y = make_classification(60, 4, random_state=0)
    model = RMM(kernel="rbf", gamma=0.5).fit(X, y)
    gc.collect()
    gc.disable()
    try:
        train = model._training(X, y)
        model._fit_one(train)
        workspace = weakref.ref(train.work)
        del train
        assert workspace() is None
    finally:
        gc.enable()
