"""A record comes back as it was written, whatever it holds."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmc.experiments.records import Ballot, Counts, Proof, Record, dump, parse
from mmc.methods.solution import Status

NUMBERS = st.floats(allow_nan=False)


@given(
    status=st.sampled_from(Status),
    counts=st.none() | st.builds(Counts, *[st.integers(0, 9)] * 4),
    proof=st.none() | st.builds(Proof, NUMBERS, NUMBERS, st.integers(0, 9)),
    said=st.none() | st.lists(st.booleans(), max_size=40),
    facts=st.dictionaries(st.text(max_size=5), NUMBERS, max_size=3),
    scores=st.lists(NUMBERS, max_size=3),
    distance=st.none() | NUMBERS,
)
def test_a_record_comes_back_as_it_was_written(status, counts, proof, said, facts, scores, distance):
    ballot = None if said is None else Ballot.of(np.array(said, dtype=bool))
    record = Record(
        "k", status, 1.5, 0.5, counts, proof, ballot, facts, {"c": [1.0]}, {"C": 1}, tuple(scores), "m", distance
    )
    text = dump(record)
    assert "NaN" not in text
    assert "Infinity" not in text
    assert parse("k", text) == record
    if ballot is not None:
        assert parse("k", text).ballot.votes().tolist() == said


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", '{"status": "wonderful", "seconds": 1}', '{"status": "solved", "seconds": "x"}']
    + [
        json.dumps({"status": "solved", "seconds": 1, key: 3})
        for key in ("counts", "proof", "ballot", "choice", "facts")
    ],
)
def test_what_is_no_record_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011
        parse("k", text)
