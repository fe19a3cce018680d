"""How rivals on a stream are measured: as every method that follows one, once their library is known to be there."""

from __future__ import annotations

from typing import Any

from boostrun.evaluation.prequential import OnStream
from boostrun.rivals.streams.follower import Follower


class OfFollowers(OnStream):
    """As :class:`boostrun.evaluation.prequential.OnStream`; what is not installed is told before anything runs."""

    def check(self, model: Follower, data: Any) -> None:
        """Raise BoostrunError, with the command that installs it, where the library is not there."""
        model.installed()
