"""Which classifier is taken, and from where."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmc.experiments.own.candidates import Family, Training, portfolio
from mmc.experiments.own.choosing import Curve, Tried, fitted, left_out, ranking
from mmc.experiments.own.errors import RequestError


@given(st.integers(0, 200), st.floats(0.02, 0.5), st.floats(0.02, 0.5))
def test_what_limits_leave(seed, first, second):
    """Two limits that can be kept leave at most their mean, two that cannot leave more; a looser limit leaves no more."""
    draw = np.random.default_rng(seed)
    y = np.repeat(["a", "b"], 40)
    curve = Curve.of(y, draw.normal(size=80) + 2 * (y == "b"))
    kept = np.any((curve.first <= first) & (curve.second <= second))
    assert (curve.left((first, second)) <= (first + second) / 2) == kept
    assert curve.left((first, None)) >= curve.left((first + 0.1, None))
    assert 0 <= curve.left((None, second)) <= 1


def test_the_curve_counts_errors():
    curve = Curve.of(np.array(["a", "a", "b", "b"]), np.array([0.1, 0.8, 0.4, 0.9]))
    assert curve.left((0.5, None)) == 0.0
    assert curve.left((0.0, None)) == 0.5
    assert curve.left((None, 0.0)) == 0.5
    assert curve.area == pytest.approx(0.75)


def test_the_best_has_the_least_error_left_and_failures_do_not_compete():
    y = np.repeat(["a", "b"], 30)
    draw = np.random.default_rng(0)
    family = Family("any", lambda training: {})
    noise, good = (Curve.of(y, draw.normal(size=60) + gap * (y == "b")) for gap in (0, 4))
    found = [
        Tried("noise", family, [noise]),
        Tried("good", family, [good]),
        Tried("broken", family, [good], problem="it broke"),
    ]
    assert [entry.name for entry in ranking(found, (0.1, None))] == ["good", "noise"]
    assert [entry.name for entry in ranking(found, None)] == ["good", "noise"]


@pytest.fixture(scope="module")
def training():
    draw = np.random.default_rng(1)
    y = np.where(draw.random(80) < 0.4, "defect", "fine")
    return Training(draw.normal(size=(80, 4)) + 1.5 * (y == "defect")[:, None], y, "defect")


def test_the_rates_of_the_candidates_are_feasible(training):
    for family in portfolio(["error-rate", "bmpm"], 0):
        made = list(fitted(family, training))
        assert len(made) >= 2
        for name, estimator, problem in made:
            assert not problem, name
            assert estimator.solution_.gap < 1e-4


def test_methods_by_name(training):
    names = ["svm", "lda", "GaussianNB", "error-rate"]
    assert [family.name for family in portfolio(names, 0)] == [
        "svm",
        "lda",
        "GaussianNB",
        "error-rate, linear",
        "error-rate, rbf",
    ]
    for family in portfolio(["lda", "GaussianNB"], 0):
        ((_, estimator, problem),) = fitted(family, training)
        assert estimator is not None, problem


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("GausianNB", "did you mean 'GaussianNB'"),
        ("StackingClassifier", "cannot stand by itself"),
        ("os.system", "neither a method of mmc nor a classifier"),
        ("LinearRegression", "neither"),
    ],
)
def test_names_that_are_no_classifiers(name, message):
    with pytest.raises(RequestError, match=message):
        portfolio([name], 0)


@pytest.mark.parametrize(("name", "word"), [("SVC", "SVC"), ("KNeighborsClassifier", "KDTree")])
def test_what_cannot_be_saved_is_not_chosen(training, name, word):
    ((_, estimator, problem),) = fitted(portfolio([name], 0)[0], training)
    assert estimator is None
    assert word in problem


def test_many_rows_leave_out_what_compares_all_pairs():
    assert {entry.name for entry in left_out(portfolio([], 0), 100_000)} == {"error-rate, rbf", "svm"}
    assert left_out(portfolio([], 0), 500) == []
