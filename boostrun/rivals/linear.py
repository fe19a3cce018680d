"""Scaling of features to [0, 1], the selection of features by a lasso, two linear models, and models that learn from
chunks by ``partial_fit``: a neural network, and a linear model on random Fourier features.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.rivals.keys import FourierKeys, LogisticKeys, MLPKeys, SGDKeys
from boostrun.rivals.rival import ByChunks, Holding, Scoring

_PIECE = 2**26  # bytes of float64 features that are scored at a time
_STEPS = 30  # of the solver, at each penalty of the path
_SMALLER = 0.9  # a penalty, relative to the one before it
_LEAST = 1e-4  # the last penalty, relative to the first
_CLOSE = 1.0 + 1e-4  # the ratio of penalties at which bisection stops


class Between:
    """Scales features to [0, 1] by the smallest and largest values seen so far, (d,) each.

    >>> Between().take(np.array([[1.0, 5.0], [3.0, 5.0]])).of(np.array([[2.0, 5.0]])).tolist()
    [[0.5, 0.0]]
    """

    def __init__(self) -> None:
        self.least, self.largest = np.float64(np.inf), np.float64(-np.inf)

    def take(self, X: np.ndarray) -> Between:
        """Update the ranges with the samples X (n, d)."""
        self.least = np.minimum(self.least, X.min(axis=0))
        self.largest = np.maximum(self.largest, X.max(axis=0))
        return self

    def of(self, X: np.ndarray) -> np.ndarray:
        """X scaled, (n, d) float64; a feature with only one value becomes 0."""
        width = self.largest - self.least
        return (X - self.least) / np.where(width > 0.0, width, 1.0)


def in_pieces(scored: Callable[[np.ndarray], np.ndarray], X: np.ndarray) -> np.ndarray:
    """``scored`` applied to X (n, d) in pieces of some rows, since codes take eight times their bytes as float64.

    >>> in_pieces(lambda X: X.sum(axis=1), np.ones((3, 2))).tolist()
    [2.0, 2.0, 2.0]
    """
    size = max(1, _PIECE // (8 * X.shape[1]))
    return np.concatenate([scored(X[at : at + size]) for at in range(0, len(X), size)])


def first_on_the_path(X: np.ndarray, y: np.ndarray, most: int, norm: str = "group") -> tuple[np.ndarray, int]:
    """The features that a lasso chooses, the largest set of at most ``most`` on its path, and the number of iterations.

    The path minimises mean log loss + penalty * sum_j |W_j|, with a row W_j (k,) for each feature, by accelerated
    proximal steps (Beck & Teboulle 2009). |W_j| is the Euclidean norm ("group": the group lasso, Yuan & Lin 2006) or
    the sum of absolute values ("l1"). The penalty starts where all rows are 0 and falls by a tenth each time, until too
    many rows are not 0; then bisection looks for a penalty in between. Cost O(n d k) for each iteration.

    Parameters
    ----------
    X : (n, d) float, centred by the caller or not
    y : (n,) class numbers 0 to k - 1
    most : at least 1
    """
    n, d = X.shape
    targets = np.eye(y.max() + 1)[y]
    step = 2.0 * n / max(float(np.linalg.norm(X, 2)) ** 2, np.finfo(float).tiny)  # softmax' curvature is at most 1/2
    shrunk = _shrunk_rows if norm == "group" else _shrunk_entries

    def solved(penalty: float, W: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        momentum, ahead = 1.0, W
        for _ in range(_STEPS):
            slope, slope_bias = _gradient(X, targets, ahead, bias)
            bias = bias - slope_bias
            new = shrunk(ahead - step * slope, step * penalty)
            momentum, before = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0, momentum
            ahead, W = new + (before - 1.0) / momentum * (new - W), new
        return W, bias

    kept = np.zeros((d, targets.shape[1])), np.log(np.maximum(targets.mean(axis=0), 1e-12))
    slopes = _gradient(X, targets, *kept)[0]
    high = first = float((np.linalg.norm(slopes, axis=1) if norm == "group" else np.abs(slopes)).max())
    chosen, low, solutions = np.zeros(0, np.intp), 0.0, 0
    while len(chosen) < most and high > _LEAST * first and (not low or high > _CLOSE * low):
        penalty = np.sqrt(low * high) if low else _SMALLER * high
        found = solved(penalty, *kept)
        solutions += 1
        rows = np.flatnonzero(np.any(found[0] != 0.0, axis=1))
        if len(rows) > most:
            low = penalty
        else:
            high, kept, chosen = penalty, found, rows if len(rows) >= len(chosen) else chosen
    return chosen if len(chosen) else np.array([np.linalg.norm(slopes, axis=1).argmax()]), solutions * _STEPS


def _shrunk_rows(W: np.ndarray, by: float) -> np.ndarray:
    norms = np.linalg.norm(W, axis=1, keepdims=True)
    return W * np.maximum(0.0, 1.0 - by / np.maximum(norms, np.finfo(float).tiny))


def _shrunk_entries(W: np.ndarray, by: float) -> np.ndarray:
    return np.sign(W) * np.maximum(0.0, np.abs(W) - by)


def _gradient(X: np.ndarray, targets: np.ndarray, W: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    off = (softmax(X @ W + bias, axis=1) - targets) / len(X)
    return X.T @ off, off.sum(axis=0)


_CHOOSING = 5000  # the most samples on which features are chosen


class LogisticRivalClassifier(LogisticKeys, Scoring, Holding):
    """scikit-learn's LogisticRegression on scaled features; its bytes are those of weights, offsets and scales.

    Parameters
    ----------
    {parameters}
    """

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        self.evaluations_, self.columns_ = 0, np.arange(X.shape[1])
        if self.features_used is not None and self.features_used < X.shape[1]:
            some = X[:_CHOOSING]  # in random order
            self.columns_, iterations = first_on_the_path(
                Between().take(some).of(some), y[:_CHOOSING], self.features_used, self.path
            )
            self.evaluations_ = iterations * some.size
        self.scaling_ = Between().take(X[:, self.columns_])
        self.model_ = LogisticRegression(C=self.C, max_iter=self.max_iter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # max_iter is a key
            self.model_.fit(self._scaled(X), y)
        self.n_iter_ = int(self.model_.n_iter_.max())
        self.evaluations_ += self.n_iter_ * len(X) * len(self.columns_)
        weights = self.model_.coef_
        self.n_features_used_ = int(np.count_nonzero(np.any(weights != 0.0, axis=0)))
        self.model_bytes_ = weights.nbytes + self.model_.intercept_.nbytes + 3 * self.columns_.nbytes

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return in_pieces(lambda piece: self.model_.predict_proba(self._scaled(piece)), X)

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return self.scaling_.of(X[:, self.columns_])


class SGDRivalClassifier(SGDKeys, Scoring):
    """scikit-learn's SGDClassifier on batches of samples, which holds one batch at a time.

    Features are scaled to [0, 1] by the smallest and largest values so far. Its bytes are those of weights, offsets and
    these values.

    Parameters
    ----------
    {parameters}
    """

    def _learn(self, source: ArraySource) -> None:
        from sklearn.linear_model import SGDClassifier

        self.classes_ = source.class_labels()
        k, to_draw = len(self.classes_), self.samples_drawn or self.epochs * len(source.labels)
        if k < 2:
            raise BoostrunError("all samples are of one class: there is nothing to learn")
        self.model_ = SGDClassifier(loss=self.loss, alpha=self.alpha, average=self.average, random_state=self._seed())
        self.scaling_ = Between()
        filter_ = source.open(capacity=min(self.batch_size, to_draw))
        while filter_.drawn < to_draw:
            X, y = filter_.draw(min(self.batch_size, to_draw - filter_.drawn))
            self.model_.partial_fit(self.scaling_.take(X).of(X), np.searchsorted(self.classes_, y), np.arange(k))
            filter_.release(len(y))
        self.peak_samples_held_, self.samples_drawn_ = filter_.peak_held, filter_.drawn
        self.evaluations_ = filter_.drawn * source.n_features
        weights = self.model_.coef_
        self.n_features_used_ = int(np.count_nonzero(np.any(weights != 0.0, axis=0)))
        self.model_bytes_ = weights.nbytes + self.model_.intercept_.nbytes + 2 * 8 * source.n_features

    @property
    def predict_proba(self) -> Callable[[Any], np.ndarray]:
        """Probabilities (n, k) for X (n, d), of each class against the rest, divided by their sum.

        AttributeError with the hinge loss, which has none.
        """
        of = self.model_.predict_proba
        return lambda X: in_pieces(lambda piece: of(self.scaling_.of(piece)), self._checked(X))

    def _scores(self, X: np.ndarray) -> np.ndarray:
        scores = in_pieces(lambda piece: self.model_.decision_function(self.scaling_.of(piece)), X)
        return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


# -- steps on fresh chunks


class _BySteps(ByChunks):
    """Base of models of scikit-learn with ``partial_fit``, on features scaled to [0, 1] by the values so far."""

    model_: Any

    def _take(self, X: np.ndarray, y: np.ndarray, chunk: int) -> int:
        self.model_.partial_fit(self._inputs(self.scaling_.take(X).of(X)), y, classes=np.arange(len(self.classes_)))
        return len(y)

    def _begin(self) -> None:
        self.scaling_ = Between()

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        """The inputs of the model for scaled samples X (n, d)."""
        return X

    def _weights(self) -> list[np.ndarray]:
        """The arrays of the model's weights, which change from step to step."""
        return [self.model_.coef_, self.model_.intercept_]

    def _state(self) -> Any:
        return [array.copy() for array in (*self._weights(), self.scaling_.least, self.scaling_.largest)]

    def _finish(self) -> None:
        self.evaluations_, self.n_features_used_ = self.samples_drawn_ * self._d, self._d
        self.model_bytes_ = sum(array.nbytes for array in self._weights()) + 2 * 8 * self._d

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return next(self._staged_scores(X, [self._state()]))

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[Any]) -> Iterator[np.ndarray]:
        for *weights, least, largest in rounds:
            scaling = Between()
            scaling.least, scaling.largest = least, largest
            yield in_pieces(lambda piece: self._of(scaling.of(piece), weights), X)  # noqa: B023

    @abstractmethod
    def _of(self, X: np.ndarray, weights: list[np.ndarray]) -> np.ndarray:
        """Scores (n, k) of scaled samples X (n, d), float64: in float32 a row's would depend on the rows beside it."""


