"""`boostrun check`: each broken rule is found, and code that keeps all rules passes."""

import numpy as np
import pytest

from boostrun.conformance import data, in_a_worker, method, outcomes, things
from boostrun.conformance import data as drifting
from boostrun.conformance import data as family

ALGORITHMS = """
    import itertools
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier
    class Good(DecisionTreeClassifier): pass
    class Computed(DecisionTreeClassifier):
        def fit(self, X, y): return super().fit(X, globals()["np"].asarray(y))
    class Unseeded(DecisionTreeClassifier):
        def fit(self, X, y): return super().fit(X, y if len(y) < 9 else np.random.default_rng().permutation(y))
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
        def predict(self, X): return super().predict(X)[:, None]
    class Strange(DecisionTreeClassifier):
        def predict(self, X): return super().predict(X) + 7
    class Blind(DecisionTreeClassifier):
        def predict(self, X): return np.full(len(X), self.classes_[0])
    class Many:
        budget = {"T": "rounds"}
        def __init__(self, rounds=3): self.rounds = rounds
        def fit(self, X, y): self.estimators_ = [None] * (self.rounds + 1)
        def predict(self, X): return np.zeros(len(X), int)
    class Secret(Many):
        def fit(self, X, y): pass
    class Holding(Many): budget = {"r": "rounds"}
    class Greedy(Holding):
        def fit_source(self, source): source.open(3 * self.rounds).draw(4)
    class Peeking(Holding):
        def fit_source(self, source): self.samples = source.samples
    class Staged(DecisionTreeClassifier):
        def staged_predict(self, X): yield self.predict(X)[::-1]
    class Lossy(DecisionTreeClassifier):
        def save(self, path): path.write_text("")
        @classmethod
        def load(cls, path): return cls().fit([[0] * 6, [255] * 6], [0, 1])
    class Silent(Many):
        def fit(self, X, y): raise ValueError
    class Odd(Many):
        def fit(self, X, y): raise ZeroDivisionError("odd")
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
    ("Lossy", "saved and loaded"): "the loaded model predicts differently",
    ("Many", "bad input: NaN"): "nan was accepted without a word",
    ("Many", "bad input: no samples"): "accepted without a word",
    ("Many", "bad input: one class"): "trained on one class it predicts another",
    ("Many", "bad input: other features"): "samples with a feature less were accepted",
    ("Silent", "bad input: infinite"): "ValueError without a word",
    ("Odd", "bad input: more samples"): "ZeroDivisionError: odd; a ValueError with a sentence is needed",
}


def outcome(where, beginning, *overrides):
    """The result of the check whose name starts so, for a class in ``mine``, after the checks that it needs."""
    (section,) = things.sections(where, "mine", overrides)
    chosen = [check for check in section.checks if check.name.startswith(("grey 28x28", beginning))]
    return list(outcomes(chosen, section.own))[-1]


@pytest.fixture
def own(mine, monkeypatch):
    """Write a module ``own`` and name a thing of it; worker processes are left out."""
    for module in (method, data, family, drifting):
        monkeypatch.setattr(module, "in_a_worker", lambda function, *arguments: function(*arguments))

    def named(text, name):
        mine("own.py", text)
        return f"own:{name}"

    return named


@pytest.mark.parametrize("name, beginning", BROKEN)
def test_an_algorithm_that_breaks_a_rule_is_found_out(name, beginning, own):
    found = outcome(own(ALGORITHMS, name), beginning)
    assert found.status == "FAILED" and BROKEN[name, beginning] in found.reason, found


def test_a_good_one_keeps_them_all(own):
    (section,) = things.sections(own(ALGORITHMS, "Good"), "mine", ["max_depth=3"])
    checks = [check for check in section.checks if "scikit" not in check.name]
    assert [found for found in outcomes(checks) if found.status == "FAILED"] == [] and len(checks) == 15


def test_code_that_cannot_be_followed_is_named_and_no_fault(own):
    found = outcome(own(ALGORITHMS, "Computed"), "its code")
    assert found.status == "skipped" and "globals(): an edit anywhere there makes records stale" in found.reason
    (section,) = things.sections(own(ALGORITHMS, "Good"), "mine", ())
    assert not [check for check in section.checks if check.name.startswith("its code")]


def test_short_budget_keys_and_own_keys_are_taken(own):
    where = own(ALGORITHMS.replace("self.rounds + 1", "self.rounds"), "Many")
    assert outcome(where, "budget T=7", "T=7").status == "ok"
    assert outcome(where, "labels of its own", "T=7").status == "FAILED"


def test_a_budget_of_samples_is_seen_to_be_kept(own):
    where = own(ALGORITHMS.replace("3 * self.rounds", "2 * self.rounds"), "Greedy")
    assert outcome(where, "budget r=3").status == "ok"


def test_a_failure_names_the_line_of_the_persons_own_file_or_else_the_assertion(own):
    found = outcome(own(ALGORITHMS, "Odd"), "labels of its own")
    line = next(n for n, text in enumerate(ALGORITHMS.splitlines()) if "ZeroDivisionError" in text)
    assert found.reason == "ZeroDivisionError: odd"
    assert found.details == (f"mine/own.py:{line}: raise ZeroDivisionError('odd')",)
    found = outcome(own(ALGORITHMS, "Blind"), "labels of its own")
    assert found.details[0].endswith(": if right <= 0.4") and "conformance/method.py:" in found.details[0]


@pytest.mark.slow
def test_scikit_learns_checks_are_told_one_a_line_at_most_ten(own):
    found = outcome(own(ALGORITHMS, "Column"), "scikit-learn")
    assert found.status == "FAILED" and 1 < len(found.details) <= 11
    assert all(line.startswith("check_") for line in found.details[:10])
    told = next(line for line in found.details if line.startswith("check_classifiers_train"))
    assert "AssertionError" in told and "estimator_checks.py:" in told and "assert " in told


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


@pytest.mark.parametrize("text, name, beginning, status, reason", [
    (SETS, "good", "samples and labels", "ok", ""),
    (SETS, "good", "the same every time", "ok", ""),
    (SETS, "good", "its files", "skipped", "it has no files(data_root)"),
    (SETS, "short", "samples and labels", "FAILED", "x_train of own:short" "|20 samples but y_train 19"),
    (SETS, "endless", "samples and labels", "FAILED", "infinite or beyond float32"),
    (SETS, "growing", "the same every time", "FAILED", "other samples the second time"),
    (SETS, "growing", "the same in a worker", "FAILED", "other samples in another process"),
    (SETS, "rolling", "the same every time", "FAILED", "numpy.random itself"),
    (SETS, "careless", "bad input: a path", "FAILED", "gave (20, 2) samples"),
    (SETS, "wordless", "bad input: a path", "FAILED", "its error does not name the file"),
    (SETS, "careful", "bad input: a path", "ok", ""),
    (SETS, "Shelf", "its files", "FAILED", "no file absent.txt, which own:Shelf reads"),
    (SETS, "Empty", "its files", "FAILED", "files(data_root) names none"),
    (FAMILIES, "good", "grey 28x28", "ok", ""),
    (FAMILIES, "holes", "grey 28x28", "FAILED", "some are NaN or infinite"),
    (FAMILIES, "none", "grey 28x28", "skipped", "ValueError: not these"),
    (FAMILIES, "none", "it takes", "FAILED", "it takes none of"),
    (FAMILIES, "crash", "grey 28x28", "FAILED", "IndexError"),
    (FAMILIES, "mean", "each image", "FAILED", "other numbers in another block"),
    (FAMILIES, "even", "black, white", "FAILED", "where all pixels are 0"),
    (FAMILIES, "noise", "the same every time", "FAILED", "other numbers of the same images"),
    (FAMILIES, "noise", "the same in a worker", "FAILED", "other numbers in another process"),
    (FAMILIES, "writes", "the images are left", "FAILED", "it writes into the images"),
    (FAMILIES, "good", "bad input", "FAILED", "accepted without a word"),
    (FAMILIES, "Learnt", "each image", "ok", ""),
    (FAMILIES, "Learnt", "its families", "ok", ""),
    (FAMILIES, "Gap", "its families", "FAILED", "are not the columns 0 to"),
])  # fmt: skip
def test_a_data_set_or_a_family_is_held_to_the_rules(text, name, beginning, status, reason, own):
    found = outcome(own(text, name), beginning)
    assert found.status == status and reason.rpartition("|")[2] in found.reason, found


def test_a_check_prints_a_line_each_and_fails_with_one(command, mine, monkeypatch):
    monkeypatch.setattr(data, "in_a_worker", lambda function, *arguments: function(*arguments))
    mine("own.py", SETS)
    code, out, _ = command("check own:short --config-dir mine n=9")
    lines = out.splitlines()
    assert code == 1 and lines[0] == "own:short, a data set" and lines[-1] == "5 checks, 1 failed"
    told = [line for line in lines[1:-1] if not line.startswith(" ")]
    assert len(told) == 5 and all(line.split()[0] in ("ok", "FAILED", "skipped") for line in told)
    assert sum(line.startswith("         - ") for line in lines) == 1
    monkeypatch.chdir("mine")
    assert command("check own:good")[0] == 0


BARE = """
    class Bare: ...
    class Bare2:
        budget = {"T": "rounds"}
        def __init__(self, rounds=3, depth=1): ...
        def fit(self, X, y): ...
        def predict(self, X): ...
