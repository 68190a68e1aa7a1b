"""A table in the terminal: as wide as it is, never cut.

Columns that do not fit beside each other go into further blocks, each with the row keys again. Where not even one column
fits beside the row keys, the table is turned: a heading for each row, and a line for each of its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from mmc.experiments.cells import Cell, Place, Table
from mmc.experiments.escape import plain
from mmc.experiments.layout import LOOKS, Grid, beside, measured
from mmc.experiments.notes import notes, summary

if TYPE_CHECKING:
    from rich.table import Table as RichTable
    from rich.text import Text

Spelling = Callable[[str], str]
_BETWEEN, _EDGES = 3, 2  # what rich puts between two columns, and around all of them


def terminal(table: Table, width: int, spelling: Spelling = str) -> Iterator[RichTable | Text]:
    """Yield what rich prints on so many columns. No text is markup; ``spelling`` replaces what the terminal cannot show."""
    from rich.text import Text

    page = _Page(table, width, lambda text: spelling(plain(text)))
    yield Text(page.spelled(table.title))
    yield from page.blocks()
    yield from (Text(page.spelled(line)) for line in (summary(table), *notes(table)) if line)


class _Page:
    """A table that is being fitted into a width."""

    def __init__(self, table: Table, width: int, spelled: Spelling) -> None:
        self.table, self.width, self.spelled = table, width, spelled
        self.grid = Grid.of(table)

    def blocks(self) -> Iterator[RichTable | Text]:
        """Yield the table: as one block, as several, or turned."""
        room = self.width - _EDGES - sum(self._key_width(i) + _BETWEEN for i in range(len(self.table.rows)))
        widths = {column: self._column_width(column) for column in self.grid.columns}
        if max(widths.values(), default=0) > room:
            yield from self._turned()
            return
        for group in _packed(widths, room):
            yield self._block(group)

    def _key_width(self, at: int) -> int:
        labels = [self.table.rows[at], *(row[at] for row in self.grid.rows)]
        return max(_cells(self.spelled(self.table.label(label))) for label in labels)

    def _column_width(self, column: Place) -> int:
        texts = self._heading(column)
        texts += [text for row in self.grid.rows for text in self._texts(self.grid.cells.get((row, column)))]
        return max(map(_cells, texts), default=0)

    def _heading(self, column: Place) -> list[str]:
        return [self.spelled(part) for part in self.table.headings(column) if part]

    def _texts(self, cell: Cell | None) -> list[str]:
        """Return the lines of a cell: what was measured, and what was reported."""
        if cell is None:
            return []
        found = [measured(cell, self.table.spread)] + ([beside(cell)] if cell.reported is not None else [])
        return [self.spelled(text) for text in found]

    def _block(self, columns: Sequence[Place]) -> RichTable:
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        out = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        for key in self.table.rows:
            out.add_column(Text(self.spelled(self.table.label(key))), justify="left", no_wrap=True)
        for column in columns:
            out.add_column(Text("\n".join(self._heading(column))), justify="right", no_wrap=True)
        for row in self.grid.rows:
            line = [Text(self.spelled(self.table.label(part))) for part in row]
            out.add_row(*line, *(self._shown(cell, "\n") for cell in self.grid.line(row, columns)))
        return out

    def _shown(self, cell: Cell | None, between: str) -> Text:
        from rich.text import Text

        text = Text()
        for index, part in enumerate(self._texts(cell)):
            assert cell is not None
            text.append(between * (index > 0) + part, style=LOOKS[cell.verdict].style if index else "")
        return text

    def _turned(self) -> Iterator[Text]:
        """Yield each row as a heading with its keys, and below it a line for each cell, broken between words."""
        from rich.text import Text

        for row in self.grid.rows:
            keys = zip(self.table.rows, row, strict=True)
            heading = ", ".join(f"{self.table.label(key)}: {self.table.label(part)}" for key, part in keys)
            yield Text("\n" + self.spelled(heading), style="bold")
            for column, cell in zip(self.grid.columns, self.grid.line(row), strict=True):
                if cell is not None:
                    yield Text(f"  {', '.join(self._heading(column))}: ") + self._shown(cell, "; ")
        yield Text("")


def _packed(widths: dict[Place, int], room: int) -> list[list[Place]]:
    """Return the columns in as few groups as fit beside each other; those of one method stay together if they can."""
    families: dict[Place, list[Place]] = {}
    for column in widths:
        families.setdefault(column[:-1] or column, []).append(column)
    groups: list[list[Place]] = [[]]
    for family in families.values():
        whole = _total(widths, family) <= room
        if groups[-1] and whole and _total(widths, [*groups[-1], *family]) > room:
            groups.append([])
        for column in family:
            if groups[-1] and _total(widths, [*groups[-1], column]) > room:
                groups.append([])
            groups[-1].append(column)
    return groups


def _total(widths: dict[Place, int], columns: Sequence[Place]) -> int:
    return sum(widths[column] for column in columns) + _BETWEEN * (len(columns) - 1)


def _cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    from rich.cells import cell_len

    return cell_len(text)
