"""The simulation of the promise in a small version: it tells a kept promise from a broken one, and writes what it found."""

from dataclasses import replace

import pytest

from benchmarks import _guarantee_simulation as simulation
from benchmarks._guarantee_peers import PEERS, _on
from benchmarks._guarantee_report import draw, peers_text, simulation_text, verdict
from benchmarks._guarantee_simulation import ABSTAIN, ONE, POPULATIONS, TWO, situation

KINDS = {ONE: 59, TWO: 72, ABSTAIN: 72}


@pytest.fixture(scope="module")
def rows():
    return [
        situation(kind, scores, 0.05, 0.95, "smallest", n, 400) for kind, n in KINDS.items() for scores in POPULATIONS
    ]


def test_the_promise_is_kept(rows):
    assert {verdict(row, rows) for row in rows} == {"kept"}


@pytest.mark.parametrize("kind", [ONE, ABSTAIN])
def test_one_rank_further_is_called_broken(kind, monkeypatch, rows):
    chosen = simulation.ranks
    monkeypatch.setattr(simulation, "ranks", lambda *args: tuple(k + 1 for k in chosen(*args)))
    monkeypatch.setattr(simulation, "_check", lambda *args: None)
    assert verdict(situation(kind, POPULATIONS[0], 0.05, 0.95, "smallest", KINDS[kind], 400), rows) == "BROKEN"


def test_another_rule_than_the_estimators_is_refused(monkeypatch):
    chosen = simulation.ranks
    monkeypatch.setattr(simulation, "ranks", lambda *args: tuple(k + 1 for k in chosen(*args)))
    with pytest.raises(AssertionError, match="not that of RateGuarantee"):
        situation(ONE, POPULATIONS[0], 0.05, 0.95, "smallest", 59, 10)


def test_theory_and_simulation_agree(rows):
    """The share of broken promises is predicted exactly where nothing is tied."""
    for row in rows:
        if row.predicted == row.predicted:
            assert row.broken / row.repetitions == pytest.approx(row.predicted, abs=0.05)


def test_refitting_keeps_it_too():
    kept = list(simulation.refitted(60, points=2000))
    assert [row.kind for row in kept] == [ONE, ABSTAIN]
    assert {verdict(row, kept) for row in kept} == {"kept"}


def test_the_tables_and_the_figure_hold_every_row(rows):
    whole = [
        replace(row, rate=rate, confidence=level)
        for row in rows
        for rate in (0.01, 0.05, 0.1)
        for level in (0.9, 0.95, 0.99)
    ]
    assert simulation_text(whole).count("| kept |") + simulation_text(whole).count("| BROKEN |") == len(whole)
    assert len(draw(whole).axes) == 6


def test_the_peers_are_given_the_same_samples():
    results = list(_on("breast_cancer", 100, 3))
    assert [result.peer for result in results] == [peer.name for peer in PEERS]
    ours, default, ordered, tuned = results
    assert ours.no_rule == ordered.no_rule == tuned.no_rule == 0
    assert default.no_rule == 3
    assert ours.other < ordered.other
    assert peers_text(results).count("breast_cancer") == 4
