"""The pool of worker processes: joblib's, its workers ended with us, and started before there is work for them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator

from boostrun.errors import BoostrunError
from boostrun.store.provenance import usable_cores


def parallel(backend: str, n_jobs: int):
    """A joblib.Parallel that gives results as they come; those of one process share their loky workers.

    Raises BoostrunError when the backend cannot be used.
    """
    import joblib

    from boostrun.runner.loky import Workers

    try:
        with joblib.parallel_config(backend=Workers() if backend == "loky" else backend, n_jobs=n_jobs):
            # One trial a message: dispatching costs less than a millisecond, and a batch sized on quick trials would
            # leave one worker with a row of slow ones.
            return joblib.Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
    except (ImportError, ValueError) as error:
        raise BoostrunError(f"the backend {backend!r} cannot be used: {error}") from error


@contextlib.contextmanager
def closing(answers):
    """``answers`` of a parallel; what is not answered by the end is cancelled, and the workers are ended at once."""
    try:
        yield answers
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that tasks are cancelled is what is meant
            answers.close()


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

    with closing(answers):
        yield wait
