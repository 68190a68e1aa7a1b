"""The promise of RateGuarantee: kept over repeated draws, optimal, never silently changed."""

import doctest
import pickle
import re
from decimal import ROUND_CEILING, ROUND_FLOOR

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from mmc.methods import LDA, InfeasibleProblem, PositiveClassWarning, RateGuarantee, guarantee
from mmc.methods import rate_thresholds as thresholds
from mmc.methods.rate_thresholds import Limits, place
from mmc.words import percent

NAMES = ("'a'", "'b'")
REPETITIONS = 500
NEVER = 1e-9  # a correct promise fails a test with at most this probability

# So that the tiny samples of scikit-learn's checks can promise something.
EASY = {"max_error": 0.05, "confidence": 0.05, "random_state": 0}


@pytest.mark.filterwarnings("ignore::mmc.methods.solution.PositiveClassWarning")  # some checks have words for labels
@parametrize_with_checks([RateGuarantee(model, **EASY) for model in (LogisticRegression(), GaussianNB(), LDA())])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class Scorer(ClassifierMixin, BaseEstimator):
    """A classifier whose score is the first feature."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, 0]


def two_classes(n=600, sep=1.0, seed=0):
    X, y = make_classification(n, 5, n_informative=3, n_redundant=0, class_sep=sep, random_state=seed)
    return X, np.array(["fine", "ill"])[y]


# -- the promise over repeated draws --------------------------------------------------------------------------------------


def violations(sizes, rates, *, apart=2.0, step=0.0, undecided=False):
    """How often a limit is broken over many calibration samples of N(0, 1) and N(apart, 1), the true errors being known.

    With a ``step`` scores are rounded down to its multiples, so that many are tied.
    """
    rng = np.random.default_rng(0)
    broken = 0
    for _ in range(REPETITIONS):
        scores = tuple(rng.normal(mean, size=n) for mean, n in zip((0.0, apart), sizes, strict=True))
        if step:
            scores = tuple(step * np.floor(s / step) for s in scores)
        try:
            rule = place(scores, Limits(rates, 0.95), NAMES, undecided=undecided)
        except InfeasibleProblem:
            continue
        low, high = rule.low, rule.high
        if step:  # the score is above a cut if its cell starts above it
            low, high = (step * (np.floor(cut / step) + 1) for cut in (low, high))
        errors = norm.sf(high), norm.cdf(low - apart)
        broken += any(rate is not None and error > rate for error, rate in zip(errors, rates, strict=True))
    return broken


SITUATIONS = {
    "first class": ((59, 59), (0.05, None), {}),
    "second class": ((59, 59), (None, 0.05), {}),
    "second rank": ((93, 93), (None, 0.05), {}),
    "tied": ((59, 59), (None, 0.05), {"step": 0.5}),
    "both": ((72, 72), (0.05, 0.05), {"apart": 6.0}),
    "undecided": ((72, 72), (0.05, 0.05), {"undecided": True}),
    "unequal": ((60, 900), (0.05, 0.3), {"undecided": True}),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_promise_is_broken_no_more_often_than_stated(situation):
    sizes, rates, options = SITUATIONS[situation]
    broken = violations(sizes, rates, **options)
    assert binom.sf(broken - 1, REPETITIONS, 0.05) > NEVER


@pytest.mark.parametrize("situation", [name for name in SITUATIONS if name not in ("tied", "both")])
def test_one_rank_further_would_break_it(situation, monkeypatch):
    """So the test above would see an error by one. Ties, and room between two limits, hide it: they leave slack."""
    chosen = thresholds.ranks
    monkeypatch.setattr(thresholds, "ranks", lambda *args: tuple(k + 1 for k in chosen(*args)))
    sizes, rates, options = SITUATIONS[situation]
    broken = violations(sizes, rates, **options)
    assert binom.sf(broken - 1, REPETITIONS, 0.05) < NEVER


@pytest.mark.parametrize("limited", [0, 1])
def test_without_ties_it_is_broken_exactly_as_often_as_the_record_says(limited):
    """P(Bin(93, 0.05) ≤ 1) = 4.998 %: the order statistic is used to the full."""
    rates = (0.05, None) if limited == 0 else (None, 0.05)
    broken = violations((93, 93), rates)
    exact = binom.cdf(1, 93, 0.05)
    assert min(binom.cdf(broken, REPETITIONS, exact), binom.sf(broken - 1, REPETITIONS, exact)) > NEVER


# -- what the thresholds are ---------------------------------------------------------------------------------------------


def test_one_limit_leaves_the_other_class_the_smallest_error():
    """Any threshold with fewer errors of the other class has more errors of the limited one than its rank allows."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=300), rng.normal(1.5, size=200)
    for limited, rates in enumerate([(0.1, None), (None, 0.1)]):
        rule = place(scores, Limits(rates, 0.95), NAMES)
        cuts = np.sort(np.concatenate(scores))
        errors = np.array([[np.sum(scores[0] > c), np.sum(scores[1] <= c)] for c in [*cuts, rule.low]])
        allowed = errors[errors[:, limited] < rule.ranks[limited]]
        assert errors[-1, limited] == rule.ranks[limited] - 1
        assert errors[-1, 1 - limited] == allowed[:, 1 - limited].min()


