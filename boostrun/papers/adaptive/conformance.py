"""Checks of a policy: it chooses an existing feature, within the budget, from the families it was given."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.conformance import Check, Failed, Skipped, numpy_left_alone
from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.adaboost_mh import Board
from boostrun.papers.adaptive.policies import hook

_N, _FAMILIES, _EACH, _STEPS = 60, 19, 4, 12


def checks(make: Callable[[], Any]) -> list[Check]:
    """All checks of a policy; ``make()`` gives a new one."""
    return [
        Check("an existing feature, step after step", lambda: _followed(make)),
        Check("within the budget of a step", lambda: _charged(make)),
        Check(f"it is given {_FAMILIES} families, and leaves them as they are", lambda: _families(make)),
        Check("one family of all features", lambda: _followed(make, families=1)),
        Check("more samples than the budget has for all features", lambda: _scarce(make)),
        Check("one class, and five", lambda: _classes(make)),
        Check("same numbers drawn, same features", lambda: _repeated(make)),
        Check("every edge from 0 to nearly 1 is learnt", lambda: _learnt(make)),
        Check("it is copied and pickled", lambda: _pickled(make)),
    ]


def board(seed: int = 0, families: int = _FAMILIES, budget: float = 200.0) -> Board:
    """Training samples as a policy sees them; ``budget`` in units of the number of samples."""
    rng = np.random.default_rng(0)
    d = _FAMILIES * _EACH
    codes = rng.integers(0, 256, (d, _N), dtype=np.uint8)
    width = d // families
    named = [(f"f{k}", width * k, width * (k + 1)) for k in range(families)]
    samples = np.ascontiguousarray(codes.T)
    return Board(codes, named, int(budget * _N), "weight", np.random.default_rng(seed), samples)


def signed(rng: np.random.Generator, classes: int = 1) -> np.ndarray:
    """Signed weights (n, lanes) float32 as the booster has them, which sum to 1."""
    lanes = 1 if classes == 1 else 16
    out = np.zeros((_N, lanes), np.float32)
    weights = rng.random((_N, classes))
    out[:, :classes] = np.where(rng.random((_N, classes)) < 0.5, 1.0, -1.0) * weights / weights.sum()
    return out


def _steps(policy: Any, on: Board, count: int = _STEPS, classes: int = 1) -> list[int]:
    """The features that it chooses, step by step."""
    rng, chosen = np.random.default_rng(1), []
    hook(policy, "start")(on)
    for _ in range(count):
        on.begin_step(signed(rng, classes))
        feature = policy.choose(on)
        if isinstance(feature, (bool, np.bool_)) or not isinstance(feature, (int, np.integer)):
            raise Failed(f"choose gave {feature!r}: the number of a feature is needed")
        if not 0 <= feature < on.n_features:
            raise Failed(f"choose gave the feature {feature} of {on.n_features}")
        chosen.append(int(feature))
        hook(policy, "learn")(float(rng.random() * 0.5))
    return chosen


def _followed(make: Callable, families: int = _FAMILIES, budget: float = 200.0) -> None:
    _steps(make(), board(families=families, budget=budget))


def _scarce(make: Callable) -> None:
    try:
        hook(make(), "start")(board(budget=10.0))
    except BoostrunError as error:
        raise Skipped(f"it cannot start with so little, and says so: {error}") from None
    _followed(make, budget=10.0)


def _charged(make: Callable) -> None:
    on = board()
    _steps(make(), on)  # asking for more than the budget raises
    if len(on.ledger) != _STEPS:
        raise Failed(f"{len(on.ledger)} steps were started instead of {_STEPS}")
    if not any(sum(step.values()) for step in on.ledger):
        raise Failed("no evaluation was ever charged: edges come from board.edges and board.sampled_edges")


def _families(make: Callable) -> None:
    on = board()
    given = list(on.families)
    _steps(make(), on)
    if on.families != given or len(on.families) != _FAMILIES:
        raise Failed("it changes the families of the board")


def _classes(make: Callable) -> None:
    for classes in (1, 5):
        _steps(make(), board(), classes=classes)


def _repeated(make: Callable) -> None:
    with numpy_left_alone():
        first = _steps(make(), board(seed=5))
    if first != _steps(make(), board(seed=5)):
        raise Failed("the same board and the same generator give other features")


def _learnt(make: Callable) -> None:
    policy, on, rng = make(), board(), np.random.default_rng(0)
    hook(policy, "start")(on)
    for edge in (0.0, 1e-12, 0.3, 1.0 - 1e-9):
        on.begin_step(signed(rng))
        policy.choose(on)
        hook(policy, "learn")(edge)
    on.begin_step(signed(rng))
    policy.choose(on)


def _pickled(make: Callable) -> None:
    policy = pickle.loads(pickle.dumps(make()))
    if _steps(policy, board()) != _steps(make(), board()):
        raise Failed("pickled and brought back it chooses other features")
