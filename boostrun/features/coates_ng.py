"""Coates & Ng 2011: a dictionary of whitened 6x6 patches, soft-threshold encoding, sums over four quadrants."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from boostrun.config import defaults
from boostrun.data.options import in_range
from boostrun.errors import BoostrunError
from boostrun.features.build import subset
from boostrun.features.hog import as_colour, require_images
from boostrun.features.patch_kernels import (
    ROWS,
    accumulate,
    encode_images,
    encode_images_by_torch,
    gather_patches,
    require_gpu,
    strongest_atoms,
    strongest_atoms_by_torch,
)
from boostrun.features.store import NoJournal, Progress

DEFAULTS = defaults("features", "coates_ng")
CONTRAST = 10.0  # added to the variance of a patch, pixels 0..255
WHITENING = 0.1  # added to the eigenvalues of the covariance
SPREAD = 0.01  # added to the variance of a feature
_BLOCK = 256  # images per task
_KEEP_EVERY = 8  # blocks of the standardisation between two entries in the journal


class CoatesNg:
    """The pipeline of Coates & Ng, "The importance of encoding versus training", ICML 2011.

    Patches x are normalised, (x - mean) / sqrt(var + 10), and whitened by ZCA; a dictionary of unit-norm atoms is
    learned by OMP-1 (each patch goes to the atom with the largest |product|; an atom becomes the normalised sum of
    its patches times their products; an unused atom is replaced by a random patch). An image is encoded at stride 1
    by [max(z - threshold, 0), max(-z - threshold, 0)], summed over four quadrants: d = 8 * atoms. Features are
    standardised by (f - mean) / sqrt(var + 0.01) with the statistics of at most `bin_samples` training images (a
    larger sample would change no code of a bank, because quantile bins do not see an increasing map).

    Images of another size are resized to `size` x `size` first; grey ones become three equal channels.

    Parameters
    ----------
    options : mapping with atoms, patches, patch, iterations, threshold, seed, size, device, bin_samples

        With device=cuda, torch on a GPU computes the products; its rounding is another, and so is the bank.

    Attributes
    ----------
    n_jobs : int, threads; the result does not depend on it
    saved : journal (`boostrun.features.store`) in which `fit` keeps the dictionary after each iteration and the
        sums of the standardisation, and from which it goes on; by default none are kept
    atoms_ : float32, (atoms, patch * patch * 3), after `fit`

    Memory: the patches (400,000 x 108 x 4 bytes = 173 MB) while the dictionary is learned; per thread
    positions x (atoms + 108) floats.
    """

    name = "coates_ng"

    def __init__(self, options: Mapping):
        for key in ("atoms", "size"):
            in_range(options, "features", key, 1)
        in_range(options, "features", "patch", 2, options["size"] - 1)
        in_range(options, "features", "patches", 2)
        in_range(options, "features", "threshold", 0)
        if options["patches"] < options["atoms"]:
            raise BoostrunError(
                f"features.patches={options['patches']} is fewer than features.atoms={options['atoms']}; "
                "a dictionary needs at least one patch for each atom"
            )
        if options["device"] not in ("cpu", "cuda"):
            raise BoostrunError(f"features.device must be cpu or cuda, not {options['device']!r}")
        self._torch_device = None
        if options["device"] == "cuda":
            require_gpu()
            self._torch_device = "cuda"
        self.options = dict(options)
        self.n_jobs, self.progress, self.saved = 1, False, NoJournal()

    def fit(self, images: np.ndarray) -> CoatesNg:
        """Learn whitening, dictionary and standardisation from training images, (n, h, w) or (n, h, w, 3) uint8."""
        require_images(images, self.name, (2, 2))
        learned = self.saved.load("dictionary")  # type: ignore[func-returns-value]
        if learned is None or learned["done"] < self.options["iterations"]:
            learned = self._learn(images, learned)
        self.atoms_ = learned["atoms"].astype(np.float32)
        mean, whitening = learned["mean"], learned["whitening"]
        self._weights = np.ascontiguousarray((whitening @ self.atoms_.T.astype(np.float64)).astype(np.float32))
        self._offset = (-(mean @ whitening) @ self.atoms_.T.astype(np.float64)).astype(np.float32)
        self._standardise(images)
        return self

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """(n, h, w) or (n, h, w, 3) uint8 -> (n, 8 * atoms) float32, standardised."""
        features = self._encode(images)
        features -= self._mean
        features /= self._scale
        return features

    def describe(self) -> str:
        o = self.options
        return (
            f"Coates & Ng 2011, {o['atoms']} atoms of {o['patch']}x{o['patch']} patches at {o['size']}x{o['size']} "
            f"pixels, threshold {o['threshold']}"
        )

    def _learn(self, images: np.ndarray, earlier: dict | None) -> dict:
        """Whitening and dictionary, from the last iteration that an earlier build kept."""
        rng = np.random.default_rng(np.random.SeedSequence(self.options["seed"]))
        patches = self._random_patches(images, rng)
        mean, whitening = zca(patches)
        filled = np.zeros((-(-len(patches) // ROWS) * ROWS, patches.shape[1]), dtype=np.float32)
        with self._one_blas_thread():
            for start in range(0, len(patches), ROWS):
                block = patches[start : start + ROWS].astype(np.float64)
                filled[start : start + len(block)] = (block - mean) @ whitening
        count = len(patches)
        del patches
        whitened = {"mean": mean, "whitening": whitening}
        return {"atoms": self._dictionary(filled, count, rng, whitened, earlier), **whitened}

    def _random_patches(self, images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Normalised patches at random places of random training images, (patches, patch * patch * 3) float32."""
        o = self.options
        which = np.sort(rng.integers(0, len(images), o["patches"]))
        tops, lefts = rng.integers(0, o["size"] - o["patch"] + 1, (2, o["patches"]))
        patches = np.empty((o["patches"], o["patch"] ** 2 * 3), dtype=np.float32)
        bounds = np.searchsorted(which, np.arange(0, len(images) + _BLOCK, _BLOCK))
        for block, (first, last) in enumerate(pairwise(bounds)):
            if first < last:
                start = block * _BLOCK
                small = as_colour(np.asarray(images[start : start + _BLOCK]), o["size"])
                part = slice(first, last)
                gather_patches(small, which[part] - start, tops[part], lefts[part], o["patch"], CONTRAST, patches[part])
        return patches

    def _dictionary(self, patches, count: int, rng: np.random.Generator, whitened: dict, earlier) -> np.ndarray:
        """OMP-1 on whitened patches, (p, d) float32 of which the first `count` are no filling -> (atoms, d) float64.

        Each iteration is kept together with `whitened`; `earlier` is the kept state of the last one, or None.
        """
        o = self.options
        atoms, done = unit(rng.standard_normal((o["atoms"], patches.shape[1]))), 0
        if earlier is not None:
            atoms, done = earlier["atoms"], int(earlier["done"])
            rng.bit_generator.state = json.loads(str(earlier["rng"]))
        labels, values = np.empty(len(patches), np.int64), np.empty(len(patches), np.float32)
        step = 16 * ROWS
        with Progress("dictionary", o["iterations"], self.progress, "iterations", done) as progress:
            for iteration in range(done, o["iterations"]):
                columns = np.ascontiguousarray(atoms.T.astype(np.float32))
                if self._torch_device:
                    strongest_atoms_by_torch(patches, columns, labels, values, self._torch_device)
                else:
                    self._in_threads(
                        lambda s, columns=columns: strongest_atoms(
                            patches[s : s + step], columns, labels[s : s + step], values[s : s + step]
                        ),
                        range(0, len(patches), step),
                    )
                sums, used = np.zeros(atoms.shape), np.zeros(len(atoms), np.int64)
                accumulate(patches, labels, values, count, sums, used)
                dead = np.flatnonzero((used == 0) | (np.abs(sums).max(axis=1) < 1e-12))
                sums[dead] = patches[rng.integers(0, count, len(dead))]
                atoms = unit(sums)
                state = np.array(json.dumps(rng.bit_generator.state))
                self.saved.save("dictionary", atoms=atoms, done=np.array(iteration + 1), rng=state, **whitened)
                progress.advance(1)
        return atoms

    def _standardise(self, images: np.ndarray) -> None:
        chosen = subset(len(images), self.options.get("bin_samples", 10000))
        width = 8 * self.options["atoms"]
        total, squares, done = np.zeros(width), np.zeros(width), 0
        if (earlier := self.saved.load("standardisation")) is not None:  # type: ignore[func-returns-value]
            total, squares, done = earlier["total"], earlier["squares"], int(earlier["done"])
        with Progress("standardisation", len(chosen), self.progress, done=done) as progress:
            for start in range(done, len(chosen), _BLOCK):  # blocks of one size: sums do not depend on memory, threads
                block = self._encode(images[chosen[start : start + _BLOCK]]).astype(np.float64)
                total += block.sum(axis=0)
                squares += (block**2).sum(axis=0)
                done = start + len(block)
                if done == len(chosen) or done % (_KEEP_EVERY * _BLOCK) == 0:
                    self.saved.save("standardisation", total=total, squares=squares, done=np.array(done))
                progress.advance(len(block))
        mean = total / len(chosen)
        variance = np.maximum(squares / len(chosen) - mean**2, 0)
        self._mean, self._scale = mean.astype(np.float32), np.sqrt(variance + SPREAD).astype(np.float32)

    def _encode(self, images: np.ndarray) -> np.ndarray:
        o = self.options
        require_images(images, self.name, (2, 2))
        features = np.empty((len(images), 8 * o["atoms"]), dtype=np.float32)
        step = max(1, min(_BLOCK, -(-len(images) // max(1, self._threads()))))
        settings = o["patch"], CONTRAST, self._weights, self._offset, np.float32(o["threshold"])

        def work(start: int) -> None:
            small = as_colour(np.asarray(images[start : start + step]), o["size"])
            if self._torch_device:
                encode_images_by_torch(small, *settings, features[start : start + step], self._torch_device)
            else:
                encode_images(small, *settings, features[start : start + step])

        self._in_threads(work, range(0, len(images), step))
        return features

    def _threads(self) -> int:
        from joblib import effective_n_jobs

        return 1 if self._torch_device else effective_n_jobs(self.n_jobs)

    def _in_threads(self, work, starts) -> None:
        """work(start) for each start; the kernels let go of the interpreter, so threads are enough."""
        from joblib import Parallel, delayed

        with self._one_blas_thread():
            if self._threads() == 1 or len(starts) < 2:
                for start in starts:
                    work(start)
            else:
                Parallel(n_jobs=self.n_jobs, backend="threading")(delayed(work)(start) for start in starts)

    @staticmethod
    def _one_blas_thread():
        # The cut of a matrix product among BLAS threads could change its rounding. Only a library that is loaded can be
        # limited, and numba takes its products from SciPy's.
        import scipy.linalg.cython_blas  # noqa: F401
        from threadpoolctl import threadpool_limits

        return threadpool_limits(1, user_api="blas")


def zca(patches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean (d,) and ZCA matrix (d, d) of patches (p, d), float64: V diag(1 / sqrt(eigenvalue + 0.1)) V'."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        mean = patches.mean(axis=0, dtype=np.float64)
        covariance = np.zeros((patches.shape[1], patches.shape[1]))
        for start in range(0, len(patches), 1 << 14):
            centred = patches[start : start + (1 << 14)] - mean
            covariance += centred.T @ centred
        values, vectors = np.linalg.eigh(covariance / max(1, len(patches) - 1))
        return mean, (vectors / np.sqrt(np.maximum(values, 0) + WHITENING)) @ vectors.T


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1 (rows of zeros stay)."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


Pipeline = CoatesNg
