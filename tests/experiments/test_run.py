"""A run: resumable at any moment, the same whatever the number of workers, and nothing done twice."""

import pytest

from mmc.experiments.engines import engine
from mmc.experiments.errors import ConfigError, TrialError
from mmc.experiments.plan import plan
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from tests.experiments.small_study import STUDY


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(STUDY)
    return load(path)


def edited(tmp_path, old, new):
    assert old in STUDY
    path = tmp_path / "edited.yaml"
    path.write_text(STUDY.replace(old, new))
    return load(path)


def counting(calls):
    def run_units(units):
        calls.append(sum(len(unit.trials) for unit in units))
        return engine(1)(units)

    return run_units


def numbers(outcome):
    table = outcome.table
    return [(dict(c.keys), c.metric, c.by_repetition, c.infeasible, c.failed) for c in table.cells]


def test_a_rerun_does_only_what_is_missing(study, tmp_path):
    calls = []
    with Store(tmp_path / "store.sqlite") as store:
        first = run(study, store, counting(calls))
        assert calls == [8 * 3 * 2 * 3]
        again = run(study, store, counting(calls))
        assert len(calls) == 1
        assert numbers(first) == numbers(again)
        run(edited(tmp_path, "{eta_pos: 0.5,", "{eta_pos: 0.6,"), store, counting(calls))
        assert calls[1:] == [8 * 3 * 2 * 3]  # a unit holds a whole grid, so that its parts share their work
        run(edited(tmp_path, "  L: {method: error-rate}\n", ""), store, counting(calls))
        assert len(calls) == 2
        run(study, store, counting(calls), fresh=True)
        assert calls[2:] == calls[:1]


def test_the_infeasible_is_a_status_never_a_number(study):
    with Store(None) as store:
        table = run(study, store, engine(1)).table
    cells = [c for c in table.cells if c.keys["eta_pos"] == 0.05 and c.keys["method"] == "L"]
    assert len(cells) == 2
    assert all(c.infeasible == c.trials == 24 and c.mean is None for c in cells)


def test_one_worker_and_two_give_the_same_table(study):
    tables = []
    for jobs in (1, 2):
        with Store(None) as store:
            tables.append(run(study, store, engine(jobs)))
    assert numbers(tables[0]) == numbers(tables[1])


def test_impossible_values_are_refused_before_anything_runs(tmp_path):
    calls = []
    with Store(None) as store, pytest.raises(ConfigError, match=r"edited.yaml:11: L: The 'eta_pos' parameter"):
        run(edited(tmp_path, "{eta_pos: 0.5,", "{eta_pos: 1.5,"), store, counting(calls))
    assert calls == []


def test_what_only_a_trial_can_refuse_names_it(tmp_path):
    study = edited(tmp_path, "  L: {method: error-rate}", "  L: {method: bsvm, rho1: 2, rho2: 1, grid: [{}]}")
    with Store(None) as store, pytest.raises(TrialError, match=r"L on two_norm, repetition 1, fold 1: .*rho1"):
        run(study, store, engine(1))


def test_the_key_is_made_of_what_decides_the_record(study, tmp_path):
    keys = [{t.key for u in plan(s) for t in u.trials} for s in (study, edited(tmp_path, "seed: 3", "seed: 4"))]
    assert not keys[0] & keys[1]
    assert len(keys[0]) == 8 * 3 * 2 * 3
    assert keys[0] == {t.key for u in plan(edited(tmp_path, "title: small", "title: other")) for t in u.trials}


def test_the_users_own_file(tmp_path):
    (tmp_path / "mine.csv").write_text("a,b,kind\n" + "\n".join(f"{i},{i * i % 7},{'yn'[i > 20]}" for i in range(40)))
    (tmp_path / "mine.yaml").write_text(
        "title: mine\ndatasets:\n  mine: {file: mine.csv, target: kind, positive: y}\n"
        "methods:\n  L: {method: error-rate}\n"
    )
    with Store(None) as store:
        table = run(load(tmp_path / "mine.yaml"), store, engine(1)).table
    assert len(table.cells) == 2
    assert all(c.mean < 20 for c in table.cells)
