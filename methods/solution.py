"""What a fit leaves behind, and the two ways in which it can fail."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum
from math import isnan


class Status(StrEnum):
    """How a fit ended: the word that records and tables show.

    Attributes
    ----------
    counted : bool
        Whether there is a classifier whose errors can be counted.

    Examples
    --------
    >>> from mmc.methods import Status
    >>> [str(status) for status in Status if status.counted]
    ['solved', 'iteration-cap']
    """

    SOLVED = "solved"
    CAPPED = "iteration-cap"
    INFEASIBLE = "infeasible"
    NOT_CONVERGED = "not-converged"
    SINGULAR = "singular"
    FAILED = "failed"

    @property
    def counted(self) -> bool:
        """Whether there is a classifier whose errors can be counted."""
        return self in (Status.SOLVED, Status.CAPPED)


@dataclass(frozen=True)
class Solution:
    """How a fit ended. ``gap`` is relative and computed from a primal and a dual point: never a solver's claim.

    A classifier from outside has no certificate: its gap is nan.

    Parameters
    ----------
    status : Status
        Whether it was solved, or stopped at the cap of its iterations.
    objective : float
        The value of the method's problem at the classifier; nan for the pairs of more than two classes.
    gap : float
        How far from the optimum that value can be, relative; of several pairs the largest.
    iterations : int
        The steps of the solver.
    seconds : float
        The time of the fit.
    solver : str
        The name of the solver.
    version : str
        The package that did the work, and its version.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from mmc.methods import MPM
    >>> solution = MPM().fit(*make_blobs(100, centers=[[-2, 0], [2, 0]], random_state=0)).solution_
    >>> str(solution.status), solution.solver, solution.gap < 1e-6
    ('solved', 'frontier', True)
    """

    status: Status
    objective: float
    gap: float
    iterations: int
    seconds: float
    solver: str
    version: str

    @property
    def certified(self) -> bool:
        """Whether there is a gap that proves how good the solution is."""
        return not isnan(self.gap)


class BoundWarning(UserWarning):
    """Left-out points refute a bound on the training moments: these are no estimate.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from mmc.methods import MPM, BoundWarning
    >>> noise = np.random.default_rng(0).normal(size=(120, 20))
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     model = MPM(kernel="rbf", ridge=1e-6).fit(noise, np.repeat([0, 1], 60))
    >>> all(issubclass(one.category, BoundWarning) for one in told), len(told)
    (True, 2)
    """


class PositiveClassWarning(UserWarning):
    """Nobody said which of two words is the positive class, and something depends on it.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import make_blobs
    >>> from mmc.methods import BMPM, PositiveClassWarning
    >>> X, y = make_blobs(100, centers=[[-2, 0], [2, 0]], random_state=0)
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always", PositiveClassWarning)
    ...     model = BMPM(min_accuracy_neg=0.7).fit(X, ["good" if one else "bad" for one in y])
    >>> model.pos_label_.item(), len(told)
    ('good', 1)
    """


def warn_of_positive(positive: object, how: str, stacklevel: int) -> None:
    """Say which class was taken as the positive one; ``how`` is what states it."""
    label = getattr(positive, "item", lambda: positive)()
    warnings.warn(
        f"the positive class is {label!r}, the last of the labels in order: nobody said which one it is; state it with {how}",
        PositiveClassWarning,
        stacklevel=stacklevel,
    )


class FitError(ValueError):
    """A problem that did not become a classifier; ``status`` is the word that records and tables show.

    Attributes
    ----------
    status : Status
        That word.

    Examples
    --------
    >>> from mmc.methods import MMRM, FitError
    >>> try:
    ...     MMRM(C=0.5).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    ... except FitError as error:
    ...     print(error.status)
    failed
    """

    status = Status.FAILED


class InfeasibleProblem(FitError):
    """No classifier satisfies the constraints.

    Parameters
    ----------
    message : str
        What cannot be satisfied, and what could.
    distance : float, default nan
        How far the problem is from feasible; 0 is the edge.

    Examples
    --------
    >>> from mmc.methods import InfeasibleProblem, MMRM
    >>> try:
    ...     MMRM(C=float("inf")).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    ... except InfeasibleProblem as error:
    ...     print(round(float(error.distance), 3))
    2.667
    """

    status = Status.INFEASIBLE

    def __init__(self, message: str, distance: float = float("nan")):
        super().__init__(message, distance)
        self.distance = distance

    def __str__(self) -> str:
        return str(self.args[0])


class NotConverged(FitError):
    """A solver stopped short of its tolerance.

    Parameters
    ----------
    message : str
        What it had reached, and what may help.
    iterations : int, default 0
        The steps it had taken.
    residual : float, default nan
        What it had reached.

    Examples
    --------
    >>> from mmc.methods import NotConverged, SVM
    >>> try:
    ...     SVM(solver="cvxpy", solver_options={"gap": 0.0}).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    ... except NotConverged as error:
    ...     print(error.status)
    not-converged
    """

    status = Status.NOT_CONVERGED

    def __init__(self, message: str, iterations: int = 0, residual: float = float("nan")):
        super().__init__(message, iterations, residual)
        self.iterations = iterations
        self.residual = residual

    def __str__(self) -> str:
        return str(self.args[0])
