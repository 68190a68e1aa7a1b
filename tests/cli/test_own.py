"""Fit and predict as a user types them: what is printed, what is written, what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from mmc.cli import app, own
from mmc.experiments.errors import UserError
from tests.experiments.own.making import parts

ONE = ("--methods", "LogisticRegression")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    parts().to_csv("parts.csv", index=False)
    return tmp_path


def mmc(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def refused(*words):
    """Return the message with which the command refuses."""
    done = mmc(*words)
    assert isinstance(done.exception, UserError), done.exception or done.output
    return str(done.exception)


def test_from_a_file_to_predictions(folder):
    done = mmc("fit", "parts.csv", "--target", "verdict", "--max-error", "defect=0.1", *ONE)
    assert done.exit_code == 0, done.exception
    assert max(map(len, done.output.splitlines())) <= 80
    for words in ("600 rows: training", "'part_id' looks like an ID", "3 categories", "≤ 10 %", "training moments"):
        assert words in done.output
    written = {file.name for file in folder.iterdir()}
    assert written == {"parts.csv", "parts.model", "parts.card.md", "parts.card.html"}
    done = mmc("predict", "parts.model", "parts.csv", "--out", "predictions.csv")
    assert done.exit_code == 0, done.exception
    assert "600 rows" in done.output
    found = pd.read_csv("predictions.csv")
    missed = (found["label"] == "fine")[parts()["verdict"] == "defect"].mean()
    assert missed < 0.1


def test_two_rates_and_a_word_for_undecided(folder):
    rates = ("--max-error", "defect=0.06", "--max-error", "fine=0.1", "--abstain", "unsure", "--confidence", "0.99")
    done = mmc("fit", "parts.csv", "--target", "verdict", *rates, *ONE, "--out", "two.model")
    assert done.exit_code == 0, done.exception
    assert "unsure" in done.output
    assert max(map(len, done.output.splitlines())) <= 80
    mmc("predict", "two.model", "parts.csv")
    found = pd.read_csv("parts.predictions.csv")
    assert ((found["label"] == "unsure") == (found["abstained"] == 1)).all()


def test_two_rates_and_one_threshold_say_what_is_left_to_luck(folder):
    rates = ("--max-error", "defect=0.3", "--max-error", "fine=0.4")
    done = mmc("fit", "parts.csv", "--target", "verdict", *rates, *ONE)
    assert done.exit_code == 0, done.exception
    assert "One threshold keeps both limits up to" in done.output
    assert "--abstain" in done.output


def test_without_rates_it_shows_what_is_possible(folder):
    done = mmc("fit", "parts.csv", "--target", "verdict", *ONE)
    assert done.exit_code == 0, done.exception
    assert "rows too few" in done.output
    assert "have not been looked at" in done.output
    assert {file.name for file in folder.iterdir()} == {"parts.csv", "parts.possible.svg"}


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        (["defect"], "is not LABEL=RATE"),
        (["=0.1"], "is not LABEL=RATE"),
        (["defect=few"], "is not LABEL=RATE"),
        (["defect=0.1", "defect=0.2"], "names 'defect' twice"),
        (["defect=0"], "between 0 and 1"),
        (["defect=1"], "between 0 and 1"),
        (["defect=nan"], "between 0 and 1"),
        (["defects=0.1"], "did you mean 'defect'?"),
    ],
)
def test_rates_that_cannot_be_meant(folder, rates, message):
    options = [word for rate in rates for word in ("--max-error", rate)]
    assert message in refused("fit", "parts.csv", "--target", "verdict", *options)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("one.csv", "one class only"),
        ("twenty.csv", "it needs at least"),
        ("nan.csv", "the target 'verdict' is missing in 3 of 600 rows"),
        ("empty.csv", "is empty"),
        ("absent.csv", "no such file"),
    ],
)
def test_tables_that_cannot_be_used(folder, name, message):
    table = parts()
    table.assign(verdict="fine").to_csv("one.csv", index=False)
    table.head(20).to_csv("twenty.csv", index=False)
    table.assign(verdict=table["verdict"].where(~table.index.isin([4, 5, 90]))).to_csv("nan.csv", index=False)
    (folder / "empty.csv").touch()
    assert message in refused("fit", name, "--target", "verdict")


@pytest.mark.parametrize(("name", "message"), [("pickle.model", "is a pickle"), ("absent.model", "no such file")])
def test_models_that_are_not_read(folder, name, message):
    (folder / "pickle.model").write_bytes(pickle.dumps(np.arange(3)))
    assert message in refused("predict", name, "parts.csv")


def test_predictions_never_overwrite_what_is_read(folder):
    mmc("fit", "parts.csv", "--target", "verdict", "--max-error", "defect=0.1", *ONE)
    assert "would overwrite" in refused("predict", "parts.model", "parts.csv", "--out", "parts.csv")
    assert len(pd.read_csv("parts.csv")) == 600


def test_a_terminal_gets_no_commands_from_a_file(folder, capsys):
    own._Screen().say("a\x1b[2Jb [red]c")
    assert capsys.readouterr().out == "a·[2Jb [red]c\n"
