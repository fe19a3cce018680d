"""Detectors of river's in the place of ADWIN: an example at a time, in Python, so for streams of some ten thousand.

Where an ADWIN is cut and its mean rises, here a detector says ``drift_detected``: the same then happens. Which member
is the worst is told by the mean of its errors since it began, which the compiled ADWINs go on keeping, never cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.iboost.kernels import adwin, adwin_bagging, iboost, iboost_adwin, replay
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.kernels import monitored as kernels
from boostrun.papers.iboost.keys import DETECTORS

_NEVER = 0.0  # confidence at which no ADWIN is cut


def detectors(given: Any, count: int) -> list:
    """``count`` fresh detectors of river's: by name, or copies of one that is given."""
    if not isinstance(given, str):
        return [given.clone() for _ in range(count)]
    try:
        from river import drift
    except ImportError:
        raise BoostrunError(f"detector={given!r} is river's: pip install 'boostrun[streams]'") from None
    name = DETECTORS[given]
    return [getattr(drift if hasattr(drift, name) else drift.binary, name)() for _ in range(count)]


def bag(learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """AdWin Bagging."""
    out, correct = np.empty(len(y), np.int64), learner.monitor == "correct"
    members = learner._members
    answer = members.loop(bayes.answer)
    for i in range(len(y)):
        row = slice(i, i + 1)
        out[row], _ = learner._followed(
            adwin_bagging.bag, X[row], y[row], learner.spread_, float(learner.var_floor), learner._adwins, learner._rng,
            members.rule, _NEVER, False, correct, learner.vote == "proba", learner._shares, learner._votes,
        )  # fmt: skip
        wrong = [answer(learner.learners_, j, X[i], members.rule) != y[i] for j in range(learner.budget)]
        if _changed(learner, [miss != correct for miss in wrong]):
            _begin_anew(learner)
            learner.n_replaced_ += 1
    return out


def boost(learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """FLC."""
    out = np.empty(len(y), np.int64)
    for i in range(len(y)):
        row = slice(i, i + 1)
        out[row], _ = learner._followed(
            replay.adwin_boost, X[row], y[row], learner.spread_, float(learner.var_floor), learner.sums_,
            learner._order, learner._rng, learner._members.rule, *learner._window, learner._adwins, learner._counts,
            _NEVER, False, learner._votes, learner._misses,
        )  # fmt: skip
        if _changed(learner, learner._misses):
            worst = _begin_anew(learner)
            learner.sums_[worst] = 0.0
            learner._counts[1] += 1
            if learner.warm_start:
                alone = (np.arange(learner.budget) == worst).view(np.uint8)
                learner._members.loop(kernels.catch_up)(
                    learner.learners_, learner.sums_, learner._order, alone, *learner._window,
                    int(learner._counts[0]), learner._rng, learner.spread_.floor, learner._members.rule,
                    learner._misses,
                )  # fmt: skip
    return out


def follow(learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """IBoost with ADWIN: as many of the newest examples count as a detector holds (``width``), or else ``n_least``."""
    out, said = np.empty(len(y), np.int64), np.empty(len(y), np.int64)
    state, settings, (detector,) = learner._state, learner._settings, learner._detectors
    for i in range(len(y)):
        row = slice(i, i + 1)
        said[row] = learner._predict(X[row])
        if state.counts[iboost.SEEN] >= settings.start:
            detector.update(int(said[i] != y[i]))
            if detector.drift_detected:
                active = max(int(getattr(detector, "width", 0)), learner.n_least)
                kernels.shrink(state, settings, learner._watch, active, learner.n_least, np.empty(len(state.labels)))
        iboost_adwin.test_then_train(
            X[row], y[row], state, settings, learner._adwins, learner._watch, _NEVER, learner.n_least, out[row]
        )
    return said


def _changed(learner, items) -> bool:
    """Each detector meets what its member did; whether one has found a change."""
    for detector, item in zip(learner._detectors, items):
        detector.update(int(item))
    return any(detector.drift_detected for detector in learner._detectors)


def _begin_anew(learner) -> int:
    """The member with the largest mean, and what watches it, have met nothing."""
    worst = int(np.argmax([adwin.estimate(learner._adwins, j) for j in range(learner.budget)]))
    learner._members.loop(bayes.forget)(learner.learners_, worst)
    adwin.forget(learner._adwins, worst)
    learner._detectors[worst] = learner._detectors[worst].clone()
    return worst
