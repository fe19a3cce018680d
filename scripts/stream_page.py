"""Write docs/which_stream_learner.md from the published stream tables of today.

    python scripts/stream_page.py

Every figure of the page is computed from ``results/iboost/today_*/table.csv``. A test holds the page to what this
writes.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from boostrun.report.markdown import pipe_table

ROOT = Path(__file__).parent.parent
TABLES = ROOT / "results" / "iboost"
PAGE = ROOT / "docs" / "which_stream_learner.md"
ACCURACY, SECONDS = "test accuracy %", "time s"
LABELS = ("the last label again", "the most frequent label")
BASES = ("stumps", "naive Bayes", "trees")
PAIRS = (
    ("one tree (VFDT)", "river's tree"), ("one tree that follows (HAT)", "river's HAT"),
    ("AdWin Bagging, trees", "river's ADWIN bagging"), ("OnlineBoost, trees", "river's ADWIN boosting"),
)  # fmt: skip

_INTRODUCTION = """# Which stream learner

Made by `python scripts/stream_page.py` from the published tables of
[recorded](../results/iboost/today_recorded/table.md) and [generated](../results/iboost/today_generated/table.md)
streams and of [thirty members](../results/iboost/today_large/table.md); no figure is typed.

The paper's methods, ours, and river's, on streams whose concept changes. Each example is answered before it is learnt;
on SEA the accuracy is that on hold-outs. **Nothing is tuned**: every method has its defaults, which were chosen for the
paper's streams where a method is the paper's. Seconds are of one core, for the whole stream: 45,312 examples of
electricity prices, 18,159 days of weather, 20,000 examples of SEA, LED and RBF. Ours have ten seeds and river's
ensembles three (ARF of thirty on RBF six), and what draws nothing has one trial on recorded streams: differences of
tenths of a point say little.

