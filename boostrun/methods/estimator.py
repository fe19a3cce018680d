"""The base of batch classifiers: arrays in, scores and labels of an ensemble out; checks of their parameters; and
objects that stay in workers, for those that train parts at the same time.

Each check raises BoostrunError with one sentence that names the parameter.
"""

from __future__ import annotations

import copy
import dataclasses
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.config.fields import fields_of
from boostrun.data.source import ArraySource, weighted_source
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.saved import Saveable, TakesAnything, take_frames, take_threads
from boostrun.methods.scikit_learn import (
    BaseEstimator,
    ClassifierMixin,
    check_classification_targets,
    check_is_fitted,
    check_random_state,
    validate_data,
)
from boostrun.methods.stumps import StumpEnsemble

_DTYPES = [np.float64, np.float32, np.uint8]
_LIVES = 4  # times that an object is made for one call
_JOINS = 60.0  # seconds within which a worker of Dask or Ray must join
_LOOK = 0.5  # seconds between two looks whether the parent, or a worker of Dask, lives


class StumpClassifier(Saveable, ClassifierMixin, BaseEstimator):
    """Base of classifiers whose fitted state is ``ensemble_``, of one of the ``_model_types``, and ``classes_``.

    A subclass also inherits from the boosting loop, which has the parameters, with ``n_estimators`` and
    ``random_state``, and trains from a source of samples.
    """

    _model_types: tuple[type | str, ...] = (StumpEnsemble,)
    _rounds = "n_estimators"

    def _source(self, X, y, sample_weight=None) -> tuple[ArraySource, np.random.SeedSequence, int]:
        """Checked arrays as a source, the seed of the algorithm, and the whole number that both seeds come from.

        The Filter and the algorithm have their own seeds, so that all methods see the same samples. Raises ValueError
        with one sentence for bad arrays; for weights see :func:`.weighted_source`.
        """
        X, y = validate_data(self, X, y, dtype=_DTYPES, order="C")
        check_classification_targets(y)
        entropy = self._entropy()
        filter_seed, algorithm_seed = np.random.SeedSequence(entropy).spawn(2)
        if sample_weight is None:
            return ArraySource(X, y, filter_seed), algorithm_seed, entropy
        return weighted_source(X, y, sample_weight, filter_seed), algorithm_seed, entropy

    def _entropy(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _scores(self, X) -> np.ndarray:
        samples = self._prepared(X, dtype=_DTYPES, order="C")
        return self.ensemble_.decision(samples)

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        columns = np.ascontiguousarray(self._prepared(X, dtype=_DTYPES).T)
        return self.ensemble_.staged_decision(columns, range(1, self.ensemble_.n_rounds + 1))

    def decision_function(self, X) -> np.ndarray:
        """Scores (n,) for two classes, positive for the second; (n, n_classes) otherwise. Cost O(n K T)."""
        return one_vs_all.decision(self._scores(X))

    def predict(self, X) -> np.ndarray:
        """Labels (n,) for X (n, d)."""
        return one_vs_all.predict(self._scores(X), self.classes_)

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Yield scores after 1, 2, ..., T rounds, each as :meth:`decision_function` returns them."""
        for scores in self._staged_scores(X):
            yield one_vs_all.decision(scores.copy())

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield labels after 1, 2, ..., T rounds."""
        for scores in self._staged_scores(X):
            yield one_vs_all.predict(scores, self.classes_)

    @property
    def _model(self):
        return self.ensemble_

    def _hold(self, model) -> None:
        self.ensemble_ = model


take_threads(StumpClassifier)


class MajorityClassifier(ClassifierMixin, BaseEstimator):
    """Always predicts the most frequent class of the training labels, the first in order among equals.

    >>> MajorityClassifier().fit(np.zeros((3, 1)), np.array(["b", "a", "b"])).predict(np.zeros((2, 1))).tolist()
    ['b', 'b']
    """

    def fit(self, X, y):
        """Count the labels y (n,); X (n, d) may hold anything."""
        self.classes_, counts = np.unique(np.asarray(y), return_counts=True)
        self._most_frequent = int(counts.argmax())
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.no_validation = tags.input_tags.sparse = tags.classifier_tags.poor_score = True
        return tags

    def predict(self, X) -> np.ndarray:
        """Labels (n,) for X (n, d)."""
        check_is_fitted(self)
        return np.repeat(self.classes_[[self._most_frequent]], _rows(X))

    def predict_proba(self, X) -> np.ndarray:
        """(n, n_classes) float64: 1 for the most frequent class, 0 for the others."""
        check_is_fitted(self)
        return np.tile(np.eye(len(self.classes_))[self._most_frequent], (_rows(X), 1))


take_frames(MajorityClassifier, TakesAnything)


def _rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return len(X if isinstance(X, Sized) else np.asarray(X)) if shape is None else shape[0]


def component_of(model: Any, key: str, takes: Sequence[str] = ()) -> Any:
    """The object for the parameter ``key`` of ``model``: a copy of the given one, or one made from a given name.

    A name is looked up in the catalogue. The class found there is called with those of the parameters ``takes`` of
    ``model`` that it has, and its own defaults. Raises BoostrunError for an unknown name.
    """
    given = getattr(model, key)
    if not isinstance(given, str):
        return copy.deepcopy(given)
    found = catalogue.part(fields_of(type(model))[key].metadata["room"], given)
    if not isinstance(found, type):
        return found  # a function or an object of a plug-in
    own = {field.name for field in dataclasses.fields(found)} if dataclasses.is_dataclass(found) else set()
    return found(**{name: getattr(model, name) for name in takes if name in own})


def choice(model, key: str, allowed: Iterable[str]) -> None:
    """Check that ``model.key`` is one of ``allowed``."""
    value = getattr(model, key)
    if not isinstance(value, str) or value not in allowed:
        raise BoostrunError(f"{key}={value!r} is none of {', '.join(allowed)}{did_you_mean(value, allowed)}")


def whole(model, *keys: str, least: int = 1, none: bool = False) -> None:
    """Check that each ``model.key`` is a whole number of at least ``least``, or None if ``none`` is true."""
    for key in keys:
        value = getattr(model, key)
        if none and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise BoostrunError(f"{key}={value!r}: a whole number of at least {least} is needed")


def share(model, key: str) -> None:
    """Check that ``model.key`` lies above 0 and is at most 1."""
    value = getattr(model, key)
    if not 0.0 < value <= 1.0:
        raise BoostrunError(f"{key}={value!r}: a number above 0 and at most 1 is needed")


def bins(model) -> None:
    """Check that ``model.max_bins`` codes fit into 8 bits."""
    if not 2 <= model.max_bins <= 256:
        raise BoostrunError(f"max_bins={model.max_bins!r}: a whole number from 2 to 256 is needed")


# -- objects that stay in workers --------------------------------------------------------------------------------------


class Held:
    """Objects that stay where they were made and answer calls, all of them once a turn; used in a ``with`` statement.

    One whose worker dies is made again and given its earlier calls again, so its answers must follow from those calls:
    a death costs what one object has computed. The others go on.

    Parameters
    ----------
    makers : functions without arguments, one an object, that make what is called.
    n_jobs : int or None, workers of joblib's backend in force; None: 1. With 1, or with "threading", the objects are in
        this process. With "loky" each worker is a process, with "dask" one of the client's workers, with "ray" an
        actor.

    Raises BoostrunError for another backend, for an object that loses its worker four times in one turn, and if Dask
    has no worker, or Ray no free processor, for a minute.

    >>> with Held([lambda: [].append, lambda: max], n_jobs=1) as objects:
    ...     objects.ask([(3,), (1, 2)], anew=True)
    [None, 2]
    """

    def __init__(self, makers: Sequence[Callable[[], Callable[..., Any]]], n_jobs: int | None):
        from joblib import effective_n_jobs
        from joblib.parallel import LokyBackend, get_active_backend

        backend, _ = get_active_backend()
        wanted, client = n_jobs or 1, getattr(backend, "client", None)
        n_jobs = effective_n_jobs(wanted) if client is None else wanted  # Dask counts workers that joined
        if n_jobs == 1 or getattr(backend, "supports_sharedmem", False):
            self._place: Any = _InThisProcess(n_jobs)
        elif client is not None:
            self._place = _OnDask(client, n_jobs)
        elif isinstance(backend, LokyBackend):
            self._place = _InProcesses(min(n_jobs, len(makers)))
        elif type(backend).__name__ == "RayBackend":
            self._place = _OnRay(min(n_jobs, len(makers)))
        else:
            raise BoostrunError(f"joblib's backend {type(backend).__name__} is none of loky, threading, dask, ray")
        self._makers, self._name = makers, uuid.uuid4().hex
        self._calls: list[list[tuple]] = [[] for _ in makers]

    def __len__(self) -> int:
        return len(self._makers)

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *failure: Any) -> None:
        for number in range(len(self._makers)):
            self._place.drop(number, f"{self._name}-{number}")
        self._place.close()

    def ask(self, calls: Sequence[tuple], anew: bool = False) -> list[Any]:
        """The answers to a call, its arguments, of each object; ``anew`` makes all objects first."""
        if anew:
            self._calls = [[] for _ in self._makers]
            self._place.revive(())
        answers: list[Any] = [None] * len(calls)
        waiting = {number: self._send(number, call, anew) for number, call in enumerate(calls)}
        for _ in range(_LIVES):
            again = []
            for number, future in waiting.items():
                try:
                    there, answers[number] = future.result()
                except self._place.deaths:
                    there = False
                except BoostrunError as error:
                    raise getattr(error, "cause", error) from None  # Ray's message has a traceback too
                if not there:
                    again.append(number)
            if not again:
                for earlier, call in zip(self._calls, calls):
                    earlier.append(call)
                return answers
            self._place.revive(again)
            waiting = {number: self._send(number, calls[number], True) for number in again}
        raise BoostrunError(f"part {min(waiting) + 1} of {len(calls)} has lost its worker {_LIVES} times in a row")

    def _send(self, number: int, call: tuple, make: bool) -> Any:
        earlier = self._calls[number]
        more = (self._makers[number], earlier) if make else ()
        return self._place.send(number, _answer, f"{self._name}-{number}", len(earlier), call, *more)


