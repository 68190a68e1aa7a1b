"""One class of ellipsoids against the origin: the extension that Pothin & Richard name in section 5, and do not write down.

The one-class SVM of Schölkopf et al. (2001), with the worst case over a set E_i, (3), in place of a point:

    min_{w,ρ,ξ≥0}  ½‖w‖² − ρ + 1/(νn) Σ_i ξ_i     s.t.  ⟨w, φ(x)⟩ ≥ ρ − ξ_i  for all x ∈ E_i,  i = 1 … n.

A share of at most ν of the sets is cut, that is, not wholly inside the region ⟨w, φ(x)⟩ ≥ ρ. The dual has points x_j of the sets,
each with its owner i, and a weight:

    max_{α≥0}  −½‖Σ_j α_j φ(x_j)‖²                s.t.  Σ_j α_j = 1,  Σ_{j of i} α_j ≤ 1/(νn).

The certificate. Any points of the sets with feasible weights give a lower bound. A w gives an upper bound by the lowest
value m_i of ⟨w, φ(x)⟩ on every set: the best ρ is the ⌈νn⌉-th smallest. For a linear kernel m_i = ⟨w, x̄_i⟩ − √⟨Σ_i w, w⟩ is exact; for
another one m_i is the lowest value on the points of E_i that were looked at, and the certificate is that of these points.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.kernels import Array, KernelSpec
from mmc.methods.problems import Answer, Problem
from mmc.methods.problems.bracket import Bracket
from mmc.methods.problems.shapes import KnowledgeSets
from mmc.methods.solution import InfeasibleProblem

_NOTHING = 1e-10  # ‖w‖² below this part of the largest k(x, x) is 0


@dataclass(frozen=True)
class Weighted:
    """Points of the sets, the set of each, and their weights: w = Σ_j weights_j φ(points_j). It is the dual point, too."""

    points: Array
    owner: NDArray[np.intp]
    weights: Array


OneClassAnswer = Answer[Weighted, Weighted]


@dataclass(frozen=True)
class OneClassProblem(Problem[OneClassAnswer]):
    """Sets of one class, a kernel, and the largest share ν of the sets that may be cut."""

    sets: KnowledgeSets
    kernel: KernelSpec
    nu: float

    @property
    def most(self) -> float:
        """The largest weight of a set, 1/(νn)."""
        return 1 / (self.nu * len(self.sets.centers))

    def offset(self, lowest: Array) -> float:
        """Return the best ρ for the lowest value on every set."""
        k = max(ceil(len(lowest) * self.nu * (1 - 1e-12)), 1)
        return float(np.partition(lowest, k - 1)[k - 1])

    def certify(self, norm2: float, lowest: Array, proven: float) -> Bracket:
        """Return what ‖w‖² with the lowest values proves from above, and ‖Σ α φ‖² from below."""
        rho = self.offset(lowest)
        slack = float(np.maximum(rho - lowest, 0.0).sum())
        return Bracket.between(norm2 / 2 - rho + self.most * slack, -proven / 2)

    def check_apart(self, norm2: float, largest: float) -> None:
        """Raise InfeasibleProblem if the dual point shows that no w but 0 is worth it; ``largest`` is of all k(x, x)."""
        if norm2 <= _NOTHING * largest:
            raise InfeasibleProblem(
                "the sets lie around the origin of the feature space: no hyperplane has them on one side of it; take kernel='rbf', "
                "smaller sets, or a larger nu",
                0.0,
            )
