"""From raw samples to what a model takes: the codes or values of the bank that it was trained on."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Mapping

import numpy as np

from boostrun.config import catalogue
from boostrun.data.dataset import filled, two_sided
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.methods.raw_table import RawTable

PREFIX = "input_"  # of the arrays' names in a model file
_LARGEST = np.finfo(np.float32).max  # beyond it values become infinite, and would pass the edges that are none


class Preparation:
    """How raw samples become those that a model was trained on; kept beside the model.

    Parameters
    ----------
    arrays : dict by name, of which ``kind`` says what is done
        "pixels": bytes are their own codes; "edges" (d, bins - 1): a code is the number of edges not above a value;
        "scaled": (x - shift) factor; "projected": (x - mean) axes; "templates": filters under masks, then edges; any
        other is a pipeline, by ``options`` (JSON), then the ``edges`` (used, bins - 1) of the ``columns`` (used,) that
        the model looks at. ``shape`` is that of an image, where samples are images; ``table`` (JSON) tells the columns
        of a table, see :class:`boostrun.methods.raw_table.RawTable`. With ``missing`` NaN is data: it names the columns
        (m,) that are there twice after "edges"; before "scaled" and "projected" ``means`` stand for NaN, and columns
        follow that say where, see :mod:`boostrun.data.dataset`.
    width : int, columns that the model takes.

    Attributes
    ----------
    n_features : int, columns of a raw sample; where the pipeline cannot be computed here, of its features.
    missing : (m,) int64 or None, the columns whose missing values training has seen; None: NaN is refused.
    computed : bool, False where it cannot: then samples are its features, computed by whoever has it.
    table : RawTable or None, the columns of a raw table where the model was trained on one.

    >>> edges = {"kind": np.array("edges"), "edges": np.array([[0.5, 1.5]], np.float32)}
    >>> Preparation(edges, 1)(np.array([[0.0], [1.0], [9.0]])).ravel().tolist()
    [0, 1, 2]
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], width: int):
        self.arrays, self.width = dict(arrays), width
        self.kind = str(arrays["kind"])
        self.shape = tuple(arrays["shape"].tolist()) if "shape" in arrays else ()
        self.missing = arrays.get("missing")
        further = 0 if self.missing is None else len(self.missing)
        self.computed = True
        if self.kind in ("pixels", "edges"):
            self.n_features = width - further
        elif self.kind == "scaled":
            self.n_features = len(arrays["shift"]) - further
        elif self.kind == "projected":
            self.n_features = len(arrays["mean"]) - further
        elif self.kind == "templates":
            side, cells = arrays["filters"].shape[1], arrays["masks"].shape[1:]
            self.shape = (cells[0] + side - 1, cells[1] + side - 1)
            self.n_features = math.prod(self.shape)
        else:
            self.computed = _stateless(self.kind) and bool(self.shape) and "options" in arrays
            self.n_features = math.prod(self.shape) if self.computed else width
        self.table = RawTable.of(str(arrays["table"])) if "table" in arrays else None
        if self.table is not None and len(self.table.columns) != self.n_features:
            raise ValueError(f"its table has {len(self.table.columns)} columns, and samples {self.n_features}")

    def flat(self, samples):
        """Images of the model's shape as rows, text in a frame as numbers; anything else as it is."""
        if self.table is not None and getattr(samples, "columns", None) is not None:
            return self.table.coded(samples, self.missing is not None)
        shape = np.shape(samples) if self.shape else ()
        return np.reshape(samples, (len(samples), -1)) if len(shape) > 2 and shape[1:] == self.shape else samples

    def check_width(self, samples) -> None:
        """BoostrunError where features that cannot be computed here are needed, and raw samples are given."""
        shape = np.shape(samples)
        if not self.computed and (len(shape) != 2 or shape[1] != self.n_features):
            raise BoostrunError(
                f"this model was trained on features={self.kind}, which a loaded model does not compute: it takes "
                f"those {self.n_features} features, not samples of the shape {shape[1:]}"
            )

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """Raw ``samples`` (n, n_features), finite numbers or ``missing``, as the model takes them: (n, width) uint8 or
        float64.

        Raises BoostrunError with one sentence for images that are no bytes, and where the file lacks what is needed.
        """
        if self.kind == "pixels":
            return samples if samples.dtype == np.uint8 else _codes(samples, np.arange(1, 256, dtype=np.float32)[None])
        if self.kind == "edges":
            return _codes(samples, self.arrays["edges"], self.missing)
        if self.kind == "scaled":
            return (self._complete(samples) - self.arrays["shift"]) * self.arrays["factor"]
        if self.kind == "projected":
            return (self._complete(samples) - self.arrays["mean"]) @ self.arrays["axes"]
        if self.kind == "templates":
            return _codes(self._templates()(self._images(samples)), self.arrays["edges"][None])
        features = self._features(self._images(samples)) if self.computed else samples
        if "edges" in self.arrays:
            columns = self.arrays["columns"]
            out = np.zeros((len(features), self.width), np.uint8)
            out[:, columns] = _codes(features[:, columns], self.arrays["edges"])
            return out
        if "values" in self.arrays:
            return features.astype(np.float64)
        raise BoostrunError(
            f"this model of features={self.kind} was saved without the edges of its codes: train and save it again"
        )

    def _complete(self, samples: np.ndarray) -> np.ndarray:
        """float64, with means for what is missing and columns that say where."""
        samples = samples.astype(np.float64)
        return samples if self.missing is None else filled(samples, self.missing, self.arrays["means"])

    def _images(self, samples: np.ndarray) -> np.ndarray:
        """(n, h, w) or (n, h, w, 3) uint8."""
        images = samples.astype(np.uint8) if samples.dtype != np.uint8 else samples
        if not np.array_equal(images, samples):
            raise BoostrunError(f"features={self.kind} takes pixels: whole numbers from 0 to 255")
        return images.reshape(-1, *self.shape)

    def _features(self, images: np.ndarray) -> np.ndarray:
        """(n, width) of the pipeline with the file's options; BoostrunError where these make others, or none."""
        module = importlib.import_module(catalogue.pipelines()[self.kind].module)  # a stateless one
        try:
            options = json.loads(str(self.arrays["options"]))
            if options.get("orientations", 1) > self.width:
                raise ValueError(f"{options['orientations']} orientations make more than {self.width} features")
            out = module.Pipeline(options)(images)
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError) as error:
            raise BoostrunError(
                f"features={self.kind} cannot be computed with the options of the model ({error})"
            ) from None
        if out.shape[1:] != (self.width,):
            raise BoostrunError(f"features={self.kind} makes {out.shape[1]} features, and the model takes {self.width}")
        return out

    def _templates(self):
        fitted = obtain(catalogue.pipelines()[self.kind].fitted)
        return fitted(*(self.arrays[name] for name in ("filters", "masks", "maxima")))


