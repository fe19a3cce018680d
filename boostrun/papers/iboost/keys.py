"""Keys of the methods and streams of the paper: default, range and meaning of each, said once."""

from __future__ import annotations

from typing import Any

from boostrun.config.fields import Keys, boolean, choice, integer, keys, real

_STEP = "step size; none: 0.003 stochastic, 0.001 batch"
_LEAST_ERROR = "errors below it count as it, a shrinkage; none: 0.2 for stumps, 0.3 for naive Bayes and trees"


@keys
class IBoostKeys(Keys):
    """Keys of IBoost."""

    n_window: int = integer(200, help="n: the newest examples that are kept")
    budget: int = integer(200, help="M: classifiers at most")
    period: int = integer(1, help="p: examples from one addition to the next")
    n_steps: int = integer(5, least=0, help="b: gradient steps an example; 0 leaves coefficients as they were fitted")
    update: str = choice("stochastic", "batch", help="steps on one example, or on the whole window")
    base: str = choice("stump", "gnb", "bnb", help="decision stump, Gaussian or Bernoulli (x > 0) naive Bayes")
    example: str = choice("newest", "random", help="the example of a stochastic step")
    eta: float | None = real(None, above=0.0, help=_STEP)
    grad_cap: float | None = real(
        1.0,
        above=0.0,
        optional=True,
        help="largest weight in a gradient step: the loss then has a linear tail; none is the method as printed, whose "
        "coefficients can grow without bound",
    )
    eps_min: float | None = real(None, least=0.0, below=0.5, help=_LEAST_ERROR)
    gradient: str = choice("plain", "log", help="log: batch steps divided by the cost, descent on its logarithm")
    scale: str = choice("half", "literal", help="literal: coefficients ln((1 - e) / e) as printed, twice the minimiser")
    update_every: str = choice("1", "p", help="steps at every example, or at additions only")
    adds_per_event: int = integer(1, help="classifiers added every p examples")
    remove: str = choice("smallest", "oldest", help="what goes for a newcomer when the budget is full")
    flip_bad: bool = boolean(
        False, help="a naive Bayes of two classes worse than chance enters with its answers exchanged"
    )
    multiclass: str = choice(
        "samme", "ovr", help="more than two classes: SAMME's code vectors, or one against the rest"
    )
    var_floor: float = real(1e-3, above=0.0, help="share of a feature's variance added to every variance of gnb")
    random_state: Any = None
