"""Verdicts on constructed records; and a small config from its run to claims and figures."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from mmc.experiments.claims import Claim, Kept, to_markdown
from mmc.experiments.engines import engine
from mmc.experiments.errors import ConfigError
from mmc.experiments.figures import draw_all
from mmc.experiments.figures.banded import Banded
from mmc.experiments.figures.drawing import Drawing
from mmc.experiments.results import Results
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.told import bsvm, framework, smem
from mmc.experiments.validation import load
from tests.experiments.flat import made

HOLDS, PARTLY, FAILS = Kept.HOLDS, Kept.PARTLY, Kept.FAILS
C = {
    "max_abs": 4.0,
    "centre": 1.0,
    "others": 2.0,
    "cluster_spread": 20.0,
    "cluster_spread_clipped": 5.0,
    "curve": [0.9, 0.4, 0.0],
    "curve_clipped": [0.9, 0.9, 0.9],
    "area": 0.43,
    "area_clipped": 0.9,
}
B = {**C, "max_abs": 1.5, "cluster_spread": 10.0, "curve": [0.9, 0.6, 0.1], "area": 0.53}


def claims(*draws, rho2=1.5):
    """Return the claims on one data set: each draw is (values of C-SVM, values of B-SVM), None where not run."""
    units, records = [], {}
    for repetition, draw in enumerate(draws):
        for label, values in zip(("C-SVM", "B-SVM"), draw, strict=True):
            key = f"{label} {repetition}"
            units.append(
                SimpleNamespace(
                    source=SimpleNamespace(label="toy"),
                    split=SimpleNamespace(repetition=repetition, fold=0),
                    label=label,
                    trials=[SimpleNamespace(key=key)],
                )
            )
            if values is not None:
                records[key] = made(values)
    experiment = SimpleNamespace(datasets={"toy": None}, measures={"band": {"rho": [1, rho2]}})
    return list(bsvm(SimpleNamespace(config=SimpleNamespace(experiment=experiment), units=units, records=records)))


def verdicts(*draws, **options):
    return [claim.verdict for claim in claims(*draws, **options)]


def test_all_four_hold_where_every_draw_says_so():
    assert verdicts((C, B), (C, B)) == [HOLDS] * 4


@pytest.mark.parametrize(
    ("which", "c", "b"),
    [
        (0, C, {**B, "max_abs": 1.6}),
        (1, {**C, "centre": 2.5}, B),
        (2, C, {**B, "cluster_spread": 30.0}),
        (3, {**C, "curve": [0.95, 0.7, 0.2], "area": 0.62}, B),
    ],
)
def test_each_fails_where_every_draw_says_no_and_holds_in_part_where_one_does(which, c, b):
    expected = [HOLDS] * 4
    expected[which] = FAILS
    assert verdicts((c, b), (c, b)) == expected
    expected[which] = PARTLY
    assert verdicts((C, B), (c, b)) == expected


def test_one_threshold_is_enough_against_every_threshold():
    above_once = {**C, "curve": [0.95, 0.4, 0.0]}
    claim = claims((above_once, B), (C, B))[3]
    assert claim.verdict == PARTLY
    assert "C-SVM is above at 17 % of the thresholds, up to 0 % of max |g|" in claim.measured
    assert "clipped at 67 %" in claim.measured


def test_the_bound_is_the_one_of_the_config():
    assert verdicts((C, B), rho2=1.5)[0] == HOLDS
    assert verdicts((C, B), rho2=1.4)[0] == FAILS
    assert "ρ2 = 1.4" in claims((C, B), rho2=1.4)[0].statement


def test_a_draw_that_lacks_a_method_is_left_out_not_paired_with_another():
    worse = {**C, "cluster_spread": 5.0}
    assert verdicts((C, None), (None, B)) == []
    found = claims((worse, None), (C, B), (C, B))
    assert [c.verdict for c in found] == [HOLDS] * 4
    assert "on 2 of 2 draws" in found[0].measured


def test_one_draw_has_no_spread():
    assert "largest |g| 1.500; within" in claims((C, B))[0].measured
    assert "largest |g| 1.550 ± 0.071; within" in claims((C, B), (C, {**B, "max_abs": 1.6}))[0].measured


def test_a_bar_in_a_statement_does_not_cut_its_row():
    lines = to_markdown([Claim("limits |g|", "1.5", HOLDS)]).splitlines()
    assert lines[2] == r"| limits \|g\| | 1.5 | holds |"
    assert {line.replace(r"\|", "").count("|") for line in lines} == {4}


SMALL = """\
title: small
datasets:
  8 per cluster: {name: bsvm_toy, options: {per_cluster: 8, test_per_cluster: 4}}
  10 per cluster: {name: bsvm_toy, options: {per_cluster: 10, test_per_cluster: 4}}
