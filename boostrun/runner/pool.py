"""The pool of worker processes: joblib's, its workers ended with us, and started before there is work for them."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator

from boostrun.errors import BoostrunError
from boostrun.runner.provenance import usable_cores
from boostrun.runner.quiet import quieten
from boostrun.runner.worker import prepare

_SETTLES = 0.05  # seconds: tasks that are cancelled before loky's thread has looked at them end it with a KeyError


def worker_start() -> dict:
    """How loky begins a worker: it watches this process, so that one without a trial ends with us as well."""
    # The kernel may be asked to end the workers with the thread that starts them, if that is the main one.
    with_thread = threading.current_thread() is threading.main_thread()
    return {"initializer": prepare, "initargs": (os.getpid(), with_thread)}


def parallel(backend: str, n_jobs: int):
    """A joblib.Parallel that gives results as they come; those of one process share its loky workers.

    Raises BoostrunError when the backend cannot be used.
    """
    import joblib

    options = {}
    if backend == "loky":
        quieten()
        options = {"inner_max_num_threads": 1, **worker_start()}
    try:
        with joblib.parallel_config(backend=backend, n_jobs=n_jobs, **options):
            # One trial a message: dispatching costs less than a millisecond, and a batch sized on quick trials would
            # leave one worker with a row of slow ones.
            return joblib.Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
    except (ImportError, ValueError) as error:
        raise BoostrunError(f"the backend {backend!r} cannot be used: {error}") from error


def workers(n_jobs: int) -> int:
    """How many workers ``n_jobs`` asks for; BoostrunError when it is no such number."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0 or n_jobs < -1:
        raise BoostrunError(f"n_jobs must be a number of workers of at least 1, or -1 for all cores, not {n_jobs!r}")
    return usable_cores() if n_jobs == -1 else n_jobs


@contextlib.contextmanager
def started(n_jobs: int, warm_up: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Start ``n_jobs`` loky workers that do ``warm_up``, and go on without waiting.

    A worker takes about a second to load its libraries: time to plan what it shall do. Gives a function that waits for
    them; without its call they are ended, because there was nothing for them to do.
    """
    import joblib

    answers = parallel("loky", n_jobs)(joblib.delayed(warm_up)() for _ in range(n_jobs))

    def wait() -> None:
        # A worker died, or its pool was replaced because one had: who ran trials has been told.
        with contextlib.suppress(RuntimeError):
            for _ in answers:
                pass

    try:
        yield wait
    finally:
        time.sleep(_SETTLES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that tasks are cancelled is what is meant
            answers.close()
