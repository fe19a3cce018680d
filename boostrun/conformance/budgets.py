"""Whether an algorithm keeps to a budget, seen from outside: what it holds, builds and uses."""

from __future__ import annotations

from boostrun.conformance import Failed, Skipped
from boostrun.conformance.abilities import Counting, FromSource, Listing, Parted, Stagewise
from boostrun.data.source import ArraySource, Filter


class Watched(ArraySource):
    """A source that remembers its Filters: what each was allowed to hand out together, and had."""

    def __init__(self, *arguments, **keys):
        super().__init__(*arguments, **keys)
        self.opened: list[Filter] = []

    def open(self, capacity: int, stream: int = 0) -> Filter:
        self.opened.append(super().open(capacity, stream))
        return self.opened[-1]


def kept(subject, key: str) -> None:
    """Failed where the budget ``key`` is exceeded or cannot be seen, Skipped where nothing shows it.

    r: no Filter holds more than r + q samples (q is r where there is none). T, M: no more stages, ``estimators_`` or
    ``n_learners_``, for each of its ``parts`` where it has them. Q: no more ``n_features_used_``.
    """
    limit = subject.budget[key]
    if key == "r":
        _samples(subject, limit)
    elif key in ("T", "M"):
        count = _learners(subject)
        if count is None and subject.follows:
            raise Skipped("it has no n_learners_, so nothing shows it")
        if count is None:
            raise Failed(f"nothing shows it: {key} needs staged_predict, estimators_ or n_learners_")
        model = subject.make()
        if count > limit * (model.parts if isinstance(model, Parted) else 1):
            raise Failed(f"{count} learners")
    elif key == "Q":
        used = getattr(subject.trained(), "n_features_used_", None)
        if used is None:
            raise Skipped("it has no n_features_used_, so nothing shows it")
        if used > limit:
            raise Failed(f"{used} features are used")
    else:
        raise Skipped("nothing shows it from outside")


def _samples(subject, limit: int) -> None:
    if "chunks" not in subject.method.inputs and subject.method.paper:
        raise Skipped("its declaration says that it may look at all samples: its inputs have no chunks")
    model = subject.make()
    if not isinstance(model, FromSource):
        raise Failed("it has no fit_source(source), so that it is handed all samples at once")
    source = subject.source(0, Watched)
    model.fit_source(source)
    most = limit + subject.budget.get("q", limit)
    held = max((max(opened.capacity, opened.peak_held) for opened in source.opened), default=0)
    if not source.opened:
        raise Failed("it opened no Filter (source.open(capacity).draw(n)), so that nothing shows what it holds")
    if held > most:
        raise Failed(f"a Filter may hold {held} samples, more than r + q = {most}")


def _learners(subject) -> int | None:
    model = subject.trained()
    if isinstance(model, Counting):
        return int(model.n_learners_)
    if isinstance(model, Listing):
        return len(model.estimators_)
    return sum(1 for _ in model.staged_predict(subject.X)) if isinstance(model, Stagewise) else None
