"""One against one: the votes of all pairs, what is made of them, and that nothing is lost on the way."""

import csv
import io
import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from mmc import datasets
from mmc.experiments import preparation, render
from mmc.experiments.cells import Cell, Discordance, Verdict
from mmc.experiments.check import compare
from mmc.experiments.engines import engine
from mmc.experiments.errors import ConfigError
from mmc.experiments.kept import Kept
from mmc.experiments.multiclass import elect
from mmc.experiments.notes import notes
from mmc.experiments.plan import plan
from mmc.experiments.preparation import rows_of
from mmc.experiments.regression import Line
from mmc.experiments.run import recall, run
from mmc.experiments.sources import Source
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from mmc.experiments.verdicts import judge
from tests.experiments.flat import flat

TRAIN, TEST = 350, 250
DIGITS = """\
title: digits
seed: 1
datasets:
  digits: {file: digits.csv, target: label}
scale: none
multiclass: one-vs-one
split: {kind: fixed, train: 350}
methods:
  SVM: {method: svm, kernel: rbf, gamma: 0.002, C_pos: 10, C_neg: 10}
  MMRM: {method: mmrm, kernel: rbf, gamma: 0.002}
  LDA: {method: lda, ridge: 0.1}
  MPM: {method: mpm, ridge: 0.1}
table: {rows: [dataset], columns: [method], metrics: [errors, error, accuracy, ties], paired: MMRM}
"""


def shuffled(bunch, rows, shift=0):
    order = np.random.default_rng(0).permutation(len(bunch.target))[:rows]
    return bunch.data[order], bunch.target[order] + shift


@pytest.fixture(scope="module")
def digits():
    """Labels from 5 to 14: their order as numbers is not their order as words."""
    return shuffled(load_digits(), TRAIN + TEST, shift=5)


def write(folder, name, X, y):
    header = [*(f"x{i}" for i in range(X.shape[1])), "label"]
    lines = [",".join(header), *(",".join([*map(str, row), str(label)]) for row, label in zip(X, y, strict=True))]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def study(folder, text=DIGITS, **changes):
    path = folder / f"{changes.pop('name', 'study')}.yaml"
    for old, new in changes.pop("changes", ()):
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return load(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, digits):
    folder = tmp_path_factory.mktemp("multiclass")
    write(folder, "digits", *digits)
    X, y = shuffled(load_iris(), 150)
    write(folder, "iris", X, [("setosa", "versicolor", "virginica")[label] for label in y])
    return folder


@pytest.fixture(scope="module")
def outcome(folder):
    with Store(None) as store:
        return run(study(folder), store, engine(1))


def cell(outcome, method, metric="errors"):
    (found,) = [c for c in outcome.table.cells if (c.keys["method"], c.metric) == (method, metric)]
    return found


def pairs_only(*methods):
    """Return the edits that leave only these methods."""
    lines = DIGITS.splitlines(keepends=True)
    gone = [line for line in lines if "{method:" in line and line.split(":")[0].strip() not in methods]
    return [(line, "") for line in gone] + ([] if "MMRM" in methods else [(", paired: MMRM", "")])


# -- the vote --------------------------------------------------------------------------------------------------------
def test_the_svm_votes_as_libsvm_does(outcome, digits):
    X, y = digits
    machine = SVC(C=10, gamma=0.002).fit(X[:TRAIN], y[:TRAIN])
    wrong = machine.predict(X[TRAIN:]) != y[TRAIN:]
    ours = cell(outcome, "SVM")
    assert ours.mean == wrong.sum() > 0
    assert (~ours.right).tolist() == wrong.tolist()
    assert cell(outcome, "SVM", "error").mean == pytest.approx(100 * wrong.mean())
    assert cell(outcome, "SVM", "accuracy").mean == pytest.approx(100 - 100 * wrong.mean())


