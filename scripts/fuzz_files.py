"""Cases of :mod:`fuzz` with boostrun's own files (banks, checkpoints, compiled kernels), saved models and zip bombs.

Each case copies intact files into ``folder``, damages some of them, and returns the command that reads them.
:func:`make` makes the intact files. ``python scripts/fuzz_files.py MODEL`` predicts with a saved model.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from fuzz_records import damaged

from boostrun.errors import BoostrunError
from boostrun.methods.weak_learner import WeakLearner

TRIAL = ["dataset=digits", "r=20", "T=2", "trials=1", "n_jobs=1"]
ROUNDS = ["algo=shareboost", "dataset=digits", "T=4", "trials=1", "n_jobs=1"]
_WIDTH = 5  # columns of the samples on which the models are trained
_BOMB = 64  # MiB of an unpacked bomb
_ODD = [10**9, -5, 10**30, "x", None, 1e308, float("nan"), [], {}, True, "9" * 4000]


class Sum(NamedTuple):
    """A user's own hypothesis, which votes by the sum of some columns."""

    features: np.ndarray

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        return np.where(samples[:, self.features].sum(axis=1) > 99, 1.0, -1.0)


class Sums(WeakLearner):
    """A user's own weak learner."""

    def find(self, samples: np.ndarray, signed_weights: np.ndarray) -> Sum:
        """Return a hypothesis on the first two columns."""
        return Sum(np.array([0, 1]))


# -- the intact files --------------------------------------------------------------------------------------------------


def make(given: Path, command: Callable[[list[str]], int]) -> None:
    """Write models of every kind, an unfinished bank, checkpoints of a killed run, and compiled kernels."""
    _models(given / "kept")
    for name, words, target in (
        ("half", ["algo=wsam", *TRIAL], "boostrun.features.build._codes"),
        ("rounds", ROUNDS, "boostrun.papers.shareboost.selection.Checkpoint.keep"),
    ):
        places = [f"{key}={given / name / key}" for key in ("store", "results", "cache_root")]
        child = os.fork()  # files of a process that still runs are never resumed
        if child == 0:
            with _interrupted(target):
                os._exit(command([*words, *places]))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130, name
    assert list((given / "half").rglob("journal.json")) and list((given / "rounds").rglob("checkpoints/*/*"))
    subprocess.run(_fresh(given / "kept" / "stumps.npz"), env=_with_kernels(given), check=True, capture_output=True)
    assert list((given / "kernels").rglob("*.nbi"))


@contextlib.contextmanager
def _interrupted(target: str) -> Iterator[None]:
    """Simulate Ctrl-C after the second call of ``target`` has returned (before it starts, for ``_codes``)."""
    room, _, name = target.rpartition(".")
    import pkgutil

    owner = pkgutil.resolve_name(room)
    real, calls = getattr(owner, name), []

    def once(*arguments: Any, **more: Any) -> Any:
        calls.append(name)
        if len(calls) == 2 and name == "_codes":
            raise KeyboardInterrupt
        found = real(*arguments, **more)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return found

    with mock.patch.object(owner, name, once):
        yield


def _models(folder: Path) -> None:
    import boostrun as library

    folder.mkdir()
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    x = rng.normal(size=(90, _WIDTH)) + np.outer(y, [1, -1, 0, 0, 2])
    of_reservoir = {"reservoir_size": 20, "n_estimators": 4, "random_state": 0}
    made = {
        "stumps": library.ReservoirClassifier("geem", **of_reservoir),
        "votes": library.AdaBoostMHClassifier(n_estimators=4, random_state=0),
        "jointboost": library.JointBoostClassifier(4, max_bins=8), "shareboost": library.ShareBoostClassifier(2),
        "mixed": library.MixedNormClassifier(4, lambda_min_ratio=0.1),
        "hypotheses": library.ReservoirClassifier("rand", weak_learner=Sums(), **of_reservoir),
        "online": library.OnlineRivalClassifier(n_estimators=4, random_state=0),
        "iboost": library.IBoostClassifier(20, 5, random_state=0),
        "adwin": library.IBoostAdwinClassifier(20, 5, n_least=5),
        "iboost_geem": library.IBoostGeemClassifier(20, 5, random_state=1),
    }  # fmt: skip
    for name, classifier in made.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier.fit(x, y).save(folder / name)


# -- cases -------------------------------------------------------------------------------------------------------------


def _damage_some(files: list[Path], rng: random.Random) -> None:
    for path in rng.sample(files, min(len(files), rng.choice([1, 1, 3]))):
        if rng.random() < 0.1:
            path.unlink()
        else:
            path.write_bytes(damaged(path.read_bytes(), rng) if path.stat().st_size else b"x")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")


def bank(given: Path, folder: Path, rng: random.Random) -> list[str]:
    """A finished bank with some damaged files."""
    shutil.copytree(given / "cache", folder / "cache")
    _damage_some(_files(folder / "cache"), rng)
    return [f"algo={rng.choice(['wsam', 'geem'])}", *TRIAL]


def half(given: Path, folder: Path, rng: random.Random) -> list[str]:
    """An unfinished bank: its journal, fitted parts and finished blocks, some damaged."""
    shutil.copytree(given / "half" / "cache_root", folder / "cache")
    _damage_some(_files(folder / "cache"), rng)
    return ["algo=wsam", *TRIAL]


