"""The command as a user meets it: exit codes, messages, nothing lost."""

import os
import subprocess
import sys
import time

import pytest

STUDY = """\
title: small
datasets:
  two_norm: {options: {n_pos: 30, n_neg: 30}}
methods:
  L: {method: error-rate}
grid:
  - {eta_pos: 0.8, eta_neg: 0.8}
  - {eta_pos: 0.02, eta_neg: 0.02}
table: {rows: [eta_pos], columns: [method]}
"""


def mmc(*words, cwd, **env):
    command = [sys.executable, "-c", "from mmc.cli import main; main()", *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**os.environ, **env})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small.yaml").write_text(STUDY)
    return tmp_path


def test_run_prints_a_table_and_writes_it(folder):
    done = mmc("run", "small.yaml", "--jobs", 1, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "×" in done.stdout
    assert "0.8" in done.stdout
    assert {p.name for p in (folder / "runs" / "small").iterdir()} == {
        "table.csv",
        "table.md",
        "table.tex",
        "run.json",
    }
    again = mmc("show", "small.yaml", cwd=folder)
    assert again.returncode == 0
    assert again.stdout.strip().splitlines()[0] in done.stdout


def test_check_accepts_the_same_and_refuses_the_other(folder):
    assert mmc("check", "small.yaml", "-j", 1, cwd=folder).returncode == 2  # no reference yet
    assert mmc("check", "small.yaml", "-j", 1, "--update", cwd=folder).returncode == 0
    same = mmc("check", "small.yaml", "-j", 1, cwd=folder)
    assert (same.returncode, same.stdout.strip()) == (0, "small: 4 cells, none moved")
    reference = folder / "results" / "small" / "reference.csv"
    lines = reference.read_text().splitlines()
    fields = lines[1].split(",")
    column = lines[0].split(",").index("mean")
    fields[column] = str(float(fields[column]) + 50)
    reference.write_text("\n".join([lines[0], ",".join(fields), *lines[2:]]))
    other = mmc("check", "small.yaml", "-j", 1, cwd=folder)
    assert other.returncode == 1
    assert "1 of 4 cells moved" in other.stdout
    assert "before" in other.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run",), "name a config"),
        (("run", "no_such"), "no config 'no_such'"),
        (("run", "absent.yaml"), "absent.yaml: no such file"),
        (("validate", "broken.yaml"), "broken.yaml:2: "),
        (("run", "one_class.yaml"), "one class"),
        (("run", "nan.yaml"), "nan.csv:4: column 'a'"),
        (("run", "folds.yaml"), "too few for 50 folds"),
        (("run", "small.yaml", "--results", "small.yaml/x"), "cannot write to the results folder"),
        (("show", "small.yaml"), "has no records of small yet"),
        (("list", "method"), "did you mean 'methods'?"),
        (("data", "show", "pimma"), "did you mean 'pima'?"),
        (("data", "fetch", "mnits"), "did you mean 'mnist'?"),
        (("run", "--no-such-option"), "No such option"),
    ],
)
def test_wrong_usage_is_one_message_and_code_2(folder, words, message):
    (folder / "broken.yaml").write_text("title: x\ndatasets: [")
    (folder / "one.csv").write_text("a,kind\n1,x\n2,x\n3,x\n")
    (folder / "nan.csv").write_text("a,kind\n1,x\n2,y\ninf,x\n4,y\n")
    for name in ("one", "nan"):
        text = f"title: t\ndatasets:\n  d: {{file: {name}.csv, target: kind}}\nmethods:\n  L: {{method: error-rate}}\n"
        (folder / ("one_class.yaml" if name == "one" else "nan.yaml")).write_text(text)
    (folder / "folds.yaml").write_text(STUDY + "split: {kind: stratified-kfold, folds: 50}\n")
    done = mmc(*words, cwd=folder)
    assert done.returncode == 2, done
    assert message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_a_damaged_store_stops_the_run_and_stays(folder):
    (folder / "runs").mkdir()
    (folder / "runs" / "store.sqlite").write_bytes(b"precious" * 1000)
    done = mmc("run", "small.yaml", cwd=folder)
    assert done.returncode == 2
    assert "is damaged" in done.stderr
    assert (folder / "runs" / "store.sqlite").read_bytes() == b"precious" * 1000


