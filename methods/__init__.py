"""The classifiers of the five papers, each a scikit-learn estimator.

This module is only the catalogue: nothing heavy is imported until a class is asked for, so that a command that
only has to know the names answers at once.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from mmc.methods.base import BinaryMethod, PathFitter

_ROOT = Path(__file__).parent


@dataclass(frozen=True)
class Method:
    """A catalogue entry: where a method's class is, and which solvers can serve it.

    Parameters
    ----------
    key : str
        Its name in YAML.
    name : str
        The name of its class.
    module : str
        The module of this package that has the class, or the full name of another package's.
    paper : str
        The authors of its paper.
    summary : str
        What it does, in one line.
    solvers : dict
        The names of its solvers and their modules, the default first.
    optimises : str, default ""
        The ratio of dispersions that it optimises, if it is of Gu & Guo's framework.
    facts : tuple, default ()
        The single numbers that a fit leaves besides its certificate: attributes of the estimator without their last underscore.
    bounds : bool, default False
        Whether it has ``worst_case_error_``.
    origin : str, default "mmc"
        Where it comes from.

    Examples
    --------
    >>> from mmc.methods import CATALOGUE
    >>> CATALOGUE["lda"].name, list(CATALOGUE["m4"].solvers)[-1]
    ('LDA', 'cvxpy')
    """

    key: str
    name: str
    module: str
    paper: str
    summary: str
    solvers: dict[str, str]
    optimises: str = ""
    facts: tuple[str, ...] = ()
    bounds: bool = False
    origin: str = "mmc"

    @property
    def solver(self) -> str:
        """The default solver; empty if the method has none to choose."""
        return next(iter(self.solvers), "")

    @property
    def outside(self) -> bool:
        """Whether it is not one of ours: from scikit-learn or a plugin."""
        return self.origin != "mmc"

    @property
    def foreign(self) -> bool:
        """Whether it knows nothing of mmc: it has no certificate, and tells several classes apart in its own way."""
        return False

    def load(self) -> type[BinaryMethod]:
        """Import and return the estimator class."""
        return cast("type[BinaryMethod]", getattr(import_module(f"mmc.methods.{self.module}"), self.name))

    def parameters(self) -> tuple[str, ...]:
        """Return the names of the constructor's parameters, read from the source: nothing is imported."""
        return _parameters(self.module, self.name)

    def start(self, params: Mapping[str, object], seed: int) -> PathFitter:
        """Return an estimator with these parameters. A method of ours draws nothing: the seed is for others."""
        return self.load()(**params)

    def seeded(self, params: Collection[str]) -> bool:
        """Whether a fit draws random numbers, from a seed that the parameters do not give."""
        return False

    def modules(self, solver: str) -> tuple[str, ...]:
        """Return the modules of mmc whose code decides a fit with this solver."""
        module = self.solvers.get(solver)
        return (f"mmc.methods.{self.module}", *(() if module is None else (f"mmc.methods.solvers.{module}",)))

    def identity(self) -> dict[str, str]:
        """Return what decides a fit besides code of mmc and its libraries."""
        return {}


_NATH, _HUANG, _GU = "Nath & Bhattacharyya", "Huang et al.", "Gu & Guo"
_POTHIN, _PENDSE, _CLASSIC = "Pothin & Richard", "Pendse", "classical"

_SETS = ("n_sets", "n_iter", "training_size")

