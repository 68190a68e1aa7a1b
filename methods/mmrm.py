"""The max-margin ratio machine (Gu & Guo): the largest margin, measured by the spread within the classes.

    max  d_b^m(w) / d_w^m(w)                                                                             (18)–(20)

is, because d_w^m = d_b^c - d_b^m (17), a linear program (24), with slacks (28)

    min  w'(x̄ - ȳ) + C (Σξ_i + Σξ_j)   s.t.  w'x_i + b ≥ 1 - ξ_i,  -(w'y_j + b) ≥ 1 - ξ_j,  ξ ≥ 0

and, with w = Σ α_k φ(x_k) - Σ β_l φ(y_l), the kernel form (30). α, β ≥ 0 there is essential: with free signs every class can
be mapped to one point, and the ratio says nothing.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.svm import SVC

from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.numerics.gram import Gram
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.numerics.libsvm_kernel import libsvm_kernel
from mmc.methods.solution import FitError
from mmc.methods.solvers.lp import Dense, Index, RatioLP, RatioSolution, noise

_SMALL = 1000  # points up to which a centred copy of the Gram matrix costs nothing
_SAMPLE = 100  # rows from which the unit of a column is estimated


class MMRM(BinaryMethod):
    """Max-margin ratio machine: (28) for the linear kernel, (30) for the others.

    Below the threshold max(1/n_x, 1/n_y) the program may be unbounded, and at the threshold w = 0 is optimal. ``C`` counts in
    multiples of it, or is the paper's own with ``C_unit="absolute"``; ``C=inf`` is the hard margin (24).

    ``margin_ratio_`` is 2 / (w'(x̄ - ȳ) - 2): the ratio of Theorem 3. With slacks it is the ratio of the soft margin, the
    points within it left aside; it is ∞ where the classes have no spread towards each other, and nan where the
    means are closer than the soft margin is wide, so that there is no ratio.

    The coefficients of (30) are capped (see ``solvers/lp.py``), far above what the data of the papers need.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryMethod._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="right")],
        "C_unit": [StrOptions({"threshold", "absolute"})],
    }

    def __init__(
        self,
        C: float = 10.0,
        C_unit: str = "threshold",
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "lp",
        solver_options: dict[str, Any] | None = None,
        pos_label: Any = None,
    ):
        self.C = C
        self.C_unit = C_unit
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label

    def _fit(self, train: Training) -> Fitted:
        z = train.sign
        weight = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
        C = self._slack_cost(float(weight.max()))
        kernel = None if self._linear else self._kernel
        session = train.work.once(("ratio", self.solver, kernel), dict)
        if kernel is None:
            problem, middle, scale = train.work.once("ratio of features", lambda: _of_features(train.X, z, weight))
            answer = self._solve(replace(problem, C=C), session=session)
            w = answer.v / scale
            return _fitted(answer, answer.b - float(w @ middle), coef=w)
        whole = self.solver == "lp" or len(z) <= _SMALL
        problem, middle, size = train.work.once(
            ("ratio of kernel", kernel, whole),
            lambda: _of_kernel(train.gram(kernel) if whole else train.kernel(kernel), z, weight, whole),
        )
        answer = self._solve(replace(problem, C=C), session=session)
        coefficients = z * answer.v / size
        return _fitted(answer, answer.b - float(coefficients @ middle), dual=coefficients)

    def _slack_cost(self, threshold: float) -> float:
        C = self.C * (threshold if self.C_unit == "threshold" else 1.0)
        if threshold * (1 - 1e-12) > C:
            raise FitError(
                f"C={self.C:g} ({self.C_unit}) is below the threshold max(1/n_x, 1/n_y) = {threshold:g}: "
                "the linear program may be unbounded"
            )
        return C


def _of_features(X: Array, z: Array, weight: Array) -> tuple[RatioLP, Array, Array]:
    """Return (28) for standardised features: it does not depend on it, the solvers' tolerances do."""
    middle, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1.0
    return RatioLP.of(z[:, None] * ((X - middle) / scale), z, weight, inf, False), middle, scale


