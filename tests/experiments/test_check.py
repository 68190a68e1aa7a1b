"""The tolerance of a cell, and what a check says where a method has gone wrong."""

import csv
import io

import pytest

from mmc.experiments import render
from mmc.experiments.cells import Cell, Table
from mmc.experiments.check import compare

VALUES = (99.99987654, 99.99987655, 99.99987656)


def table(values, **kwargs):
    cell = Cell({"dataset": "d", "method": "m"}, "bound_pos", tuple(values), trials=3, **kwargs)
    return Table("t", "t", ("dataset",), ("method",), ("bound_pos",), (cell,), {})


def reference(of):
    rows = list(csv.DictReader(io.StringIO(render.to_csv(of))))
    return {f"dataset={row['dataset']} method={row['method']} {row['metric']}": row for row in rows}


def test_the_same_numbers_never_move():
    assert compare(table(VALUES), reference(table(VALUES))) == []
    assert compare(table((0.7891234,)), reference(table((0.7891234,)))) == []


@pytest.mark.parametrize(("shift", "moved"), [(0.5, False), (1.5, True)])
def test_the_tolerance_is_the_standard_error(shift, moved):
    values = (10.0, 12.0, 14.0)
    error = 2.0 / 3**0.5
    assert bool(compare(table([v + shift * error for v in values]), reference(table(values)))) == moved


def test_one_test_point_may_flip():
    assert compare(table((5.1, 5.1, 5.1)), reference(table((5.0, 5.0, 5.0), resolution=0.2))) == []


@pytest.mark.parametrize(("after", "moved"), [(6.0e-7, False), (1.1e-5, True)])
def test_no_number_is_known_better_than_fits_are_certified(after, moved):
    assert bool(compare(table((after,)), reference(table((8.0e-11,))))) == moved


def test_feasibility_must_not_change():
    (change,) = compare(table((5.0, 5.0), infeasible=1), reference(table((5.0, 5.0))))
    assert "bound_pos" in str(change)


def test_cells_that_appear_or_vanish_are_told():
    assert len(compare(table(VALUES), {})) == 1
    empty = Table("t", "t", ("dataset",), ("method",), ("bound_pos",), (), {})
    assert len(compare(empty, reference(table(VALUES)))) == 1
