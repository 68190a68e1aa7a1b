"""Records for tests: made from one flat mapping, and read as one."""

from dataclasses import asdict

from mmc.experiments.records import Counts, Record
from mmc.methods.solution import Status

_COUNTS = ("n_pos", "n_neg", "wrong_pos", "wrong_neg")


def made(values, key="", status=Status.SOLVED):
    """Return a record with these counts, facts and curves."""
    counts = Counts(**{name: values.get(name, 0) for name in _COUNTS})
    rest = {name: value for name, value in values.items() if name not in _COUNTS}
    curves = {name: value for name, value in rest.items() if isinstance(value, list)}
    facts = {name: value for name, value in rest.items() if name not in curves}
    return Record(key, status, counts=counts, facts=facts, curves=curves)


def flat(record):
    """Return all that a record holds in one mapping."""
    found = {name: getattr(record, name) for name in ("seconds", "train_seconds", "chosen", "inner_scores", "message")}
    for part in (record.counts, record.proof):
        found |= asdict(part) if part is not None else {}
    return {**found, **record.facts, **record.curves}