class MLPRivalClassifier(MLPKeys, _BySteps):
    """scikit-learn's MLPClassifier with a hidden layer, by ``partial_fit``: one pass over each chunk with Adam.

    Parameters
    ----------
    {parameters}
    """

    package = "sklearn.neural_network"

    def _begin(self) -> None:
        from sklearn.neural_network import MLPClassifier

        super()._begin()
        self.model_ = MLPClassifier(
            (self.hidden,), alpha=self.alpha, learning_rate_init=self.learning_rate, random_state=self._first_seed
        )

    def _take(self, X: np.ndarray, y: np.ndarray, chunk: int) -> int:
        self.model_.set_params(batch_size=min(self.minibatch, len(y)))
        for _ in range(self.repeats):
            super()._take(X, y, chunk)
        return len(y)

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        return X.astype(np.float32)

    def _weights(self) -> list[np.ndarray]:
        return [*self.model_.coefs_, *self.model_.intercepts_]

    def _of(self, X: np.ndarray, weights: list[np.ndarray]) -> np.ndarray:
        inner, outer, first, last = weights
        return _probabilities(np.maximum(X @ inner + first, 0.0) @ outer + last, "log_loss_all")


class FourierRivalClassifier(FourierKeys, _BySteps):
    """scikit-learn's SGDClassifier on random Fourier features (Rahimi & Recht 2007), chunk by chunk.

    The features sqrt(2 / D) cos(<w, x> + b) have an inner product near exp(-gamma |x - y|^2). Their bandwidth is set on
    the first chunk.

    Parameters
    ----------
    {parameters}
    """

    def _begin(self) -> None:
        from sklearn.linear_model import SGDClassifier

        super()._begin()
        rng = np.random.default_rng(self._first_seed)
        self._directions = rng.normal(size=(self._d, self.waves)).astype(np.float32)
        self._phases = rng.uniform(0.0, 2.0 * np.pi, self.waves).astype(np.float32)
        self.scale_ = np.float32(0.0)
        self.model_ = SGDClassifier(
            loss=self.loss, alpha=self.alpha, average=self.average, random_state=self._first_seed
        )  # fmt: skip

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        if not self.scale_:
            self.scale_ = np.float32(np.sqrt(2.0 * self.gamma / (self._d * max(float(X.var()), 1e-12))))
        return self._features(X.astype(np.float32) @ self._directions)

    def _features(self, projected: np.ndarray) -> np.ndarray:
        projected *= self.scale_
        return np.sqrt(2.0 / self.waves) * np.cos(projected + self._phases)

    def _finish(self) -> None:
        super()._finish()
        self.model_bytes_ += self._directions.nbytes + self._phases.nbytes

    def _of(self, X: np.ndarray, weights: list[np.ndarray]) -> np.ndarray:
        coefficients, offsets = weights
        return _probabilities(self._features(X @ self._directions) @ coefficients.T + offsets, self.loss)

    @property
    def predict_proba(self) -> Any:
        """Probabilities (n, k) for X (n, d), as of ``sgd``; AttributeError with the hinge loss, which has none."""
        if self.loss == "hinge":
            raise AttributeError("the hinge loss has no probabilities")
        return super().predict_proba


def _probabilities(scores: np.ndarray, loss: str) -> np.ndarray:
    """Probabilities (n, k) of scores (n, k), or (n, 1) for the second of two classes; scores as they are for a hinge.

    Of "log_loss" each class is against the rest, and the sum is made 1; "log_loss_all" is the softmax.

    >>> _probabilities(np.array([[0.0]]), "log_loss")
    array([[0.5, 0.5]])
    """
    if scores.shape[1] == 1:
        scores = np.column_stack([-scores, scores])
        return scores if loss == "hinge" else expit(scores)
    if loss == "log_loss_all":
        return softmax(scores, axis=1)
    if loss == "hinge":
        return scores
    found = expit(scores)
    return found / np.maximum(found.sum(axis=1, keepdims=True), np.finfo(float).tiny)
