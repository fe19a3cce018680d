"""The notes below a frontier's table: its data, its trials and its searches, in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from boostrun.config.fields import PLACES, Settings
from boostrun.report.entry import ACCURACY, measure_of
from boostrun.runner.naming import trials
from boostrun.runner.plan import PlannedCell
from boostrun.runner.search import HOLDOUT

if TYPE_CHECKING:
    from boostrun.runner.frontier import Candidate, FrontierRequest

QUICK_ROUNDS = 100
_ELSEWHERE = ("dataset", "features", "trials", "seed", "n_jobs")  # keys that other lines name, or that change nothing


def notes_of(
    request: FrontierRequest, first: Settings, facts: Mapping[str, int], cells: Sequence[PlannedCell],
    candidates: Sequence[Candidate],
) -> list[str]:  # fmt: skip
    """How the points were made, in lines."""
    n, d, k = (facts[name] for name in ("n_samples", "n_features", "n_classes"))
    size = f"{n:,} samples for training, {d:,} features, {k} classes"
    split = f"{request.splits} splits, each tuned on its own training data; the size is that of the first"
    asked = split if request.splits > 1 else trials(cells) if cells else ""
    found = [f"{first.dataset['name']} {first.features['name']}: {size}; {asked}" if asked else size]
    typed = [each for each in request.words if each.partition("=")[0] not in (*_ELSEWHERE, *PLACES)]
    if "path" in first.dataset and not any(each.startswith("dataset.path=") for each in typed):
        typed.append(f"dataset.path={first.dataset['path']}")
    if typed:
        found.append(f"for all: {' '.join(typed)}")
    if any(one.settings and one.settings.algo.get("early_stopping") for one in candidates):
        found.append("early stopping: the samples held out, and the rounds that were not kept, are beyond the budget")
    if request.kind == "flash_bytes":
        found += filter(None, [_in_whole_numbers([record["metrics"] for cell in cells for record in cell.done])])
    if request.kind == "seconds":
        found.append("as many rounds as pilot trials promise; nothing is tuned, which would change how long one takes")
    elif request.tuning:
        shares = [one.searched.root["holdout"] for one in candidates if one.searched is not None]
        share = round(100 * max(shares, default=HOLDOUT))
        by = "the error" if request.metric == ACCURACY else measure_of(request.metric)
        found.append(
            f"tuned under each budget, {request.tuning} trials a method, by {by} on {share} % of the training "
            "data that are held out; settings found under a smaller budget are used if they are better there; the test "
            "data are not used"
        )
        found += filter(None, [_fewer(request.tuning, [one for one in candidates if not one.known])])
        if known := ", ".join(dict.fromkeys(one.method for one in candidates if one.known)):
            found.append(f"with the settings of the table before this one, not searched again: {known}")
        for one in candidates:
            if one.failed:
                found.append(
                    f"{one.method} at {one.budget:,}: the best values on held-out data failed with all training data "
                    f"({one.failed}); the next best took their place"
                )
    else:
        found.append("nothing is tuned: every other key is at its default")
    if request.quick:
        found.append(
            f"quick: fewer methods, budgets, seeds and trials, and T={QUICK_ROUNDS} weak learners, unless typed"
        )
    return found


def _in_whole_numbers(metrics: Sequence[Mapping[str, float]]) -> str:
    """How far predictors of whole numbers are from their models in real numbers.

    >>> _in_whole_numbers([{"test_accuracy_pct": 90.0, "real_accuracy_pct": 90.5}])
    'figures are those of predictors of whole numbers; in real numbers trials have +0.50 to +0.50 points, +0.50 on ...'
    """
    more = [one["real_accuracy_pct"] - one["test_accuracy_pct"] for one in metrics if "real_accuracy_pct" in one]
    if not more:
        return ""
    least, most, mean = (f"{round(each, 2) + 0.0:+.2f}" for each in (min(more), max(more), sum(more) / len(more)))
    said = f"{least} to {most} points, {mean} on average"
    return f"figures are those of predictors of whole numbers; in real numbers trials have {said}"


def _fewer(tuning: int, candidates: Sequence[Candidate]) -> str:
    """Which methods had fewer distinct trials than ``tuning``, because values repeated or there is no search.

    >>> from boostrun.runner.frontier import Candidate
    >>> some = [Candidate("a", False, 10, searched=True, tried=2), Candidate("b", False, 10, searched=True, tried=5)]
    >>> _fewer(5, [*some, Candidate("c", True, 10, searched=True)])
    'values repeated, so that fewer trials differ, under some budget as few as: a 2; c has no search'
    """
    least: dict[str, int] = {}
    for one in candidates:
        if one.searched is not None and not one.reason:
            known = least.setdefault(one.method, one.tried)  # under a budget that is too small all trials fail
            least[one.method] = min(known, one.tried) or max(known, one.tried)
    fewer = ", ".join(f"{name} {count}" for name, count in least.items() if 0 < count < tuning)
    unsearched = ", ".join(name for name, count in least.items() if not count)
    return "; ".join([
        *([f"values repeated, so that fewer trials differ, under some budget as few as: {fewer}"] if fewer else []),
        *([f"{unsearched} has no search"] if unsearched else []),
    ])  # fmt: skip
