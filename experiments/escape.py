"""Text of users in the formats that read some characters as commands: the terminal, Markdown, LaTeX, CSV, file names."""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256

_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # they change the order of what follows
_LONGEST = 80  # bytes

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "%": r"\%",
        "_": r"\_",
        "#": r"\#",
        "^": r"\^{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "±": r"$\pm$",
        "×": r"$\times$",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
        "−": "$-$",
        "≈": r"$\approx$",
        "✓": r"\checkmark{}",
        "✗": r"$\neq$",
        "–": "--",
        "η": r"$\eta$",
        "₁": "$_1$",
        "₂": "$_2$",
    }
)


def plain(text: str) -> str:
    """Return text on one line, without characters that a terminal takes as a command."""
    spaced = re.sub(r"[\t\n\v\f\r\x85\u2028\u2029]+", " ", text)
    return "".join(c for c in spaced if unicodedata.category(c) != "Cc" and c not in _TURNS)


def markdown(text: str) -> str:
    """Return text that Markdown shows as it is: no HTML, no link, no column of a table."""
    text = re.sub(r"&(?=#?\w+;)", "&amp;", plain(text))
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)
    return text.replace("](", r"]\(").replace("|", r"\|")


def latex(text: str) -> str:
    """Return text that LaTeX shows as it is."""
    text = re.sub(r"(?<!\\)\$\$", "", plain(text).translate(_LATEX))  # neighbours share one formula
    return f"{{}}{text}" if text.startswith(("[", "*")) else text  # after \\ both would be an option of it


def spreadsheet(text: str) -> str:
    """Return text that a spreadsheet does not take for a formula; a number stays one."""
    text = plain(text)
    if not text.startswith(("=", "+", "-", "@")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def file_name(text: str) -> str:
    """Return the name of a file or folder for a name that a user gave: never a path, never hidden.

    Letters, digits, spaces, ``_``, ``-`` and ``.`` stay. What had to change gets a few digits of its hash, so that two names
    never share one file.
    """
    kept = re.sub(r"[^\w. -]", "_", text).encode()[:_LONGEST].decode(errors="ignore").lstrip(". ").rstrip()
    same = kept == text and kept != ""
    return kept if same else f"{kept}-{sha256(text.encode(errors='replace')).hexdigest()[:8]}"
