"""`boostrun check` of parts, streams, evaluations, items and papers: each rule is broken once, and found out."""

import textwrap

import pytest

from boostrun.conformance import data, method, outcomes, things
from boostrun.errors import BoostrunError

HEAD = "import numpy as np\n"


@pytest.fixture
def own(mine, monkeypatch):
    """Write a module ``own``; worker processes are left out."""
    for module in (method, data):
        monkeypatch.setattr(module, "in_a_worker", lambda function, *arguments: function(*arguments))
    return lambda text: mine("own.py", HEAD + textwrap.dedent(text))


def held(name, *overrides):
    """Outcomes of all checks of ``own:name``."""
    (section,) = things.sections(f"own:{name}", "mine", overrides)
    return list(outcomes(section.checks, section.own))


def failed(name, *overrides):
    return {found.name: found.reason for found in held(name, *overrides) if found.status == "FAILED"}


STRATEGIES = """
    from boostrun.papers.reservoir.strategies import Strategy
    class Undecided(Strategy):
        "Of our base class, and cannot be called."
    def good(batch, r, rng):
        kept = np.sort(rng.permutation(len(batch.weights))[:r])
        return kept, batch.weights[kept]
    class Halves:
        carry_mass = False
        def __init__(self, share: float = 0.5): self.share = share
        def __call__(self, batch, r, rng): return good(batch, r, rng)
    def twice(batch, r, rng): return np.zeros(r, int), np.ones(r)
    def few(batch, r, rng): return np.arange(r - 1), np.ones(r - 1)
    def endless(batch, r, rng): return np.arange(r), np.full(r, np.inf)
    def wide(batch, r, rng): return np.arange(r), np.ones(r + 1)
    def down(batch, r, rng): return np.arange(r)[::-1], np.ones(r)
    def moods(batch, r, rng): return np.sort(np.random.default_rng().permutation(len(batch.weights))[:r]), np.ones(r)
    def dice(batch, r, rng): return np.sort(np.random.permutation(len(batch.weights))[:r]), np.ones(r)
    def writes(batch, r, rng):
        batch.weights[:] = 1.0
        return good(batch, r, rng)
    def both(batch, r, rng):
        assert len(np.unique(batch.labels)) == 2
        return good(batch, r, rng)
    def largest(batch, r, rng): return np.sort(np.argsort(batch.weights)[-r - 1:-1][:r]), np.ones(r)
"""


POLICIES = """
    class Best:
        def __init__(self, Q: int = 4): self.Q = Q
        def start(self, board): self.seen = len(board.families)
        def choose(self, board):
            features = board.draw(self.Q)
            return int(features[board.edges(features)[0].argmax()])
    class Beyond(Best):
        def choose(self, board): return board.n_features
    class Wordy(Best):
        def choose(self, board): return "f3"
    class Costly(Best):
        def choose(self, board): return int(board.edges(np.tile(np.arange(board.n_features), 3))[0].argmax())
    class Free(Best):
        def choose(self, board): return 0
    class Moody(Best):
        def choose(self, board): return int(np.random.default_rng().integers(board.n_features))
    class Deaf(Best):
        def learn(self, edge): self.sum = np.log(1 / edge) if edge < 0.9 else 1 / 0
    class Renames(Best):
        def start(self, board): board.families = [("all", 0, board.n_features)]
"""


LEARNERS = """
    from typing import NamedTuple
    from boostrun.methods.weak_learner import WeakLearner
    class Cut(NamedTuple):
        feature: int
        threshold: float
        sign: float
        def __call__(self, samples):
            return np.where(samples[:, self.feature] >= self.threshold, self.sign, -self.sign)
    class Cuts:
        def find(self, samples, signed_weights):
            best = (abs(signed_weights.sum()), Cut(0, -np.inf, 1.0 if signed_weights.sum() >= 0 else -1.0))
            for feature in range(samples.shape[1]):
                for threshold in np.unique(samples[:, feature]):
                    edge = signed_weights @ Cut(feature, float(threshold), 1.0)(samples)
                    if abs(edge) > best[0]:
                        best = abs(edge), Cut(feature, float(threshold), 1.0 if edge >= 0 else -1.0)
            return best[1]
    class Blind(WeakLearner):
        "Of our base class, and without find."
    class Opposite(Cuts):
        def find(self, samples, signed_weights):
            found = super().find(samples, signed_weights)
            return found._replace(sign=-found.sign)
    class Half(Cuts):
        def find(self, samples, signed_weights):
            found = super().find(samples, signed_weights)
            return found._replace(sign=0.5 * found.sign)
    class Loose(Cuts):
        def find(self, samples, signed_weights): return super().find(samples, signed_weights).__call__
    class Writes(Cuts):
        def find(self, samples, signed_weights):
            found = super().find(samples, signed_weights)
            signed_weights *= 2
            return found
    class Place(NamedTuple):
        place: int
        threshold: float
        sign: int
        def __call__(self, samples):
            return np.where(samples[:, self.place] >= self.threshold, 1.0, -1.0) * self.sign
    class Wraps(Cuts):
        def find(self, samples, signed_weights):
            feature, threshold, sign = super().find(samples, signed_weights)
            return Place(feature, threshold, int(sign))
    class Looks(Place):
        def __call__(self, samples):
            if self.place < 0:
                raise ValueError("there is no such place")
            return super().__call__(samples)
    class Refuses(Wraps):
        def find(self, samples, signed_weights): return Looks(*super().find(samples, signed_weights))
"""


