"""The plan: small units, keys made of all that decides a record, and refusals with file and line."""

import pickle
from pathlib import Path

import pytest

from mmc.experiments import fingerprint as fp
from mmc.experiments.errors import ConfigError
from mmc.experiments.plan import key_of, plan
from mmc.experiments.preparation import rows_of
from mmc.experiments.validation import load

STUDY = """\
title: own
seed: 1
datasets:
  mine: {file: mine.csv, target: kind}
split: {kind: stratified-kfold, folds: 2}
methods:
  SVM: {method: svm}
table: {metrics: [error]}
"""


def study(folder, old="", new="", labels=("2", "10"), rows=40):
    lines = [f"{i % 7},{i * i % 11},{labels[i % len(labels)]}" for i in range(rows)]
    (folder / "mine.csv").write_text("a,b,kind\n" + "\n".join(lines))
    assert old in STUDY
    path = folder / "own.yaml"
    path.write_text(STUDY.replace(old, new))
    return load(path)


def keys(config):
    return {trial.key for unit in plan(config) for trial in unit.trials}


def test_a_unit_carries_no_rows(tmp_path):
    """A cluster gets units by the thousand: their size does not grow with the data."""
    sizes = [len(pickle.dumps(plan(study(tmp_path, rows=rows))[0])) for rows in (40, 4000)]
    assert sizes[0] == sizes[1] < 2500


def test_a_unit_comes_back_from_a_worker_as_it_went(tmp_path):
    unit = plan(study(tmp_path))[0]
    again = pickle.loads(pickle.dumps(unit))
    assert again == unit
    assert rows_of(again.where).digest() == unit.split.digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed: 1", "seed: 2"),
        ("{method: svm}", "{method: svm, C_pos: 2}"),
        ("{method: svm}", "{method: svm, solver: interior-point}"),
        ("{method: svm}", "{method: lda}"),
        ("target: kind}", "target: kind, positive: 2}"),
        ("target: kind}", "target: kind, features: [a]}"),
        ("target: kind}", "target: kind, pca: 1}"),
        ("folds: 2", "folds: 3"),
        ("split:", "scale: none\nsplit:"),
        ("split:", "measures: {band: {rho: [1, 2]}}\nsplit:"),
    ],
)
def test_what_decides_a_record_is_in_its_key(tmp_path, old, new):
    assert not keys(study(tmp_path)) & keys(study(tmp_path, old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: own", "title: other"),
        ("  SVM:", "  other name:"),
        ("[error]", "[error, accuracy]"),
        ("split:", "costs: {pos: 3}\nsplit:"),
        ("target: kind}", "target: kind, positive: 10}"),
    ],
)
def test_what_only_shows_it_is_not(tmp_path, old, new):
    """That 10 is the positive class of 2 and 10 is the rule; to say so changes nothing."""
    assert keys(study(tmp_path)) == keys(study(tmp_path, old, new))


def test_the_worker_s_code_is_in_the_key(tmp_path, monkeypatch):
    before = keys(study(tmp_path))
    monkeypatch.setattr(fp, "_fingerprint", lambda start: {"source": "edited"})
    assert not before & keys(study(tmp_path))


def test_a_solver_in_the_grid_is_in_the_key_of_its_own_trials_only(tmp_path):
    grid = "{method: svm, grid: {solver: [libsvm, interior-point]}}"
    both, first = (
        keys(study(tmp_path, "{method: svm}", grid)),
        keys(study(tmp_path, "{method: svm}", "{method: svm, grid: {solver: [libsvm]}}")),
    )
    assert first < both


def test_keys_do_not_depend_on_the_order_of_their_parts():
    assert key_of({"a": 1, "b": [2]}) == key_of({"b": [2], "a": 1})


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("mine.csv", "nowhere.csv", 4, "there is no such file"),
        ("target: kind", "target: kin", 4, "'kin'"),
        ("target: kind}", "target: kind, positive: 3}", 4, "has no label '3': it has 2, 10"),
        ("target: kind}", "target: kind, positive: true}", 4, "needs quotes"),
        ("target: kind}", "target: kind, subsample: 100}", 4, "a subsample of 100 is not possible"),
        ("target: kind}", "target: kind, pca: 3}", 4, "too many components"),
        ("target: kind}", "target: kind, part: train}", 4, "declares no training part"),
        ("folds: 2", "folds: 30", 5, "the smallest class has 20 rows, too few for 30 folds"),
        ("{kind: stratified-kfold, folds: 2}", "{kind: fixed}", 5, "declares no training part; give split.train"),
        ("{kind: stratified-kfold, folds: 2}", "{kind: fixed, train: 40}", 5, "40 training rows of 40 leave none"),
        ("{kind: stratified-kfold, folds: 2}", "{kind: partitions, train: 0.001}", 5, "training part lacks a class"),
        ("{method: svm}", "{method: svm, tune: {grid: {C_pos: [1]}, folds: 11}}", 7, "10 rows, too few for 11 folds"),
    ],
)
def test_data_that_do_not_fit_are_refused_with_file_and_line(tmp_path, old, new, line, words):
    config = study(tmp_path, old, new)
    with pytest.raises(ConfigError) as caught:
        plan(config)
    assert str(caught.value).startswith(f"{config.file}:{line}: "), caught.value
    assert words in str(caught.value)


def test_more_than_two_classes_are_refused_with_file_and_line(tmp_path):
    with pytest.raises(ConfigError, match=r"own.yaml:4: data set 'mine' has 3 classes \(1, 2, 10\)"):
        plan(study(tmp_path, labels=("2", "10", "1")))


def test_how_a_file_is_read_is_passed_on(tmp_path):
    config = study(
        tmp_path,
        "{file: mine.csv, target: kind}",
        "{file: odd.csv, target: y, separator: ;, decimal: ',', drop: [id], missing_values: [-], missing: impute, encoding: latin-1}",
    )
    (tmp_path / "odd.csv").write_bytes(
        "id;a;é;y\n".encode("latin-1")
        + b"".join(
            b"%d;%d,5;-;%d\n" % (i, i % 3, i % 2) if i == 4 else b"%d;%d,5;2;%d\n" % (i, i % 3, i % 2)
            for i in range(20)
        )
    )
    data = plan(config)[0].source.load()
    assert data.feature_names == ("a", "é")
    assert sorted(set(data.X[:, 0])) == [0.5, 1.5, 2.5]
    assert data.X.shape == (20, 2)


def test_the_folder_of_the_config_is_where_its_files_are(tmp_path, monkeypatch):
    config = study(tmp_path)
    monkeypatch.chdir(Path("/"))
    assert plan(config)[0].source.folder == tmp_path


@pytest.mark.parametrize(("encode", "columns"), [("true", 3), ("[town, size]", 5)])
def test_all_text_columns_are_encoded_or_those_that_are_named(tmp_path, encode, columns):
    """Of three towns and four sizes: a column less each where they are categories."""
    (tmp_path / "words.csv").write_text("town,size,y\n" + "a,1,0\nb,2,1\nc,3,0\na,4,1\n" * 5)
    config = study(tmp_path, "{file: mine.csv, target: kind}", f"{{file: words.csv, target: y, encode: {encode}}}")
    data = plan(config)[0].source.load()
    assert data.X.shape[1] == columns
