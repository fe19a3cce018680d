"""Fitted models: one matrix of weights for every number of features; how they are saved, priced and explained.

- :class:`SharedFeatures`, the path of ShareBoost, and the base class of its rivals' paths; functions that compute
  features of new samples.
- Multiply-adds of patch templates, counted in three ways (Table 1, section 6); ``fitted`` are the arrays of a bank with
  ``features=templates``: ``filters`` (F, s, s) and ``masks`` (C, h, w); feature c F + f is filter f under mask c.
- Checks of the arrays in a file, before a model is made of them. In the tables of arrays K and k are numbers of
  classes, T of rounds, d of the model's input columns, D of projected ones, C of the classes named in the file, U of
  the columns in use, L of lambdas, P of entries in ``positions``; "_" is any size.
- What scores mean as probabilities, and importances of features: the norm of a feature's weights over the classes at
  the end of the path. Candidates on the same attribute add up; a product gives half its norm to each factor.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from boostrun.methods import archive
from boostrun.methods.archive import Array, Damaged, check_features, fitted
from boostrun.methods.probabilities import Link, margin_link, width_of
from boostrun.papers.shareboost.design import DenseDesign

_FEATURE = "feature_"  # prefix of the arrays in ``features``


class SavedPath:
    """Base of dataclasses of plain values and arrays whose last field is ``features``, a dict of arrays."""

    _format: ClassVar[str]

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz file (no pickle) by a temporary name and a rename; ``extra`` arrays are stored with it."""
        arrays = {name: np.array(getattr(self, name)) for name in self._names()}
        arrays |= {_FEATURE + name: array for name, array in self.features.items()}  # type: ignore[attr-defined]
        return archive.save(path, self._format, arrays | extra)

    @classmethod
    def load(cls, path: str | Path):
        """Read a file of :meth:`save`: (the path, the extra arrays by name). Never unpickles."""
        values, extra = archive.load(path, cls._format, cls._names())
        names = [name for name in extra if name.startswith(_FEATURE)]
        features = {name.removeprefix(_FEATURE): extra.pop(name) for name in names}
        return cls(*(value if value.ndim else value.item() for value in values), features), extra  # type: ignore[call-arg]

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls) if field.name != "features")  # type: ignore[arg-type]