@pytest.mark.parametrize("method", ["SVM", "MMRM", "LDA", "MPM"])
def test_a_record_counts_its_two_classes_and_votes_on_all_points(outcome, digits, method):
    y = digits[1][TRAIN:].astype(str)
    units = [unit for unit in outcome.units if unit.label == method]
    assert [unit.pair for unit in units] == list(combinations(map(str, range(5, 15)), 2))
    votes = []
    for unit in units:
        record = outcome.records[unit.trials[0].key]
        first, values = record.ballot.votes(), flat(record)
        a, b = (y == label for label in unit.pair)
        assert (values["n_pos"], values["n_neg"]) == (a.sum(), b.sum())
        assert (values["wrong_pos"], values["wrong_neg"]) == ((~first[a]).sum(), first[b].sum())
        assert values["train_seconds"] <= values["seconds"]
        votes.append(np.where(first, *unit.pair))
    tallies = [Counter(column) for column in np.array(votes).T]
    most = [sorted((k for k, v in tally.items() if v == max(tally.values())), key=int) for tally in tallies]
    assert cell(outcome, method).mean == sum(winners[0] != label for winners, label in zip(most, y, strict=True))
    assert cell(outcome, method, "ties").mean == sum(len(winners) > 1 for winners in most)


def test_of_equals_the_first_class_wins():
    circle = [(0, 1), (0, 2), (1, 2)]  # 0 beats 1, 1 beats 2, 2 beats 0: one vote each
    winner, tied = elect(circle, [np.array([True, True]), np.array([False, True]), np.array([True, True])], 3)
    assert winner.tolist() == [0, 0]
    assert tied.tolist() == [True, False]


def test_two_classes_are_one_pair(folder):
    text = "title: pima\ndatasets:\n  pima:\nsplit: {kind: fixed, train: 500}\nmethods:\n  LDA: {method: lda}\n"
    text += "table: {metrics: [error]}\n"
    with Store(None) as store:
        two, pair = (
            run(study(folder, text + more, name="pima"), store, engine(1)) for more in ("", "multiclass: one-vs-one\n")
        )
    assert len(pair.units) == 1
    assert cell(two, "LDA", "error").mean == pytest.approx(cell(pair, "LDA", "error").mean)


def test_every_grid_point_has_its_own_vote(folder):
    grid = "SVM: {method: svm, kernel: rbf, grid: {gamma: [0.0002, 0.002], 'C_pos, C_neg': [0.1, 10]}}"
    one = "SVM: {method: svm, kernel: rbf, gamma: 0.002, C_pos: 10, C_neg: 10}"
    tables = []
    with Store(None) as store:
        for best in ("", ", best: errors"):
            edits = [*pairs_only("SVM"), (one, grid[:-1] + best + "}")]
            tables.append(run(study(folder, changes=edits), store, engine(1)).table)
    errors = {(c.keys["gamma"], c.keys["C_pos"]): c.mean for c in tables[0].cells if c.metric == "errors"}
    assert len(errors) == 4
    (best,) = [c for c in tables[1].cells if c.metric == "errors"]
    assert best.mean == min(errors.values()) < max(errors.values())
    assert best.chosen["C_pos"] == best.chosen["C_neg"]


def test_cross_validation_of_many_classes(folder):
    text = "title: iris\nseed: 2\ndatasets:\n  iris: {file: iris.csv, target: label}\nmulticlass: one-vs-one\n"
    text += "split: {kind: stratified-kfold, folds: 4, repetitions: 2}\nmethods:\n  LDA: {method: lda}\n"
    text += "table: {metrics: [errors, error, fit_seconds]}\n"
    with Store(None) as store:
        outcome = run(study(folder, text, name="iris"), store, engine(1))
    assert len(outcome.units) == 3 * 4 * 2
    y = outcome.units[0].source.load().y
    for unit in outcome.units:
        counts = Counter(y[rows_of(unit.where).test].tolist())
        assert set(counts.values()) <= {12, 13}
    errors = cell(outcome, "LDA")
    assert len(errors.by_repetition) == 2
    assert errors.right is None
    assert errors.sampling == 0
    assert 1 <= errors.mean <= 8
    assert cell(outcome, "LDA", "error").mean == pytest.approx(100 * errors.mean / 150)


