"""Support vector problems by libsvm, finished in double precision.

A sum of hinges, each on one side of a target,

    min_{w,b}  ½‖w‖² + Σ_k C_k [s_k (t_k − f(x_k))]_+ ,        f(x) = ⟨w, x⟩ + b,  s_k = ±1,

has the dual

    max_a  t'β − ½ β'Kβ ,    β_k = s_k a_k,  0 ≤ a_k ≤ C_k,  Σ β_k = 0,         w = Σ β_k x_k.

The soft-margin SVM has one hinge per point, s = t = y (Nath & Bhattacharyya (2.11)); the banded SVM has two.

libsvm keeps the kernel in single precision: whatever its tolerance, a large C leaves a relative duality gap of 1e-5
to 1e-3. So it is only asked for its usual 1e-3, enough to know nearly all points that are at a bound, and Newton steps
on the others, mostly one or two, do the rest. Where libsvm would hardly end (many points, few features, a large C) it
solves for C/10 instead, and ten times that solution is where the Newton steps start.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from mmc.methods.numerics.gram import Gram
from mmc.methods.numerics.kernels import Array
from mmc.methods.solution import NotConverged

VERSION = f"libsvm of scikit-learn {sklearn.__version__}"
_NOT_CONVEX = "the kernel matrix is not positive semidefinite: the problem is not convex"
_STEPS = 1000  # Newton steps; one or two are usual, some hundred were the worst seen after a bad start
_FREED = 100  # hinges that a Newton step frees, or as many as are free already
_TENTHS = 9  # how often C is divided by ten before libsvm is given up


@dataclass(frozen=True)
class SvmProblem:
    """The soft-margin SVM: Gram matrix K, labels ±1, and the largest multiplier C_i > 0 of every point."""

    K: Array | Gram
    sign: Array
    C: Array

    @cached_property
    def hinges(self) -> Hinges:
        """Return the problem with one hinge for every point."""
        return Hinges(self.K, np.arange(len(self.sign)), self.sign, self.sign, self.C)

    def answer(self, a: Array, tol: float, iterations: int, version: str) -> SvmAnswer:
        """Return the classifier of multipliers that are certified to ``tol``."""
        certificate = self.hinges.certify(a)
        return SvmAnswer(a, certificate.b, certificate.primal, certificate.gap, iterations, version)


@dataclass(frozen=True)
class SvmAnswer:
    """The multipliers, the bias, what they are worth, and how long it took."""

    alpha: Array
    b: float
    objective: float
    gap: float
    iterations: int
    version: str


@dataclass(frozen=True)
class Certificate:
    """A decision rule's bias, its values on the points, and the two objectives between which the optimum lies."""

    b: float
    f: Array
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """Return the duality gap relative to the primal objective."""
        return max(self.primal - self.dual, 0.0) / self.primal


