"""A table that is kept and read again is the table."""

import pytest

from mmc.experiments.engines import opened
from mmc.experiments.errors import ConfigError
from mmc.experiments.folders import REFERENCE
from mmc.experiments.reference import read_reference, table_of, write_reference
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load

STUDY = """\
title: kept
datasets:
  iris: {sklearn: iris}
multiclass: one-vs-one
split: {kind: stratified-kfold, folds: 2, repetitions: REPETITIONS}
methods:
  LDA: {method: lda, ridge: 0.1}
  SVM: {method: svm, grid: {"C_pos, C_neg": [0.1, 1]}, best: error}
table: {metrics: [error, ties]}
"""


@pytest.mark.parametrize("repetitions", [1, 2, 3])
def test_a_reference_knows_every_number_of_the_run(tmp_path, repetitions):
    """The mean, its spread, and how sure it is: of one run from its test points, of several from their spread alone."""
    path = tmp_path / "kept.yaml"
    path.write_text(STUDY.replace("REPETITIONS", str(repetitions)))
    config = load(path)
    with Store(None) as store, opened(1) as engine:
        ran = run(config, store, engine).table
    write_reference(ran, tmp_path)
    kept = table_of(config, read_reference(tmp_path))
    assert len(kept.cells) == len(ran.cells) == 4
    for then, now in zip(ran.cells, kept.cells, strict=True):
        assert (now.keys, now.metric, now.chosen) == (then.keys, then.metric, then.chosen)
        for name in ("mean", "std", "se", "sampling", "resolution"):
            assert getattr(now, name) == pytest.approx(getattr(then, name), rel=1e-5), name
        for name in ("draws", "trials", "infeasible", "failed", "missing", "capped"):
            assert getattr(now, name) == getattr(then, name)


@pytest.mark.parametrize("content", [b"dataset\xff,metric\n", b"dataset,metric\n" + b"x" * 200_000])
def test_a_damaged_reference_is_told_in_words(tmp_path, content):
    (tmp_path / REFERENCE).write_bytes(content)
    with pytest.raises(ConfigError, match="the reference is damaged"):
        read_reference(tmp_path)