# -- failures and refusals -------------------------------------------------------------------------------------------
def test_a_pair_that_fails_fails_the_cell_and_is_named(folder):
    text = "title: iris\ndatasets:\n  iris: {file: iris.csv, target: label}\nmulticlass: one-vs-one\n"
    text += "split: {kind: fixed, train: 100}\nmethods:\n  hard: {method: mmrm, C: .inf}\ntable: {metrics: [errors]}\n"
    with Store(None) as store:
        outcome = run(study(folder, text, name="hard"), store, engine(1))
    (hard,) = outcome.table.cells
    assert (hard.mean, hard.trials, hard.infeasible) == (None, 1, 1)
    assert "versicolor against virginica failed: " in "\n".join(notes(outcome.table))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("target: label}", "target: label, positive: 5}", "no class is the positive one"),
        ("method: lda, ", "method: lda, tune: {grid: {ridge: [1]}}, ", "tune every pair of classes for itself"),
        ("method: lda, ridge: 0.1", "method: lda, grid: {ridge: [0.1, 1]}", "'best' says which point"),
        ("method: lda, ridge: 0.1", "method: lda, grid: {ridge: [0.1, 1]}, best: risk", "no metric 'risk'"),
        ("metrics: [errors,", "metrics: [error_pos,", "error_pos is for two classes"),
        ("table:", "figures:\n  f: {kind: boundaries}\ntable:", "cannot show more than two classes"),
        ("table:", "figures:\n  f: {kind: pairs, method: LDAA}\ntable:", "did you mean 'LDA'?"),
        ("one-vs-one", "one-vs-rest", "did you mean 'one-vs-one'?"),
    ],
)
def test_what_has_no_meaning_is_refused_with_its_line(folder, old, new, words):
    with pytest.raises(ConfigError, match=r"study.yaml:\d+: .*") as caught:
        study(folder, changes=[(old, new)])
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("multiclass: one-vs-one\n", "", "has 10 classes (5, 6, 7, 8, 9, …); the methods need two: 'multiclass"),
        ("target: label}", "target: label, pca: 65}", "pca: 65 is too many components"),
        ("target: label}", "target: label, part: train}", "declares no training part"),
        ("target: label}", "target: label, subsample: 601}", "has 600 rows; a subsample of 601"),
        ("target: label}", "target: label, subsample: 4}", "has none of class"),
        ("train: 350", "train: 5", "the training part lacks a class"),
    ],
)
def test_data_that_do_not_fit_are_refused(folder, old, new, words):
    edits = [(old, new)] if "multiclass" not in old else [(old, new), ("[errors, error, accuracy, ties]", "[error]")]
    with pytest.raises(ConfigError) as caught:
        plan(study(folder, changes=edits))
    assert words in str(caught.value)


# -- resuming --------------------------------------------------------------------------------------------------------
def test_pairs_are_units_and_resume_one_by_one(folder, outcome):
    class Stop(Exception):
        pass

    asked = []

    def stopping(units):
        asked.append(len(units))
        for count, records in enumerate(engine(1)(units), 1):
            yield records
            if count == 31:
                raise Stop

    told = []
    config = study(folder, changes=pairs_only("SVM", "LDA"))
    with Store(None) as store:
        for _ in range(2):
            with pytest.raises(Stop):
                run(config, store, stopping, watch=told.append)
        half = recall(config, store)
        assert half.missing == 28
        assert [c.missing for c in half.table.cells if c.metric == "errors"] == [0, 1]
        resumed = run(config, store, stopping, watch=told.append)
    assert asked == [90, 59, 28]
    assert [(t.done, t.total) for t in told[::31]][:3] == [(0, 90), (31, 90), (61, 90)]
    for method in ("SVM", "LDA"):
        assert cell(resumed, method).right.tolist() == cell(outcome, method).right.tolist()


