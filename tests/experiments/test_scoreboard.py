"""The scoreboard: every reported number counts once, and none is dropped."""

from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from mmc.experiments.cells import Verdict
from mmc.experiments.config import bundled
from mmc.experiments.outcome import Outcome
from mmc.experiments.plan import plan
from mmc.experiments.records import Record
from mmc.experiments.score import VERDICTS, Score
from mmc.experiments.scoreboard import PAPERS, Number, Result, by_paper, numbers, recall_all, score, to_markdown
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from mmc.methods.solution import Status

REPORTED = Path(str(resources.files("mmc.configs"))) / "reported"


def judged(name, *verdicts):
    """Return a result whose reported cells have these verdicts, over and over."""
    config = load(name)
    outcome = Outcome(config, [], {})
    cells = [cell for cell in outcome.table.cells if cell.verdict]
    cells = [replace(cell, verdict=verdicts[i % len(verdicts)], reason="known") for i, cell in enumerate(cells)]
    outcome.__dict__["table"] = replace(outcome.table, cells=tuple(cells))
    return Result(config, outcome)


def counted(found):
    """Return the counts that are not 0."""
    return {verdict: count for verdict, count in score(found).counts.items() if count}


def test_every_file_of_reported_numbers_belongs_to_one_paper():
    listed = [file for paper in PAPERS.values() for file in paper.reported]
    assert sorted(listed) == sorted(path.name for path in REPORTED.glob("*.csv"))


def test_every_bundled_config_belongs_to_a_paper_or_has_no_printed_numbers():
    for name in bundled():
        experiment = load(name).experiment
        assert experiment.paper in PAPERS or (experiment.paper is None and experiment.reported is None), name


def test_all_271_numbers_are_there_when_nothing_was_run():
    found = numbers([])
    assert len(found) == 160 + 4 + 4 + 54 + 30 + 12 + 2 + 5 == 271
    assert counted(found) == {Verdict.NOT_RUN: 271}
    assert {key: of.total for key, of in by_paper(found).items()} == {
        "nath": 168,
        "huang": 54,
        "gu": 44,
        "pothin": 5,
        "pendse": 0,
    }


def test_verdicts_come_from_the_cells_and_the_rest_is_not_run():
    found = numbers([judged("breast_cancer", Verdict.MATCH, Verdict.MATCH, Verdict.KNOWN, Verdict.DIFFERS)])
    assert counted(found) == {Verdict.MATCH: 20, Verdict.KNOWN: 10, Verdict.DIFFERS: 10, Verdict.NOT_RUN: 231}
    assert {n.row["dataset"] for n in found if n.config == "breast_cancer"} == {"breast_cancer"}
    assert all(n.file == "nath_table1.csv" for n in found if n.verdict != Verdict.NOT_RUN)


@pytest.mark.parametrize(
    ("verdicts", "counted"),
    [
        ((Verdict.MATCH, Verdict.DIFFERS), Verdict.DIFFERS),
        ((Verdict.KNOWN, Verdict.MATCH), Verdict.KNOWN),
        ((Verdict.NOT_RUN, Verdict.MATCH), Verdict.MATCH),
        ((Verdict.NOT_RUN, Verdict.DIFFERS), Verdict.DIFFERS),
    ],
)
def test_a_number_measured_twice_counts_once_with_the_least_favourable_verdict(verdicts, counted):
    found = numbers([judged("bmpm_heart", verdict) for verdict in verdicts])
    assert score(found).counts[counted] == 18
    assert score(found).total == 271


def test_an_unfinished_run_counts_as_not_run():
    """Half of the repetitions are no basis for a verdict, and a fold without a record is no feasible one."""
    config = load("bmpm_heart")
    keys = [trial.key for unit in plan(config) for trial in unit.trials]
    with Store(None) as store:
        store.put(Record(key, Status.INFEASIBLE) for key in keys[::2])
        (result,) = recall_all([config], store)
    assert result.problem == f"{len(keys) // 2} of {len(keys)} trials lack a record of this code: mmc run bmpm_heart"
    mine = [n for n in numbers([result]) if n.config == "bmpm_heart"]
    assert len(mine) == 18
    assert all(n.verdict == Verdict.NOT_RUN and n.why == result.problem for n in mine)


def test_data_that_are_not_here_are_named_and_their_numbers_not_dropped(tmp_path):
    """A table whose data file is absent."""
    study = tmp_path / "absent.yaml"
    study.write_text(
        "title: absent\npaper: gu\ndatasets:\n  usps: {file: nowhere.csv, target: label}\nmethods:\n"
        "  MMRM: {method: mmrm}\n  SVM: {method: svm}\n  RMM: {method: rmm}\n"
        "multiclass: one-vs-one\ntable: {rows: [dataset], columns: [method], metrics: [errors]}\n"
        "reported: {file: mmrm_table2.csv, source: here}\n"
    )
    (tmp_path / "reported").symlink_to(REPORTED)
    with Store(None) as store:
        (result,) = recall_all([load(study)], store)
    assert "nowhere.csv" in result.problem
    found = numbers([result])
    mine = [n for n in found if n.config == "absent"]
    assert [n.row["method"] for n in mine] == ["MMRM", "RMM", "SVM"]
    assert all(n.verdict == Verdict.NOT_RUN and "nowhere.csv" in n.why for n in mine)
    assert len(found) == 271


def test_markdown_adds_up():
    lines = to_markdown(numbers([judged("bmpm_heart", Verdict.MATCH, Verdict.DIFFERS)])).splitlines()
    rows = [[int(part.split("(")[0]) for part in line.split("|")[2:-1]] for line in lines[2:]]
    expected = dict.fromkeys(VERDICTS, 0) | {Verdict.MATCH: 9, Verdict.DIFFERS: 9, Verdict.NOT_RUN: 253}
    assert rows[-1] == [*expected.values(), 271]
    assert [sum(column) for column in zip(*rows[:-1], strict=True)] == rows[-1]


def test_the_first_number_is_the_informative_one_and_repeats_stand_beside_it():
    found = [Number("nath", "x", {}, Verdict.WEAK), Number("nath", "x", {}, Verdict.MATCH)]
    found.append(Number("nath", "x", {}, Verdict.MATCH, same_as="SOCP"))
    text = str(Score.of(found))
    assert text.startswith("2 (1) informative matches, 1 weak match, of 3 reported numbers")


def test_a_sweep_over_readings_does_not_count():
    sweep = judged("nath_iteration_cap", Verdict.DIFFERS)
    assert all(n.verdict is Verdict.NOT_RUN for n in numbers([sweep]))


def test_where_a_number_stands():
    number = Number("gu", "x.csv", {"dataset": "usps", "kernel": "", "metric": "errors", "value": "89", "std": ""})
    assert number.keys == {"dataset": "usps"}