_held: dict[str, tuple[int, Callable[..., Any]]] = {}
"""The objects of this process: the number of calls that each has answered, and the object."""


def _answer(name: str, seen: int, call: tuple, make: Callable | None = None, calls: Sequence[tuple] = ()) -> tuple:
    """Whether the object is here, and its answer; one that has not seen as many calls as it should is not."""
    if make is not None:
        found = make()
        for earlier in calls:
            found(*earlier)
    else:
        answered, found = _held.get(name, (-1, int))
        if answered != seen:
            return False, None
    _held.pop(name, None)
    answer = found(*call)
    _held[name] = seen + 1, found
    return True, answer


def _drop(name: str) -> None:
    _held.pop(name, None)


class _InThisProcess:
    deaths: tuple[type[BaseException], ...] = ()

    def __init__(self, threads: int):
        self.executor = ThreadPoolExecutor(threads) if threads > 1 else None

    def send(self, number: int, function: Callable, *arguments: Any) -> Future:
        if self.executor is not None:
            return self.executor.submit(function, *arguments)
        done: Future = Future()
        done.set_result(function(*arguments))
        return done

    def revive(self, numbers: Sequence[int]) -> None:
        """Do nothing: this process lives."""

    def drop(self, number: int, name: str) -> None:
        _drop(name)

    def close(self) -> None:
        if self.executor is not None:
            self.executor.shutdown()


