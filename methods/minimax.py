"""The minimax probability machine (Lanckriet et al., 2002) and its biased version (Huang et al.).

Of all distributions with the means and covariances of the training data, the worst one puts a share 1 - α of the
positive class x and 1 - β of the negative class y on the wrong side of a'z = b. By Lemma 1 that is

    a'x̄ - b = κ(α) √(a'Σx a),     b - a'ȳ = κ(β) √(a'Σy a),     κ(p) = √(p / (1 - p)).          (13)

BMPM maximises α while β ≥ γ; MPM maximises the level that both keep. Both are the problem of
``solvers/frontier.py``, stated in coordinates Z of the training points, with Σ + ridge I for Σ:

    linear kernel                       Z = X: the ridge is added in input space, which is its feature space;
    ridge_kind="feature"                K = GG', Z = G, so ridge ‖a‖² is the norm of the kernel's own space;
    ridge_kind="w" (the paper's (16))   Z = K, so a is the paper's w and ridge ‖w‖² regularises the coefficients.

The certificate is a distance. Every point of y's ellipsoid of size κ(γ) shows κ(α) ≤ its Mahalanobis distance from x̄,
because a hyperplane cannot keep the one and the other apart. The point where that ellipsoid touches the hyperplane
of any a, ȳ + κ(γ) Σy a / √(a'Σy a), makes the two sides equal at the optimum and differ by O(error²) near it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, eigh, solve_triangular
from scipy.linalg.lapack import dpstrf
from sklearn.utils.validation import check_is_fitted

from mmc.methods import CATALOGUE
from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.moments import moments
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.solution import FitError, InfeasibleProblem, NotConverged, Status
from mmc.methods.solvers.frontier import Minimax, Pair

AUTOMATIC_RIDGE = 1e-8
_EPS = np.finfo(float).eps
_ACCEPTED_GAP = 1e-4


class SingularCovariance(FitError):
    """Without a ridge the covariances leave the answer open, or make it 100 %."""

    status = Status.SINGULAR


@dataclass(frozen=True)
class _View:
    """The problem: ``basis`` leads from the pair's coordinates to Z, ``expand`` from Z to dual coefficients."""

    pair: Pair
    mean_neg: Array
    ridge: float
    basis: Array | None = None
    expand: Callable[[Array], Array] | None = None


