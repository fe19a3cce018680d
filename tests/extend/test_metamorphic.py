"""After any edit of a user's code, cached answers equal those of a cold start."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import boostrun

ROOT = Path(boostrun.__file__).parents[1]
CLASSES = 10  # of the test part class c has c + 1 samples, so that the accuracy tells which class is predicted
METHOD = """
import numpy as np
{use}

class Own{base}:
    def fit(self, X, y):
        self.classes_ = np.unique(y)

    def predict(self, X):
        return np.full(len(X), self.classes_[{value} % len(self.classes_)])  # it is tried on fewer classes first
"""
KERNEL = "from numba import njit\n\n@njit(cache=True)\ndef value():\n    return {v}\n"
# how the helper file defines the value v, how the method imports it, and how it reads it
FORMS = {
    "constant": ("VALUE = {v}\n", "from {p}helper import VALUE", "VALUE"),
    "function": ("def value():\n    return {v}\n", "from {p}helper import value", "value()"),
    "module": ("VALUE = {v}\n", "import {p}helper", "{p}helper.VALUE"),
    "kernel": (KERNEL, "from {p}helper import value", "value()"),
    "kernel that a kernel calls": (
        KERNEL,
        "from numba import njit\nfrom {p}helper import value\n\n@njit(cache=True)\ndef mine():\n    return value()\n",
        "mine()",
    ),
    "constant of a kernel": (
        "VALUE = {v}\n",
        "from numba import njit\nfrom {p}helper import VALUE\n\n@njit(cache=True)\ndef mine():\n    return VALUE\n",
        "mine()",
    ),
    "class": ("class Base:\n    def value(self):\n        return {v}\n", "from {p}helper import Base", "self.value()"),
    "decorator": (
        "def decorated(function):\n    return lambda: {v}\n",
        "from {p}helper import decorated\n\n@decorated\ndef mine():\n    return None\n",
        "mine()",
    ),
    "lazy": ("VALUE = {v}\n", "def mine():\n    from {p}helper import VALUE\n    return VALUE\n", "mine()"),
    "relative": ("VALUE = {v}\n", "from .helper import VALUE", "VALUE"),
    "getattr": (
        "def __getattr__(name):\n    if name == 'VALUE':\n        return {v}\n    raise AttributeError(name)\n",
        "from {p}helper import VALUE", "VALUE",
    ),
}  # fmt: skip
LAYOUTS = ("flat", "package", "namespace")


@pytest.fixture
def place(tmp_path):
    """A folder with data of ten classes, in which commands are run as a user runs them."""
    rng = np.random.default_rng(0)
    test = np.repeat(np.arange(CLASSES), np.arange(1, CLASSES + 1))
    train = np.repeat(np.arange(CLASSES), 3)
    np.savez(tmp_path / "t.npz", x_train=rng.random((len(train), 2)), y_train=train,
             x_test=rng.random((len(test), 2)), y_test=test)  # fmt: skip
    return tmp_path


def answer(place: Path, cache: str) -> float:
    """The accuracy that the command shows, with its caches in the folder ``cache``."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(place / cache / "numba"),
           "XDG_CACHE_HOME": str(place / cache)}  # fmt: skip
    words = ["--config-dir", "mine", "algo=own", "dataset=npz", "dataset.path=t.npz", "trials=1", "n_jobs=1",
             f"store={cache}/runs", f"results={cache}/results", f"cache_root={cache}/banks"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "boostrun", *words],
        check=False, cwd=place, env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith("own"))
    return float(row.split()[1])


def write(path: Path, text: str, same_time: bool) -> None:
    """Write a file; optionally keep its time of change."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.stat().st_mtime_ns if path.exists() else None
    path.write_text(text)
    if same_time and before is not None:
        os.utime(path, ns=(before, before))


def edit_and_compare(place: Path, form: str, layout: str, seed: int, edits: int, cold: bool = True) -> None:
    """Give the value another number again and again; each answer is the arithmetic's, and so is a cold one at the end;
    no key of a record ever stands for two results."""
    helper, use, value = FORMS[form]
    prefix = "" if layout == "flat" else "toy."
    folder = place / "mine" / prefix.rstrip(".")
    base = "(Base)" if form == "class" else ""
    write(folder / "own.py", METHOD.format(use=use.format(p=prefix), base=base, value=value.format(p=prefix)), False)
    if layout == "package":
        write(folder / "__init__.py", "", False)
    write(place / "mine/algo/own.yaml", f"# of a test\nname: own\nclass: {prefix}own:Own\n", False)
    rng, results = random.Random(seed), dict[str, float]()
    number = -1
    for _ in range(edits):
        number = rng.choice([other for other in range(CLASSES) if other != number])
        write(folder / "helper.py", helper.format(v=number), rng.random() < 0.7)
        assert answer(place, "warm") == pytest.approx(100 * (number + 1) / 55, abs=0.01)
        for path in (place / "warm/runs").glob("??/*.json"):
            record = json.loads(path.read_text())
            told = record["metrics"]["test_accuracy_pct"]
            assert results.setdefault(record["key"], told) == told
    if cold:
        for cached in place.rglob("__pycache__"):
            shutil.rmtree(cached)
        assert answer(place, "cold") == pytest.approx(100 * (number + 1) / 55, abs=0.01)


@pytest.mark.slow
def test_an_edit_gives_the_answer_of_a_cold_start(place):
    edit_and_compare(place, "lazy", "flat", 0, 2, cold=False)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_edit_gives_the_answer_of_a_cold_start(form, layout, place):
    if form == "relative" and layout == "flat":
        pytest.skip("a file beside its YAML is in no package")
    edit_and_compare(place, form, layout, hash((len(form), layout == "flat")), 4)