class _InProcesses:
    """Worker processes of one thread each; object k is in number k modulo their number."""

    def __init__(self, processes: int):
        from joblib.externals.loky import BrokenProcessPool

        self.deaths = (BrokenProcessPool,)
        self.open = [_process() for _ in range(processes)]

    def send(self, number: int, function: Callable, *arguments: Any) -> Future:
        try:
            return self.open[number % len(self.open)].submit(function, *arguments)
        except self.deaths as death:  # between two turns
            lost: Future = Future()
            lost.set_exception(death)
            return lost

    def revive(self, numbers: Sequence[int]) -> None:
        for place in {number % len(self.open) for number in numbers}:
            try:
                self.open[place].submit(int).result()  # it lives: only an object was not there
            except self.deaths:
                self.open[place].shutdown(kill_workers=True)
                self.open[place] = _process()

    def drop(self, number: int, name: str) -> None:
        """Do nothing: the processes end."""

    def close(self) -> None:
        for process in self.open:
            process.shutdown(kill_workers=True)


def _process() -> Any:
    """An executor of one process, which is started; ctrl-C does not reach it, and it ends with this process."""
    from joblib.externals.loky import ProcessPoolExecutor
    from joblib.parallel import ParallelBackendBase

    one_thread = dict.fromkeys(ParallelBackendBase.MAX_NUM_THREADS_VARS, "1")
    found = ProcessPoolExecutor(1, env=one_thread, initializer=_end_with, initargs=(os.getpid(),))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if os.name == "posix" else None
    try:
        found.submit(int)
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return found


