"""The set covering keeps its guarantees, whatever its options."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mmc.methods.covering import Covering, cover

OPTIONS = [
    Covering(),
    Covering(shrink=True),
    Covering(center="mean"),
    Covering(center="mean", shrink=True),
    Covering(fraction=0.25),
    Covering(fraction=1.0),
]


def data(seed, n=120, d=3):
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X = rng.normal(size=(n, d)) + 0.8 * sign[:, None]
    X[:5] = X[5:10]  # duplicates
    sign[:3], sign[5:8] = 1, -1  # some of them of opposite classes
    return X, sign


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_guarantees(seed, options):
    X, sign = data(seed)
    balls = cover(X, sign, options)
    distance = cdist(X, balls.centers)
    inside = distance <= balls.radii * (1 + 1e-9) + 1e-12
    friend = sign[:, None] == balls.sign
    assert np.all(np.any(inside & friend, axis=1)), "every point is covered by its class"
    assert np.all(inside[np.arange(len(X)), balls.owner])
    assert np.all(friend[np.arange(len(X)), balls.owner])
    strictly = distance < balls.radii * (1 - 1e-9)
    assert not np.any(strictly & ~friend), "no enemy is inside"
    if options.fraction <= 0.5:
        pos = balls.sign > 0
        apart = cdist(balls.centers[pos], balls.centers[~pos])
        assert np.all(apart >= (balls.radii[pos][:, None] + balls.radii[~pos]) * (1 - 1e-9)), (
            "opposite balls are disjoint"
        )


@pytest.mark.parametrize("seed", range(4))
def test_greed(seed):
    """A ball is taken for at least one point that no other holds before it, and the first of a class is the fullest."""
    X, sign = data(seed)
    balls = cover(X, sign, Covering())
    assert set(balls.owner) == set(range(len(balls.radii)))
    np.testing.assert_array_equal(balls.centers, X[balls.index])
    for side in (1.0, -1.0):
        mine = X[sign == side]
        radii = cdist(mine, X[sign != side]).min(axis=1) / 2
        most = np.sum(cdist(mine, mine) <= radii[:, None], axis=1).max()
        first = np.flatnonzero(balls.sign == side)[0]
        assert np.sum(balls.owner == first) == most


def test_options_only_shrink_a_ball():
    X, sign = data(0)
    plain = cover(X, sign, Covering())
    for options in OPTIONS[1:4]:
        balls = cover(X, sign, options)
        moved = np.linalg.norm(balls.centers - plain.centers, axis=1)
        assert np.all(moved + balls.radii <= plain.radii * (1 + 1e-9) + 1e-12)
        assert balls.radii.sum() < plain.radii.sum()


def test_opposite_duplicates_get_a_ball_of_their_own():
    X = np.array([[0.0, 0], [0, 0], [3, 0], [-3, 0]])
    balls = cover(X, np.array([1.0, -1, 1, -1]), Covering())
    np.testing.assert_allclose(np.sort(balls.radii), [0, 0, 1.5, 1.5])


def test_moving_and_scaling_the_data_moves_and_scales_the_balls():
    X, sign = data(1)
    first, second = cover(X, sign, Covering()), cover(7 * X + 2, sign, Covering())
    np.testing.assert_array_equal(first.index, second.index)
    np.testing.assert_allclose(second.radii, 7 * first.radii, atol=1e-9)


def test_options_by_name():
    assert Covering.of("half") == Covering.of({}) == Covering.of(Covering()) == Covering()
    assert Covering.of({"fraction": 0.3, "shrink": True}) == Covering(0.3, shrink=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fractoin": 0.3}, "covering has no option 'fractoin': did you mean 'fraction'"),
        ({"fraction": 0}, r"fraction=0 must be in \(0, 1\]"),
        ({"fraction": 1.5}, "fraction=1.5"),
        ({"center": "maen"}, "did you mean 'mean'"),
        ("halve", "did you mean 'half'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Covering.of(options)
