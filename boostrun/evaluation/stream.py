"""Follow a stream with a learner and measure how well: what a record of a drifting stream holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from boostrun.data.streams.drift_stream import DriftStream
from boostrun.evaluation.prequential import HoldoutCurve, Prequential, blocks_of, follow, prequential

FIRST = 200  # examples before the first test on a hold-out of a learner without a window: the usual length of one
_REHEARSED = 100  # examples


def rehearse(small, stream: DriftStream) -> None:
    """Compile what a learner needs on the first examples of the stream; ``small`` is one with a small budget.

    So no second of a trial is the compiler's.
    """
    x, y = next(stream.blocks(_REHEARSED))
    small.test_then_train(x, y, np.arange(len(stream.classes)))
    small.predict(x[:1])


def train_and_test(model, stream: DriftStream, options: Mapping[str, Any], first: int) -> dict[str, Any]:
    """Train ``model`` on the stream, in its order, and measure it on the way.

    Where the stream has hold-outs they are used from example ``first`` on, every ``eval_every`` examples; else each
    example is predicted before it is learnt. Returns ``{"metrics", "cost", "curve"}``: metrics are the same on any
    machine. The curve holds ``examples``, and after as many ``test_accuracy_pct`` (on the hold-out of the current
    concept, or over the last ``window`` examples) and ``fading_accuracy_pct``; besides ``changes``, after how many
    examples the concept changes, and what the stream says of itself. A figure without a checkpoint is left out.
    ``cost.time_s`` is processor time of learning and of predictions on the stream, hold-outs left out.
    """
    if stream.holdouts:
        result = _followed(follow(model, stream, options["eval_every"], first))
    else:
        score = Prequential(options["window"], options["fading"], options["curve_every"])
        result = _prequential(*prequential(model, blocks_of(stream), np.arange(len(stream.classes)), score))
    metrics, seconds, curve = result
    if "test_accuracy_pct" in metrics:
        metrics["test_error_pct"] = 100.0 - metrics["test_accuracy_pct"]
    changes = [int(change) for change in stream.changes if change < len(stream)]
    cost = {
        "time_s": seconds, "train_seconds": seconds, "examples_per_second": len(stream) / max(seconds, 1e-9),
        "time_per_example_us": 1e6 * seconds / len(stream),
    }  # fmt: skip
    return {"metrics": metrics, "cost": cost, "curve": {**curve, "changes": changes, "stream": dict(stream.facts)}}


def _followed(found: HoldoutCurve):
    metrics = {
        "test_accuracy_pct": found.stream_accuracy_pct(), "tail_accuracy_pct": found.tail_accuracy_pct(),
        "recovery_pct": found.recovery_pct(),
    }  # fmt: skip
    for number, recovery in enumerate(found.recoveries_pct(), start=1):
        metrics[f"recovery_{number}_pct"] = recovery
    curve = {"examples": found.examples.tolist(), "test_accuracy_pct": found.accuracy_pct.tolist()}
    return {name: value for name, value in metrics.items() if not math.isnan(value)}, found.seconds, curve


def _prequential(score: Prequential, seconds: float):
    curve = {"examples": score.curve["examples"], "test_accuracy_pct": score.curve["window_accuracy_pct"]}
    curve["fading_accuracy_pct"] = score.curve["fading_accuracy_pct"]
    metrics = {"test_accuracy_pct": score.accuracy_pct, "fading_accuracy_pct": score.fading_accuracy_pct}
    return metrics, seconds, curve
