"""The picture of all numbers: each square stands where its distance is."""

import numpy as np

from mmc.experiments.scoreboard import PAPERS, Number
from mmc.experiments.strip import strip


def test_a_square_stands_at_its_distance_and_beyond_the_axis_at_its_end():
    paper, other = list(PAPERS)[:2]
    distances = [-9.0, -2.4, -1.0, -0.3, 0.0, 0.7, 1.0, 2.4, 9.0]
    picture = strip([Number(paper, "f", {"metric": "error"}, distance=d) for d in [*distances, None]])
    (row,) = picture.rows
    at = {square.number.distance: square.x for square in row.squares}
    assert row.count == len(at) == 10
    ticks = {float(text.replace("−", "-")): x for x, text in picture.ticks}
    for distance in distances[1:-1]:
        where = np.interp(distance, list(ticks), list(ticks.values())) if abs(distance) <= 2 else None
        assert where is None or abs(at[distance] - where) <= picture.side + 2
    assert [at[d] for d in distances] == sorted(at[d] for d in distances)
    assert at[-9.0] < at[-2.4]
    assert at[9.0] > at[2.4]
    assert at[None] >= picture.beyond > at[9.0]
    assert picture.inside == (ticks[-1.0], ticks[1.0])
    both = strip([Number(paper, "f", {}, distance=0.0), Number(other, "f", {}, distance=0.0)])
    assert len({square.x for row in both.rows for square in row.squares}) == 1
    assert both.rows[0].base < both.rows[1].base