@pytest.mark.parametrize("label", ["fine", "ill"])
def test_a_classifier_that_ties_everything_gives_all_to_the_limited_class(label):
    X, y = two_classes()
    model = RateGuarantee(Scorer(), {label: 0.05}, random_state=0).fit(0 * X, y)
    assert set(model.predict(0 * X)) == {label}
    assert model.guarantee_[label].errors == 0


def test_a_tied_point_is_on_the_same_side_whatever_the_batch():
    """Matrix products round differently for one row and for many."""
    X, y = two_classes()
    model = RateGuarantee(LogisticRegression(), {"ill": 0.05}, random_state=0).fit(X, y)
    at = np.abs(model.decision_function(X)).argmin()
    assert np.abs(model.decision_function(X)[at]) < 1e-6
    shifted = model.estimator_.decision_function(X)[at] * (1 - 1e-12)
    assert shifted > model.thresholds_[0]
    assert [model.predict(X[[i]])[0] for i in range(len(X))] == list(model.predict(X))


def test_two_limits_with_room_between_take_the_cut_with_the_fewest_errors():
    scores = np.r_[np.zeros(99), 4.0], np.r_[3.0, np.full(99, 9.0)]
    rule = place(scores, Limits((0.1, 0.1), 0.95), NAMES)
    assert 4 < rule.low == rule.high < 9  # one error of class 1; below 3 there would be one of class 0 as well
    far = np.zeros(100), np.full(100, 9.0)
    assert place(far, Limits((0.1, 0.1), 0.95), NAMES).low == pytest.approx(4.5)


def test_infinite_scores_keep_the_promise():
    """A tree that is sure of itself: all its scores are tied in two heaps."""
    X, y = two_classes()
    model = RateGuarantee(DecisionTreeClassifier(random_state=0), {"ill": 0.05}, random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.guarantee_["ill"].errors <= model.guarantee_["ill"].rank - 1


# -- where there is no rule ----------------------------------------------------------------------------------------------


def test_58_examples_are_too_few_and_it_says_how_many_are_missing():
    X, y = np.arange(200.0)[:, None], np.repeat(["fine", "ill"], [142, 58])
    model = RateGuarantee(Scorer().fit(X, y), {"ill": 0.05}, calibration="prefit")
    with pytest.raises(InfeasibleProblem, match=r"'ill' has 58 calibration examples and needs 59, 1 more") as info:
        model.fit(X, y)
    assert info.value.distance == pytest.approx(1 / 58)
    assert "can promise 5.04 %" in str(info.value)
    assert model.set_params(max_error={"ill": 0.0504}).fit(X, y).guarantee_["ill"].rank == 1
    assert model.set_params(max_error={"fine": 0.05}).fit(X, y).guarantee_["ill"].asked is None


def test_what_is_said_to_be_possible_is_possible():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=200), rng.normal(1.5, size=150)
    with pytest.raises(InfeasibleProblem, match="no threshold keeps") as info:
        place(scores, Limits((0.05, 0.1), 0.95), NAMES)
    pairs = re.findall(r"'a' at ([\d.]+) % with 'b' at ([\d.]+) %", str(info.value))
    rates = [(float(a) / 100, float(b) / 100) for a, b in pairs]
    assert rates[0][0] == 0.05
    assert rates[1][1] == 0.1
    assert rates[2][1] == pytest.approx(2 * rates[2][0], abs=2e-3)
    assert info.value.distance == pytest.approx(rates[2][0] / 0.05 - 1, rel=0.02)
    for pair in rates:
        rule = place(scores, Limits(pair, 0.95), NAMES)
        assert rule.low == rule.high
    for tighter in ((0.05, rates[0][1] - 0.01), (rates[1][0] - 0.01, 0.1)):
        with pytest.raises(InfeasibleProblem):
            place(scores, Limits(tighter, 0.95), NAMES)
    assert "more calibration examples would not help" in str(info.value)