IBoost, OCB and FLB have members that are fitted to a window or a block of 200 examples; the others' members learn each
example.
"""


class Cell(NamedTuple):
    """A mean over trials, and their standard deviation; nan of one."""

    mean: float
    std: float


def cells(item: str) -> dict[tuple[str, str, str], Cell]:
    """Of a table the cells by row, data set and metric; nothing where it is not there."""
    path = TABLES / item / "table.csv"
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {
            (row["row"], row["dataset"], row["metric"]): Cell(float(row["mean"]), float(row["std"] or "nan"))
            for row in csv.DictReader(file)
            if row["mean"]
        }


def page() -> str:
    """The page of the tables that are there."""
    ten, thirty = cells("today_recorded") | cells("today_generated"), cells("today_large")
    parts = [_INTRODUCTION]
    for found, title in ((ten, "Ten members"), (thirty, "Thirty members")):
        if found:
            parts += [f"## {title}\n", *_best(found), "### All of them\n", _all(found)]
    if ten:
        parts += ["## Which base\n", *_bases(ten), "## Ours and river's of the same kind\n", *_pairs(ten)]
    return "\n".join(parts)


def rows_of(found: dict) -> list[str]:
    """The rows of a table, in its order."""
    return list(dict.fromkeys(row for row, _, _ in found))


def streams_of(found: dict) -> list[str]:
    """The data sets of a table, in its order."""
    return list(dict.fromkeys(stream for _, stream, _ in found))


def best(found: dict, stream: str, rows: Sequence[str]) -> str:
    """The row with the highest mean accuracy on a stream."""
    return max((row for row in rows if (row, stream, ACCURACY) in found), key=lambda row: found[row, stream, ACCURACY])


def _best(found: dict) -> Iterator[str]:
    rows = rows_of(found)
    rivers = [row for row in rows if row.startswith("river's")]
    ours = [row for row in rows if row not in (*rivers, *LABELS)]
    lines, ahead, slower = [], [], []
    for stream in streams_of(found):
        mine, theirs = best(found, stream, ours), best(found, stream, rivers)
        ratio = found[theirs, stream, SECONDS].mean / found[mine, stream, SECONDS].mean
        ahead.append(found[mine, stream, ACCURACY].mean - found[theirs, stream, ACCURACY].mean)
        slower.append(ratio)
        lines.append([
            stream, mine, _value(found, mine, stream), theirs, _value(found, theirs, stream), f"{ahead[-1]:+.2f}",
            f"{ratio:.0f}", f"{found[LABELS[0], stream, ACCURACY].mean:.2f}",
        ])  # fmt: skip
    heads = ["stream", "best of ours", "accuracy %", "best of river's", "accuracy %", "difference", "times as long",
             LABELS[0]]  # fmt: skip
    yield pipe_table([heads, *lines], range(5, 8)) + "\n"
    won = sum(one > 0.0 for one in ahead)
    yield (
        f"By their means the best of ours is ahead on {won} of {len(ahead)} streams, by {min(ahead):+.2f} to "
        f"{max(ahead):+.2f} points, and river's takes {min(slower):.0f} to {max(slower):.0f} times as long. The best "
        "of each side is chosen by the figures that are shown.\n"
    )


def _all(found: dict) -> str:
    streams = streams_of(found)
    order = sorted(rows_of(found), key=lambda row: -sum(_accuracy(found, row, stream) for stream in streams))
    lines = [
        [row, *(f"{_value(found, row, stream)} · {found[row, stream, SECONDS].mean:.2f} s" for stream in streams)]
        for row in order
    ]
    return (
        "By the mean over these streams:\n\n"
        + pipe_table([["method", *streams], *lines], range(1, 1 + len(streams)))
        + "\n"
    )


def _bases(found: dict) -> Iterator[str]:
    streams = streams_of(found)
    methods = dict.fromkeys(row.rpartition(", ")[0] for row in rows_of(found) if row.endswith(BASES))
    lines, gains = [], []
    for method in methods:
        for stream in streams:
            of = [_accuracy(found, f"{method}, {base}", stream) for base in BASES]
            if sum(one > 0.0 for one in of) > 1:
                lines.append([method, stream, *(f"{one:.2f}" if one > 0.0 else "" for one in of)])
                gains += [of[2] - of[1]] if of[1] > 0.0 and of[2] > 0.0 else []
    yield (
        f"Trees in place of naive Bayes (Bernoulli's on LED, Gauss's else) have the higher mean in "
        f"{sum(one > 0.0 for one in gains)} of {len(gains)} cases, by {min(gains):+.2f} to {max(gains):+.2f} points.\n"
    )
    yield pipe_table([["method", "stream", *BASES], *lines], (2, 3, 4)) + "\n"


def _pairs(found: dict) -> Iterator[str]:
    yield (
        "OnlineBoost has no detectors, river's ADWIN boosting has; river's HAT puts a second subtree in place as soon "
        "as it splits, ours where it is better.\n"
    )
    lines = [
        [ours, rivers, stream, _value(found, ours, stream), _value(found, rivers, stream),
         f"{found[rivers, stream, SECONDS].mean / found[ours, stream, SECONDS].mean:.0f}"]
        for ours, rivers in PAIRS
        for stream in streams_of(found)
        if (ours, stream, SECONDS) in found and (rivers, stream, SECONDS) in found
    ]  # fmt: skip
    yield (
        pipe_table([["ours", "river's", "stream", "ours, %", "river's, %", "times as long"], *lines], (3, 4, 5)) + "\n"
    )


def _accuracy(found: dict, row: str, stream: str) -> float:
    return found[row, stream, ACCURACY].mean if (row, stream, ACCURACY) in found else 0.0


def _value(found: dict, row: str, stream: str) -> str:
    if (row, stream, ACCURACY) not in found:
        return "—"
    mean, std = found[row, stream, ACCURACY]
    return f"{mean:.2f}" if math.isnan(std) else f"{mean:.2f} ({std:.2f})"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
