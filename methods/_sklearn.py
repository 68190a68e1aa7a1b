"""The private parts of scikit-learn that mmc uses, in one place: pyproject.toml caps the versions that have them."""

from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.multiclass import _ovr_decision_function as ovr_decision_function
from sklearn.utils.validation import _check_method_params as rows_of_params
from sklearn.utils.validation import _check_sample_weight as checked_weights

__all__ = [
    "Interval",
    "StrOptions",
    "checked_weights",
    "ovr_decision_function",
    "rows_of_params",
    "safe_split",
    "validate_parameter_constraints",
]
