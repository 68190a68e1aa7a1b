"""What a person with data of their own can fix."""

from __future__ import annotations

from mmc.experiments.errors import UserError


class TableError(UserError):
    """A table that cannot be used: what is wrong, in which column or row, and what to do."""


class RequestError(UserError):
    """Rates, shares or names that cannot be meant."""


class NotPossible(UserError):
    """The rates asked for cannot be had from these data; it says which can."""


class ModelFileError(UserError):
    """A file that is no model of ours, or a model that cannot be saved."""
