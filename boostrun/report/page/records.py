"""The records behind a page's tables in few bytes: what repeats is kept once and named by its number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from boostrun.report.entry import canonical

_OF_THE_MACHINE = ("seconds", "time_s", "memory", "_mb", "per_second")
_SHOWN = 16  # hexadecimal digits of a key: `boostrun diff` takes a key's beginning
_PACKAGES = ("boostrun", "numpy", "scipy", "numba", "scikit-learn", "river")


class Records:
    """The records of a page, each once: :meth:`put` in, then found by number; :meth:`summary` is for JSON."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._records: list[list] = []
        self._texts: dict[str, int] = {}
        self._surroundings: dict[str, int] = {}
        self._origins: list[dict] = []

    def __len__(self) -> int:
        return len(self._records)

    def put(self, record: Mapping[str, Any], command: str, stale: str = "") -> int:
        """Where the record stands; ``command`` runs its cell again, ``stale`` says what has changed since it ran."""
        key, seed, provenance = str(record["key"]), record["seed"], record["provenance"]
        if key not in self._numbers:
            self._numbers[key] = len(self._records)
            self._records.append(
                [key[:_SHOWN], seed if isinstance(seed, int) else str(seed), self._text(command),
                 self._origin(provenance), _figures(record["metrics"]), _figures(record["cost"]),
                 str(provenance.get("time", ""))[:19], stale]
            )  # fmt: skip
        return self._numbers[key]

    def find(self, records: Iterable[Mapping[str, Any]]) -> list[int]:
        """Where records stand, in their order; those that were never put in are left out."""
        return [self._numbers[key] for record in records if (key := str(record.get("key"))) in self._numbers]

    def summary(self) -> dict[str, Any]:
        """``records``: [key's beginning, seed, command, origin, metrics, counts, time, stale], ``commands`` and
        ``origins``: what those numbers stand for."""
        return {"records": self._records, "commands": list(self._texts), "origins": self._origins}

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _origin(self, provenance: Mapping[str, Any]) -> int:
        """What surrounded a trial, but for what names or measures a machine."""
        git, versions = (_mapping(provenance.get(name)) for name in ("git", "versions"))
        origin = {
            "command": " ".join(map(str, provenance.get("command") or [])),
            "commit": str(git.get("revision", "")),
            "dirty": bool(git.get("dirty")),
            "python": str(provenance.get("python", "")),
            "versions": {name: str(versions[name]) for name in _PACKAGES if name in versions},
        }
        name = canonical(origin)
        if name not in self._surroundings:
            self._surroundings[name] = len(self._origins)
            self._origins.append(origin)
        return self._surroundings[name]


def _mapping(value: Any) -> Mapping[str, Any]:
    """The value, or an empty mapping for what is none: a run outside a checkout has no commit."""
    return value if isinstance(value, Mapping) else {}


def _figures(figures: Mapping[str, Any]) -> dict[str, float]:
    """Numbers that are the same on any machine, with eight digits.

    >>> _figures({"test_error_pct": 1.9500000000000028, "train_seconds": 0.3, "samples_drawn": 63000})
    {'test_error_pct': 1.95, 'samples_drawn': 63000}
    """
    kept = {name: value for name, value in figures.items() if not any(word in name for word in _OF_THE_MACHINE)}
    return {
        name: value if isinstance(value, int) else float(f"{value:.8g}")
        for name, value in kept.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    }
