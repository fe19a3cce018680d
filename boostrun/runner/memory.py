"""How many samples a budget of memory has room for, which pilot trials tell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from boostrun.config import catalogue
from boostrun.config.fields import Settings
from boostrun.config.words import with_words
from boostrun.errors import BoostrunError
from boostrun.inputs.bank import Chunks, facts_of, least_limit
from boostrun.methods.declaration import Method, obtain
from boostrun.runner.execute import RunResult, run_cells
from boostrun.runner.plan import composer, memory_of, table_of, with_values
from boostrun.runner.worker import LEAST_MIB, PROMISED, enough

Compose = Callable[[Sequence[str]], Settings]
Keeping = Callable[[float, Mapping[str, int]], Mapping[str, Any]]
"""(budget, facts of the table) -> the keys that make a method keep the budget."""

_MIB = 1 << 20
_FEWEST = 64  # samples held
_FEW_ROUNDS = 20  # of a pilot
_CHANCE = 8  # MiB by which two trials of one size may differ
_NEAR, _FURTHEST = 1.25, 4  # times the samples of the largest pilot: held without another one; held by the next
_BUFFERS = "run.memory_limit"


def keep_memory(
    all_settings: Sequence[Settings], words: Sequence[Sequence[str]], config_dir: str | None = None,
    command: Sequence[str] = (), quiet: bool = False,
) -> tuple[list[Sequence[str]], list[Settings]]:  # fmt: skip
    """The words and settings, with as many samples held as fit if ``run.memory_mb`` limits the whole process.

    Parameters
    ----------
    all_settings, words : of some cells, composed and as they were typed

    If a cell's words set the number of samples held, only its shuffle buffers are chosen: the smallest ones that fit
    the samples of one draw. Otherwise pilot trials of different sizes measure the memory per sample, and the rest.
    Raises BoostrunError for a budget that is too small, with the smallest that works, and for pilots that fail.
    """
    compose = composer(config_dir)
    found = list(zip(words, all_settings))
    for number, (own, settings) in enumerate(found):
        if memory_of(settings) is not None:
            fitting = _fitting(settings, own, compose, command, quiet)
            found[number] = fitting, compose(fitting)
    return [own for own, _ in found], [settings for _, settings in found]


def _fitting(
    settings: Settings, words: Sequence[str], compose: Compose, command: Sequence[str], quiet: bool
) -> Sequence[str]:
    """The words with those that keep the promise."""
    name, most, typed = settings.algo["name"], settings.run["memory_mb"], {each.partition("=")[0] for each in words}
    keeps = holds_by(catalogue.method(settings.algo))
    table: Chunks = table_of(settings)
    facts = facts_of(table)
    sizes = pilot_sizes(most, facts)
    if keeps is None:  # the memory of its samples is unknown
        return words if _BUFFERS in typed else with_words(words, {_BUFFERS: max(LEAST_MIB, most // 8)})
    holding = holding_in(table, obtain(keeps), words, compose)
    by_size = [holding(size, facts) for size in sizes]
    if typed & (by_size[0].keys() - {_BUFFERS}):
        return words if _BUFFERS in typed else with_words(words, {_BUFFERS: _least_buffers(table, settings)})
    if _BUFFERS in typed:
        raise BoostrunError(f"run.memory_mb={most} decides {_BUFFERS}: leave it out, or set the number of samples held")
    if not quiet:
        print(f"boostrun: trials of {name} tell how many samples {most} MiB have room for", file=sys.stderr)
    freely = with_words(words, {"run.memory_mb": None, "run.apart": True, "run.metrics": settings.run["metrics"]})

    def measure(*several: Mapping[str, Any]) -> tuple[float, ...]:
        pilots = {name: [(freely, keys) for keys in several]}
        return run_pilots(pilots, "memory_mib", 1, compose, command, True, quiet)[0][name]

    taken = measure(*by_size)
    try:
        found = samples_in(taken, sizes, by_size, holding, lambda keys: measure(keys)[0])(most, facts)
    except BoostrunError as error:
        raise BoostrunError(f"run.memory_mb={most} is too little for {name}: {error}") from None
    return with_words(words, found)


def run_pilots(
    pilots: Mapping[str, Sequence[tuple[Sequence[str], Mapping[str, Any]]]], cost: str, trials: int, compose: Compose,
    command: Sequence[str] = (), few_rounds: bool = False, quiet: bool = False,
) -> tuple[dict[str, tuple[float, ...]], list[dict]]:  # fmt: skip
    """For each method, the median cost of its pilots, and the records of all.

    Each pilot is words and further keys, and has some ``trials``; with ``few_rounds`` at most twenty, in which it holds
    as many samples as in all. Raises BoostrunError if one is not finished.
    """
    settings = [
        compose(with_words(words, {"trials": trials, **keys})) for each in pilots.values() for words, keys in each
    ]
    if few_rounds:
        settings = [
            with_values(one, {"T": _FEW_ROUNDS}) if one.budget.get("T", 0) > _FEW_ROUNDS else one for one in settings
        ]
    result = run_cells(settings, command=command, quiet=quiet) if settings else RunResult([], [], False)
    cells = iter(result.cells)
    costs: dict[str, tuple[float, ...]] = {}
    for name, each in pilots.items():
        own = [next(cells) for _ in each]
        if not all(cell.done and all(cost in record["cost"] for record in cell.done) for cell in own):
            why = next((record["error"]["message"] for cell in own for record in cell.failed), "")
            raise BoostrunError(f"the pilot trials of {name} were not finished{': ' * bool(why)}{why}")
        costs[name] = tuple(median(record["cost"][cost] for record in cell.done) for cell in own)
    return costs, [record for cell in result.cells for record in cell.done]


def pilot_sizes(least: float, facts: Mapping[str, int]) -> tuple[int, int]:
    """Samples held by two pilot trials: as float32 a 64th and a 16th of ``least`` MiB, or all samples.

    >>> pilot_sizes(256, {"n_samples": 10**7, "n_features": 28, "n_classes": 2})
    (37449, 149796)
    """
    many = min(facts["n_samples"], int(least * _MIB / 16 / (4 * facts["n_features"])))
    return max(many // 4, 4 * facts["n_classes"]), max(many, 8 * facts["n_classes"])


def holds_by(method: Method) -> str | None:
    """The function whose settings hold so many samples; None if the method declares none."""
    return method.keeps.get("memory", method.keeps.get("samples_held"))


def holding_in(chunks: Chunks, holds: Keeping, words: Sequence[str], compose: Compose) -> Keeping:
    """The keys with which a method holds so many samples, with the smallest buffer that fits its draws."""

    def keep(samples: float, facts: Mapping[str, int]) -> dict[str, Any]:
        limits = dict(holds(samples, facts))
        return {**limits, _BUFFERS: _least_buffers(chunks, compose(with_words(words, limits)))}

    return keep


def samples_in(
    taken: Sequence[float], sizes: Sequence[int], keys: Sequence[Mapping[str, Any]], holding: Keeping,
    measure: Callable[[Mapping[str, Any]], float],
) -> Keeping:  # fmt: skip
    """The keys for as many samples as a budget of MiB has room for, a tenth of it kept back.

    Two pilots with these ``keys``, which held ``sizes`` samples, have ``taken`` so many MiB: a trial takes a constant,
    its buffers, and more a sample. The difference of small pilots is mostly chance. If there seems to be room for
    many more samples than a pilot held, or if more samples took no more memory, as other parts of the trial need its
    peak, ``measure`` runs another with such keys, of at most four times as many. Samples that a pilot held within the
    budget have room in any case.

    >>> keys, holding = ({}, {}), lambda samples, facts: {"r": samples}
    >>> measure = lambda keys: 90 + 0.02 * keys["r"]
    >>> keep = samples_in((110.0, 130.0), (1000, 2000), keys, holding, measure)  # 90 MiB, and 0.02 each
    >>> keep(200, {"n_samples": 10**6}), keep(200, {"n_samples": 4000})
    ({'r': 4500}, {'r': 4000})
    >>> keep(100, {"n_samples": 10**6})
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: it takes 90 MiB besides its samples, so about 112 are the least that works
    """
    pilots = list(zip(sizes, taken, (each.get(_BUFFERS, 0) for each in keys)))

    def keep(budget: float, facts: Mapping[str, int]) -> dict[str, Any]:
        while True:
            (few, low, buffer), (many, high, buffers) = pilots[0], pilots[-1]
            each = max((high - buffers - low + buffer) / (many - few), 1e-9)
            constant, least = low - buffer - few * each, min(LEAST_MIB, buffer, buffers)
            room = PROMISED * budget - constant
            samples = int(min((room - least) / each, room / (each + buffers / many)) + 1e-9)
            fit = max((held for held, peak, _ in pilots if peak <= PROMISED * budget), default=0)
            if fit == many and high - low < _CHANCE:
                samples = _FURTHEST * many
            samples = max(samples, fit)
            if samples < min(_FEWEST, facts["n_samples"]):
                besides = constant + least
                raise BoostrunError(
                    f"it takes {besides:,.0f} MiB besides its samples, so about {enough(besides):,} are the least that "
                    "works"
                )
            samples = min(samples, facts["n_samples"])
            if samples <= _NEAR * many:
                return dict(holding(samples, facts))
            more = min(samples, _FURTHEST * many)
            further = holding(more, facts)
            pilots.append((more, measure(further), further.get(_BUFFERS, 0)))

    return keep


def _least_buffers(chunks: Chunks, settings: Settings) -> int:
    budget = settings.budget
    model = catalogue.method(settings.algo).make(settings.algo, budget, {"random_state": 0})
    return least_limit(chunks.for_model(model), (budget.get("r") or 1) + (budget.get("q") or 0), LEAST_MIB)
