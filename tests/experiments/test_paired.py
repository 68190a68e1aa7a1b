"""Two methods on the same splits: what the interval of their difference is about."""

import numpy as np
import pytest

from mmc.experiments.cells import Cell, Table
from mmc.experiments.notes import comparisons
from mmc.experiments.paired import intervals

NOISE = np.random.default_rng(0).standard_normal(8)


def cell(method, values):
    return Cell({"dataset": "d", "method": method}, "error", tuple(values.tolist()))


def noted(overlap, same_rows, gap=1.0):
    cells = [cell("A", 5 + NOISE), cell("B", 5 + gap + NOISE + 0.1 * NOISE[::-1])]
    pairs = tuple(intervals(cells, "A", overlap, same_rows))
    table = Table("t", "t", ("method",), (), ("error",), tuple(cells), {}, pairs=pairs)
    return pairs[0], list(comparisons(table))


def test_rows_that_several_parts_train_on_widen_the_interval():
    alone, shared = (noted(overlap, same_rows=False)[0].half_width for overlap in (0.0, 1 / 9))
    assert shared / alone == pytest.approx(np.sqrt(1 + 8 / 9))


def test_a_repeated_cross_validation_says_nothing_about_new_rows():
    """Its repetitions differ by the partition only: however many there are, the rows stay the same."""
    _, of_partitions = noted(1 / 9, same_rows=False)
    assert len(of_partitions) == 1
    assert of_partitions[0].endswith(": a difference")
    _, (found, scope) = noted(0.0, same_rows=True)
    assert found.endswith(": a difference on these rows")
    assert "not about new rows" in scope
