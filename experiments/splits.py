"""Who trains and who tests. One seed decides every split, whatever the number of workers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.config import Fixed, KFold, Partitions
from mmc.experiments.errors import ConfigError

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Split:
    """One training and one test part of a data set."""

    repetition: int
    fold: int
    train: Index
    test: Index

    def digest(self) -> str:
        """Return a hash of the indices: what decides the split, however it was made."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        sha = hashlib.sha256()
        for part in (self.train, self.test):
            sha.update(np.ascontiguousarray(part, dtype="<i8").tobytes() + b"|")
        return sha.hexdigest()


def seed_of(seed: int, *words: str | int) -> np.random.SeedSequence:
    """Return the seed of one draw: made of the config's seed and of what the draw is for."""
    digest = hashlib.sha256("\0".join(map(str, words)).encode()).digest()
    return np.random.SeedSequence([seed, *np.frombuffer(digest[:16], dtype="<u4").tolist()])


def strata(y: NDArray[Any]) -> list[Index]:
    """Return the rows of each class, the largest value first: of two classes, the positive one."""
    return [np.flatnonzero(y == value) for value in np.unique(y)[::-1]]


def kfold(y: NDArray[Any], folds: int, rng: np.random.Generator) -> list[Index]:
    """Deal each class, shuffled, over the folds; return the test part of every fold, sorted."""
    fold_of = np.empty(len(y), dtype=np.intp)
    start = 0
    for rows in strata(y):
        members = rng.permutation(rows)
        fold_of[members] = (start + np.arange(len(members))) % folds
        start += len(members)
    return [np.flatnonzero(fold_of == fold) for fold in range(folds)]


def splits(
    protocol: KFold | Partitions | Fixed,
    y: NDArray[Any],
    repetition: int,
    seed: np.random.SeedSequence,
    name: str,
) -> Iterator[Split]:
    """Yield the splits of one repetition, stratified by y; raise ConfigError where the data set is too small for the protocol."""
    rng = np.random.default_rng(seed)
    everyone = np.arange(len(y))
    if isinstance(protocol, KFold):
        smallest = min(map(len, strata(y)))
        if smallest < protocol.folds:
            raise ConfigError(
                f"{name}: the smallest class has {smallest} rows, too few for {protocol.folds} folds; use fewer folds"
            )
        for fold, test in enumerate(kfold(y, protocol.folds, rng)):
            yield Split(repetition, fold, np.setdiff1d(everyone, test, assume_unique=True), test)
    elif isinstance(protocol, Partitions):
        train = np.zeros(len(y), dtype=bool)
        for members in strata(y) if protocol.stratified else [everyone]:
            train[rng.permutation(members)[: round(protocol.train * len(members))]] = True
        yield Split(repetition, 0, everyone[train], everyone[~train])
    else:
        assert protocol.train is not None
        yield Split(repetition, 0, everyone[: protocol.train], everyone[protocol.train :])
