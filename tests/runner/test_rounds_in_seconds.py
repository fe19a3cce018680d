"""Rounds that seconds buy: what is constant is told from what a round takes, and noise promises nothing."""

import pytest

from boostrun.errors import BoostrunError
from boostrun.runner.frontier import PILOTS, rounds_in


@pytest.mark.parametrize(("constant", "a_round"), [(0.0, 0.01), (1.0, 0.01), (0.3, 0.5)])
@pytest.mark.parametrize("budget", [2.0, 50.0])
def test_a_trial_takes_at_most_four_fifths_of_its_seconds(constant, a_round, budget):
    told = rounds_in(*(constant + each * a_round for each in PILOTS))
    rounds = told(budget, {})["T"]
    assert constant + rounds * a_round <= 0.8 * budget + 1e-6 < constant + (rounds + 1) * a_round + 1e-5


def test_a_longer_pilot_that_took_less_time_counts_as_if_nothing_were_constant():
    assert rounds_in(2.0, 1.0)(10.0, {}) == {"T": 80}  # as the slower of both: 0.1 s a round


def test_too_few_seconds_are_refused_with_what_a_round_takes():
    with pytest.raises(BoostrunError, match=r"a round takes 0\.01 s, and a trial 1 s besides"):
        rounds_in(1.2, 2.0)(1.0, {})
