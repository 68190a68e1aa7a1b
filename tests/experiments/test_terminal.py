"""A table in the terminal: whole at every width, with the names of the classes, and what would have been feasible."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from mmc.cli.shell import spelling
from mmc.experiments.cells import Cell, Table
from mmc.experiments.config import bundled
from mmc.experiments.data_facts import DataFacts
from mmc.experiments.feasible import nearest_pair
from mmc.experiments.layout import Grid, beside, measured
from mmc.experiments.notes import notes
from mmc.experiments.reference import kept_table
from mmc.experiments.terminal import terminal
from mmc.experiments.validation import load
from mmc.methods import ErrorRateClassifier, InfeasibleProblem

RESULTS = Path(__file__).parent.parent.parent / "results"


def printed(table, width, spelled=str):
    """Return the lines of the table itself, without the sentences below it."""
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    below = {spelled(note) for note in notes(table)}
    for part in terminal(table, width, spelled):
        if str(part) not in below:
            console.print(part)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("name", bundled())
def test_nothing_of_a_table_is_cut(name, width):
    """Every row key, number and verdict is there in full, as often as there are cells that have it."""
    table = kept_table(load(name), RESULTS / name)
    lines = printed(table, width)
    assert max(map(cell_len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    assert "…" not in words
    grid = Grid.of(table)
    texts = [text for cell in table.cells for text in (measured(cell, table.spread), beside(cell)) if text]
    for text in set(texts):
        assert words.count(text) >= texts.count(text), text
    for row in grid.rows:
        assert all(table.label(part) in words for part in row)


@pytest.fixture
def table():
    def cell(eta, values, **more):
        keys = {"dataset": "d", "method": "a method of a long name", "eta_pos": eta, "eta_neg": 0.3}
        return Cell(keys, "error_pos", values, **{"trials": 6, "draws": 2, **more})

    cells = (cell(0.5, (1.0, 2.0), reported="1.5"), cell(0.1, (), infeasible=6, distance=0.21))
    facts = (DataFacts("d", {"sick": 20, "well": 9}, "sick", rows=29, left_out=3),)
    return Table("t", "t", ("eta_pos", "eta_neg"), ("method",), ("error_pos",), cells, {}, data=facts)


def test_a_table_without_room_for_one_column_is_turned(table):
    assert "η₁: 0.5, η₂: 0.3" in "\n".join(printed(table, 30))
    assert "1.5 ± 0.7" in " ".join(" ".join(printed(table, 30)).split())
    assert "η₁: 0.5" not in "\n".join(printed(table, 60))


def test_the_heading_names_the_class(table):
    assert table.label("error_pos") == "sick err %"
    assert table.label("error_neg") == "well err %"
    other = DataFacts("e", {"a": 1, "b": 2}, "a")
    assert replace(table, data=(*table.data, other)).label("error_pos") == "+ve err %"
    assert replace(table, labels={"error_pos": "missed"}).label("error_pos") == "missed"
    numbers = DataFacts("d", {"0": 5, "1": 5}, "1")
    assert replace(table, data=(numbers,)).label("error_pos") == "class 1 err %"


def test_rows_used_and_left_out_stand_below(table):
    below = "\n".join(notes(table))
    assert "d: 29 rows: 20 sick (positive), 9 well (negative); 3 rows with missing cells left out." in below
    assert "η₁ bounds the error of sick, η₂ that of well." in below


def test_an_infeasible_cell_comes_with_the_nearest_pair(table):
    assert nearest_pair(table.cells[0]) is None
    assert "Nearest to η₁ = 0.1, η₂ = 0.3" in "\n".join(notes(table))


def test_the_nearest_pair_is_the_one_of_the_exception():
    X = [[0.0, 0.1], [1.0, 0.0], [0.5, 1.0], [0.8, 0.9], [1.4, 0.3], [1.9, 1.2]]
    y = [0, 0, 0, 1, 1, 1]
    with pytest.raises(InfeasibleProblem) as caught:
        ErrorRateClassifier(eta_pos=0.1, eta_neg=0.2, ridge=0.01).fit(X, y)
    cell = Cell({"eta_pos": 0.1, "eta_neg": 0.2}, "error", infeasible=1, trials=1, distance=caught.value.distance)
    said = [float(x) for x in re.findall(r"eta_\w+=([\d.]+)", str(caught.value))[-2:]]
    assert nearest_pair(cell) == pytest.approx(tuple(said), abs=0.011)


def test_a_part_of_a_run_has_no_cross_for_what_was_not_run():
    infeasible = Cell({}, "error", infeasible=2, missing=58, trials=60)
    assert measured(infeasible) == "2 of 60 run"
    assert measured(Cell({}, "error", missing=60, trials=60)) == "–"
    assert measured(Cell({}, "error", (1.0,), missing=30, trials=60, draws=2)) == "1.00 (30 of 60 run)"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_a_terminal_without_utf8_gets_stand_ins_that_stay_in_line(encoding):
    table = kept_table(load("breast_cancer"), RESULTS / "breast_cancer")
    lines = printed(table, 100, spelling(encoding))
    text = "\n".join(lines).replace("─", "-")
    assert text.encode(encoding)
    assert "eta1" in text
    assert "?" not in text
    assert max(map(len, lines)) <= 100
    assert spelling("utf-8")("η₁ ✓") == "η₁ ✓"