"""


@pytest.mark.parametrize("line, sentence", {
    "check": "check needs the name of a class, function or paper, as in check my_algo:MyBooster",
    "check own": "'own' names no class (module:Class, as in my_algo:MyBooster, is needed), no paper",
    "check digist": "nothing that a paper brings; did you mean 'digits'?",
    "check mine/table1": "no paper item 'mine/table1'",
    "check own:Bare2 --config-dir mine T=x": "T=x: a whole number of at least 1 is needed",
    "check own:Bare2 --config-dir mine r=9": "algo 'own:Bare2' does not take r=9 (it takes T)",
    "check own:Bare2 --config-dir mine rond=9": "algo 'own:Bare2' has no key 'rond' (its keys: depth)",
    "check own:good --config-dir mine T=9": "dataset 'own:good' has no key 'T'",
    "check own.py:good": "there is no module 'own.py'",
    "check gone:good --config-dir mine": "there is no module 'gone' in ",
    "check own:gone --config-dir mine": "has no class or function 'gone'",
    "check own:good --config-dir gone": "--config-dir gone: there is no such folder",
    "check own:good --config-dir mine m=3": "has no key 'm' (its keys: test_fraction, split_seed, n)",
    "check own:good --config-dir mine n=few": "n=few: a whole number is needed",
    "check own:good --config-dir mine n=1,2": "n=1,2 lists several values: one is needed",
    "check own:count --config-dir mine": "own:count is neither a class nor a function but of type count",
    "check own:Bare --config-dir mine": "own:Bare is none of ours: a method has fit and predict, or test_then_train",
    "check own:good own:short": "cannot read 'own:short'",
}.items())  # fmt: skip
def test_bad_usage_of_check_is_one_sentence(line, sentence, command, mine):
    mine("own.py", SETS + BARE)
    code, out, err = command(line)
    assert code == 2 and not out and sentence in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_worker_is_another_process_that_knows_what_is_registered(mine, workplace):
    import os

    mine("own.py", SETS)
    things.sections("own:good", "mine", [])
    good = {"name": "own:good", "class": "own:good", "n": 8, "test_fraction": 0.2, "split_seed": None}
    assert in_a_worker(os.getpid) != os.getpid()
    assert in_a_worker(data.dataset_digest, good, workplace) == data.dataset_digest(good, workplace)
    assert np.array_equal(in_a_worker(np.arange, 3), [0, 1, 2])


@pytest.mark.slow
def test_a_well_known_one_keeps_the_rules(command):
    code, out, _ = command("check sklearn.naive_bayes:GaussianNB")
    assert code == 0, out