class MPM(BinaryMethod):
    """Minimax probability machine: the largest worst-case accuracy that both classes keep.

    Parameters
    ----------
    kernel, gamma, degree, coef0
        As in scikit-learn.
    ridge : float or None
        Added to the diagonal of both covariances. None adds 1e-8 of the mean variance of a coordinate, enough to
        fit any data. The amount used is ``ridge_``: a bound means nothing without it.
    ridge_kind : {"feature", "input", "w"}
        Where the ridge is added: in the kernel's feature space, in input space (the same for a linear kernel, which
        is the only one that has it) or to the matrices that act on the dual coefficients (not for a linear kernel).
    rank_tol : float or None
        For kernels: a is a combination of as many training points as it takes (pivoted Cholesky) for every other one
        to be within √(rank_tol · max k(x, x)) of their span. The bounds stay valid and can only be smaller. None
        takes all points.
    solver, solver_options, pos_label
        The algorithm, its options, and the label of the positive class x.

    Attributes
    ----------
    worst_case_error_ : array
        1 - α and 1 - β in the order of ``classes_``.
    ridge_ : float
        The ridge that was added.
    rank_ : int
        The number of coordinates in which the problem was solved.
    solution_ : Solution
        ``objective`` is κ(α), ``gap`` its relative duality gap.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryMethod._parameter_constraints,
        "ridge": [Interval(Real, 0, None, closed="left"), None],
        "ridge_kind": [StrOptions({"input", "w", "feature"})],
        "rank_tol": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        ridge: float | None = None,
        ridge_kind: str = "feature",
        rank_tol: float | None = None,
        solver: str = "frontier",
        solver_options: dict[str, Any] | None = None,
        pos_label: Any = None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ridge = ridge
        self.ridge_kind = ridge_kind
        self.rank_tol = rank_tol
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label

    def frontier(self, n: int = 101) -> tuple[Array, Array]:
        """Return the worst-case accuracies (positive, negative) of n optimal trade-offs on the training moments.

        The first is the best for the positive class, with nothing promised to the negative one; the last is the
        opposite. In between the accuracy of the negative class rises in cosine steps, finer towards both ends.
        """
        check_is_fitted(self)
        if n < 2:
            raise ValueError(f"a frontier has at least its two ends: n={n}")
        curve = self._trade_off
        if curve is None:
            raise AttributeError("frontier() needs the decomposition that factor='cholesky' spares: fit without it")
        best_pos, best_neg = curve.ends
        neg = _level(best_neg) * (1 - np.cos(np.linspace(0, np.pi, n))) / 2
        kappa_pos, _ = curve.kappas(curve.at(_kappa(neg[1:-1]))[0])
        return np.concatenate([[_level(best_pos)], _level(kappa_pos), [0.0]]), neg

    def _wanted(self, pair: Pair) -> float | None:
        """Return the κ(γ) that the negative class must keep; None is the MPM."""
        return None

    def _fit(self, train: Training) -> Fitted:
        key = ("minimax", self._kernel, self.ridge, self.ridge_kind, self.rank_tol)
        view = train.work.once(key, lambda: self._view(train))
        pair, wanted = view.pair, self._wanted(view.pair)
        answer = self._solve(Minimax(pair, wanted))
        bound = certify(pair, answer.a, wanted)
        if not bound.gap <= _ACCEPTED_GAP:
            raise NotConverged(
                f"solver {self.solver!r} left a relative duality gap of {bound.gap:.1e} "
                f"(accepted: {_ACCEPTED_GAP:.0e})",
                answer.iterations,
                bound.gap,
            )
        a = answer.a if view.basis is None else view.basis @ answer.a
        spared = (self.solver_options or {}).get("factor") == "cholesky"
        return Fitted(
            objective=bound.kappa_pos,
            gap=bound.gap,
            iterations=answer.iterations,
            version=answer.version,
            intercept=-(a @ view.mean_neg + bound.kappa_neg * bound.spread_neg),
            coef=a if view.expand is None else None,
            dual=None if view.expand is None else view.expand(a),
            errors=(1 / (1 + bound.kappa_pos**2), 1 / (1 + bound.kappa_neg**2)),
            attributes={
                "ridge_": view.ridge,
                "rank_": len(pair.d),
                "_trade_off": None if spared else pair.spectrum[0],
            },
        )

    # -- the problem in its coordinates ---------------------------------------------------------------------
    def _view(self, train: Training) -> _View:
        if self._linear:
            if self.ridge_kind == "w" or self.rank_tol is not None:
                given = "ridge_kind='w'" if self.ridge_kind == "w" else "rank_tol"
                raise ValueError(f"{given} is about dual coefficients, which a linear kernel does not have")
            return self._regularised(train, train.X)
        if self.ridge_kind == "input":
            raise ValueError("ridge_kind='input' is for the linear kernel; others take 'feature' or 'w'")
        K = train.gram(self._kernel)
        if self.ridge_kind == "w" and self.rank_tol is None:
            return self._regularised(train, K, lambda a: a)
        G, pivots = _pivoted_cholesky(K, self.rank_tol)

        def at_pivots(w: Array) -> Array:
            dual = np.zeros(len(K))
            dual[pivots] = w
            return dual

        if self.ridge_kind == "w":
            return self._regularised(train, K[:, pivots], at_pivots)
        L = G[pivots]
        return self._regularised(train, G, lambda a: at_pivots(solve_triangular(L, a, lower=True, trans=1)), K)

    def _regularised(
        self, train: Training, Z: Array, expand: Callable[[Array], Array] | None = None, K: Array | None = None
    ) -> _View:
        """Return the problem in coordinates Z with its ridge; K shows better than Z whether the means are equal."""
        mean = train.sign / np.where(train.sign > 0, np.sum(train.sign > 0), np.sum(train.sign < 0))
        seen = Z if K is None else K
        if np.all(np.abs(mean @ seen) <= len(Z) * _EPS * np.abs(seen).max(axis=0)):
            raise InfeasibleProblem("the means of the two classes are equal: no level above 0 can be kept", 0.0)
        m = moments(train if Z is train.X else Training(Z, train.sign))
        d, Sx, Sy = m.mean_pos - m.mean_neg, m.cov_pos, m.cov_neg
        ridge = self.ridge
        if ridge is None:  # of the total variance, classes weighted equally: positive whenever two points differ
            ridge = AUTOMATIC_RIDGE * ((np.trace(Sx) + np.trace(Sy)) / 2 + d @ d / 4) / len(d)
        if ridge == 0:
            basis = _range(d, Sx, Sy)
            pair = Pair(basis.T @ d, basis.T @ Sx @ basis, basis.T @ Sy @ basis)
            return _View(pair, m.mean_neg, 0.0, basis, expand)
        eye = ridge * np.eye(len(d))
        pair = Pair(d, Sx + eye, Sy + eye)
        try:
            pair.factors  # noqa: B018
        except np.linalg.LinAlgError:
            raise SingularCovariance(
                f"ridge={ridge:g} is lost in rounding: the covariances are still singular with it. Set a larger one"
            ) from None
        return _View(pair, m.mean_neg, float(ridge), None, expand)


class BMPM(MPM):
    """Biased minimax probability machine: the largest worst-case accuracy of the positive class while the negative
    class keeps at least ``min_accuracy_neg``.

    ``min_accuracy_neg=None`` takes MPM's level, which gives MPM. A level that no hyperplane can keep raises
    InfeasibleProblem, which names the largest one that can be kept. All else is as in :class:`MPM`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MPM._parameter_constraints,
        "min_accuracy_neg": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        min_accuracy_neg: float | None = None,
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        ridge: float | None = None,
        ridge_kind: str = "feature",
        rank_tol: float | None = None,
        solver: str = "frontier",
        solver_options: dict[str, Any] | None = None,
        pos_label: Any = None,
    ):
        super().__init__(kernel, gamma, degree, coef0, ridge, ridge_kind, rank_tol, solver, solver_options, pos_label)
        self.min_accuracy_neg = min_accuracy_neg

    def _wanted(self, pair: Pair) -> float | None:
        if self.min_accuracy_neg is None:
            if self.solver in CATALOGUE["mpm"].solvers:
                return None
            curve = pair.spectrum[0]
            return float(curve.kappas(curve.balanced()[0])[1][0])
        wanted = float(_kappa(self.min_accuracy_neg))
        if wanted >= pair.largest * (1 - 1e-12):  # closer to the edge than rounding can tell
            largest = _level(pair.largest)
            raise InfeasibleProblem(
                f"min_accuracy_neg={self.min_accuracy_neg} cannot be kept on these training moments: the largest "
                f"feasible level is {largest:.9f}, and there nothing is left for the positive class",
                self.min_accuracy_neg - largest,
            )
        return wanted