CATALOGUE: dict[str, Method] = {
    method.key: method
    for method in (
        Method(
            "error-rate",
            "ErrorRateClassifier",
            "error_rate",
            _NATH,
            "largest margin under a bound on each class's error",
            {"secular": "secular", "socp": "margin_socp", "ellipsoid": "ellipsoid", "cvxpy": "cvxpy_error_rate"},
            facts=("angle",),
            bounds=True,
        ),
        Method(
            "mpm",
            "MPM",
            "minimax",
            _HUANG,
            "smallest worst-case error, the same for both classes",
            {
                "frontier": "frontier",
                "least-squares": "least_squares",
                "socp": "minimax_socp",
                "cvxpy": "cvxpy_minimax",
            },
            "d_w^s / d_b^c",
            facts=("rank",),
            bounds=True,
        ),
        Method(
            "bmpm",
            "BMPM",
            "bmpm",
            _HUANG,
            "smallest worst-case error of one class under a bound for the other",
            {
                "frontier": "frontier",
                "fractional": "fractional",
                "gradient-projection": "gradient_projection",
                "socp": "minimax_socp",
                "cvxpy": "cvxpy_minimax",
            },
            facts=("rank",),
            bounds=True,
        ),
        Method(
            "mempm",
            "MEMPM",
            "mempm",
            _HUANG,
            "largest mean of the two worst-case accuracies",
            {"frontier": "mean_frontier"},
            facts=("rank",),
            bounds=True,
        ),
        Method(
            "mmrm",
            "MMRM",
            "mmrm",
            _GU,
            "largest ratio of the margin to the spread within the classes",
            {"lp": "lp", "column-generation": "column_generation", "cvxpy": "cvxpy_ratio"},
            "d_w^m / d_b^m",
            facts=("margin_ratio",),
        ),
        Method(
            "rmm",
            "RMM",
            "banded",
            _GU,
            "SVM whose decision values also stay below B",
            {
                "smo": "banded_smo",
                "qp": "banded_qp",
                "libsvm": "banded_libsvm",
                "interior-point": "hinge_interior",
                "cvxpy": "cvxpy_banded",
            },
            "d_w^d / d_b^m",
        ),
        Method(
            "m4",
            "M4",
            "m4",
            _GU,
            "largest margin measured in standard deviations of each class",
            {"sequential-socp": "sequential_socp", "newton": "scatter_newton", "cvxpy": "cvxpy_scatter"},
            "d_w^s / d_b^m",
            facts=("rho", "ridge"),
        ),
        Method("lda", "LDA", "lda", _CLASSIC, "Fisher's linear discriminant", {"closed-form": "lda"}, "d_w^v / d_b^c"),
        Method(
            "svm",
            "SVM",
            "svm",
            _CLASSIC,
            "soft-margin SVM with a cost for each class",
            {"libsvm": "libsvm", "interior-point": "hinge_interior", "cvxpy": "cvxpy_svm"},
            "d_w^n / d_b^m",
            facts=("cost_scale",),
        ),
        Method(
            "hmem",
            "HMEM",
            "ellipsoid_machines",
            _POTHIN,
            "largest margin to ellipsoids, all on their side",
            {"alternating": "alternating", "socp": "knowledge_socp", "cvxpy": "cvxpy_knowledge"},
            facts=(*_SETS, "eps", "exact_gap"),
        ),
        Method(
            "smem",
            "SMEM",
            "ellipsoid_machines",
            _POTHIN,
            "largest margin to ellipsoids, with slack",
            {"alternating": "alternating", "socp": "knowledge_socp", "cvxpy": "cvxpy_knowledge"},
            facts=(*_SETS, "eps", "exact_gap"),
        ),
        Method(
            "tsvc",
            "TSVC",
            "knowledge",
            _POTHIN,
            "SVM on the least critical point of every ellipsoid",
            {"alternating": "alternating"},
            facts=(*_SETS, "eps"),
        ),
        Method(
            "sc-svm",
            "SCSVM",
            "knowledge",
            _POTHIN,
            "SVM on the centres of a set covering",
            {"libsvm": "libsvm"},
            facts=_SETS,
        ),
        Method(
            "bsvm",
            "BSVM",
            "banded",
            _PENDSE,
            "SVM whose decision values are kept in a band",
            {
                "smo": "banded_smo",
                "libsvm": "banded_libsvm",
                "qp": "banded_qp",
                "interior-point": "hinge_interior",
                "cvxpy": "cvxpy_banded",
            },
        ),
    )
}

_BY_NAME = {method.name: method for method in CATALOGUE.values()}
_SHARED = {
    "Solution": "solution",
    "Status": "solution",
    "FitError": "solution",
    "InfeasibleProblem": "solution",
    "NotConverged": "solution",
    "BoundWarning": "solution",
    "PositiveClassWarning": "solution",
    "BinaryMethod": "base",
    "ClassMoments": "numerics.moments",
    "Moments": "numerics.moments",
    "OneClassSMEM": "one_class",
    "RateGuarantee": "guarantee",
}
__all__ = ["CATALOGUE", "Method", *_SHARED, *sorted(_BY_NAME)]


def __getattr__(name: str) -> Any:  # the name decides the type
    if name in _SHARED:
        return getattr(import_module(f"mmc.methods.{_SHARED[name]}"), name)
    if name in _BY_NAME:
        return _BY_NAME[name].load()
    raise AttributeError(f"module 'mmc.methods' has no attribute {name!r}")


def entry_of(cls: type) -> Method:
    """Return the catalogue entry of a method's class, or of the class that it extends.

    A class of another package brings its own: its attribute ``entry``.
    """
    for base in cls.__mro__:
        if isinstance(own := vars(base).get("entry"), Method):
            return own
        if base.__name__ in _BY_NAME:
            return _BY_NAME[base.__name__]
    raise LookupError(f"{cls.__name__} is not in the catalogue of methods, and has no `entry` of its own")


@cache
def _parameters(module: str, name: str) -> tuple[str, ...]:
    tree = ast.parse((_ROOT / f"{module}.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                    return tuple(a.arg for a in (*item.args.args[1:], *item.args.kwonlyargs))
    raise LookupError(f"{module}.{name} has no __init__ of its own")
