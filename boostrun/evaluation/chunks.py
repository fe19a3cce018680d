"""Train on a streamed set and measure on its test part, both read in chunks: what the record of such a trial holds.

The fields are those of :func:`boostrun.evaluation.staged.train_and_test`, and ``cost.buffer_rows``: how many samples
the shuffle buffer of each binary problem had room for.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from boostrun.data.stream_parts import StreamSet
from boostrun.errors import BoostrunError
from boostrun.evaluation.staged import checkpoints
from boostrun.methods import one_vs_all

_COUNTS = ("samples_drawn_", "labels_asked_", "peak_samples_held_", "covariance_restarts_")


def buffer_rows(data: StreamSet, limit_mib: int, held: int = 1) -> int:
    """Samples that the shuffle buffer of each binary problem has room for.

    Raises BoostrunError where these are fewer than the ``held`` samples that the learner draws at once.
    """
    problems = "the buffer" if data.problems == 1 else f"each of the {data.problems} buffers (one a class)"
    try:
        rows, _ = data.source(limit_mib, 0).buffer_rows()
    except BoostrunError:
        raise BoostrunError(
            f"run.memory_limit={limit_mib} (MiB) is too little for {problems} of rows of {data.train_facts.features} "
            "values; raise it"
        ) from None
    if rows < held:
        raise BoostrunError(
            f"run.memory_limit={limit_mib} (MiB) is too little: {problems} has room for {rows} samples, and the "
            f"learner draws {held} at once; raise it, or lower r or q"
        )
    return rows


def check_bins(data: StreamSet, bins: int) -> None:
    """Refuse a number of bins that would be without effect: 8-bit values are their own bins."""
    if np.dtype(data.train_facts.dtype) == np.uint8 and bins != 256:
        raise BoostrunError(f"features.bins={bins}: {data.train.path} holds 8-bit values, which are their own bins")


def train_and_test(
    model, data: StreamSet, limit_mib: float, bins: int, filter_seed: np.random.SeedSequence
) -> dict[str, Any]:
    """Fit ``model`` on a streamed training part and score it on the test part, chunk by chunk.

    Parameters
    ----------
    model : an estimator with ``fit_source`` that draws from Filters, unfitted
    data : StreamSet
    limit_mib : float, memory of all Filters' buffers together in MiB, and of the test part's chunks after them
    bins : int, quantile bins a feature; real values are binned on the first samples drawn
    filter_seed : SeedSequence of the draws

    Returns ``{"metrics", "cost", "curve"}``. Metrics depend on the data, the seeds and the limit, on nothing else.
    """
    begun = time.perf_counter()
    model.max_bins = bins
    source = data.source(limit_mib, filter_seed)
    model.fit_source(source)
    cost: dict[str, Any] = {"buffer_rows": source.buffer_rows()[0]}
    del source  # and with it the buffers, before the test part is read
    trained = time.perf_counter()
    curve: dict[str, list] = {"T": checkpoints(model.ensemble_.n_rounds)}
    for name in ("samples_drawn", "labels_asked", "train_seconds"):
        if (staged := getattr(model, f"staged_{name}_", None)) is not None:
            curve[name] = [staged[t - 1].item() for t in curve["T"]]
    curve["test_accuracy_pct"] = staged_accuracy_pct(model, data, limit_mib, curve["T"])
    cost |= {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained}
    cost |= {name.rstrip("_"): int(getattr(model, name)) for name in _COUNTS if hasattr(model, name)}
    if hasattr(model, "samples_drawn_per_problem_"):
        cost["samples_drawn_per_problem"] = int(max(model.samples_drawn_per_problem_))
    accuracy = curve["test_accuracy_pct"][-1]
    metrics = {"test_accuracy_pct": accuracy, "test_error_pct": 100.0 - accuracy}
    return {"metrics": metrics, "cost": cost, "curve": curve}


def staged_accuracy_pct(model, data: StreamSet, limit_mib: float, stages: list[int]) -> list[float]:
    """Accuracy in percent on the test part after each number of rounds, at most ``limit_mib`` MiB of it in memory."""
    right, total = np.zeros(len(stages), np.int64), 0
    for columns, labels in data.test_chunks(limit_mib):
        total += len(labels)
        for place, scores in enumerate(model.ensemble_.staged_decision(columns, stages)):
            right[place] += np.count_nonzero(one_vs_all.predict(scores, model.classes_) == labels)
    return [100.0 * float(count) / total for count in right]
