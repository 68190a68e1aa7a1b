"""Learning bit by bit: the coefficients are those of `fit`, and a bad batch changes nothing."""

import pickle
import random
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, RBFSampler

import mmc
from mmc.methods import BMPM, CATALOGUE, LDA, MEMPM, MPM, ErrorRateClassifier, FitError, InfeasibleProblem, Moments
from mmc.methods.from_moments import FromMoments

METHODS = [
    ErrorRateClassifier(),
    ErrorRateClassifier(0.7, 0.8, ridge=0.01),
    MPM(),
    MPM(ridge=0.0),
    MEMPM(0.4),
    MPM(ridge=0.1),
    BMPM(0.3, ridge=0.01),
    LDA(),
    LDA(ridge=0.1),
]
pytestmark = pytest.mark.filterwarnings("ignore::mmc.methods.solution.PositiveClassWarning")
KINDS = ["plain", "far", "collinear"]


def table(kind="plain", n=240, seed=0):
    """Two classes; with means of 1e8, or with columns that are copies and sums of others."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) + y[:, None] * [1.0, -0.5, 1.0, 0.0]
    if kind == "far":
        X = np.round(X, 6) + 1e8
    if kind == "collinear":
        X = np.column_stack([X, X[:, 0], X[:, 1] + X[:, 2]])
    return X, y


def assert_same(model, other):
    scale = np.abs(other.coef_).max()
    np.testing.assert_allclose(model.coef_ / scale, other.coef_ / scale, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=1e-9, atol=1e-9 * scale)
    if hasattr(other, "worst_case_error_"):
        np.testing.assert_allclose(model.worst_case_error_, other.worst_case_error_, rtol=1e-9)
    assert model.solution_.gap < 1e-6
    assert model.solution_.solver == other.solution_.solver


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS, ids=str)
@settings(max_examples=4, deadline=None)
@given(parts=st.integers(1, 1000), seed=st.integers(0, 2**32 - 1))
def test_any_partition_gives_the_coefficients_of_fit(method, kind, parts, seed):
    X, y = table(kind)
    order = np.random.default_rng(seed).permutation(len(y))
    model, whole = clone(method), clone(method).fit(X, y)
    pieces = [some for some in np.array_split(order, parts) if len(some)]
    for some in pieces:
        model.partial_fit(X[some], y[some], classes=[0, 1])
    assert_same(model, whole)
    assert_same(clone(method).fit_moments(merged([Moments.of(X[some], y[some]) for some in pieces], seed)), whole)


def merged(parts, seed):
    """Merge in any order, as any tree."""
    dice = random.Random(seed)
    while len(parts) > 1:
        one, other = (parts.pop(dice.randrange(len(parts))) for _ in range(2))
        parts.append(one + other)
    return parts[0]


def test_every_method_that_learns_from_moments_is_among_these():
    known = {entry.load() for entry in CATALOGUE.values() if issubclass(entry.load(), FromMoments)}
    assert known == {type(method) for method in METHODS}
    assert MEMPM in known


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_moments_alone_give_the_coefficients_of_fit(method, kind):
    X, y = table(kind)
    whole = clone(method).fit(X, y)
    assert_same(clone(method).fit_moments(Moments.of(X[y == 1]), Moments.of(X[y == 0])), whole)
    words = np.array(["no", "yes"])[y]
    model = clone(method).fit_moments(Moments.of(X[::2], words[::2]) + Moments.of(X[1::2], words[1::2]))
    assert_same(model, whole)
    assert model.pos_label_ == "yes"
    np.testing.assert_array_equal(model.predict(X) == "yes", whole.predict(X) == 1)


def test_after_partial_fit_everything_is_there():
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcd"))
    whole = MPM().fit(frame, y)
    model = MPM().partial_fit(frame[:9], y[:9], classes=[0, 1]).partial_fit(frame[9:], y[9:])
    assert model.rank_ == 4
    assert set(vars(model)) - {"moments_"} == set(vars(whole)) - {"_rows", "bound_check_"}
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_allclose(model.frontier(5), whole.frontier(5), rtol=1e-9)
    assert model.moments_[0].count + model.moments_[1].count == len(y)


def test_more_rows_change_the_answer():
    X, y = table()
    model = LDA().partial_fit(X[:50], y[:50], classes=[0, 1])
    before = model.coef_.copy()
    model.partial_fit(X[50:], y[50:])
    assert not np.allclose(model.coef_, before, rtol=1e-3)


@pytest.mark.parametrize("method", [ErrorRateClassifier(), MPM(), BMPM(), MEMPM(), LDA()], ids=str)
def test_a_bad_batch_changes_nothing(method):
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = clone(method)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(frame, y)
    assert vars(model) == vars(clone(method))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(frame * np.nan, y, classes=[0, 1])
    with pytest.raises(ValueError, match="needs two classes"):
        model.partial_fit(frame, y, classes=[0])
    assert vars(model) == vars(clone(method))
    model.partial_fit(frame[:100], y[:100], classes=[0, 1])
    coef, state = model.coef_.copy(), dict(vars(model))
    bad = [
        (frame[["a", "b"]], y, {}, "feature names"),
        (X[:, :2], y, {}, "X has 2 features, but"),
        (frame.where(frame > -1), y, {}, "NaN"),
        (frame.where(frame > -1, np.inf), y, {}, "infinity"),
        (frame[:0], y[:0], {}, r"0 sample\(s\)"),
        (frame[:3], [0, 1, 7], {}, "unknown label 7"),
        (frame[:3], y[:2], {}, "inconsistent"),
        (frame[:3], y[:3], {"classes": [0, 2]}, "not those of the first call"),
        (frame[:3], y[:3], {"sample_weight": [1, -1, 1]}, "[Nn]egative"),
        (frame[:3] * 1e200, y[:3], {}, "overflow"),
    ]
    with warnings.catch_warnings(action="ignore"):
        for part, labels, more, why in bad:
            with pytest.raises(ValueError, match=why):
                model.partial_fit(part, labels, **more)
            assert vars(model) == state
    np.testing.assert_array_equal(model.coef_, coef)
    model.partial_fit(frame[100:], y[100:])
    assert_same(model, clone(method).fit(frame, y))


def test_one_row_and_one_class_at_a_time():
    X, y = table()
    model = ErrorRateClassifier().partial_fit(X[:1], y[:1], classes=[0, 1])
    with pytest.raises(FitError, match="no row of class 0"):
        model.predict(X)
    for i in range(1, len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_same(model, ErrorRateClassifier().fit(X, y))


def test_infeasible_rates_are_told_when_the_answer_is_asked_for_and_batches_may_follow():
    X, y = table()
    model = ErrorRateClassifier(0.01, 0.01).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InfeasibleProblem):
        model.predict(X)
    far = X + 1000 * y[:, None]
    for _ in range(300):
        model.partial_fit(far, y)
    assert model.predict(far).tolist() == y.tolist()
    assert model.worst_case_error_.max() <= 0.01 + 1e-9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_partial_fit_goes_on_after_fit(kind, weighted):
    X, y = table(kind)
    weight = np.random.default_rng(0).integers(0, 3, len(y)) if weighted else None
    first, rest = (None, None) if weight is None else (weight[:100], weight[100:])
    model = LDA().partial_fit(X[:30], y[:30], classes=[0, 1]).fit(X[:100], y[:100], sample_weight=first)
    assert not hasattr(model, "moments_")
    model.partial_fit(X[100:], y[100:], sample_weight=rest)
    assert_same(model, LDA().fit(X, y, sample_weight=weight))


def test_a_saved_fit_has_no_rows_to_go_on_from():
    X, y = table()
    model = pickle.loads(pickle.dumps(MPM().fit(X, y)))
    with pytest.raises(ValueError, match="cannot go on after a fit"):
        model.partial_fit(X, y)
    model.fit_moments(Moments.of(X, y)).partial_fit(X, y)
    assert model.moments_[1].count == 2 * y.sum()


def test_only_the_linear_kernel_has_it():
    assert hasattr(MPM(), "partial_fit")
    assert not hasattr(MPM(kernel="rbf", gamma=1.0), "partial_fit")
    assert not hasattr(MPM(kernel="rbf", gamma=1.0), "fit_moments")


def test_which_class_is_positive():
    X, y = table()
    pos, neg = Moments.of(X[y == 1]), Moments.of(X[y == 0])
    for labels in ((1, 0), (0, 1), ("10", "2"), ("2", "10")):
        model = BMPM(0.3).fit_moments(pos, neg, labels=labels)
        whole = BMPM(0.3, pos_label=labels[0]).fit(X, np.array(labels)[1 - y])
        assert model.pos_label_ == whole.pos_label_ == labels[0]
        assert_same(model, whole)
    with pytest.raises(ValueError, match="the positive class is called"):
        BMPM(pos_label=0).fit_moments(pos, neg)
    with pytest.raises(ValueError, match="give neg"):
        BMPM().fit_moments(pos)
    with pytest.raises(ValueError, match="do not give neg"):
        BMPM().fit_moments(Moments.of(X, y), neg)
    with pytest.raises(ValueError, match="name two classes"):
        BMPM().fit_moments(pos, neg, labels=(1, 1))
    model = BMPM().fit_moments(pos, neg)
    state = dict(vars(model))
    with pytest.raises(ValueError, match="different numbers of features"):
        model.fit_moments(pos, Moments.of(X[:, :2]))
    assert vars(model) == state


@pytest.mark.parametrize("kernel", [{}, {"kernel": "rbf", "gamma": 0.3}], ids=["linear", "rbf"])
@pytest.mark.parametrize("cls", [entry.load() for entry in CATALOGUE.values() if issubclass(entry.load(), FromMoments)])
def test_a_weight_counts_rows(cls, kernel):
    if kernel and cls is LDA:
        pytest.skip("LDA is linear")
    X, y = table(n=60)
    times = np.random.default_rng(3).integers(0, 4, 60)
    model = cls(ridge=0.05, **kernel).fit(X, y, sample_weight=times)
    repeated = cls(ridge=0.05, **kernel).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    scale = np.abs(repeated.decision_function(X)).max()
    np.testing.assert_allclose(model.decision_function(X) / scale, repeated.decision_function(X) / scale, atol=1e-6)
    if kernel:
        np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    else:
        assert_same(cls(ridge=0.05).partial_fit(X, y, classes=[0, 1], sample_weight=times), model)
    with pytest.raises(ValueError, match="all rows of class 1 have weight 0"):
        cls(**kernel).fit(X, y, sample_weight=1.0 - y)


@pytest.mark.parametrize(
    "features",
    [Nystroem(gamma=0.1, n_components=20, random_state=0), RBFSampler(gamma=0.1, n_components=20, random_state=0)],
    ids=["Nystroem", "RBFSampler"],
)
def test_a_kernel_is_streamed_by_its_features(features):
    """One pass for the landmarks, one for the moments of the features: the fit of all rows at once."""
    X, y = table()
    batches = np.array_split(np.arange(len(y)), 7)
    features.fit(np.vstack([X[rows[:8]] for rows in batches]))
    model, summed = MPM(ridge=1e-6), []
    for rows in batches:
        made = features.transform(X[rows])
        model.partial_fit(made, y[rows], classes=[0, 1])
        summed.append(Moments.of(made, y[rows]))
    whole = MPM(ridge=1e-6).fit(features.transform(X), y)
    assert_same(model, whole)
    assert_same(MPM(ridge=1e-6).fit_moments(merged(summed, 0)), whole)


def test_several_classes_one_pair_at_a_time():
    X, y = table()
    y = np.where(np.arange(len(y)) % 5 == 0, 2, y)
    whole, model = LDA().fit(X, y), LDA()
    for part in np.array_split(np.arange(len(y)), 9):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    for found in (model, LDA().fit_moments(Moments.of(X, y)), LDA().fit(X[:90], y[:90]).partial_fit(X[90:], y[90:])):
        np.testing.assert_array_equal(found.predict(X), whole.predict(X))
        scale = np.abs(whole.coef_).max()
        np.testing.assert_allclose(found.coef_ / scale, whole.coef_ / scale, atol=1e-9)
    with pytest.raises(ValueError, match="pos_label=1 is for two classes"):
        LDA(pos_label=1).partial_fit(X, y, classes=[0, 1, 2])


def test_a_model_that_learnt_bit_by_bit_can_be_saved(tmp_path):
    X, y = table()
    model = MPM().partial_fit(X, y, classes=[0, 1])
    mmc.save(model, tmp_path / "m.model")
    found = mmc.load(tmp_path / "m.model")
    np.testing.assert_array_equal(found.decision_function(X), model.decision_function(X))
    found.partial_fit(X, y)
    assert found.moments_[0].count == 2 * model.moments_[0].count
