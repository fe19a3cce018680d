"""The two heavy kernels of the Coates & Ng pipeline in torch, for a GPU; the same results up to float32 rounding.

As in `patch_kernels`, every matrix product has one shape whatever the block of images (the last batch is filled up
too), so that results do not depend on how the work was cut up. torch is imported when a function here is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.features.patch_kernels import ROWS

_BATCH = 2**28  # bytes of the products of one batch; about twice as much is held


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


def encode_images(images, size, regulariser, weights, offset, threshold, out, device="cuda") -> None:
    """`patch_kernels.encode_images` on a device.

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


def strongest_atoms(patches, atoms, labels, values, device="cuda") -> None:
    """`patch_kernels.strongest_atoms` on a device.

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
