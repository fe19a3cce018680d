"""What the scores of reservoir boosting and its rivals mean: the key ``loss`` says it, or the method's own loss."""

from __future__ import annotations

from boostrun.methods.probabilities import LINKS, Link

# the loss that each online rival's coefficients minimise; the votes of the others minimise none
_ONLINE = {
    "oza": "exponential", "bisc": "exponential", "geem_oza": "exponential",  # AdaBoost's 1/2 log((1 - e) / e)
    "leistner": "logistic",
}  # fmt: skip


def of_reservoir(classifier) -> Link | str:
    """By the loss; none of reservoirs that are filled with as many positive samples as negative ones."""
    if classifier.balanced:
        return "balanced=True trains on other shares of the classes than the data have, and does not keep theirs"
    return of_full_data(classifier)


def of_full_data(classifier) -> Link | str:
    """By the loss."""
    return LINKS.get(classifier.loss) or f"loss={classifier.loss!r} is not known"


def of_online(classifier) -> Link | str:
    """By the method's own loss."""
    loss = _ONLINE.get(classifier.method)
    return LINKS[loss] if loss else f"the votes of method={classifier.method!r} minimise no loss that tells them"
