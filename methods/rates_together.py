"""The rules of many rates, read from the solver's answers and judged together: what `ErrorRateClassifier` does for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mmc.methods.base import Fitted, Training
from mmc.methods.estimated_moments import Regular
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems.delivered import Verdict
from mmc.methods.problems.ellipsoid_pair import ClosestPoints, EllipsoidPair, judge_stack


@dataclass(frozen=True)
class Together:
    """The linear rules of the answers at the places ``certified``; a row of ``coefs`` for each."""

    regular: Regular
    answers: Mapping[int, ClosestPoints]
    verdicts: Mapping[int, Verdict]
    rows: Mapping[int, int]
    coefs: Array
    intercepts: Array

    @property
    def certified(self) -> list[int]:
        """The places of the rules whose verdict is good enough."""
        return [place for place, verdict in self.verdicts.items() if verdict.gap <= verdict.allowed]

    def fitted(self, place: int, attributes: Mapping[str, object]) -> Fitted:
        """Return the rule at one place."""
        verdict, answer, row = self.verdicts[place], self.answers[place], self.rows[place]
        return Fitted(
            objective=verdict.objective,
            gap=verdict.gap,
            iterations=answer.iterations,
            version=answer.version,
            intercept=float(self.intercepts[row]),
            coef=self.coefs[row].copy(),
            attributes=attributes,
        )


def read_together(
    train: Training, problems: Sequence[EllipsoidPair], answers: Sequence[ClosestPoints | None], regular: Regular
) -> Together:
    """Read the certified answers to problems of one linear geometry, w and b of (3.24) and (3.27), and judge them on the rows."""
    held = {
        place: (problem, found, found.certificate)
        for place, (problem, found) in enumerate(zip(problems, answers, strict=True))
        if found is not None and found.certificate is not None and train.rows_alike
    }
    if not held:
        return Together(regular, {}, {}, {}, np.empty((0, 0)), np.empty(0))
    asked, found, proofs = zip(*held.values(), strict=True)
    m, scale = train.moments(), np.array([proof.scale for proof in proofs])
    coefs = scale[:, None] * np.array([answer.primal for answer in found])
    middles = [(p.kappa[1] * s.spread[1] - p.kappa[0] * s.spread[0]) / 2 for p, s in zip(asked, proofs, strict=True)]
    intercepts = -(scale * np.array(middles) + coefs @ (m.mean_pos + m.mean_neg) / 2)
    verdicts = judge_stack(asked, train.X, train.sign, coefs, intercepts, regular.shrinkage, proofs)
    return Together(
        regular,
        dict(zip(held, found, strict=True)),
        dict(zip(held, verdicts, strict=True)),
        {place: row for row, place in enumerate(held)},
        coefs,
        intercepts,
    )
