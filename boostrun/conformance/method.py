"""Checks of a method: labels and seeds, its budget, saved models, bad input, and its evaluation."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.conformance import (
    Check,
    Failed,
    Skipped,
    Subject,
    answers,
    can,
    fails_with_a_sentence,
    in_a_worker,
    numpy_left_alone,
    place,
    plain_and_finite,
    said,
)
from boostrun.data.source import ArraySource, Filter
from boostrun.evaluation.measures import train_and_test
from boostrun.methods.declaration import obtain


class Watched(ArraySource):
    """A source that records, for each Filter, how many samples it may hold together and how many it has handed out."""

    def __init__(self, *arguments, **keys):
        super().__init__(*arguments, **keys)
        self.opened: list[Filter] = []

    def open(self, capacity: int, stream: int = 0) -> Filter:
        self.opened.append(super().open(capacity, stream))
        return self.opened[-1]


def kept(subject, key: str) -> None:
    """Raise Failed if the budget ``key`` is exceeded or cannot be seen, Skipped if nothing shows it.

    r: no Filter holds more than r + q samples (q defaults to r). T, M: at most as many stages, ``estimators_`` or
    ``n_learners_``, for each of its ``parts`` if it has them. Q: at most as many ``n_features_used_``.
    """
    limit = subject.budget[key]
    if key == "r":
        _samples(subject, limit)
    elif key in ("T", "M"):
        count = _learners(subject)
        if count is None and subject.follows:
            raise Skipped("it has no n_learners_, so nothing shows it")
        if count is None:
            raise Failed(f"nothing shows it: {key} needs staged_predict, estimators_ or n_learners_")
        if count > limit * getattr(subject.make(), "parts", 1):  # learners that divide the samples, each with all of it
            raise Failed(f"{count} learners")
    elif key == "Q":
        used = getattr(subject.trained(), "n_features_used_", None)
        if used is None:
            raise Skipped("it has no n_features_used_, so nothing shows it")
        if used > limit:
            raise Failed(f"{used} features are used")
    else:
        raise Skipped("nothing shows it from outside")


def _samples(subject, limit: int) -> None:
    if "chunks" not in subject.method.inputs and subject.method.paper:
        raise Skipped("its declaration says that it may look at all samples: its inputs have no chunks")
    model = subject.make()
    if not can(model, "fit_source"):
        raise Failed("it has no fit_source(source), so that it is handed all samples at once")
    source = subject.source(0, Watched)
    model.fit_source(source)
    most = limit + subject.budget.get("q", limit)
    held = max((max(opened.capacity, opened.peak_held) for opened in source.opened), default=0)
    if not source.opened:
        raise Failed("it opened no Filter (source.open(capacity).draw(n)), so that nothing shows what it holds")
    if held > most:
        raise Failed(f"a Filter may hold {held} samples, more than r + q = {most}")


def _learners(subject) -> int | None:
    model = subject.trained()
    if (count := getattr(model, "n_learners_", None)) is not None:
        return int(count)
    if (learners := getattr(model, "estimators_", None)) is not None:
        return len(learners)
    return sum(1 for _ in model.staged_predict(subject.X)) if can(model, "staged_predict") else None


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
        Check(f"budget {key}={value} is kept", lambda key=key: kept(subject, key))  # type: ignore[misc]
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
    """scikit-learn checks that a method which draws samples or bins need not pass, each with the reason."""
    why = "repeating a sample draws other samples and bins than doubling its weight"
    return dict.fromkeys((f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")), why)


def scikit_learn(subject: Subject) -> None:
    """Raise Failed with one line for each check of scikit-learn that fails."""
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
            f"{result['check_name']}: {said(result['exception'])} ({place(result['exception'], subject.own)})"
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
    if not can(subject.cls, "staged_predict"):
        raise Skipped("it has no staged_predict, so its records have no curve")
    model = subject.trained()
    stages = [np.asarray(labels) for labels in model.staged_predict(subject.X)]
    if not stages or not np.array_equal(stages[-1], model.predict(subject.X)):
        raise Failed("the last labels of staged_predict are not those of predict")


def _saved(subject: Subject) -> None:
    if not can(subject.cls, "save", "load"):
        raise Skipped("it has no save(path) and load(path)")
    model = subject.make().fit(subject.X, subject.y)
    with tempfile.TemporaryDirectory() as folder:
        written = model.save(Path(folder) / "model.npz") or Path(folder) / "model.npz"
        loaded = subject.cls.load(written)
        if not np.array_equal(answers(model, subject.X), answers(loaded, subject.X)):
            raise Failed("the loaded model predicts differently from the saved one")


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


NEEDED = ("check", "warm_up", "run")
PARTS = ("metrics", "cost", "curve")


def evaluation_checks(
    where: str, make: Callable[[int], Any], make_small: Callable[[], Any], data: dict[str, Any]
) -> list[Check]:
    """All checks of the evaluation ``where``; ``make(seed)`` makes estimators, ``data`` maps descriptions to data."""
    measured = [
        check
        for name, each in data.items()
        for check in (
            Check(f"on {name}: plain, finite metrics, cost and curve",
                  lambda each=each: _held(run(where, make, make_small, each, 1))),  # type: ignore[misc]
            Check(f"on {name}: same seed, same metrics",
                  lambda each=each: _same(where, make, make_small, each)),  # type: ignore[misc]
        )
    ]  # fmt: skip
    return [Check("it has check, warm_up and run", lambda: _complete(where)), *measured]


def takes(where: str, make: Callable[[int], Any], data: Any) -> bool:
    """Whether one trial of the evaluation runs on data of this kind."""
    try:
        run(where, make, lambda: make(0), data, 0)
    except Exception:
        return False
    return True


def run(where: str, make: Callable, make_small: Callable, data: Any, seed: int) -> dict[str, Any]:
    """The result of one trial, as the runner has it."""
    evaluation = obtain(where)()
    evaluation.check(make(seed), data)
    return dict(
        train_and_test(
            lambda seeds: data, make, evaluation, seed, lambda opened: evaluation.warm_up(make_small(), opened)
        ).result
    )


def _complete(where: str) -> None:
    missing = sorted(getattr(obtain(where), "__abstractmethods__", ()))  # it could not even be made
    if not missing:
        evaluation = obtain(where)()
        missing = [name for name in NEEDED if not can(evaluation, name)]
    if missing:
        raise Failed(f"{where} has no {', '.join(missing)}")


def _held(result: Any) -> None:
    if set(result) != set(PARTS) or not all(isinstance(part, dict) for part in result.values()):
        raise Failed(f"run must return a dict of the dicts {', '.join(PARTS)}, not of {', '.join(map(str, result))}")
    if not result["metrics"]:
        raise Failed("there is no metric")
    for name, value in result["metrics"].items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value - value != 0:
            raise Failed(f"the metric {name} is {value!r} ({type(value).__name__}): a plain finite number is needed")
    for part in PARTS:
        for name, value in result[part].items():
            if not isinstance(name, str) or not plain_and_finite(value):
                raise Failed(f"{part}.{name} cannot stand in a record: {_shown(value)}")


def _same(where: str, make: Callable, make_small: Callable, data: Any) -> None:
    first, second = (run(where, make, make_small, data, 3)["metrics"] for _ in range(2))
    for name in first.keys() | second.keys():
        if first.get(name) != second.get(name):
            raise Failed(f"the metric {name} is {first.get(name)!r}, and {second.get(name)!r} when it is run again")


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{text[:60]}{' ...' if len(text) > 60 else ''} ({type(value).__name__})"