def test_killed_in_the_middle_of_the_pairs(folder, outcome, tmp_path):
    program = textwrap.dedent(f"""
        import pathlib, time
        from mmc.experiments.validation import load
        from mmc.experiments.engines import engine
        from mmc.experiments.run import run
        from mmc.experiments.store import Store
        def slow(units):
            for records in engine(1)(units):
                print("unit", flush=True)
                time.sleep(0.03)
                yield records
        with Store(pathlib.Path({str(tmp_path / "store.sqlite")!r})) as store:
            run(load({str(folder / "killed.yaml")!r}), store, slow)
    """)
    config = study(folder, name="killed", changes=pairs_only("SVM"))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    for _ in range(25):
        assert process.stdout.readline() == "unit\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with Store(tmp_path / "store.sqlite") as store:
        assert 0 < recall(config, store).missing < 45
        resumed = run(config, store, engine(1))
    assert cell(resumed, "SVM").right.tolist() == cell(outcome, "SVM").right.tolist()


def test_two_workers_give_the_same_votes(folder, outcome):
    with Store(None) as store:
        table = run(study(folder, changes=pairs_only("LDA", "SVM")), store, engine(2))
    assert cell(table, "LDA").right.tolist() == cell(outcome, "LDA").right.tolist()


# -- the features ----------------------------------------------------------------------------------------------------
def test_principal_components_are_those_of_the_training_part(digits):
    X = digits[0]
    train, test = preparation.projected(12, X[:TRAIN], X[TRAIN:])
    reference = PCA(12, svd_solver="full").fit(X[:TRAIN])
    for ours, theirs in ((train, reference.transform(X[:TRAIN])), (test, reference.transform(X[TRAIN:]))):
        np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-9)
    np.testing.assert_allclose(np.cov(train.T), np.diag(reference.explained_variance_), atol=1e-9)
    turned, _ = preparation.projected(12, -X[:TRAIN], -X[TRAIN:])
    np.testing.assert_allclose(turned, -train, atol=1e-9)  # the same axes: their sign is the axis's own, not the data's


def test_components_are_made_once_for_all_pairs_and_are_in_the_key(folder, monkeypatch):
    made = []
    once = preparation.projected
    monkeypatch.setattr(preparation, "projected", lambda *args: made.append(args[0]) or once(*args))
    config = study(folder, changes=[*pairs_only("LDA"), ("target: label}", "target: label, pca: 12}")])
    with Store(None) as store:
        run(config, store, engine(1))
    assert made == [12]
    whole = plan(study(folder, changes=pairs_only("LDA")))
    assert not {u.trials[0].key for u in plan(config)} & {u.trials[0].key for u in whole}


@pytest.mark.parametrize("change", [{}, {"pca": 5}, {"scale": "standard"}])
def test_bytes_are_numbers(folder, monkeypatch, change):
    """A set that keeps its grey values as bytes gives what it gives as floats."""
    where = replace(plan(study(folder, changes=pairs_only("LDA")))[0].where, **change)
    before, data = preparation.prepared(where), where.source.load()
    monkeypatch.setattr(Source, "load", lambda source: replace(data, X=data.X.astype(np.uint8)))
    monkeypatch.setattr(preparation, "_prepared", Kept(1))
    after = preparation.prepared(where)
    assert before.train.dtype == after.train.dtype == float
    np.testing.assert_array_equal(before.test, after.test)


def test_a_large_test_part_is_decided_in_blocks(folder, outcome, monkeypatch):
    monkeypatch.setattr("mmc.methods.stored.WHOLE", 8000)
    config = study(folder, changes=pairs_only("SVM", "LDA"))
    with Store(None) as store:
        blocks = run(config, store, engine(1))
    for method in ("SVM", "LDA"):
        assert cell(blocks, method).right.tolist() == cell(outcome, method).right.tolist()


