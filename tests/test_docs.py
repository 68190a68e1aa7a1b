"""What the documentation tells a reader to type works, and prints what is shown."""

import re
import shutil
from pathlib import Path

import pytest

from mmc.experiments.plan import plan
from mmc.experiments.validation import load
from mmc.methods import InfeasibleProblem

ROOT = Path(__file__).parent.parent


def blocks(page, language):
    """Return the fenced blocks of a language, and what stands in the next plain block of each, if that follows."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```(?:\n\n```\n(.*?)```)?", text, re.DOTALL)


def test_own_data(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "datasets" / "vendor" / "heart_statlog.csv", "heart.csv")
    names = {}
    for code, printed in blocks("own_data.md", "python"):
        exec(code, names)
        numbers = [[float(n) for n in re.findall(r"\d\.\d+", text)] for text in (capsys.readouterr().out, printed)]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.011)
        assert len(numbers[1]) > 1
    ((study, _),) = blocks("own_data.md", "yaml")
    Path("heart.yaml").write_text(study)
    assert sum(len(unit.trials) for unit in plan(load("heart.yaml"))) == 50 * (17**2 + 1 + 3)


def test_the_tutorial(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (known,) = re.findall(r"```\n(label,.*?)```", (ROOT / "docs" / "tutorial.md").read_text("utf-8"), re.DOTALL)
    Path("known.csv").write_text(known)
    names = {}
    refused = 0
    for code, _ in blocks("tutorial.md", "python"):
        try:
            exec(code, names)
        except InfeasibleProblem:
            refused += 1
    assert refused == 1
    assert max(names["model"].worst_case_error_) <= 0.9
