"""A classifier whose error rates hold on new data, proven by held-out data."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Tags, assert_all_finite, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mmc.labels import are_words, positive_label
from mmc.methods.guarantee_record import ClassGuarantee, Guarantee
from mmc.methods.held_out import Calibration, Labels, Sample, Seed, Splitter, held_out, scores_of
from mmc.methods.numerics.kernels import Array
from mmc.methods.order_statistics import interval, kept_with, upper_bound
from mmc.methods.rate_thresholds import Limits, Pair, Thresholds, feasible_up_to, place
from mmc.methods.solution import warn_of_positive
from mmc.words import nearest

MaxError = float | Mapping[Hashable, float]


class RateGuarantee(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Move a classifier's threshold so that its error rates hold on new data, at a stated confidence.

    The classifier is fitted on one part of the data. The other part, the calibration sample, sets the threshold: it is an
    order statistic of the scores of each class that has a limit, chosen so that with probability ``confidence`` over
    the calibration sample the error rate of that class on new data is at most what was asked for. This holds for any
    classifier, any distribution and any sample size [1]_. It needs no more than new data of the same kind as the
    calibration sample. Tied scores are counted against us: they can only make the error of a limited class smaller.

    This is not ``worst_case_error_``, which rests on moments and holds if they are right; ``guarantee_`` rests on
    held-out data.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``decision_function`` or ``predict_proba``; a pipeline is one. If it has both,
        ``decision_function`` is used.
    max_error : float or dict of {label: rate}, default=0.05
        The largest error rate of each limited class, between 0 and 1. The error rate of a class is the share of its examples
        that get the other label. A number is the limit of the positive class: the larger label, as numbers if all labels
        are numbers. If they are words, ``fit`` warns which one it took.

        With one limit the error of the other class is as small as the scores allow. With two limits both hold together
        with ``confidence``. How it is shared between them depends on the sizes of the two calibration samples. If no
        threshold keeps both, ``fit`` raises InfeasibleProblem unless ``abstain`` is given.
    confidence : float, default=0.95
        The probability, over the draw of the calibration sample, that all limits hold.
    abstain : label, default=None
        The label for examples between two limits' thresholds. Then both limits always hold: undecided is no error.
    calibration : float, int, splitter or "prefit", default=0.3
        Where the calibration sample comes from. A float or an integer holds out that share or number of the examples, with
        the same share of each class. A splitter cross-fits: the scores come from the folds, then the classifier is
        refitted on all examples. That uses all data, but the promise is only approximate. "prefit" takes ``estimator``
        as it is; ``fit`` must then get examples that it has never seen.
    random_state : int, RandomState or None, default=None
        Decides which examples are held out by a share or number.

    Attributes
    ----------
    guarantee_ : Guarantee
        For each class what was asked, what holds, the errors in calibration and the examples left undecided. Print it.
    thresholds_ : ndarray of shape (2,)
        In units of the score: ``classes_[1]`` above the second, ``classes_[0]`` below the first, undecided between. They
        are equal where nothing is left undecided.
    estimator_ : estimator
        The fitted classifier.
    classes_ : ndarray of shape (2,)
        The two labels.
    n_features_in_ : int
        The number of features, if ``estimator_`` knows it.
    feature_names_in_ : ndarray
        The names of the features, if ``estimator_`` knows them.

    Raises
    ------
    InfeasibleProblem
        If the calibration sample is too small (it says how many examples of which class are needed), or if no threshold
        keeps both limits (it says what could be had).

    Notes
    -----
    What the promise covers: with probability ``confidence`` over the calibration sample, one fit does not end in a rule that
    breaks a limit. The rates are chosen before looking at the calibration sample. A fit that raises InfeasibleProblem breaks no promise,
    but whoever tries other rates or seeds on the same data until one fits picks the lucky ones.

    With one limit, or with ``abstain``, there always is a rule, so the promise is also one about the rule you get. With two
    limits and no undecided zone it is not. Say that no threshold keeps both in truth: then every rule that a lucky sample
    allows breaks one, and no method can promise otherwise, only make such samples rare. ``guarantee_.feasible_up_to`` tells
    the lucky from the sound: 1 minus it is a p-value for "no threshold keeps both". If it is hardly above
    ``confidence``, take ``abstain``, more examples or looser limits.

    If ``estimator`` has no ``decision_function``, its score is the logarithm of the odds. Further arguments of ``fit``,
    such as ``sample_weight``, are routed to the classifier's ``fit`` if scikit-learn's metadata routing is on. Weights
    play no part in the calibration.

    References
    ----------
    .. [1] X. Tong, Y. Feng and J. J. Li (2018). Neyman-Pearson classification algorithms and NP receiver operating
       characteristics. Science Advances 4(2).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mmc.methods import RateGuarantee
    >>> data = load_breast_cancer(as_frame=True)
    >>> y = data.target_names[data.target]
    >>> classifier = make_pipeline(StandardScaler(), LogisticRegression())
    >>> model = RateGuarantee(classifier, {"malignant": 0.05}, random_state=0).fit(data.data, y)
    >>> print(model.guarantee_["malignant"])
    malignant: at most 5 % errors asked for; proven at most 4.58 % with 95 % confidence, the rate asked for with 96.2 %; \
calibration: 0 of 64 wrong
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        max_error: MaxError = 0.05,
        *,
        confidence: float = 0.95,
        abstain: Hashable = None,
        calibration: Calibration = 0.3,
        random_state: Seed = None,
    ):
        self.estimator = estimator
        self.max_error = max_error
        self.confidence = confidence
        self.abstain = abstain
        self.calibration = calibration
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, **params: object) -> Self:
        """Fit the classifier and set its threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The examples, as ``estimator`` takes them.
        y : array-like of shape (n_samples,)
            Their labels, of two kinds.
        **params : object
            Routed to the ``fit`` of the classifier, such as ``sample_weight``; see scikit-learn's metadata routing.

        Returns
        -------
        RateGuarantee
            Itself, fitted.
        """
        _check_rate("confidence", self.confidence)
        X, y = indexable(X, y)
        sample = self._sample(X, _two_kinds(y), params)
        labels = self._labels(sample.y)
        limits = Limits(_rates(self._asked(labels.tolist()), labels), self.confidence)
        self._check_abstain(labels, limits)
        held = held_out(self.estimator, sample, self.calibration, self.random_state)
        scores = held.of(labels)
        rule = place(scores, limits, (_name(labels[0]), _name(labels[1])), undecided=self.abstain is not None)
        self.estimator_, self.classes_ = held.estimator, labels
        self.thresholds_ = np.array([rule.low, rule.high])
        self.guarantee_ = _promise(scores, limits, rule, labels, exact=held.exact)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        if not isinstance(self.max_error, Mapping) and are_words(labels.tolist()):
            warn_of_positive(positive_label(labels.tolist()), f"max_error={{LABEL: {self.max_error}}}", stacklevel=3)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the distances of the scores from the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The examples, as ``estimator`` takes them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Above 0 means ``classes_[1]``; 0 means undecided if there is an undecided zone.
        """
        check_is_fitted(self)
        return _decide(scores_of(self.estimator_, X), self.thresholds_[0], self.thresholds_[1])

    def predict(self, X: ArrayLike) -> Labels:
        """Return the predicted labels, ``abstain`` for the undecided ones.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The examples, as ``estimator`` takes them.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        decision = self.decision_function(X)
        if self.abstain is None:
            labels: Labels = self.classes_[(decision > 0).astype(int)]
            return labels
        undecided = (decision == 0) & (self.thresholds_[0] < self.thresholds_[1])
        return _with_label(self.classes_, self.abstain)[np.where(undecided, 2, decision > 0)]

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata: all goes to the classifier's ``fit``, groups to the splitter.

        Returns
        -------
        MetadataRouter
            The routing.
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=to_fit)
        if isinstance(self.calibration, Splitter):
            router.add(splitter=self.calibration, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _sample(self, X: ArrayLike, y: Labels, params: Mapping[str, object]) -> Sample:
        if params and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"fit got {', '.join(params)}: to pass it on to the classifier, call "
                "sklearn.set_config(enable_metadata_routing=True) and ask for it with the classifier's set_fit_request"
            )
        routed = process_routing(self, "fit", **params)
        return Sample(
            X, y, routed.estimator.fit, routed.splitter.split if isinstance(self.calibration, Splitter) else {}
        )

    def _labels(self, y: Labels) -> Labels:
        labels = np.unique(y)
        if isinstance(self.calibration, str) and self.calibration == "prefit":
            check_is_fitted(self.estimator)
            unknown = np.setdiff1d(labels, self.estimator.classes_)
            if len(unknown):
                raise ValueError(
                    f"the fitted estimator has no class {_name(unknown[0])}: {_names(self.estimator.classes_)}"
                )
            labels = self.estimator.classes_
        if len(labels) != 2:
            raise ValueError(
                "Only binary classification is supported: RateGuarantee needs two classes, "
                f"got {len(labels)} class{'es' if len(labels) != 1 else ''}"
            )
        return labels

    def _asked(self, labels: list[Hashable]) -> Mapping[Hashable, float]:
        """Return the limits by label; a number is that of the positive class."""
        if isinstance(self.max_error, Mapping):
            return self.max_error
        return {positive_label(labels): self.max_error}

    def _check_abstain(self, labels: Labels, limits: Limits) -> None:
        if self.abstain is None:
            return
        if self.abstain in labels.tolist():
            raise ValueError(f"abstain={self.abstain!r} is a class: give a label that y does not have")
        if len(limits.asked) < 2:
            raise ValueError(
                f"abstain={self.abstain!r} needs a limit for both classes, such as "
                f"max_error={{{_name(labels[0])}: 0.1, {_name(labels[1])}: 0.1}}: with one limit nothing is left undecided"
            )


def _decide(scores: Array, low: float, high: float) -> Array:
    """Return how far scores are from the nearer threshold; 0 between the two."""
    return np.where(scores > high, scores - high, np.minimum(scores - low, 0.0))


def _promise(scores: Pair, limits: Limits, rule: Thresholds, labels: Labels, *, exact: bool) -> Guarantee:
    """Return the record. A class without a limit has no part in the threshold, so its errors bound its rate as they are."""
    entries = []
    for i, (label, rate, rank) in enumerate(zip(labels.tolist(), limits.rates, rule.ranks, strict=True)):
        decision, n = _decide(scores[i], rule.low, rule.high), len(scores[i])
        abstained = int((decision == 0).sum()) if rule.low < rule.high else 0
        right = int((decision > 0).sum() if i else (decision <= 0).sum() - abstained)
        errors = n - right - abstained
        entries.append(
            ClassGuarantee(
                label=label,
                asked=rate,
                confidence=limits.confidence,
                bound=upper_bound(errors if rank is None else rank - 1, n, limits.confidence),
                exact_confidence=None if rank is None or rate is None else kept_with(rank, n, rate),
                rank=rank,
                threshold=rule.low if i else rule.high,
                errors=errors,
                n=n,
                abstained=abstained,
                abstained_interval=interval(abstained, n, limits.confidence),
            )
        )
    alone = None not in rule.ranks and rule.low == rule.high
    return Guarantee(tuple(entries), limits.confidence, exact, feasible_up_to(scores, limits) if alone else None)


def _two_kinds(y: ArrayLike) -> Labels:
    assert_all_finite(np.asarray(y), input_name="y")
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. Unknown label type: {kind}")
    checked: Labels = column_or_1d(y, warn=True)
    return checked


def _rates(asked: Mapping[Hashable, float], labels: Labels) -> tuple[float | None, float | None]:
    """Return the limits in the order of the labels."""
    known = labels.tolist()
    if not asked:
        raise ValueError(f"max_error has no limit: give the largest error rate of {_names(labels)}, or of both")
    for label, rate in asked.items():
        if label not in known:
            raise ValueError(f"max_error has the unknown class {label!r}: {nearest(label, map(str, known))}")
        _check_rate(f"max_error of class {_name(label)}", rate)
    return asked.get(known[0]), asked.get(known[1])


def _check_rate(name: str, rate: float) -> None:
    if not isinstance(rate, Real) or isinstance(rate, bool) or not 0 < rate < 1:
        raise ValueError(f"{name} must be a number between 0 and 1, got {rate!r}")


def _with_label(labels: Labels, label: Hashable) -> Labels:
    """Return an array of labels and another one; of objects where the two do not mix."""
    numbers, words = "iuf", "U"
    kinds = {labels.dtype.kind, np.asarray(label).dtype.kind}
    mixed = not (kinds <= set(numbers) or kinds <= set(words))
    return np.array([*labels.tolist(), label], dtype=object if mixed else None)


def _name(label: object) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _names(labels: Labels) -> str:
    return " or ".join(map(_name, labels))
