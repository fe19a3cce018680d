"""Bytes of flash: the meter of a model, and trials of a method as a predictor of whole numbers within so many bytes;
and about how long a prediction takes.

The key ``algo.flash_bytes`` of a method makes :class:`OnChip` its evaluation. The method is trained with few rounds,
then with as many as fit, as the predictor is that ``boostrun export --to c --integer`` writes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.evaluation import Evaluation, Result, Seeds
from boostrun.evaluation.staged import accuracy_pct
from boostrun.export.chip import Size, laid_out, size_of, sizes, within
from boostrun.export.forms import LinearForm, TreeForm, is_leaf, real_form, real_scores, splits_of
from boostrun.export.integer import IntegerModel, decided, quantised
from boostrun.export.parts import Saved
from boostrun.methods.preparation import PREFIX, bank_inputs
from boostrun.methods.probabilities import declared_for

MOST_ROWS = 10_000  # on which bits are chosen
_SPLITS = 30_000  # of a model without rows: if it has more, its first rounds are counted, and the others in proportion
_TRIES = 12  # numbers of rounds that are counted in search of the largest one that fits
_NEAR = 0.98  # of a budget that is spent well enough
_FIRST = 8  # a method is first trained with an eighth of its rounds: a few may be too many already
_MORE = 1.2  # times the rounds that seem to fit are trained next, twice as many at least, and cut
_LESS = 0.8  # times as many rounds, from cut to cut: fewer rounds may make larger trees


class Flash(NamedTuple):
    """Bytes of a predictor of whole numbers: ``tables`` and ``code`` in flash, ``ram`` of a prediction; how many of
    ``rows`` get another label than the model in real numbers gives them.
    """

    tables: int
    code: int
    ram: int
    lost: int
    rows: int

    @property
    def bytes(self) -> int:
        """Bytes of flash."""
        return self.tables + self.code


def flash(saved: Saved, samples: np.ndarray | None = None) -> Flash:
    """The flash of a model as ``boostrun export m.npz rows.csv --to c --integer`` writes it: the same code for ours and
    for trees of other libraries, 8 or 16 bits a number as ``samples`` (n, d) of raw rows need.

    Without samples they are drawn around the thresholds; of a model of more than 30,000 splits as many rounds as have
    so few are then counted, and the others in proportion. Raises BoostrunError for a kind of model that has no such
    predictor.
    """
    form = real_form(saved)
    if samples is not None:
        model = quantised(saved, samples, form=form, fits=within(None))
        size = sizes(model, laid_out(model))
        return Flash(size.tables, size.code, size.ram, model.lost, model.rows_seen)
    if isinstance(form, LinearForm):
        return Flash(*size_of(saved)[:3], 0, 0)
    splits = sum(len(splits_of(tree)) for tree in form.trees)
    part = first_rounds(form, max(1, rounds_of(form) * _SPLITS // max(splits, _SPLITS)))
    model = quantised(saved, form=part)
    size, counted = sizes(model, laid_out(model)), sum(len(splits_of(tree)) for tree in part.trees)
    return Flash(round(size.tables * splits / max(counted, 1)), size.code, size.ram, 0, 0)


def saved_of_table(model: Any, table: Any) -> Saved | None:
    """An estimator fitted to a table as its file would hold it; None if its kind has no predictor in other languages.

    Classes are the names of the class numbers that it has met.
    """
    make = declared_for(model, "kept")
    kept = model if make is None else make(model)
    learned = getattr(kept, "_model", None)
    kind = f"boostrun.{type(learned).__name__}/1"
    if kind not in catalogue.models():
        return None
    inputs = {name.removeprefix(PREFIX): array for name, array in bank_inputs(table.bank).items()}
    names = [str(table.classes[number]) for number in _numbers(model, table)]
    return Saved(learned, names, table.bank.n_features, inputs, kind)


def _numbers(model: Any, table: Any) -> np.ndarray:
    """The class numbers of a table that a model has met, in its order."""
    found = getattr(model, "classes_", None)
    return np.arange(len(table.classes)) if found is None else np.asarray(found)


def flash_of(model: Any, table: Any) -> int | None:
    """As :func:`flash`, of an estimator fitted to a table; None if its model has no predictor of whole numbers."""
    saved = saved_of_table(model, table)
    with contextlib.suppress(BoostrunError):
        return None if saved is None else flash(saved).bytes
    return None


def microseconds_of(model: Any, table: Any) -> float | None:
    """The time of a prediction by the C predictor, about, of an estimator fitted to a table: for a search, which cannot
    compile every model. None if the model has no predictor of whole numbers.

    A tree takes 1.2 ns, a leaf of several numbers 1 ns for each, and a comparison below the first 12 ns, times the
    share of samples that come there if half go each way. Measured on one machine, where 18 models of stumps, votes and
    trees took 0.5 to 3.1 times as long.
    """
    saved = saved_of_table(model, table)
    if saved is None:
        return None
    try:
        form = real_form(saved)
    except BoostrunError:
        return None
    if isinstance(form, LinearForm):
        return 0.001 * form.weights.size
    nanoseconds = 0.0
    for tree, row in zip(form.trees, form.rows):
        nanoseconds += 1.2 + len(form.base) * (row < 0)
        waiting = [] if is_leaf(tree) else [(tree[2], 6.0), (tree[3], 6.0)]
        while waiting:
            one, share = waiting.pop()
            if not is_leaf(one):
                nanoseconds += share
                waiting += [(one[2], share / 2), (one[3], share / 2)]
    return 0.001 * nanoseconds


# -- fewer rounds ------------------------------------------------------------------------------------------------------


def rounds_of(form: TreeForm) -> int:
    """The trees of a row, which is the number of rounds."""
    return int(np.bincount(np.maximum(form.rows, 0)).max(initial=0))


def first_rounds(form: TreeForm, rounds: int) -> TreeForm:
    """The first ``rounds`` trees of each row."""
    seen: dict[int, int] = {}
    kept = []
    for number, row in enumerate(form.rows):
        seen[row] = seen.get(row, 0) + 1
        if seen[row] <= rounds:
            kept.append(number)
    return dataclasses.replace(form, trees=[form.trees[n] for n in kept], rows=[form.rows[n] for n in kept])


def most_rounds(taken: Callable[[int], int], rounds: int, most: int) -> int:
    """The largest number of ``rounds`` or fewer of which ``taken`` is at most ``most``, or one that takes 98 % of it.

    At most twelve numbers are looked at, by false position: ``taken`` grows about as a constant and a share per round.
    Raises BoostrunError, with the smallest, if one round takes more.

    >>> most_rounds(lambda rounds: 300 + 7 * rounds, 100, 500), most_rounds(lambda rounds: 300 + 7 * rounds, 10, 500)
    (28, 10)
    """
    low, high, guess = 0, rounds + 1, min(rounds, 8)
    at = [(0, 0.0)]
    for _ in range(_TRIES):
        found = taken(guess)
        at.append((guess, found))
        low, high = (guess, high) if found <= most else (low, guess)
        if high - low == 1 or (low == guess and found >= _NEAR * most):
            break
        (one, before), (two, after) = sorted(at, key=lambda pair: abs(pair[1] - most))[:2]
        slope = (after - before) / (two - one)
        ahead = guess + (most - found) / slope if slope > 0 else (low + high) / 2
        guess = min(max(int(ahead), low + 1), high - 1)
    if not low:
        raise BoostrunError(f"algo.flash_bytes={most}: the smallest model has {taken(1)}")
    return low


# -- trials ------------------------------------------------------------------------------------------------------------


class OnChip:
    """The evaluation of a method, on a table, as a predictor of whole numbers within so many bytes of flash.

    Error and accuracy are those of the predictor on raw test rows. The metric ``real_accuracy_pct`` is that of the same
    rounds in real numbers, and ``cost`` has ``flash_bytes`` and ``rounds_kept`` too, and the seconds of the last
    training alone. Bits are chosen on the first 10,000 training rows, among those that fit. The fitted
    estimator has the rounds that were kept, and ``right_on_chip_``: (n,) bool, which test rows the predictor has right.

    Parameters
    ----------
    evaluation : Evaluation, of the method
    most : int, bytes of flash
    rounds : str, the estimator's parameter for its number of rounds
    dataset : mapping, the trial's data set, whose files are read for raw rows
    data_root : Path, the folder of the data sets
    """

    def __init__(self, evaluation: Evaluation, most: int, rounds: str, dataset: Mapping[str, Any], data_root: Path):
        self.evaluation, self.most, self.rounds = evaluation, most, rounds
        self.read = functools.partial(_raw, json.dumps(dict(dataset), sort_keys=True), data_root)

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Train ``model`` with as many rounds as fit, its own number at most, and test it.

        Raises BoostrunError for a model without such a predictor, and for bytes that no round fits into.
        """
        most = getattr(model, self.rounds)
        rounds, share = max(1, most // _FIRST), 1.0
        while True:
            result = self.evaluation.run(model.set_params(**{self.rounds: rounds}), data, seeds)
            saved = saved_of_table(model, data)
            if saved is None:
                raise BoostrunError(f"a model of {type(model).__name__} has no integer predictor: use another method")
            train, test = (self._rows(data, part, saved) for part in ("train", "test"))
            form, made = real_form(saved), _made(saved, train[:MOST_ROWS], self.most)
            kept = self._kept(form, rounds, made)
            if kept < rounds:
                most = rounds = max(1, int(share * kept))
                share *= _LESS
                continue
            chip, size = made(form)
            if rounds == most or size.flash >= _NEAR * self.most:
                break
            more = _MORE * rounds * (self.most - size.code) / max(size.tables, 1)
            rounds = min(most, max(int(more), 2 * rounds))
        numbers, truth = _numbers(model, data), data.labels("test")
        said = numbers[chip.predict(chip.codes(test))]
        model.right_on_chip_, accuracy = said == truth, accuracy_pct(said, truth)
        real = numbers[decided(real_scores(form, test, saved.missing))]
        metrics = {
            **result["metrics"], "test_accuracy_pct": accuracy, "test_error_pct": 100.0 - accuracy,
            "real_accuracy_pct": accuracy_pct(real, truth),
        }  # fmt: skip
        cost = {**result["cost"], "flash_bytes": size.flash, "rounds_kept": rounds}
        return {"metrics": metrics, "cost": cost, "curve": result["curve"]}

    def _rows(self, data: Any, part: str, saved: Saved) -> np.ndarray:
        """(n, d) raw rows of a part of a table; NaN where a value is missing."""
        chosen = data.rows.get(part)
        rows = self.read()[part == "test" and chosen is None]
        rows = rows if chosen is None else rows[chosen]
        if not len(saved.missing):
            return rows
        return np.where(np.isinf(rows[:, : saved.raw_width]), np.nan, rows[:, : saved.raw_width])

    def _kept(self, form: Any, rounds: int, made: Callable[[Any], tuple[IntegerModel, Size]]) -> int:
        """How many of ``rounds`` fit."""
        if isinstance(form, LinearForm):  # a round is a column, and a byte or two for each score
            size, whole = made(form)[1], rounds
            found = most_rounds(lambda n: size.code + size.tables * n // rounds, rounds, self.most)
        else:
            whole = rounds_of(form)
            parts = functools.cache(lambda n: form if n == whole else first_rounds(form, n))
            found = most_rounds(lambda n: made(parts(n))[1].flash, whole, self.most)
        if found < whole and rounds == 1:
            raise BoostrunError(f"algo.flash_bytes={self.most}: the smallest model has {made(form)[1].flash}")
        return rounds if found == whole else max(1, min(found, found * rounds // whole, rounds - 1))


@functools.lru_cache(maxsize=2)
def _raw(dataset: str, data_root: Path) -> tuple[np.ndarray, np.ndarray]:
    """Raw rows of a data set's training and test part, (n, d) and (m, d)."""
    from boostrun.data import load
    from boostrun.extend import loader

    own = {key: value for key, value in json.loads(dataset).items() if key not in ("holdout", "train_samples")}
    whole = load(loader.config_for(own, data_root), data_root)
    return whole.x_train.reshape(len(whole.x_train), -1), whole.x_test.reshape(len(whole.x_test), -1)


def _made(saved: Saved, rows: np.ndarray, most: int) -> Callable[[Any], tuple[IntegerModel, Size]]:
    """A function from a form to its predictor, whose bits are chosen on ``rows`` among those that fit, and its size."""
    known: dict[int, tuple[Any, tuple[IntegerModel, Size]]] = {}

    def made(form: Any) -> tuple[IntegerModel, Size]:
        if id(form) not in known:
            chip = quantised(saved, rows, form=form, fits=within(most))
            known[id(form)] = form, (chip, sizes(chip, laid_out(chip)))
        return known[id(form)][1]

    return made


# -- what keeps the budget ---------------------------------------------------------------------------------------------

_ROUNDS = 1000  # at most
_SMALLEST = 4  # bytes of a round's smallest tree, about


def rounds_by_class(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """As many bytes of flash, and no more rounds than they might have room for; a round has a tree for each class.

    >>> rounds_by_class(4000, {"n_classes": 10})
    {'algo.flash_bytes': 4000, 'T': 100}
    """
    return _within(budget, facts["n_classes"] if facts["n_classes"] > 2 else 1)


def rounds_for_all(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """As :func:`rounds_by_class`, of a method with one tree for all classes.

    >>> rounds_for_all(1000, {"n_classes": 10})
    {'algo.flash_bytes': 1000, 'T': 250}
    """
    return _within(budget, 1)


def trees_with_shares(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """As :func:`rounds_by_class`, of a forest: a small tree has four splits, and in each leaf a byte for each class.

    >>> trees_with_shares(1000, {"n_classes": 10})
    {'algo.flash_bytes': 1000, 'T': 16}
    """
    return _within(budget, 3 + (5 * facts["n_classes"]) // 4)


def columns_that_fit(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """As many bytes of flash, and no more columns than they might have room for, with a byte for each class.

    >>> columns_that_fit(1000, {"n_classes": 10, "n_features": 64})
    {'algo.flash_bytes': 1000, 'T': 64}
    """
    found = _within(budget, 1)
    return {**found, "T": min(facts["n_features"], max(1, found["algo.flash_bytes"] // facts["n_classes"]))}


def _within(budget: float, rows: int) -> dict[str, Any]:
    if budget < 1:
        raise BoostrunError(f"flash_bytes={budget:g}: at least 1 is needed")
    return {"algo.flash_bytes": int(budget), "T": min(_ROUNDS, max(1, int(budget) // (_SMALLEST * rows)))}
