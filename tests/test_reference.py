"""CI regresses the measured numbers: quick tables that touch every method, run anew against the committed reference."""

from pathlib import Path

import pytest

from mmc.experiments.check import compare, read_reference
from mmc.experiments.claims import to_markdown
from mmc.experiments.config import bundled
from mmc.experiments.engines import engine
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from mmc.methods import CATALOGUE

RESULTS = Path(__file__).parent.parent / "results"
QUICK = (
    "heart_disease",
    "nath_figure4",
    "bmpm_synthetic_distance",
    "bsvm_toy",
    "smem_breast_cancer",
    "smem_toy_circles",
    "smem_toy_ellipses",
    "mmrm_framework",
)


def test_the_quick_tables_touch_every_method():
    used = {spec.method for name in QUICK for spec in load(name).experiment.methods.values()}
    assert used == set(CATALOGUE)


@pytest.mark.parametrize("name", QUICK)
def test_no_cell_moved(name):
    with Store(None) as store:
        outcome = run(load(name), store, engine(1))
    moved = [str(change) for change in compare(outcome.table, read_reference(RESULTS / name))]
    assert not moved, "\n".join(moved)
    if outcome.claims:
        kept = (RESULTS / name / "claims.md").read_text("utf-8")
        assert _verdicts(to_markdown(outcome.claims)) == _verdicts(kept)


def _verdicts(claims):
    """Return statement and verdict of each line; what stands between them are measured numbers."""
    return [(line.split(" | ")[0], line.split(" | ")[-1]) for line in claims.splitlines()]


@pytest.mark.parametrize("name", bundled())
def test_every_config_has_its_reference_and_its_tables(name):
    assert read_reference(RESULTS / name)
    for file in ("table.csv", "table.md", "table.tex", "run.json"):
        assert (RESULTS / name / file).stat().st_size > 0
