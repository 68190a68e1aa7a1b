"""CI regresses the reported numbers: quick tables that touch most methods, run anew against the committed reference."""

from pathlib import Path

import pytest

from mmc.experiments.check import compare, read_reference
from mmc.experiments.config import bundled, load
from mmc.experiments.engine import engine
from mmc.experiments.run import run
from mmc.experiments.store import Store

RESULTS = Path(__file__).parent.parent / "results"
QUICK = (
    "heart_disease",
    "nath_figure4",
    "bmpm_synthetic_distance",
    "bsvm_toy",
    "smem_breast_cancer",
    "smem_toy_ellipses",
)


@pytest.mark.parametrize("name", QUICK)
def test_no_cell_moved(name):
    with Store(None) as store:
        table = run(load(name), store, engine(1)).table
    moved = [str(change) for change in compare(table, read_reference(RESULTS / name))]
    assert not moved, "\n".join(moved)


@pytest.mark.parametrize("name", bundled())
def test_every_config_has_its_reference_and_its_tables(name):
    assert read_reference(RESULTS / name)
    for file in ("table.csv", "table.md", "table.tex", "run.json"):
        assert (RESULTS / name / file).stat().st_size > 0
