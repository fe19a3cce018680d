"""Small stream learners, one for each method of the catalogue, and streams for them."""

import numpy as np

from boostrun.config import catalogue
from boostrun.config.fields import fields_of, kind_of
from boostrun.kernels import hoeffding
from boostrun.methods.declaration import obtain
from boostrun.papers.iboost.keys import IncrementalKeys, LabelsAloneKeys, StepKeys
from tests.marks import slow_but

# learners that use labels alone have their own tests
METHODS = {
    name: method for name, method in catalogue.methods().items()
    if "stream" in method.inputs and method.keys is not LabelsAloneKeys
}  # fmt: skip
RIVALS = [name for name, method in METHODS.items() if not issubclass(method.keys, StepKeys)]
# other libraries' models follow these: they have tests of their own
LEARNERS = [name for name, method in METHODS.items() if not method.target.startswith("boostrun.rivals.followers:")]
# for a full window: until then, a constant
WAITS = [
    name for name in LEARNERS
    if not issubclass(METHODS[name].keys, IncrementalKeys) and "n_window" in METHODS[name].budget.values()
]  # fmt: skip
# trees that grow as the stream goes on
GROW = [name for name in LEARNERS if "max_leaves" in METHODS[name].fields]
# of Hoeffding trees, compiled
TREES = ("vfdt", "osboost_stream", "ocp_stream", "iboost_trees", "arf_stream")
# as parameters of tests: kernels take seconds to compile, so all but a few are slow
SLOW = (*TREES, *GROW)
QUICK = ("iboost_stochastic", "onlineboost", "flb")
EVERY = slow_but(QUICK, LEARNERS)
# (learner, base) for every base it takes by name, except its default
BASES = [
    (name, base)
    for name in LEARNERS
    for key in [fields_of(METHODS[name].keys).get("base")] if key is not None
    for base in kind_of(key).choices if base != key.default
]  # fmt: skip
EVERY_BASE = [*((name, {}) for name in LEARNERS), *((name, {"base": base}) for name, base in BASES)]


def jumps(count, every, seed=0, classes=2):
    """Examples of one threshold, then of one far away, and back again, ``every`` examples each."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (count, 3))
    y = (X[:, 0] + X[:, 1] > np.where(np.arange(count) // every % 2 == 0, 8.0, 13.0)).astype(int)
    return X, y if classes == 2 else y + (X[:, 0] > 6)


def noisy_sea(n, seed=0, noise=0.1):
    """One concept, some labels of which are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, 3))
    return X, (X[:, 0] + X[:, 1] <= 8).astype(int) ^ (rng.random(n) < noise)


def flipping(n, seed, turn, deviation):
    """Two features; the class flips after ``turn`` examples."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    signs = np.where(np.arange(n) < turn, 1, -1)
    return rng.normal((2 * y - 1)[:, None] * signs[:, None], deviation, (n, 2)), y


def class_of(name):
    """The class that the method ``name`` trains."""
    return obtain(METHODS[name].target)


def make(name, window=20, **parameters):
    """A learner with a budget of 5, a window of ``window`` examples if it has one, and always the same seed."""
    small = {"budget": 5, "n_window": window, "random_state": 0}
    known = METHODS[name].keys.__dataclass_fields__
    if name in TREES:
        small |= {"grace_period": 20, "tie": 0.3}  # a few hundred examples make a tree
    own = {key: value for key, value in small.items() if key in known}
    return class_of(name)(**{**own, **METHODS[name].fixed, **parameters})


def small_tree(**more):
    """A tree of scikit-learn's, untrained."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=2, random_state=0, **more)


class TreeAsked:
    """A Hoeffding tree of ours behind river's methods, so that loops that ask objects can be held against compiled
    ones."""

    def __init__(self, n_classes, rules):
        self.trees, self.rules = hoeffding.HoeffdingTrees.fresh(1, n_classes, 3), rules

    def clone(self):
        return TreeAsked(self.trees.weight.shape[1], self.rules)

    def learn_one(self, x, y, w=1.0):
        if not hoeffding.has_room(self.trees, 1):
            self.trees = self.trees.doubled()
        hoeffding.learn(self.trees, 0, np.array(list(x.values())), y, w, self.rules)

    def predict_one(self, x):
        return hoeffding.answer(self.trees, 0, np.array(list(x.values())), self.rules)
