"""Labels: whatever a file holds becomes indices 0..K-1 and names; and the split by class."""

from __future__ import annotations

import numpy as np

from boostrun.data.dataset import Parts
from boostrun.errors import BoostrunError


def names_of(labels: np.ndarray, where: str) -> np.ndarray:
    """Labels of any kind as comparable values: int64, or text.

    Parameters
    ----------
    labels : ndarray, (n,) or (n, 1)
        bool, integers, floats with integral values, or text.
    where : str
        What the message calls them, e.g. "y_train of digits.npz".

    >>> names_of(np.array([0.0, 1.0]), "y")
    array([0, 1])
    """
    labels = np.asarray(labels)
    if labels.ndim == 2 and labels.shape[1] == 1:  # Keras keeps CIFAR's labels so
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise BoostrunError(f"{where} must hold one label per sample, shape (n,), not {labels.shape}")
    kind = labels.dtype.kind
    if kind in "biu":
        return labels.astype(np.int64)
    if kind == "f":
        if not np.isfinite(labels).all():
            raise BoostrunError(f"{where} holds {int((~np.isfinite(labels)).sum())} labels that are NaN or infinite")
        if (labels != np.floor(labels)).any() or (np.abs(labels) >= 2.0**62).any():
            odd = labels[labels != np.floor(labels)]
            raise BoostrunError(
                f"{where} holds labels that are no whole numbers (first: {odd[0] if len(odd) else labels.max()}); "
                "boostrun classifies, so labels must be classes: integers or text"
            )
        return labels.astype(np.int64)
    if kind in "US":
        return np.char.decode(labels, "utf-8", "replace") if kind == "S" else labels
    if kind == "O":
        return np.asarray([str(value) for value in labels])
    raise BoostrunError(f"{where} has the type {labels.dtype}; labels must be integers or text")


def encode(y_train: np.ndarray, y_test: np.ndarray, where: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Indices into the sorted class names of the training part.

    Returns
    -------
    (n_train,) int64, (n_test,) int64, class names in sorted order (numbers by value)

    >>> encode(np.array(["b", "a"]), np.array(["a"]), "letters")
    (array([1, 0]), array([0]), ('a', 'b'))
    """
    if y_train.dtype.kind != y_test.dtype.kind:
        y_train, y_test = y_train.astype(str), y_test.astype(str)
    values, train = np.unique(y_train, return_inverse=True)
    test = np.searchsorted(values, y_test)
    unseen = values[np.minimum(test, len(values) - 1)] != y_test
    if unseen.any():
        raise BoostrunError(
            f"{where}: {int(unseen.sum())} test samples have labels that no training sample has "
            f"(first: {y_test[unseen][0]}), so nothing could learn them"
        )
    return train.astype(np.int64), test.astype(np.int64), tuple(str(v) for v in values)


def stratified(labels: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Split by class: of each class round(fraction * size) test samples, at least one and never all.

    A class with a single sample goes to training. The same labels and seed give the same split on every machine.

    Parameters
    ----------
    labels : ndarray, (n,)
    fraction : float, the share of the test part
    seed : int

    Returns
    -------
    train, test : ndarray of int64, increasing indices

    >>> train, test = stratified(np.array([0, 0, 0, 1, 1, 1]), 0.33, seed=0)
    >>> len(train), len(test)
    (4, 2)
    """
    _, classes = np.unique(labels, return_inverse=True)
    shuffled = np.random.default_rng(np.random.SeedSequence(seed)).permutation(len(labels))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    sizes = np.bincount(classes)
    taken = np.minimum(np.maximum(np.rint(fraction * sizes), 1), sizes - 1).astype(np.int64)
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    position = np.arange(len(labels)) - np.repeat(first, sizes)
    is_test = position < np.repeat(taken, sizes)
    return np.sort(by_class[~is_test]), np.sort(by_class[is_test])


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
