"""
A bound and a guarantee
=======================

A bound from moments is as good as the moments. ``RateGuarantee`` sets the threshold of any classifier on held-out rows instead, so that
the rate holds on new data of the same kind, at a stated confidence.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from mmc.methods import RateGuarantee


def draw(n, seed):
    """Return two skewed classes."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, "defect", "fine")
    X = rng.exponential(1.0, (n, 2)) + 1.3 * (y == "defect")[:, None]
    return X, y


X, y = draw(1500, 0)
safe = RateGuarantee(LogisticRegression(), {"defect": 0.05}, random_state=0).fit(X, y)
for promise in safe.guarantee_:
    print(promise)

# %%
# On many new tables the share of missed defects stays where it was promised.

missed = []
for seed in range(1, 101):
    X_new, y_new = draw(1000, seed)
    defects = y_new == "defect"
    missed.append(100 * np.mean(safe.predict(X_new[defects]) != "defect"))

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.hist(missed, bins=20, color="steelblue")
axes.axvline(5, color="crimson", linestyle="--", label="asked: at most 5 %")
axes.set(xlabel="missed defects in a new table, %", ylabel="tables")
axes.legend()
