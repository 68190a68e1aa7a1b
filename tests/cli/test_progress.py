"""The display of a run: how much of the whole is left, in a terminal and in plain lines."""

import io
import json
from types import SimpleNamespace

import pytest
from rich.console import Console

from mmc.cli import progress
from mmc.cli.progress import Display, span
from mmc.experiments.run import Progress

NAMES = ("first", "second", "third")


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is told."""
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now.seconds)
    return now


def display(folder, names=NAMES, width=80, **seconds):
    for name, value in seconds.items():
        (folder / name).mkdir()
        (folder / name / "run.json").write_text(json.dumps({"fit_seconds": value}))
    out = Console(file=io.StringIO(), force_terminal=True, width=width)
    return Display(out, [SimpleNamespace(name=name) for name in names], folder)


def screen(shown, width=80):
    out = Console(file=io.StringIO(), width=width)
    out.print(shown._screen())
    return out.file.getvalue().splitlines()


def test_the_time_left_for_all_weighs_each_config_by_its_earlier_seconds(tmp_path, clock):
    shown = display(tmp_path, first=10, second=30, third=60)
    work = shown.each()
    next(work)
    shown(Progress("first", 0, 100, {}))
    assert "left" not in screen(shown)[0], "nothing is known of this machine yet"
    clock.seconds += 5
    shown(Progress("first", 50, 100, {}))
    assert "0/3 configs, 0:00:05, about 95 s left" in screen(shown)[0]
    clock.seconds += 5
    shown(Progress("first", 100, 100, {}))
    next(work)
    shown(Progress("second", 0, 10, {}))
    clock.seconds += 60  # twice as slow as before
    shown(Progress("second", 10, 10, {}))
    assert "1/3 configs, 0:01:10, about 2 min left" in screen(shown)[0]  # 60 · 70 / 40 s


def test_what_the_store_had_says_nothing_about_the_pace(tmp_path, clock):
    shown = display(tmp_path, first=10, second=30, third=60)
    work = shown.each()
    next(work)
    shown(Progress("first", 100, 100, {}))
    clock.seconds += 40  # reading, writing
    next(work)
    shown(Progress("second", 5, 10, {}))
    assert "left" not in screen(shown)[0]
    clock.seconds += 15
    shown(Progress("second", 10, 10, {}))
    assert "about 60 s left" in screen(shown)[0]
    next(work)
    shown(Progress("third", 10, 10, {}))
    assert list(work) == []
    assert shown.closing() == "3 configs: 5 trials fitted, 115 taken from the store, in 55 s"


def test_a_config_that_was_never_run_weighs_as_much_as_the_others(tmp_path, clock):
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / "run.json").write_text("[")
    shown = display(tmp_path, first=10, second=30)
    work = shown.each()
    next(work)
    shown(Progress("first", 0, 1, {}))
    clock.seconds += 10
    shown(Progress("first", 1, 1, {}))
    assert "about 50 s left" in screen(shown)[0]


@pytest.mark.parametrize("width", [80, 160])
def test_two_lines_fit_into_a_terminal(tmp_path, clock, width):
    names = ("mmrm_rbf_sensitivity", "other")
    shown = display(tmp_path, names, width)
    next(shown.each())
    shown(Progress(names[0], 0, 64750, {}))
    for done in (4750, 14750):
        clock.seconds += 1000
        shown(Progress(names[0], done, 64750, {"infeasible": 14000, "failed": 700}))
        lines = screen(shown, width)
        assert len(lines) == 2
        assert max(map(len, lines)) <= width
    assert f"14750/64750, about {span(5000)} left" in lines[1]


def test_one_config_has_one_line(tmp_path, clock):
    shown = display(tmp_path, NAMES[:1])
    next(shown.each())
    shown(Progress("first", 3, 10, {"infeasible": 1}))
    (line,) = screen(shown)
    assert line.startswith("first ")
    assert line.rstrip().endswith("3/10, 1 infeasible")


def test_plain_lines_say_which_of_how_many(tmp_path, clock, capsys):
    out = Console(file=io.StringIO(), width=160)
    configs = [SimpleNamespace(name=name) for name in NAMES]
    with Display(out, configs, tmp_path) as shown:
        work = shown.each()
        next(work)
        shown(Progress("first", 10, 10, {}))  # all from the store: nothing to say
        next(work)
        shown(Progress("second", 4, 10, {}))
        clock.seconds += 4
        shown(Progress("second", 5, 10, {}))
        clock.seconds += 4
        shown(Progress("second", 7, 10, {"infeasible": 2}))
        clock.seconds += 4
        shown(Progress("second", 10, 10, {"infeasible": 2}))
        next(work)  # fails before its trials are known
        assert list(work) == []
    assert capsys.readouterr().err.splitlines() == [
        "[2/3] second: 7 of 10 trials, 2 infeasible, about 6 s left; of all about 35 s",
        "[2/3] second: 10 trials, 2 infeasible in 12.0 s, 4 of them from the store",
    ]
    assert out.file.getvalue() == ""
    assert shown.closing() == "2 of 3 configs: 6 trials fitted, 14 taken from the store, in 12 s"
