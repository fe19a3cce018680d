"""A predictor compiled with the system's C compiler and called through ctypes."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

COMPILER = shutil.which("gcc") or shutil.which("cc")
FLAGS = ["-O3", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
_TYPES = {"double": np.float64, "float": np.float32, "unsigned char": np.uint8}


class Compiled:
    """``predict`` and ``scores`` of a C source, sample by sample; ``counted`` and ``runs`` as its head tells them."""

    def __init__(self, source: str, folder: Path, flags=FLAGS):
        if COMPILER is None:
            pytest.skip("there is no C compiler")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "predictor.c").write_text(source)
        library = folder / "predictor.so"
        command = [COMPILER, *flags, "-shared", "-fPIC", "-o", str(library), str(folder / "predictor.c")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.shared = ctypes.CDLL(str(library))
        self.shared.class_name.restype = ctypes.c_char_p
        self.type, size = re.search(r"x is ([a-z ]+)\[(\d+)\]", source).groups()
        self.dtype = _TYPES[self.type]
        self.size, self.n_scores = int(size), int(re.search(r"out\[0\.\.(\d+)\]", source).group(1)) + 1
        head = " ".join(source.partition("*/")[0].replace("\n *", " ").split())
        numbers = re.search(r"Multiply-adds of a prediction: (\d+) as counted .* records, (\d+) in this", head)
        self.counted, self.runs = map(int, numbers.groups())

    def __call__(self, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(class numbers (n,), scores (n, n_scores)) of samples (n, ...), by ``predict_many`` too, which must agree."""
        rows = np.ascontiguousarray(samples.reshape(len(samples), -1), self.dtype)
        assert rows.shape[1] == self.size
        numbers, scores = np.empty(len(rows), np.int64), np.full((len(rows), self.n_scores), np.nan)
        for i, row in enumerate(rows):
            place = row.ctypes.data_as(ctypes.c_void_p)
            self.shared.scores(place, scores[i].ctypes.data_as(ctypes.c_void_p))
            numbers[i] = self.shared.predict(place)
        many = np.full(len(rows), -1, np.intc)
        places = (each.ctypes.data_as(ctypes.c_void_p) for each in (rows, many))
        self.shared.predict_many(next(places), ctypes.c_size_t(len(rows)), next(places))
        assert np.array_equal(many, numbers)
        return numbers, scores
