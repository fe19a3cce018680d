import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.evaluation.measures import TrialSeeds, spawn


def first(sequence):
    return np.random.default_rng(sequence).integers(2**63)


def test_the_same_seed_gives_the_same_numbers_on_every_call():
    for one, two in zip(spawn(7), spawn(7)):
        assert first(one) == first(two)
        assert first(one.spawn(1)[0]) == first(two.spawn(1)[0])


def test_axes_and_seeds_are_all_different():
    drawn = {int(first(sequence)) for seed in range(200) for sequence in spawn(seed)}
    assert len(drawn) == 600


def test_stored_records_rely_on_these_states():
    assert [int(s.generate_state(1)[0]) for s in spawn(0)] == [3757552657, 673228719, 3241444873]
    assert TrialSeeds._fields == ("split", "filter", "algorithm")


def test_what_an_algorithm_draws_does_not_change_the_data_of_another():
    one, two = spawn(1), spawn(1)
    np.random.default_rng(one.algorithm).random(1000)
    one.algorithm.spawn(5)
    assert first(one.filter) == first(two.filter)


@pytest.mark.parametrize("seed", [-1, 0.5, None, "a", True])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(BoostrunError, match="seed must be"):
        spawn(seed)