FOLLOWERS = """
    class Means:
        inputs = ("stream",)
        constant_memory = True
        def __init__(self, rate: float = 0.05): self.rate = rate
        def test_then_train(self, X, y, classes=None):
            X = np.asarray(X, float)
            if not np.isfinite(X).all():
                raise ValueError("X must be finite")
            if not hasattr(self, "classes_"):
                self.classes_ = np.unique(y if classes is None else classes)
                self.w = np.zeros(X.shape[1] + 1)
            if X.shape[1] != len(self.w) - 1 or not np.isin(y, self.classes_).all():
                raise ValueError("other features, or other labels, than before")
            said = []
            for x, label in zip(X, y):
                said.append(self.predict(x[None])[0])
                sign = 1.0 if label == self.classes_[-1] else -1.0
                z = np.append(x - 5.0, 1.0)
                if sign * (self.w @ z) <= 0.5:
                    self.w += self.rate * sign * z
            return np.array(said)
        def predict(self, X):
            above = (np.asarray(X, float) - 5.0) @ self.w[:-1] + self.w[-1] >= 0
            return np.where(above, self.classes_[-1], self.classes_[0])
    class Peeks(Means):
        def test_then_train(self, X, y, classes=None):
            super().test_then_train(X, y, classes)
            return self.predict(X)
    class Hoards(Means):
        def test_then_train(self, X, y, classes=None):
            self.kept = [*getattr(self, "kept", []), *np.asarray(X).tolist()]
            return super().test_then_train(X, y, classes)
    class Swallows(Means):
        def test_then_train(self, X, y, classes=None): return super().test_then_train(np.nan_to_num(X), y, classes)
    class Numbers(Means):
        def predict(self, X): return (super().predict(X) == self.classes_[-1]).astype(int)
    class One:
        inputs = ("stream",)
        def learn_one(self, x, y): ...
        def predict_one(self, x): ...
"""


def test_a_good_stream_learner_keeps_the_rules_and_is_measured(own):
    own(FOLLOWERS)
    found = held("Means")
    assert failed("Means") == {}
    assert sum(each.name.startswith("on a stream") and each.status == "ok" for each in found) == 4


EVALUATIONS = """
    from boostrun.evaluation import Evaluation
    class Plain:
        def check(self, model, data): ...
        def warm_up(self, small, data): ...
        def run(self, model, data, seeds):
            model.fit(data.inputs("train"), data.labels("train"))
            right = model.predict(data.inputs("test")) == data.labels("test")
            return {"metrics": {"right": float(right.mean())}, "cost": {}, "curve": {"T": [1]}}
    class Endless(Plain):
        def run(self, model, data, seeds): return {"metrics": {"right": float("nan")}, "cost": {}, "curve": {}}
    class Arrays(Plain):
        def run(self, model, data, seeds):
            return {"metrics": {"right": 1.0}, "cost": {}, "curve": {"T": np.arange(3)}}
    class Rolls(Plain):
        def run(self, model, data, seeds):
            return {"metrics": {"right": float(np.random.default_rng().random())}, "cost": {}, "curve": {}}
    class Short:
        def warm_up(self, small, data): ...
        def run(self, model, data, seeds): return {}
    class Unmeasured(Evaluation):
        "Of our base class, and without run."
"""


