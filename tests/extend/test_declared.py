"""A user's class gets the inputs that it declares: by attributes, its signature, or scikit-learn's constraints."""

import pytest

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.runner.plan import compose_one

CLASSES = """
    from numbers import Integral, Real
    from sklearn.utils._param_validation import Interval, StrOptions
    class Base:
        def fit(self, X, y): return self
        def predict(self, X): return [0] * len(X)
    class Sure(Base):
        random = False
        def __init__(self, random_state=None): self.random_state = random_state
    class Pair(Base):
        budget = {"r": "held", "q": "fresh", "T": "rounds"}
        follows = {"q": "r"}
        def __init__(self, held=50, fresh=None, rounds=9): self.held, self.fresh, self.rounds = held, fresh, rounds
    class Layers(Base):
        def __init__(self, sizes=(8, 4), rates=[0.5], share=None):
            self.sizes, self.rates, self.share = sizes, rates, share
    class Ranged(Base):
        _parameter_constraints = {
            "depth": [Interval(Integral, 1, 9, closed="both"), None],
            "rule": [StrOptions({"gini", "entropy"})],
            "rate": [Interval(Real, 0, None, closed="neither")],
        }
        def __init__(self, depth=None, rule="gini", rate=0.1): self.depth, self.rule, self.rate = depth, rule, rate
    class Strict(Base):
        def __init__(self, share=0.5):
            if share > 1: raise ValueError("share is at most 1")
    class Wordless(Base):
        def __init__(self, share=0.5):
            if share > 1: raise KeyError()
    class Numbers(Base): inputs = ("values",)
    class Along:
        inputs = ("stream",)
        probe = {"depth": 2, "T": 1}
        budget = {"T": "rounds"}
        def __init__(self, depth=40, rounds=100): self.depth, self.rounds = depth, rounds
        def test_then_train(self, X, y, classes=None): return y
        def predict(self, X): return [0] * len(X)
    class Measured(Base): evaluation = "own:Mine"
"""


@pytest.fixture
def composed(mine):
    """Compose ``algo=own`` that is a class of the module ``own``, on digits unless it is said otherwise."""
    mine("own.py", CLASSES)

    def compose(name, *overrides):
        mine("algo/own.yaml", f"name: own\nclass: own:{name}\n")
        return compose_one(["algo=own", "dataset=digits", *overrides], "mine")

    return compose


def made(settings):
    return catalogue.method(settings.algo).make(settings.algo, settings.budget, {"random_state": 7})


def test_where_nothing_is_random_there_is_one_trial_and_an_evaluation_of_its_own_measures_it(composed):
    assert len(composed("Sure", "trials=5").seeds) == 1
    assert made(composed("Sure")).random_state == 7
    assert len(composed("Layers", "trials=5").seeds) == 1
    assert catalogue.method(composed("Measured").algo).evaluation == "own:Mine"


def test_a_budget_may_be_as_much_as_another(composed):
    assert composed("Pair").budget == {"r": 50, "q": 50, "T": 9}
    assert composed("Pair", "r=30").budget == {"r": 30, "q": 30, "T": 9}
    model = made(composed("Pair", "r=30", "q=7"))
    assert (model.held, model.fresh, model.rounds) == (30, 7, 9)


@pytest.mark.parametrize(("word", "sentence"), [
    ("algo.depth=0", "algo.depth=0: an int in the range [1, 9] or None is needed"),
    ("algo.depth=2.5", "algo.depth=2.5: an int in the range"), ("algo.rule=geni", "algo.rule=geni: a str among {"),
    ("algo.rate=0", "algo.rate=0: a float in the range (0.0, inf) is needed"),
])  # fmt: skip
def test_ranges_of_scikit_learn_hold_when_the_settings_are_composed(word, sentence, composed):
    with pytest.raises(BoostrunError) as error:
        composed("Ranged", word)
    assert sentence in str(error.value)


def test_what_scikit_learns_ranges_allow_is_taken_and_lists_and_tuples_come_back_as_they_were(composed):
    model = made(composed("Ranged", "algo.depth=3", "algo.rule=entropy", "algo.rate=2"))
    assert (model.depth, model.rule, model.rate) == (3, "entropy", 2)
    assert made(composed("Ranged")).depth is None
    settings = composed("Layers")
    assert settings.algo["sizes"] == [8, 4] and settings.algo["rates"] == [0.5]
    model = made(settings)
    assert model.sizes == (8, 4) and model.rates == [0.5] and model.share is None
    model = made(composed("Layers", "algo.sizes=[3,2,1]", "algo.rates=[]", "algo.share=0.2"))
    assert model.sizes == (3, 2, 1) and model.rates == [] and model.share == 0.2


def test_a_constructor_that_refuses_a_value_is_told_when_the_settings_are_composed(composed):
    with pytest.raises(BoostrunError, match=r"algo 'own': own:Strict failed \(own.py, line \d+\): ValueError: share"):
        composed("Strict", "algo.share=2")
    with pytest.raises(BoostrunError, match=r"algo 'own': own:Wordless failed \(own.py, line \d+\): KeyError"):
        composed("Wordless", "algo.share=2")
    assert composed("Strict", "algo.share=1").algo["share"] == 1.0


def test_features_that_it_does_not_take_are_refused_and_those_that_fit_are_named(composed):
    with pytest.raises(BoostrunError, match="algo 'own' cannot be trained on features=raw; it takes linear"):
        composed("Numbers")
    assert composed("Numbers", "features=linear").features["name"] == "linear"
    assert composed("Sure").features["name"] == "raw"
    assert composed("Sure", "features=linear").features["name"] == "linear"


def test_one_that_follows_streams_is_fed_streams_alone_and_compiled_small(composed):
    with pytest.raises(BoostrunError, match="algo 'own' follows a stream, and dataset=digits is none"):
        composed("Along")
    settings = composed("Along", "dataset=sea")
    method = catalogue.method(settings.algo)
    assert method.evaluation == "boostrun.evaluation.prequential:OnStream"
    small = method.make_small(settings.algo, settings.budget)
    assert (small.depth, small.rounds) == (2, 1)