def compute_columns(features: Mapping[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """samples[:, index] of (m, d) samples in any layout: (m, number of features) float64."""
    return samples[:, features["index"]].astype(np.float64)


def compute_codes(features: Mapping[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """samples[:, index] / 255 for uint8 codes."""
    return samples[:, features["index"]] / 255.0


def compute_products(features: Mapping[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """scale z_i z_j with z = slope x + offset, for pairs (i, j) of attributes."""
    out = features["scale"].copy()
    for side in (0, 1):
        attributes = samples[:, features["pair"][:, side]].astype(np.float64)
        out = out * (attributes * features["slope"][:, side] + features["offset"][:, side])
    return out


def compute_stumps(features: Mapping[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """+1 where samples[:, index] >= threshold, else -1."""
    return np.where(samples[:, features["index"]] >= features["threshold"], 1.0, -1.0)


def project(features: Mapping[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """v = (x - mean) axes: (m, D)."""
    return (samples.astype(np.float64) - features["mean"]) @ features["axes"]


def within_radius(features: Mapping[str, np.ndarray], points: np.ndarray) -> np.ndarray:
    """(m, J) bool: whether points (m, D) are nearer to anchor j than its radius."""
    from boostrun.papers.shareboost.pieces import squared_distances

    return squared_distances(points, features["anchor"]) < np.square(features["radius"])


KINDS = {
    "columns": compute_columns,
    "codes": compute_codes,
    "products": compute_products,
    "stumps": compute_stumps,
    "pieces": None,
}
_LOOKED_AT = ("index", "pair")  # arrays of attribute numbers


def design_of(kind: str, features: Mapping[str, np.ndarray], samples: np.ndarray, constants: np.ndarray, free: bool):
    """The columns of a model on ``samples`` (m, d), as a design.

    Parameters: ``features``, the model's arrays; ``constants``, ascending positions of the constant columns; ``free``:
    one more constant comes first. Raises BoostrunError if the model uses an attribute that the samples lack.
    """
    for name in _LOOKED_AT:
        if name in features:
            check_features(features[name], samples.shape[1])
    if kind == "pieces":
        from boostrun.papers.shareboost.pieces import LocalScores

        points = project(features, samples)
        return LocalScores(np.column_stack([points, np.ones(len(points))]), within_radius(features, points))
    found = KINDS[kind](features, samples) if features else np.empty((len(samples), 0))  # type: ignore[misc]
    found = np.insert(found, constants - np.arange(len(constants)), 1.0, axis=1)
    out = DenseDesign(len(samples))
    if free:
        out.add(np.ones((len(samples), 1)))
    out.add(found)
    return out


@dataclass
class SharedFeatures(SavedPath):
    """s(x) = W_t' phi(x), phi the columns of the first t candidates; W_t was optimised for exactly those.

    Attributes
    ----------
    kind : str, key of :data:`KINDS`.
    n_classes : int, k.
    free : bool, whether an uncounted constant comes before all columns.
    selected : (T,) int64, candidates of the pool in the order they were taken.
    widths : (T,) int64, columns of each.
    constants : int64, positions of constant columns among all columns, the free one not counted.
    costs : (T,) int64, multiply-adds of computing each candidate's columns of a sample.
    weights : float64, W_1 (free + widths[0], k), W_2, ..., W_T one after the other, flat.
    features : dict of arrays by name, from which the columns are computed.
    """

    _format = "boostrun.SharedFeatures/1"

    kind: str
    n_classes: int
    free: bool
    selected: np.ndarray
    widths: np.ndarray
    constants: np.ndarray
    costs: np.ndarray
    weights: np.ndarray
    features: dict[str, np.ndarray]

    @property
    def n_rounds(self) -> int:
        """T."""
        return len(self.selected)

    @property
    def path(self) -> list[np.ndarray]:
        """[W_1, ..., W_T], each (columns, k), as views."""
        rows = np.cumsum(self.widths) + self.free
        stops = np.cumsum(rows) * self.n_classes
        return [self.weights[b - a * self.n_classes : b].reshape(a, -1) for a, b in zip(rows, stops)]

    @property
    def multiply_adds(self) -> np.ndarray:
        """(T,) int64: multiply-adds of a prediction with the first t candidates, for features and weights."""
        return np.cumsum(self.costs) + self.n_classes * (np.cumsum(self.widths) + self.free)

    @property
    def nonzero_columns(self) -> np.ndarray:
        """(T,) int64: columns of W_t that are not all zero, without the free constant."""
        return np.array([np.count_nonzero(weights[int(self.free) :].any(axis=1)) for weights in self.path], np.int64)

    @property
    def idle(self) -> np.ndarray:
        """(T,) bool: whether W_t has only zero weights for some candidate."""
        starts = np.cumsum([self.free, *self.widths])[:-1]
        used = [weights.any(axis=1).astype(np.int64) for weights in self.path]
        return np.array([not np.add.reduceat(row, starts[:t]).all() for t, row in enumerate(used, 1)], bool)

    def staged_scores(self, samples: np.ndarray, stages: Sequence[int] | None = None) -> Iterator[np.ndarray]:
        """Scores (m, k) with the first t candidates, for every t in ``stages`` (None: 1 to T).

        ``samples`` (m, d) may have any layout. Cost: the columns once, then (m x columns x k) multiply-adds a stage.
        """
        design = design_of(self.kind, self.features, samples, self.constants, self.free)
        path = self.path
        for stage in range(1, self.n_rounds + 1) if stages is None else stages:
            yield design.scores(path[stage - 1])

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """Scores (m, k) of ``samples`` (m, d) with all T candidates."""
        return next(iter(self.staged_scores(samples, [self.n_rounds])))


def template_costs(fitted: Mapping[str, np.ndarray]) -> np.ndarray:
    """(C F,) int64: cost of each feature by itself, a window and a product at every cell of its mask that is not 0.

    >>> template_costs({"filters": np.ones((2, 7, 7)), "masks": np.array([[[1.0, 0.0], [0.5, 0.2]]])})
    array([150, 150])
    """
    filters, masks = fitted["filters"], fitted["masks"]
    cells = np.count_nonzero(masks, axis=(1, 2))
    return np.repeat((filters[0].size + 1) * cells, len(filters))


def template_names(fitted: Mapping[str, np.ndarray]) -> list[str]:
    """A name for each feature."""
    count = len(fitted["filters"])
    return [f"filter {r % count} under mask {r // count}" for r in range(count * len(fitted["masks"]))]


def cost_with_patches_once(fitted: Mapping[str, np.ndarray], chosen: np.ndarray) -> int:
    """Cost of the features ``chosen`` if a filter's response at a position is computed once for all masks."""
    filters, masks = fitted["filters"], fitted["masks"] > 0
    mask, filter_ = np.divmod(chosen, len(filters))
    cells = sum(int(np.count_nonzero(masks[mask[filter_ == f]].any(axis=0))) for f in np.unique(filter_))
    return filters[0].size * cells + int(np.count_nonzero(masks, axis=(1, 2))[mask].sum())


def cost_of_all_cells(fitted: Mapping[str, np.ndarray], chosen: np.ndarray) -> int:
    """Cost of the features ``chosen``, each by itself, at every position, masked or not."""
    return (fitted["filters"][0].size + 1) * fitted["masks"][0].size * len(chosen)


Arrays = Mapping[str, np.ndarray]

_SHARED = {
    "features": Array("int32", "T", least=0, below="d"),
    "thresholds": Array("float64", "T", values="infinite"),
    "subsets": Array("bool", "T K"),
    "above": Array("float64", "T"),
    "below": Array("float64", "T"),
    "constants": Array("float64", "T K"),
}
_INDEX = Array("int64", "U", least=0, below="d")
_FEATURES = {
    "columns": {"feature_index": _INDEX},
    "codes": {"feature_index": _INDEX},
    "stumps": {"feature_index": _INDEX, "feature_threshold": Array("float64", "U", values="infinite")},
    "products": {
        "feature_pair": Array("int64", "U 2", least=0, below="d"),
        "feature_slope": Array("float64", "U 2"),
        "feature_offset": Array("float64", "U 2"),
        "feature_scale": Array("float64", "U"),
    },
}
_PIECES = {
    "feature_mean": Array("float64", "d"),
    "feature_axes": Array("float64", "d D"),
    "feature_anchor": Array("float64", "T D"),
    "feature_radius": Array("float64", "T", least=0, values="infinite"),
}
_PATH = {
    "kind": Array("text"),
    "n_classes": Array("int64", "", least=2, below=2**31),
    "free": Array("bool"),
    "selected": Array("int64", "T", least=0),
    "widths": Array("int64", "T", least=1, below=2**31),
    "constants": Array("int64", "_", least=0, order="different"),
    "costs": Array("int64", "T", least=0),
    "weights": Array("float64", "_"),
}
_ONE_VS_REST = {
    "kind": Array("text"),
    "used": Array("int64", "U", least=0, order="different"),
    "costs": Array("int64", "U", least=0),
    "lengths": Array("int64", "K", least=0, below=2**31),
    "positions": Array("int64", "P", least=0, below="U"),
    "weights": Array("float64", "_"),
}
_MIXED_NORM = {
    "kind": Array("text"),
    "n_classes": Array("int64", "", least=2, below=2**31),
    "lambdas": Array("float64", "L", least=0),
    "used": Array("int64", "U", least=0, order="different"),
    "costs": Array("int64", "U", least=0),
    "counts": Array("int64", "L", least=0, below=2**31),
    "positions": Array("int64", "P", least=0, below="U"),
    "weights": Array("float64", "P k"),
    "debiased": Array("float64", "_ k"),
}


def check_shared_stumps(arrays: Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of a SharedStumps; raises Damaged if one is not as it must be."""
    out = fitted(_SHARED, arrays, sizes)
    if sizes["K"] < 2 or sizes.get("C", sizes["K"]) != sizes["K"]:
        raise Damaged(f"it has scores for {sizes['K']} classes but names {sizes.get('C')}")
    with np.errstate(over="ignore"):
        largest = np.abs(out["above"]).sum() + np.abs(out["below"]).sum() + np.abs(out["constants"]).sum()
    if not np.isfinite(largest):
        raise Damaged("above, below and constants add up to infinity")
    return out


def _check_features(arrays: Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays from which a linear model of U columns computes its features."""
    kind = str(arrays["kind"])
    if kind not in _FEATURES:
        raise Damaged(f"its kind of features is {kind!r}, which is not one of {', '.join([*_FEATURES, 'pieces'])}")
    if not sizes["U"] and not any(name.startswith("feature_") for name in arrays):
        return dict(arrays)
    return fitted(_FEATURES[kind], arrays, sizes)


def check_shared_features(arrays: Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of a SharedFeatures."""
    out = fitted(_PATH, arrays, sizes)
    widths, constants = out["widths"], out["constants"]
    if constants.size and constants.max() >= widths.sum():
        raise Damaged(f"constants holds {constants.max()}, but there are {widths.sum()} columns")
    sizes["U"] = int(widths.sum()) - len(constants)
    if str(out["kind"]) == "pieces":
        if sizes["T"]:
            out = fitted(_PIECES, out, sizes)
        if out["free"] or len(constants) or (widths != sizes.get("D", 0) + 1).any():
            raise Damaged("widths, constants and free are not those of pieces")
    else:
        out = _check_features(out, sizes)
    rows = int(np.cumsum(widths).sum()) + int(out["free"]) * sizes["T"]
    _check_length("weights", out["weights"], rows * int(out["n_classes"]))
    _check_classes(int(out["n_classes"]), sizes)
    return out


def check_one_vs_rest(arrays: Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of a OneVsRestPath."""
    out = _check_features(fitted(_ONE_VS_REST, arrays, sizes), sizes)
    lengths = out["lengths"]
    if sizes["K"] < 2 or sizes["K"] > sizes.get("C", sizes["K"]) or not lengths.any():
        raise Damaged(f"lengths is {lengths.tolist()}, but there are {sizes.get('C')} classes")
    _check_length("positions", out["positions"], int(lengths.sum()))
    _check_length("weights", out["weights"], int((lengths * (lengths + 1) // 2).sum()))
    return out


def check_mixed_norm(arrays: Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of a MixedNormPath."""
    out = _check_features(fitted(_MIXED_NORM, arrays, sizes), sizes)
    if not sizes["L"]:
        raise Damaged("lambdas is empty")
    _check_length("positions", out["positions"], int(out["counts"].sum()))
    if sizes["k"] != out["n_classes"] or len(out["debiased"]) not in (0, sizes["P"]):
        raise Damaged(f"debiased has the shape {out['debiased'].shape}, and weights {out['weights'].shape}")
    _check_classes(sizes["k"], sizes)
    return out


def _check_classes(rows: int, sizes: dict[str, int]) -> None:
    """Raise Damaged if the file names fewer than two classes.

    More is not compared: a class without a sample has scores but no name, and trailing ones may lack scores too.
    """
    if sizes.get("C", 2) < 2:
        raise Damaged(f"it has scores for {rows} classes but names {sizes['C']}")


def _check_length(name: str, array: np.ndarray, wanted: int) -> None:
    if len(array) != wanted:
        raise Damaged(f"{name} has {len(array)} numbers where {wanted} are needed")


def multinomial_link(classifier) -> Link:
    """Link for the loss of :mod:`boostrun.papers.shareboost.inner`, with the classifier's margin."""
    return Link(functools.partial(multinomial_probabilities, margin=classifier.margin))


def one_vs_rest_link(classifier) -> Link:
    """Link for ln(1 + exp(-z f)) of each class against the rest; two classes are learned twice."""
    return margin_link(1.0, rows=2)


def jointboost_link(classifier) -> Link:
    """Link for exp(-z H) of each class against the rest, two classes twice."""
    return margin_link(2.0, rows=2)


def multinomial_probabilities(scores: np.ndarray, margin: float) -> np.ndarray:
    """Probabilities (n, k) for which the scores (n, k) have the least expected loss.

    Scores (n,) are those of the second of two classes minus the first's. With s = softmax(scores) the probabilities are
    proportional to s_q (s_q + e^margin (1 - s_q)): the gradient of the expected loss is p' R - p, where R_yq,
    proportional to s_q e^(margin 1[q != y]), sums to 1 over q, and these p make it 0. Without a margin p = s,
    multinomial logistic regression; with a margin scores are larger than log-odds, and their softmax is too confident.

    >>> multinomial_probabilities(np.array([[0.0, 0.0, np.log(2.0)]]), margin=0.0)
    array([[0.25, 0.25, 0.5 ]])
    >>> multinomial_probabilities(np.array([[0.0, 0.0, np.log(2.0)]]), margin=np.log(3.0)).round(3)
    array([[0.278, 0.278, 0.444]])
    """
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros_like(scores), scores])
    shifted = scores - scores.max(axis=1, keepdims=True)
    terms = np.exp(shifted)
    rest = terms.sum(axis=1, keepdims=True) - terms
    rows, first = np.arange(len(terms)), shifted.argmax(axis=1)
    terms[rows, first] = 0.0  # small terms are summed without the largest
    rest[rows, first] = terms.sum(axis=1)
    with np.errstate(divide="ignore"):
        return softmax(shifted + np.logaddexp(shifted, margin + np.log(rest)), axis=1)


def shared_features_importances(classifier) -> np.ndarray | str:
    """Importances from W_T without constants."""
    model = classifier.model_
    weights = model.path[-1] if model.n_rounds else np.zeros((int(model.free), model.n_classes))
    return _spread(classifier, model, np.delete(weights[int(model.free) :], model.constants, axis=0))


def one_vs_rest_importances(classifier) -> np.ndarray | str:
    """Importances from the weights of all classes."""
    model = classifier.model_
    weights = np.zeros((len(model.used), model.n_classes))
    for number in range(model.n_classes):
        places, values = model.point(number, model.n_rounds)
        weights[places, number] = values
    return _spread(classifier, model, weights)


def mixed_norm_importances(classifier) -> np.ndarray | str:
    """Importances from the rows of W that predictions use."""
    model = classifier.model_
    candidates, rows = model.point(model.n_rounds - 1, len(model.debiased) > 0)
    weights = np.zeros((len(model.used), model.n_classes))
    weights[np.searchsorted(model.used, candidates)] = rows
    return _spread(classifier, model, weights)


def jointboost_importances(classifier) -> np.ndarray:
    """Importances from the weights (a - b) 1_S of the {0, 1} stumps."""
    stumps = classifier.stumps_
    return np.bincount(stumps.features, np.linalg.norm(stumps.columns, axis=1), width_of(classifier))


def _spread(classifier, model, weights: np.ndarray) -> np.ndarray | str:
    """(d,) norms of the rows of ``weights`` (U, k), summed over the attributes that each feature uses."""
    if model.kind == "pieces":
        return "its pieces look at all features"
    norms, width = np.linalg.norm(weights, axis=1), width_of(classifier)
    if "pair" in model.features:
        return np.bincount(model.features["pair"].ravel(), np.repeat(0.5 * norms, 2), width)
    index = model.features["index"] if model.features else np.empty(0, np.int64)
    return np.bincount(index, norms, width)