def test_a_subsample_keeps_the_share_of_every_class_in_either_part(tmp_path):
    text = "title: s\nseed: 4\ndatasets:\n  letter: {subsample: 2001}\n  half: {name: letter, part: train, subsample: 800}\n"
    text += "multiclass: one-vs-one\nsplit: {kind: stratified-kfold, folds: 3}\nmethods:\n  LDA: {method: lda}\n"
    text += "table: {metrics: [errors]}\n"
    units = plan(study(tmp_path, text))
    whole = {source.label: source.load() for source in {u.source for u in units}}
    letter, half = whole["letter"], whole["half"]
    assert (len(letter.y), len(half.y), half.n_train) == (2001, 800, None)
    original = datasets.load("letter")
    for ours, theirs in (
        (slice(0, letter.n_train), slice(0, 16000)),
        (slice(letter.n_train, None), slice(16000, None)),
    ):
        counts, wanted = Counter(letter.y[ours].tolist()), Counter(original.y[theirs].tolist())
        assert all(abs(counts[label] - wanted[label] * 2001 / 20000) < 1 for label in wanted)
    rows = {row.tobytes() + label.encode() for row, label in zip(original.X, original.y, strict=True)}
    assert all(row.tobytes() + label.encode() in rows for row, label in zip(half.X, half.y, strict=True))
    again = plan(study(tmp_path, text))
    assert [u.trials[0].key for u in again] == [u.trials[0].key for u in units]
    other = plan(study(tmp_path, text.replace("seed: 4", "seed: 5")))
    assert not {u.trials[0].key for u in other} & {u.trials[0].key for u in units}


def test_the_table_says_which_rows_were_used(tmp_path):
    text = "title: s\ndatasets:\n  letter: {part: train, subsample: 520, pca: 9}\nmulticlass: one-vs-one\n"
    text += "methods:\n  LDA: {method: lda, ridge: 1}\ntable: {metrics: [errors]}\n"
    with Store(None) as store:
        said = "\n".join(notes(run(study(tmp_path, text), store, engine(1)).table))
    part = "only the rows of its training part, a stratified random subsample of 520 rows"
    assert f"letter: {part}, 9 principal components of the training part." in said


# -- how sure ---------------------------------------------------------------------------------------------------------
def test_a_single_count_has_the_spread_of_a_binomial(outcome):
    for method in ("SVM", "LDA"):
        errors, share = cell(outcome, method), cell(outcome, method, "error")
        k = errors.mean
        assert errors.se == pytest.approx((k * (1 - k / TEST)) ** 0.5) == pytest.approx(share.se * TEST / 100)
        assert (errors.std, errors.resolution, cell(outcome, method, "ties").se) == (0, 1, 0)
        assert share.resolution == pytest.approx(100 / TEST)
        assert f"{k:.0f} ± {errors.se:.0f}" in render.to_markdown(outcome.table)
    assert "± the binomial standard error" in "\n".join(notes(outcome.table))


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [("100", Verdict.MATCH), ("77", Verdict.MATCH), ("123", Verdict.MATCH), ("75", Verdict.DIFFERS)],
)
def test_the_verdict_on_one_count_is_its_99_percent_interval(printed, verdict):
    counted = Cell({}, "errors", (100.0,), trials=1, sampling=(100 * (1 - 100 / 500)) ** 0.5, reported=printed)
    assert judge(counted) is verdict


def test_a_check_allows_one_test_point_and_no_more_and_leaves_times_alone(outcome):
    cells = [c for c in outcome.table.cells if c.metric == "errors"]
    timed = replace(cells[0], metric="fit_seconds", by_repetition=(9.0,), resolution=float("inf"))
    table = replace(outcome.table, cells=(*cells, timed))
    rows = list(csv.DictReader(io.StringIO(render.to_csv(table))))
    reference = {f"dataset={r['dataset']} method={r['method']} {r['metric']}": r for r in rows}

    def moved(by):
        shifted = [replace(c, by_repetition=(c.by_repetition[0] + by,)) for c in table.cells]
        return {change.metric for change in compare(replace(table, cells=tuple(shifted)), reference)}

    assert moved(0) == moved(1) == moved(-1) == set()
    assert moved(2) == {"errors"}


