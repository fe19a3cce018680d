"""How many rounds a number of seconds buys: of each method pilot trials of two lengths tell what a round takes, and a
trial besides its rounds. They are records as any other: who goes on later takes as many rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from boostrun.config.compose import Settings
from boostrun.errors import BoostrunError
from boostrun.runner.execute import run_cells

PILOTS = 20, 100  # rounds of the two
_TRIALS = 3  # of each, whose median counts: on a busy machine one alone may have waited
_MOST_ROUNDS = 10_000
_SHARE = 0.8  # of the budget that is planned with; the rest is for what varies
Keeping = Callable[[float, Mapping[str, int]], Mapping[str, Any]]


def keeping_seconds(
    words: Mapping[str, Sequence[str]], compose: Callable[[Sequence[str]], Settings], command: Sequence[str]
) -> tuple[dict[str, Keeping], list[dict]]:
    """How each method, of which the words of its settings are given, keeps a budget of seconds; and pilots' records.

    Raises BoostrunError where a pilot fails or is interrupted.
    """
    kept = {
        name: [word for word in some if word.partition("=")[0] not in ("T", "trials")] for name, some in words.items()
    }
    pilots = [compose([*some, f"T={rounds}", f"trials={_TRIALS}"]) for some in kept.values() for rounds in PILOTS]
    cells = run_cells(pilots, command=command).cells if pilots else []
    found: dict[str, Keeping] = {}
    for number, name in enumerate(kept):
        done = [cell.done for cell in cells[2 * number : 2 * number + 2]]
        if not all(done):
            raise BoostrunError(f"the pilot trials of {name} were not finished: its seconds are not known")
        found[name] = rounds_in(*(median(record["cost"]["train_seconds"] for record in each) for each in done))
    return found, [record for cell in cells for record in cell.done]


def rounds_in(few: float, many: float) -> Keeping:
    """As many rounds as the budget buys, a fifth of it kept back, where the pilots took ``few`` and ``many`` seconds.

    A trial takes a constant and so much a round; where the shorter pilot took as long or longer, nothing is constant.

    >>> told = rounds_in(1.2, 2.0)  # a second, and 0.01 a round
    >>> told(2.0, {}), told(10.0, {})
    ({'T': 60}, {'T': 700})
    """
    a_round = (many - few) / (PILOTS[1] - PILOTS[0])
    constant = few - PILOTS[0] * a_round
    if a_round <= 0 or constant < 0:
        a_round, constant = max(few / PILOTS[0], many / PILOTS[1]), 0.0

    def told(budget: float, facts: Mapping[str, int]) -> dict[str, Any]:
        rounds = int((_SHARE * budget - constant) / a_round + 1e-9)
        if rounds < 1:
            besides = f", and a trial {constant:.2g} s besides" if constant else ""
            raise BoostrunError(f"a round takes {a_round:.2g} s{besides}")
        return {"T": min(rounds, _MOST_ROUNDS)}

    return told
