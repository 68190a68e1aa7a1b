"""A cluster: the same tables as on one machine, whatever happens to its workers."""

import os
import signal
import sys
import time
from dataclasses import replace

import pytest

from mmc.cli import check_verb, verbs
from mmc.cli.choices import Places, Power, Selection
from mmc.experiments import render
from mmc.experiments.engines import engine, opened
from mmc.experiments.engines.base import TERMINAL
from mmc.experiments.engines.dask import Dask
from mmc.experiments.errors import EngineError, TrialError
from mmc.experiments.plan import plan
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from mmc.methods.solution import Status
from tests.experiments.engines import threads
from tests.experiments.engines.dask_cluster import DaskCluster, other_source
from tests.experiments.engines.units import dawdling, work

STUDIES = {
    "classes": """\
title: several classes
datasets:
  c: {file: classes.csv, target: kind}
multiclass: one-vs-one
split: {kind: stratified-kfold, folds: 3, repetitions: 2}
methods:
  L: {method: lda}
  M: {method: mmrm}
table: {metrics: [error]}
""",
    "tuned": """\
title: tuned
seed: 4
datasets:
  two_norm: {options: {n_pos: 40, n_neg: 40}}
split: {kind: stratified-kfold, folds: 3, repetitions: 3, redraw: true}
methods:
  S: {method: svm, tune: {metric: error, folds: 3, grid: {C_pos: [0.01, 0.1, 1, 10]}}}
  F: {method: svm, tune: {metric: error, folds: 3, first: 1, grid: {C_pos: [0.01, 0.1, 1, 10]}}}
table: {metrics: [error, error_pos]}
""",
    "own": """\
title: own
datasets:
  mine: {file: mine.csv, target: kind, positive: y}
split: {kind: stratified-kfold, folds: 3, repetitions: 4}
methods:
  E: {method: error-rate}
  R: {method: error-rate, kernel: rbf, gamma: 0.1}
grid:
  - {eta_pos: 0.8, eta_neg: 0.8}
  - {eta_pos: 0.02, eta_neg: 0.02}
table: {rows: [eta_pos], columns: [method]}
""",
}


def rows(classes):
    return "\n".join(f"{i % 13},{i * i % 7},{i * 3 % 5},{classes[i * len(classes) // 90]}" for i in range(90))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = DaskCluster(tmp_path_factory.mktemp("cluster"), workers=3)
    yield made
    made.close()


@pytest.fixture
def studies(tmp_path, monkeypatch):
    """Studies in a folder that is not the workers': a path in them leads nowhere there."""
    monkeypatch.chdir(tmp_path)
    for name, text in STUDIES.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "mine.csv").write_text("a,b,c,kind\n" + rows("yn"))
    (tmp_path / "classes.csv").write_text("a,b,c,kind\n" + rows("pqr"))


@pytest.fixture
def units(studies):
    return plan(load("own.yaml"))


def labelled(unit, label):
    return replace(unit, task=replace(unit.task, label=label))


def table(name, made):
    with Store(None) as store:
        return render.to_csv(run(load(f"{name}.yaml"), store, made).table)


def by_key(made, units):
    return {record.key: record for records in made(units) for record in records}


def test_the_tables_are_those_of_one_machine(cluster, studies):
    """Byte for byte: several classes, a tuned study, a file that no worker has; one has another of the same name."""
    (cluster.home(cluster.workers[0]) / "mine.csv").write_text("a,b,c,kind\n" + rows("ny"))
    made = Dask(cluster.address)
    try:
        for name in STUDIES:
            assert table(name, made) == table(name, engine(1))
        assert len(made._lent) == 2, "each file is sent once"
    finally:
        made.close()


def test_a_worker_is_killed_and_another_joins(cluster, units):
    """Every trial has its record all the same, and the display is told."""
    told = []
    made = Dask(cluster.address, told.append, dawdling)
    found = {}
    try:
        until(lambda: len(made._client.nthreads()) == 3)
        for number, records in enumerate(made(units)):
            found |= {record.key: record for record in records}
            if number == 2:
                cluster.kill(cluster.workers.pop())
                until(lambda: len(made._client.nthreads()) == 2)
                cluster.workers.append(cluster.worker())
                until(lambda: len(made._client.nthreads()) == 3)
    finally:
        made.close()
    assert set(found) == {trial.key for unit in units for trial in unit.trials}
    assert {record.status for record in found.values()} == {Status.SOLVED}
    assert told[0].present == 3
    assert told[-1].lost == 1
    assert any(workers.joined == 1 for workers in told), told


def test_a_worker_with_other_code_is_refused_by_name(cluster, units, tmp_path, caplog):
    stranger = cluster.worker(code=other_source(tmp_path / "other"))
    made = Dask(cluster.address, work=dawdling)
    try:
        until(lambda: len(made._client.nthreads()) == 4)
        found = by_key(made, units)
    finally:
        made.close()
        cluster.kill(stranger)
    assert {record.status for record in found.values()} == {Status.SOLVED}
    assert "is not used: mmc.experiments.trials is another one there: install the same mmc" in caplog.text
    assert caplog.text.count("is not used") == 1


