"""What the scores of AdaBoost.MH mean: it minimises the exponential loss of every (sample, class)."""

from __future__ import annotations

from boostrun.methods.probabilities import LINKS, Link


def of_adaboost_mh(classifier) -> Link | str:
    """The exponential loss, of samples that weigh alike at first."""
    if classifier.init != "uniform":
        return f"init={classifier.init!r} weighs the classes otherwise than the data have them"
    return LINKS["exponential"]