def _of_kernel(K: Array | Gram, z: Array, weight: Array, whole: bool) -> tuple[RatioLP, Array, Array]:
    """Return (30) with G = zz'∘(K - 1m')/s: the columns can be centred because z'λ = 0, it only moves b, and v counts in any unit.

    m_i is the median of column i, s_i how far the column, or the point's own entry, is from it: medians of some rows, which
    a few points far outside do not move, whatever the kernel makes of them.
    """
    n = len(z)
    some = np.arange(0, n, 1 + n // _SAMPLE)
    rows = K[np.ix_(some, np.arange(n))]
    middle = np.median(rows, axis=0)
    rows -= middle
    size = np.maximum(np.median(np.abs(rows, out=rows), axis=0), np.abs(K.diagonal() - middle))
    size[size == 0] = 1.0
    sides = np.column_stack([weight * (z > 0), weight * (z < 0)])
    matrix: CentredGram | SignedGram
    if isinstance(K, Gram) or not whole:
        matrix = SignedGram(K, z, middle, size)
        costs = z * ((K @ sides).T - middle) / size * [[1.0], [-1.0]]
    else:
        matrix = CentredGram(K, z, middle, size)
        costs = np.array([matrix.pull(side) for side in sides.T])
    return RatioLP(matrix, z, weight, (costs[0], costs[1]), inf, True), middle, size


class _OfKernel:
    """What both forms of G share: how large its entries can be, and an SVM on the same kernel."""

    def __init__(self, K: Array | Gram, z: Array, middle: Array, size: Array):
        self.K, self.z, self.middle, self.size = K, z, middle, size
        self.shape = len(z), len(z)
        self.length = np.sqrt(np.abs(K.diagonal()))

    def rounding(self, dual: Array) -> Array:
        """By |k(x, y)|² ≤ k(x, x) k(y, y)."""
        largest = self.length * (dual @ self.length) + np.abs(self.middle) * dual.sum()
        return noise(len(dual)) * largest / self.size

    def machine(self, svc: SVC, sign: Array) -> tuple[Array, float]:
        kernel, points = libsvm_kernel(self.K)
        svc.set_params(**kernel, C=svc.C / float(np.median(self.size))).fit(points, sign)
        alpha = np.zeros(len(sign))
        alpha[svc.support_] = np.abs(svc.dual_coef_[0])
        return self.size * alpha, float(svc.intercept_[0] + (sign * alpha) @ self.middle)


class CentredGram(_OfKernel, Dense):
    """G as a whole: centred before anything is multiplied, which keeps the digits of large kernels."""

    def __init__(self, K: Array, z: Array, middle: Array, size: Array):
        _OfKernel.__init__(self, K, z, middle, size)
        G = K - middle
        G *= z[:, None]
        G *= z / size
        Dense.__init__(self, G)


class SignedGram(_OfKernel):
    """G by products with K, from which the middle is taken away: it is never made, but for the blocks of a solver."""

    def whole(self) -> Array:
        everyone = np.arange(len(self.z))
        return self.block(everyone, everyone)

    def block(self, rows: Index, columns: Index) -> Array:
        G = self.K[np.ix_(rows, columns)] - self.middle[columns]
        G *= self.z[rows, None]
        G *= self.z[columns] / self.size[columns]
        return G

    def times(self, v: Array) -> Array:
        signed = self.z * v / self.size
        return self.z * (self.K @ signed - signed @ self.middle)

    def pull(self, dual: Array) -> Array:
        signed = self.z * dual
        return self.z * (self.K @ signed - signed.sum() * self.middle) / self.size

    def limit(self, memory: float) -> None:
        if isinstance(self.K, Gram):
            self.K.limit(memory)


def _fitted(answer: RatioSolution, intercept: float, coef: Array | None = None, dual: Array | None = None) -> Fitted:
    within = answer.spread - 2
    ratio = 2 / within if within > 1e-9 else inf if answer.slack < 1e-9 else nan
    return Fitted(
        answer.objective,
        answer.gap,
        answer.iterations,
        answer.version,
        intercept,
        coef,
        dual,
        attributes={"margin_ratio_": ratio},
    )
