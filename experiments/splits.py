"""Train/test splits. One seed decides every split, whatever the number of workers.

Each protocol is a class that knows itself: the keys that a config gives it, its splits, its words for the report, what a
comparison of two methods must know of it. A new one is a class here and a name in ``AnyProtocol``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mmc.experiments.errors import KeyPath, PlaceError
from mmc.experiments.model import Model

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one training part and of one test part."""

    train: Index
    test: Index

    def digest(self) -> str:
        """Return a hash of the rows: the same split has the same digest, however it was made."""
        sha = hashlib.sha256()
        for part in (self.train, self.test):
            sha.update(np.ascontiguousarray(part, dtype="<i8").tobytes() + b"|")
        return sha.hexdigest()


class Protocol(Model):
    """What all protocols share. A generated data set is drawn anew for every repetition if ``redraw`` is true."""

    repetitions: int = Field(default=1, ge=1)
    redraw: bool = False

    @property
    def per_repetition(self) -> int:
        """How many splits a repetition has."""
        return 1

    @property
    def overlap(self) -> float:
        """n_test / n_train where the training parts of two repetitions share rows, so that they are not independent."""
        return 0.0

    def words(self) -> str:
        """Return the protocol in words, for the report."""
        times = f", {self.repetitions} repetitions" if self.repetitions > 1 else ""
        return self.summary() + times + (", data drawn anew each time" if self.redraw else "")

    def summary(self) -> str:
        """Return in words how one repetition is split."""
        raise NotImplementedError

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield what is wrong with the protocol itself, whatever the data are."""
        yield from ()

    def parts(self, y: NDArray[np.intp], declared: int | None, rng: np.random.Generator) -> list[Rows]:
        """Return the splits of one repetition; raise PlaceError where the rows are too few.

        ``y`` is the class of every row, ``declared`` how many rows the data set declares as its training part.
        """
        raise NotImplementedError


class KFold(Protocol):
    """Stratified k-fold cross-validation, repeated."""

    kind: Literal["stratified-kfold"] = "stratified-kfold"
    folds: int = Field(default=3, ge=2)

    @property
    def per_repetition(self) -> int:
        return self.folds

    def summary(self) -> str:
        return f"stratified {self.folds}-fold cross-validation"

    def parts(self, y: NDArray[np.intp], declared: int | None, rng: np.random.Generator) -> list[Rows]:
        check_folds(y, self.folds, ("folds",))
        everyone = np.arange(len(y))
        return [Rows(np.setdiff1d(everyone, test, assume_unique=True), test) for test in kfold(y, self.folds, rng)]


class Partitions(Protocol):
    """Random training/test partitions; ``train`` is the share of the training part."""

    kind: Literal["partitions"] = "partitions"
    train: float = Field(gt=0, lt=1)
    stratified: bool = True

    @property
    def overlap(self) -> float:
        return (1 - self.train) / self.train

    def summary(self) -> str:
        return f"random partitions, {100 * self.train:g} % for training"

    def parts(self, y: NDArray[np.intp], declared: int | None, rng: np.random.Generator) -> list[Rows]:
        everyone = np.arange(len(y))
        train = np.zeros(len(y), dtype=bool)
        for members in strata(y) if self.stratified else [everyone]:
            train[rng.permutation(members)[: round(self.train * len(members))]] = True
        return [Rows(everyone[train], everyone[~train])]


class Fixed(Protocol):
    """The original's own training and test part: the first ``train`` rows, or what the data set declares.

    Knowledge sets alone are all trained on, and tested by their area.
    """

    kind: Literal["fixed"] = "fixed"
    train: int | None = Field(default=None, ge=2)

    def summary(self) -> str:
        return "a fixed training and test part"

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.repetitions > 1 and not self.redraw:
            text = "a fixed split is always the same; repetitions need redraw, for a generated set"
            yield ("repetitions",), text

    def parts(self, y: NDArray[np.intp], declared: int | None, rng: np.random.Generator) -> list[Rows]:
        train = self.train or declared
        if train is None:
            raise PlaceError((), "the data set declares no training part; give split.train, its rows")
        if train >= len(y):
            raise PlaceError(("train",), f"{train} training rows of {len(y)} leave none to test on; give fewer")
        everyone = np.arange(len(y))
        return [Rows(everyone[:train], everyone[train:])]


AnyProtocol = Annotated[KFold | Partitions | Fixed, Field(discriminator="kind")]


@dataclass(frozen=True)
class Split:
    """How one split is made, and the digest of its rows: small, so that it can travel with every unit of work."""

    protocol: Protocol
    seed: int
    repetition: int
    fold: int
    digest: str


def seed_of(seed: int, *words: str | int) -> np.random.SeedSequence:
    """Return the seed of one draw: made of the config's seed and of what the draw is for."""
    digest = hashlib.sha256("\0".join(map(str, words)).encode()).digest()
    return np.random.SeedSequence([seed, *np.frombuffer(digest[:16], dtype="<u4").tolist()])


def number_of(seed: int, *words: str | int) -> int:
    """Return the same seed as one number."""
    return int(seed_of(seed, *words).generate_state(1)[0])


def strata(y: NDArray[np.intp]) -> list[Index]:
    """Return the rows of each class, the largest value first: of two classes, the positive one."""
    return [np.flatnonzero(y == value) for value in sorted(set(y.tolist()), reverse=True)]


def check_folds(y: NDArray[np.intp], folds: int, place: KeyPath) -> None:
    """Raise PlaceError where a class has fewer rows than there are folds."""
    smallest = min(map(len, strata(y)))
    if smallest < folds:
        raise PlaceError(place, f"the smallest class has {smallest} rows, too few for {folds} folds; use fewer folds")


def kfold(y: NDArray[np.intp], folds: int, rng: np.random.Generator) -> list[Index]:
    """Deal each class, shuffled, over the folds; return the test part of every fold, sorted."""
    fold_of = np.empty(len(y), dtype=np.intp)
    start = 0
    for rows in strata(y):
        members = rng.permutation(rows)
        fold_of[members] = (start + np.arange(len(members))) % folds
        start += len(members)
    return [np.flatnonzero(fold_of == fold) for fold in range(folds)]
