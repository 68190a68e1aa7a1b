"""A made-up table as people have them: an ID, dates, categories, numbers, missing cells, a constant column."""

import numpy as np
import pandas as pd


def parts(n=600, seed=0, share=0.35):
    """Return parts of a production line with a verdict."""
    draw = np.random.default_rng(seed)
    defect = draw.random(n) < share
    made = pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 366, n), unit="D")
    alloys = ["A1", "A2", "B7"]
    table = pd.DataFrame(
        {
            "part_id": [f"P{number:05d}" for number in range(n)],
            "made": made.strftime("%d.%m.%Y"),
            "machine": draw.choice(["north", "south", "west"], n),
            "alloy": np.where(defect, draw.choice(alloys, n, p=[0.2, 0.3, 0.5]), draw.choice(alloys, n)),
            "weight": (draw.normal(20, 1, n) + 1.8 * defect).round(3),
            "roughness": np.exp(draw.normal(0, 0.5, n) + 1.3 * defect).round(4),
            "plant": "Ulm",
            "verdict": np.where(defect, "defect", "fine"),
        }
    )
    table.loc[draw.random(n) < 0.1, "weight"] = np.nan
    table.loc[draw.random(n) < 0.05, "alloy"] = None
    return table
