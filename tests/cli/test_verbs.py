"""The verbs on what is there: parts of runs, references, workers that die, hostile words."""

import io
import json
import os
import sys
from contextlib import contextmanager

import pytest

from mmc.cli import check_verb, choices, shell, verbs
from mmc.cli.choices import Places, Power, Selection
from mmc.experiments.engines import engine
from mmc.experiments.engines.loky import Loky
from mmc.experiments.errors import ConfigError
from mmc.experiments.run import recall, run
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from tests.experiments.engines.units import deadly

STUDY = """\
title: small [/x] [red]study
datasets:
  two_norm: {options: {n_pos: 30, n_neg: 30}}
split: {kind: stratified-kfold, folds: 3, repetitions: 2}
methods:
  L [linear]: {method: error-rate}
grid:
  - {eta_pos: 0.8, eta_neg: 0.8}
  - {eta_pos: 0.7, eta_neg: 0.7}
table: {rows: [eta_pos], columns: [method]}
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def places(tmp_path):
    return Places(tmp_path / "runs", tmp_path / "results")


def test_a_part_of_a_run_says_so(study, places, capsys):
    def half(units):
        yield from engine(1)(units[: len(units) // 2])
        raise KeyboardInterrupt

    with Store(places.store) as store, pytest.raises(KeyboardInterrupt):
        run(load(study), store, half)
    verbs.show(Selection((str(study),)), places)
    printed = capsys.readouterr().out
    assert "small: 6 of 12 trials are done, the table is of these: `mmc run small` does the rest" in printed


def test_the_name_of_a_config_is_no_command_to_the_terminal(study, capsys):
    strange = study.rename(study.with_name("a\x1b[2Jb.yaml"))
    verbs.validate(Selection((str(strange),)))
    assert "a\\x1b[2Jb.yaml: ok, 12 trials" in capsys.readouterr().out


def test_text_of_users_is_no_markup(study, places, capsys):
    assert verbs.run(Selection((str(study),)), places, Power(1)) == 0
    printed = capsys.readouterr().out
    assert "small [/x] [red]study" in printed
    assert "L [linear]" in printed


def test_trials_whose_workers_die_are_named_and_tried_again(study, places, capsys, monkeypatch):
    @contextmanager
    def opened(jobs, cluster, tell):
        pool = Loky(2, tell, deadly)
        yield pool
        pool.close()

    with monkeypatch.context() as patched:
        patched.setattr(choices, "opened", opened)
        assert verbs.run(Selection((str(study),)), places, Power()) == 1
        with pytest.raises(ConfigError, match="no reference"):
            check_verb.check(Selection((str(study),)), places, Power())
        assert check_verb.update(Selection((str(study),)), places, Power()) == 1
    printed = capsys.readouterr().out
    assert "failed: L [linear] on two_norm, repetition 2, fold 2: its worker was killed by SIGKILL" in printed
    assert "The next run tries them again." in printed
    assert not (places.references / "small").exists()
    with Store(places.store, readonly=True) as store:
        outcome = recall(load(study), store)
        assert (outcome.missing, len(outcome.failures)) == (0, 2)
    assert verbs.run(Selection((str(study),)), places, Power(1)) == 0
    assert "failed" not in capsys.readouterr().out


def test_a_follower_of_a_failed_trial_fails_too(tmp_path):
    (tmp_path / "tuned.yaml").write_text(
        "title: t\ndatasets:\n  two_norm: {options: {n_pos: 30, n_neg: 30}}\n"
        "split: {kind: stratified-kfold, folds: 3, repetitions: 2}\n"
        "methods:\n  S: {method: svm, tune: {metric: error, folds: 2, first: 1, grid: {C_pos: [0.1, 1]}}}\n"
    )
    pool = Loky(2, work=deadly)
    with Store(None) as store:
        outcome = run(load(tmp_path / "tuned.yaml"), store, pool)
        pool.close()
        assert len(outcome.failures) == 4
        assert sum("the trial that tunes for it failed" in reason for reason in outcome.failures) == 3
        again = run(load(tmp_path / "tuned.yaml"), store, engine(1))
    assert again.failures == []
    assert again.missing == 0


def test_a_fresh_clone_shows_the_reference_and_says_so(study, places, capsys):
    assert check_verb.update(Selection((str(study),)), places, Power(1)) == 0
    files = {path.name for path in (places.references / "small").iterdir()}
    assert files == {"reference.csv", "table.csv", "table.md", "table.tex", "run.json"}
    commit = json.loads((places.references / "small" / "run.json").read_text())["commit"]
    capsys.readouterr()
    fresh = Places(places.results.parent / "elsewhere", places.references)
    verbs.show(Selection((str(study),)), fresh)
    printed = capsys.readouterr().out
    assert f"small: not run here. This is the reference of commit {commit}" in printed
    assert printed.count("±") == 4
    assert not fresh.results.exists(), "what only reads writes nothing"


def test_two_configs_of_one_name(study, places, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "small.yaml").write_text(STUDY.replace("0.7", "0.6"))
    assert verbs.run(Selection((str(study),)), places, Power(1)) == 0
    before = {path: path.read_bytes() for path in (places.results / "small").iterdir()}
    with pytest.raises(ConfigError, match=r"another config of this name.*--results"):
        verbs.run(Selection((str(other / "small.yaml"),)), places, Power(1))
    assert {path: path.read_bytes() for path in (places.results / "small").iterdir()} == before


@pytest.mark.parametrize("columns", ["", "abc", "-5", "0", "33", None])
def test_any_width_will_do(monkeypatch, columns):
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert shell.console().width == (33 if columns == "33" else 20 if columns in ("-5", "0") else 160)


def test_the_longest_names_that_a_config_may_have(tmp_path, places, capsys):
    long = "n" * 200
    path = tmp_path / f"{'c' * 240}.yaml"
    path.write_text(
        STUDY.replace("L [linear]", long)
        .replace("two_norm:", f"{long}:")
        .replace("{options", "{name: two_norm, options")
    )
    assert verbs.run(Selection((str(path),)), places, Power(1)) == 0
    assert "nnnn" in capsys.readouterr().out


@pytest.fixture
def unsignalled(monkeypatch):
    """The process of the tests keeps its signals."""
    monkeypatch.setattr(shell.signal, "signal", lambda *_: None)


def test_what_a_terminal_would_obey_is_shown_as_text(capsys, unsignalled):
    def command(standalone_mode):
        raise ConfigError("title \x1b[2Jgone\r\nnext\tline ü")

    assert shell.guarded(command) == 2
    assert capsys.readouterr().err == "error: title \\x1b[2Jgone\\r\nnext\tline ü\n"


def test_a_mistake_of_ours_is_one_message(capsys, monkeypatch, unsignalled):
    def command(standalone_mode):
        raise KeyError("x")

    assert shell.guarded(command) == 70
    said = capsys.readouterr().err
    assert "internal error: KeyError: 'x'" in said
    assert "Traceback" not in said
    monkeypatch.setenv("MMC_DEBUG", "1")
    assert shell.guarded(command) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_study_that_was_run_before_is_found_by_its_name(study, places, capsys):
    assert verbs.run(Selection((str(study),)), places, Power(1)) == 0
    capsys.readouterr()
    verbs.show(Selection(("small",)), places)
    assert "small [/x] [red]study" in capsys.readouterr().out
    study.unlink()
    with pytest.raises(ConfigError, match="no config 'small'"):
        verbs.show(Selection(("small",)), places)


OWN = """\
title: own
datasets: {parts: {file: parts.csv, target: kind}}
split: {kind: stratified-kfold, folds: 3}
methods: {L: {method: lda}}
"""


def own(folder, few):
    rows = [f"{i + 9 * (i % 2)},{i * i % 7},{'ok' if i % 2 else 'bad'}" for i in range(24)]
    rows += [f"{i},{i},bad" for i in range(30)] if few else []
    (folder / "parts.csv").write_text("\n".join(["a,b,kind", *rows, "1,,ok"]))
    (folder / "own.yaml").write_text(OWN)
    return Selection((str(folder / "own.yaml"),))


def test_a_positive_class_that_nobody_stated_is_told_loudly(tmp_path, places, capfd):
    """In validate, in run and below the table; rows used, left out and of each class are below it and in run.json."""
    said = "own.yaml:2: parts: No positive class is stated: 'ok' is taken"
    chosen = own(tmp_path, few=False)
    verbs._log.handlers[0]._said.clear()
    verbs.validate(chosen)
    validated = capfd.readouterr().err
    assert said in validated
    verbs._log.handlers[0]._said.clear()
    verbs.run(chosen, places, Power(1))
    out, err = capfd.readouterr()
    assert said in err
    assert (validated + err).count("left out 1 of 25 rows") == 1
    words = " ".join(out.split())
    assert "parts: 24 rows: 12 ok (positive), 12 bad (negative); 1 rows with missing cells left out." in words
    assert "`positive: bad` or `positive: ok` in the config states it." in words
    assert "ok err %" in words
    rows = json.loads((places.results / "own" / "run.json").read_text())["rows"]["parts"]
    assert (rows["rows"], rows["left_out"], rows["classes"]) == (24, 1, {"bad": 12, "ok": 12})


def test_a_class_with_few_rows_is_told_and_one_with_fewer_than_folds_refused(tmp_path, capfd):
    chosen = own(tmp_path, few=True)
    lines = (tmp_path / "parts.csv").read_text().splitlines()
    few = [line for line in lines if not line.endswith("ok")] + [line for line in lines if line.endswith("ok")][:5]
    (tmp_path / "parts.csv").write_text("\n".join(few))
    verbs._log.handlers[0]._said.clear()
    verbs.validate(chosen)
    assert "parts: class 'ok' has 5 rows only: one of them is 20 % of its error rate" in capfd.readouterr().err
    (tmp_path / "own.yaml").write_text(OWN.replace("folds: 3", "folds: 6"))
    with pytest.raises(ConfigError, match="the smallest class has 5 rows, too few for 6 folds"):
        verbs.validate(chosen)


def test_a_terminal_that_is_not_utf8_gets_text_and_no_traceback(tmp_path):
    import subprocess

    command = [sys.executable, "-c", "from mmc.cli import main; main()", "show", "breast_cancer"]
    env = {**os.environ, "PYTHONIOENCODING": "cp1252", "COLUMNS": "80", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=env)
    text = done.stdout.decode("cp1252")
    assert done.returncode == 0, done.stderr
    assert "|eta1 | eta2 |" in text
    assert "16.98 -0.85 ok" in " ".join(text.split())
    assert b"Traceback" not in done.stderr
    assert max(map(len, text.splitlines()[1:])) <= 80