RULES = [
    (STRATEGIES, "Undecided", "r different samples", "Can't instantiate abstract class Undecided"),
    (STRATEGIES, "twice", "r different samples", "1 different samples, some more than once"),
    (STRATEGIES, "few", "r different samples", "it kept (15,) samples where (16,) are to be kept"),
    (STRATEGIES, "endless", "a finite weight", "some NaN or infinite"),
    (STRATEGIES, "wide", "a finite weight", "weights of the shape (17,)"),
    (STRATEGIES, "down", "r different samples", "kept is not ascending"),
    (STRATEGIES, "moods", "same random numbers", "the same batch and the same generator give another choice"),
    (STRATEGIES, "dice", "same random numbers", "it draws from numpy.random itself"),
    (STRATEGIES, "writes", "the batch is left", "it writes into batch.weights"),
    (STRATEGIES, "both", "a batch of one class", "AssertionError"),
    (STRATEGIES, "largest", "it keeps all", "weights of the shape|of r = n = 40 samples it kept 39"),
    (POLICIES, "Beyond", "an existing feature", "choose gave the feature 76 of 76"),
    (POLICIES, "Wordy", "an existing feature", "choose gave 'f3'"),
    (POLICIES, "Costly", "within the budget", "the policy asked for"),
    (POLICIES, "Free", "within the budget", "no evaluation was ever charged"),
    (POLICIES, "Moody", "same numbers drawn", "give other features"),
    (POLICIES, "Deaf", "every edge", "ZeroDivisionError"),
    (POLICIES, "Renames", "it is given 19 families", "it changes the families"),
    (LEARNERS, "Blind", "an edge at least", "Can't instantiate abstract class Blind"),
    (LEARNERS, "Opposite", "an edge at least", "its edge is -"), (LEARNERS, "Half", "votes of -1.0", "0.5"),
    (LEARNERS, "Loose", "a hypothesis that is", "a NamedTuple of numbers and arrays is needed"),
    (LEARNERS, "Writes", "samples and weights", "it writes into the samples or weights"),
    (LEARNERS, "Wraps", "a saved column below 0", "place holds columns, and a negative one counts from the end"),
    (FOLLOWERS, "Peeks", "however the stream is cut", "cut after"),
    (FOLLOWERS, "Hoards", "memory is constant", "bytes after 600 examples"),
    (FOLLOWERS, "Swallows", "bad input: NaN", "accepted without a word"),
    (FOLLOWERS, "Numbers", "labels may be words", "predicted otherwise"),
    (EVALUATIONS, "Endless", "on a table: plain", "the metric right is nan (float): a plain finite number is needed"),
    (EVALUATIONS, "Arrays", "on a table: plain", "curve.T cannot stand in a record: array([0, 1, 2]) (ndarray)"),
    (EVALUATIONS, "Rolls", "on a table: same seed", "when it is run again"),
    (EVALUATIONS, "Short", "it has check", "own:Short has no check"),
    (EVALUATIONS, "Unmeasured", "it has check", "own:Unmeasured has no run"),
]  # fmt: skip


@pytest.mark.parametrize("text, name, check, reason", RULES)
def test_what_breaks_a_rule_is_found_out(text, name, check, reason, own):
    own(text)
    found = {rule: why for rule, why in failed(name).items() if rule.startswith(check)}
    assert len(found) == 1 and reason.rpartition("|")[2] in next(iter(found.values())), failed(name)


@pytest.mark.parametrize("text, name, keys", [
    (STRATEGIES, "good", []), (STRATEGIES, "Halves", ["share=0.25"]), (POLICIES, "Best", ["Q=3"]),
    (LEARNERS, "Cuts", []), (LEARNERS, "Refuses", []),
])  # fmt: skip
def test_good_parts_keep_the_rules_with_keys_of_their_own(text, name, keys, own):
    own(text)
    assert failed(name, *keys) == {}


@pytest.mark.parametrize("text, name, key, sentence", [
    (STRATEGIES, "Halves", "shape=1", "strategy 'own:Halves' has no key 'shape'"),
    (STRATEGIES, "Halves", "share=x", "a finite number"),
    (EVALUATIONS, "Plain", "window=3", "own:Plain takes no window: an evaluation has no keys"),
    (FOLLOWERS, "One", "", "a class with fit and predict, or with test_then_train and predict, is"),
])  # fmt: skip
def test_keys_that_nobody_has_and_what_is_of_no_kind_are_refused(text, name, key, sentence, own):
    own(text)
    with pytest.raises(BoostrunError, match=sentence):
        held(name, *filter(None, [key]))


def test_a_good_evaluation_keeps_the_rules_on_what_it_measures(own):
    own(EVALUATIONS)
    found = held("Plain")
    assert [each.status for each in found] == ["ok"] * 3