class Bound(NamedTuple):
    """κ(α) and κ(β) of a hyperplane, √(a'Σy a), and the relative gap between κ(α) and an upper bound."""

    kappa_pos: float
    kappa_neg: float
    spread_neg: float
    gap: float


def certify(pair: Pair, a: Array, wanted: float | None) -> Bound:
    """Return what any a with a'd = 1 promises, and how much more the best one could."""
    y = pair.Sy @ a
    sx, sy = float(np.sqrt(a @ pair.Sx @ a)), float(np.sqrt(a @ y))
    kappa_neg = 1 / (sx + sy) if wanted is None else wanted
    kappa_pos = (1 - kappa_neg * sy) / sx
    to_mean = pair.d - kappa_neg / sy * y
    upper = np.sqrt(to_mean @ cho_solve(pair.factors[0], to_mean))
    return Bound(kappa_pos, kappa_neg, sy, float(abs(upper / kappa_pos - 1)))


def _kappa(level: Any) -> Any:
    return np.sqrt(level / (1 - level))


def _level(kappa: Any) -> Any:
    return kappa**2 / (1 + kappa**2)


def _pivoted_cholesky(K: Array, tol: float | None) -> tuple[Array, Array]:
    """Return G and the pivots with K = GG' up to a diagonal residual of tol · max K_ii; G[pivots] is triangular."""
    C, order, rank, _ = dpstrf(K, tol=-1.0 if tol is None else tol * np.diag(K).max(), lower=1)
    G = np.empty((len(K), rank))
    G[order - 1] = np.tril(C)[:, :rank]
    return G, order[:rank] - 1


def _range(d: Array, Sx: Array, Sy: Array) -> Array:
    """Return a basis of the range of Σx + Σy, in which that sum is I; refuse where a class lacks variance in it."""
    scale = np.sqrt(np.diag(Sx) + np.diag(Sy))
    scale = np.where(scale > 0, scale, 1.0)
    values, Q = eigh((Sx + Sy) / np.outer(scale, scale))
    kept = values > 10 * len(d) * _EPS * max(values[-1], _EPS)
    outside = np.linalg.norm(Q[:, ~kept].T @ (d / scale))
    if outside > 1e-8 * np.linalg.norm(d / scale):
        raise SingularCovariance(
            "the class means differ along a direction in which neither class has any variance: the worst-case "
            "bound is 100 % for both classes, whatever the future data. Set ridge > 0 to regularise the covariances"
        )
    basis = Q[:, kept] / np.sqrt(values[kept]) / scale[:, None]
    lowest, highest = eigh(basis.T @ Sx @ basis, eigvals_only=True)[[0, -1]]
    for name, variance in (("positive", lowest), ("negative", 1 - highest)):
        if variance < 1e-10:
            raise SingularCovariance(
                f"the {name} class has no variance along a direction in which the other one has: its covariance is "
                "singular. Set ridge > 0 to regularise the covariances"
            )
    return basis
