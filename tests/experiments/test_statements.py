"""Claims as data: each kind of statement on constructed cells, and what a config may not say."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from mmc.experiments.cells import Cell, Table
from mmc.experiments.claims import Kept
from mmc.experiments.errors import ConfigError
from mmc.experiments.statements import AnyStatement, Pairing
from mmc.experiments.validation import load

READ = TypeAdapter(AnyStatement)
NOISE = np.random.default_rng(0).standard_normal(40)


def cell(method, values, metric="error", **keys):
    given = {"dataset": "d", "method": method, **keys}
    return Cell(given, metric, tuple(float(value) for value in np.atleast_1d(values)))


def claimed(given, *cells, overlap=0.0, paired=True):
    table = Table("t", "t", ("method", *(k for k in ("eta",) if k in cells[0].keys)), (), ("error",), cells, {})
    return READ.validate_python({"says": "so", **given}).tested(table, Pairing(overlap, paired))


BELOW = {"kind": "below", "metric": "error", "first": "A", "second": "B"}


@pytest.mark.parametrize(
    ("shift", "kind", "verdict"),
    [
        (-2.0, "below", Kept.HOLDS),
        (2.0, "below", Kept.FAILS),
        (0.01, "below", Kept.OPEN),
        (2.0, "above", Kept.HOLDS),
        (-2.0, "above", Kept.FAILS),
    ],
)
def test_an_order_needs_its_whole_interval_on_one_side(shift, kind, verdict):
    cells = [cell("A", 5 + NOISE + shift + 0.3 * NOISE[::-1]), cell("B", 5 + NOISE)]
    assert claimed({**BELOW, "kind": kind}, *cells).verdict is verdict


@pytest.mark.parametrize(
    ("levels", "verdict"),
    [([5, 9], Kept.HOLDS), ([5, 6], Kept.FAILS), ([5, 8], Kept.OPEN), ([8, 9], Kept.HOLDS), ([8, 8], Kept.OPEN)],
)
def test_one_point_is_enough_for_a_statement_about_some(levels, verdict):
    cells = [cell("A", level + NOISE, eta=eta) for eta, level in enumerate(levels)]
    given = {"kind": "above", "metric": "error", "first": "A", "than": 8.0 + float(NOISE.mean()), "some": True}
    assert claimed(given, *cells).verdict is verdict


def test_the_interval_is_that_of_the_paired_differences():
    """Both vary a lot, and together: paired the difference is clear, unpaired it is not. An overlap widens it."""
    wide = 20 * NOISE
    cells = [cell("A", wide - 1 + 0.1 * NOISE[::-1]), cell("B", wide)]
    assert claimed(BELOW, *cells).verdict is Kept.HOLDS
    assert claimed(BELOW, *cells, paired=False).verdict is Kept.OPEN
    noisy = [cell("A", NOISE - 0.5), cell("B", NOISE[::-1])]
    assert claimed(BELOW, *noisy, overlap=0.0).verdict is Kept.HOLDS
    assert claimed(BELOW, *noisy, overlap=1.0).verdict is Kept.OPEN


def test_the_95_percent_interval_covers_so_often():
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(400):
        values = rng.normal(3.0, 1.0, 12)
        given = {"kind": "equal", "metric": "error", "first": "A", "than": 3.0, "within": 0.0}
        missed += claimed(given, cell("A", values)).verdict is Kept.FAILS
    assert 6 <= missed <= 36


def test_it_holds_in_part_where_some_agree():
    cells = [cell("A", NOISE, eta=1), cell("B", NOISE + 3, eta=1), cell("A", NOISE + 3, eta=2), cell("B", NOISE, eta=2)]
    claim = claimed(BELOW, *cells)
    assert claim.verdict is Kept.PARTLY
    assert claim.measured.startswith("1 of 2 agree, 1 against, 0 open; d, A, eta = 1 − B: -3")


@pytest.mark.parametrize(("within", "verdict"), [(0.5, Kept.HOLDS), (0.2, Kept.FAILS), (0.31, Kept.OPEN)])
def test_equal_means_within_what_is_stated(within, verdict):
    cells = [cell("A", NOISE + 2.8 + 0.1 * NOISE[::-1]), cell("B", NOISE)]
    given = {"kind": "equal", "metric": "error", "first": "A", "second": "B", "by": 2.5, "within": within}
    assert claimed(given, *cells).verdict is verdict


def test_metrics_of_one_method_and_numbers():
    cells = [cell("A", NOISE, "bound"), cell("A", NOISE + 5, "accuracy")]
    assert claimed({"kind": "below", "metric": "bound", "than": "accuracy", "first": "A"}, *cells).verdict is Kept.HOLDS
    assert claimed({"kind": "above", "metric": "accuracy", "than": 50, "first": "A"}, *cells).verdict is Kept.FAILS


def test_single_runs_on_the_same_points_are_compared_by_mcnemar():
    """12 against 1 of 13 discordant points is a difference, 4 against 2 is none (exact binomial), whatever each alone leaves open."""
    right = np.ones(100, dtype=bool)

    def voted(method, wrong, start, sampling=1.0):
        votes = right.copy()
        votes[start : start + wrong] = False
        return Cell({"dataset": "d", "method": method}, "error", (float(wrong),), right=votes, sampling=sampling)

    assert claimed(BELOW, voted("A", 1, 0), voted("B", 12, 50)).verdict is Kept.HOLDS
    assert claimed(BELOW, voted("A", 1, 0, 10.0), voted("B", 12, 50, 10.0)).verdict is Kept.HOLDS
    assert claimed(BELOW, voted("A", 2, 0), voted("B", 4, 50)).verdict is Kept.OPEN
    assert claimed(BELOW, voted("A", 2, 0, 0.1), voted("B", 4, 50, 0.1)).verdict is Kept.OPEN
    claim = claimed(BELOW, voted("A", 12, 0), voted("B", 1, 50))
    assert claim.verdict is Kept.FAILS
    assert "+11 [" in claim.measured


def test_a_fitted_line_has_the_interval_of_its_standard_error():
    line = Cell({"dataset": "d", "method": "A"}, "slope", (0.26,), sampling=0.22, df=43)
    given = {"kind": "above", "metric": "slope", "first": "A", "than": 0}
    assert claimed(given, line).verdict is Kept.OPEN
    steep = Cell({"dataset": "d", "method": "A"}, "slope", (0.5,), sampling=0.2, df=43)
    assert claimed(given, steep).verdict is Kept.HOLDS


@pytest.mark.parametrize(("slope", "verdict"), [(4.0, Kept.HOLDS), (-4.0, Kept.FAILS), (0.0, Kept.OPEN)])
def test_a_trend_is_the_slope_over_the_grid(slope, verdict):
    rng = np.random.default_rng(2)
    cells = [cell("A", slope * eta + rng.standard_normal(40), eta=eta) for eta in (0.1, 0.5, 0.9)]
    claim = claimed({"kind": "rises", "metric": "error", "key": "eta", "methods": "A"}, *cells)
    assert claim.verdict is verdict
    opposite = {Kept.HOLDS: Kept.FAILS, Kept.FAILS: Kept.HOLDS, Kept.OPEN: Kept.OPEN}[verdict]
    assert claimed({"kind": "falls", "metric": "error", "key": "eta", "methods": "A"}, *cells).verdict is opposite


def test_a_share_counts_repetitions_that_meet_all_conditions():
    cells = [cell("A", [1.0] * 30 + [9.0] * 10), cell("A", [1.0] * 20 + [9.0] * 20, "other")]
    both = [{"method": "A", "metric": "error", "most": 5}, {"method": "A", "metric": "other", "least": 5}]
    claim = claimed({"kind": "share", "of": both, "at_most": 50}, *cells)
    assert claim.verdict is Kept.HOLDS  # 10 of 40, and the exact interval ends at 41 %
    assert claim.measured == "d, 10 of 40: +25 [12.7, 41.2]"
    assert claimed({"kind": "share", "of": both, "at_most": 30}, *cells).verdict is Kept.OPEN
    assert claimed({"kind": "share", "of": both, "at_least": 60}, *cells).verdict is Kept.FAILS


def test_what_was_not_run_cannot_be_told():
    claim = claimed(BELOW, cell("C", NOISE))
    assert (claim.verdict, claim.measured) == (Kept.OPEN, "not run")


STUDY = """\
title: small
datasets:
  two_norm: {options: {n_pos: 12, n_neg: 12}}
methods:
  L: {method: lda}
  M: {method: mpm}
claims:
  - {says: one, kind: below, metric: error_pos, first: L, second: M}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("first: L", "first: LL", "8: a claim names the method 'LL'"),
        ("metric: error_pos", "metric: error", "8: a claim names the metric 'error'"),
        ("kind: below", "kind: lower", "8: .*'lower'"),
        ("first: L, ", "", "8: .*first"),
    ],
)
def test_a_claim_that_names_nothing_is_refused_with_its_line(tmp_path, old, new, message):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    assert len(load(path).experiment.claims) == 1
    path.write_text(STUDY.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        load(path)
