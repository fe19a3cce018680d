"""Settings are chosen on a share of the training data; the test data stay closed."""

import json

import numpy as np

from boostrun.inputs.bank import Table


class Bank:
    """A training part of 50 samples, and a test part that nobody may open."""

    families, classes, meta = (("all", 0, 2),), ("a", "b"), {}

    def samples(self, split):
        assert split == "train"
        return np.arange(100, dtype=np.uint8).reshape(50, 2)

    def codes(self, split):
        return self.samples(split).T

    def labels(self, split):
        assert split == "train"
        return np.arange(50)


def test_the_training_part_is_split_in_two_the_same_way_and_distortions_are_in_neither():
    one, other = Table(Bank()).held_out(0.2), Table(Bank()).held_out(0.2)
    assert len(one.labels("test")) == 10
    assert sorted([*one.labels("train"), *one.labels("test")]) == list(range(50))
    for split in ("train", "test"):
        assert (one.labels(split) == other.labels(split)).all()
        assert (one.samples(split) == Bank().samples("train")[one.labels(split)]).all()
        assert (one.codes(split) == one.samples(split).T).all() and one.codes(split).flags.c_contiguous
    held = Table(Bank()).held_out(0.2, copies=4)  # ten originals, and four distortions of each after them
    train, test = held.labels("train"), held.labels("test")
    assert len(test) == 2 and (test < 10).all()
    assert len(train) == 40 and not set(train % 10) & set(test)


def test_fewer_training_samples_leave_the_test_part_alone():
    class Whole:
        """Fifty training samples and six for tests."""

        meta, classes = {}, ("a", "b")

        def samples(self, split):
            count = 50 if split == "train" else 6
            return np.arange(2 * count, dtype=np.uint8).reshape(count, 2)

        def codes(self, split):
            return self.samples(split).T

        def values(self, split):
            return self.samples(split) / 2

        def labels(self, split):
            return np.arange(len(self.samples(split)))

    some, more, all_ = (Table(Whole()).subset(count) for count in (7, 8, 99))
    rows = some.labels("train")
    assert len(rows) == 7 and set(rows) < set(more.labels("train")) and len(all_.labels("train")) == 50
    assert (rows == Table(Whole()).subset(7).labels("train")).all()
    assert (some.samples("train") == Whole().samples("train")[rows]).all()
    assert (some.values("train") == some.samples("train") / 2).all()
    assert (some.codes("train") == some.samples("train").T).all() and some.codes("train").flags.c_contiguous
    for part in ("samples", "codes", "values", "labels"):
        assert (getattr(some, part)("test") == getattr(Whole(), part)("test")).all()


def test_a_run_with_holdout_or_fewer_training_samples_is_another_cell(command, workplace):
    small = "algo=wsam dataset=digits r=12 T=4 trials=1 n_jobs=1"
    assert all(command(f"{small} {more}")[0] == 0 for more in ("", "holdout=0.2", "train_samples=100"))
    records = [json.loads(path.read_text()) for path in (workplace / "results" / "runs").rglob("*.json")]
    kept = [{key: record["cell"]["dataset"].get(key) for key in ("holdout", "train_samples")} for record in records]
    assert sorted(map(str, kept)) == sorted(map(str, (
        {"holdout": None, "train_samples": None}, {"holdout": 0.2, "train_samples": None},
        {"holdout": None, "train_samples": 100},
    )))  # fmt: skip
    assert len({record["metrics"]["test_accuracy_pct"] for record in records}) == 3
    assert command(f"{small} holdout=1.5")[0] == 2
