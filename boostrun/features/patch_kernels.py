"""Kernels of the Coates & Ng pipeline on plain arrays: patches, their encoding and pooling, the nearest atoms.

Every matrix product has the same shape whatever block of images it belongs to (one image, or `ROWS` patches filled up
with zeros), so that its rounding, and with it every result, does not depend on how the work was cut up.

The two heavy ones are also there in torch, for a GPU, with the same results up to float32 rounding. Their last batch is
filled up too. torch is imported when one of them is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numba import njit

from boostrun.errors import BoostrunError

ROWS = 1024  # patches per matrix product while the dictionary is learned
_BATCH = 2**28  # bytes of the products of one batch; about twice as much is held


@njit(cache=True, nogil=True)
def normalised_patch(image, top, left, size, regulariser, out):
    """out (size * size * 3,) float32 <- (x - mean) / sqrt(var + regulariser) of one patch of image (h, w, 3) uint8.

    The variance is the unbiased one, as in the authors' code. Cost O(size^2).
    """
    k = 0
    total = np.float32(0)
    for i in range(top, top + size):
        for j in range(left, left + size):
            for c in range(3):
                out[k] = image[i, j, c]
                total += out[k]
                k += 1
    mean = total / np.float32(k)
    squares = np.float32(0)
    for m in range(k):
        out[m] -= mean
        squares += out[m] * out[m]
    scale = np.float32(1) / np.sqrt(squares / np.float32(k - 1) + np.float32(regulariser))
    for m in range(k):
        out[m] *= scale


@njit(cache=True, nogil=True)
def gather_patches(images, which, tops, lefts, size, regulariser, out):
    """out (p, size * size * 3) float32 <- normalised patches at (tops, lefts) of images[which], (n, h, w, 3) uint8."""
    for p in range(which.shape[0]):
        normalised_patch(images[which[p]], tops[p], lefts[p], size, regulariser, out[p])


@njit(cache=True, nogil=True)
def encode_images(images, size, regulariser, weights, offset, threshold, out):
    """Soft-threshold encoding of all patches at stride 1, summed over four quadrants.

    With z = patch @ weights + offset: features [max(z - t, 0), max(-z - t, 0)] for K atoms, quadrant by quadrant
    (top left, top right, bottom left, bottom right; the first half takes the odd row or column, as in the authors'
    code).

    Parameters
    ----------
    images : uint8, (n, h, w, 3)
    weights : float32, (size * size * 3, K), whitening times dictionary; C-contiguous
    offset : float32, (K,), minus the whitening mean times `weights`
    out : float32, (n, 8 K), filled

    Cost: one product (positions x size^2 3) @ (.. x K) an image, and O(positions K) for threshold and pooling, in
    memory of positions x (K + size^2 3) floats.
    """
    n, height, width = images.shape[:3]
    rows, cols = height - size + 1, width - size + 1
    half_rows, half_cols = (rows + 1) // 2, (cols + 1) // 2
    atoms = weights.shape[1]
    patches = np.empty((rows * cols, weights.shape[0]), dtype=np.float32)
    z = np.empty((rows * cols, atoms), dtype=np.float32)
    zero = np.float32(0)
    for n_image in range(n):
        for i in range(rows):
            for j in range(cols):
                normalised_patch(images[n_image], i, j, size, regulariser, patches[i * cols + j])
        np.dot(patches, weights, z)
        features = out[n_image]
        features[:] = zero
        for i in range(rows):
            for j in range(cols):
                quadrant = 2 * (i >= half_rows) + (j >= half_cols)
                positive = features[2 * atoms * quadrant : 2 * atoms * quadrant + atoms]
                negative = features[2 * atoms * quadrant + atoms : 2 * atoms * (quadrant + 1)]
                row = z[i * cols + j]
                for k in range(atoms):
                    value = row[k] + offset[k]
                    positive[k] += max(value - threshold, zero)
                    negative[k] += max(-value - threshold, zero)


@njit(cache=True, nogil=True)
def strongest_atoms(patches, atoms, labels, values):
    """OMP-1 codes: for each patch the atom with the largest |atom . patch| (the first of equals) and that product.

    Parameters
    ----------
    patches : float32, (p, d), p a multiple of `ROWS`
    atoms : float32, (d, K), unit-norm columns; C-contiguous
    labels : int64, (p,), filled
    values : float32, (p,), filled

    Cost: 2 p d K operations in matrix products, and one pass over p K products.
    """
    z = np.empty((ROWS, atoms.shape[1]), dtype=np.float32)
    for start in range(0, patches.shape[0], ROWS):
        np.dot(patches[start : start + ROWS], atoms, z)
        for p in range(ROWS):
            best = 0
            largest = np.float32(-1)
            for k in range(atoms.shape[1]):
                size = abs(z[p, k])
                if size > largest:
                    largest = size
                    best = k
            labels[start + p] = best
            values[start + p] = z[p, best]


@njit(cache=True, nogil=True)
def accumulate(patches, labels, values, count, sums, used):
    """sums (K, d) float64 += values * patches by label, used (K,) int64 += patches with a product other than 0.

    Only the first `count` patches. Cost O(count d).
    """
    for p in range(count):
        if values[p] == 0:
            continue
        k = labels[p]
        used[k] += 1
        for m in range(patches.shape[1]):
            sums[k, m] += values[p] * patches[p, m]


# -- the same in torch -------------------------------------------------------------------------------------------------


def require_gpu() -> None:
    """Raise BoostrunError, in a sentence, where torch is not installed or sees no GPU."""
    try:
        import torch
    except ImportError:
        raise BoostrunError(
            "features.device=cuda needs torch, which is not installed (pip install torch); features.device=cpu does not"
        ) from None
    if not torch.cuda.is_available():
        raise BoostrunError("features.device=cuda needs a GPU, and torch sees none here; features.device=cpu does not")


def encode_images_by_torch(images, size, regulariser, weights, offset, threshold, out, device="cuda") -> None:
    """:func:`encode_images` in torch, on a device.

    Parameters
    ----------
    images : uint8, (n, h, w, 3)
    weights : float32, (size * size * 3, K)
    offset : float32, (K,)
    out : float32, (n, 8 K), filled
    device : str, torch's name of the device ("cpu" is for tests)

    Memory on the device: about 0.5 GiB, or twice the products of one image if that is more.
    """
    import torch

    height, width = images.shape[1] - size + 1, images.shape[2] - size + 1  # of the map of patches
    half_height, half_width = (height + 1) // 2, (width + 1) // 2
    batch = max(1, _BATCH // (4 * height * width * (weights.shape[1] + 2 * weights.shape[0])))
    with _full_precision(), torch.inference_mode():
        matrix, shift = torch.from_numpy(weights).to(device), torch.from_numpy(offset).to(device)
        filled = torch.zeros((batch, *images.shape[1:]), dtype=torch.uint8, device=device)
        for start in range(0, len(images), batch):
            part = torch.from_numpy(np.ascontiguousarray(images[start : start + batch]))
            filled[: len(part)] = part.to(device)
            z = torch.addmm(shift, _normalised_patches(filled, size, regulariser), matrix)
            z = z.view(batch, height, width, -1)
            sums = [
                (sign * z[:, top, left] - float(threshold)).clamp_(min=0).sum(dim=(1, 2))
                for top in (slice(half_height), slice(half_height, None))
                for left in (slice(half_width), slice(half_width, None))
                for sign in (1, -1)
            ]
            out[start : start + len(part)] = torch.cat(sums, dim=1)[: len(part)].cpu().numpy()


def strongest_atoms_by_torch(patches, atoms, labels, values, device="cuda") -> None:
    """:func:`strongest_atoms` in torch, on a device.

    Parameters
    ----------
    patches : float32, (p, d), p a multiple of `ROWS`
    atoms : float32, (d, K)
    labels : int64, (p,), filled
    values : float32, (p,), filled
    """
    import torch

    with _full_precision(), torch.inference_mode():
        columns = torch.from_numpy(atoms).to(device)
        for start in range(0, len(patches), ROWS):
            z = torch.from_numpy(patches[start : start + ROWS]).to(device) @ columns
            best = z.abs().argmax(dim=1, keepdim=True)
            labels[start : start + ROWS] = best[:, 0].cpu().numpy()
            values[start : start + ROWS] = z.gather(1, best)[:, 0].cpu().numpy()


def _normalised_patches(images, size: int, regulariser: float):
    """(n, h, w, 3) uint8 -> (n * patches of an image, size * size * 3) float32, each (x - mean) / sqrt(var + ...)."""
    patches = images.float().unfold(1, size, 1).unfold(2, size, 1)  # (n, rows, columns, 3, size, size)
    patches = patches.permute(0, 1, 2, 4, 5, 3).reshape(-1, size * size * 3)
    patches = patches - patches.mean(dim=1, keepdim=True)
    return patches.mul_((patches.square().sum(dim=1, keepdim=True) / (patches.shape[1] - 1) + regulariser).rsqrt())


@contextmanager
def _full_precision() -> Iterator[None]:
    """Products in float32 throughout, not in the GPU's shortened kind."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
