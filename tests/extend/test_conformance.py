"""`boostrun check`: each rule is broken once, and found out; what keeps them all passes."""

import numpy as np
import pytest

from boostrun.conformance import algorithm, dataset, family, in_a_worker, outcomes
from boostrun.extend import objects

ALGORITHMS = """
    import itertools
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    class Good(DecisionTreeClassifier):
        pass

    class Unseeded(DecisionTreeClassifier):
        def fit(self, X, y):
            return super().fit(X, y if len(y) < 9 else np.random.default_rng().permutation(y))

    class Global(DecisionTreeClassifier):
        def fit(self, X, y):
            np.random.rand()
            return super().fit(X, y)

    class Counting(DecisionTreeClassifier):
        times = itertools.count()
        def fit(self, X, y):
            self.max_depth = 1 + next(self.times) // 3
            return super().fit(X, y)

    class Stuck(DecisionTreeClassifier):
        def fit(self, X, y):
            self.why = lambda: 0
            return super().fit(X, y)

    class Column(DecisionTreeClassifier):
        def predict(self, X):
            return super().predict(X)[:, None]

    class Strange(DecisionTreeClassifier):
        def predict(self, X):
            return super().predict(X) + 7

    class Blind(DecisionTreeClassifier):
        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    class Many:
        budget = {"T": "rounds"}
        def __init__(self, rounds=3):
            self.rounds = rounds
        def fit(self, X, y):
            self.estimators_ = [None] * (self.rounds + 1)
        def predict(self, X):
            return np.zeros(len(X), int)

    class Secret(Many):
        def fit(self, X, y):
            pass

    class Holding(Many):
        budget = {"r": "rounds"}

    class Greedy(Holding):
        def fit_source(self, source):
            source.open(3 * self.rounds).draw(4)

    class Peeking(Holding):
        def fit_source(self, source):
            self.samples = source.samples

    class Staged(DecisionTreeClassifier):
        def staged_predict(self, X):
            yield self.predict(X)[::-1]

    class Lossy(DecisionTreeClassifier):
        def save(self, path):
            path.write_text("")
        @classmethod
        def load(cls, path):
            return cls().fit([[0] * 6, [255] * 6], [0, 1])

    class Silent(Many):
        def fit(self, X, y):
            raise ValueError

    class Odd(Many):
        def fit(self, X, y):
            raise ZeroDivisionError("odd")
"""
BROKEN = {
    ("Unseeded", "same seed"): "two trainings with the same seed differ",
    ("Global", "same seed"): "it draws from numpy.random itself",
    ("Counting", "order of trials"): "gives another result after other trials",
    ("Stuck", "pickled to a worker"): "pickle",
    ("Column", "labels of its own"): "predict gave the shape (120, 1) for 120 samples",
    ("Strange", "labels of its own"): "labels that it was not trained on",
    ("Blind", "labels of its own"): "33 % of its training samples are right",
    ("Many", "budget T=3"): "4 learners",
    ("Secret", "budget T=3"): "nothing shows it: T needs staged_predict, estimators_ or n_learners_",
    ("Holding", "budget r=3"): "it has no fit_source(source)",
    ("Greedy", "budget r=3"): "a Filter may hold 9 samples, more than r + q = 6",
    ("Peeking", "budget r=3"): "it opened no Filter",
    ("Staged", "the last stage"): "the last labels of staged_predict are not those of predict",
    ("Lossy", "saved and loaded"): "what is loaded answers otherwise",
    ("Many", "bad input: NaN"): "nan was accepted without a word",
    ("Many", "bad input: no samples"): "accepted without a word",
    ("Many", "bad input: one class"): "trained on one class it predicts another",
    ("Many", "bad input: other features"): "samples with a feature less were accepted",
    ("Silent", "bad input: infinite"): "ValueError without a word",
    ("Odd", "bad input: more samples"): "ZeroDivisionError: odd; a ValueError with a sentence is needed",
}


def outcome(checks, beginning):
    (found,) = outcomes([check for check in checks if check.name.startswith(beginning)])
    return found


