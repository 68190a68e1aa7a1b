"""The page on methods says what the numbers say: other numbers, other sentences."""

from dataclasses import replace

import pytest

from mmc.datasets.registry import REGISTRY
from mmc.experiments.study_page import STUDY, written
from mmc.experiments.tables import cells_of, lay_out
from mmc.experiments.validation import load
from mmc.methods import CATALOGUE

CONFIG = load(STUDY)
LABELS = CONFIG.experiment.figures["ranks_error"].options["methods"]


def made(score, **empty):
    """Return the parts of the page for scores by (method, data set's number); ``empty`` are cells without a classifier."""
    sets = list(CONFIG.experiment.datasets)
    cells = []
    for cell in cells_of(CONFIG.experiment, [], {}):
        method, place = cell.keys["method"], sets.index(cell.keys["dataset"])
        value = 0.01 * (1 + len(method)) if cell.metric == "train_seconds" else float(score(method, place))
        cell = replace(cell, by_repetition=(value,), draws=1, trials=3)
        if (method, cell.keys["dataset"]) == (empty.get("method"), empty.get("dataset")):
            cell = replace(cell, by_repetition=(), infeasible=2, failed=1)
        cells.append(cell)
    return written(CONFIG, lay_out(CONFIG, cells))


def by_order(method, place):
    return 5 + LABELS.index(method) if method in LABELS else 40


def test_equals_differ_by_chance_alone():
    text = made(lambda method, place: 7.0)["ranks_error"]
    assert f"**No two of the {len(LABELS)} differ by more than chance**" in text
    assert "The best kernel beats the best plane on 0 of 13 sets." in text
    assert "better rank than the SVM (10.0): none." in text


def test_an_order_that_holds_on_every_set_is_told():
    text = made(by_order)["ranks_error"]
    (line,) = [line for line in text.splitlines() if "by more than chance" in line]
    assert line.startswith(f"- **Worse than {LABELS[0]} (1.0) by more than chance**")
    assert f"{LABELS[-1]} ({len(LABELS)}.0)" in line
    assert f"{LABELS[1]} (2.0)" not in line
    assert "take error-rate**: the best rank, " in text
    assert "The ranks of MPM, BMPM, MEMPM, MMRM come next. Next to it, less than half as long: MPM (" in text
    assert "| error-rate | 1.0 | 5.0 | 13 | 37 |" in text


def test_the_other_way_round_other_methods_do_not_pay():
    papers = "a rank no better than the SVM's: "
    first, last = made(by_order)["ranks_error"], made(lambda m, i: -by_order(m, i))["ranks_error"]
    assert "MPM (" not in first.partition(papers)[2].split("\n")[0]
    assert "MPM (" in last.partition(papers)[2].split("\n")[0]


def test_the_short_answer_follows_the_numbers():
    equal, ordered = made(lambda method, place: 7.0)["short"], made(by_order)["short"]
    others = len(LABELS) - 1
    assert f"cannot tell it from {others} of the other {others} methods" in equal
    assert "which lowers it in 0 of 12 cases" in equal
    assert "Of 12, 0 have a better rank than the SVM" in equal
    assert ordered.startswith("- **Few errors, of whichever class**: error-rate.")
    assert "0 have a better rank" not in ordered


def test_a_method_without_a_classifier_is_last_and_told():
    text = made(by_order, method="error-rate", dataset="sonar")["ranks_error"]
    rank = (12 * 1 + len(LABELS)) / 13
    assert f"| error-rate | {rank:.1f} | 5.0 | 12 |" in text
    assert "averages over the 12 where all have one" in text
    assert "No classifier on some splits: error-rate on `sonar` (2 infeasible, 1 failed of 3)" in text
    assert "Every method found a classifier on every split." in made(by_order)["ranks_error"]


@pytest.mark.parametrize(("costs", "part"), [("5:1", "ranks_risk_5_1"), ("1:5", "ranks_risk_1_5")])
def test_what_stated_costs_gain_is_counted(costs, part):
    gain = made(lambda method, place: 10 if method == f"SVM {costs}" else 20)[part]
    assert "1 of 6 methods have a lower one on average" in gain
    assert "SVM 10.0 instead of 20.0" in gain
    assert f"**SVM {costs}** has the least risk on average and the best rank (10.0, rank 1.0)." in gain
    loss = made(lambda method, place: 30 if method.endswith(costs) else 20)[part]
    assert "0 of 6 methods have a lower one" in loss


def test_every_method_and_every_bundled_set_of_two_classes_is_in_the_study():
    assert {spec.method for spec in CONFIG.experiment.methods.values()} >= set(CATALOGUE)
    outside = {spec.method for spec in CONFIG.experiment.methods.values()} - set(CATALOGUE)
    assert len(outside) == 5
    here = {name for name, entry in REGISTRY.items() if entry.kind != "large" and len(entry.classes) == 2}
    sets_alone = {"random_circles"}
    assert {spec.name for spec in CONFIG.experiment.datasets.values()} == here - sets_alone


def test_the_limits_are_counted():
    text = made(by_order)["limits"]
    assert "13 sets, 6 of them drawn from simple distributions, 5 times 3 splits of each" in text
    assert "Not tuned at all: LDA, HMEM, naive Bayes." in text
