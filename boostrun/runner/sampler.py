"""What to try next, by Optuna's TPE: asked and told in a fixed order, so that a seed decides all of it.

How many rounds a number of seconds buys: of each method pilot trials of two lengths tell what a round takes, and a
trial besides its rounds. They are records as any other: who goes on later takes as many rounds.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from boostrun.config.settings import Choices, Range, Settings
from boostrun.errors import BoostrunError
from boostrun.inputs.bank import Table
from boostrun.runner.execute import run_cells

PILOTS = 20, 100  # rounds of the two
_TRIALS = 3  # of each, whose median counts: on a busy machine one alone may have waited
_MOST_ROUNDS = 10_000
_SHARE = 0.8  # of the budget that is planned with; the rest is for what varies
Keeping = Callable[[float, Mapping[str, int]], Mapping[str, Any]]


def keeping_seconds(
    words: Mapping[str, Sequence[str]], compose: Callable[[Sequence[str]], Settings], command: Sequence[str]
) -> tuple[dict[str, Keeping], list[dict]]:
    """How each method, of which the words of its settings are given, keeps a budget of seconds; and pilots' records.

    Raises BoostrunError where a pilot fails or is interrupted.
    """
    kept = {
        name: [word for word in some if word.partition("=")[0] not in ("T", "trials")] for name, some in words.items()
    }
    pilots = [compose([*some, f"T={rounds}", f"trials={_TRIALS}"]) for some in kept.values() for rounds in PILOTS]
    cells = run_cells(pilots, command=command).cells if pilots else []
    found: dict[str, Keeping] = {}
    for number, name in enumerate(kept):
        done = [cell.done for cell in cells[2 * number : 2 * number + 2]]
        if not all(done):
            raise BoostrunError(f"the pilot trials of {name} were not finished: its seconds are not known")
        found[name] = rounds_in(*(median(record["cost"]["train_seconds"] for record in each) for each in done))
    return found, [record for cell in cells for record in cell.done]


def rounds_in(few: float, many: float) -> Keeping:
    """As many rounds as the budget buys, a fifth of it kept back, where the pilots took ``few`` and ``many`` seconds.

    A trial takes a constant and so much a round; where the shorter pilot took as long or longer, nothing is constant.

    >>> told = rounds_in(1.2, 2.0)  # a second, and 0.01 a round
    >>> told(2.0, {}), told(10.0, {})
    ({'T': 60}, {'T': 700})
    """
    a_round = (many - few) / (PILOTS[1] - PILOTS[0])
    constant = few - PILOTS[0] * a_round
    if a_round <= 0 or constant < 0:
        a_round, constant = max(few / PILOTS[0], many / PILOTS[1]), 0.0

    def told(budget: float, facts: Mapping[str, int]) -> dict[str, Any]:
        rounds = int((_SHARE * budget - constant) / a_round + 1e-9)
        if rounds < 1:
            besides = f", and a trial {constant:.2g} s besides" if constant else ""
            raise BoostrunError(f"a round takes {a_round:.2g} s{besides}")
        return {"T": min(rounds, _MOST_ROUNDS)}

    return told


_STEPS = (1, 2, 5)
_FIRST = {"samples_held": 50, "features": 5, "model_bytes": 1000, "seconds": 0.1}  # the least budget of a grid
_MOST = 6  # budgets of a grid


def grid(kind: str, facts: Mapping[str, int], quick: bool = False) -> list[float]:
    """Six budgets in logarithmic steps, as far as the data go; every other one where it is to be quick.

    >>> facts = {"n_samples": 1438, "n_features": 64, "n_classes": 10}
    >>> grid("samples_held", facts), grid("features", facts), grid("samples_held", facts, quick=True)
    ([50, 100, 200, 500, 1000, 1438], [5, 10, 20, 50, 64], [50, 200, 1000])
    >>> grid("evaluations", facts)
    [100000, 200000, 500000, 1000000, 2000000, 5000000]
    """
    most = {"samples_held": facts["n_samples"], "features": facts["n_features"]}.get(kind, math.inf)
    if kind == "samples_held":
        least: float = max(_FIRST[kind], 2 * facts["n_classes"])
    else:
        least = _FIRST.get(kind, 50 * facts["n_samples"])
    steps = [step for step in _rounded(least) if step < most][:_MOST]
    if len(steps) < _MOST and most < math.inf:
        steps.append(most)
    return steps[::2] if quick else steps


def _rounded(least: float) -> list[float]:
    """Numbers 1, 2, 5, 10, 20, ... from the first of at least ``least`` on."""
    power = math.floor(math.log10(least))
    found = [float(f"{step}e{power + more}") for more in range(4) for step in _STEPS]
    return [int(each) if each.is_integer() else each for each in found if each >= least][:_MOST]


def facts_of(table: Table, whole: Table | None = None) -> dict[str, int]:
    """What the training part of a table is like: ``n_samples``, ``n_features``, ``n_classes``, ``n_families``; and
    ``n_training``, the samples of the ``whole`` where some of them are held out.
    """
    whole = whole or table
    n, d = whole.inputs("train").shape  # of the whole, which is not copied
    return {
        "n_samples": len(table.labels("train")),
        "n_features": int(d),
        "n_classes": len(table.classes),
        "n_families": max(1, len(table.families)),
        "n_training": int(n),
    }


_DIGITS = 4  # of a number that is tried: it can be typed again


def optuna() -> Any:
    """The package, or BoostrunError where it is not installed."""
    try:
        import optuna
    except ImportError:
        raise BoostrunError("boostrun tune needs Optuna: pip install 'boostrun[tuning]'") from None
    return optuna


def version() -> str:
    """That of Optuna: another one may ask for other values."""
    return optuna().__version__


class Sampler:
    """Values for the keys of ``space``, as many at a time as are asked for, by what was told of those before.

    Parameters
    ----------
    space : key -> what is searched
    usual : key -> its value where nothing is searched, of all keys that stand in ``space`` or in a ``when`` of it
    seed : int

    The first of all is what is usual. What is asked for follows from the seed and from what was told, in its order.
    Nothing is kept on a disk: who has the losses that were told before gets the same again. Cost: a few ms a trial.

    >>> sampler = Sampler({"shrinkage": Range(0.01, 1.0, log=True)}, {"shrinkage": 0.5}, seed=0)
    >>> sampler.ask(2)
    [{'shrinkage': 0.5}, {'shrinkage': 0.1252}]
    >>> sampler.tell([3.0, 2.0])
    """

    def __init__(self, space: Mapping[str, Range | Choices], usual: Mapping[str, Any], seed: int) -> None:
        self.space, self.usual = space, usual
        self._optuna = optuna()
        self._begun = False
        self._asked: list[Any] = []
        level = self._optuna.logging.get_verbosity()
        self._optuna.logging.set_verbosity(self._optuna.logging.WARNING)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the liar is experimental, in older versions
            tpe = self._optuna.samplers.TPESampler(seed=seed, constant_liar=True)
            self._study = self._optuna.create_study(sampler=tpe)
        self._optuna.logging.set_verbosity(level)

    def ask(self, count: int) -> list[dict[str, Any]]:
        """The next ``count`` combinations of values, key -> value; of a key that has no effect there is none."""
        found = []
        for _ in range(count):
            if not self._begun:
                self._begun = True
                self._asked.append(None)
                found.append(self._usual())
            else:
                self._asked.append(self._study.ask())
                found.append(self._suggested(self._asked[-1]))
        return found

    def tell(self, losses: Sequence[float | None]) -> None:
        """The loss of each that was asked for last, in that order; None where it has none."""
        for trial, loss in zip(self._asked, losses, strict=True):
            if trial is None:
                self._tell_usual(loss)
            elif loss is None:
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            else:
                self._study.tell(trial, loss)
        self._asked.clear()

    def _usual(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key in self.space:
            if self._has_effect(key, values):
                values[key] = self.usual[key]
        return values

    def _suggested(self, trial: Any) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, one in self.space.items():
            if not self._has_effect(key, values):
                continue
            if isinstance(one, Choices):
                values[key] = trial.suggest_categorical(key, one.values)
            elif one.whole:
                values[key] = trial.suggest_int(key, one.low, one.high, log=one.log)
            else:
                found = trial.suggest_float(key, one.low, one.high, log=one.log)
                values[key] = min(max(float(f"{found:.{_DIGITS}g}"), one.low), one.high)
        return values

    def _has_effect(self, key: str, values: Mapping[str, Any]) -> bool:
        return all({**self.usual, **values}.get(other) == wanted for other, wanted in self.space[key].when.items())

    def _tell_usual(self, loss: float | None) -> None:
        """What is usual counts among what was tried, where it lies in the space."""
        values = self._usual()
        if loss is None or not all(_holds(self.space[key], value) for key, value in values.items()):
            return
        distributions = {key: self._distribution(self.space[key]) for key in values}
        made = self._optuna.trial.create_trial(params=values, distributions=distributions, value=loss)
        self._study.add_trial(made)

    def _distribution(self, one: Range | Choices) -> Any:
        kinds = self._optuna.distributions
        if isinstance(one, Choices):
            return kinds.CategoricalDistribution(one.values)
        kind = kinds.IntDistribution if one.whole else kinds.FloatDistribution
        return kind(one.low, one.high, log=one.log)


def _holds(one: Range | Choices, value: Any) -> bool:
    if isinstance(one, Choices):
        return any(value is each or (type(value) is type(each) and value == each) for each in one.values)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and one.low <= value <= one.high
