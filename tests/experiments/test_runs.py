"""What the digits of a printed mean say of the number of runs behind it."""

import pytest

from mmc.experiments.cells import Cell
from mmc.experiments.config import Reported
from mmc.experiments.runs import fewest_runs, possible, runs_of


def test_82_point_5_percent_of_270_is_no_whole_count_of_one_run():
    assert not possible("82.5", 270)
    assert not possible("82.5", 2 * 270)
    assert possible("82.5", 3 * 270)
    assert fewest_runs([("82.5", 270)]) == 3


@pytest.mark.parametrize("points", [37, 212, 270])
@pytest.mark.parametrize("digits", [1, 2])
def test_every_whole_count_is_possible_and_is_of_one_run(points, digits):
    printed = [(f"{100 * k / points:.{digits}f}", points) for k in range(points + 1)]
    assert fewest_runs(printed) == 1


def test_means_of_three_runs_need_no_more_than_three():
    printed = [(f"{100 * k / (3 * 150):.1f}", 150) for k in range(0, 450, 7)]
    assert 1 < fewest_runs(printed) <= 3


def test_a_misprint_among_many_does_not_count():
    """16 of 137 are 11.68 %; Table 1 of Nath & Bhattacharyya has 11.69 once."""
    printed = [(f"{100 * k / 137:.2f}", 137) for k in range(10, 29)]
    assert fewest_runs([*printed, ("11.69", 137)]) == 1
    assert fewest_runs([("11.69", 137)]) > 1


def test_the_config_states_the_least_number_for_each_metric():
    def cell(metric, printed, points):
        return Cell({"dataset": "d"}, metric, (1.0,), reported=printed, percent=True, resolution=100 / points)

    cells = [cell("accuracy", "82.5", 270), Cell({"dataset": "d"}, "bound_pos", (1.0,), reported="58.6", percent=True)]
    one = Reported(file="f", source="s")
    assert runs_of(cells, one) == {("d", "accuracy"): 3, ("d", "bound_pos"): 3}
    many = Reported(file="f", source="s", repetitions={"bound_pos": 10})
    assert runs_of(cells, many) == {("d", "accuracy"): 3, ("d", "bound_pos"): 10}
    assert runs_of(cells, Reported(file="f", source="s", repetitions=50))["d", "accuracy"] == 50


def test_a_number_that_a_sweep_repeats_counts_once_and_what_is_infeasible_not_at_all():
    """41.89 % of 191 points is a misprint: one number of ten, however often it is shown."""
    printed = [("31.94", 191), ("36.65", 191), ("46.07", 191), ("47.12", 191), ("41.89", 191)]
    printed += [("30.14", 209), ("20.57", 209), ("12.44", 209), ("10.05", 209), ("7.66", 209)]

    def cell(number, points, values=(1.0,), reading=1):
        keys = {"dataset": "d", "ridge": reading}
        place = {"dataset": "d", "printed": number}
        return Cell(keys, "error", values, place=place, reported=number, percent=True, resolution=100 / points)

    once = [cell(*one) for one in printed]
    misprints = [cell("41.89", 191, reading=reading) for reading in range(2, 9)]
    infeasible = [cell("7.66", 70, ()), cell("47.12", 63, ())]
    for cells in (once, once + misprints, once + infeasible):
        assert set(runs_of(cells, Reported(file="f", source="s")).values()) == {1}
