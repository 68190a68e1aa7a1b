"""Errors that the user can fix: each is shown as one message, never as a traceback."""

from __future__ import annotations

KeyPath = tuple[str | int, ...]  # where in a config: ("methods", "SVM", "grid", 2, "C_pos")


class UserError(Exception):
    """What was wrong, where, and what to do."""


class ConfigError(UserError):
    """A config that cannot be run; one line per problem, each with file and line."""


class DataAbsent(ConfigError):
    """The config is fine; its data are not on this machine."""


class PlaceError(ConfigError):
    """One problem of a config, with the place of its cause in a part of the config; whoever knows the file adds its line."""

    def __init__(self, place: KeyPath, text: str):
        super().__init__(place, text)
        self.place = place
        self.text = text

    def __str__(self) -> str:
        return self.text


class StoreError(UserError):
    """A results folder or a store that cannot be used."""


class TrialError(UserError):
    """A trial that failed for a reason in its input, not in its mathematics."""


class EngineError(UserError):
    """Workers that cannot be had, or not be used: the config is fine."""
