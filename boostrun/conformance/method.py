"""Checks of a method that learns from a table: labels, seeds, budgets, storage, bad input."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.conformance import (
    Check,
    Failed,
    Skipped,
    budgets,
    fails_with_a_sentence,
    in_a_worker,
    numpy_left_alone,
    said,
)
from boostrun.conformance import subject as blame
from boostrun.conformance.budgets import Stagewise, Storable
from boostrun.conformance.subject import Subject, answers


def method_checks(subject: Subject) -> list[Check]:
    """All checks of a method that is fitted to a table."""
    return [
        Check("labels of its own classes, one a sample, better than chance", lambda: _labels(subject)),
        Check("scikit-learn's own checks", lambda: scikit_learn(subject)),
        *of_trials(subject),
        *of_budgets(subject),
        Check("the last stage is the prediction", lambda: _stages(subject)),
        Check("saved and loaded, same answers", lambda: _saved(subject)),
        Check("bad input: NaN", lambda: _bad_value(subject, np.nan)),
        Check("bad input: infinite", lambda: _bad_value(subject, np.inf)),
        Check("bad input: no samples", lambda: _refused(subject, subject.X[:0], subject.y[:0])),
        Check("bad input: more samples than labels", lambda: _refused(subject, subject.X, subject.y[:-1])),
        Check("bad input: one class", lambda: _one_class(subject)),
        Check("bad input: other features than trained on", lambda: _other_width(subject)),
    ]


def of_trials(subject: Subject) -> list[Check]:
    """Trials repeat, whatever came before them and in whatever process."""
    return [
        Check("same seed, same result", lambda: _same_seed(subject)),
        Check("order of trials does not matter", lambda: _any_order(subject)),
        Check("pickled to a worker process, same result", lambda: _worker(subject)),
    ]


def of_budgets(subject: Subject) -> list[Check]:
    """Each budget is kept."""
    return [
        Check(f"budget {key}={value} is kept", lambda key=key: budgets.kept(subject, key))  # type: ignore[misc]
        for key, value in subject.budget.items()
    ]


def _labels(subject: Subject) -> None:
    predicted = np.asarray(subject.trained().predict(subject.X))
    if predicted.shape != subject.y.shape:
        raise Failed(f"predict gave the shape {predicted.shape} for {len(subject.y)} samples")
    if not np.isin(predicted, subject.y).all():
        raise Failed(
            f"predict gave labels that it was not trained on, as {predicted[~np.isin(predicted, subject.y)][0]}"
        )
    right = np.mean(predicted == subject.y)
    if right <= 0.4:
        raise Failed(f"{100 * right:.0f} % of its training samples are right where three far classes are easy")


def not_of_draws(estimator: Any) -> dict[str, str]:
    """Scikit-learn's checks that a method need not pass which draws samples, or bins, and why."""
    why = "of samples that stand there twice others are drawn, and other bins are made, than of those that weigh double"
    return dict.fromkeys((f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")), why)


def scikit_learn(subject: Subject) -> None:
    """Failed with a line for each of scikit-learn's checks that does not hold."""
    from sklearn.base import BaseEstimator
    from sklearn.utils.estimator_checks import check_estimator

    if not issubclass(subject.cls, BaseEstimator):
        raise Skipped("it is no BaseEstimator of scikit-learn")
    model = subject.make()
    spared = not_of_draws(model) if subject.method.random else {}
    results = check_estimator(model, expected_failed_checks=spared, on_fail=None, on_skip=None)
    failed = [result for result in results if result["status"] == "failed"]
    if failed:
        lines = [
            f"{result['check_name']}: {said(result['exception'])} ({blame.place(result['exception'], subject.own)})"
            for result in failed
        ]
        raise Failed(f"{len(failed)} of {len(results)}", *lines)


def _same_seed(subject: Subject) -> None:
    with numpy_left_alone():
        first = answers(subject.trained(1), subject.X)
    if not np.array_equal(first, answers(subject.trained(1), subject.X)):
        raise Failed(
            "two trainings with the same seed differ"
            if subject.method.random
            else "two trainings differ, and it is declared to have nothing random (a random_state, or random = True)"
        )


def _any_order(subject: Subject) -> None:
    forth = [answers(subject.trained(seed), subject.X) for seed in (0, 1, 2)]
    back = [answers(subject.trained(seed), subject.X) for seed in (2, 1, 0)][::-1]
    for seed, (one, other) in enumerate(zip(forth, back)):
        if not np.array_equal(one, other):
            raise Failed(f"seed {seed} gives another result after other trials than before them")
    if not subject.method.random and not all(np.array_equal(forth[0], other) for other in forth):
        raise Failed("it is declared to have nothing random, and another seed gives another result")


def _worker(subject: Subject) -> None:
    model = subject.make(1)
    there, fitted = in_a_worker(_answers_of_pickled, subject.plain, pickle.dumps(model))
    here = answers(subject.train(model, 1), subject.X)
    if not np.array_equal(here, there):
        raise Failed("trained in another process it gives another result")
    if not np.array_equal(here, answers(pickle.loads(fitted), subject.X)):
        raise Failed("trained, pickled and brought back it gives another result")


def _answers_of_pickled(plain: tuple, model: bytes) -> tuple[np.ndarray, bytes]:
    subject = Subject(*plain)
    trained = subject.train(pickle.loads(model), 1)
    return answers(trained, subject.X), pickle.dumps(trained)


def _stages(subject: Subject) -> None:
    if not issubclass(subject.cls, Stagewise):
        raise Skipped("it has no staged_predict, so its records have no curve")
    model = subject.trained()
    stages = [np.asarray(labels) for labels in model.staged_predict(subject.X)]
    if not stages or not np.array_equal(stages[-1], model.predict(subject.X)):
        raise Failed("the last labels of staged_predict are not those of predict")


def _saved(subject: Subject) -> None:
    if not issubclass(subject.cls, Storable):
        raise Skipped("it has no save(path) and load(path)")
    model = subject.make().fit(subject.X, subject.y)
    with tempfile.TemporaryDirectory() as folder:
        written = model.save(Path(folder) / "model.npz") or Path(folder) / "model.npz"
        loaded = subject.cls.load(written)
        if not np.array_equal(answers(model, subject.X), answers(loaded, subject.X)):
            raise Failed("what is loaded answers otherwise than what was saved")


def _bad_value(subject: Subject, value: float) -> None:
    X = subject.X.astype(float)
    X[3, 2] = value
    model = subject.make()
    if fails_with_a_sentence(lambda: model.fit(X, subject.y)):
        return
    if not np.isin(model.predict(X), subject.y).all() or not _finite(answers(model, X)):
        raise Failed(f"{value} was accepted, and makes scores that are no numbers")
    if not getattr(getattr(_tags(model), "input_tags", None), "allow_nan", False):
        raise Failed(f"{value} was accepted without a word; refuse it, or say that it is meant (tag allow_nan)")


def _refused(subject: Subject, X, y) -> None:
    if not fails_with_a_sentence(lambda: subject.make().fit(X, y)):
        raise Failed("it was accepted without a word")


def _one_class(subject: Subject) -> None:
    model, y = subject.make(), np.ones(len(subject.X), int)
    if not fails_with_a_sentence(lambda: model.fit(subject.X, y)) and not (model.predict(subject.X) == 1).all():
        raise Failed("trained on one class it predicts another")


def _other_width(subject: Subject) -> None:
    model = subject.make()
    model.fit(subject.X, subject.y)
    if not fails_with_a_sentence(lambda: model.predict(subject.X[:, :-1])):
        raise Failed("samples with a feature less were accepted without a word")


def _finite(values: np.ndarray) -> bool:
    return values.dtype.kind not in "fc" or bool(np.isfinite(values).all())


def _tags(model) -> Any:
    from sklearn.utils import get_tags

    try:
        return get_tags(model)
    except Exception:  # no estimator of scikit-learn's
        return None