def test_how_many_more_examples_would_do():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=100), rng.normal(3.4, size=100)
    limits = Limits((0.06, 0.06), 0.95)
    with pytest.raises(InfeasibleProblem, match=r"\d+ times as many") as info:
        place(scores, limits, NAMES)
    times = int(re.search(r"(\d+) times as many", str(info.value))[1])
    assert place((np.tile(scores[0], times), np.tile(scores[1], times)), limits, NAMES)
    with pytest.raises(InfeasibleProblem):
        place((np.tile(scores[0], times - 1), np.tile(scores[1], times - 1)), limits, NAMES)


# -- abstaining ----------------------------------------------------------------------------------------------------------


def test_undecided_points_get_the_label_and_both_limits_hold():
    X, y = two_classes(2000)
    limits = {"ill": 0.05, "fine": 0.1}
    with pytest.raises(InfeasibleProblem, match="abstain=LABEL"):
        RateGuarantee(LogisticRegression(), limits, random_state=0).fit(X, y)
    model = RateGuarantee(LogisticRegression(), limits, abstain="unsure", random_state=0).fit(X, y)
    said, decision = model.predict(X), model.decision_function(X)
    assert np.array_equal(said == "ill", decision > 0)
    assert np.array_equal(said == "unsure", decision == 0)
    assert set(said) == {"ill", "fine", "unsure"}
    assert list(model.classes_) == ["fine", "ill"]
    for entry in model.guarantee_:
        low, high = entry.abstained_interval
        assert entry.errors == entry.rank - 1
        assert entry.bound <= entry.asked == limits[entry.label]
        assert low < entry.abstained / entry.n < high
        assert low < np.mean(said[y == entry.label] == "unsure") < high
    exact = [entry.exact_confidence for entry in model.guarantee_]
    assert exact[0] * exact[1] >= 0.95


def test_nothing_is_undecided_where_the_limits_leave_room():
    X, y = two_classes(2000, sep=4.0)
    model = RateGuarantee(LogisticRegression(), {"ill": 0.2, "fine": 0.2}, abstain="unsure", random_state=0).fit(X, y)
    assert set(model.predict(X)) == {"ill", "fine"}
    assert model.thresholds_[0] == model.thresholds_[1]


@pytest.mark.parametrize(
    ("labels", "abstain"), [([0, 1], -1), ([0, 1], "unsure"), (["no", "yes"], "undecided"), ([0, 1], 0.5)]
)
def test_the_label_for_undecided_is_returned_as_it_was_given(labels, abstain):
    X, y = two_classes(2000, sep=0.5)
    y = np.array(labels)[(y == "ill").astype(int)]
    rates = dict.fromkeys(labels, 0.1)
    said = RateGuarantee(LogisticRegression(), rates, abstain=abstain, random_state=0).fit(X, y).predict(X)
    assert set(said.tolist()) == {*labels, abstain}


# -- where the held-out scores come from ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("calibration", "n"), [(0.4, 240), (150, 150)])
def test_a_share_or_a_number_is_held_out_by_class(calibration, n):
    X, y = two_classes()
    model = RateGuarantee(LogisticRegression(), {"ill": 0.1}, calibration=calibration, random_state=0).fit(X, y)
    assert sum(entry.n for entry in model.guarantee_) == n
    assert abs(model.guarantee_["ill"].n - n * np.mean(y == "ill")) < 1
    assert model.guarantee_.exact
    again = clone(model).fit(X, y)
    assert again.guarantee_ == model.guarantee_
    assert model.set_params(random_state=1).fit(X, y).guarantee_ != again.guarantee_


