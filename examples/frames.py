"""A feature family of your own: the mean of each of the square frames that an image is made of, and their contrasts.

It is a function of images, (n, h, w) or (n, h, w, 3), and of its keys; it returns columns, (n, d). boostrun bins them,
keeps them in a bank, and gives every algorithm their codes.
"""

import numpy as np


def frames(images: np.ndarray, contrasts: bool = True):
    """Means of the frames from the border to the centre, min(h, w) / 2 of them.

    With ``contrasts``, also the difference of each frame to the next.
    """
    if images.ndim not in (3, 4):
        raise ValueError(f"frames takes images, (n, h, w) or (n, h, w, 3), not the shape {images.shape}")
    grey = images if images.ndim == 3 else images.mean(axis=3)
    h, w = grey.shape[1:]
    rows, columns = np.indices((h, w))
    frame = np.minimum(np.minimum(rows, h - 1 - rows), np.minimum(columns, w - 1 - columns))
    means = np.column_stack([grey[:, frame == k].mean(axis=1) for k in range(frame.max() + 1)])
    return np.hstack([means, -np.diff(means, axis=1)]) if contrasts else means
