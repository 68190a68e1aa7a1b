"""Splits: stratified, complete, and decided by the seed alone."""

import hashlib

import numpy as np
import pytest

from mmc.experiments.errors import ConfigError
from mmc.experiments.splits import Fixed, KFold, Partitions, seed_of


@pytest.fixture
def y():
    return np.random.default_rng(0).random(101) < 0.3


def make(protocol, y, repetition=0, seed=7):
    rng = np.random.default_rng(seed_of(seed, "set", "split", repetition))
    return protocol.parts(np.asarray(y).astype(np.intp), None, rng)


@pytest.mark.parametrize("folds", [2, 3, 5, 10])
def test_every_row_is_tested_once_and_classes_are_even(y, folds):
    parts = make(KFold(folds=folds), y)
    assert sorted(np.concatenate([part.test for part in parts])) == list(range(len(y)))
    for part in parts:
        assert not set(part.train) & set(part.test)
        assert len(part.train) + len(part.test) == len(y)
    for members in (y, ~y):
        counts = [np.sum(members[part.test]) for part in parts]
        assert max(counts) - min(counts) <= 1
    sizes = [len(part.test) for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_partitions_keep_the_share_of_each_class(y):
    (part,) = make(Partitions(kind="partitions", train=0.9), y)
    for members in (y, ~y):
        assert np.sum(members[part.train]) == round(0.9 * np.sum(members))


def test_a_fixed_split_takes_the_first_rows(y):
    (part,) = make(Fixed(kind="fixed", train=60), y)
    assert list(part.train) == list(range(60))
    assert list(part.test) == list(range(60, 101))


def test_the_seed_and_the_repetition_decide(y):
    same = [make(KFold(folds=3), y, 1, seed) for seed in (7, 7)]
    assert [p.digest() for p in same[0]] == [p.digest() for p in same[1]]
    others = [make(KFold(folds=3), y, 2, 7), make(KFold(folds=3), y, 1, 8)]
    for other in others:
        assert other[0].digest() != same[0][0].digest()


def test_too_few_rows_for_the_folds():
    with pytest.raises(ConfigError, match="smallest class has 2 rows, too few for 3 folds"):
        make(KFold(folds=3), np.array([True, True, False, False, False]))


@pytest.mark.parametrize(
    ("protocol", "digest"),
    [
        (KFold(folds=3), "97243cc0bd103745"),
        (Partitions(kind="partitions", train=0.9), "fc1b31a56276091f"),
        (Partitions(kind="partitions", train=0.6, stratified=False), "b7a1a9b9013a9a6b"),
        (Fixed(kind="fixed", train=60), "bc75560286e699c7"),
    ],
)
def test_splits_of_two_classes_are_what_they_always_were(protocol, digest):
    """Stored records are found by the digest of their split: another order of draws would lose them all."""
    y = np.arange(101) * 7 % 101 < 30
    joined = "".join(part.digest() for part in make(protocol, y, repetition=1))
    assert hashlib.sha256(joined.encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize("folds", [2, 5])
def test_many_classes_are_even_in_every_fold(folds):
    y = np.random.default_rng(1).integers(0, 7, 300)
    parts = make(KFold(folds=folds), y)
    assert sorted(np.concatenate([part.test for part in parts])) == list(range(len(y)))
    for value in range(7):
        counts = [np.sum(y[part.test] == value) for part in parts]
        assert max(counts) - min(counts) <= 1
    (part,) = make(Partitions(kind="partitions", train=0.8), y)
    for value in range(7):
        assert np.sum(y[part.train] == value) == round(0.8 * np.sum(y == value))


@pytest.mark.parametrize(
    ("protocol", "words", "overlap", "splits"),
    [
        (KFold(folds=5), "stratified 5-fold cross-validation", 0, 5),
        (KFold(folds=3, repetitions=2), "stratified 3-fold cross-validation, 2 repetitions", 0, 3),
        (Partitions(train=0.8, repetitions=9), "random partitions, 80 % for training, 9 repetitions", 0.25, 1),
        (
            Fixed(repetitions=4, redraw=True),
            "a fixed training and test part, 4 repetitions, data drawn anew each time",
            0,
            1,
        ),
    ],
)
def test_a_protocol_knows_itself(protocol, words, overlap, splits):
    assert protocol.words() == words
    assert protocol.overlap == pytest.approx(overlap)
    assert protocol.per_repetition == splits


def test_a_fixed_split_takes_what_the_data_set_declares(y):
    rng = np.random.default_rng(0)
    assert len(Fixed().parts(y.astype(np.intp), 40, rng)[0].train) == 40
    assert len(Fixed(train=50).parts(y.astype(np.intp), 40, rng)[0].train) == 50
    for train, declared in ((None, None), (101, None), (None, 101)):
        with pytest.raises(ConfigError):
            Fixed(train=train).parts(y.astype(np.intp), declared, rng)


def test_only_a_fixed_split_needs_redraw_for_repetitions():
    assert list(Fixed(repetitions=2).problems())
    for protocol in (Fixed(repetitions=2, redraw=True), KFold(repetitions=2), Partitions(train=0.5, repetitions=2)):
        assert not list(protocol.problems())