def test_cross_fitting_uses_all_data_and_says_that_it_is_approximate():
    X, y = two_classes()
    model = RateGuarantee(LogisticRegression(), {"ill": 0.05}, calibration=StratifiedKFold(5)).fit(X, y)
    assert sum(entry.n for entry in model.guarantee_) == len(y)
    assert not model.guarantee_.exact
    assert "Approximate" in str(model.guarantee_)
    assert "Approximate" in model.guarantee_._repr_html_()
    np.testing.assert_allclose(model.estimator_.coef_, LogisticRegression().fit(X, y).coef_)
    with pytest.raises(ValueError, match="hold out every example once"):
        model.set_params(calibration=ShuffleSplit(3, random_state=0)).fit(X, y)


def test_a_fitted_classifier_is_taken_as_it_is():
    X, y = two_classes(1200)
    fitted = LogisticRegression().fit(X[:600], y[:600])
    model = RateGuarantee(fitted, {"ill": 0.05}, calibration="prefit").fit(X[600:], y[600:])
    assert model.estimator_ is fitted
    assert sum(entry.n for entry in model.guarantee_) == 600
    only = y[600:] == "ill"  # the other class is not needed for a limit on this one
    alone = clone(model).set_params(estimator=fitted).fit(X[600:][only], y[600:][only])
    assert alone.thresholds_[0] == pytest.approx(model.thresholds_[0])
    assert alone.guarantee_["fine"].bound == 1
    with pytest.raises(ValueError, match="has no class 'well'"):
        model.fit(X, np.where(y == "ill", "ill", "well"))


def test_a_precomputed_kernel_can_be_cross_fitted():
    X, y = two_classes(200)
    kernel = RateGuarantee(SVC(kernel="precomputed"), {"ill": 0.1}, calibration=StratifiedKFold(4)).fit(X @ X.T, y)
    plain = RateGuarantee(SVC(kernel="linear"), {"ill": 0.1}, calibration=StratifiedKFold(4)).fit(X, y)
    np.testing.assert_allclose(kernel.decision_function(X @ X.T), plain.decision_function(X), rtol=1e-2, atol=1e-2)
    with pytest.raises(ValueError, match="precomputed kernel"):
        kernel.set_params(calibration=0.3).fit(X @ X.T, y)


# -- in scikit-learn's world ---------------------------------------------------------------------------------------------


def test_a_pipeline_on_a_table_with_words():
    X, y = two_classes()
    table = pd.DataFrame({"size": X[:, 0], "weight": X[:, 1], "colour": np.where(X[:, 2] > 0, "red", "blue")})
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["size", "weight"]))
    model = RateGuarantee(make_pipeline(columns, LogisticRegression()), {"ill": 0.1}, random_state=0).fit(table, y)
    assert list(model.feature_names_in_) == list(table)
    assert model.n_features_in_ == 3
    assert set(model.predict(table)) == {"fine", "ill"}
    same = pickle.loads(pickle.dumps(model))
    assert list(same.predict(table)) == list(model.predict(table))
    assert same.guarantee_ == model.guarantee_


def test_probabilities_are_ranked_by_their_log_odds():
    """Near 1 probabilities are tied long before the log odds are."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 500)
    X = rng.normal(size=(1000, 1)) + 20 * y[:, None]
    model = RateGuarantee(GaussianNB(), {0: 0.1}, random_state=0).fit(X, y)
    p = model.estimator_.predict_proba(X)
    order = np.argsort(model.decision_function(X), kind="stable")
    assert (np.diff(p[order, 1]) >= 0).all()
    assert len(np.unique(p[:, 1])) < 600
    assert len(np.unique(model.decision_function(X))) == 1000


class Weighted(LogisticRegression):
    """Remembers the weights that it was fitted with."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = sample_weight
        return super().fit(X, y, sample_weight)


