"""What a user is told of the data before a run."""

from mmc.experiments.data_facts import DataFacts, dump, parse
from mmc.experiments.data_used import too_large, troubles
from mmc.experiments.validation import load

STUDY = """\
title: t
datasets: {two_norm: }
split: {kind: stratified-kfold, folds: 4}
methods:
  K: {method: error-rate, kernel: rbf, gamma: 0.1}
  L: {method: error-rate}
  S: {method: svm, kernel: rbf, gamma: 0.1}
"""


def study(folder):
    (folder / "t.yaml").write_text(STUDY)
    return load(folder / "t.yaml")


def test_a_kernel_matrix_that_does_not_fit_is_told_with_its_size_and_what_to_do(tmp_path):
    config = study(tmp_path)
    (said,) = too_large(config, [DataFacts("two_norm", {"a": 1, "b": 1}, "a", rows=200_000)], lambda: 24 * 10**9)
    assert "t.yaml:5: K on two_norm: the kernel matrix of 150,000 training rows takes 180 GB" in said
    assert "this machine has 24 GB" in said
    assert "`subsample: 27000`" in said
    assert not list(too_large(config, [DataFacts("two_norm", {}, "a", rows=2000)], lambda: 24 * 10**9))


def test_numbers_need_no_positive_class_and_words_do(tmp_path):
    config = study(tmp_path)
    numbers = DataFacts("two_norm", {"0": 50, "1": 50}, "1", stated=False, rows=100)
    words = DataFacts("two_norm", {"no": 50, "yes": 50}, "yes", stated=False, rows=100)
    assert not list(troubles(config, [numbers]))
    assert "'yes' is taken" in next(troubles(config, [words]))


def test_facts_survive_run_json():
    facts = (DataFacts("d", {"a": 3, "b": 9}, "a", False, 12, 1, 2, 3, True),)
    assert parse(dump(facts)) == facts
    assert parse({"d": {"rows": "many"}}) == ()
    assert parse(None) == ()
