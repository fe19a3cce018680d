"""Which r of the r + q samples at hand to keep: the paper's simple strategies (section 3).

A strategy is called once a round with the :class:`Batch` at hand and returns the places of the kept samples,
ascending, and the weights that the weak learner is trained with. A function will do:

>>> from boostrun import ReservoirClassifier
>>> def hardest_half(batch, r, rng):
...     "Half of the room for the smallest margins, the rest at random."
...     order = np.argsort(batch.labels * batch.scores, kind="stable")
...     kept = np.sort(np.concatenate([order[: r // 2], rng.permutation(order[r // 2 :])[: r - r // 2]]))
...     return kept, batch.weights[kept]
>>> X = np.random.default_rng(0).random((500, 3))
>>> model = ReservoirClassifier(hardest_half, reservoir_size=40, n_estimators=20, random_state=0)
>>> bool(model.fit(X, X[:, 0] > 0.3).score(X, X[:, 0] > 0.3) > 0.9)
True
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boostrun.config import fields
from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.keys import WSamKeys


@dataclass(frozen=True)
class Batch:
    """A = R u Q, the n = r + q samples at hand; to be looked at, not changed.

    Attributes
    ----------
    samples : (n, d) array, uint8 codes unless values are looked at as they are.
    labels : (n,) float64 of -1.0 and +1.0; of samples whose label is not known yet, a guess.
    weights : (n,) float64 >= 0, masses times loss weights.
    arrived : (n,) int64, the round in which each came.
    scores : (n,) float64, F(x) of the ensemble so far; empty if there is no ensemble.
    masses : (n,) float64, how many samples each stands for; empty if there is no ensemble.

    For a reservoir shared by c classes: labels, weights, scores and masses are (n, c).
    """

    samples: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    arrived: np.ndarray
    scores: np.ndarray = field(default_factory=lambda: np.empty(0))
    masses: np.ndarray = field(default_factory=lambda: np.empty(0))


class Strategy(ABC):
    """Base of strategies: a subclass says which samples stay.

    Attributes
    ----------
    carry_mass : bool, whether kept samples stand for those dropped in later rounds too.
    restarts : int, number of restarts.
    """

    carry_mass: bool = False
    restarts: int = 0

    @abstractmethod
    def __call__(self, batch: Batch, r: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(kept (r,) int64 ascending, corrected weights (r,) float64)."""

    def for_all_classes(self, batch: Batch, r: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Choose samples for a reservoir shared by c classes: corrected weights are (r, c).

        Unless a strategy has a form of its own, samples are chosen by their weights summed over the classes.
        """
        weights = batch.weights
        total = weights.sum(axis=1, keepdims=True)
        answer = self(dataclasses.replace(batch, weights=total[:, 0]), r, rng)
        kept, chosen = checked(answer, (r,), len(total))
        share = np.divide(weights[kept], total[kept], out=np.zeros_like(weights[kept]), where=total[kept] > 0.0)
        return kept, chosen[:, None] * share

    def check(self, shared: bool) -> None:  # noqa: B027 (most accept all parameters)
        """Raise BoostrunError for bad parameters, or if it cannot share a reservoir between classes."""


class Rand(Strategy):
    """Keep r samples uniformly at random."""

    def __call__(self, batch, r, rng):
        kept = np.sort(rng.permutation(len(batch.weights))[:r])
        return kept, batch.weights[kept]


class Max(Strategy):
    """Keep the r largest weights; of equals, those that stand first."""

    def __call__(self, batch, r, rng):
        kept = np.sort(np.argsort(-batch.weights, kind="stable")[:r])
        return kept, batch.weights[kept]


class Window(Strategy):
    """Keep the newest r samples: the sliding window of the drift literature."""

    def __call__(self, batch, r, rng):
        kept = np.sort(np.argsort(-batch.arrived, kind="stable")[:r])
        return kept, batch.weights[kept]


class WSam(WSamKeys, Strategy):
    """Keep r samples drawn without replacement with probability proportional to the weights.

    Successive sampling is done in one step by exponential races: the r smallest of E_i / w_i, E_i standard
    exponential (Efraimidis & Spirakis 2006).

    Parameters
    ----------
    {parameters}
    """

    def __call__(self, batch, r, rng):
        # a weight of zero is kept only when nothing else is left
        race = rng.standard_exponential(len(batch.weights)) / np.maximum(batch.weights, 1e-300)
        kept = np.sort(np.argpartition(race, r - 1)[:r])
        return kept, np.ones(r) if self.stump_weights == "uniform" else batch.weights[kept]

    def check(self, shared: bool) -> None:
        fields.check(self)


def checked(answer: Any, shape: tuple[int, ...], n: int) -> tuple[np.ndarray, np.ndarray]:
    """A strategy's answer, if it is places (r,) of n, all different, and weights of this ``shape`` (r, ...).

    Raises BoostrunError otherwise. Cost O(n).
    """
    try:
        kept, corrected = answer
        fits = kept.shape == shape[:1] and kept.dtype.kind == "i" and corrected.shape == shape
    except (TypeError, ValueError, AttributeError):
        fits = False
    if not fits:
        raise BoostrunError(f"a strategy must give the {shape[0]} places that it keeps, and weights of shape {shape}")
    if len(others(kept, n)) != n - len(kept):
        raise BoostrunError(f"a strategy must keep different places from 0 to {n - 1}, not {kept.tolist()}")
    return kept, corrected


def others(kept: np.ndarray, n: int) -> np.ndarray:
    """The places of n that are not among ``kept``, ascending; all of them where one of those is none. Cost O(n)."""
    free = np.ones(n, bool)
    try:
        free[kept] = False
    except IndexError:
        free[:] = True
    return np.flatnonzero(free)


class _Called(Strategy):
    """A function or callable object given by the user."""

    def __init__(self, found: Callable):
        self.found = found
        self.carry_mass = bool(getattr(found, "carry_mass", False))

    def __call__(self, batch, r, rng):
        return self.found(batch, r, rng)


def as_strategy(found: Callable) -> Strategy:
    """A callable as ``found(batch, r, rng)`` as a :class:`Strategy`, which it may be already."""
    return found if isinstance(found, Strategy) else _Called(found)


class WSamMass(Strategy):
    """WSam whose kept samples stand for those dropped, from round to round: each for an equal share of all weight.

    A sample that is kept in proportion to its weight w stands for 1 / w of it (importance sampling), so that all r
    weigh W / r alike, with W the sum of the weights. The paper carries a mass for GEEM only. Cost O(r + q).

    Examples
    --------
    >>> from boostrun.papers.reservoir.strategies import Batch
    >>> weights = np.array([1.0, 0.0, 3.0])
    >>> batch = Batch(np.zeros((3, 1)), np.ones(3), weights, np.zeros(3, int))
    >>> WSamMass()(batch, 2, np.random.default_rng(0))
    (array([0, 2]), array([2., 2.]))
    """

    carry_mass = True

    def __call__(self, batch, r, rng):
        kept, _ = WSam()(batch, r, rng)
        return kept, np.full(r, batch.weights.sum() / r)


class Mvs(Strategy):
    """Keep r samples with chances p_i = min(1, w_i / mu) that sum to r: minimal variance sampling.

    The kept ones get the weights w_i / p_i = max(w_i, mu), so that sums over them are unbiased for sums over all. No
    chances that sum to r give a smaller sum of w_i^2 / p_i (Ibragimov & Gusev 2019, where w_i is a gradient's norm).
    Samples of a weight of at least mu are certain; of the others systematic sampling in random order takes as many as
    are missing. Weights of 0 are kept only if too few others are there, at random. Cost O(n log n).

    References
    ----------
    B. Ibragimov and G. Gusev, "Minimal Variance Sampling in Stochastic Gradient Boosting", NeurIPS 2019.

    Examples
    --------
    >>> weights = np.array([1.0, 9.0, 1.0, 1.0, 1.0])
    >>> batch = Batch(np.zeros((5, 1)), np.ones(5), weights, np.zeros(5, int))
    >>> kept, corrected = Mvs()(batch, 3, np.random.default_rng(0))
    >>> bool(1 in kept), sorted(corrected.tolist())
    (True, [2.0, 2.0, 9.0])
    """

    def __call__(self, batch, r, rng):
        weights, n = batch.weights, len(batch.weights)
        order = rng.permutation(n)  # equal weights stand in random order
        order = order[np.argsort(-weights[order], kind="stable")]
        left = np.cumsum(weights[order[::-1]])[::-1][:r]
        mu = left / (r - np.arange(r))  # if so many are certain
        below = np.flatnonzero(weights[order[:r]] < (1.0 - 1e-9) * mu)
        sure = below[0] if len(below) else r
        kept, corrected = order[:sure], weights[order[:sure]]
        if missing := r - sure:
            rest = rng.permutation(order[sure:])
            upto = np.cumsum(weights[rest])
            marks = (rng.random() + np.arange(missing)) * (upto[-1] / missing)
            places = np.searchsorted(upto, marks, side="right")  # no weight reaches mu, so no place is found twice
            kept = np.append(kept, rest[np.minimum(places, len(rest) - 1)])
            corrected = np.append(corrected, np.full(missing, mu[sure]))
        ascending = np.argsort(kept)
        return kept[ascending], corrected[ascending]


class MvsMass(Mvs):
    """Mvs whose kept samples stand for those dropped in later rounds too: 1 / p_i multiplies the mass."""

    carry_mass = True


# -- reservoirs that are merged


class KeyedReservoir:
    """At most ``size`` rows of a weighted stream: those with the smallest keys E / w, E standard exponential.

    This is sampling without replacement in proportion to the weights in one pass (Efraimidis & Spirakis 2006, whose
    u^(1/w) is exp(-key)). A row keeps its key, so that the reservoirs of the parts of a stream merge to the reservoir
    of the whole stream, in any order (Hübschle-Schneider & Sanders 2019).

    Attributes
    ----------
    keys : (m,) float64, ascending, m at most ``size``.
    rows : dict of arrays (m, ...), whatever belongs to a row.
    bound : float, the smallest key of all rows that were let go; infinite if none was.

    Examples
    --------
    >>> left, right = KeyedReservoir(2), KeyedReservoir(2)
    >>> left.add(np.array([0.5, 0.1, 0.9]), row=np.array([1, 2, 3]))
    >>> right.add(np.array([0.3, 0.7]), row=np.array([4, 5]))
    >>> left.merge(right)
    >>> left.keys.tolist(), left.rows["row"].tolist(), left.bound
    ([0.1, 0.3], [2, 4], 0.5)
    """

    def __init__(self, size: int):
        if size < 1:
            raise BoostrunError(f"size={size}: a reservoir keeps one row at least")
        self.size, self.keys, self.bound = int(size), np.empty(0), float("inf")
        self.rows: dict[str, np.ndarray] = {}

    @staticmethod
    def draw_keys(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Keys (n,) of rows with weights (n,) of at least 0; one of 0 is kept only when nothing else is left."""
        return rng.standard_exponential(len(weights)) / np.maximum(weights, 1e-300)

    def add(self, keys: np.ndarray, **rows: np.ndarray) -> None:
        """Rows that arrive, (n, ...) each, with keys (n,). Cost O((m + n) log(m + n))."""
        fresh = KeyedReservoir(self.size)
        fresh.keys, fresh.rows = np.asarray(keys, np.float64), rows
        self.merge(fresh)

    def merge(self, *others: KeyedReservoir) -> None:
        """Take in the rows of other reservoirs, and keep the ``size`` of smallest keys; of equals, the first.

        Raises BoostrunError if their rows have other fields. Cost O(n log n + size d) for n keys and d values a row.
        """
        found = [one for one in (self, *others) if len(one.keys)]
        if any(one.rows.keys() != found[0].rows.keys() for one in found):
            raise BoostrunError("reservoirs whose rows have different fields cannot be merged")
        keys = np.concatenate([np.empty(0), *(one.keys for one in found)])
        order = np.argsort(keys, kind="stable")
        stay = order[: self.size]
        let_go = keys[order[self.size : self.size + 1]].tolist()
        self.bound = min(self.bound, *(one.bound for one in others), *let_go, float("inf"))
        place = np.empty(len(keys), np.intp)
        place[stay] = np.arange(len(stay))
        kept = np.zeros(len(keys), bool)
        kept[stay] = True
        starts = np.cumsum([0, *(len(one.keys) for one in found)])
        parts = [(one, np.flatnonzero(kept[start:stop])) for one, start, stop in zip(found, starts, starts[1:])]
        rows = {}
        for name in found[0].rows if found else ():
            some = [one.rows[name] for one, _ in parts]
            rows[name] = np.empty((len(stay), *some[0].shape[1:]), np.result_type(*some))
            for array, (_, own), start in zip(some, parts, starts):
                rows[name][place[start + own]] = array[own]
        self.keys, self.rows = keys[stay], rows

    def chances(self, weights: np.ndarray) -> np.ndarray:
        """p_i = 1 - exp(-w_i ``bound``) (m,) of rows with weights (m,), as if the keys of all other rows were known.

        Sums of x_i / p_i are unbiased for sums of x over all rows, let go or not (bottom-k samples, Cohen & Kaplan
        2007). All are 1 if no row was let go.
        """
        if self.bound == float("inf"):
            return np.ones(len(weights))
        return np.maximum(-np.expm1(-np.maximum(weights, 1e-300) * self.bound), 1e-300)

    def snapshot(self) -> dict[str, np.ndarray]:
        """The state as arrays, copies that ``np.savez`` can write; :meth:`restore` makes an equal reservoir of it."""
        return {
            "size": np.array(self.size), "bound": np.array(self.bound), "keys": self.keys.copy(),
            **{f"row_{name}": array.copy() for name, array in self.rows.items()},
        }  # fmt: skip

    @classmethod
    def restore(cls, state: Mapping[str, np.ndarray]) -> KeyedReservoir:
        """The reservoir of a snapshot. Raises BoostrunError for a state that is none."""
        try:
            found = cls(int(state["size"]))
            found.bound, found.keys = float(state["bound"]), np.array(state["keys"], np.float64)
            names = [name for name in state if name.startswith("row_")]
            found.rows = {name.removeprefix("row_"): np.array(state[name]) for name in names}
        except (KeyError, TypeError, ValueError) as error:
            raise BoostrunError(f"this is no snapshot of a reservoir ({error})") from None
        m = len(found.keys)
        whole = all(len(array) == m for array in found.rows.values()) and m <= found.size
        if not whole or not (np.diff(found.keys) >= 0.0).all() or (m and not found.keys[-1] <= found.bound):
            raise BoostrunError("this is no snapshot of a reservoir (its keys and rows do not fit)")
        return found


class MergedParts:
    """The samples that parts of the data offer, merged by key: a reservoir over all parts.

    Keys are drawn again each round, since weights change. So the merged samples have the distribution of a single
    reservoir over all parts: drawn in proportion to their weights, without replacement.

    Parameters
    ----------
    objects : :class:`boostrun.methods.estimator.Held`, of :class:`boostrun.papers.reservoir.classifier.ReservoirPart`.
    begin : the arguments of their ``begin``, one tuple a part.
    exact : bool, whether the keys alone choose. If not, masses are divided by the chances that they have to be merged.

    It holds what all parts offer for a moment: at most r + p q samples of p parts.
    """

    def __init__(self, objects: Any, begin: list[tuple], exact: bool):
        self.objects, self.begin, self.exact = objects, begin, exact
        self.drawn = self.peak_held = 0

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The first samples (n, d) and their labels (n, c), one column a problem."""
        self._merge(self.objects.ask([("begin", *begin) for begin in self.begin], anew=True))
        return self.pool["samples"], self.pool["labels"]

    def go_on(self, kept: np.ndarray, masses: np.ndarray | None, learned: list, t: int) -> None:
        """Tell the parts which samples of the pool stay, and take what they offer for round t."""
        owners, places = self.pool["part"][kept], self.pool["place"][kept]
        own = [np.flatnonzero(owners == part) for part in range(len(self.begin))]
        self._merge(self.objects.ask(
            [("go_on", places[mine], None if masses is None else masses[mine], learned, t) for mine in own]
        ))  # fmt: skip

    def release(self, n: int) -> None:
        """Do nothing: parts drop their samples when they begin again."""

    def _merge(self, offers: list[tuple[KeyedReservoir, int, int]]) -> None:
        merged = KeyedReservoir(offers[0][0].size)
        merged.merge(*(offer for offer, *_ in offers))
        self.drawn = sum(drawn for _, drawn, _ in offers)
        self.peak_held = max(held for *_, held in offers)
        rows = merged.rows
        if not self.exact:  # a strategy chooses among these, so that each stands for those that were let go
            rows["masses"] = rows["masses"] / merged.chances(rows["weights"])[:, None]
        order = np.lexsort((rows["place"], rows["part"]))
        self.pool = {name: array[order] for name, array in rows.items()}
