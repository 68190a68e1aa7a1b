"""What a trial leaves behind, as types. The store keeps a record as text: one function writes it, one reads it back."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mmc.methods.solution import Status

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Params: TypeAlias = dict[str, Json]


@dataclass(frozen=True)
class Counts:
    """The test points of each class, and how many of them were wrong. Of an area they need not be whole numbers."""

    n_pos: float = 0
    n_neg: float = 0
    wrong_pos: float = 0
    wrong_neg: float = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.n_pos + other.n_pos,
            self.n_neg + other.n_neg,
            self.wrong_pos + other.wrong_pos,
            self.wrong_neg + other.wrong_neg,
        )


@dataclass(frozen=True)
class Proof:
    """The certificate of a fit: the objective, its relative duality gap, and the steps that it took."""

    objective: float
    gap: float
    iterations: int


@dataclass(frozen=True)
class Ballot:
    """What the classifier of one pair of classes says of every test point: true is the first class of the pair."""

    said: bytes
    points: int

    @classmethod
    def of(cls, said: NDArray[np.bool_]) -> Ballot:
        return cls(np.packbits(said).tobytes(), len(said))

    def votes(self) -> NDArray[np.bool_]:
        return np.unpackbits(np.frombuffer(self.said, np.uint8), count=self.points).astype(bool)


@dataclass(frozen=True)
class Choice:
    """The class that a classifier of several gives each test point, by its place in their order, and how many are wrong."""

    said: bytes
    points: int
    wrong: int

    @classmethod
    def of(cls, said: NDArray[np.intp], truth: NDArray[np.intp]) -> Choice:
        kind = np.min_scalar_type(int(said.max())).newbyteorder("<")
        return cls(said.astype(kind).tobytes(), len(truth), int(np.sum(said != truth)))

    def classes(self) -> NDArray[np.intp]:
        width = len(self.said) // max(self.points, 1)
        return np.frombuffer(self.said, f"<u{width}").astype(np.intp)


@dataclass(frozen=True)
class Record:
    """What a trial leaves behind.

    ``seconds`` are those of fit and test, ``train_seconds`` those of the fit alone. ``facts`` are single numbers: bounds,
    a method's own, what the config measures; ``curves`` are measured lists. Of a tuned trial ``chosen`` is the grid point,
    and ``inner_scores`` are the scores of all points (inf where one could not be fitted). A trial without a
    classifier has a ``message`` and, if infeasible, its ``distance`` from feasible.
    """

    key: str
    status: Status
    seconds: float = 0.0
    train_seconds: float = 0.0
    counts: Counts | None = None
    proof: Proof | None = None
    ballot: Ballot | None = None
    facts: Mapping[str, float] = field(default_factory=dict)
    curves: Mapping[str, Sequence[float]] = field(default_factory=dict)
    chosen: Params | None = None
    inner_scores: tuple[float, ...] = ()
    message: str = ""
    distance: float | None = None
    choice: Choice | None = None

    def fact(self, name: str) -> float | None:
        """Return a single number by its name in tables: a fact, a part of the proof, a time. None: it has none."""
        if name in self.facts:
            return self.facts[name]
        if name in ("objective", "gap", "iterations"):
            return None if self.proof is None else float(getattr(self.proof, name))
        if name in ("fit_seconds", "train_seconds"):
            return self.seconds if name == "fit_seconds" else self.train_seconds
        return None


def dump(record: Record) -> str:
    """Return a record, all but its key, as text. Only what differs from an empty record is written."""
    out: dict[str, Json] = {"status": str(record.status), "seconds": record.seconds}
    if record.train_seconds:
        out["train_seconds"] = record.train_seconds
    if record.counts is not None:
        c = record.counts
        out["counts"] = [c.n_pos, c.n_neg, c.wrong_pos, c.wrong_neg]
    if record.proof is not None:
        out["proof"] = [_coded(record.proof.objective), _coded(record.proof.gap), record.proof.iterations]
    if record.ballot is not None:
        out["ballot"] = [base64.b64encode(record.ballot.said).decode("ascii"), record.ballot.points]
    if record.choice is not None:
        said = base64.b64encode(record.choice.said).decode("ascii")
        out["choice"] = [said, record.choice.points, record.choice.wrong]
    if record.facts:
        out["facts"] = {name: _coded(value) for name, value in record.facts.items()}
    if record.curves:
        out["curves"] = {name: [_coded(v) for v in values] for name, values in record.curves.items()}
    if record.chosen is not None:
        out["chosen"] = record.chosen
    if record.inner_scores:
        out["inner_scores"] = [_coded(score) for score in record.inner_scores]
    if record.message:
        out["message"] = record.message
    if record.distance is not None:
        out["distance"] = _coded(record.distance)
    return json.dumps(out, allow_nan=False)


def parse(key: str, text: str) -> Record:
    """Return the record that ``dump`` wrote; raise ValueError where the text is none."""
    try:
        given = json.loads(text)
        counts, proof, ballot, choice = (given.get(name) for name in ("counts", "proof", "ballot", "choice"))
        return Record(
            key,
            Status(given["status"]),
            float(given["seconds"]),
            float(given.get("train_seconds", 0.0)),
            None if counts is None else Counts(*counts),
            None if proof is None else Proof(_decoded(proof[0]), _decoded(proof[1]), int(proof[2])),
            None if ballot is None else Ballot(base64.b64decode(ballot[0], validate=True), int(ballot[1])),
            {name: _decoded(value) for name, value in given.get("facts", {}).items()},
            {name: [_decoded(v) for v in values] for name, values in given.get("curves", {}).items()},
            given.get("chosen"),
            tuple(_decoded(score) for score in given.get("inner_scores", ())),
            given.get("message", ""),
            None if given.get("distance") is None else _decoded(given["distance"]),
            None
            if choice is None
            else Choice(base64.b64decode(choice[0], validate=True), int(choice[1]), int(choice[2])),
        )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"not a record: {error!r}") from None


def _coded(value: float) -> Json:
    """Return a number that JSON can write: it has no inf and no nan."""
    return float(value) if math.isfinite(value) else str(float(value))


def _decoded(value: Json) -> float:
    if not isinstance(value, (int, float, str)):
        raise TypeError(f"{value!r} is no number")
    return float(value)
