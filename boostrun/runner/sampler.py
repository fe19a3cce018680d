"""What to try next, by Optuna's TPE: asked and told in a fixed order, so that a seed decides all of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from boostrun.config.ranges import Choices, Range
from boostrun.errors import BoostrunError

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
