"""Figures are drawn again only if something that they are made of has changed."""

import json
from dataclasses import replace

import pytest

from mmc.experiments.drawn import NOTE, kept
from mmc.experiments.engines import engine
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load

TEXT = """\
title: f
datasets:
  two_norm: {options: {n_pos: 20, n_neg: 20}}
methods:
  L: {method: error-rate, grid: {eta_pos: [0.5, 0.9], eta_neg: [0.5, 0.9]}}
table: {rows: [eta_pos], columns: [eta_neg], metrics: [error]}
figures:
  plane: {kind: plane, method: L, metric: error}
"""


@pytest.fixture
def outcome(tmp_path):
    (tmp_path / "f.yaml").write_text(TEXT)
    with Store(None) as store:
        return run(load(tmp_path / "f.yaml"), store, engine(1))


def drawn(outcome, folder):
    """Return the names, and whether they were drawn."""
    calls = []

    def draw(where):
        calls.append(where)
        names = ["plane.svg", "plane.png"]
        for name in names:
            (where / name).write_text("a picture")
        return names

    folder.mkdir(exist_ok=True)
    assert kept(outcome, folder, draw) == ["plane.svg", "plane.png"]
    return bool(calls)


def test_a_figure_is_drawn_once(outcome, tmp_path):
    assert drawn(outcome, tmp_path / "a")
    assert not drawn(outcome, tmp_path / "a")
    assert drawn(outcome, tmp_path / "b")


def test_a_figure_that_is_gone_is_drawn_again(outcome, tmp_path):
    drawn(outcome, tmp_path / "a")
    (tmp_path / "a" / "plane.png").unlink()
    assert drawn(outcome, tmp_path / "a")


@pytest.mark.parametrize("note", ["", "[]", "{}", '{"of": 1, "files": 2}', "\0"])
def test_a_damaged_note_is_no_note(outcome, tmp_path, note):
    drawn(outcome, tmp_path / "a")
    (tmp_path / "a" / NOTE).write_text(note)
    assert drawn(outcome, tmp_path / "a")
    assert json.loads((tmp_path / "a" / NOTE).read_text())["files"] == ["plane.svg", "plane.png"]


def test_other_records_and_another_config_make_other_figures(outcome, tmp_path):
    drawn(outcome, tmp_path / "a")
    fewer = dict(list(outcome.records.items())[1:])
    assert drawn(replace(outcome, records=fewer), tmp_path / "a")
    drawn(outcome, tmp_path / "a")
    (tmp_path / "f.yaml").write_text(TEXT.replace("title: f", "title: g"))
    assert drawn(replace(outcome, config=load(tmp_path / "f.yaml")), tmp_path / "a")
