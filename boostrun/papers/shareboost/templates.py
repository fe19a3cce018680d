"""Patch templates under masks, the largest masked response of each (section 6, Figures 4 to 6)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numba import njit

from boostrun.config import defaults
from boostrun.data.options import in_range
from boostrun.errors import BoostrunError
from boostrun.features.build import subset
from boostrun.features.hog import require_images
from boostrun.features.store import NoJournal, Progress
from boostrun.kernels.lanes import LANES, load, pick, spread, store

DEFAULTS = defaults("features", "templates")
FILTERS = ("zero_mean", "unit", "raw")
_BLANK = 0.05  # windows with less than this share of full ink are blank
_TRIES = 50  # draws before the images count as blank
_BATCH, _EPOCHS, _STARTS = 4096, 10, 3  # parameters of mini-batch k-means
_TILE = 256  # filters whose responses to an image stay in the L2 cache
_CHUNK = 32  # images in a piece of work
_BLOCK = 256  # images between two updates of the maxima
_KEEP_EVERY = 16  # blocks between two entries in the journal
_MARGIN = 2.5  # cells between the edge of a 22x22 map and the first centre


class Templates:
    """x_{c,f} = max over positions u of (image * w_f)(u) g_c(u): F filters w_f under C masks g_c give C F features.

    The filters are k-means centres of windows of the training images that are not blank. Pixels count from 0 to 1;
    ``*`` is the cross-correlation at positions where the whole window lies inside the image. Each feature is divided by
    its largest training value and coded linearly: its value is code / 255, in training and in prediction, where larger
    values are clipped to 255. Feature c F + f is filter f under mask c.

    Parameters
    ----------
    options : mapping with patch (side of a window), centres (F), masks (C, a square number), sigma and cutoff of the
        masks, filter ("zero_mean" and of unit norm, "unit" norm, "raw"), patches (windows for k-means), fit_images
        (first training images that windows come from), seed, bin_samples (training images for the maxima)

    Attributes
    ----------
    n_jobs : int, threads; the result does not depend on it
    saved : journal (`boostrun.features.store`) in which `fit` keeps the centres and, as it goes, the maxima; by
        default none of them
    fitted : dict with filters (F, patch, patch), masks (C, h, w), maxima (C F,), all float32, after `fit`

    Cost of an image: (positions patch^2) F multiply-adds, and a product and a maximum for each filter and mask cell.
    """

    name = "templates"

    def __init__(self, options: Mapping):
        for key in ("patch", "centres", "masks", "fit_images"):
            in_range(options, "features", key, 1)
        in_range(options, "features", "bins", 256, 256)
        if options["filter"] not in FILTERS:
            raise BoostrunError(f"features.filter must be one of {', '.join(FILTERS)}, not {options['filter']!r}")
        if options["patches"] < options["centres"]:
            raise BoostrunError(
                f"features.patches={options['patches']} is fewer than features.centres={options['centres']}; "
                "k-means needs at least one window for each centre"
            )
        self.options = dict(options)
        self.n_jobs, self.progress, self.saved = 1, False, NoJournal()

    def fit(self, images: np.ndarray) -> Templates:
        """Learn filters and the largest responses from training images, (n, h, w) uint8."""
        self._require(images)
        o = self.options
        learned = self.saved.load("centres") or {"centres": self._centres(images)}  # type: ignore[func-returns-value]
        self.saved.save("centres", **learned)
        shape = tuple(side - o["patch"] + 1 for side in images.shape[1:])
        self._masks = gaussian_masks(shape, o["masks"], o["sigma"], o["cutoff"])
        filters = shaped(learned["centres"], o["filter"])
        self._tiles = _tiled(filters)
        self._factor = np.ones(o["masks"] * o["centres"], np.float32)
        self.saved.require_same("probe of responses", self._responses(images[:1]))
        maxima = self._maxima(images)
        self._factor = np.divide(1, maxima, out=np.zeros_like(maxima), where=maxima > 0)
        self.saved.save("edges", edges=((np.arange(1, 256, dtype=np.float32) - 0.5) / 255)[None])
        self.fitted = {
            "filters": filters.reshape(-1, o["patch"], o["patch"]),
            "masks": self._masks.reshape(-1, *shape),
            "maxima": maxima,
        }
        self.saved.beside("fitted", **self.fitted)
        return self

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """(n, h, w) uint8 -> (n, C F) float32, from 0 to about 1; images are independent of each other."""
        self._require(images)
        return self._responses(images)

    def families(self, d: int) -> list[tuple[str, int, int]]:
        """(name, start, stop) of the features of each mask."""
        width = self.options["centres"]
        return [(f"mask{c}", c * width, (c + 1) * width) for c in range(self.options["masks"])]

    def describe(self) -> str:
        o = self.options
        return (
            f"{o['centres']} templates of {o['patch']}x{o['patch']} pixels ({o['filter']}) under {o['masks']} masks, "
            f"sigma {o['sigma']:g}"
        )

    def _require(self, images: np.ndarray) -> None:
        side = self.options["patch"]
        require_images(images, self.name, (side, side))
        if images.ndim != 3 or images.dtype != np.uint8:
            raise BoostrunError(f"features={self.name} takes grey images (n, h, w) of uint8, not {images.shape}")

    def _centres(self, images: np.ndarray) -> np.ndarray:
        """(F, patch^2) float32: mini-batch k-means (Sculley 2010) on random non-blank windows, in one thread."""
        from sklearn.cluster import MiniBatchKMeans
        from threadpoolctl import threadpool_limits

        o = self.options
        windows = self._windows(images[: o["fit_images"]], np.random.default_rng(o["seed"]))
        means = MiniBatchKMeans(
            o["centres"], random_state=o["seed"], batch_size=_BATCH, max_iter=_EPOCHS, n_init=_STARTS
        )
        with threadpool_limits(1):
            return means.fit(windows).cluster_centers_.astype(np.float32)

    def _windows(self, images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(patches, patch^2) float32: windows at random places of random images; blank ones are drawn again."""
        wanted, side = self.options["patches"], self.options["patch"]
        windows, found = np.empty((wanted, side * side), np.float32), 0
        for _ in range(_TRIES):
            which = rng.integers(0, len(images), wanted)
            tops, lefts = (rng.integers(0, length - side + 1, wanted) for length in images.shape[1:])
            drawn = np.empty_like(windows)
            gather_windows(images, which, tops, lefts, side, drawn)
            good = drawn[drawn.sum(axis=1) > _BLANK * side * side][: wanted - found]
            windows[found : found + len(good)] = good
            found += len(good)
            if found == wanted:
                return windows
        raise BoostrunError(f"features={self.name} finds too few windows with ink in the training images")

    def _maxima(self, images: np.ndarray) -> np.ndarray:
        """(C F,) float32: the largest value of each feature over at most ``bin_samples`` training images."""
        chosen = subset(len(images), self.options["bin_samples"])
        state = self.saved.load("maxima") or {"maxima": np.zeros(len(self._factor), np.float32), "done": 0}  # type: ignore[func-returns-value]
        maxima, done = state["maxima"], int(state["done"])  # type: ignore[call-overload]
        with Progress("largest responses", len(chosen), self.progress, done=done) as progress:
            for start in range(done, len(chosen), _BLOCK):
                block = self._responses(images[chosen[start : start + _BLOCK]])
                np.maximum(maxima, block.max(axis=0), out=maxima)  # type: ignore[call-overload]
                done = start + len(block)
                if done == len(chosen) or done % (_KEEP_EVERY * _BLOCK) == 0:
                    self.saved.save("maxima", maxima=maxima, done=np.array(done))  # type: ignore[arg-type]
                progress.advance(len(block))
        return maxima  # type: ignore[return-value]

    def _responses(self, images: np.ndarray) -> np.ndarray:
        """(n, C F) float32: the responses times each feature's factor."""
        # A library must be loaded before it can be limited; numba takes its products from SciPy's.
        import scipy.linalg.cython_blas  # noqa: F401
        from joblib import Parallel, delayed, effective_n_jobs
        from threadpoolctl import threadpool_limits

        tiles, _, width = self._tiles.shape
        masks, centres = len(self._masks), self.options["centres"]
        out = np.empty((len(images), masks, centres), np.float32)
        factor = self._factor.reshape(masks, centres)
        step = max(1, min(_CHUNK, -(-len(images) // effective_n_jobs(self.n_jobs))))

        def work(start: int) -> None:
            here = np.ascontiguousarray(images[start : start + step])
            each = np.empty((len(here), tiles, masks, width), np.float32)
            masked_maxima(here, self._tiles, self._masks, each)
            for t in range(tiles):
                mine = slice(t * width, min((t + 1) * width, centres))
                out[start : start + step, :, mine] = each[:, t, :, : mine.stop - mine.start] * factor[:, mine]

        with threadpool_limits(1, user_api="blas"):  # a product split among threads may round differently
            starts = range(0, len(images), step)
            if len(starts) == 1:
                work(0)
            else:
                Parallel(n_jobs=self.n_jobs, backend="threading")(delayed(work)(start) for start in starts)
        return out.reshape(len(images), -1)


Pipeline = Templates


class FittedTemplates(Templates):
    """The features of given filters (F, patch, patch), masks (C, h, w) and maxima (C F,): `Templates.fitted`.

    >>> ones = np.ones((1, 2, 2), np.float32)
    >>> FittedTemplates(ones, ones, np.full(1, 4.0, np.float32))(np.full((1, 3, 3), 255, np.uint8)).tolist()
    [[1.0]]
    """

    def __init__(self, filters: np.ndarray, masks: np.ndarray, maxima: np.ndarray):
        self.options = {"patch": filters.shape[1], "centres": len(filters), "masks": len(masks)}
        self.n_jobs, self.progress = 1, False
        self._tiles = _tiled(filters.reshape(len(filters), -1))
        self._masks = masks.reshape(len(masks), -1)
        self._factor = np.divide(1, maxima, out=np.zeros_like(maxima), where=maxima > 0)


def shaped(centres: np.ndarray, kind: str) -> np.ndarray:
    """Filters (F, d) float32 from centres: "raw", of "unit" norm, or "zero_mean" and of unit norm.

    >>> shaped(np.array([[3.0, 1.0]]), "zero_mean").tolist()
    [[0.7071067690849304, -0.7071067690849304]]
    """
    filters = centres.astype(np.float64)
    if kind == "zero_mean":
        filters = filters - filters.mean(axis=1, keepdims=True)
    if kind != "raw":
        filters = filters / np.maximum(np.linalg.norm(filters, axis=1, keepdims=True), 1e-12)
    return filters.astype(np.float32)


def _tiled(filters: np.ndarray) -> np.ndarray:
    """Filters (F, d) as tiles (tiles, d, at most 256), the last one padded with zeros."""
    count = -(-len(filters) // _TILE)
    width = -(-len(filters) // (16 * count)) * 16  # whole cache lines
    padded = np.zeros((count * width, filters.shape[1]), np.float32)
    padded[: len(filters)] = filters
    return np.ascontiguousarray(padded.reshape(count, width, -1).transpose(0, 2, 1))


def gaussian_masks(shape: tuple[int, int], count: int, sigma: float, cutoff: float) -> np.ndarray:
    """(count, h w) float32: Gaussians of ``sigma`` cells with peak 1 on a square grid, 0 below ``cutoff``.

    Centres lie at linspace(2.5, 18.5, sqrt(count)) of a 22x22 map, in proportion on others. Raises BoostrunError if
    ``count`` is not a square number.

    >>> float(gaussian_masks((22, 22), 16, 5.0, 0.1).astype(bool).sum(axis=1).mean())  # cells of a mask
    235.0
    """
    side = round(count**0.5)
    if side**2 != count:
        raise BoostrunError(f"features.masks={count} is not a square number (1, 4, 9, 16, ...)")
    along = [_bells(length, side, sigma) for length in shape]
    masks = np.einsum("ah,bw->abhw", *along).reshape(count, -1)
    masks[masks < cutoff] = 0
    return masks.astype(np.float32)


def _bells(length: int, count: int, sigma: float) -> np.ndarray:
    """(count, length): one-dimensional Gaussians with evenly spaced centres."""
    margin = _MARGIN * (length - 1) / 21
    centres = np.linspace(margin, length - 1 - margin, count) if count > 1 else np.array([(length - 1) / 2])
    return np.exp(-0.5 * ((np.arange(length) - centres[:, None]) / sigma) ** 2)


@njit(cache=True, nogil=True)
def gather_windows(images, which, tops, lefts, size, out):
    """out (m, size * size) float32 <- the window of images[which] (n, h, w) uint8 at (tops, lefts), v / 255."""
    for m in range(which.shape[0]):
        for a in range(size):
            for b in range(size):
                out[m, a * size + b] = images[which[m], tops[m] + a, lefts[m] + b] * np.float32(1 / 255)


@njit(cache=True, nogil=True)
def masked_maxima(images, filters, masks, out):
    """out[i, t, c, f] <- max over positions u of (image i * filter f of tile t)(u) masks[c, u], and 0.

    The image patches times a tile of filters are one matrix product, of the same shape for every image, so that
    rounding does not depend on how images were cut into blocks.

    Parameters
    ----------
    images : uint8, (n, h, w); a pixel v counts v / 255
    filters : float32, (tiles, size * size, F), C-contiguous
    masks : float32, (C, positions), positions (h - size + 1) (w - size + 1) row by row; cells of 0 are skipped
    out : float32, (n, tiles, C, F), C-contiguous, filled

    Cost of an image: positions size^2 F tiles multiply-adds in products, and one product and one maximum for each
    filter and mask cell that is not 0. Memory: positions x (size^2 + F) floats, which for F = 256 stay in the L2 cache.
    """
    n, h, w = images.shape
    tiles, area, width = filters.shape
    size = round(area**0.5)
    rows, cols = h - size + 1, w - size + 1
    patches = np.empty((rows * cols, area), np.float32)
    responses = np.empty((rows * cols, width), np.float32)
    for i in range(n):
        for top in range(rows):
            for left in range(cols):
                for a in range(size):
                    for b in range(size):
                        patches[top * cols + left, a * size + b] = images[i, top + a, left + b] * np.float32(1 / 255)
        for t in range(tiles):
            np.dot(patches, filters[t], responses)
            _take_maxima(responses, masks, out[i, t])


@njit(cache=True, nogil=True)
def _larger(a, b):
    """The larger of ``a`` and ``b``, lane by lane; both finite."""
    return pick(b - a, np.float32(0), b, a)


@njit(cache=True, nogil=True)
def _take_maxima(responses, masks, out):
    """out (C, F) <- max over u of responses (positions, F)[u] masks (C, positions)[:, u], and 0; F a multiple of 16.

    The maxima of 64 filters stay in registers at a time, those of the last filters 16 at a time.
    """
    zero, width = spread(np.float32(0)), responses.shape[1]
    together = width - width % (4 * LANES)
    for c in range(out.shape[0]):
        mask = masks[c]
        for f in range(0, together, 4 * LANES):
            one, two, three, four = zero, zero, zero, zero
            for u in range(len(mask)):
                if mask[u] > 0:
                    weight = spread(mask[u])
                    one = _larger(one, load(responses, u, f) * weight)
                    two = _larger(two, load(responses, u, f + LANES) * weight)
                    three = _larger(three, load(responses, u, f + 2 * LANES) * weight)
                    four = _larger(four, load(responses, u, f + 3 * LANES) * weight)
            store(out, c, f, one)
            store(out, c, f + LANES, two)
            store(out, c, f + 2 * LANES, three)
            store(out, c, f + 3 * LANES, four)
        for f in range(together, width, LANES):
            one = zero
            for u in range(len(mask)):
                if mask[u] > 0:
                    one = _larger(one, load(responses, u, f) * spread(mask[u]))
            store(out, c, f, one)
