"""Predictors of whole numbers, for chips without floating point: how they are chosen, and their twin in numpy.

:func:`quantised` makes an :class:`IntegerModel` of a model in real numbers, see :mod:`boostrun.export.forms`: codes of
8 or 16 bits for the features that it reads, for thresholds and for leaves. :mod:`boostrun.export.chip` writes it in C,
and lays its tables out; :func:`boostrun.export.chip.size_of` counts them.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.export.forms import (
    PRESENT,
    LinearForm,
    Tree,
    TreeForm,
    columns_of,
    leaves_of,
    merged,
    pruned,
    real_form,
    real_scores,
    renamed,
    splits_of,
    sums_of,
    without_leaves,
)
from boostrun.export.parts import Saved

DRAWN = 1000  # rows that are drawn if none are given
_BITS = (8, 16)
_LARGEST = 2**31 - 1
_NEAR, _FINEST = 1e-6, 1e300  # distance of values that need another scale than 1, and the largest scale


@dataclass
class InputCodes:
    """How a raw sample becomes codes: code = floor((x - offset) * scale), at least ``least`` and at most ``most``, or
    ``absent`` where x is missing (NaN).

    Attributes
    ----------
    columns : (C,) raw columns that the model reads, ascending; x of the predictor has a code for each.
    offset, scale : (C,) float64; a scale of 0 is that of a code which only tells whether the value is missing.
    bits : 8 or 16.
    twins : (M,) places among ``columns`` whose missing values trees tell apart: feature C + m reads place twins[m] with
        ``most`` where it is missing.
    absent : (C,) int64, the codes of missing values; 0 for trees.
    """

    columns: np.ndarray
    offset: np.ndarray
    scale: np.ndarray
    bits: int
    twins: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    absent: np.ndarray | int = 0

    @property
    def most(self) -> int:
        """The largest code."""
        return 2**self.bits - 1

    @property
    def least(self) -> int:
        """The least code of a number."""
        return int(len(self.twins) > 0)

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """(n, C) int64 codes of raw ``samples`` (n, d)."""
        values = samples[:, self.columns].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.clip(np.floor((values - self.offset) * self.scale), self.least, self.most)
        return np.where(np.isnan(values), self.absent, np.nan_to_num(found)).astype(np.int64)

    def read(self, codes: np.ndarray):
        """A function that gives the column (n,) of a feature, of ``codes`` (n, C)."""
        columns = len(self.columns)

        def column(feature: int) -> np.ndarray:
            if feature < columns:
                return codes[:, feature]
            found = codes[:, self.twins[feature - columns]]
            return np.where(found == 0, self.most, found)

        return column


@dataclass
class IntegerModel:
    """A predictor of whole numbers; its methods are the twin of the C, number by number.

    Attributes
    ----------
    codes : :class:`InputCodes`.
    trees, rows : as in :class:`TreeForm`, of whole numbers, features being places in x; empty for a linear model.
    weights : (C, K) int64 of a linear model, else (0, K).
    base : (K,) int64.
    leaf_bits : 8 or 16, of leaves or weights.
    classes : names; names of columns : ``names``.
    rows_seen, lost : calibration rows, and how many have another label than the model in real numbers gives them.
    given : whether the rows were given, not drawn.
    """

    what: str
    codes: InputCodes
    trees: list[Tree]
    rows: list[int]
    weights: np.ndarray
    base: np.ndarray
    leaf_bits: int
    classes: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    rows_seen: int = 0
    lost: int = 0
    given: bool = False

    @property
    def bound(self) -> int:
        """No sum on the way to a score is larger in size than this."""
        bounds = np.abs(self.base) + np.abs(self.weights).sum(axis=0) * self.codes.most
        for tree, row in zip(self.trees, self.rows):
            largest = np.abs(np.array(leaves_of(tree))).max(axis=0)
            bounds[slice(None) if row < 0 else row] += largest if row < 0 else largest[0]
        return int(bounds.max())

    def scores(self, codes: np.ndarray) -> np.ndarray:
        """(n, K) int64 scores of ``codes`` (n, C)."""
        if len(self.weights):
            return self.base + codes @ self.weights
        return sums_of(self.trees, self.rows, self.base, self.codes.read(codes), len(codes))

    def predict(self, codes: np.ndarray) -> np.ndarray:
        """(n,) int64 class numbers of ``codes`` (n, C)."""
        return decided(self.scores(codes))


def decided(scores: np.ndarray) -> np.ndarray:
    """(n,) class numbers of (n, K) scores: 1 where the only score is at least 0, else the first of the largest."""
    return (scores[:, 0] >= 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)


class CalibrationRows(NamedTuple):
    """Raw rows (n, d) on which bits are chosen, the class numbers (n,) that the model gives them, or None, and whether
    they were given."""

    samples: np.ndarray
    labels: np.ndarray | None = None
    given: bool = True


def quantised(
    saved: Saved, calibration: np.ndarray | None = None, labels: np.ndarray | None = None,
    bits: tuple[int, int] | None = None, names: Sequence[str] = (), form: TreeForm | LinearForm | None = None,
    fits: Callable[[IntegerModel], bool] = lambda model: True,
) -> IntegerModel:  # fmt: skip
    """The predictor of whole numbers of a saved model.

    Parameters
    ----------
    calibration : (n, d) raw rows; without them 1,000 are drawn around the thresholds of trees, and a linear model is
        refused.
    labels : (n,) class numbers that the model gives them; by default computed from its form in real numbers.
    bits : of codes and thresholds, and of leaves or weights. By default the fewest that lose no label of the rows, else
        those that lose the fewest.
    names : of all raw columns.
    form : the model in real numbers, by default :func:`real_form` of ``saved``.
    fits : whether a predictor is small enough; bits for which it is not are chosen only if it is for none.

    Raises BoostrunError, one sentence, for a kind that has no integer predictor.
    """
    form = _of_classes(real_form(saved) if form is None else form, len(saved.classes))
    missing = saved.missing
    if isinstance(form, LinearForm):
        if calibration is None:
            raise BoostrunError(
                "a linear model is scaled by the range of its features: give rows too, export m.npz rows.csv --integer"
            )
    else:
        trees, rows = merged([pruned(tree) for tree in form.trees], form.rows)
        form = TreeForm(form.what, *without_leaves(trees, rows, np.asarray(form.base, np.float64)))
        trees = form.trees
        if not any(map(splits_of, trees)):
            raise BoostrunError("the model holds no split: there is nothing to export")
    rows_of = CalibrationRows(calibration, labels) if calibration is not None else _drawn(form, saved)
    if rows_of.labels is None:
        rows_of = rows_of._replace(labels=decided(real_scores(form, rows_of.samples, missing)))
    best: tuple[tuple[bool, int], IntegerModel] | None = None
    for code_bits, leaf_bits in [bits] if bits else itertools.product(_BITS, _BITS):
        if isinstance(form, LinearForm):
            found = _linear(form, rows_of, missing, code_bits, leaf_bits)
        else:
            found = _of_trees(form, saved, rows_of, code_bits, leaf_bits)
        lost = int((found.predict(found.codes(rows_of.samples)) != rows_of.labels).sum())
        large = not ((found.trees or len(found.weights)) and fits(found))
        if best is None or (large, lost) < best[0]:
            best = (large, lost), found
        if not large and not lost:
            break
    assert best is not None
    (_, lost), found = best
    if not len(found.weights) and not found.trees:
        raise BoostrunError("in whole numbers the model gives every row the same class: there is nothing to export")
    found.lost, found.rows_seen, found.given = lost, len(rows_of.samples), rows_of.given
    found.classes = saved.classes if len(found.base) == 1 else saved.classes[: len(found.base)]
    found.names = [names[column] if column < len(names) else f"column {column}" for column in found.codes.columns]
    found.names = [name if scale else f"is {name} missing" for name, scale in zip(found.names, found.codes.scale)]
    return found


def _of_classes(form: TreeForm | LinearForm, k: int) -> TreeForm | LinearForm:
    """A form without the scores of classes beyond the first ``k``, which no training sample had."""
    if len(form.base) <= max(k, 1):
        return form
    if isinstance(form, LinearForm):
        return dataclasses.replace(form, weights=form.weights[:, :k], base=form.base[:k])
    kept = [(tree, row) for tree, row in zip(form.trees, form.rows) if row < k]
    trees = [renamed(tree, lambda *split: split, lambda leaf: leaf[:k]) if row < 0 else tree for tree, row in kept]
    return dataclasses.replace(form, trees=trees, rows=[row for _, row in kept], base=form.base[:k])


def _drawn(form: TreeForm | LinearForm, saved: Saved) -> CalibrationRows:
    """1,000 rows, each value in one of the intervals between the thresholds on its column."""
    assert isinstance(form, TreeForm)
    width, rng = saved.raw_width, np.random.default_rng(0)
    if not len(saved.missing):  # else further features are copies of columns
        width = max(width, *(1 + feature for tree in form.trees for feature, _ in splits_of(tree)))
    samples = np.zeros((DRAWN, width))
    for column, edges in _thresholds(form.trees, width, saved.missing).items():
        gaps = np.diff(edges) if len(edges) > 1 else np.ones(1)
        ends = np.concatenate([edges[:1] - gaps.mean(), edges, edges[-1:] + gaps.mean()]) if len(edges) else np.zeros(2)
        place = rng.integers(0, len(ends) - 1, DRAWN)
        samples[:, column] = ends[place] + rng.random(DRAWN) * (ends[place + 1] - ends[place])
    return CalibrationRows(np.floor(samples) if saved.of_pixels else samples, None, False)


def _thresholds(trees: Sequence[Tree], width: int, missing: np.ndarray) -> dict[int, np.ndarray]:
    """Raw column -> its thresholds, ascending, those of its copy for missing values too."""
    found: dict[int, set[float]] = {}
    for tree in trees:
        for feature, threshold in splits_of(tree):
            column = int(feature if feature < width or not len(missing) else missing[feature - width])
            found.setdefault(column, set()).update({threshold} - {PRESENT})
    return {column: np.array(sorted(edges)) for column, edges in sorted(found.items())}


def _of_trees(form: TreeForm, saved: Saved, rows: CalibrationRows, code_bits: int, leaf_bits: int) -> IntegerModel:
    missing, width = saved.missing, saved.raw_width if len(saved.missing) else 2**31
    edges = _thresholds(form.trees, width, missing)
    columns = np.array(list(edges), np.int64)
    place = {column: number for number, column in enumerate(edges)}
    twins = [place[int(column)] for column in missing if int(column) in place]
    codes = InputCodes(columns, np.zeros(len(columns)), np.ones(len(columns)), code_bits, np.array(twins, np.int64))
    named = {width + m: len(columns) + twins.index(place[int(c)]) for m, c in enumerate(missing) if int(c) in place}
    coded = dict[tuple[int, float], int]()
    for number, (column, found) in enumerate(edges.items()):
        values = rows.samples[:, column].astype(np.float64)
        values = np.sort(values[~np.isnan(values)])
        whole = (rows.given or saved.of_pixels) and bool(np.all(values == np.floor(values)))
        codes.offset[number], codes.scale[number] = _scaling(found, values, whole, codes)
        for threshold, code in zip(found.tolist(), _coded(found, values, number, codes)):
            coded[column, threshold] = code
    largest = max(float(np.abs(np.array(leaves_of(tree))).max()) for tree in form.trees)
    sums = np.abs(form.base).astype(np.float64)
    for tree, row in zip(form.trees, form.rows):
        one = np.abs(np.array(leaves_of(tree))).max(axis=0)
        sums[slice(None) if row < 0 else row] += one if row < 0 else one[0]
    scale = min((2 ** (leaf_bits - 1) - 1) / largest, (_LARGEST - len(form.trees) - 1) / sums.max()) if largest else 1.0

    def split(feature: int, threshold: float) -> tuple[int, int]:
        column = int(feature if feature < width else missing[feature - width])
        code = codes.least if threshold == PRESENT else coded[column, threshold]
        return named[feature] if feature >= width else place[column], code

    trees = [pruned(renamed(tree, split, lambda leaf: np.rint(leaf * scale).astype(np.int64))) for tree in form.trees]
    base = np.rint(form.base * scale).astype(np.int64)
    kept, kept_rows, base = without_leaves(*merged(trees, form.rows), base)
    weights = np.zeros((0, len(base)), np.int64)
    return IntegerModel(form.what, codes, kept, kept_rows, weights, base, leaf_bits)


def _scaling(edges: np.ndarray, values: np.ndarray, whole: bool, codes: InputCodes) -> tuple[float, float]:
    """(offset, scale) of a column: itself where whole numbers fit, else thresholds from the second code to the last but
    one."""
    if not len(edges):
        return 0.0, 1.0
    low, high, first = edges[0], edges[-1], codes.least + 1
    if whole and np.ceil(high) - np.floor(low) <= codes.most - first:
        fits = len(values) and values[0] >= codes.least and np.ceil(high) <= codes.most and low > codes.least
        return (0.0 if fits else float(np.ceil(low)) - first), 1.0
    if high == low:
        at = int(np.searchsorted(values, low))
        gap = values[at] - values[at - 1] if 0 < at < len(values) else 1.0
        scale = 1.0 if gap > _NEAR else min(1.0 / gap, _FINEST)  # of values that 1.0 is too coarse for
        return float(low) - first / scale, scale
    scale = min((codes.most - 1 - first) / (high - low), _FINEST)  # above the last threshold one code is left
    return float(low - first / scale), float(scale)


def _coded(edges: np.ndarray, values: np.ndarray, number: int, codes: InputCodes) -> list[int]:
    """The code of each threshold, such that the rows' ``values``, ascending, fall on the sides where they did."""
    offset, scale = codes.offset[number], codes.scale[number]
    natural = np.clip(np.ceil(np.round((edges - offset) * scale, 6)), codes.least + 1, codes.most).astype(np.int64)
    if not len(values):
        return natural.tolist()
    of_rows = np.clip(np.floor((values - offset) * scale), codes.least, codes.most).astype(np.int64)
    out = []
    for edge, plain in zip(edges, natural.tolist()):
        at = int(np.searchsorted(values, edge))
        below = int(of_rows[at - 1]) if at else -1
        above = int(of_rows[at]) if at < len(values) else codes.most + 1
        if below < above:
            code = min(max(plain, below + 1), above, codes.most)
        else:  # both sides share a code: the smaller part is lost
            first, last = np.searchsorted(of_rows, above), np.searchsorted(of_rows, above, side="right")
            code = min(above if at - first <= last - at else above + 1, codes.most)
        out.append(max(code, codes.least + 1))
    return out


