"""The methods that a search within budgets may choose, with the settings that keep the budgets."""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from boostrun.config import catalogue
from boostrun.config.fields import Range
from boostrun.config.words import single_values, with_words
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.methods.declaration import Method, obtain
from boostrun.runner.meters import first_rounds
from boostrun.runner.search import BY
from boostrun.runner.wide import Request

KEYS = {"held": "samples_held", "features": "features"}  # budgets that keys of a method keep
_MOST = {"T", "r", "q", "algo.samples_held", "algo.features_used"}  # keys whose values are limits from above
_SMALL_TREES = {"leaves": 4, "depth": 2}  # with which a search under a budget of flash or latency begins


@dataclass
class Contender:
    """A method within the budgets: ``words`` of its settings, and the keys that keep budgets: ``limits`` for all
    training rows, ``searched`` for those that a search trains on, ``confirming`` with twice as many held out. ``saved``
    says whether its model can be kept and measured. ``rounds``: a search begins with so many; 0, as usual; and with the
    values ``begin``.
    """

    name: str
    words: list[str]
    limits: dict[str, Any]
    searched: dict[str, Any]
    saved: bool
    confirming: dict[str, Any] = field(default_factory=dict)
    rounds: int = 0
    begin: dict[str, Any] = field(default_factory=dict)

    def give_rounds(self, rounds: int) -> None:
        """Start with this many rounds, or fewer if a budget fixes them."""
        if "T" not in self.searched:
            self.rounds = rounds
            return
        for keys in (self.searched, self.limits, self.confirming):
            keys["T"] = min(rounds, keys.get("T", rounds))

    @property
    def kind(self) -> str:
        """The class of its models."""
        return catalogue.methods()[self.name].target


def _portfolio(budgets: Collection[str]) -> list[str]:
    """The methods that papers and rivals name for the frontiers of such budgets."""
    wanted = ["features", "model_bytes", "seconds"]
    if "held" in budgets:
        wanted.insert(0, "samples_held")
    names: dict[str, None] = {}
    for kind in wanted:
        for paper in catalogue.papers().values():
            names |= dict.fromkeys(paper.frontier.get(kind, ()))
    return list(names)


@dataclass
class Tried:
    """Settings that were tried: a contender with ``values``, its ``error`` on held-out rows, and its costs.

    ``loss`` is the error, or larger than any for settings that spend too much. ``confirmed``: the error is the mean of
    that and another one, with more rows held out. ``share`` is that of a budget that it spent, the largest of them.
    """

    contender: Contender
    values: dict[str, Any]
    loss: float
    row: Mapping[str, Any] = field(default_factory=dict)
    confirmed: bool = False
    share: float = 0.0
    error: float = math.nan

    def __post_init__(self) -> None:
        self.error = self.row.get(BY, self.loss)

    @property
    def order(self) -> tuple[bool, float, float]:
        """The better, the less: confirmed ones first; of equal ones that which spends less."""
        return not self.confirmed, self.loss, self.share


ORDER = operator.attrgetter("order")


def contenders_of(
    request: Request, compose: Any, facts: Mapping[str, int], part: Mapping[str, int], half: Mapping[str, int]
) -> tuple[list[Contender], dict[str, str]]:
    """The contenders, and for other methods why they are none.

    Sizes: ``facts`` of the training rows, ``part`` of those that trials train on, ``half`` of those with which trials
    are confirmed.
    """
    found, without, typed, odd = [], dict[str, str](), single_values(request.words), list[BoostrunError]()
    for name in request.algos or _portfolio(request.budgets):
        method = catalogue.methods().get(name)
        if method is None:
            raise BoostrunError(f"no algo '{name}'{did_you_mean(name, catalogue.methods())} (boostrun ls algo)")
        try:
            words = [*request.words, f"algo={name}"]
            if "flash" in request.budgets and _is_linear(method) and not any(w.startswith("features=") for w in words):
                words.append("features=linear")  # the edges of bins take half a kB for each feature
            try:
                compose(words)
            except BoostrunError as error:
                odd.append(error)
                raise
            getattr(obtain(method.target), "installed", lambda: None)()
            if "held" not in request.budgets and {"r", "q"} & set(method.budget) and not request.algos:
                raise BoostrunError("it holds few samples, and held is no budget")
            limits, searched, confirming = (_limits(name, request.budgets, each) for each in (facts, part, half))
            for each in (limits, searched, confirming):
                for key in each.keys() & typed.keys():  # what is typed stays, within the budgets
                    if key not in _MOST:
                        del each[key]
                    elif isinstance(typed[key], int):
                        each[key] = min(each[key], typed[key])
            for each in (limits, searched):
                compose(with_words(words, each))
        except BoostrunError as error:
            without[name] = str(error)
            continue
        saved = {"npz", "c"} <= method.exports
        one = Contender(name, words, limits, searched, saved, confirming)
        begun = with_words(one.words, one.searched)
        rounds, most = compose(begun).budget.get("T"), first_rounds(request.budgets, facts["n_classes"])
        if rounds and most < rounds:
            one.give_rounds(most)
            one.begin = {
                f"algo.{key}": value for key, value in _SMALL_TREES.items()
                if isinstance(declared := method.search.get(key), Range) and not declared.when
            }  # fmt: skip
        found.append(one)
    if odd and len(odd) == len(without) and not found:  # words that no method takes
        raise odd[0]
    if "held" not in request.budgets:  # rivals compile nothing; ours are made for few samples
        found.sort(key=lambda one: not _is_rival(catalogue.methods()[one.name]))
    return found, without


def _is_rival(method: Method) -> bool:
    return catalogue.papers()[method.paper].rivals


def _is_linear(method: Method) -> bool:
    """Whether a method takes values, and is none of the rivals that grow by rounds."""
    return "values" in method.inputs and not (_is_rival(method) and "T" in method.budget)


def _limits(name: str, budgets: Mapping[str, float], facts: Mapping[str, int]) -> dict[str, Any]:
    """The keys with which a method keeps the budgets that keys can keep; BoostrunError if it cannot."""
    method, found = catalogue.methods()[name], dict[str, Any]()
    for kind, key in KEYS.items():
        if kind not in budgets:
            continue
        amount = budgets[kind]
        if key in method.keeps:
            with contextlib.suppress(BoostrunError) if kind == "held" else contextlib.nullcontext():
                found |= _merged(found, obtain(method.keeps[key])(amount, facts))
                continue
        if kind != "held":
            raise BoostrunError(f"it keeps no budget of {kind}")
        if amount < facts["n_samples"]:
            found |= {"train_samples": int(amount)}
    return found


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = {key: min(value, one[key]) if key in one else value for key, value in other.items()}
    return {**one, **both}
