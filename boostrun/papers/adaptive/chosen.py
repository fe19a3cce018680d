"""Feature families by name: what `features.only` names, of those that there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from boostrun.errors import BoostrunError, did_you_mean


class Named(Protocol):
    """A family, as far as it is chosen."""

    @property
    def name(self) -> str: ...


Family = TypeVar("Family", bound=Named)


def chosen(families: Sequence[Family], only: Sequence[str] | str | None) -> tuple[Family, ...]:
    """The families of these names, in the order of `families`; all of them for None.

    Raises
    ------
    BoostrunError
        A name that is none, or no name at all.
    """
    if only is None:
        return tuple(families)
    names = [family.name for family in families]
    wanted = [only] if isinstance(only, str) else list(only)
    for name in wanted:
        if name not in names:
            raise BoostrunError(f"no feature family '{name}'{did_you_mean(str(name), names)} ({', '.join(names)})")
    if not wanted:
        raise BoostrunError(f"features.only names no family; null takes all of them ({', '.join(names)})")
    return tuple(family for family in families if family.name in wanted)
