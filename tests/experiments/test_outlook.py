"""The time that is left: of units without a record only, by what units of their kind took."""

from types import SimpleNamespace

import pytest

from mmc.experiments.outlook import Outlook, unit_seconds
from mmc.experiments.records import Record
from mmc.experiments.units import Trial
from mmc.methods.solution import Status


def units(label, count, trials=1, follows=()):
    return [
        SimpleNamespace(
            label=label,
            follows=follows,
            source=SimpleNamespace(label="d"),
            trials=tuple(Trial(f"{label}{i}.{k}", {}) for k in range(trials)),
        )
        for i in range(count)
    ]


def records(some, seconds):
    return {t.key: Record(t.key, Status.SOLVED, seconds) for unit in some for t in unit.trials}


def test_what_has_a_record_takes_no_time():
    slow, quick = units("slow", 10), units("quick", 10)
    done = {**records(slow[:9], 100.0), **records(quick[:1], 1.0)}
    assert Outlook([*slow, *quick], done, {}).left() == pytest.approx(100 + 9)


def test_nobody_knows_of_a_kind_that_was_never_seen():
    mine = units("mine", 4, trials=2)
    assert Outlook(mine, {}, {}).left() is None
    assert Outlook(mine, {}, {"mine on d": 6.0}).left() == pytest.approx(24)
    assert Outlook(mine, records(mine, 1.0), {}).left() == 0


def test_a_unit_that_others_tune_for_says_nothing_of_those_that_tune():
    """A run said 16 hours and took 4 minutes: the later repetitions took the grid point that the first five had found."""
    tuning, later = units("mine", 5), units("mine, later", 45, follows=("mine0.0",))
    for unit in later:
        unit.label = "mine"
    outlook = Outlook([*tuning, *later], records(tuning, 1000.0), {})
    assert outlook.left() is None
    outlook.add(records(later[:1], 2.0).values())
    assert outlook.left() == pytest.approx(44 * 2)


def test_what_was_fitted_now_says_more_than_what_was_fitted_before():
    mine = units("mine", 10, trials=2)
    outlook = Outlook(mine, records(mine[:2], 5.0), {"mine on d": 1000.0})
    assert outlook.left() == pytest.approx(8 * 10)
    outlook.add(records(mine[2:4], 1.0).values())
    assert outlook.left() == pytest.approx(6 * 2)
    assert outlook.spent == pytest.approx(4)
    outlook.add(records(mine[2:4], 1.0).values())
    assert outlook.left() == pytest.approx(6 * 2), "a record that comes twice counts once"


def test_the_seconds_of_a_unit_are_those_of_its_trials():
    mine = units("mine", 3, trials=4)
    some = records(mine[:2], 0.5)
    some |= {mine[2].trials[0].key: Record(mine[2].trials[0].key, Status.SOLVED, 99.0)}
    assert unit_seconds(mine, some) == {"mine on d": 2.0}
