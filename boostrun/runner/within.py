"""A model within several budgets at once: a search among methods and settings, and the certificate of its result.

The rows of the user's table are split into three parts: a test part, which only the certificate uses; a fifth of the
rest, which is held out to compare trials; and the training rows. Every method is tried once, on a quarter of the rows
if there are many; the better half are tried some more times; the best two of different kinds most often. The chosen
settings are trained on all rows except the test part, and :mod:`boostrun.runner.meters` measures the saved model. If it
does not keep a budget, it gets fewer rounds, or the next best settings are trained. After a model that keeps all, the
search goes on for as long as there is time to train and measure another one, which is then kept if it is better.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.config.fields import Range
from boostrun.config.words import with_words
from boostrun.data.files import user_path
from boostrun.data.keys import WRITTEN
from boostrun.errors import BoostrunError
from boostrun.export import read
from boostrun.export.flash import MOST_ROWS, flash
from boostrun.inputs.bank import Table, facts_of
from boostrun.methods.declaration import METERS
from boostrun.runner import meters
from boostrun.runner.contenders import KEYS, ORDER, Contender, Tried, contenders_of
from boostrun.runner.execute import train_one
from boostrun.runner.meters import (
    EXAMPLE,
    KINDS,
    Deadline,
    amount_text,
    check_possible,
    draw,
    fewer_rounds,
    typed,
    wilson,
    write_certificate,
)
from boostrun.runner.naming import word
from boostrun.runner.plan import cell_of, composer, open_store, plan, roots, table_of, with_values
from boostrun.runner.pool import workers
from boostrun.runner.search import BEYOND, BY, HOLDOUT, Study, optuna, study_of, tune_all
from boostrun.runner.wide import Request, check_words, narrowed
from boostrun.store import StoreWriteError


def _better_half(ranked: Sequence[Contender]) -> Sequence[Contender]:
    return ranked[: max(3, math.ceil(len(ranked) / 2))]


# -- the search --------------------------------------------------------------------------------------------------------

_FIRST, _SECOND, _THIRD = 0.4, 0.5, 0.6  # of the seconds, until which rungs last: a slow method ends there
_SEARCHED = 0.65  # of the seconds; the rest is for the last training, the meters and the picture
_CONFIRMED_BY = 0.75
_KEPT = 0.95
_COSTS = {"flash": "flash_bytes", "latency": "prediction_us", "features": "n_features_used"}  # of a trial, by budget
_METER_SECONDS = {"memory": 1.5, "latency": 0.3}  # seconds of a meter, relative to the start of this process
_MEMORY, _MOST_METERS = 9.0, 0.3  # memory, relative to a process that only starts; the largest share of the seconds
_PICTURE = 1.0  # seconds for it, relative to the start of this process
_MANY_ROWS = 2000
_WORKERS = 2.0  # seconds until workers train, which read libraries and kernels first, relative to this process
_PART = 0.4  # of the time that is left to first trials, which those that run at once may take: some are slow
_PART_SEARCHED = 0.7  # of the time after the first model; the rest is to confirm
_SHOWN_ROWS = 4000  # on which the columns that a model reads are found, and its whole numbers chosen
_SHARE = 4  # of many rows a first trial has a fourth
_ROOM = 0.5  # a first trial that takes less of its budgets is followed by one of more rounds
_SOME, _MORE, _MOST = 6, 20, 40  # trials of a method, from rung to rung
_FEW_HELD_OUT, _CONFIRMED, _CONFIRMED_EACH = 1000, 10, 3


class Search:
    """Halves the contenders; ``tried`` holds what was tried on all rows, ``first`` what was tried on fewer.

    ``interrupted`` says that the user did it, not the clock. ``each`` are the seconds of a first trial.
    """

    def __init__(self, request: Request, compose: Any, contenders: Sequence[Contender], clock: Deadline, n: int,
                 held_out: int):  # fmt: skip
        self.request, self.compose, self.clock, self.n, self.held_out = request, compose, clock, n, held_out
        self.contenders = list(contenders)
        self.tried, self.first = list[Tried](), list[Tried]()
        self.records: set[str] = set()
        self.start = max(clock.spent - clock.lead, 1.0)  # seconds of a process, until it trains
        self.interrupted = False
        self.wait(sum(share * self.start for kind, share in _METER_SECONDS.items() if kind in request.budgets))
        self.cores, self.each = workers(compose(request.data_words).root["n_jobs"]), 0.0
        self.why: dict[str, str] = {}
        self.costs = {cost: request.budgets[kind] for kind, cost in _COSTS.items() if kind in request.budgets}

    def run(self) -> None:
        """Try contenders until all rungs are done or their time is spent."""
        few = self.n > _MANY_ROWS and "held" not in self.request.budgets
        rows = self.n // _SHARE if few else None
        begun = self.clock.spent
        for done, one in enumerate(self.contenders):
            if self._in_workers(len(self.contenders) - done, _FIRST):
                self._rung(self.contenders[done:], 1, _FIRST, rows)
                break
            self._rung([one], 1, _FIRST, rows, _PART)
            self.each = (self.clock.spent - begun) / (done + 1)
        for one in self.contenders:  # if no model was finished, more time for one
            if one.saved and not any(each.saved for each in self._ranked(few)):
                self._rung([one], 1, _SEARCHED, rows)
        kept = any(one.loss < BEYOND for one in (self.first if few else self.tried))
        sized = [one for one in self.contenders if "T" not in self.request.typed and self._sized(one, few)]
        self._rung(sized, 1, _SECOND if kept else _SEARCHED, rows)  # until one keeps the budgets, these come first
        ranked = self._ranked(few)
        self._rung(_better_half(ranked), _SOME, _THIRD)
        best = self._of_two_kinds()
        for trials in (_MORE, _MOST) if self.clock.seconds is not None else (_MORE,):
            self._rung(best, trials, _SEARCHED)
        self._confirm()

    def wait(self, meters: float) -> None:
        """Leave so many seconds for the meters, and some for a last training."""
        self.meters, self.reserve = meters, 1.2 * meters + 2.0

    def go_on(self, took: float) -> bool:
        """Try more, until there is just time for another model and the picture; False if there is none.

        ``took`` are the seconds of a last training and the meters.
        """
        self.meters, self.reserve = took, 1.5 * took + _PICTURE * self.start + 0.5
        if self.clock.seconds is None or self.clock.left(_KEPT) - self.reserve < 1.0:
            return False
        best, half = self._of_two_kinds(), _better_half(self._ranked(few=False))
        for contenders, trials in (best, _MORE), (best, _MOST), (half, _MORE), (half, _MOST):
            self._rung(contenders, trials, 1.0, part=_PART_SEARCHED)
        self._confirm(1.0)
        return True

    def _confirm(self, share: float = _CONFIRMED_BY) -> None:
        """If few rows are held out, try the best settings once more, with twice as many held out.

        On few rows the smallest of many errors is too small by chance, and many errors are equal. The errors of both
        attempts are then averaged, weighted by their rows.
        """
        if self.held_out > _FEW_HELD_OUT or self.request.screened:  # by rows that this would hold out
            return
        best, names = list[Tried](), Counter[str]()
        least = min((one.loss for one in self.tried if one.confirmed), default=BEYOND)
        for one in sorted((each for each in self.tried if each.loss < least), key=ORDER):
            if names[one.contender.name] < _CONFIRMED_EACH and len(best) < _CONFIRMED:
                names[one.contender.name] += 1
                best.append(one)
        studies = []
        for one in best:
            settings = with_values(self.compose(with_words(one.contender.words, one.contender.confirming)), one.values)
            studies.append(_with_root(Study(settings, {}, BY, self.costs), holdout=2 * HOLDOUT))
        with contextlib.suppress(BoostrunError):  # all are refused, as there are too few rows
            for one, choice in zip(best, self._trials(studies, 1, share)):
                row: Mapping[str, Any] = next(iter(choice.rows), {})
                if row.get(BY) is not None:
                    self.records |= {*row["records"]}
                    one.loss = one.error = (one.error + 2.0 * row[BY]) / 3.0
                    one.confirmed = True
                elif row and "not run" not in row["why"]:  # refused on fewer rows, which says nothing against it
                    one.confirmed = True

    def _of_two_kinds(self) -> list[Contender]:
        saved = [one for one in self._ranked(few=False) if one.saved]
        return [*saved[:1], *[one for one in saved[1:] if one.kind != saved[0].kind][:1]]

    def _ranked(self, few: bool) -> list[Contender]:
        """The contenders that were tried, the one with the least loss first."""
        best = {one.name: found.loss for one in self.contenders if (found := self._best(one.name, few)) is not None}
        return sorted((one for one in self.contenders if one.name in best), key=lambda one: best[one.name])

    def _best(self, name: str, few: bool = False) -> Tried | None:
        own = [one for one in (self.first if few else self.tried) if one.contender.name == name]
        return min(own, key=lambda one: (one.loss, one.share), default=None)

    def _rung(
        self, contenders: Sequence[Contender], trials: int, share: float, rows: int | None = None, part: float = 1.0
    ) -> None:
        found = self._trials([self.study(one, rows) for one in contenders], trials, share, part)
        for contender, choice in zip(contenders, found):
            self.add(contender, choice, rows is not None)

    def _in_workers(self, trials: int, share: float) -> bool:
        """Whether workers, which must start first, are sooner done with so many trials than this process."""
        expected = min(trials * self.each, self.clock.left(share))
        return self.cores > 1 and expected * (1.0 - 1.0 / self.cores) > _WORKERS * self.start

    def _trials(self, studies: Sequence[Study], trials: int, share: float, part: float = 1.0) -> list[Any]:
        """The choices of studies, with the trials that ended in time, a part of what is left; none if it is short."""
        latest = max(share, _SEARCHED)
        if self.clock.seconds is not None:  # there must be time for the meters
            latest = min(latest, _KEPT - self.reserve / self.clock.seconds)
        share = min(share, latest)
        if self.interrupted or not studies or self.clock.left(share) < 0.5:
            return []
        share = self.clock.share_of(part, share)
        if not self._in_workers(sum(trials if one.space else 1 for one in studies), share):
            studies = [_with_root(one, n_jobs=1) for one in studies]
        with contextlib.suppress(KeyboardInterrupt):
            with self.clock.until(share, latest):
                found = tune_all(studies, trials, command=self.request.command, quiet=self.request.quiet, partial=True)
            self.interrupted = found.interrupted and not self.clock.rang
            return found.choices
        self.interrupted = not self.clock.rang
        return []

    def add(self, contender: Contender, choice: Any, few: bool = False) -> None:
        """Note what a study has tried."""
        known = {tuple(one.row["records"]) for one in self.tried}
        for row in choice.rows:
            self.records |= {*row["records"]}
            loss = choice.study.loss(row)
            if loss is None and "not run" not in row["why"]:
                self.why.setdefault(contender.name, row["why"])
            elif loss is not None and tuple(row["records"]) not in known:
                values = {key: value for key, value in row["values"].items() if key not in contender.searched}
                one = Tried(contender, values, loss, row, share=choice.study.over(row))
                (self.first if few else self.tried).append(one)

    def study(self, contender: Contender, rows: int | None = None) -> Study:
        """The search of a contender, which begins with its best values so far, if there are some."""
        settings = self.compose(with_words(contender.words, contender.searched))
        own = {}
        if "flash" in self.request.budgets or "latency" in self.request.budgets:
            declared = catalogue.methods()[contender.name].search
            for key, least in (("leaves", 2), ("depth", 1)):
                if isinstance(one := declared.get(key), Range):
                    most = max(least + 1, one.high // 4 if contender.rounds else one.high)
                    own[f"algo.{key}"] = Range(least, most, log=one.log, **({"when": one.when} if one.when else {}))
        given = self.request.typed
        if contender.rounds:
            begin = {"T": contender.rounds, **contender.begin}
            settings = with_values(settings, {key: value for key, value in begin.items() if key not in given})
            own["T"] = Range(max(1, contender.rounds // 8), max(2, 2 * contender.rounds), log=True)
        own = {key: one for key, one in own.items() if key not in given}
        study = study_of(settings, {*contender.searched, *given}, own)
        best = self._best(contender.name)
        if best is not None and best.loss < BEYOND:
            settings = with_values(settings, best.values)
        made = Study(settings, study.space, BY, self.costs)
        return made if rows is None else _with_root(made, train_samples=rows)

    def _sized(self, contender: Contender, few: bool) -> bool:
        """Give a contender the rounds that flash and latency have room for, by its first trial; returns whether it did.

        Only a contender that began with few rounds is given more.
        """
        one = self._best(contender.name, few)
        spent = one.row.get("spent", {}) if one is not None else {}
        limits = {cost: most for cost, most in self.costs.items() if cost in METERS}
        over = max((spent[cost] / most for cost, most in limits.items() if cost in spent), default=0.0)
        if one is None or not over or _ROOM <= over <= 1.0 or (over < _ROOM and not contender.rounds):
            return False
        usual = self.compose(with_words(contender.words, contender.searched))
        rounds = with_values(usual, one.values).budget.get("T")
        if rounds and over > 1.0:
            contender.give_rounds(fewer_rounds(rounds, 1.0 / over))
        elif rounds:
            contender.give_rounds(min(int(rounds * 0.9 / over), usual.budget["T"]))
        return bool(rounds)


def _with_root(study: Study, **root: Any) -> Study:
    """The study with other keys at the top of its configuration."""
    settings = dataclasses.replace(study.settings, root={**study.settings.root, **root})
    return dataclasses.replace(study, settings=settings)


# -- the result --------------------------------------------------------------------------------------------------------


@dataclass
class Certified:
    """A model that keeps its budgets: its file, the facts of its certificate, and all files that were written."""

    path: Path
    certificate: dict[str, Any]
    written: list[Path]


_ATTEMPTS = 12  # models that are trained and measured, at most


def _estimate(one: Tried) -> float:
    """The latency in microseconds that a trial estimated; 0 without one."""
    return one.row.get("spent", {}).get(_COSTS["latency"]) or 0.0


def fit_within(request: Request, begun: float | None = None, searching: type[Search] = Search) -> Certified | None:
    """Search, train and measure; write the model, the certificate and a picture. None if the user interrupted it.

    Raises BoostrunError, one sentence, for budgets that cannot be kept, with the smallest that can, and for bad data.
    """
    clock = Deadline(request.budgets.get("seconds"), time.monotonic() if begun is None else begun)
    optuna()
    if "latency" in request.budgets:
        meters.compiler()
    check_words(request.words)
    compose = composer(request.config_dir)
    settings = compose(request.data_words)
    if "path" not in settings.dataset or catalogue.dataset(settings.dataset).gives != "table":
        raise BoostrunError(f"fit needs a table of yours: boostrun fit mine.csv {EXAMPLE}")
    path = str(settings.dataset["path"])
    if (narrow := narrowed(request, settings)) is not request:
        request, settings, clock.lead = narrow, compose(narrow.data_words), clock.spent
    if settings.splits:
        request = dataclasses.replace(request, words=[*request.words, "dataset.split_seed=0"])
        settings = compose(request.data_words)
    table = table_of(settings, progress=not request.quiet)
    facts = facts_of(table)

    def sizes_with(share: float) -> dict[str, int]:
        part = dataclasses.replace(settings, root={**settings.root, "holdout": share})
        return facts_of(table_of(part), table)

    part = sizes_with(HOLDOUT)
    held_out = facts["n_samples"] - part["n_samples"]
    half = sizes_with(2 * HOLDOUT) if held_out <= _FEW_HELD_OUT else part  # many rows need no second look
    small = check_possible(request.budgets, facts, path)
    contenders, without = contenders_of(request, compose, facts, part, half)
    if not any(one.saved for one in contenders):
        kinds = " and ".join(kind for kind in KEYS if kind in request.budgets)
        why = next(iter(without.values()), f"models of {contenders[0].name} are not saved" if contenders else "")
        if not kinds:
            raise BoostrunError(f"no method can be used: {why or 'none is installed'}")
        raise BoostrunError(f"no method keeps {kinds} together ({why}): leave one of them out, as in {EXAMPLE}")
    search = searching(request, compose, contenders, clock, part["n_samples"], held_out)
    search.wait(max(search.meters, min(_MEMORY * small, _MOST_METERS * (clock.seconds or 0.0))))
    search.run()
    return None if search.interrupted else _Choosing(request, compose, search, clock, table).run()


class _Choosing:
    """Trains the best settings and measures them, until one keeps all budgets; then, better ones if there is time."""

    def __init__(self, request: Request, compose: Any, search: Search, clock: Deadline, table: Table):
        self.request, self.compose, self.search, self.clock, self.table = request, compose, search, clock, table
        self.least: dict[str, float] = {}  # the smallest that was measured of each budget that was not kept
        self.slower: dict[str, float] = {}  # by method: a measured latency, relative to the estimated one
        self.measured: list[Tried] = []
        self.too_large: set[str] = set()  # methods whose libraries take more memory than there is
        self.failures, self.why = Counter[str](), ""  # models that were not measured, by method; why the last was not
        self.took = 0.0  # seconds of the longest attempt
        self.kept: tuple[Tried, dict[str, float], Mapping[str, Any], Path, dict[str, list[str]]] | None = None
        self.samples: np.ndarray | None = None
        self.made = set[Path]()  # files of models
        self._named = ["--config-dir", request.config_dir] if request.config_dir else []

    def run(self) -> Certified | None:
        """The best model that keeps all budgets; None if the user interrupted it."""
        saved = [[one for one in rung if one.contender.saved] for rung in (self.search.tried, self.search.first)]
        queue = next(filter(None, ([one for one in rung if one.loss < BEYOND] for rung in saved)), [])
        if not queue:
            queue = sorted(saved[0] or saved[1], key=lambda one: one.loss)[:3]
        if not queue:
            self._too_short()
        try:
            interrupted = self._choose(queue)
            if self.kept is None and not interrupted:
                self._not_kept(queue)
            if self.kept is not None:
                with contextlib.suppress(BoostrunError):  # there is a model, whatever becomes of another
                    interrupted = self._choose_better()
            return None if self.kept is None or interrupted else self._certified(*self.kept)
        finally:
            for left in self.made:
                left.unlink(missing_ok=True)

    def _choose_better(self) -> bool:
        """Search on, and keep a better model if there is one; returns whether the user interrupted it."""
        if not self.search.go_on(self.took):
            return False
        others = [one for one in self.search.tried if not any(one is each for each in self.measured)]
        return self.search.interrupted or self._choose([one for one in others if one.contender.saved])

    def _choose(self, queue: list[Tried]) -> bool:
        """Set ``kept`` to the best of the queue that keeps all budgets; returns whether the user interrupted it."""
        before = self.kept
        for attempt in range(_ATTEMPTS):
            queue.sort(key=ORDER)
            late = attempt >= _ATTEMPTS - 2 or self.clock.left(_KEPT) < 3.0 * self.took
            if late and self.least and before is None:  # near the end the smallest models are measured
                queue.sort(key=lambda each: each.share)
            hopeless = self.too_large | {name for name, times in self.failures.items() if times > 1}
            ready = [one for one in queue if one.contender.name not in hopeless and self._in_time(one)]
            if before is not None:
                ready = [one for one in ready if one.order < before[0].order]
            if not ready and not self.least and before is None:
                ready = sorted(queue, key=lambda one: one.row.get("train_seconds", 0.0))[:1]
            one = next(filter(self._fast, ready), ready[0] if ready else None)
            if one is None:
                break
            queue.remove(one)
            self.measured.append(one)
            begun = self.clock.spent
            try:
                with self.clock.until(_KEPT):
                    spent, record, path, how = self._trained(one)
            except KeyboardInterrupt:
                return not self.clock.rang
            except BoostrunError as error:  # of a model without a split, for example
                if isinstance(error, StoreWriteError):
                    raise
                self.failures[one.contender.name], self.why = self.failures[one.contender.name] + 1, str(error)
                continue
            beyond = {
                kind: spent[kind] / most for kind, most in self.request.budgets.items()
                if kind in spent and spent[kind] > most
            }  # fmt: skip
            self.took = max(self.took, self.clock.spent - begun)
            if not beyond:
                self.kept = one, spent, record, path, how
                break
            if "latency" in spent and (estimated := _estimate(one)):
                self.slower[one.contender.name] = spent["latency"] / estimated
            for kind in beyond:
                if spent[kind] < math.inf:
                    self.least[kind] = min(spent[kind], self.least.get(kind, math.inf))
            if (fewer := self._fewer(one, beyond)) is not None:
                queue.append(fewer)
            if "memory" in beyond:  # libraries take most of it, whatever the settings
                self.too_large.add(one.contender.name)
        return False

    def _not_kept(self, queue: Sequence[Tried]) -> None:
        if self.least:
            kind = max(self.least, key=lambda kind: self.least[kind] / self.request.budgets[kind])
            late = self.clock.rang or not all(map(self._in_time, queue))
            said = f"is not kept after seconds={self.clock.seconds:g}" if late else "cannot be kept on these data"
            raise BoostrunError(
                f"{kind}={amount_text(kind, self.request.budgets[kind])} {said}: the smallest that can, of the models "
                f"that were measured, is {typed(kind, self.least[kind])}"
            )
        self._too_short()

    def _too_short(self) -> None:
        if self.why:
            raise BoostrunError(f"no model could be measured, the last one since {self.why}")
        if self.clock.seconds is None or self.search.why:
            why = next(iter(self.search.why.values()), "no trial was finished")
            raise BoostrunError(f"no method could be trained on these data: {why}")
        least = math.ceil(max(2.0 * self.clock.spent, self.clock.spent + 10.0))
        raise BoostrunError(
            f"seconds={self.clock.seconds:g} cannot be kept: no model was finished in time, and about seconds={least} "
            "is the smallest that can; the finished trials are kept, so the same command again needs less"
        )

    def _fast(self, one: Tried) -> bool:
        """Whether its estimated latency fits, corrected by what another model of its method took."""
        slower = self.slower.get(one.contender.name, 1.0)
        return slower * _estimate(one) <= self.request.budgets.get("latency", math.inf)

    def _in_time(self, one: Tried) -> bool:
        """Whether a last training, a fourth more rows than a trial has, and its meters fit into the time left."""
        expected = 1.5 * one.row.get("train_seconds", 0.0) / (1.0 - HOLDOUT) + 0.5
        return expected + self.search.meters < self.clock.left(_KEPT)

    def _trained(self, one: Tried) -> tuple[dict[str, float], Mapping[str, Any], Path, dict[str, list[str]]]:
        """Train on all training rows, save and measure."""
        words = with_words(one.contender.words, {**one.contender.limits, **one.values})
        settings, budgets = self.compose(words), self.request.budgets
        output = self.request.output
        path = output.with_name(f".{output.stem}-{cell_of(settings).key[:8]}.npz")
        self.made.add(path)
        spent: dict[str, float] = {}
        how: dict[str, list[str]] = {}
        if "memory" in budgets:
            with tempfile.TemporaryDirectory() as empty:  # the features are built anew, as elsewhere
                words_there = with_words(words, {"cache_root": empty})
                command = [sys.executable, "-m", "boostrun", "export", *self._named, *words_there, "--to", "npz"]
                spent["memory"] = max(meters.peak_of([*command, "-o", str(path)]) * 2**20, self.request.peak)
        else:
            train_one(settings, path, self.request.command)
        (cell,) = plan([settings], open_store(settings))
        record = cell.done[0]
        saved = read(path)
        if "features" in budgets:
            from boostrun.prediction import load

            samples = self._samples(path)[:_SHOWN_ROWS]
            used = meters.columns_read(load(path), samples)
            spent["features"] = float(len(used.columns) if used.all_others else samples.shape[1])
            said = "no prediction changes" if used.all_others else "predictions change"
            rows = f"{len(samples):,} rows"
            how["features"] = [f"all others filled with other rows' values, on {rows}: {said}"]
        if "flash" in budgets:
            size = flash(saved, self._samples(path))  # raises for kinds of models without such a predictor
            spent["flash"] = float(size.bytes)
            how["flash"] = [f"{size.lost} of {size.rows:,} labels change; {size.ram} B of RAM"]
        if "latency" in budgets:
            found = meters.latency(saved, self._samples(path)[:_SHOWN_ROWS], budgets["latency"])
            spent["latency"] = found.microseconds
            how["latency"] = [f"{found.runs} runs over {found.rows:,} rows{', on one core' * found.pinned}"]
            if found.instructions is not None:
                how["latency"].append(f"{found.instructions:,.0f} instructions by valgrind")
        if "held" in budgets:
            most = record["cell"]["dataset"].get("train_samples") or len(self.table.labels("train"))
            spent["held"] = float(record["cost"].get("peak_samples_held", most))
        return spent, record, path, how

    def _samples(self, path: Path) -> np.ndarray:
        """The first raw rows of the user's file, those on which an export chooses its bits."""
        if self.samples is None:
            from boostrun.prediction import load
            from boostrun.prediction.samples import first_rows

            settings = self.compose(self.request.data_words)
            written = {key: settings.dataset[key] for key in WRITTEN if settings.dataset.get(key) is not None}
            file = user_path(settings.dataset["path"], roots(settings)[0])
            self.samples = first_rows(load(path), str(file), MOST_ROWS, written)
        return self.samples

    def _fewer(self, one: Tried, beyond: Mapping[str, float]) -> Tried | None:
        """The same settings with fewer rounds, tried on the held-out rows; None if that cannot help."""
        over = max((share for kind, share in beyond.items() if kind in ("flash", "latency")), default=0.0)
        settings = with_values(self.compose(with_words(one.contender.words, one.contender.searched)), one.values)
        rounds = settings.budget.get("T")
        if not over or not rounds or rounds == 1 or "T" in self.request.typed:
            return None
        values = {**one.values, "T": fewer_rounds(rounds, 1.0 / over)}
        study = Study(with_values(settings, values), {}, BY, self.search.costs)
        with contextlib.suppress(KeyboardInterrupt), self.clock.until(_KEPT):
            found = tune_all([study], 1, command=self.request.command, quiet=True, partial=True)
            row = next(iter(found.choices[0].rows), None)
            if row is not None and (loss := study.loss(row)) is not None:
                self.search.records |= {*row["records"]}
                return Tried(one.contender, values, min(loss, BEYOND - 1.0), row, share=study.over(row))
        return None

    def _certified(
        self, one: Tried, spent: dict[str, float], record: Mapping[str, Any], path: Path, how: dict[str, list[str]]
    ) -> Certified:
        output = self.request.output
        path.replace(output)
        words = with_words(one.contender.words, {**one.contender.limits, **one.values})
        rows, figure = len(self.table.labels("test")), record["metrics"]["test_accuracy_pct"]
        tried = [each for rung in (self.search.tried, self.search.first) for each in sorted(rung, key=ORDER)]
        measured = {"flash", "latency"} & {*self.request.budgets}  # of models that are saved
        other = next((
            each for each in tried if each.contender.kind != one.contender.kind and each.loss < BEYOND
            and (each.contender.saved or not measured)
        ), None)  # fmt: skip
        train = self.search.n
        facts = {
            "model": str(output),
            "method": one.contender.name,
            "settings": {key: word(value) for key, value in {**one.contender.limits, **one.values}.items()},
            "rows": {"test": rows, "held_out": len(self.table.labels("train")) - train, "train": train},
            "test_accuracy_pct": figure,
            "interval_95": wilson(round(figure * rows / 100), rows),
            "validation_accuracy_pct": 100.0 - one.error,
            "confirmed": one.confirmed,
            "trials": len(self.search.records),
            "columns": self.request.screened,
            "next_best": None if other is None else {
                "method": other.contender.name, "validation_accuracy_pct": 100.0 - other.error,
                "settings": {key: word(value) for key, value in {**other.contender.limits, **other.values}.items()},
                "saved": other.contender.saved, "few_rows": any(other is each for each in self.search.first),
            },
            "again": self.request.again,
            "alone": shlex.join(["boostrun", "export", *self._named, *words, "--to", "npz", "-o", str(output)]),
        }  # fmt: skip
        pictures = [self._drawn(tried, one)] if self.clock.left() > _PICTURE * self.search.start else []
        if "flash" in self.request.budgets:
            settings = self.compose(self.request.data_words)
            file = user_path(settings.dataset["path"], roots(settings)[0])
            facts["chip"] = shlex.join(["boostrun", "export", str(output), str(file), "--to", "c", "--integer"])
        spent["seconds"] = self.clock.spent
        facts["budgets"] = {
            kind: {"most": most, "spent": spent[kind], "meter": "; ".join([KINDS[kind].meter, *how.get(kind, ())])}
            for kind, most in self.request.budgets.items()
        }  # fmt: skip
        tables = [Path(name) for name in (self.request.screened or {"tables": ()})["tables"]]
        return Certified(output, facts, [output, *write_certificate(facts, output), *tables, *pictures])

    def _drawn(self, tried: Sequence[Tried], chosen: Tried) -> Path:
        """Draw ``m.png``: errors against flash, latency or features, if budgets, else the seconds of a training."""
        kind = next((kind for kind in _COSTS if kind in self.request.budgets), "")

        def point(one: Tried) -> tuple[str, float, float]:
            spent = {**one.row, **one.row.get("spent", {})}
            return one.contender.name, spent.get(_COSTS.get(kind, "train_seconds"), math.nan), one.row.get(BY, math.nan)

        heads = {"flash": "bytes of flash", "latency": "microseconds, estimated", "features": "features used"}
        head = heads.get(kind, "seconds of a training")
        most = self.request.budgets.get(kind, 0.0)
        return draw([*map(point, tried)], point(chosen), head, most, self.request.output.with_suffix(".png"))
