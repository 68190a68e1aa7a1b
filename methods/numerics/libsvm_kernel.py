"""A kernel as scikit-learn's `SVC` and `SVR` take it."""

from __future__ import annotations

from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import Array


def libsvm_kernel(K: Array | LazyGram) -> tuple[dict[str, object], Array]:
    """Return the settings of the kernel, and what libsvm is given for the points: K itself while it is an array."""
    if not isinstance(K, LazyGram):
        return {"kernel": "precomputed"}, K
    spec = K.spec
    if spec.kernel not in ("linear", "rbf", "poly", "sigmoid"):
        return {"kernel": spec}, K.X
    width = {} if spec.gamma is None else {"gamma": spec.gamma}
    return {"kernel": spec.kernel, "degree": spec.degree, "coef0": spec.coef0, **width}, K.X
