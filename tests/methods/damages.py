"""Models of every kind, with each array damaged in every way, and the results of loading them.

``python -m tests.methods.damages FOLDER`` tries all cases and writes a line for each: its name, a tab, and "refused",
"answered" or what is wrong. A line without an end is of a case that killed the process.
"""

import contextlib
import io
import json
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
from sklearn.base import clone

from boostrun import AdaBoostMHClassifier, BoostrunError, ReservoirClassifier
from boostrun.export import c_source, read
from boostrun.methods.preparation import PREFIX
from boostrun.papers.iboost.baselines import HoeffdingTreeClassifier
from tests.export.test_saved_models import CLASSIFIERS, LABELS, table
from tests.papers.iboost.learners import SLOW, make
from tests.papers.reservoir.test_objects import Depth2

EVERY = {
    **CLASSIFIERS,
    "own trees": ReservoirClassifier("rand", reservoir_size=20, n_estimators=4, weak_learner=Depth2(), random_state=0),
    "vote trees": AdaBoostMHClassifier("uniform_1q", n_estimators=3, weak_learner="tree", depth=2, random_state=0),
    "adaptive tree": HoeffdingTreeClassifier(grace_period=20, delta=0.1, tie=0.3, adaptive=True, switch_after=30),
    **{name: make(name) for name in SLOW},
}
INPUTS = {  # how raw samples become what a model takes, of five columns
    "edges": {"edges": np.sort(np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32), axis=1)},
    "scaled": {"shift": np.zeros(5), "factor": np.ones(5)},
    "projected": {"mean": np.zeros(3), "axes": np.ones((3, 5))},
    "templates": {
        "shape": np.array([4, 4]), "filters": np.ones((1, 2, 2), np.float32), "masks": np.ones((5, 3, 3), np.float32),
        "maxima": np.ones(5, np.float32), "edges": np.linspace(0, 1, 255, dtype=np.float32),
    },
    "hog": {
        "shape": np.array([12, 10]), "columns": np.array([0, 3]), "edges": np.ones((2, 9), np.float32),
        "options": np.array('{"name": "hog", "orientations": 5, "cell": 10, "block": 1}'),
    },
    "coates_ng": {"columns": np.array([0, 3]), "edges": np.ones((2, 9), np.float32)},
}  # fmt: skip