def rounds(given: Path, folder: Path, rng: random.Random) -> list[str]:
    """Checkpoints of a killed run, some damaged."""
    shutil.copytree(given / "rounds" / "cache_root", folder / "cache")
    _damage_some(_files(folder / "cache" / "checkpoints"), rng)
    return ROUNDS


def kernels(given: Path, folder: Path, rng: random.Random) -> list[str]:
    """Numba's cache, some files damaged, for a new process."""
    shutil.copytree(given / "kernels", folder / "kernels")
    _damage_some([path for path in _files(folder / "kernels") if path.suffix in (".nbi", ".nbc")], rng)
    return ["fresh", str(given / "kept" / "stumps.npz")]


def loaded(given: Path, folder: Path, rng: random.Random) -> list[str]:
    """A model of any kind with a damaged array or plain value, which is loaded and used for predictions."""
    path = folder / "model.npz"
    shutil.copy(rng.choice(sorted((given / "kept").glob("*.npz"))), path)
    with np.load(path) as found:
        parts = {name: found[name] for name in found.files}
    kind = rng.randrange(4)
    texts = [name for name in ("facts", "numbers") if name in parts]
    if kind == 0:
        path.write_bytes(damaged(path.read_bytes(), rng))
    elif kind == 1 and texts:
        name = rng.choice(texts)
        parts[name] = np.array(json.dumps(_odd_inside(json.loads(str(parts[name])), rng)))
        np.savez(path, **parts)
    else:
        numbers = [name for name in parts if parts[name].dtype.kind in "iuf" and parts[name].size]
        for name in rng.sample(numbers, rng.choice([1, 1, 2])):
            array = parts[name] = parts[name].copy()
            odd = rng.choice([-1, 0, 1, 5, -128, 10**9, 2**62] + [np.nan, np.inf, 1e308] * (array.dtype.kind == "f"))
            with np.errstate(all="ignore"):
                array.reshape(-1)[rng.randrange(array.size)] = np.array(odd).astype(array.dtype)
        np.savez(path, **parts)
    return ["predict", str(path)]


def _odd_inside(value: Any, rng: random.Random) -> Any:
    """A copy of a JSON value with one part replaced."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        return {**value, key: _odd_inside(value[key], rng)}
    return rng.choice(_ODD)


def bomb(_given: Path, folder: Path, rng: random.Random) -> list[str]:
    """A file of a few kB that unpacks to endless lines, columns or rows."""
    path = folder / "mine.csv.gz"
    unit = rng.choice(
        [b"0" * 4096, b"1," * 2048, b"name," * 900, b"\n" * 4096, b"1,2\n" * 1024, b'"' * 4095, b"1 " * 2048]
    )
    head = rng.choice([b"", b"a,b\n", b"a,b\n1,0\n2,1\n", b'a,b\n1,"', b"\x1f\x8b"])
    with gzip.open(path, "wb", compresslevel=1) as packed:
        packed.write(head)
        for _ in range(_BOMB << 8):
            packed.write(unit)
    (folder / "test.csv").write_text("a,b\n1,0\n2,1\n")
    tail = [f"dataset.path={path}", "trials=1", "n_jobs=1", f"run.memory_mb={rng.choice([64, 256])}"]
    return rng.choice([
        ["algo=wsam", "r=20", "T=2", "dataset=csv", *tail],
        ["algo=wsam", "r=20", "T=2", "dataset=stream", f"dataset.test_path={folder / 'test.csv'}", *tail],
        ["algo=iboost_stochastic", "n=50", "M=5", "dataset=file_stream", *tail],
    ])  # fmt: skip


# -- commands of our own -----------------------------------------------------------------------------------------------


def predict(words: list[str]) -> int:
    """``predict MODEL``: load it as its class, predict, and call ``partial_fit`` if it learns from streams.

    Returns 0, or 2 after a sentence, as boostrun does.
    """
    import boostrun as library

    path = Path(words[1])
    x = np.random.default_rng(1).normal(size=(12, _WIDTH))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = getattr(library, _class_of(path)).load(path)
            model.predict(x)
            if hasattr(model, "test_then_train"):
                model.partial_fit(x, np.resize(model.classes_, 12))
                model.predict(x)
    except (BoostrunError, ValueError) as error:  # scikit-learn raises it for samples of another width
        print(f"boostrun: {' '.join(str(error).split())[:1000]}", file=sys.stderr)
        return 2
    return 0


def _class_of(path: Path) -> str:
    """The name of the class that saved the model."""
    names = ("Reservoir", "AdaBoostMH", "JointBoost", "ShareBoost", "MixedNorm", "OnlineRival", "IBoostAdwin",
             "IBoostGeem", "IBoost")  # fmt: skip
    try:
        with np.load(path) as found:
            wrote = json.loads(str(found["facts"]))["written_by"][0]
    except Exception:  # if the file is damaged, every class must refuse it
        wrote = ""
    known = [f"{name}Classifier" for name in names]
    return wrote if wrote in known else known[0]


def fresh(words: list[str]) -> int:
    """``fresh MODEL``: replace this process by one that predicts, with numba's cache in the folder ``kernels``."""
    command = _fresh(Path(words[1]))
    os.execve(command[0], command, _with_kernels(Path.cwd()))


def _fresh(model: Path) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve()), str(model)]


def _with_kernels(folder: Path) -> dict[str, str]:
    return {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels")}


if __name__ == "__main__":
    sys.exit(predict(["predict", sys.argv[1]]))