def test_an_interrupted_run_says_how_to_go_on(folder):
    import signal

    (folder / "long.yaml").write_text(STUDY + "split: {kind: stratified-kfold, folds: 3, repetitions: 3000}\n")
    command = [sys.executable, "-c", "from mmc.cli import main; main()", "run", "long.yaml", "--jobs", "1"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # what runs in the background inherits SIG_IGN
    )
    store = folder / "runs" / "store.sqlite"
    deadline = time.monotonic() + 60
    while not store.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=180)
    assert process.returncode == 130
    assert "Run the same command again to continue" in stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    "verb",
    [
        "run",
        "validate",
        "show",
        "plot",
        "check",
        "report",
        "list",
        "data list",
        "data show",
        "data fetch",
        "data verify",
    ],
)
def test_every_verb_teaches_by_an_example(folder, verb):
    done = mmc(*verb.split(), "--help", cwd=folder)
    assert done.returncode == 0
    assert f"Example:  mmc {verb}" in done.stdout


@pytest.mark.parametrize("what", ["methods", "solvers", "datasets", "configs"])
def test_lists(folder, what):
    done = mmc("list", what, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 4


def test_help_imports_nothing_heavy(folder):
    code = (
        "import sys; sys.argv = ['mmc', '--help']\nfrom mmc.cli import main\ntry: main()\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'pydantic', 'matplotlib', 'rich.table'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_rerun_with_nothing_to_do_imports_no_scikit_learn(folder):
    assert mmc("run", "small.yaml", "--jobs", 1, cwd=folder).returncode == 0
    code = (
        "import sys; sys.argv = ['mmc', 'run', 'small.yaml']\nfrom mmc.cli import main\ntry: main()\n"
        "except SystemExit: pass\nassert not {'sklearn', 'pandas', 'joblib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=folder)


@pytest.mark.parametrize(("keeps", "words"), [(True, "what was finished is kept"), (False, "nothing is kept")])
def test_stopping_a_verb_says_what_is_kept(capsys, monkeypatch, keeps, words):
    import typer

    from mmc.cli.shell import guarded, resumable

    def stopped():
        raise KeyboardInterrupt

    app = typer.Typer()
    app.command()(resumable()(stopped) if keeps else stopped)
    monkeypatch.setattr("sys.argv", ["mmc"])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert guarded(app) == 130
    assert words in capsys.readouterr().err


def test_verbs_that_go_on_are_those_with_a_store():
    from mmc.cli import catalogue, check_verb, own, verbs

    assert all(hasattr(verb, "__wrapped__") for verb in (verbs.run, check_verb.update, catalogue.fetch))
    assert not any(hasattr(verb, "__wrapped__") for verb in (own.fit, own.predict, check_verb.check))


@pytest.mark.parametrize("columns", [60, 80])
def test_the_scoreboard_is_never_cut(tmp_path, columns):
    done = mmc("report", cwd=tmp_path, COLUMNS=str(columns))
    assert done.returncode == 0, done.stderr
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= columns
    for word in ("Bhattacharyya", "Richard", "infeasible as", "deviation"):
        assert word in done.stdout


def test_a_misspelt_file_is_told(folder):
    assert "did you mean 'small.yaml'?" in mmc("run", "smal.yaml", cwd=folder).stderr
    assert "did you mean 'small.yaml'?" in mmc("show", "smal", cwd=folder).stderr
    assert "`mmc list configs` shows them" in mmc("show", "qqq", cwd=folder).stderr


def test_the_lists_are_listed(folder):
    listed = mmc("list", cwd=folder).stdout
    assert all(f"mmc list {what}" in listed for what in ("methods", "solvers", "datasets", "configs"))
