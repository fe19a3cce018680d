"""Whole-number labels of 2**63 and more, which no int64 holds, as class numbers and names."""

from __future__ import annotations

import numpy as np

from boostrun.data.dataset import Parts
from boostrun.data.labels import encode
from boostrun.errors import BoostrunError


def named(parts: Parts, name: str) -> Parts:
    """``parts`` as they are, or with classes named by their labels where some are unsigned and beyond int64.

    Raises BoostrunError for a test label that no training sample has, and for more classes than a task has.

    >>> named(Parts(np.zeros((3, 1)), np.array([2**64 - 1, 7, 7], np.uint64)), "it").classes
    ('7', '18446744073709551615')
    """
    given = [np.asarray(y) for y in (parts.y_train, parts.y_test) if y is not None]
    given = [y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y for y in given]
    if parts.classes is not None or not any(map(_is_wide, given)) or any(y.ndim != 1 for y in given):
        return parts
    if any(y.dtype.kind not in "biu" for y in given):
        raise BoostrunError(
            f"{name}: labels are whole numbers beyond 64 bits in one part and something else in another"
        )
    # as Python's integers: compared with int64, uint64 would become floats
    train, *test = (y.astype(object) for y in given)
    y_train, y_test, classes = encode(train, test[0] if test else train, name)
    refuse_many(classes, len(y_train), name)
    return parts._replace(y_train=y_train, y_test=y_test if test else None, classes=classes)


def refuse_many(classes: tuple[str, ...], samples: int, name: str) -> None:
    """Raise BoostrunError where so many training samples have too many classes: the label is another column."""
    if len(classes) > max(100, samples // 2):
        raise BoostrunError(
            f"{name}: {len(classes)} different labels in {samples} training samples; that is no classification "
            "task (is the right column taken as the label?)"
        )


def _is_wide(labels: np.ndarray) -> bool:
    return labels.dtype == np.uint64 and labels.size > 0 and int(labels.max()) > np.iinfo(np.int64).max
