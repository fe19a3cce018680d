"""What is asked of a weak learner: hypotheses better than a coin, votes of -1 and +1, kept and restored as numbers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.conformance import Check, Failed, numpy_left_alone
from boostrun.errors import BoostrunError
from boostrun.methods.weak_learner import as_weak_learner

_N, _D = 60, 5


def weak_learner_checks(make: Callable[[], Any]) -> list[Check]:
    """All checks of a weak learner; ``make()`` gives a new one."""
    return [
        Check("a hypothesis that is a NamedTuple of numbers", lambda: _found(make)),
        Check("votes of -1.0 and +1.0, or whole steps, one a sample", lambda: _votes(make)),
        Check("an edge at least as good as chance", lambda: _edge(make)),
        Check("some rows among others, the same hypothesis", lambda: _among(make)),
        Check("negative weights, and one class alone", lambda: _signs(make)),
        Check("samples that are all alike", lambda: _alike(make)),
        Check("values as they are, or codes by its own word", lambda: _values(make)),
        Check("same samples, same hypothesis", lambda: _repeated(make)),
        Check("samples and weights are left as they are", lambda: _untouched(make)),
        Check("an ensemble adds up its votes", lambda: _ensemble(make)),
        Check("saved and loaded, same votes", lambda: _saved(make)),
        Check("a saved column below 0 is refused", lambda: _below(make)),
    ]


def _problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Codes (n, d) uint8, and signed weights (n,) that feature 2 goes with."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (_N, _D), dtype=np.uint8)
    signs = np.where((codes[:, 2] >= 120) ^ (rng.random(_N) < 0.1), 1.0, -1.0)
    return codes, signs * rng.random(_N) / _N


def _hypothesis(make: Callable, codes: np.ndarray, signed: np.ndarray) -> tuple[Any, Any]:
    learner = as_weak_learner(make())
    return learner, learner.find(codes, signed)


def _voted(learner: Any, hypothesis: Any, codes: np.ndarray) -> np.ndarray:
    votes = np.asarray(learner.votes(hypothesis, codes, np.arange(len(codes))))
    if votes.shape != (len(codes),):
        raise Failed(f"votes of the shape {votes.shape} for {len(codes)} samples")
    if learner.whole_steps:
        if not np.isfinite(votes).all():
            raise Failed("a vote is not finite")
    elif not np.isin(votes, (-1.0, 1.0)).all():
        raise Failed(f"a vote is {votes[~np.isin(votes, (-1.0, 1.0))][0]}: -1.0 or +1.0 are needed")
    return votes


def _found(make: Callable) -> None:
    _, hypothesis = _hypothesis(make, *_problem())
    if not isinstance(hypothesis, tuple) or not getattr(hypothesis, "_fields", ()):
        raise Failed(f"find gave a {type(hypothesis).__name__}: a NamedTuple of numbers and arrays is needed")
    for name, value in hypothesis._asdict().items():  # type: ignore[attr-defined]
        if np.asarray(value).dtype.kind not in "biuf":
            raise Failed(f"{type(hypothesis).__name__}.{name} is of {np.asarray(value).dtype}: numbers are needed")


def _votes(make: Callable) -> None:
    codes, signed = _problem()
    learner, hypothesis = _hypothesis(make, codes, signed)
    for n in (_N, 1):
        _voted(learner, hypothesis, codes[:n])


def _edge(make: Callable) -> None:
    for seed in range(3):
        codes, signed = _problem(seed)
        edge = float(signed @ _voted(*_hypothesis(make, codes, signed), codes))
        if edge <= 0.0:
            raise Failed(f"its edge is {edge:.4f} where one feature goes with the labels")


def _among(make: Callable) -> None:
    codes, signed = _problem()
    rows = np.arange(5, 50, 3)
    learner, hypothesis = _hypothesis(make, codes[rows], signed[rows])
    among = as_weak_learner(make()).find_among(codes, rows, signed[rows])
    votes = np.asarray(learner.votes(among, codes, rows))
    if not np.array_equal(votes, _voted(learner, hypothesis, np.ascontiguousarray(codes[rows]))):
        raise Failed("find_among(samples, rows, weights) finds another than find(samples[rows], weights)")


def _signs(make: Callable) -> None:
    codes, signed = _problem()
    for weights in (-signed, np.abs(signed), -np.abs(signed)):
        learner, hypothesis = _hypothesis(make, codes, weights)
        edge = float(weights @ _voted(learner, hypothesis, codes))
        if edge <= 0.0:
            raise Failed(f"its edge is {edge:.4f} where the labels are turned round, or all alike")


def _alike(make: Callable) -> None:
    codes, signed = _problem()
    alike = np.full_like(codes, 7)
    _voted(*_hypothesis(make, alike, signed), alike)


def _values(make: Callable) -> None:
    learner = as_weak_learner(make())
    if learner.codes:
        return
    codes, signed = _problem()
    values = codes / 10.0 - 3.3
    _voted(learner, learner.find(values, signed), values)


def _repeated(make: Callable) -> None:
    codes, signed = _problem()
    with numpy_left_alone():
        first = _hypothesis(make, codes, signed)[1]
    second = _hypothesis(make, codes, signed)[1]
    if not all(np.array_equal(one, other) for one, other in zip(first, second)):
        raise Failed("the same samples and weights give another hypothesis")


def _untouched(make: Callable) -> None:
    codes, signed = _problem()
    _voted(*_hypothesis(make, codes, signed), codes)
    if not all(np.array_equal(one, other) for one, other in zip((codes, signed), _problem())):
        raise Failed("it writes into the samples or weights that it is given")


def _made(make: Callable) -> tuple[Any, np.ndarray, np.ndarray]:
    """An ensemble of three hypotheses of one problem, the codes, and the scores that it should have."""
    codes, _ = _problem()
    learner, expected, members = as_weak_learner(make()), np.zeros(_N), []
    for seed, step in enumerate((0.5, 0.25, 1.0)):
        hypothesis = learner.find(codes, _problem(seed)[1])
        members.append((hypothesis, step))
        expected += step * _voted(learner, hypothesis, codes)
    return learner.ensemble([members], None), codes, expected


def _ensemble(make: Callable) -> None:
    ensemble, codes, expected = _made(make)
    if not np.allclose(ensemble.decision(codes)[0], expected):
        raise Failed("decision(samples) is not the sum of coefficients times votes")
    columns = np.ascontiguousarray(codes.T)
    *_, last = (scores.copy() for scores in ensemble.staged_decision(columns, [1, 2, 3]))
    if ensemble.n_rounds != 3 or not np.allclose(last[0], expected):
        raise Failed("staged_decision(columns, [1, 2, 3]) does not end at the sum of all")


def _saved(make: Callable) -> None:
    ensemble, codes, _ = _made(make)
    with tempfile.TemporaryDirectory() as folder:
        loaded, _ = type(ensemble).load(ensemble.save(Path(folder) / "ensemble.npz"))
    if not np.array_equal(loaded.decision(codes), ensemble.decision(codes)):
        raise Failed("what is loaded votes otherwise than what was saved")


def _below(make: Callable) -> None:
    """Whole numbers that give the same votes when d is taken from them, and others when they move on, are columns."""
    ensemble, codes, _ = _made(make)
    expected = ensemble.decision(codes)
    with tempfile.TemporaryDirectory() as folder:
        path = ensemble.save(Path(folder) / "ensemble.npz")
        with np.load(path) as found:
            arrays = {name: found[name] for name in found.files}

        def same(name: str, changed: np.ndarray) -> bool:
            np.savez(path, **{**arrays, name: changed})
            try:
                return np.array_equal(type(ensemble).load(path)[0].decision(codes), expected)
            except BoostrunError:
                return False

        for name in [name for name in arrays if name.startswith("hypothesis_") and arrays[name].dtype.kind == "i"]:
            if same(name, arrays[name] - _D) and not same(name, (arrays[name] + 1) % _D):
                field = name.removeprefix("hypothesis_")
                raise Failed(
                    f"{field} holds columns, and one below 0 is answered from the end: name it column, columns or "
                    f"{field}_column, which files are held to, or refuse it with a ValueError"
                )
