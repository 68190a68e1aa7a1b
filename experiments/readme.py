"""What is made from the committed results: parts of README.md, docs/reproducing.md and docs/which_method.md; all of docs/findings.md.

``python -m mmc.experiments.readme`` renews them.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from mmc.experiments import findings, study_page
from mmc.experiments.cells import Table
from mmc.experiments.config import bundled
from mmc.experiments.notes import summary
from mmc.experiments.reference import kept_table
from mmc.experiments.scoreboard import Committed, numbers, to_markdown
from mmc.experiments.terminal import terminal
from mmc.experiments.validation import load

_EXAMPLE, _WIDTH = "breast_cancer", 118
PAGES = {
    "README.md": ("scoreboard",),
    "docs/reproducing.md": ("example",),
    "docs/which_method.md": study_page.PARTS,
}


def committed(results: Path) -> list[Committed]:
    """Return all bundled configs with their committed tables."""
    configs = [load(name) for name in bundled()]
    return [Committed(config, kept_table(config, results / config.name)) for config in configs]


def parts(results: Path, names: Collection[str]) -> Mapping[str, str]:
    """Return the text of marked parts, by their names."""
    if set(names) <= set(study_page.PARTS):
        return study_page.parts(results)
    found = committed(results)
    example = next(one.table for one in found if one.config.name == _EXAMPLE)
    return {"scoreboard": to_markdown(numbers(found)), "example": f"```\n{_printed(example)}```\n"}


def _printed(table: Table) -> str:
    """Return a table as the terminal shows it, without the notes."""
    from rich.console import Console

    page = io.StringIO()
    out = Console(file=page, width=_WIDTH, highlight=False)
    for part in terminal(table, _WIDTH):
        out.print(part)
        if str(part) == summary(table):
            break
    lines = page.getvalue().splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def renewed(text: str, results: Path, *names: str) -> str:
    """Return a page with its marked parts made anew."""
    made = parts(results, names)
    for name in names:
        part = made[name]
        first, last = f"<!-- {name}: made by `make readme` -->\n", f"<!-- end of {name} -->"
        before, found, rest = text.partition(first)
        _, ended, after = rest.partition(last)
        if not (found and ended):
            raise ValueError(f"the page has no part {name!r} between {first.strip()} and {last}")
        text = f"{before}{first}{part}{last}{after}"
    return text


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for page, names in PAGES.items():
        file = folder / page
        file.write_text(renewed(file.read_text("utf-8"), folder / "results", *names), "utf-8")
    made = findings.page(committed(folder / "results"), folder / "results")
    (folder / "docs" / "findings.md").write_text(made, "utf-8")
