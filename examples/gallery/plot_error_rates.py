"""
Choose both error rates
=======================

``ErrorRateClassifier`` finds the largest margin whose error of each class is bounded by a rate that you state. The bounds hold for
every distribution with the means and covariances of the training set. Not every pair of rates can be had: the hatched ones
cannot.
"""

import matplotlib.pyplot as plt
import numpy as np

from mmc import datasets
from mmc.methods import ErrorRateClassifier, InfeasibleProblem

data = datasets.load("breast_cancer")
X = (data.X - data.X.mean(0)) / data.X.std(0)

# %%
# Ask for 25 % and 35 %. ``worst_case_error_`` says what is proven, in the order of ``classes_``.

model = ErrorRateClassifier(eta_pos=0.25, eta_neg=0.35, pos_label="malignant").fit(X, data.y)
print(model.classes_, model.worst_case_error_)

# %%
# Ask for too much, and the error names the nearest rates that the data allow.

try:
    ErrorRateClassifier(eta_pos=0.05, eta_neg=0.1, pos_label="malignant").fit(X, data.y)
except InfeasibleProblem as error:
    print(error)

# %%
# The edge of what is possible:

rates = np.linspace(0.02, 0.98, 97)
edge = ErrorRateClassifier(pos_label="malignant").feasible_eta_neg(X, data.y, rates)

figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
axes.plot(rates, edge, color="black")
axes.fill_between(rates, 0, edge, facecolor="none", edgecolor="0.5", hatch="////")
axes.plot(0.25, 0.35, "o", label="asked above")
axes.set(xlabel="bound on the error of malignant", ylabel="bound on the error of benign", xlim=(0, 1), ylim=(0, 1))
axes.legend()
