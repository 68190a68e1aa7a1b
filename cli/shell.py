"""Between the verbs and the terminal: errors as messages, interruptions without loss, a console that fits."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

INTERRUPTED = 130


def guarded(command: Callable[..., Any]) -> int:
    """Call a typer app and return its exit code; what the user must mend becomes one message and code 2."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: workers end too, nothing is lost
    try:
        command(standalone_mode=True)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # typer's own word for Ctrl-C
            print("\nstopped; what was finished is kept. Run the same command again to continue.", file=sys.stderr)
        return int(stop.code) if isinstance(stop.code, int) else int(bool(stop.code))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        from mmc.datasets import DataError
        from mmc.experiments.errors import UserError

        if not isinstance(error, (UserError, DataError)):
            raise
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def console() -> Any:
    """Return rich's console; where the output is not a terminal it is wide enough for a paper's table."""
    from rich.console import Console

    plain = Console(highlight=False, soft_wrap=False)
    return plain if plain.is_terminal else Console(highlight=False, width=int(os.environ.get("COLUMNS", 160)))
