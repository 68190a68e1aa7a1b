"""A data set of its own."""

from __future__ import annotations

import numpy as np


def spirals():
    """Return two spirals in the plane that wind around each other, 100 points each."""
    turn = np.linspace(0.5, 2.5, 100) * np.pi
    arm = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)])
    return np.vstack([arm, -arm]), np.repeat(["left", "right"], len(arm)), ["x", "y"]
