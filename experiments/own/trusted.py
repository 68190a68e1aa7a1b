"""What a saved model may consist of. Nothing else is ever built from a file.

skops builds an object only if its type is on a list. Its own list has scikit-learn's estimators; ours adds the types
below. A type on the list is not enough where compiled code trusts the content: the nodes of a tree name their children and
features by number, and a false number would read memory that is not theirs. So every tree is checked before it is used,
and classes of libsvm, whose arrays cannot be checked from outside, are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.tree._tree import Tree

from mmc.methods import CATALOGUE

Indices = NDArray[np.int64]
_SKRUB = (
    "_apply_to_each_col.ApplyToEachCol",
    "_check_input.CheckInputDataFrame",
    "_clean_categories.CleanCategories",
    "_clean_null_strings.CleanNullStrings",
    "_dataframe._common.is_any_date",
    "_dataframe._common.is_categorical",
    "_dataframe._common.is_numeric",
    "_datetime_encoder.DatetimeEncoder",
    "_drop_uninformative.DropUninformative",
    "_duration_to_float.DurationToFloat",
    "_string_encoder.StringEncoder",
    "_table_vectorizer.PassThrough",
    "_table_vectorizer.ShortReprDict",
    "_table_vectorizer.TableVectorizer",
    "_table_vectorizer._created_by_predicate",
    "_to_datetime.ToDatetime",
    "_to_float.ToFloat",
    "_to_str.ToStr",
    "selectors._base.All",
    "selectors._base.And",
    "selectors._base.Cols",
    "selectors._base.Filter",
    "selectors._base.Sub",
    "selectors._selectors._cardinality_below",
)
TRUSTED: tuple[str, ...] = (
    "numpy.dtype",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
    *(f"skrub.{name}" for name in _SKRUB),
    *(f"mmc.methods.{method.module}.{method.name}" for method in CATALOGUE.values()),
    "mmc.methods.guarantee.RateGuarantee",
    "mmc.methods.guarantee_record.ClassGuarantee",
    "mmc.methods.guarantee_record.Guarantee",
    "mmc.methods.numerics.moments.ClassMoments",
    "mmc.methods.numerics.moments.Moments",
    "mmc.methods.solution.Solution",
    "mmc.methods.solution.Status",
    "mmc.methods.problems.trade_off.TradeOff",
)
REFUSED: frozenset[str] = frozenset(
    f"sklearn.svm._classes.{name}" for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")
)


def types_in(state: object) -> Iterator[str]:
    """Yield the full name of every type that a skops schema names."""
    todo = [state]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            if isinstance(part.get("__class__"), str):
                yield f"{part.get('__module__')}.{part['__class__']}"
            todo += part.values()
        elif isinstance(part, list):
            todo += part


def unsound(model: object) -> str:
    """Return which part of a model could lead compiled code astray; empty if none."""
    for part, columns in _parts(model):
        if isinstance(part, Tree) and not _sound_tree(part, columns):
            return "a tree"
        if isinstance(part, TreePredictor) and not _sound_predictor(part, columns):
            return "a boosted tree"
        if isinstance(part, CountVectorizer) and sorted(getattr(part, "vocabulary_", {}).values()) != list(
            range(len(getattr(part, "vocabulary_", {})))
        ):
            return "a vocabulary"
    return ""


def _sound_tree(tree: Tree, columns: int) -> bool:
    if not 0 < tree.node_count <= tree.capacity:  # before its arrays are looked at
        return False
    return _sound(tree.children_left, tree.children_right, tree.feature, tree.children_left == -1, columns)


def _sound_predictor(tree: TreePredictor, columns: int) -> bool:
    nodes = tree.nodes
    if not isinstance(nodes, np.ndarray) or nodes.dtype != PREDICTOR_RECORD_DTYPE or not len(nodes):
        return False
    left, right = nodes["left"].astype(np.int64), nodes["right"].astype(np.int64)
    leaf = nodes["is_leaf"] != 0
    return not nodes["is_categorical"].any() and _sound(left, right, nodes["feature_idx"], leaf, columns)


def _sound(left: Indices, right: Indices, feature: Indices, leaf: NDArray[np.bool_], columns: int) -> bool:
    """Whether children come after their parents, which excludes circles, and all numbers are within bounds."""
    own = np.arange(len(left))
    within = (
        (left > own) & (right > own) & (left < len(own)) & (right < len(own)) & (feature >= 0) & (feature < columns)
    )
    return bool(np.all(leaf | within))


def _parts(model: object) -> Iterator[tuple[object, int]]:
    """Yield every object inside another one, with the number of columns that the ensemble or tree around it demands."""
    todo: list[tuple[object, int]] = [(model, 0)]
    seen: dict[int, object] = {}  # the objects too, so that no id is used twice
    while todo:
        part, columns = todo.pop()
        if id(part) in seen or isinstance(part, (str, bytes, int, float)):
            continue
        seen[id(part)] = part
        yield part, columns
        inside: Iterable[object] = ()
        if isinstance(part, dict):
            inside = part.values()
        elif isinstance(part, (list, tuple, set)):
            inside = part
        elif isinstance(part, np.ndarray):
            inside = part.ravel().tolist() if part.dtype == object else ()
        elif hasattr(part, "__dict__"):
            inside = vars(part).values()
            columns = _columns(part, columns)
        todo += [(one, columns) for one in inside]


def _columns(part: object, columns: int) -> int:
    """Return how many columns reach what is inside: a tree inside an ensemble gets those that the ensemble demands."""
    if not isinstance(part, BaseEstimator):
        return columns
    if not type(part).__module__.startswith(("sklearn.ensemble", "sklearn.tree")):
        return 0
    own = vars(part).get("n_features_in_")
    if not isinstance(own, int):
        return 0
    return min(columns or own, own)