def _linear(
    form: LinearForm, rows: CalibrationRows, missing: np.ndarray, code_bits: int, weight_bits: int
) -> IntegerModel:
    samples, width = columns_of(form, rows.samples, missing), rows.samples.shape[1]
    low, high = samples.min(axis=0), samples.max(axis=0)
    marks = form.columns >= width  # 1 where a value is missing
    columns = np.where(marks, np.append(missing, 0)[np.where(marks, form.columns - width, 0)], form.columns)
    codes = InputCodes(columns, low, np.ones(len(low)), code_bits)
    whole = np.all(samples == np.floor(samples), axis=0)
    codes.offset[whole & (low >= 0) & (high <= codes.most)] = 0.0
    wide = np.where(high > codes.offset, high - codes.offset, 1.0)
    fits = whole & (wide <= codes.most)
    codes.scale[:] = np.where(fits, np.floor(codes.most / wide), codes.most / wide)  # all weights alike in size
    codes.scale[marks], codes.offset[marks] = codes.most, 0.0
    weights = form.weights / codes.scale[:, None]
    middle = np.where(fits | marks, 0.0, 0.5)  # of the values that share a code
    base = form.base + (codes.offset + middle / codes.scale) @ form.weights
    if form.means is not None:
        means = np.clip(np.floor((form.means[columns] - codes.offset) * codes.scale), 0, codes.most)
        codes.absent = np.where(marks, codes.most, means).astype(np.int64)
        codes.scale[marks] = 0.0
    sums = (np.abs(weights).sum(axis=0) * codes.most + np.abs(base)).max()
    largest = np.abs(weights).max()
    room = _LARGEST - (len(weights) + 1) * codes.most
    scale = min((2 ** (weight_bits - 1) - 1) / largest, room / sums) if largest else 1.0
    rounded = np.rint(weights * scale).astype(np.int64)
    return IntegerModel(
        form.what, codes, [], [], rounded, np.rint(base * scale).astype(np.int64), weight_bits,
    )  # fmt: skip
