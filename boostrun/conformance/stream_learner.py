"""Checks of a stream learner: predictions before learning, any cut of the stream, any labels.

``test_then_train(X, y, classes)`` and ``predict(X)`` are required; ``learn_one`` and ``predict_one`` are river's. The
class attribute ``constant_memory = True`` is checked too.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from boostrun.conformance import (
    Check,
    Failed,
    Skipped,
    Subject,
    can,
    examples,
    fails_with_a_sentence,
    method,
    place,
    said,
)

_CUTS = ((1, 7, 60, 61, 250), tuple(range(50, 300, 50)))  # where the stream of 300 is cut


def stream_learner_checks(subject: Subject) -> list[Check]:
    """All checks of a method that follows a stream."""
    return [
        Check("it has test_then_train and predict", lambda: _complete(subject)),
        Check("one label an example, of the classes that may come", lambda: _labels(subject)),
        Check("better than chance on an easy stream", lambda: _learns(subject)),
        Check("however the stream is cut, the same predictions", lambda: _cut(subject)),
        Check("each example is predicted before it is learnt", lambda: _ahead(subject)),
        Check("labels may be words, and come in any order", lambda: _words(subject)),
        Check("classes in another order, the same predictions", lambda: _class_order(subject)),
        *method.of_trials(subject),
        *method.of_budgets(subject),
        Check("memory is constant", lambda: _memory(subject)),
        Check("bad input: NaN", lambda: _bad_value(subject, np.nan)),
        Check("bad input: infinite", lambda: _bad_value(subject, np.inf)),
        Check("bad input: other features than before", lambda: _other_width(subject)),
        Check("bad input: a label that was not declared", lambda: _other_label(subject)),
        Check("scikit-learn's own checks", lambda: _scikit_learn(subject)),
        Check("one example at a time is the same stream", lambda: _one_by_one(subject)),
        Check("river's own checks", lambda: _river(subject)),
    ]


def _complete(subject: Subject) -> None:
    for name in ("test_then_train", "predict"):
        if not can(subject.cls, name):
            raise Failed(f"it has no {name}: a stream's evaluation calls test_then_train(X, y, classes), predict(X)")


def _followed(subject: Subject, y: np.ndarray | None = None, cuts: tuple[int, ...] = ()) -> tuple[np.ndarray, Any]:
    """Predictions for 300 examples, and the model."""
    X, truth = examples(300, 300)
    y = truth if y is None else y
    model, said_, ends = subject.make(), [], [*cuts, len(X)]
    for first, last in zip([0, *ends], ends):
        said_.append(np.asarray(model.test_then_train(X[first:last], y[first:last], np.unique(y))))
    return np.concatenate(said_), model


def _labels(subject: Subject) -> None:
    said_, model = _followed(subject)
    if said_.shape != (300,):
        raise Failed(f"test_then_train gave the shape {said_.shape} for 300 examples")
    for what, labels in (("test_then_train", said_), ("predict", np.asarray(model.predict(examples(9, 9)[0])))):
        if not np.isin(labels, (0, 1)).all():
            raise Failed(f"{what} gave {labels[~np.isin(labels, (0, 1))][0]!r}, which is none of the classes 0 and 1")


def _learns(subject: Subject) -> None:
    said_, _ = _followed(subject)
    right = np.mean(said_[200:] == examples(300, 300)[1][200:])
    if right <= 0.6:
        raise Failed(f"{100 * right:.0f} % of examples 201 to 300 are right where two classes are easy")


def _cut(subject: Subject) -> None:
    whole, _ = _followed(subject)
    for cuts in _CUTS:
        said_, _ = _followed(subject, cuts=cuts)
        if not np.array_equal(whole, said_):
            first = int(np.flatnonzero(whole != said_)[0])
            raise Failed(f"cut after {cuts[0]}, {cuts[1]}, ... it says something else of example {first + 1}")


def _ahead(subject: Subject) -> None:
    X, y = examples(120, 120)
    model = subject.make()
    model.test_then_train(X[:60], y[:60], np.unique(y))
    for i in range(60, 120):
        ahead = np.asarray(model.predict(X[i : i + 1]))[0]
        told = np.asarray(model.test_then_train(X[i : i + 1], y[i : i + 1], np.unique(y)))[0]
        if ahead != told:
            raise Failed(f"of example {i + 1} predict says {ahead!r}, and test_then_train {told!r} right after")


def _words(subject: Subject) -> None:
    numbers, _ = _followed(subject)
    words, _ = _followed(subject, np.array(["ash", "birch"])[examples(300, 300)[1]])
    if not np.array_equal(np.array(["ash", "birch"])[np.asarray(numbers, int)], words):
        raise Failed("the labels 'ash' and 'birch' are predicted otherwise than 0 and 1")


def _class_order(subject: Subject) -> None:
    X, y = examples(300, 300)
    sorted_ = np.asarray(subject.make().test_then_train(X, y, np.array([0, 1])))
    if not np.isin(np.asarray(subject.make().test_then_train(X, y, np.array([1, 0]))), sorted_).all():
        raise Failed("where classes=[1, 0] it gives labels that are none of them")
    model, repeated = subject.make(), subject.make()
    model.test_then_train(X, y, np.array([0, 1]))
    repeated.test_then_train(X[:9], y[:9], np.array([0, 1]))
    repeated.test_then_train(X[9:], y[9:])
    if not np.array_equal(model.predict(X), repeated.predict(X)):
        raise Failed("classes that are said once only, at the first call, change its predictions")


def _memory(subject: Subject) -> None:
    if not getattr(subject.cls, "constant_memory", False):
        raise Skipped("it does not say constant_memory = True")
    X, y = examples(2100, 1500)
    model = subject.make()
    sizes = []
    for first, last in ((0, 600), (600, 2100)):
        model.test_then_train(X[first:last], y[first:last], np.array([0, 1]))
        sizes.append(len(pickle.dumps(model)))
    if sizes[1] > 1.05 * sizes[0]:
        raise Failed(f"pickled it has {sizes[0]} bytes after 600 examples and {sizes[1]} after 2,100")


def _bad_value(subject: Subject, value: float) -> None:
    X, y = examples(60, 60)
    X[7, 1] = value
    _refused(lambda: subject.make().test_then_train(X, y, np.array([0, 1])))


def _other_width(subject: Subject) -> None:
    X, y = examples(60, 60)
    model = subject.make()
    model.test_then_train(X, y, np.array([0, 1]))
    _refused(lambda: model.test_then_train(X[:, :2], y, np.array([0, 1])))


def _other_label(subject: Subject) -> None:
    X, y = examples(60, 60)
    y[59] = 7
    _refused(lambda: subject.make().test_then_train(X, y, np.array([0, 1])))


def _refused(call) -> None:
    if not fails_with_a_sentence(call):
        raise Failed("it was accepted without a word")


def _scikit_learn(subject: Subject) -> None:
    if not can(subject.cls, "fit"):
        raise Skipped("it has no fit(X, y)")
    method.scikit_learn(subject)


def _need_one_by_one(subject: Subject) -> None:
    if not can(subject.cls, "learn_one", "predict_one"):
        raise Skipped("it has no learn_one and predict_one")


def _one_by_one(subject: Subject) -> None:
    _need_one_by_one(subject)
    X, y = examples(70, 70)
    y[:2] = 0, 1
    many, one = subject.make(), subject.make()
    told = np.asarray(many.test_then_train(X, y))
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist())):
        guess = one.predict_one(dict(zip("abc", x)))
        if i >= 2 and guess != told[i]:  # the second class has not been met before
            raise Failed(f"of example {i + 1} predict_one says {guess!r}, and test_then_train {told[i]!r}")
        one.learn_one(dict(zip("abc", x)), label)


def _river(subject: Subject) -> None:
    _need_one_by_one(subject)
    try:
        from river import base
        from river import checks as river_checks
    except ImportError:
        raise Skipped("river is not installed") from None
    made = subject.make()
    if isinstance(made, base.Estimator):  # ours are, once river is there
        model = made
    elif can(subject.cls, "get_params"):
        from boostrun.methods.scikit_learn import clone

        class OfRiver(base.Classifier):
            """A copy of a learner that is no class of river."""

            _multiclass = True

            def __init__(self, learner):
                self.learner = learner
                self._model = clone(learner)

            def learn_one(self, x, y):
                self._model.learn_one(x, y)

            def predict_one(self, x, **kwargs):
                return self._model.predict_one(x)

        model = OfRiver(made)
    else:
        raise Skipped("it is no estimator of scikit-learn's, nor of river's, that could be copied")
    count, lines = 0, []
    for check in river_checks.yield_checks(model):
        if check.__name__ == "check_bounded_memory_growth":  # takes long, and is not about a budget
            continue
        count += 1
        try:
            check(model.clone())
        except Exception as error:
            lines.append(f"{check.__name__}: {said(error)} ({place(error, subject.own)})")
    if lines:
        raise Failed(f"{len(lines)} of {count}", *lines)
