"""The site: its generated pages hold to the code, and links between files lead somewhere. `make docs` builds all of it."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

import mmc

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import generate  # noqa: E402

KEYS = [
    (model, name, generate.keys().get(model.__name__, {}).get(name))
    for model, _, _ in generate.SECTIONS
    for name in model.model_fields
]


@pytest.mark.parametrize(("model", "name", "entry"), KEYS, ids=[f"{m.__name__}.{n}" for m, n, _ in KEYS])
def test_every_key_of_a_config_has_an_example_that_is_accepted(model, name, entry):
    assert entry is not None, f"docs/config_keys.yaml lacks {model.__name__}.{name}"
    assert entry["does"]
    adapter = TypeAdapter(model.model_fields[name].annotation)
    example = entry["example"]
    if name == "datasets" and isinstance(example, dict):  # a label alone names a set of the registry
        example = {key: {"name": key} if value is None else value for key, value in example.items()}
    adapter.validate_python(example)


def test_no_key_is_explained_that_does_not_exist():
    known = {model.__name__: set(model.model_fields) for model, _, _ in generate.SECTIONS}
    assert {name: set(entries) for name, entries in generate.keys().items()} == known


def test_an_example_on_the_page_is_the_yaml_that_it_looks_like():
    for block in re.findall(r"```yaml\n(.*?)\n```", generate.config_page(), re.DOTALL):
        assert len(yaml.safe_load(block)) == 1


def test_every_verb_is_in_the_command_reference():
    page = generate.command_page()
    verbs = [name for name, _ in generate.commands()]
    assert {"mmc run", "mmc fit", "mmc data fetch", "mmc report"} <= set(verbs)
    assert all(f"## {name}\n" in page for name in verbs)
    assert "--max-error" in page
    assert all(command.help and "Example:" in command.help for _, command in generate.commands())


@pytest.mark.parametrize("key", generate.PAPERS)
def test_every_paper_has_a_page(key, tmp_path):
    page = generate.paper_page(key, tmp_path)
    assert "<math" in page
    assert "{%" not in page
    assert "{{ " not in page
    assert page.count("{class}`") >= 1
    assert "mmc run" in page


@pytest.mark.parametrize(
    "path", ["README.md", "CONTRIBUTING.md", "SECURITY.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_between_files_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", (ROOT / path).read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
        made = target.startswith(("generated/", "gallery/")) and path.startswith("docs/")
        assert made or (ROOT / path).parent.joinpath(target).exists(), target


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert mmc.__version__ == project == str(cited["version"])


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "gallery").glob("plot_*.py")), ids=lambda path: path.stem)
def test_examples_of_the_gallery_run(path):
    """`make docs` stops at an example that fails; so does this."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.close("all")
    exec(compile(path.read_text("utf-8"), path.name, "exec"), {})
    assert plt.get_fignums()
    plt.close("all")
