"""Obvious twin of IBoost: section 4 example by example, every margin from the classifiers' answers, nothing kept."""

import itertools
import math

import numpy as np

from boostrun.papers.iboost.kernels import adwin as drift_adwin
from boostrun.papers.iboost.kernels.adwin import Adwins
from boostrun.papers.reservoir import geem


def stumps(X):
    """All (feature, threshold) that split the window differently, in the order in which ties are decided."""
    for r in range(X.shape[1]):
        values = np.unique(X[:, r])
        for low, high in itertools.pairwise(values):
            yield r, (low + high) / 2


def best_stump(X, y, w, n_classes):
    """(error, predict) of the best stump by exhaustive search: the constant first, then feature, then threshold."""
    mass = np.array([w[y == c].sum() for c in range(n_classes)])
    c = int(mass[1] >= mass[0]) if n_classes == 2 else int(np.argmax(mass))
    best, rule = 1 - mass[c], (0, -np.inf, c, c)
    for r, t in stumps(X):
        left = np.array([w[(y == c) & (X[:, r] <= t)].sum() for c in range(n_classes)])
        right = mass - left
        pairs = [(0, 1), (1, 0)] if n_classes == 2 else [(int(np.argmax(left)), int(np.argmax(right)))]
        for low, high in pairs:
            error = 1 - left[low] - right[high]
            if error < best - 1e-12:
                best, rule = error, (r, t, low, high)
    return best, lambda Z: np.where(Z[:, rule[0]] > rule[1], rule[3], rule[2])


def naive_bayes(log_likelihoods):
    """A fit of (X, y, w, n_classes) -> (error, predict), from the log likelihoods (k, d) of one class's weights."""

    def fit(X, y, w, n_classes):
        def answer(Z):
            scores = np.full((len(Z), n_classes), -np.inf)
            for c in range(n_classes):
                if w[y == c].sum() > 0:
                    scores[:, c] = np.log(w[y == c].sum()) + log_likelihoods(X, w * (y == c), Z).sum(axis=1)
            return (scores[:, 1] >= scores[:, 0]).astype(int) if n_classes == 2 else scores.argmax(axis=1)

        return w[answer(X) != y].sum(), answer

    return fit


@naive_bayes
def gaussian(X, w, Z):
    mean = w @ X / w.sum()
    variance = w @ (X - mean) ** 2 / w.sum() + 1e-3 * X.var(axis=0) + 1e-12
    return -0.5 * np.log(variance) - (Z - mean) ** 2 / (2 * variance)


@naive_bayes
def bernoulli(X, w, Z):
    share = (w @ (X > 0) + 1 / len(X)) / (w.sum() + 2 / len(X))
    return np.where(Z > 0, np.log(share), np.log(1 - share))


def splitmix(seed):
    """A function of n that draws a whole number below n: splitmix64 of the seed's first 64 bits."""
    state, word = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]), 2**64

    def draw(n):
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) % word
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % word
        z = (z ^ z >> 27) * 0x94D049BB133111EB % word
        return int(((z ^ z >> 31) >> 11) / 2**53 * n)

    return draw


class IBoost:
    """Parameters as the estimator's; ``members`` are [coefficient, born, predict]; ``draw`` for random examples."""

    def __init__(
        self, n, M, p, b, n_classes=2, batch=False, eta=3e-3, cap=1.0, eps_min=0.2, log=False, scale=1, every_p=False,
        oldest=False, adds=1, fit=best_stump, draw=None,
    ):  # fmt: skip
        self.__dict__.update(locals())
        self.members, self.window, self.seen, self.removed = [], [None] * n, 0, []
        self.start = n  # examples before the first classifier
        self.mass = np.ones(n)  # for how many examples each slot stands; 0: not in use

    def code(self, right):
        K = self.n_classes
        return np.where(right, 1 / (K - 1), -1 / (K - 1) ** 2)

    def agreement(self):
        """q_ji, (m, n), afresh."""
        X, y = np.array([x for x, _ in self.window]), np.array([t for _, t in self.window])
        return np.array([self.code(f(X) == y) for _, _, f in self.members]).reshape(-1, self.n)

    def vote(self, x):
        votes, score = [0.0] * self.n_classes, 0.0
        for b, _, f in self.members:
            c = f(x[None])[0]
            votes[c] += b
            score += b if c == 1 else -b
        return int(score >= 0) if self.n_classes == 2 else int(np.argmax(votes))

    def learn(self, x, t, eager=False):
        said = self.vote(x)
        self.seen += 1
        slot = self.slot()
        self.window[slot], self.mass[slot] = (x, t), 1.0
        if self.seen >= self.start:
            after = self.seen - self.start
            if after and self.b and self.members and (not self.every_p or after % self.p == 0):
                self.step(slot)
            j = 0
            while j < len(self.members):
                j += not (self.members[j][0] < 0 and self.remove(j))
            for _ in range(self.adds if eager or after % self.p == 0 else 0):
                self.add()
        return said

    def slot(self):
        return (self.seen - 1) % self.n

    def step(self, slot):
        eta = self.eta * (self.n_classes - 1) ** 2
        q = self.agreement()
        for _ in range(self.b):
            slot = self.draw(self.n) if self.draw else slot
            z = sum(m[0] * row for m, row in zip(self.members, q))
            w = self.mass * np.minimum(np.exp(-z), self.cap)
            g = q @ w if self.batch else q[:, slot] * w[slot]
            if self.log:
                g = q @ (self.mass * np.exp(-z)) / (self.mass * np.exp(-z)).sum()
            for m, step in zip(self.members, g):
                m[0] += eta * step

    def weights(self, members):
        X, y = np.array([x for x, _ in self.window]), np.array([t for _, t in self.window])
        z = sum((b * self.code(f(X) == y) for b, _, f in members), np.zeros(self.n))
        w = self.mass * np.exp(z[self.mass > 0].min() - z)
        return w / w.sum()

    def remove(self, j):
        self.removed.append(self.members[j][1])
        self.members[j] = self.members[-1]
        self.members.pop()
        return True

    def add(self):
        K, members, gone = self.n_classes, list(self.members), None
        if len(members) == self.M:
            gone = min(range(self.M), key=lambda j: (0 if self.oldest else members[j][0], members[j][1]))
            members.pop(gone)
        used = self.mass > 0
        X, y = np.array([x for x, _ in self.window])[used], np.array([t for _, t in self.window])[used]
        w = self.weights(members)[used]
        _, f = self.fit(X, y, w, K)
        e = w[f(X) != y].sum()
        if e >= 1 - 1 / K - 1e-10:
            return
        if gone is not None:
            self.remove(gone)
        e = max(e if e >= 1e-10 else 1e-6, self.eps_min * 2 * (1 - 1 / K))
        b = self.scale * (K - 1) ** 2 / K * (math.log((1 - e) / e) + math.log(K - 1))
        self.members.append([b, self.seen, f])


