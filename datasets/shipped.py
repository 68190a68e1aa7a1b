"""The classification sets that scikit-learn loads: those that come with it, and a few that it fetches into the cache."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import DataError, DataSet, reason
from mmc.datasets.finding import cache
from mmc.datasets.foreign import made
from mmc.words import nearest

HERE = ("breast_cancer", "digits", "iris", "wine")
FETCHED = ("covtype", "olivetti_faces")
NAMES = (*HERE, *FETCHED)


class _Bunch(Protocol):
    data: NDArray[np.float64]
    target: NDArray[np.generic]

    def get(self, name: str, /) -> object: ...


def load(name: str) -> DataSet:
    """Return a data set of scikit-learn; raise DataError where there is none of this name, or it cannot be fetched."""
    from sklearn import datasets

    if name not in NAMES:
        raise DataError(f"scikit-learn has no data set {name!r} for classification: {nearest(name, NAMES)}")
    home = cache() / "scikit-learn"
    loader = getattr(datasets, f"load_{name}") if name in HERE else partial(_fetcher(name), data_home=home)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of every try
            found: _Bunch = loader()
    except OSError as error:
        raise DataError(
            f"scikit-learn's data set {name!r} is not on this machine, and could not be fetched ({reason(error)}); "
            f"fetch it on a machine with a network and copy the folder {home}"
        ) from None
    names, features = found.get("target_names"), found.get("feature_names")
    labels = found.target if names is None else np.asarray(names)[np.asarray(found.target, dtype=np.intp)]
    columns = [str(feature) for feature in features] if isinstance(features, (list, np.ndarray)) else None
    return made(name, f"scikit-learn's data set {name!r}", found.data, labels, columns)


def _fetcher(name: str) -> partial[_Bunch]:
    from sklearn import datasets

    return partial(getattr(datasets, f"fetch_{name}"), n_retries=1, delay=0.5)