@dataclass(frozen=True)
class Hinges:
    """The problem of the module: hinge k sits on point ``point[k]`` of the Gram matrix K."""

    K: Array | Gram
    point: NDArray[np.intp]
    side: Array
    target: Array
    C: Array

    def values(self, a: Array) -> Array:
        """Return Kβ: the decision values of all points, without the bias."""
        return self.K @ np.bincount(self.point, self.side * a, len(self.K))

    def movable(self, a: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which β_k can still grow, and which can still fall; a free one can do both."""
        below, above = a < self.C, a > 0
        return np.where(self.side > 0, below, above), np.where(self.side > 0, above, below)

    def feasible(self, a: Array) -> Array:
        """Return the multipliers clipped into their bounds and moved until Σβ = 0: free ones, if they have the room."""
        a = np.clip(a, 0.0, self.C)
        total = np.sum(self.side * a)
        excess, heavy, free = abs(total), self.side * total > 0, (a > 0) & (a < self.C)
        for part, way in ((free & heavy, -a), (free & ~heavy, self.C - a), (heavy, -a)):
            room = abs(np.sum(way[part]))
            if room >= excess > 0:
                return np.where(part, a + way * (excess / room), a)
        return a

    def certify(self, a: Array, interior: bool = False) -> Certificate:
        """Return the objectives at feasible multipliers and at the w they give.

        The bias is the average over the free multipliers, which lie on their targets; if none is free, the middle of the
        interval that is left (Pendse, section 3.4). Of an ``interior`` point none is quite free nor quite at a bound:
        there it is the bias of least loss, a weighted quantile of t − Kβ.
        """
        h = self.values(a)
        r = self.target - h[self.point]
        free = (a > 1e-12 * self.C) & (a < (1 - 1e-12) * self.C)
        if interior:
            order = np.argsort(r)
            weight = np.cumsum(self.C[order])
            k = np.searchsorted(weight, np.sum(self.C[self.side > 0]) * (1 + np.array([-1e-12, 1e-12])))
            b = float(np.mean(r[order[np.minimum(k, len(r) - 1)]]))
        elif free.any():
            b = float(np.mean(r[free]))
        else:
            up, down = self.movable(np.where(a > self.C / 2, self.C, 0.0))
            b = float(np.max(r[up]) + np.min(r[down])) / 2
        half = self.side * a @ h[self.point] / 2
        loss = self.C @ np.maximum(self.side * (r - b), 0.0)
        rounding = len(a) * np.finfo(float).eps * np.max(self.K.diagonal()) * np.sum(a) ** 2
        if half < -1e-9 * loss - rounding:  # not even rounding makes ‖w‖² negative
            raise NotConverged(_NOT_CONVEX)
        return Certificate(b, h + b, float(half + loss), float(self.target @ (self.side * a) - half))


def solve(problem: SvmProblem, *, tol: float = 1e-6, max_iter: int | None = None, cache: float = 200.0) -> SvmAnswer:
    """Return the soft-margin SVM to a relative duality gap of ``tol``, or raise NotConverged.

    ``max_iter`` bounds each run of libsvm (default: 50 per point and at least 20,000), ``cache`` is its megabytes.
    """
    hinges = problem.hinges
    kernel, points = libsvm_kernel(problem.K)

    def svc(scale: float) -> tuple[Array | None, int]:
        machine = SVC(C=scale, **kernel, **libsvm_options(hinges, max_iter, cache))
        coef, iterations = run_libsvm(machine, points, problem.sign, problem.C)
        return None if coef is None else np.abs(coef), iterations

    a, iterations = solve_hinges(hinges, svc, tol)
    return problem.answer(a, tol, iterations, VERSION)


def libsvm_kernel(K: Array | Gram) -> tuple[dict[str, Any], Array]:
    """Return the settings of the kernel, and what libsvm is given for the points: K itself while it is an array."""
    if not isinstance(K, Gram):
        return {"kernel": "precomputed"}, K
    spec = K.spec
    width = {} if spec.gamma is None else {"gamma": spec.gamma}
    return {"kernel": spec.kernel, "degree": spec.degree, "coef0": spec.coef0, **width}, K.X


def libsvm_options(hinges: Hinges, max_iter: int | None, cache: float) -> dict[str, float]:
    """Return the settings that every run of libsvm has here."""
    limit = max(20_000, 50 * len(hinges.side)) if max_iter is None else max_iter
    return {"tol": 1e-3 * np.min(np.abs(hinges.target)), "max_iter": limit, "cache_size": cache}


def run_libsvm(machine: SVC | SVR, points: Array, y: Array, C: Array | None = None) -> tuple[Array | None, int]:
    """Return the coefficients of all points, None if libsvm stopped short, and its iterations."""
    with warnings.catch_warnings(), sklearn.config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore", ConvergenceWarning)  # told by fit_status_
        machine.fit(points, y, sample_weight=C)
    iterations = int(np.sum(machine.n_iter_))
    if machine.fit_status_:
        return None, iterations
    coef = np.zeros(len(y))
    coef[machine.support_] = machine.dual_coef_[0]
    return coef, iterations


def solve_hinges(hinges: Hinges, libsvm: Callable[[float], tuple[Array | None, int]], tol: float) -> tuple[Array, int]:
    """Return multipliers with a relative gap of at most ``tol``, and all iterations.

    ``libsvm(scale)`` solves the problem roughly with C times ``scale``.
    """
    iterations = 0
    for tenths in range(_TENTHS):
        a, n = libsvm(10.0**-tenths)
        iterations += n
        if a is not None:
            break
    else:
        raise NotConverged(
            f"libsvm did not converge, even with C/{10 ** (_TENTHS - 1):g}, within its limit: raise max_iter or scale the data",
            iterations,
        )
    for level in range(tenths, -1, -1):
        scaled = replace(hinges, C=hinges.C * 10.0**-level)
        # a tenth of C may round to another neighbour: what was at its bound stays there exactly
        a = np.where(a >= (1 - 1e-12) * scaled.C, scaled.C, np.minimum(a, scaled.C))
        a, n = finish(scaled, a, tol)
        iterations += n
        if level:
            a = 10.0 * a
    return a, iterations


def finish(hinges: Hinges, a: Array, tol: float) -> tuple[Array, int]:
    """Return optimal multipliers near ``a``, with a relative gap of at most ``tol``, and the steps of an active-set method.

    A step is Newton's on the free multipliers and those whose gradient points away from their bound, cut where the first
    one meets a bound, where it stays until a step is whole: the dual objective never falls. At least one step is made: it is
    cheap, and mostly takes the gap from 1e-4 to 1e-12. If freeing many at once leads nowhere, only the worst is freed.
    """
    side, C, point = hinges.side, hinges.C, hinges.point
    wide, whole = True, False
    stay = np.zeros(len(a), dtype=bool)
    for step in range(_STEPS):
        r = hinges.target - hinges.values(a)[point]
        up, down = hinges.movable(a)
        i = np.flatnonzero(up)[np.argmax(r[up])]
        j = np.flatnonzero(down)[np.argmin(r[down])]
        optimal = r[i] - r[j] <= tol * np.min(np.abs(hinges.target))
        if step or optimal:
            feasible = hinges.feasible(a)
            certificate = hinges.certify(feasible)
            if certificate.gap <= tol and (whole or optimal):
                return feasible, step
        free = up & down
        b = np.clip(np.mean(r[free]), r[j], r[i]) if free.any() else (r[i] + r[j]) / 2
        if wide:
            margin = 1e-3 * (r[i] - r[j])
            work = (up & (r > b + margin)) | (down & (r < b - margin))
            inwards = np.flatnonzero(work & ~free & ~stay)
            many = max(_FREED, int(np.sum(free)))
            if len(inwards) > many:  # those that matter most: a large block is dear, and most of it would turn back
                work[inwards] = False
                work[inwards[np.argpartition(-np.abs(r[inwards] - b), many)[:many]]] = True
            work |= free
        else:
            work = free.copy()
            work[[i, j] if not free.any() else i if r[i] - b > b - r[j] else j] = True
        W = np.flatnonzero(work & ~stay)
        while True:
            move = side[W] * _newton(hinges.K[np.ix_(point[W], point[W])], r[W])
            outward = ((a[W] <= 0) & (move < 0)) | ((a[W] >= C[W]) & (move > 0))
            if not outward.any():
                break
            W = W[~outward]
        room = np.full(len(W), np.inf)
        np.divide(np.where(move > 0, C[W] - a[W], a[W]), np.abs(move), out=room, where=move != 0)
        length = np.min(room, initial=1.0)
        met, whole = room <= length, length == 1.0
        if whole:
            wide = bool(np.any(stay)) or bool(np.any(move))
            stay[:] = False
        stay[W[met]] = True
        a = a.copy()
        a[W] = np.where(met, np.where(move > 0, C[W], 0.0), a[W] + length * move)
    raise NotConverged(
        f"the relative duality gap is {certificate.gap:.1e} after {_STEPS} Newton steps, wanted {tol:.1e}: "
        "scale the data or lower C",
        _STEPS,
        certificate.gap,
    )


def _newton(K: Array, r: Array) -> Array:
    """Return d with Σd = 0 that maximises r'd − ½ d'Kd, very slightly damped so that a singular K serves too."""
    if not len(r):
        return r
    mean, rounding = K.mean(axis=0), 4 * np.finfo(float).eps * len(r) * np.max(np.diag(K))
    K = K - mean - mean[:, None] + mean.mean()
    trace = max(float(np.trace(K)), 1e-100)
    K += trace / len(r) ** 2  # the direction of ones, which centring removed
    K.flat[:: len(r) + 1] += 1e-12 * trace + rounding
    try:
        factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise NotConverged(_NOT_CONVEX) from error
    d = cho_solve(factor, r - r.mean(), check_finite=False)
    return d - d.mean()