def _end_with(parent: int) -> None:
    """In a process: end it soon after its parent has ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=watch, daemon=True).start()


class _OnDask:
    """Workers of a Dask client; object k is in number k modulo their number."""

    def __init__(self, client: Any, n_jobs: int):
        from distributed import KilledWorker

        self.client, self.most, self.deaths = client, None if n_jobs < 0 else n_jobs, (KilledWorker, _Gone)
        self.revive(())

    def send(self, number: int, function: Callable, *arguments: Any) -> Any:
        address = self.addresses[number % len(self.addresses)]
        return _AtWorker(self.client, address, self.client.submit(function, *arguments, pure=False, workers=[address]))

    def revive(self, numbers: Sequence[int]) -> None:
        try:
            self.client.wait_for_workers(1, timeout=_JOINS)
        except TimeoutError:
            raise BoostrunError(f"the Dask cluster has had no worker for {_JOINS:.0f} s") from None
        self.addresses = sorted(self.client.nthreads())[: self.most]

    def drop(self, number: int, name: str) -> None:
        self.client.run(_drop, name, on_error="ignore")

    def close(self) -> None:
        """Do nothing: the workers are the user's."""


class _Gone(Exception):
    """A worker of Dask has left before it answered."""


class _AtWorker:
    """The future of a call for one worker: Dask would keep it forever for a worker that has left."""

    def __init__(self, client: Any, address: str, future: Any):
        self.client, self.address, self.future = client, address, future

    def result(self) -> Any:
        while True:
            try:
                return self.future.result(timeout=_LOOK)
            except TimeoutError:
                if self.future.done():  # the call has raised it
                    raise
                if self.address not in self.client.nthreads():
                    raise _Gone from None


class _OnRay:
    """Actors of one processor on the cluster that Ray is connected to; object k is in number k modulo their number."""

    def __init__(self, actors: int):
        import ray

        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)
        self.ray, self.deaths = ray, (ray.exceptions.RayActorError,)
        self.open = [self._actor() for _ in range(max(1, min(actors, int(ray.cluster_resources().get("CPU", 1)))))]
        self.revive(range(len(self.open)))

    def _actor(self) -> Any:
        return self.ray.remote(_Actor).options(num_cpus=1).remote()

    def send(self, number: int, function: Callable, *arguments: Any) -> Future:
        return self.open[number % len(self.open)].call.remote(function, *arguments).future()

    def revive(self, numbers: Iterable[int]) -> None:
        for place in {number % len(self.open) for number in numbers}:
            if not self._lives(place):
                self.open[place] = self._actor()
                self._lives(place)

    def _lives(self, place: int) -> bool:
        """Whether an actor answers; BoostrunError if Ray has no processor for it."""
        try:
            self.ray.get(self.open[place].call.remote(int), timeout=_JOINS)
        except self.deaths:
            return False
        except self.ray.exceptions.GetTimeoutError:
            raise BoostrunError(f"the Ray cluster has had no free processor for {_JOINS:.0f} s") from None
        return True

    def drop(self, number: int, name: str) -> None:
        """Do nothing: the actors end."""

    def close(self) -> None:
        for actor in self.open:
            self.ray.kill(actor)


class _Actor:
    def call(self, function: Callable, *arguments: Any) -> Any:
        return function(*arguments)
