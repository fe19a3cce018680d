"""Keys of the rivals: the few that people tune, and how much each may hold."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from boostrun.config.fields import Keys, boolean, choice, integer, keys, real


@keys
class HeldKeys(Keys):
    """Keys of every rival that is handed samples all at once."""

    _: KW_ONLY
    samples_held: int | None = integer(
        None, least=2, help="train on so many of the training samples, drawn once at random; null: on all"
    )
    random_state: Any = None


@keys
class LightGBMKeys(HeldKeys):
    """Keys of LightGBM."""

    _: KW_ONLY
    n_estimators: int = integer(100, help="T: rounds, each a tree, or one for each of several classes")
    learning_rate: float = real(0.1, above=0.0, help="factor of every step")
    leaves: int = integer(31, least=2, help="leaves of a tree at most")
    min_samples_leaf: int = integer(20, help="samples in a leaf at least")
    l2: float = real(0.0, least=0.0, help="penalty on the squares of the leaves' values")
    feature_fraction: float = real(1.0, above=0.0, most=1.0, help="share of the features that a tree may look at")


@keys
class ForestKeys(HeldKeys):
    """Keys of the forests of scikit-learn."""

    _: KW_ONLY
    n_estimators: int = integer(100, help="T: trees")
    leaves: int | None = integer(None, least=2, help="leaves of a tree at most; null: until they are pure")
    min_samples_leaf: int = integer(1, help="samples in a leaf at least")
    feature_fraction: float | None = real(
        None, above=0.0, most=1.0, help="share of the features that a split looks at; null: the square root of all"
    )


@keys
class SGDKeys(Keys):
    """Keys of the linear model that forgets every sample."""

    _: KW_ONLY
    batch_size: int = integer(200, help="q: samples that are held at a time")
    loss: str = choice("log_loss", "hinge", help="what is made small, one class against the rest; hinge: a linear SVM")
    alpha: float = real(1e-4, least=0.0, help="penalty on the squares of the weights; sets the steps too")
    epochs: int = integer(5, help="passes over the training samples")
    average: bool = boolean(True, help="the weights are the mean of those of all steps")
    random_state: Any = None
