"""The private parts of scikit-learn that mmc uses, in one place: pyproject.toml caps the versions that have them."""

from sklearn.utils._param_validation import Interval, StrOptions

__all__ = ["Interval", "StrOptions"]
