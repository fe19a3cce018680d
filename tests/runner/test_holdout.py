"""Settings are chosen on a share of the training data; the test data stay closed."""

import numpy as np

from boostrun.runner.holdout import Holdout


class Bank:
    """A training part of 50 samples, and a test part that nobody may open."""

    families = (("all", 0, 2),)

    def samples(self, split):
        assert split == "train"
        return np.arange(100, dtype=np.uint8).reshape(50, 2)

    def labels(self, split):
        assert split == "train"
        return np.arange(50)


def test_the_training_part_is_split_in_two_the_same_way_every_time():
    one, other = Holdout(Bank(), 0.2), Holdout(Bank(), 0.2)
    assert len(one.labels("test")) == 10
    assert sorted([*one.labels("train"), *one.labels("test")]) == list(range(50))
    for split in ("train", "test"):
        assert (one.labels(split) == other.labels(split)).all()
        assert (one.samples(split) == Bank().samples("train")[one.labels(split)]).all()
        assert (one.codes(split) == one.samples(split).T).all() and one.codes(split).flags.c_contiguous


def test_a_run_with_holdout_is_another_cell_without_a_paper_beside_it(command, workplace):
    import re

    small = "algo=wsam dataset=digits r=12 T=4 trials=2 n_jobs=1"
    code, with_holdout, _ = command(f"{small} holdout=0.2")
    assert code == 0 and "n=2" in with_holdout
    code, without, _ = command(small)
    assert code == 0 and without != with_holdout
    assert len(list((workplace / "results" / "runs").rglob("*.json"))) == 4
    assert command(f"{small} holdout=1.5")[0] == 2
    assert re.search(r"wsam +\d", without)
