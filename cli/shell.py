"""Between the verbs and the terminal: errors as messages, interruptions without loss, a console that fits."""

from __future__ import annotations

import codecs
import io
import logging
import os
import shutil
import signal
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console

INTERRUPTED = 130
SPELLED = "mmc-spelled"  # how characters are written that an encoding lacks
_STAND_INS = {
    **{
        "✓": "ok",
        "✗": "NO",
        "×": "x",
        "≈": "~",
        "±": "+/-",
        "−": "-",
        "–": "-",
        "—": "-",
        "…": "...",
        "†": "+",
        "‡": "++",
    },
    **{
        "η": "eta",
        "γ": "gamma",
        "ε": "eps",
        "κ": "kappa",
        "ξ": "xi",
        "Σ": "Sigma",
        "ρ": "rho",
        "λ": "lambda",
        "μ": "mu",
    },
    **dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)),
    **{
        "≤": "<=",
        "≥": ">=",
        "√": "sqrt",
        "→": "->",
        "‖": "||",
        "½": "1/2",
        "∈": "in",
        "²": "^2",
        "·": "*",
        "₊": "+",
        "₋": "-",
    },
    **{
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
        "─": "-",
        "━": "-",
        "╸": "-",
        "│": "|",
        "µ": "mu",
        "ü": "ue",
        "ö": "oe",
        "ä": "ae",
    },
    "\u00a0": " ",
}
_WIDE = 160  # where the output is not a terminal: a paper's table fits
_ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT")


class Command(Protocol):
    """A typer app."""

    def __call__(self, *, standalone_mode: bool) -> object: ...


class Told(logging.Handler):
    """Prints each sentence once, to what stderr is at the moment: a live display stands in for it to stay below."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = plain(self.format(record))
        if text not in self._said:
            self._said.add(text)
            print(text, file=sys.stderr)


class _Kept(SystemExit):
    """The user stopped a verb that goes on where it was when it is called again."""


@contextmanager
def resumable() -> Iterator[None]:
    """Around a verb that keeps what is finished: Ctrl-C says so. Every other verb starts again from the beginning."""
    try:
        yield
    except KeyboardInterrupt:
        raise _Kept(INTERRUPTED) from None


def guarded(command: Command) -> int:
    """Call a typer app and return its exit code; what the user must fix becomes one message and code 2."""
    for name in _ENDING:  # as Ctrl-C: workers end too, nothing is lost; what `nohup` ignores stays ignored
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:
            signal.signal(getattr(signal, name), signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=SPELLED)
    try:
        command(standalone_mode=True)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # typer's own word for Ctrl-C
            kept = "what was finished is kept. Run the same command again to continue."
            anew = "nothing is kept. The same command starts again from the beginning."
            print(f"\nstopped; {kept if isinstance(stop, _Kept) else anew}", file=sys.stderr)
        return int(stop.code) if isinstance(stop.code, int) else int(bool(stop.code))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return _explained(error)
    return 0


def _explained(error: Exception) -> int:
    """Print an error as one message and return the exit code: 2 for what the user can fix, 70 for a mistake of ours."""
    from mmc.datasets import DataError
    from mmc.experiments.errors import UserError
    from mmc.plugins import PluginError

    if isinstance(error, (UserError, DataError, PluginError)):
        print(_wrapped(plain(f"error: {error}")), file=sys.stderr)
        return 2
    if os.environ.get("MMC_DEBUG"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    print(
        plain(f"internal error: {type(error).__name__}: {error} ({last.filename}:{last.lineno})\n")
        + "This is a mistake in mmc: please report it. MMC_DEBUG=1 shows where it happened.",
        file=sys.stderr,
    )
    return 70


def _wrapped(text: str) -> str:
    """Break long lines between words where a terminal would break them anywhere; elsewhere a line stays one."""
    if not sys.stderr.isatty():
        return text
    width = max(40, shutil.get_terminal_size().columns - 1)
    lines = (textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(parts) for parts in lines)


def plain(text: str) -> str:
    """Return a text without characters that a terminal would obey."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


def spelling(encoding: str) -> Callable[[str], str]:
    """Return what makes a text printable in an encoding: nothing for UTF-8, else stand-ins for what it lacks."""
    if encoding.lower().replace("-", "").startswith("utf"):
        return str
    return lambda text: text.encode(encoding, SPELLED).decode(encoding)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """Give a codec the stand-ins for characters that it does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    bad = error.object[error.start : error.end]
    return "".join(_STAND_INS.get(character, "?") for character in bad), error.end


codecs.register_error(SPELLED, _spelled)


def console(stderr: bool = False) -> Console:
    """Return rich's console, for which no text is markup; where the output is not a terminal it is wide."""
    from rich.console import Console

    class Plain(Console):
        """Prints every text without what a terminal would obey: even a file's name may hold that."""

        def print(self, *objects: object, **options: Any) -> None:
            super().print(*(plain(text) if isinstance(text, str) else text for text in objects), **options)

    def made(width: int | None) -> Console:
        return Plain(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)

    fitting = made(None)
    return fitting if fitting.is_terminal else made(_columns())


def _columns() -> int:
    try:
        return max(20, int(os.environ["COLUMNS"]))
    except (KeyError, ValueError):
        return _WIDE