scale: none
split: {kind: fixed, repetitions: 2, redraw: true}
methods:
  C-SVM: {method: svm, C_pos: 10, C_neg: 10, kernel: rbf, gamma: 1}
  B-SVM: {method: bsvm, C1: 10, C2: 100, rho1: 1, rho2: 1.5, kernel: rbf, gamma: 1}
measures:
  band: {rho: [1, 1.5], clusters: 5}
claims: bsvm
table: {rows: [dataset], columns: [method], metrics: [in_band, error]}
figures:
  figure: {kind: banded, dataset: 10 per cluster, methods: [C-SVM, B-SVM]}
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "small.yaml"
    path.write_text(SMALL)
    with Store(None) as store:
        return run(load(path), store, engine(1))


def test_a_run_writes_its_claims(small, tmp_path):
    assert len(small.claims) == 8
    assert "claims.md" in small.write(tmp_path, None)
    assert (tmp_path / "claims.md").read_text("utf-8").count("of 2 draws") >= 6


FIGURES = ["figure_2_support_vectors", "figure_3_decision_values", "figure_4_sensitivity"]


def test_the_figures_are_drawn(small, tmp_path):
    names = small.draw(tmp_path)
    assert names == [f"{figure}.{ending}" for figure in FIGURES for ending in ("svg", "png")]
    assert all((tmp_path / name).stat().st_size > 10_000 for name in names)


