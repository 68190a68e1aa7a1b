"""The base of everything that a config may state."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A part of a config: it cannot be changed, unknown keys are refused, and its numbers are finite."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, ser_json_inf_nan="strings", defer_build=True
    )
