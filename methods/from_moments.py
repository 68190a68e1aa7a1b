"""Methods that need the means and covariances of the classes, and nothing else: they can learn them bit by bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import Never, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from mmc.labels import positive_label
from mmc.methods._sklearn import checked_weights
from mmc.methods.base import BinaryMethod, Training
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.moments import ClassMoments, Label, Moments
from mmc.methods.numerics.pair_moments import PairMoments
from mmc.methods.pairs import SeveralClasses, check_no_positive, fit_pairs, summarise
from mmc.methods.solution import FitError
from mmc.words import nearest

_KEPT = 2**25  # bytes of rows that a fit keeps
_LASTING = ("n_features_in_", "feature_names_in_", "classes_", "pos_label_", "_flip", "moments_")


def _linear_only(method: FromMoments) -> bool:
    if not method._linear:
        raise AttributeError(f"moments of the features are enough for kernel='linear' only, not for {method.kernel!r}")
    return True


class FromMoments(BinaryMethod):
    """Base of the methods that state their problem in moments.

    `partial_fit` only adds up, also after `fit`. The problem is solved when something of its solution is asked for, by a prediction or by an
    attribute: errors such as InfeasibleProblem are raised there, and more batches may follow.
    """

    moments_: ClassMoments
    _rows: tuple[PairMoments, Array | None]
    _solving: bool

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **given: Never) -> Self:
        """Fit the classifier; raise InfeasibleProblem or NotConverged where there is no certified answer.

        A row of weight w counts as w equal rows.
        """
        self._refuse(given)
        try:
            train = self._training(X, y)
        except SeveralClasses as several:
            weights = None
            if sample_weight is not None:
                weights = checked_weights(sample_weight, several.points, dtype=np.float64, ensure_non_negative=True)
            self._forget("moments_", "_rows")
            fit_pairs(self, several, sample_weight=weights)
            return self
        self._forget("moments_", "_rows")
        if sample_weight is None:
            return self._fit_one(train, examined=True)._remember(train)
        weight = checked_weights(sample_weight, train.X, dtype=np.float64, ensure_non_negative=True)
        kept = np.flatnonzero(weight)
        for label, sign in ((self.pos_label_, 1.0), (self.classes_[self.classes_ != self.pos_label_][0], -1.0)):
            if not (train.sign[kept] == sign).any():
                raise ValueError(f"all rows of class {label.item()!r} have weight 0: two classes are needed")
        points = train.X[np.ix_(kept, kept)] if self.kernel == "precomputed" else train.X[kept]
        counted = Training(points, train.sign[kept], weight=weight[kept])
        self._fit_one(counted)
        if "support_" in vars(self):
            self.support_ = kept[self.support_]
        return self._remember(counted)

    @available_if(_linear_only)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add a batch of rows to what was learnt; the order and the sizes of the batches do not matter.

        A batch that is refused leaves everything as it was.

        Parameters
        ----------
        X : array-like of shape (n, n_features_in_)
            The rows of the batch.
        y : array-like of shape (n,)
            Their labels. A class may be missing.
        classes : array-like of shape (n_classes,) or None, default None
            All labels; needed in the first call only.
        sample_weight : array-like of shape (n,) or None, default None
            A row of weight w counts as w equal rows.
        """
        with self._kept_on_error():
            return self._add(X, y, classes, sample_weight)

    @available_if(_linear_only)
    def fit_moments(
        self, pos: Moments | ClassMoments, neg: Moments | None = None, *, labels: Sequence[Label] = (1, 0)
    ) -> Self:
        """Fit from the moments of the two classes alone.

        Parameters
        ----------
        pos, neg : Moments
            The moments of the positive and of the negative class. A ``ClassMoments`` of two or more classes may take the
            place of both: it has labels of its own, and ``pos_label`` says which class is positive.
        neg : Moments or None
            See ``pos``.
        labels : pair of labels, default (1, 0)
            What to call the positive and the negative class.
        """
        with self._kept_on_error():
            self._check_params()
            given, positive = self._both(pos, neg, labels)
            self._forget(*_LASTING)
            self._choose_classes(np.unique(np.array(list(given))), positive)
            first = next(iter(given.values()))
            self.n_features_in_ = len(first.mean)
            if first.names is not None:
                self.feature_names_in_ = np.array(first.names, dtype=object)
            self.moments_ = given
            return self._solve_moments()

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the signed decision values, as after `fit`."""
        self._settle()
        return super().decision_function(X)

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the predicted labels."""
        self._settle()
        return super().predict(X)

    # -- the parts ------------------------------------------------------------------------------------------
    def _look_at(self, train: Training) -> None:
        if self._linear:
            train.extents(compiled=True)

    def _add(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, sample_weight: ArrayLike | None) -> Self:
        self._check_params()
        if "solution_" in vars(self) and "moments_" not in vars(self):
            self._recall()
        first = "moments_" not in vars(self)
        points, labels = validate_data(self, X, y, dtype=np.float64, reset=first)
        weight = (
            None
            if sample_weight is None
            else checked_weights(
                sample_weight, points, dtype=np.float64, ensure_non_negative=True, allow_all_zero_weights=True
            )
        )
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit: the labels of both classes")
            self._choose_classes(np.unique(np.asarray(classes)))
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(
                f"classes={classes!r} are not those of the first call to partial_fit: {self.classes_.tolist()}"
            )
        names = getattr(self, "feature_names_in_", None)
        named = None if names is None else tuple(names.tolist())
        added = ClassMoments.of_codes(points, self._codes(labels), self.classes_.tolist(), weight, named)
        self._forget(*(set(vars(self)) - set(_LASTING) - set(self._get_param_names())))
        self.moments_ = added if first else self.moments_ + added
        return self

    def _both(
        self, pos: Moments | ClassMoments, neg: Moments | None, labels: Sequence[Label]
    ) -> tuple[ClassMoments, Label | None]:
        """Return the moments by label, and the positive label if it is stated."""
        if isinstance(pos, ClassMoments):
            if neg is not None:
                raise ValueError("moments by class hold both classes: do not give neg")
            return pos, None
        if neg is None:
            raise ValueError("the moments of the negative class are missing: give neg")
        if len(set(labels)) != 2:
            raise ValueError(f"labels must name two classes, the positive one first, got {labels!r}")
        if self.pos_label is not None and self.pos_label != labels[0]:
            raise ValueError(f"pos_label={self.pos_label!r}, but the positive class is called {labels[0]!r}")
        return ClassMoments({labels[0]: pos, labels[1]: neg}), labels[0]

    @contextmanager
    def _kept_on_error(self) -> Iterator[None]:
        """Leave everything as it was if something goes wrong."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _choose_classes(self, classes: NDArray[np.generic], positive: Label | None = None) -> None:
        if len(classes) <= 2:
            self._set_classes(classes, positive)
        else:
            self.classes_ = classes
            check_no_positive(self)

    def _remember(self, train: Training) -> Self:
        """Keep the rows of a small fit, for `partial_fit` may follow: their moments would cost as much as the fit."""
        if self._linear:
            space = train.seen_by(self._kernel)
            if space.X.nbytes <= _KEPT:
                self._rows = space.moments(), space.origin
        return self

    def _recall(self) -> None:
        """Sum up the rows that `fit` has kept."""
        if "estimators_" in vars(self):
            found: dict[Label, Moments] = {}
            for part in self.estimators_:
                cast(FromMoments, part)._recall()
                found |= cast(FromMoments, part).moments_
            self.moments_ = ClassMoments(found)
            return
        if "_rows" not in vars(self):
            raise ValueError(
                f"partial_fit cannot go on after a fit of more than {_KEPT >> 20} MiB, or of a model that was saved: their rows "
                "are not kept. Give all batches to partial_fit, or start with fit_moments(Moments.of(X, y))"
            )
        pair, origin = self._rows
        names = getattr(self, "feature_names_in_", None)
        other = self.classes_[self.classes_ != self.pos_label_][0]
        self.moments_ = ClassMoments(
            {
                label.item(): moments.affine(offset=0.0 if origin is None else origin).renamed(names)
                for label, moments in zip((self.pos_label_, other), pair.summed_up(), strict=True)
            }
        )

    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())
        state.pop("_rows", None)
        return state

    def _codes(self, labels: NDArray[np.generic]) -> NDArray[np.integer]:
        """Return for each label its place among the classes."""
        codes = np.full(len(labels), -1, dtype=np.int64)
        for code, label in enumerate(self.classes_):
            codes[labels == label] = code
        if (codes < 0).any():
            strange, known = labels[codes < 0].tolist()[0], map(str, self.classes_.tolist())
            raise ValueError(f"y has the unknown label {strange!r}: {nearest(str(strange), known)}")
        return codes

    def _solve_moments(self) -> Self:
        """Solve the problem that the moments state."""
        for label in self.classes_.tolist():
            if label not in self.moments_:
                raise FitError(f"no row of class {label!r} has been seen so far: partial_fit needs rows of every class")
        if len(self.classes_) > 2:
            summarise(self, [self._pair(*labels) for labels in combinations(self.classes_.tolist(), 2)])
            self._pair_rows = None
            return self
        positive = self.pos_label_.item()
        sides = [self.moments_[label] for label in sorted(self.classes_.tolist(), key=lambda label: label != positive)]
        none, self._solving = np.empty((0, self.n_features_in_)), True
        try:
            return self._fit_one(Training(none, none[:, 0], pair=PairMoments.given_as(*sides)))
        finally:
            del self._solving

    def _settle(self) -> None:
        """Solve what `partial_fit` has left open."""
        if "moments_" in vars(self) and "solution_" not in vars(self):
            self._solve_moments()

    def _pair(self, first: Label, second: Label) -> Self:
        """Fit a clone to two of several classes."""
        own: Self = clone(self).set_params(pos_label=positive_label([first, second]))
        try:
            own.fit_moments(ClassMoments({label: self.moments_[label] for label in (first, second)}))
            return own
        except FitError as error:
            error.args = (f"classes {first!s} and {second!s}: {error.args[0]}", *error.args[1:])
            raise

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> object:
        own = vars(self)
        asked = name == "_trade_off" or (name.endswith("_") and not name.startswith("_"))
        waiting = "moments_" in own and "solution_" not in own and "_solving" not in own
        if asked and waiting and name not in _LASTING:
            self._solve_moments()
            if name in own:
                found: object = own[name]
                return found
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
