"""The display of a run: how much of the whole is left, in a terminal and in plain lines."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from mmc.cli import progress
from mmc.cli.progress import Display, span
from mmc.experiments.engines.base import Workers
from mmc.experiments.run import Progress

NAMES = ("first", "second", "third")


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is told."""
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now.seconds)
    return now


def display(names=NAMES, left=(), width=80):
    out = Console(file=io.StringIO(), force_terminal=True, width=width)
    shown = Display(out, [SimpleNamespace(name=name) for name in names])
    shown.expect(left)
    return shown


def screen(shown, width=80):
    out = Console(file=io.StringIO(), width=width, markup=False)
    out.print(shown._screen())
    return out.file.getvalue().splitlines()


def test_the_time_left_for_all_is_that_of_what_has_no_record(clock):
    shown = display(left=[10, 30, 60])
    work = shown.each()
    next(work)
    shown(Progress("first", 0, 100, {}, left=10))
    assert "0/3 configs, 0:00:00, about 2 min left" in screen(shown)[0]  # 100 s of fitting
    shown.workers(Workers(4))
    assert "about 25 s left" in screen(shown)[0]
    clock.seconds += 5  # the workers start
    shown(Progress("first", 10, 100, {}, left=9, spent=1))
    clock.seconds += 4  # twice as fast as one worker, not four times
    shown(Progress("first", 90, 100, {}, left=1, spent=9))
    assert "about 46 s left" in screen(shown)[0]  # 91 / 2
    clock.seconds += 1
    shown(Progress("first", 100, 100, {}, left=0, spent=10))
    next(work)
    shown(Progress("second", 0, 10, {}, left=30))
    assert "1/3 configs, 0:00:10, about 50 s left" in screen(shown)[0]  # 90 · 5 / 9


def test_nobody_knows_yet(clock):
    shown = display(left=[10, None, 60])
    work = shown.each()
    next(work)
    shown(Progress("first", 3, 100, {}, left=None))
    assert [line.rstrip()[-15:] for line in screen(shown)] == ["no estimate yet", "no estimate yet"]
    shown(Progress("first", 50, 100, {}, left=5))
    assert "no estimate yet" in screen(shown)[0], "the second config was never run"
    assert "50/100, about 5 s left" in screen(shown)[1]


def test_what_the_store_had_says_nothing_about_the_pace(clock):
    shown = display(left=[0, 15, 60])
    work = shown.each()
    next(work)
    shown(Progress("first", 100, 100, {}, left=0))
    clock.seconds += 40  # reading, writing
    next(work)
    shown(Progress("second", 5, 10, {}, left=15))
    assert "about 75 s left" in screen(shown)[0]
    clock.seconds += 15
    shown(Progress("second", 10, 10, {}, left=0, spent=15))
    assert "about 60 s left" in screen(shown)[0]
    next(work)
    shown(Progress("third", 10, 10, {}, left=0))
    assert list(work) == []
    assert shown.closing() == "3 configs: 5 trials fitted, 115 taken from the store, in 55 s"


@pytest.mark.parametrize("width", [80, 160])
def test_two_lines_fit_into_a_terminal(clock, width):
    names = ("mmrm_rbf_sensitivity", "other")
    shown = display(names, [5000, 0], width)
    next(shown.each())
    shown(Progress(names[0], 0, 64750, {}, 6000))
    for done in (4750, 14750):
        clock.seconds += 1000
        shown(Progress(names[0], done, 64750, {"infeasible": 14000, "failed": 700}, 5000, done / 10))
        lines = screen(shown, width)
        assert len(lines) == 2
        assert max(map(len, lines)) <= width
    assert f"14750/64750, about {span(5000)} left" in lines[1]


def test_one_config_has_one_line(clock):
    shown = display(NAMES[:1])
    next(shown.each())
    shown(Progress("first", 3, 10, {"infeasible": 1}))
    (line,) = screen(shown)
    assert line.startswith("first ")
    assert line.rstrip().endswith("3/10, no estimate yet, 1 infeasible")


def test_workers_that_joined_and_were_lost(clock):
    shown = display(NAMES[:1])
    next(shown.each())
    shown(Progress("first", 3, 10, {}, 7.0))
    shown.workers(Workers(3, joined=1, lost=2))
    assert screen(shown)[0].rstrip().endswith("about 2 s left, 3 workers, 1 joined, 2 lost")
    shown.workers(Workers(1))
    assert "worker" not in screen(shown)[0]


@pytest.mark.parametrize("width", [20, 80])
def test_a_very_long_name_and_one_that_looks_like_markup(clock, width):
    for name in ("n" * 300, "[/x] [red]study"):
        shown = display((name,), width=width)
        next(shown.each())
        shown(Progress(name, 3, 10, {}))
        assert name[:4] in screen(shown, width)[0]


def test_plain_lines_say_which_of_how_many(clock, capsys):
    out = Console(file=io.StringIO(), width=160)
    configs = [SimpleNamespace(name=name) for name in NAMES]
    with Display(out, configs) as shown:
        shown.expect([0, 12, 23])
        work = shown.each()
        next(work)
        shown(Progress("first", 10, 10, {}, 0))  # all from the store: nothing to say
        next(work)
        shown(Progress("second", 4, 10, {}, 12))
        clock.seconds += 4
        shown(Progress("second", 5, 10, {}, 10, 2))
        clock.seconds += 4
        shown(Progress("second", 7, 10, {"infeasible": 2}, 6, 6))
        clock.seconds += 4
        shown(Progress("second", 10, 10, {"infeasible": 2}, 0, 12))
        next(work)  # fails before its trials are known
        assert list(work) == []
    assert capsys.readouterr().err.splitlines() == [
        "[2/3] second: 7 of 10 trials, 2 infeasible, about 6 s left; of all about 29 s left",
        "[2/3] second: 10 trials, 2 infeasible in 12.0 s, 4 of them from the store",
    ]
    assert out.file.getvalue() == ""
    assert shown.closing() == "2 of 3 configs: 6 trials fitted, 14 taken from the store, in 12 s"