@pytest.mark.parametrize(("only_first", "only_second"), [(0, 0), (5, 5), (3, 11), (30, 12), (0, 9)])
def test_mcnemar_is_the_exact_binomial_test(only_first, only_second):
    found = Discordance("d", "A", "B", only_first, only_second, 500)
    n = only_first + only_second
    assert found.p == pytest.approx(stats.binomtest(only_first, n).pvalue if n else 1.0)


def test_methods_are_compared_point_by_point(outcome):
    found = {d.second: d for d in outcome.table.discordances}
    assert set(found) == {"SVM", "LDA", "MPM"}
    assert outcome.table.pairs == ()
    for name, one in found.items():
        difference = cell(outcome, name).mean - cell(outcome, "MMRM").mean
        assert one.only_first - one.only_second == difference
        both = np.sum(~cell(outcome, name).right & ~cell(outcome, "MMRM").right)
        assert both + one.only_first == cell(outcome, name).mean
    text = f"{found['LDA'].only_first} are right with MMRM only, {found['LDA'].only_second} with LDA only"
    assert text in render.to_markdown(outcome.table)
    assert text in render.to_latex(outcome.table)


# -- Figure 2 ----------------------------------------------------------------------------------------------------------
def test_the_line_and_its_errors_are_those_of_textbooks():
    rng = np.random.default_rng(0)
    x = rng.normal(size=45) + 3
    y = 0.2 * x + 98 + rng.normal(size=45)
    line, reference = Line.through(x, y), stats.linregress(x, y)
    assert (line.slope, line.intercept) == pytest.approx((reference.slope, reference.intercept))
    assert (line.slope_se, line.intercept_se) == pytest.approx((reference.stderr, reference.intercept_stderr))
    at_zero = line.band(np.zeros(1), 0.95)[0]
    assert at_zero == pytest.approx(stats.t.ppf(0.975, 43) * reference.intercept_stderr)
    assert Line.through(x[:2], y[:2]) is None
    assert Line.through(np.ones(9), y[:9]) is None


def test_slope_and_intercept_are_cells_made_from_the_same_records(folder, tmp_path):
    (folder / "reported").mkdir(exist_ok=True)
    with Store(None) as store:
        errors = run(study(folder, changes=pairs_only("MMRM")), store, engine(1))
        values = [flat(errors.records[u.trials[0].key]) for u in errors.units]
        x = [v["margin_ratio"] for v in values]
        y = [100 - 100 * (v["wrong_pos"] + v["wrong_neg"]) / (v["n_pos"] + v["n_neg"]) for v in values]
        line = stats.linregress(x, y)
        (folder / "reported" / "line.csv").write_text(
            f"dataset,metric,value\ndigits,slope,{line.slope + 2 * line.stderr:.5f}\ndigits,intercept,90.125\n"
        )
        edits = [
            *pairs_only("MMRM"),
            ("metrics: [errors, error, accuracy, ties], paired: MMRM", "metrics: [slope, intercept]"),
            ("table:", "reported: {file: line.csv, source: here}\nfigures:\n  f: {kind: pairs, method: MMRM}\ntable:"),
        ]
        outcome = run(study(folder, changes=edits), store, None)  # every record is there already
    slope, intercept = outcome.table.cells
    assert (slope.mean, intercept.mean) == pytest.approx((line.slope, line.intercept))
    assert (slope.se, intercept.se) == pytest.approx((line.stderr, line.intercept_stderr))
    assert slope.verdict in (Verdict.MATCH, Verdict.WEAK)
    assert intercept.verdict is Verdict.DIFFERS
    flipped = np.array(y)
    worst = 0.0
    for i, v in enumerate(values):
        flipped[i] -= 100 / (v["n_pos"] + v["n_neg"])
        worst = max(worst, abs(stats.linregress(x, flipped).slope - line.slope))
        flipped[i] = y[i]
    assert slope.resolution == pytest.approx(worst)
    assert "standard error of the regression" in "\n".join(notes(outcome.table))
    assert outcome.draw(tmp_path) == ["f.svg", "f.png"]