def _stateless(kind: str) -> bool:
    """Whether a pipeline of this name makes its features again from options alone."""
    pipeline = catalogue.pipelines().get(kind)
    return pipeline is not None and pipeline.stateless


def of_bank(bank, used: np.ndarray | None = None, shape: tuple[int, ...] = ()) -> dict[str, np.ndarray]:
    """The arrays of a :class:`Preparation` for the samples of ``bank``, named ``input_...``.

    ``used`` are the columns that the model looks at, None for all; ``shape`` that of a sample, where it is an image.
    """
    options = bank.meta["features"]
    name = str(options.get("pipeline") or options["name"])
    found = {"kind": np.array(name)} | ({"shape": np.array(shape)} if len(shape) > 1 else {})
    if name in ("raw", "stumps"):
        if bank.edges.strides[0] == 0 and bank.n_features > 1:  # edges common to all: 1 to 255
            found |= {"kind": np.array("pixels")}
        else:
            found |= {"kind": np.array("edges"), "edges": np.array(bank.edges)}
    elif name in ("linear", "products"):
        found |= {"kind": np.array("scaled")} | {key: bank.fitted()[key] for key in ("shift", "factor")}
    elif name == "anchors":
        found |= {"kind": np.array("projected")} | {key: bank.fitted()[key] for key in ("mean", "axes")}
    elif name == "templates":
        found |= {key: bank.fitted()[key] for key in ("filters", "masks", "maxima")}
        found |= {"edges": np.array(bank.edges[0])}
    elif "bins" in options:  # codes, not values
        columns = np.arange(bank.n_features) if used is None else np.unique(used)
        found |= {"columns": columns, "edges": np.array(bank.edges[columns])}
        found |= {"options": np.array(json.dumps(dict(options)))}
    else:
        found |= {"values": np.array(True)}
    if missing := bank.meta.get("missing"):
        found |= {"missing": np.array(missing["columns"], np.int64)}
        found |= {"means": np.array(missing["means"])} if "means" in missing else {}
    return {PREFIX + key: array for key, array in found.items()}


def _codes(values: np.ndarray, edges: np.ndarray, missing: np.ndarray | None = None) -> np.ndarray:
    """(n, d) uint8 of values (n, d), compared as float32, as they were when the bank was built.

    With ``missing`` columns NaN is below all values, and copies of these columns follow, (n, d + m).
    """
    from boostrun.kernels.quantise import quantise

    values = np.ascontiguousarray(np.clip(values, -_LARGEST, _LARGEST), dtype=np.float32)
    values = values if missing is None else two_sided(values, missing)
    codes = np.empty(values.shape[::-1], np.uint8)
    quantise(values, np.ascontiguousarray(edges), codes)
    return np.ascontiguousarray(codes.T)