def test_an_unfinished_run_draws_what_it_has(small):
    some = dict(list(small.records.items())[:1])
    drawn = dict(draw_all(Results(small.config, small.units, some)))
    assert list(drawn) == FIGURES[2:]  # no method of the second data set, whose fits the others show, has a record
    assert [len(axes.lines) for axes in drawn[FIGURES[2]].axes] == [2, 0]  # C-SVM and clipped, of the first data set
    plt.close("all")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dataset: 10 per cluster", "dataset: 11 per cluster", "did you mean '10 per cluster'"),
        ("methods: [C-SVM", "methods: [D-SVM", "did you mean 'C-SVM'"),
        ("measures:\n  band: {rho: [1, 1.5], clusters: 5}\nclaims: bsvm\n", "", "needs the measure 'band'"),
    ],
)
def test_what_a_figure_lacks_is_said_before_the_run(tmp_path, old, new, message):
    assert old in SMALL
    path = tmp_path / "edited.yaml"
    path.write_text(SMALL.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        load(path)


def test_the_figure_marks_free_support_vectors_where_the_paper_puts_them(small):
    """A free α-SV has y·g = ρ1 and a free θ-SV y·g = ρ2 (section 3.4); in an SVM, y·g = 1."""
    svm, banded = Banded()._fits(Drawing(small), ["C-SVM", "B-SVM"])
    for fit, levels in ((svm, {"α": 1.0}), (banded, {"α": 1.0, "θ": 1.5})):
        margin = fit.y * fit.model.decision_function(fit.X)
        found = {name: free for name, _, free in fit.multipliers()}
        assert found.keys() == levels.keys()
        for name, level in levels.items():
            assert len(found[name]) > 0
            np.testing.assert_allclose(margin[found[name]], level, atol=1e-5)


def knowledge_claims(*draws, hard=True, without=()):
    """Return the claims on one data set: each draw has the errors of SC-SVM, TSVC and SMEM and the gap of SMEM."""
    units, records = [], {}
    for repetition, (sc, tsvc, own, gap) in enumerate(draws):
        errors = {"SC-SVM": sc, "TSVC": tsvc, "SMEM": own, "SMEM, shared slack": 60, **({"HMEM": 0} if hard else {})}
        for label, error in errors.items():
            key = f"{label} {repetition}"
            place = SimpleNamespace(repetition=repetition, fold=0)
            toy = SimpleNamespace(label="toy")
            if label in without:
                continue
            units.append(SimpleNamespace(source=toy, split=place, label=label, trials=[SimpleNamespace(key=key)]))
            counts = {"n_pos": 50, "n_neg": 50, "wrong_pos": error / 2, "wrong_neg": error / 2}
            records[key] = made({**counts, "exact_gap": gap if label == "SMEM" else 1e-7})
    config = SimpleNamespace(experiment=SimpleNamespace(datasets={"toy": None}))
    return list(smem(SimpleNamespace(config=config, units=units, records=records)))


def test_claims_about_knowledge_sets():
    first, second, third = knowledge_claims((9, 20, 0, 0.3), (8, 18, 0, 0.1))
    assert [c.verdict for c in (first, second, third)] == [HOLDS, FAILS, HOLDS]
    assert "SC-SVM 8.50 ± 0.71 %, TSVC 19.00 ± 1.41 %, SMEM 0.00 ± 0.00 %" in first.measured
    assert "0.20 ± 0.14, at most 0.30" in second.measured
    assert "at most 1e-07" in second.measured
    assert "(HMEM) on 2 of 2, with SMEM on 2, with TSVC on 0" in third.measured


def test_claims_about_knowledge_sets_hold_in_part_or_not_at_all():
    assert [c.verdict for c in knowledge_claims((9, 20, 10, 1e-6), (8, 18, 0, 0.1))] == [PARTLY, PARTLY, PARTLY]
    assert [c.verdict for c in knowledge_claims((9, 20, 9, 1e-6), hard=False)] == [FAILS, HOLDS]
    assert len(knowledge_claims((9, 20, 9, 1e-6), without=["SMEM, shared slack"])) == 2
    assert knowledge_claims((9, 20, 9, 1e-6), without=["TSVC"]) == []


V, M, D = "d_w^v / d_b^c", "d_w^m / d_b^m", "d_w^d / d_b^m"


def framework_claims(*draws):
    """Return the claims on one data set: each draw has the quotients of LDA, MMRM, SVM and RMM."""
    methods = {"Fisher": "lda", "MMRM": "mmrm", "SVM": "svm", "RMM": "rmm"}
    units, records = [], {}
    for repetition, draw in enumerate(draws):
        for label, values in zip(methods, draw, strict=True):
            key = f"{label} {repetition}"
            place = SimpleNamespace(repetition=repetition, fold=0)
            toy = SimpleNamespace(label="toy")
            units.append(SimpleNamespace(source=toy, split=place, label=label, trials=[SimpleNamespace(key=key)]))
            records[key] = made({"separates": 100.0 * (M in values), **values})
    specs = {label: SimpleNamespace(method=method) for label, method in methods.items()}
    experiment = SimpleNamespace(datasets={"toy": None}, methods_on=lambda dataset: specs)
    config = SimpleNamespace(experiment=experiment)
    return {c.statement: c for c in framework(SimpleNamespace(config=config, units=units, records=records))}


FISHER, RATIO, NORM, DIAMETER = (
    f"toy: Fisher minimises {V} (2.1)",
    f"toy: MMRM minimises {M} (3.1)",
    "toy: SVM minimises d_w^n / d_b^m (2.3)",
    f"toy: RMM has a smaller {D} than SVM (2.5)",
)


def with_norm(*draw):
    return [{**values, "d_w^n / d_b^m": 1.0 + (label != 2)} for label, values in enumerate(draw)]


def test_each_machine_is_held_against_its_own_ratio():
    first = with_norm(
        {V: 1.0, M: 3.0, D: 9.0}, {V: 2.0, M: 1.0, D: 5.0}, {V: 2.0, M: 2.0, D: 5.0}, {V: 2.0, M: 2.0, D: 4.0}
    )
    found = framework_claims(first, first)
    assert list(found) == [FISHER, NORM, RATIO, DIAMETER]
    assert {claim.verdict for claim in found.values()} == {HOLDS}
    assert found[RATIO].measured == (
        "1.000 ± 0.000, the least of 4 on 2 of 2 draws; the next on average is SVM, 2.000 ± 0.000"
    )
    assert "smaller on 2 of 2 draws, larger on 0" in found[DIAMETER].measured

    other = with_norm({V: 1.0, D: 9.0}, {V: 0.5, M: 2.0, D: 5.0}, {V: 2.0, M: 2.0, D: 5.0}, {V: 2.0, M: 2.0, D: 6.0})
    found = framework_claims(first, other)
    assert [claim.verdict for claim in found.values()] == [PARTLY, HOLDS, HOLDS, PARTLY]
    assert "on 2 of 2 draws (on 1 not alone)" in found[RATIO].measured
    assert [claim.verdict for claim in framework_claims(other).values()] == [FAILS, HOLDS, HOLDS, FAILS]


def test_a_machine_that_does_not_separate_is_not_the_best():
    lost = with_norm({V: 1.0, M: 3.0}, {V: 2.0}, {V: 2.0}, {V: 2.0})
    assert framework_claims(lost)[RATIO].verdict == FAILS
    assert framework_claims(lost, lost)[RATIO].measured.startswith("inf, the least of 4 on 0 of 2 draws; ")


def test_the_figure_shows_alpha_upwards_and_theta_downwards(small):
    """A B-SVM has α − θ below its plane: a line from 0 to α, and one from 0 to −θ."""
    figure = dict(draw_all(small))[FIGURES[0]]
    plt.close("all")
    fits = Banded(dataset="10 per cluster")._fits(Drawing(small), ["C-SVM", "B-SVM"])
    for fit, below in zip(fits, figure.axes[-2:], strict=True):
        signs = {"α": 1, "θ": -1}
        expected = {
            (i, signs[name] * value) for name, values, _ in fit.multipliers() for i, value in enumerate(values) if value
        }
        ends = {tuple(line[1]) for lines in below.collections for line in lines.get_segments()}
        assert ends == expected