@pytest.fixture
def own(mine, workplace, monkeypatch):
    """Write a module ``own`` and allow a name of it; worker processes are left out."""
    for module in (algorithm, dataset, family):
        monkeypatch.setattr(module, "in_a_worker", lambda where, function, *arguments: function(*arguments))

    def allow(text, name):
        mine("own.py", text)
        objects.allow(f"own:{name}", str(workplace / "mine"))
        return f"own:{name}"

    return allow


@pytest.mark.parametrize("name, beginning", BROKEN)
def test_an_algorithm_that_breaks_a_rule_is_found_out(name, beginning, own):
    found = outcome(algorithm.checks(own(ALGORITHMS, name), {}), beginning)
    assert found.status == "FAILED" and BROKEN[name, beginning] in found.reason, found


def test_a_good_one_keeps_them_all(own):
    checks = [
        check for check in algorithm.checks(own(ALGORITHMS, "Good"), {"max_depth": 3}) if "scikit" not in check.name
    ]
    assert [found for found in outcomes(checks) if found.status == "FAILED"] == [] and len(checks) == 12


def test_a_budget_of_samples_is_seen_to_be_kept(own):
    where = own(ALGORITHMS.replace("3 * self.rounds", "2 * self.rounds"), "Greedy")
    assert outcome(algorithm.checks(where, {}), "budget r=3").status == "ok"


SETS = """
    import itertools
    import numpy as np
    count = itertools.count()

    def good(n=20): return np.arange(2 * n).reshape(n, 2), np.arange(n) % 2
    def short(n=20): return np.zeros((n, 2)), np.arange(n - 1)
    def endless(n=20): return np.full((n, 2), np.inf), np.arange(n) % 2
    def growing(n=20): return good(n + next(count))
    def rolling(n=20): return np.random.rand(n, 2), np.arange(n) % 2

    def careless(path="x.csv"): return good()
    def wordless(path="x.csv"): raise OSError("no")
    def careful(path="x.csv"): return np.loadtxt(path)

    class Shelf:
        def files(self, data_root): return ["absent.txt"]
        def read(self, data_root): return good()

    class Empty(Shelf):
        def files(self, data_root): return []
"""


@pytest.mark.parametrize("name, beginning, status, reason", [
    ("good", "samples and labels", "ok", ""),
    ("good", "the same every time", "ok", ""),
    ("good", "its files", "skipped", "it has no files(data_root)"),
    ("short", "samples and labels", "FAILED", "x_train of own:short" "|20 samples but y_train 19"),
    ("endless", "samples and labels", "FAILED", "NaN, infinite or beyond float32"),
    ("growing", "the same every time", "FAILED", "other samples when it is asked again"),
    ("growing", "the same in a worker", "FAILED", "other samples in another process"),
    ("rolling", "the same every time", "FAILED", "numpy.random itself"),
    ("careless", "bad input: a path", "FAILED", "gave (20, 2) samples"),
    ("wordless", "bad input: a path", "FAILED", "its error does not name the file"),
    ("careful", "bad input: a path", "ok", ""),
    ("Shelf", "its files", "FAILED", "no file absent.txt, which own:Shelf reads"),
    ("Empty", "its files", "FAILED", "files(data_root) names none"),
])  # fmt: skip
def test_a_data_set_is_held_to_the_rules(name, beginning, status, reason, own, workplace):
    found = outcome(dataset.checks(own(SETS, name), {}, workplace), beginning)
    assert found.status == status and reason.rpartition("|")[2] in found.reason, found


FAMILIES = """
    import numpy as np
    flat = lambda images: images.reshape(len(images), -1).astype(float)

    def good(images): return flat(images)
    def holes(images): return np.where(flat(images) > 9, np.nan, 0)
    def even(images): return flat(images) / flat(images).std(axis=1, keepdims=True)
    def mean(images): return flat(images) - flat(images).mean(axis=0)
    def noise(images): return flat(images) + np.random.default_rng().random((len(images), 1))
    def none(images): raise ValueError("not these")
    def crash(images): return images[0, 0, 0, 0, 0]
    def writes(images):
        images[:] = 0
        return flat(images)

    class Learnt:
        def fit(self, images): self.centre = flat(images).mean(axis=0)
        def __call__(self, images): return flat(images) - self.centre
        def families(self, d): return [("first", 0, 1), ("rest", 1, d)]

    class Gap(Learnt):
        def families(self, d): return [("first", 0, 1), ("rest", 2, d)]
"""


