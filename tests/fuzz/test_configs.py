"""A sample of the mutated configs; `python -m tests.fuzz.configs` has the rest."""

from mmc.experiments.config import bundled
from tests.fuzz import configs


def test_mutated_configs_are_valid_or_refused_in_words():
    found = configs.run(count=100, seed=7)
    assert set(found) == {"valid", "refused"}, found
    assert min(found.values()) > 10, "the mutations must neither break everything nor nothing"


def test_what_is_mutated_is_valid_before(tmp_path):
    (tmp_path / "reported").mkdir()
    for name, text in configs.FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "own.yaml").write_text(configs.OWN)
    assert configs.validated(tmp_path / "own.yaml") == "valid"
    assert configs.validated(bundled()["bsvm_toy"]) == "valid"
