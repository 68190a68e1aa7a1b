"""What scikit-learn's users do with a classifier, tried with ours."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import DecisionBoundaryDisplay, permutation_importance
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import FixedThresholdClassifier, HalvingGridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mmc.methods import CATALOGUE, MPM, SVM, ErrorRateClassifier

matplotlib.use("Agg")
METHODS = [entry for entry in CATALOGUE.values() if entry.key != "hmem"]  # these data have no hard margin
by_key = pytest.mark.parametrize("entry", METHODS, ids=lambda e: e.key)


def data(n=80):
    X, y = make_classification(n, 4, n_informative=2, n_redundant=0, shuffle=False, class_sep=1.5, random_state=0)
    return pd.DataFrame(X, columns=["one", "two", "noise", "more noise"]), np.array(["no", "yes"])[y]


@by_key
def test_names_of_features_are_kept_and_checked(entry):
    X, y = data()
    model = entry.load()().fit(X, y)
    assert list(model.feature_names_in_) == list(X.columns)
    assert model.n_iter_ == model.solution_.iterations
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X.rename(columns={"one": "eins"}))


@by_key
def test_a_pipeline_with_set_output(entry):
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), entry.load()()).set_output(transform="pandas").fit(X, y)
    assert list(pipeline[-1].feature_names_in_) == list(X.columns)
    assert pipeline.score(X, y) > 0.8


@by_key
def test_permutation_importance_finds_the_features_that_matter(entry):
    X, y = data()
    model = entry.load()().fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=5, random_state=0).importances_mean
    assert found[:2].max() > found[2:].max()


@by_key
def test_probabilities_by_calibration(entry):
    X, y = data()
    model = CalibratedClassifierCV(entry.load()(), cv=3).fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares[y == "yes", 1].mean() > shares[y == "no", 1].mean() + 0.3


@by_key
def test_a_threshold_tuned_for_recall(entry):
    X, y = data()
    scoring = make_scorer(recall_score, pos_label="yes")
    model = TunedThresholdClassifierCV(entry.load()(), scoring=scoring, response_method="decision_function", cv=3)
    model.fit(X, y)
    assert recall_score(y, model.predict(X), pos_label="yes") > 0.9
    never = FixedThresholdClassifier(entry.load()(), threshold=1e9, response_method="decision_function").fit(X, y)
    assert set(never.predict(X)) == {"no"}


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_halving_search(kernel):
    X, y = data(200)
    search = HalvingGridSearchCV(
        SVM(kernel=kernel), {"C_pos": [0.1, 1.0, 10.0], "C_neg": [0.1, 1.0]}, random_state=0, min_resources=40
    )
    assert search.fit(X, y).best_score_ > 0.8
    assert set(search.best_params_) == {"C_pos", "C_neg"}


@pytest.mark.parametrize("method", [ErrorRateClassifier(kernel="rbf"), MPM(), SVM(kernel="poly")], ids=str)
@pytest.mark.parametrize("response", ["predict", "decision_function"])
def test_decision_boundary_display(method, response):
    X, y = load_iris(return_X_y=True)
    for labels in (y > 0, y):
        model = clone(method).fit(X[:, :2], labels)
        display = DecisionBoundaryDisplay.from_estimator(model, X[:, :2], grid_resolution=20, response_method=response)
        assert display.response.shape[:2] == (20, 20)
        matplotlib.pyplot.close(display.figure_)


def test_parameters_are_shown_and_survive_a_clone():
    model = ErrorRateClassifier(0.2, kernel="rbf", gamma="auto")
    assert repr(clone(model)) == "ErrorRateClassifier(eta_pos=0.2, gamma='auto', kernel='rbf')"
    assert "ErrorRateClassifier" in model._repr_html_()