@pytest.mark.parametrize("name, beginning, status, reason", [
    ("good", "grey 28x28", "ok", ""),
    ("holes", "grey 28x28", "FAILED", "some are NaN or infinite"),
    ("none", "grey 28x28", "skipped", "ValueError: not these"),
    ("none", "it takes", "FAILED", "it takes none of"),
    ("crash", "grey 28x28", "FAILED", "IndexError"),
    ("mean", "each image", "FAILED", "other numbers in another block"),
    ("even", "black, white", "FAILED", "where all pixels are 0"),
    ("noise", "the same every time", "FAILED", "other numbers of the same images"),
    ("noise", "the same in a worker", "FAILED", "other numbers in another process"),
    ("writes", "the images are left", "FAILED", "it writes into the images"),
    ("good", "bad input", "FAILED", "accepted without a word"),
    ("Learnt", "each image", "ok", ""),
    ("Learnt", "its families", "ok", ""),
    ("Gap", "its families", "FAILED", "are not the columns 0 to"),
])  # fmt: skip
def test_a_family_is_held_to_the_rules(name, beginning, status, reason, own):
    checks = family.checks(own(FAMILIES, name), {})
    before = [check for check in checks if check.name.startswith(("grey 28x28", beginning))]
    found = list(outcomes(before))[-1]
    assert found.status == status and reason in found.reason, found


def test_a_check_prints_a_line_each_and_fails_with_one(command, mine, monkeypatch):
    monkeypatch.setattr(dataset, "in_a_worker", lambda where, function, *arguments: function(*arguments))
    mine("own.py", SETS)
    code, out, _ = command("check own:short --config-dir mine n=9")
    lines = out.splitlines()
    assert code == 1 and lines[0] == "own:short, a data set" and lines[-1].startswith("5 checks, ")
    assert len(lines) == 7 and all(line.split()[0] in ("ok", "FAILED", "skipped") for line in lines[1:-1])
    monkeypatch.chdir("mine")
    assert command("check own:good")[0] == 0


@pytest.mark.parametrize("line, sentence", {
    "check": "check needs the name of a class or function, as in check my_algo:MyBooster",
    "check own": "'own' names no class: module:Class is needed",
    "check own.py:good": "there is no module 'own.py'",
    "check gone:good --config-dir mine": "there is no module 'gone' in ",
    "check own:gone --config-dir mine": "has no class or function 'gone'",
    "check own:good --config-dir gone": "--config-dir gone: there is no such folder",
    "check own:good --config-dir mine m=3": "has no key 'm' (its keys: test_fraction, split_seed, n)",
    "check own:good --config-dir mine n=few": "n=few: a whole number is needed",
    "check own:good --config-dir mine n=1,2": "n=1,2 lists several values: one is needed",
    "check own:count --config-dir mine": "own:count is neither a class nor a function but of type count",
    "check own:Bare --config-dir mine": "own:Bare is none of ours: an algorithm has fit and predict, a data set read",
    "check own:good own:short": "cannot read 'own:short'",
}.items())  # fmt: skip
def test_bad_usage_of_check_is_one_sentence(line, sentence, command, mine):
    mine("own.py", SETS + "\n    class Bare: ...\n")
    code, out, err = command(line)
    assert code == 2 and not out and sentence in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_worker_is_another_process_that_knows_the_module(own, workplace):
    import os

    where = own(SETS, "good")
    assert in_a_worker(where, os.getpid) != os.getpid()
    assert in_a_worker(where, dataset.digest, where, {"n": 8}, workplace) == dataset.digest(where, {"n": 8}, workplace)
    assert np.array_equal(in_a_worker(where, np.arange, 3), [0, 1, 2])


@pytest.mark.slow
def test_a_well_known_one_keeps_the_rules(command):
    code, out, _ = command("check sklearn.naive_bayes:GaussianNB")
    assert code == 0, out
