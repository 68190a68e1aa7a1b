"""Worker processes: what one of them dies of costs time, not the run."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

from mmc.experiments import engines
from mmc.experiments.engines.base import Workers
from mmc.experiments.engines.here import Here
from mmc.experiments.engines.loky import Loky
from mmc.experiments.errors import EngineError, TrialError
from mmc.methods.solution import Status
from tests.experiments.engines.units import fake, work


@pytest.fixture(scope="module")
def pool():
    """One pool for all: that it goes on after every mishap is a part of what is tested."""
    told = []
    pool = Loky(2, told.append, work)
    pool.told = told
    yield pool
    pool.close()


def by_key(engine, units):
    found = [record for records in engine(units) for record in records]
    assert len({record.key for record in found}) == len(found)
    return {record.key: record for record in found}


def test_every_unit_has_its_record_and_workers_stay(pool):
    first, again = (by_key(pool, [fake(i) for i in range(300)]) for _ in range(2))
    assert set(first) == set(again) == {f"k{i}" for i in range(300)}
    pids = {record.message for record in (*first.values(), *again.values())}
    assert len(pids) <= 2
    assert str(os.getpid()) not in pids


def test_a_unit_that_kills_its_worker_twice_is_named_and_the_rest_goes_on(pool):
    units = [fake(i) for i in range(200)]
    units[50] = fake(50, "kill")
    lost = pool.told[-1].lost
    found = by_key(pool, units)
    assert set(found) == {f"k{i}" for i in range(200)}
    assert [key for key, record in found.items() if record.status is Status.FAILED] == ["k50"]
    message = found["k50"].message
    assert message.startswith("kill on data, repetition 51, fold 1: its worker was killed by SIGKILL")
    assert "of memory" in message
    assert "2 times" in message
    assert pool.told[-1] == Workers(2, lost=lost + 2)


def test_one_that_kills_once_is_run_again(pool, tmp_path):
    units = [fake(0, f"kill-once:{tmp_path / 'killed'}"), *(fake(i) for i in range(1, 20))]
    found = by_key(pool, units)
    assert len(found) == 20
    assert all(record.status is Status.SOLVED for record in found.values())


def test_an_exit_code_is_told(pool):
    assert "ended with exit code 7, 2 times" in by_key(pool, [fake(0, "exit:7")])["k0"].message


@pytest.mark.parametrize("make", [lambda: Here(work=work), lambda: Loky(2, work=work)], ids=["here", "loky"])
def test_more_memory_than_there_is_fails_one_unit(make):
    engine = make()
    found = by_key(engine, [fake(0, "memory"), fake(1)])
    engine.close()
    assert found["k0"].status is Status.FAILED
    assert "out of memory (Unable to allocate 7.28 TiB" in found["k0"].message
    assert found["k1"].status is Status.SOLVED


def test_an_error_of_a_trial_ends_the_run_at_once(pool):
    with pytest.raises(TrialError, match="'toll' is unknown"):
        by_key(pool, [fake(0, "bad"), *(fake(i, "sleep:30") for i in range(1, 5))])
    assert len(by_key(pool, [fake(i) for i in range(10)])) == 10


def test_a_mistake_of_ours_says_where_it_happened(pool):
    with pytest.raises(IndexError) as caught:
        by_key(pool, [fake(0, "bug")])
    assert "units.py" in caught.value.__notes__[0]


def test_workers_that_cannot_start_end_the_run_with_a_message():
    def nowhere(unit):
        raise AssertionError("never called")

    nowhere.__module__, nowhere.__qualname__ = "no_such_module", "nowhere"
    sys.modules["no_such_module"] = type(sys)("no_such_module")
    sys.modules["no_such_module"].nowhere = nowhere
    try:
        with pytest.raises(EngineError, match=r"cannot be started.*exit code 1.*--jobs 1"):
            by_key(Loky(2, work=nowhere), [fake(0), fake(1)])
    finally:
        del sys.modules["no_such_module"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_workers_end_within_two_seconds_of_their_parent(tmp_path, how):
    program = textwrap.dedent(f"""
        import signal
        from mmc.cli.shell import guarded
        from mmc.experiments.engines.loky import Loky
        from tests.experiments.engines.units import fake, work
        if {int(how)} != signal.SIGKILL:  # a shell that starts the tests in the background has them ignored
            signal.signal({int(how)}, signal.SIG_DFL)
        def command(standalone_mode):
            try:
                for _ in Loky(2, work=work)([fake(0, {"pid:" + str(tmp_path)!r}), fake(1, {"pid:" + str(tmp_path)!r})]):
                    pass
            except KeyboardInterrupt:
                raise SystemExit(130)
        raise SystemExit(guarded(command))
    """)
    parent = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while len(pids := [int(path.name) for path in tmp_path.iterdir()]) < 2:
        assert time.monotonic() < until
        time.sleep(0.05)
    parent.send_signal(how)
    _, said = parent.communicate(timeout=30)
    ended = time.monotonic()
    while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids):
        assert time.monotonic() - ended < 2
        time.sleep(0.02)
    if how != signal.SIGKILL:
        assert parent.returncode == 130
        assert said.startswith("\nstopped; ")
        assert "Traceback" not in said


def test_there_are_never_more_workers_than_cores(monkeypatch, caplog):
    monkeypatch.setattr(engines, "cores", lambda: 2)
    assert engines.engine(64)._jobs == 2
    assert "--jobs 64: this machine has 2 cores, so 2 workers are used" in caplog.text
    caplog.clear()
    assert engines.engine()._jobs == engines.engine(2)._jobs == 2
    assert isinstance(engines.engine(1), Here)
    assert not caplog.text


@pytest.mark.parametrize(
    ("text", "count"), [("150000 100000", 2), ("1000 100000", 1), ("max 100000", None), ("?", None)]
)
def test_a_container_may_have_a_part_of_the_cores(monkeypatch, tmp_path, text, count):
    monkeypatch.setattr(engines.os, "sched_getaffinity", lambda pid: range(64), raising=False)
    (tmp_path / "cpu.max").write_text(text)
    monkeypatch.setattr(engines, "_QUOTA", tmp_path / "cpu.max")
    assert engines.cores() == (count or 64)


def test_a_worker_has_one_thread_of_blas(pool):
    from tests.experiments.engines import threads

    counting = Loky(2, work=threads.work)
    assert {record.message for record in by_key(counting, [fake(i) for i in range(4)]).values()} == {"1"}
    counting.close()
