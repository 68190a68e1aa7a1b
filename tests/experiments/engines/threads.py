"""A unit that says how many threads the libraries of its process have."""

from mmc.experiments.records import Record
from mmc.methods.solution import Status


def work(unit):
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    most = max(library["num_threads"] for library in threadpool_info())
    return [Record(trial.key, Status.SOLVED, message=str(most)) for trial in unit.trials]