def _one(value):
    """The same array with ``value`` in its middle; None where it cannot hold it."""

    def put(array):
        if array.dtype.kind not in "iuf" or not array.size:
            return None
        if array.dtype.kind != "f" and not np.iinfo(array.dtype).min <= value <= np.iinfo(array.dtype).max:
            return None
        out = np.array(array)
        out.reshape(-1)[out.size // 2] = value
        return out

    return put


def _all(value):
    return lambda array: np.full_like(array, value) if array.dtype.kind == "f" else None


def _other(array):
    names = {"f": np.float32 if array.dtype.itemsize == 8 else np.float64, "i": np.int16, "u": np.uint32, "b": np.int64}
    return array.astype(names[array.dtype.kind]) if array.dtype.kind in names else None


def _swapped(array):
    return array.astype(array.dtype.newbyteorder()) if array.dtype.itemsize > 1 else None


def _rows(change):
    return lambda array: change(array) if array.ndim and array.size else None


def _text(value):
    return lambda array: np.array(value) if array.dtype.kind == "U" and not array.ndim else None


def _noise(array):
    if array.dtype.kind == "b" or not array.ndim:
        return None
    return np.frombuffer(np.random.default_rng(0).bytes(array.nbytes), array.dtype).reshape(array.shape)


class Bomb:
    """Fails the case in the process that unpickles it."""

    def __reduce__(self):
        return sys.exit, ("unpickled",)


DAMAGES = {
    "far": _one(10**9), "minus five": _one(-5), "width": _one(5), "two to the 62": _one(2**62), "byte": _one(100),
    "NaN": _one(np.nan), "inf": _one(np.inf), "-inf": _one(-np.inf), "large": _all(1e100), "all NaN": _all(np.nan),
    "other size": _other, "float": lambda array: array.astype(float) if array.dtype.kind in "iub" else None,
    "int": lambda array: np.nan_to_num(array).astype(np.int64) if array.dtype.kind in "fb" else None,
    "complex": lambda array: array.astype(complex) if array.dtype.kind in "iuf" else None,
    "text": lambda array: array.astype(str), "pickle": lambda array: np.array([Bomb()] * max(1, array.size), object),
    "transposed": _rows(lambda array: array.T if array.ndim > 1 else array[:, None]),
    "truncated": _rows(lambda array: array[:-1]), "longer": _rows(lambda array: np.concatenate([array, array[-1:]])),
    "narrower": lambda array: array[..., :-1] if array.ndim > 1 else None,
    "empty": _rows(lambda array: array[:0]), "single": _rows(lambda array: array.reshape(-1)[0]),
    "deeper": lambda array: array[None], "flat": lambda array: array.ravel() if array.ndim > 1 else None,
    "reversed": _rows(lambda array: array[..., ::-1]), "swapped": _swapped,
    "repeated": _rows(lambda array: np.repeat(array[:1], len(array), axis=0)),
    "zeros": np.zeros_like, "noise": _noise,
    "missing": lambda array: (), "huge": lambda array: (10**12,), "negative": lambda array: (-1,),
    "no text": _text(""), "brace": _text("{"), "list": _text("[]"), "null": _text("null"), "nan": _text("NaN"),
    "deep": _text("[" * 100_000), "odd": _text("\x00\ud800*/"), "word": _text("strange"),
}  # fmt: skip
_ODD = (10**9, -5, 10**30, "x", None, 1e308, float("nan"), [], {}, True, "9" * 4000)


def inside(array):
    """A JSON text with each of its values, two levels deep, replaced by odd ones: (name, array)."""
    value = json.loads(str(array))
    for key in value if isinstance(value, dict) else ():
        inner = value[key] if isinstance(value[key], dict) else {}
        for odd in _ODD:
            yield f"{key} = {str(odd)[:9]}", np.array(json.dumps(value | {key: odd}))
            for name in inner:
                changed = value | {key: inner | {name: odd}}
                yield f"{key}.{name} = {str(odd)[:9]}", np.array(json.dumps(changed))


def write(path, arrays):
    """An npz of arrays, of which a tuple is a header that claims this shape, and () is left out."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            if isinstance(array, tuple) and not array:
                continue
            file = io.BytesIO()
            if isinstance(array, tuple):
                header = {"descr": "<f8", "fortran_order": False, "shape": array}
                np.lib.format.write_array_header_1_0(file, header)
                file.write(bytes(800))
            else:
                np.lib.format.write_array(file, np.asarray(array), allow_pickle=True)
            archive.writestr(f"{name}.npy", file.getvalue())


def models(folder):
    """(name, class, arrays, raw samples, their labels) of small fitted models of every kind and of every input."""
    X, y = (np.asarray(part) for part in table(LABELS["str"], 120))
    for name, model in EVERY.items():
        fitted = clone(model).fit(X, y)
        yield name, type(fitted), arrays_of(fitted.save(folder / "whole")), X[:12], y[:12]
    two = clone(EVERY["reservoir"]).fit(X, y == "a")
    yield "two classes", type(two), arrays_of(two.save(folder / "whole")), X[:12], (y == "a")[:12]
    fitted = clone(EVERY["votes"]).fit(X, y)
    for kind, inputs in INPUTS.items():
        arrays = arrays_of(fitted.save(folder / "whole"))
        arrays |= {PREFIX + name: array for name, array in inputs.items()} | {PREFIX + "kind": np.array(kind)}
        width = int(np.prod(inputs["shape"])) if "shape" in inputs else 3 if kind == "projected" else 5
        raw = np.random.default_rng(1).integers(0, 256, (12, width)).astype(float)
        yield f"votes on {kind}", type(fitted), arrays, raw, y[:12]


def arrays_of(path):
    with np.load(path) as found:
        return dict(found.items())


def judged(path, cls, X, y):
    """The result of loading a file: "refused", "answered", or a description of the mistake."""
    try:
        loaded = cls.load(path)
    except BoostrunError as error:
        if str(path) not in str(error) or "\n" in str(error):
            return f"the sentence is {error}"
        loaded = None
    with contextlib.suppress(BoostrunError):
        c_source(read(path))
    if loaded is None:
        return "refused"
    try:
        found = loaded.predict(X)
        if found.shape != (len(X),) or not set(found.tolist()) <= set(loaded.classes_.tolist()):
            return f"the labels are {found}"
        if hasattr(loaded, "decision_function"):
            scores = loaded.decision_function(X)
            if scores.shape not in {(len(X),), (len(X), scores.shape[-1])} or not np.isfinite(scores).all():
                return f"the scores are {scores}"
        if hasattr(loaded, "staged_predict"):
            list(loaded.staged_predict(X))
        if hasattr(loaded, "test_then_train"):
            loaded.partial_fit(X, y)
            loaded.predict(X)
    except ValueError as error:  # scikit-learn's own for samples of another width
        return "refused" if "\n" not in str(error) or "feature names" in str(error) else f"the sentence is {error}"
    return "answered"


def cases(arrays):
    """(name, arrays) for every array and every damage."""
    for name, array in arrays.items():
        for damage, change in DAMAGES.items():
            changed = change(array)
            if changed is not None:
                yield f"{name}: {damage}", arrays | {name: changed}
        if name in ("facts", "numbers", PREFIX + "options"):
            for damage, changed in inside(array):
                yield f"{name}: {damage}", arrays | {name: changed}


def main(folder):
    path = Path(folder) / "damaged.npz"
    warnings.simplefilter("ignore")
    for model, cls, arrays, X, y in models(Path(folder)):
        write(path, arrays)
        print(f"{model}: whole", end="\t", flush=True)
        print(judged(path, cls, X, y), flush=True)
        for name, changed in cases(arrays):
            print(f"{model}: {name}", end="\t", flush=True)
            write(path, changed)
            try:
                said = judged(path, cls, X, y)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
            print(" ".join(said.split())[:300], flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
