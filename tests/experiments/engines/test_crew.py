"""The books of a cluster's client: every unit is run or given up, and only the one that kills is blamed."""

import random

from hypothesis import given
from hypothesis import strategies as st

from mmc.experiments.engines.crew import TRIES, Member, Sent, Waiting, still_open
from tests.experiments.engines.units import fake


class Future:
    def __init__(self, status="pending"):
        self.status = status


def send(waiting, member, slots=1):
    found = waiting.take(member, slots)
    if found is not None:
        member.orders.append(Sent(found[0], member, found[1], Future()))
    return found


def test_a_worker_with_short_units_has_one_order_more_than_threads():
    waiting, member = Waiting(fake(i) for i in range(100)), Member("a", threads=2, size=2)
    assert sum(send(waiting, member) is not None for _ in range(10)) == 3


def test_a_long_unit_never_waits_behind_another_one():
    waiting, member = Waiting(fake(i) for i in range(100)), Member("a", threads=2, size=1)
    assert sum(send(waiting, member) is not None for _ in range(10)) == 2


def test_orders_grow_but_leave_work_for_the_others():
    waiting, member = Waiting(fake(i) for i in range(100)), Member("a", threads=1, size=64)
    units, alone = waiting.take(member, slots=5)
    assert (len(units), alone) == (10, False)


def test_a_suspect_comes_last_and_alone():
    units = [fake(i) for i in range(4)]
    waiting, member = Waiting(units), Member("a", threads=1)
    first, _ = send(waiting, member)
    member.orders.clear()
    assert list(waiting.blame(first, member)) == []
    taken = []
    while (found := waiting.take(member, 1)) is not None:
        taken.append(found)
    assert taken[-1] == (first, True)
    assert not any(alone for _, alone in taken[:-1])
    member.orders.append(Sent(first, member, True, Future()))
    waiting.back([fake(9)])
    assert waiting.take(member, 1) is None, "it stays alone"


def test_what_was_finished_or_not_begun_is_no_suspect():
    member = Member("a", threads=2)
    states = ("finished", "pending", "pending", "pending")
    member.orders = [Sent([fake(i)], member, False, Future(state)) for i, state in enumerate(states)]
    assert still_open(member) == member.orders[1:3]


@given(st.integers(0, 2**32), st.sets(st.integers(0, 29), max_size=3), st.integers(1, 4), st.integers(1, 3))
def test_all_are_run_but_those_that_kill(seed, killers, crew, threads):
    """Whatever runs beside a killer, and however often: it alone is given up."""
    dice = random.Random(seed)
    units = [fake(i) for i in range(30)]
    waiting = Waiting(units)
    members = [Member(str(i), threads, size=dice.randint(1, 4)) for i in range(crew)]
    done, given_up, deaths = [], [], 0
    while waiting or any(member.orders for member in members):
        member = dice.choice(members)
        while send(waiting, member, crew * threads) is not None:
            pass
        running = member.orders[:threads]
        deadly = [sent for sent in running if any(unit.split.repetition in killers for unit in sent.units)]
        if deadly:
            deaths += 1
            for sent in member.orders:
                if sent in still_open(member):
                    given_up += [records[0].key for records in waiting.blame(sent.units, member)]
                else:
                    waiting.back(sent.units)
            member.orders.clear()
        elif running:
            sent = dice.choice(running)
            member.orders.remove(sent)
            cut = dice.randint(1, len(sent.units))
            done += [unit.trials[0].key for unit in sent.units[:cut]]
            waiting.back(sent.units[cut:])
    assert sorted(given_up) == sorted(f"k{i}" for i in killers)
    assert sorted(done) == sorted(f"k{i}" for i in range(30) if i not in killers)
    assert deaths <= TRIES * len(killers)