def test_a_unit_over_its_workers_memory_limit_is_named_and_the_rest_goes_on(tmp_path, units):
    """It kills three workers; the nanny of each starts another one."""
    alone = DaskCluster(tmp_path)
    alone.worker("--memory-limit", "600MB", nanny=True)
    units = [labelled(unit, "grow" if number == 3 else "good") for number, unit in enumerate(units[:8])]
    try:
        made = Dask(alone.address, work=work)
        found = by_key(made, units)
        made.close()
    finally:
        alone.close()
    assert set(found) == {trial.key for unit in units for trial in unit.trials}
    bad = [found[trial.key] for trial in units[3].trials]
    assert [record.status for record in found.values()].count(Status.FAILED) == len(bad)
    for record in bad:
        assert record.message.startswith("grow on mine, repetition")
        assert "3 workers died of it" in record.message
        assert "with a memory limit of 572 MB" in record.message


def test_a_scheduler_that_dies_ends_the_run_with_one_message_and_a_rerun_finishes(studies, tmp_path):
    alone = DaskCluster(tmp_path, workers=1)
    config = load("own.yaml")

    def interrupted(units):
        for number, records in enumerate(made(units)):
            yield records
            if number == 2:
                alone.kill("scheduler")

    with Store(None) as store:
        try:
            made = Dask(alone.address, work=dawdling)
            with pytest.raises(EngineError, match=r"scheduler tcp://127.0.0.1:\d+ is gone.*run the same command"):
                run(config, store, interrupted)
            made.close()
        finally:
            alone.close()
        keys = [trial.key for unit in plan(config) for trial in unit.trials]
        assert 0 < len(store.get(keys)) < len(keys)
        run(config, store, engine(1))
        assert len(store.get(keys)) == len(keys)


def test_an_error_of_a_trial_is_not_tried_again(cluster, units, tmp_path):
    made = Dask(cluster.address, work=work)
    try:
        with pytest.raises(TrialError, match="'toll' is unknown"):
            by_key(made, [labelled(units[0], "bad"), *(labelled(unit, "sleep:3") for unit in units[1:])])
        until(lambda: not any(made._client.processing().values()), 30)
    finally:
        made.close()


def test_no_worker_can_be_used(tmp_path, units):
    alone = DaskCluster(tmp_path)
    alone.worker(code=other_source(tmp_path / "other"))
    try:
        made = Dask(alone.address)
        with pytest.raises(
            EngineError, match=r"(?s)no worker of tcp.*can be used:.*mmc.experiments.trials is another one"
        ):
            by_key(made, units)
        made.close()
    finally:
        alone.close()


def test_a_worker_gives_blas_one_thread_however_many_it_has(cluster, units):
    made = Dask(cluster.address, work=threads.work)
    found = by_key(made, units)
    made.close()
    assert {record.message for record in found.values()} == {"1"}


def test_a_local_cluster_gives_the_tables_and_does_not_hear_the_terminal(studies):
    """Ctrl-C reaches all processes of a terminal: the client ends the workers, so these do not listen."""
    with opened(cluster="local:2") as made:
        assert table("own", made) == table("own", engine(1))
        there = made._engine.result()._client.run(lambda: (os.getppid(), signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    assert len(there) == 2
    assert all(blocked >= TERMINAL for _, blocked in there.values())
    assert len({parent for parent, _ in there.values()}) == 1


def test_a_cluster_that_nobody_asks_is_left_alone():
    with opened(cluster="tcp://127.0.0.1:1"):
        pass


def test_the_command_takes_an_address(cluster, studies, tmp_path, monkeypatch):
    """`mmc run` and `mmc check --update`, the latter from the records of the former."""
    chosen, places = Selection(("own.yaml",)), Places(tmp_path / "runs", tmp_path / "results")
    assert verbs.run(chosen, places, Power(cluster=cluster.address)) == 0
    assert (tmp_path / "runs" / "own" / "table.csv").read_text() == table("own", engine(1))
    assert check_verb.update(chosen, places, Power(1)) == 0
    assert check_verb.check(chosen, places, Power(cluster=cluster.address)) == 0


def test_what_differs_is_said_with_what_to_do(caplog):
    made = Dask.__new__(Dask)
    made._refused = {}
    here = {"python": "3.11", "sklearn": "1.9.1", "mmc.methods.svm": "a", "mmc.methods.base": "b"}
    made._compare("tcp://one", here, {**here, "sklearn": "1.6.0"})
    made._compare("tcp://two", here, {**here, "python": "3.12"})
    made._compare("tcp://three", here, {"python": "3.11", "sklearn": "1.9.1", "mmc.methods.base": "other"})
    made._compare("tcp://same", here, dict(here))
    assert made._refused == {
        "tcp://one": "sklearn 1.6.0 there, 1.9.1 here: `pip install scikit-learn==1.9.1` there",
        "tcp://two": "Python 3.12 there, 3.11 here",
        "tcp://three": "mmc.methods.svm is not there: install the same mmc; mmc.methods.base is another one there: install the same mmc",
    }


def test_without_dask_there_is_a_message(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "mmc.experiments.engines.dask")
    with (
        pytest.raises(EngineError, match=r"pip install 'max-margin-classifiers\[cluster\]'"),
        opened(cluster="local:2") as made,
    ):
        list(made([]))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:1", "cannot reach the cluster tcp://127.0.0.1:1"),
        ("host", "give tcp://host:8786"),
        ("local:many", "local:4 for a first try"),
    ],
)
def test_a_wrong_address_is_one_message(address, message, monkeypatch):
    monkeypatch.setattr("mmc.experiments.engines.dask._REACH", 1)
    with opened(cluster=address) as made, pytest.raises(EngineError, match=message):
        list(made([]))


def until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)
