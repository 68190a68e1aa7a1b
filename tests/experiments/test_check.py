"""The tolerance of a cell, and what a check says where a method has gone wrong."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from mmc.experiments import render
from mmc.experiments.cells import Cell, Table, Verdict
from mmc.experiments.check import compare

KEYS = {"dataset": "d", "method": "m"}
VALUES = (99.99987654, 99.99987655, 99.99987656)


def table(values, keys=KEYS, **kwargs):
    cell = Cell(keys, "error", tuple(values), **{"trials": 3, "draws": len(values), **kwargs})
    return Table("t", "t", ("dataset",), ("method",), ("error",), (cell,), {})


def joined(tables):
    """Return one table with the cells of several."""
    tables = list(tables)
    return replace(tables[0], cells=tuple(cell for of in tables for cell in of.cells))


def reference(of):
    rows = list(csv.DictReader(io.StringIO(render.to_csv(of))))
    return {f"dataset={row['dataset']} method={row['method']} {row['metric']}": row for row in rows}


def told(after, before):
    return [change.what for change in compare(after, reference(before))]


def test_the_same_numbers_never_move():
    assert told(table(VALUES), table(VALUES)) == []
    assert told(table((0.7891234,)), table((0.7891234,))) == []


@pytest.mark.parametrize(("flips", "moved"), [(1, []), (2, ["mean"])])
def test_one_test_point_may_flip_whatever_the_spread(flips, moved):
    """The splits are the same: how much repetitions differ from each other is no excuse."""
    values, point = np.array([10.0, 12.0, 14.0]), 0.5
    after = values + np.array([flips * point, 0, 0])
    assert told(table(after, resolution=point / 3), table(values, resolution=point / 3)) == moved


def test_the_spread_must_not_change_either():
    values, after = (10.0, 12.0, 14.0), (8.0, 12.0, 16.0)
    assert told(table(after, resolution=0.1), table(values, resolution=0.1)) == ["spread"]


@pytest.mark.parametrize(("after", "moved"), [(6.0e-7, False), (1.1e-5, True)])
def test_no_number_is_known_better_than_fits_are_certified(after, moved):
    assert bool(told(table((after,)), table((8.0e-11,)))) == moved


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"infeasible": 1}, "feasibility"),
        ({"failed": 1}, "feasibility"),
        ({"draws": 3}, "feasibility"),
        ({"capped": 2}, "capped"),
        ({"chosen": {"C": 2}}, "chosen"),
        ({"verdict": Verdict.WEAK}, "verdict"),
    ],
)
def test_what_else_must_not_change(change, what):
    before = table((5.0, 5.0), chosen={"C": 1}, verdict=Verdict.MATCH, reported="5.0")
    after = replace(before, cells=(replace(before.cells[0], **change),))
    (found,) = compare(after, reference(before))
    assert found.what == what
    assert what == "feasibility" or f"error: before {what}: " in str(found)


def test_cells_that_move_to_one_side_together_are_found_though_each_moves_little():
    """A sign test: rounding flips points either way. Eleven of eleven happen by chance once in a thousand."""
    place = [{"dataset": "d", "method": f"m{i}"} for i in range(20)]
    before = joined(table((5.0, 6.0), keys, resolution=0.1) for keys in place)

    def shifted(moves):
        return joined(table((5.0 + m, 6.0), keys, resolution=0.1) for m, keys in zip(moves, place, strict=True))

    (found,) = compare(shifted([0.1] * 12 + [0.0] * 8), reference(before))
    assert (found.metric, found.after) == ("error", "12 cells up, 0 down")
    assert found.before == "sign test: p = 0.0005"
    assert compare(shifted([0.1] * 6 + [-0.1] * 6 + [0.0] * 8), reference(before)) == []
    assert compare(shifted([0.1] * 5 + [0.0] * 15), reference(before)) == []


def test_a_slower_machine_moves_nothing():
    """What no two runs need agree on, such as a time, has no resolution."""
    place = [{"dataset": "d", "method": f"m{i}"} for i in range(20)]
    before, after = (joined(table((t, t), keys, resolution=float("inf")) for keys in place) for t in (5.0, 6.0))
    assert compare(after, reference(before)) == []


def test_cells_that_appear_or_vanish_are_told():
    assert len(compare(table(VALUES), {})) == 1
    empty = replace(table(VALUES), cells=())
    assert len(compare(empty, reference(table(VALUES)))) == 1


def test_a_label_that_looks_like_a_formula_is_found_again():
    strange = table(VALUES, {"dataset": "d", "method": "=1+1"})
    assert compare(strange, reference(strange)) == []
