"""Errors that are the user's to mend: each is shown as one message, never as a traceback."""

from __future__ import annotations


class UserError(Exception):
    """What was wrong, where, and what to do."""


class ConfigError(UserError):
    """A config that cannot be run; one line per problem, each with file and line."""


class DataAbsent(ConfigError):
    """A config whose data are not on this machine: the one thing that is wrong with the machine, not with the config."""


class StoreError(UserError):
    """A results folder or a store that cannot be used."""


class TrialError(UserError):
    """A trial that failed for a reason in its input, not in its mathematics."""


class EngineError(UserError):
    """Workers that cannot be had, or not be used: the config is fine."""