def test_weights_and_groups_are_routed():
    X, y = two_classes()
    weights = np.arange(len(y), dtype=float) + 1
    with pytest.raises(ValueError, match=r"sample_weight.*enable_metadata_routing"):
        RateGuarantee(Weighted()).fit(X, y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        model = RateGuarantee(Weighted().set_fit_request(sample_weight=True), {"ill": 0.1}, random_state=0)
        model.fit(X, y, sample_weight=weights)
        assert len(model.estimator_.seen_) == 420
        assert set(model.estimator_.seen_) < set(weights)
        folds = GroupKFold(4).set_split_request(groups=True)
        model.set_params(calibration=folds).fit(X, y, sample_weight=weights, groups=np.arange(len(y)) % 7)
        assert list(model.estimator_.seen_) == list(weights)


def test_a_number_limits_the_larger_label():
    X, y = two_classes()
    with pytest.warns(PositiveClassWarning, match=r"is 'ill'.*max_error=\{LABEL: 0\.1\}") as caught:
        model = RateGuarantee(LogisticRegression(), 0.1, random_state=0).fit(X, y)
    assert caught[0].filename == __file__
    named = RateGuarantee(LogisticRegression(), {"ill": 0.1}, random_state=0).fit(X, y)
    assert model.guarantee_ == named.guarantee_
    digits = np.where(y == "ill", "10", "2")  # in this order as text
    model = RateGuarantee(LogisticRegression(), 0.1, random_state=0).fit(X, digits)
    assert model.guarantee_["10"].asked == 0.1
    assert model.guarantee_["2"].asked is None


def test_two_limits_that_nothing_keeps_seldom_look_as_if_something_did():
    """Both classes have the same scores, so no cut keeps 30 % and 30 %. A sample allows one up to c with a chance of at most 1 - c."""
    rng, limits, reached = np.random.default_rng(0), Limits((0.3, 0.3), 0.01), []
    for _ in range(1000):
        scores = rng.normal(size=12), rng.normal(size=12)
        try:
            place(scores, limits, ("a", "b"))
        except InfeasibleProblem:
            continue
        reached.append(thresholds.feasible_up_to(scores, limits))
    for c in (0.05, 0.1, 0.2):
        share = np.mean(np.array(reached) >= c) * len(reached) / 1000
        assert share <= 1 - c + 3 * np.sqrt(c * (1 - c) / 1000)
    assert len(reached) > 20
    assert np.mean(np.array(reached) >= 0.9) * len(reached) / 1000 <= 0.1


def test_a_rule_for_two_limits_says_how_much_room_it_has():
    X, y = two_classes()
    asked = {"fine": 0.7, "ill": 0.7}
    model = RateGuarantee(LogisticRegression(), asked, random_state=0).fit(X, y)
    most = model.guarantee_.feasible_up_to
    assert model.confidence <= most < 1
    assert "exists up to" in str(model.guarantee_)
    again = RateGuarantee(LogisticRegression(), asked, confidence=most, random_state=0)
    assert again.fit(X, y).guarantee_.feasible_up_to == pytest.approx(most, abs=2e-6)
    if most < 0.999:
        with pytest.raises(InfeasibleProblem):
            again.set_params(confidence=most + 1e-4).fit(X, y)
    undecided = RateGuarantee(
        LogisticRegression(), {"fine": 0.02, "ill": 0.02}, abstain="?", random_state=0, confidence=0.5
    )
    assert undecided.fit(X, y).guarantee_.feasible_up_to is None
    assert RateGuarantee(LogisticRegression(), {"ill": 0.1}, random_state=0).fit(X, y).guarantee_.feasible_up_to is None


def test_a_bound_is_rounded_up_and_a_confidence_down():
    assert percent(0.04561, ROUND_CEILING) == "4.57 %"
    assert percent(0.999999, ROUND_FLOOR) == "99.9 %"
    assert [percent(share) for share in (0, 0.05, 0.07, 1)] == ["0 %", "5 %", "7 %", "100 %"]


def test_the_record_reads_well():
    X, y = two_classes()
    model = RateGuarantee(LogisticRegression(), {"<b>": 0.1}, random_state=0).fit(
        X, np.where(y == "ill", "<b>", "fine")
    )
    assert str(model.guarantee_).splitlines()[0].startswith("<b>: at most 10 % errors asked for; proven at most ")
    assert len(str(model.guarantee_).splitlines()) == 2
    assert "&lt;b&gt;" in model.guarantee_._repr_html_()
    assert len(model.guarantee_) == 2
    with pytest.raises(KeyError):
        model.guarantee_["ill"]
    with pytest.raises(AttributeError):
        model.guarantee_.exact = False


BAD = [
    ({"max_error": {"ill": 0}}, "max_error of class 'ill' must be a number between 0 and 1, got 0"),
    ({"max_error": {"ill": 1.0}}, "between 0 and 1"),
    ({"max_error": 5}, "between 0 and 1, got 5"),
    ({"max_error": True}, "between 0 and 1"),
    ({"max_error": float("nan")}, "between 0 and 1"),
    ({"max_error": {"il": 0.1}}, "unknown class 'il': did you mean 'ill'"),
    ({"max_error": {}}, "max_error has no limit: give the largest error rate of 'fine' or 'ill'"),
    ({"confidence": 1}, "confidence must be a number between 0 and 1, got 1"),
    ({"confidence": -0.5}, "confidence must be"),
    ({"abstain": "ill", "max_error": {"ill": 0.1, "fine": 0.1}}, "abstain='ill' is a class"),
    ({"abstain": "unsure"}, "abstain='unsure' needs a limit for both classes"),
    ({"calibration": 1.5}, r"calibration=1\.5 must be a share"),
    ({"calibration": 600}, "calibration=600 examples cannot be held out of 600"),
    ({"calibration": "profit"}, "did you mean 'prefit'"),
    ({"calibration": None}, "calibration=None must be"),
    ({"estimator": StandardScaler()}, "neither decision_function nor predict_proba"),
    ({"calibration": "prefit"}, "not fitted"),
]


@pytest.mark.parametrize(("params", "why"), BAD)
def test_bad_input_is_refused_in_one_sentence(params, why):
    X, y = two_classes()
    with pytest.raises(ValueError, match=why):
        RateGuarantee(**{"estimator": LogisticRegression(), **params}).fit(X, y)


def test_only_two_classes_are_taken():
    X, y = two_classes()
    with pytest.raises(ValueError, match="Only binary classification"):
        RateGuarantee(LogisticRegression()).fit(X, np.where(X[:, 0] > 1, "odd", y))
    with pytest.raises(ValueError, match=r"two classes, got 1 class$"):
        RateGuarantee(LogisticRegression()).fit(X, np.full(len(y), "ill"))
    with pytest.raises(ValueError, match="NaN"):
        RateGuarantee(LogisticRegression()).fit(X, np.where(y == "ill", np.nan, 1.0))


def test_a_score_that_is_no_number_is_refused():
    X, y = two_classes()
    model = RateGuarantee(Scorer(), {"ill": 0.05}, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="Scorer gave NaN as a score"):
        model.predict(np.full((1, 5), np.nan))


def test_the_example_in_the_docstring_runs():
    result = doctest.testmod(guarantee)
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize(("sizes", "rates"), [((12, 30), (0.3, 0.5)), ((30, 12), (0.4, 0.3))])
def test_one_cut_keeps_both_limits_just_up_to_the_confidence_that_is_said(sizes, rates):
    """A little below it `place` finds a cut; a little above, and from there on, it finds none."""
    rng, inside = np.random.default_rng(1), 0
    for apart in np.linspace(1.0, 3.0, 8):
        scores = rng.normal(size=sizes[0]), rng.normal(size=sizes[1]) + apart

        def found(confidence, scores=scores):
            try:
                place(scores, Limits(rates, confidence), ("a", "b"))
            except InfeasibleProblem:
                return False
            return True

        if found(0.01):
            most = thresholds.feasible_up_to(scores, Limits(rates, 0.01))
            assert found(most)
            assert not any(found(c) for c in np.linspace(most + 1e-6, 1 - 1e-6, 3))
            inside += 0.02 < most < 0.999
    assert inside >= 4