class IBoostAdwin(IBoost):
    """The newest ``active`` slots count after a detection, and classifiers above chance on them go."""

    def __init__(self, *args, n_least, delta, **keys):
        super().__init__(*args, **keys)
        self.n_least, self.delta, self.adwin, self.eager, self.pruned = n_least, delta, Adwins.empty(1), 0, 0

    def learn(self, x, t):
        said = self.vote(x)
        if self.seen >= self.n:
            before = drift_adwin.estimate(self.adwin, 0)
            cut = drift_adwin.add(self.adwin, 0, float(said != t), self.delta, False)
            if cut and drift_adwin.estimate(self.adwin, 0) > before:
                self.detect(max(int(self.adwin.counts[0, 0]), self.n_least))
        super().learn(x, t, self.eager > 0)
        self.eager -= 1
        return said

    def detect(self, active):
        for number in range(self.seen - self.n, self.seen - active):  # examples, from 0
            self.mass[number % self.n] = 0.0
        self.eager = self.n_least
        w, q = self.weights(self.members), self.agreement()
        errors = [w[row < 0].sum() for row in q]
        for j in reversed(range(len(errors))):
            if errors[j] > 1 - 1 / self.n_classes:
                self.remove(j)
                self.pruned += 1


class IBoostGeem(IBoost):
    """n slots of memory and q for newcomers; GEEM says who stays."""

    def __init__(self, n, *args, q, half_life, **keys):
        super().__init__(n + q, *args, **keys)
        self.start, self.q, self.half_life, self.mass = n, q, half_life, np.zeros(n + q)
        self.window = [(np.zeros(3), 0)] * (n + q)

    def slot(self):
        return int(np.argmax(self.mass == 0))

    def learn(self, x, t):
        said = super().learn(x, t)
        if (self.mass > 0).all():
            self.mass *= 0.5 ** (self.q / self.half_life)
            X, y = np.array([x for x, _ in self.window]), np.array([t for _, t in self.window])
            sigma = geem.covariance(X, np.where(y == 1, 1.0, -1.0), ridge=1.0)
            kept, _ = geem.select(sigma, self.weights(self.members), self.q)
            self.mass[np.setdiff1d(np.arange(self.n), kept)] = 0.0
        return said


class IBoostOutliers(IBoost):
    """Ignores an example contradicted by more than ``limit`` mean margins, unless many are."""

    def __init__(self, *args, limit, most, **keys):
        super().__init__(*args, **keys)
        self.limit, self.most, self.share, self.outliers, self.taken_back = limit, most, 0.0, 0, 0
        self.out = False

    def learn(self, x, t):
        self.out = False
        if self.members:
            b, right = np.array([m[0] for m in self.members]), [f(x[None])[0] == t for _, _, f in self.members]
            self.out = b @ self.code(right) < min(-self.limit * np.abs(b @ self.agreement())[self.mass > 0].mean(), 0)
            self.share += (self.out - self.share) / 50
            if self.out and self.share > self.most:
                self.taken_back += (self.mass == 0).sum()
                self.out, self.mass[:] = False, 1.0
        self.outliers += self.out
        return super().learn(x, t)

    def step(self, slot):
        if not self.out:
            super().step(slot)

    def add(self):
        self.mass[self.slot()] = 0.0 if self.out else 1.0
        super().add()


class IBoostActive(IBoost):
    """Learns examples of which it is unsure, or random ones, after the first n; ``share`` of the labels at most."""

    def __init__(self, *args, share, seed, uncertain=True, **keys):
        super().__init__(*args, **keys)
        self.share, self.uncertain, self.theta, self.met, self.draws = share, uncertain, 1.0, 0, splitmix(seed)

    def uniform(self):
        return (self.draws(2**52) + 0.5) / 2**52

    def learn(self, x, t):
        said, asks = self.vote(x), True
        if self.seen >= self.n:
            asks = self.unsure(x) if self.uncertain else self.uniform() < self.share
            asks = asks and self.seen - self.n < self.share * (self.met - self.n)
        self.met += 1
        if asks:
            super().learn(x, t)
        return said

    def unsure(self, x):
        votes = np.zeros(self.n_classes)
        for b, _, f in self.members:
            votes[f(x[None])[0]] += b
        first, second = np.sort(votes)[::-1][:2]
        radius = math.sqrt(-2 * math.log(self.uniform()))
        below = (first - second) / votes.sum() < self.theta * (1 + radius * math.cos(2 * math.pi * self.uniform()))
        self.theta = min(1.0, self.theta * (0.99 if below else 1 + 0.01 * self.share / (1 - self.share)))
        return below
