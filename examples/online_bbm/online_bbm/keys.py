"""Keys of all that the paper brings: default, range and meaning of each, said once. Nothing heavy is imported."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from boostrun.config.fields import Keys, choice, integer, keys, real, renamed
from boostrun.data.keys import DriftingStreamKeys
from boostrun.features.keys import FeatureKeys
from boostrun.papers.adaptive.keys import BanditKeys

_STREAM = DriftingStreamKeys.__dataclass_fields__


@keys
class OnlineBoostingKeys(Keys):
    """Keys of both online boosters: N learners and their kind."""

    n_learners: int = integer(20, help="T: weak learners, the paper's N")
    _: KW_ONLY
    base: str = choice(
        "nb", "perceptron", help="Gaussian naive Bayes, or a perceptron on features standardised by the stream so far"
    )
    max_features: int | None = integer(
        None, help="features each learner looks at, drawn at random; none: all; 1 makes naive Bayes a stump"
    )
    var_floor: float = real(
        0.01, least=0.0, help="share of a feature's variance that is added to every variance of naive Bayes"
    )
    random_state: Any = None


@keys
class AdaBoostOLKeys(OnlineBoostingKeys):
    """Keys of AdaBoost.OL (Algorithm 2)."""

    _: KW_ONLY
    follow: str = choice(
        "expert", "majority",
        help="the expert drawn by its record, as printed, or the vote of all weighted by it, without chance",
    )  # fmt: skip


@keys
class OnlineBBMKeys(OnlineBoostingKeys):
    """Keys of Online BBM (Algorithm 1)."""

    _: KW_ONLY
    edge: float = real(
        0.1, above=0.0, below=1.0, help="gamma: learners are right on a share 1/2 + edge/2 of their weighted examples"
    )


@keys
class SmallMarginsKeys(Keys):
    """Keys of the strategy."""

    pool: float = real(2.0, least=1.0, help="candidates are so many times r samples, those with the smallest |score|")
    columns: int = integer(64, help="features, drawn anew each round, in which distances are measured")


@keys
class ThompsonKeys(BanditKeys):
    """Keys of the policy."""

    prior: str = choice("beta", "gaussian", help="of an arm's mean reward")


@dataclass
class Hyperplane(DriftingStreamKeys):
    """A hyperplane that turns, tested example by example, each before it is learnt."""

    n_samples: int = integer(50_000, help="examples")
    n_features: int = integer(10, help="of which each is uniform in [0, 1)")
    n_drifting: int = integer(2, least=0, help="features whose weights move")
    magnitude: float = real(0.001, least=0.0, help="by how much each of them moves after an example")
    flip: float = real(0.1, least=0.0, most=1.0, help="probability that a weight then reverses its direction")
    noise: float = real(0.05, least=0.0, most=1.0, help="share of the labels that are exchanged")
    window: int = renamed(_STREAM["window"], default=1000)
    curve_every: int = renamed(_STREAM["curve_every"], default=1000)


@dataclass
class TernaryPatterns(FeatureKeys):
    """Histograms of local ternary patterns."""

    threshold: int = integer(5, help="levels by which a neighbour is brighter or darker at least")
    cells: int = integer(2, help="the image is divided into cells x cells parts, which have histograms of their own")
