"""Write docs/howto/which_stream_learner.md from the published tables of stream learners.

    python scripts/stream_page.py

Every figure of the page is computed from the records behind ``results/iboost/today_*/table.csv``. A test compares the
page with the output of this script.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from boostrun.report.entry import by_seed
from boostrun.report.markup import decimal, pipe_table, spread
from boostrun.report.statistics import mean_std
from boostrun.runner import paper
from boostrun.runner.plan import open_store, plan

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
PAGE = ROOT / "docs" / "howto" / "which_stream_learner.md"
RECORDED = ("electricity", "weather")  # the same stream for every seed; a generated one is another for each
LABELS = ("the last label again", "the most frequent label")
BASES = ("stumps", "naive Bayes", "trees")
RIVALS = ("river's", "CapyMOA's")  # the first word of a row
AS_MOA = {  # with MOA's defaults or rules: compared with CapyMOA's of the same kind alone
    "ARF, 60 % of the features": "CapyMOA's ARF", "ARF, 60 % of the features, MOA's rules": "CapyMOA's ARF",
    "leveraging bagging, MOA's rules": "CapyMOA's leveraging bagging",
    "HAT, MOA's rules, CapyMOA's confidence": "CapyMOA's HAT",
}  # fmt: skip
PAIRS = (
    ("one tree (VFDT)", "river's tree"), ("one tree that follows (HAT)", "river's HAT"),
    ("AdWin Bagging, trees", "river's ADWIN bagging"), ("OnlineBoost, trees", "river's ADWIN boosting"),
    ("ARF", "river's ARF"), ("leveraging bagging", "river's leveraging bagging"),
    ("one tree that follows (HAT)", "CapyMOA's HAT"), ("ARF", "CapyMOA's ARF"),
    ("leveraging bagging", "CapyMOA's leveraging bagging"), ("SGBT", "CapyMOA's SGBT"), *AS_MOA.items(),
)  # fmt: skip

signed = partial(decimal, signed=True)

_INTRODUCTION = """# Which stream learner

`python scripts/stream_page.py` makes this page from the published tables of
[recorded](../../results/iboost/today_recorded/table.md) and
[generated](../../results/iboost/today_generated/table.md) streams, of
[MOA's learners](../../results/iboost/today_capymoa/table.md) by CapyMOA, of
[thirty members](../../results/iboost/today_large/table.md), and of methods tuned alike on
[recorded](../../results/iboost/today_tuned/table.md) and
[generated](../../results/iboost/today_generated_tuned/table.md) streams,
[MOA's](../../results/iboost/today_capymoa_tuned/table.md) too. No figure is typed by hand.

The page compares the paper's methods, ours, river's and CapyMOA's on streams whose concept changes. Each example is
predicted before it is learnt; on SEA accuracy is measured on hold-outs. **Nothing is tuned** unless a section says so:
every method has its defaults, except for the number of members. The defaults of the paper's methods were chosen for
the paper's streams.

Seconds are those of one core for the whole stream: 45,312 examples of electricity prices, 18,159 days of weather,
20,000 examples of SEA, LED and RBF (5,000 where all are tuned), and 100,000 of RBF that changes abruptly. They come
from the records, which may be older than the code, and are means over two kinds of processors. Ratios of times
compare trials on one kind, if both sides have it. CapyMOA's are the processor time of all threads of Java, and include
a call from Python for each example.

{seeds}

Members of IBoost, OCB and FLB are fitted to a window or a block of 200 examples. Members of the other methods learn
each example.
"""

_TUNED = """\
Ten members. Every method had eight trials of `boostrun tune`, which chose the base, the steps and the trees; the
first trial has the defaults. CapyMOA's leveraging bagging has nothing to tune. On recorded streams the trials run on
the first fifth of the stream, and accuracies are those after that fifth; seconds are those of the whole stream. On
generated streams of 5,000 examples each trial has a stream of another seed. The best settings for the beginning of a
stream need not be the best after a change.
"""


class Cell(NamedTuple):
    """Test accuracy in percent, seconds, and the kind of processor, of the trials of a row on a stream, by seed."""

    accuracies: dict[int, float]
    seconds: dict[int, float]
    processors: dict[int, str]

    @property
    def mean(self) -> float:
        """The mean accuracy."""
        return mean_std(self.accuracies.values())[0]

    @property
    def time(self) -> float:
        """The mean of the seconds."""
        return mean_std(self.seconds.values())[0]

    def over(self, seeds: set[int]) -> float:
        """The mean accuracy of these seeds."""
        return mean_std([self.accuracies[seed] for seed in seeds])[0]

    def times_as_long_as(self, other: Cell) -> float:
        """Ratio of mean seconds on the processor that most of these trials share with the other's; on all if none."""
        shared = Counter(one for one in self.processors.values() if one in other.processors.values())
        kind = shared.most_common(1)[0][0] if shared else None
        mine, theirs = (
            mean_std([cell.seconds[seed] for seed, on in cell.processors.items() if kind in (None, on)])[0]
            for cell in (self, other)
        )
        return mine / theirs

    def __str__(self) -> str:
        return spread(*mean_std(self.accuracies.values()))


Cells = dict[tuple[str, str], Cell]


def cells(item: str, results: Path = RESULTS) -> Cells:
    """The cells of a published table by row and stream; empty if the table is missing."""
    if not (results / "iboost" / item / "table.csv").exists():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        found, _ = paper.load_published(f"iboost/{item}", str(results), [f"store={folder}/runs"])
        entries = found.entries(plan(found.settings, open_store(found.settings[0])))
    return {
        (entry.row, entry.column[0]): Cell(
            by_seed(entry.records, "test_accuracy_pct")[0],
            by_seed(entry.records, "time_s")[0],
            {record["seed"]: record["provenance"]["instructions"]["numba"] for record in entry.records},
        )
        for entry in entries
        if entry.metric == "test_accuracy_pct" and entry.records
    }


def difference(one: Cell, other: Cell, stream: str) -> float:
    """The difference of the means; on a generated stream over the seeds that both have."""
    seeds = set(one.accuracies) & set(other.accuracies)
    return one.mean - other.mean if stream in RECORDED else one.over(seeds) - other.over(seeds)


def page() -> str:
    """The page of the tables that are there."""
    every_row = cells("today_recorded") | cells("today_generated") | cells("today_capymoa")
    ten = {place: cell for place, cell in every_row.items() if place[0] not in AS_MOA}
    tuned = cells("today_tuned") | cells("today_generated_tuned") | cells("today_capymoa_tuned")
    thirty = cells("today_large")
    every = [(stream, cell) for found in (ten, thirty, tuned) for (_, stream), cell in found.items()]
    parts = [_INTRODUCTION.format(seeds=_seeds(every))]
    groups = ((ten, "Ten members", []), (thirty, "Thirty members", []), (tuned, "Tuned alike", [_TUNED]))
    for found, title, said in groups:
        if found:
            short = _in_short(found, streams_of(found))
            parts += [f"## {title}\n", *said, *_best(found), short, "### All of them\n", _all(found)]
    if ten:
        parts += ["## Which base\n", *_bases(ten), "## Ours and theirs of the same kind\n", *_pairs(every_row)]
    return "\n".join(parts)


def _seeds(found: Sequence[tuple[str, Cell]]) -> str:
    """A sentence about seeds; methods without random choices have one trial on a recorded stream."""
    drawn = [(stream, len(cell.accuracies)) for stream, cell in found if len(cell.accuracies) > 1]
    most = max(n for _, n in drawn)
    few = Counter((stream, n) for stream, n in drawn if n < most)
    said = ", ".join(
        f"{n} in {rows} row{'s' if rows > 1 else ''} on {stream}" for (stream, n), rows in sorted(few.items())
    )
    return (
        f"Methods with random choices have {most} seeds{f' ({said})' if few else ''}; on recorded streams the others\n"
        "have one trial. Differences of tenths of a point mean little."
    )


def _in_short(found: Cells, streams: Sequence[str]) -> str:
    """Which learner to take, by the means over all streams."""
    by_stream = [_means(found, stream) for stream in streams]
    means = {row: mean_std([each[row] for each in by_stream])[0] for row in rows_of(found)}
    times = {row: mean_std([found[row, stream].time for stream in streams])[0] for row in rows_of(found)}
    said = {row: f"{row}, {decimal(means[row])} % in {decimal(times[row])} s" for row in means}
    rivals = [row for row in means if row.startswith(RIVALS)]
    ours = [row for row in means if row not in (*rivals, *LABELS)]
    sides = [max(ours, key=means.__getitem__), max(rivals, key=means.__getitem__)]
    first, second = sorted(sides, key=means.__getitem__, reverse=True)
    quick = min((row for row in ours if means[row] > means[sides[0]] - 1.0), key=times.__getitem__)
    behind = [row for row in ours if any(each[row] < each[LABELS[0]] for each in by_stream)]
    also = f"; the quickest within a point of the best of ours is {said[quick]}" if quick != sides[0] else ""
    return (
        f"The best mean over all {len(streams)} streams is that of {said[first]}. The best of "
        f"{'ours' if second == sides[0] else 'the rivals'} is {said[second]}{also}. Compare with the last label first: "
        f"{len(behind)} of our {len(ours)} methods are behind it on at least one stream.\n"
    )


def rows_of(found: dict) -> list[str]:
    """The rows of a table, in its order."""
    return list(dict.fromkeys(row for row, _ in found))


def streams_of(found: dict) -> list[str]:
    """The data sets of a table, in its order."""
    return list(dict.fromkeys(stream for _, stream in found))


def _means(found: Cells, stream: str) -> dict[str, float]:
    """The mean accuracy of each row on a stream; on a generated stream over the seeds that all rows have."""
    there = {row: cell for (row, on), cell in found.items() if on == stream}
    seeds = set.intersection(*(set(cell.accuracies) for cell in there.values()))
    return {row: cell.mean if stream in RECORDED else cell.over(seeds) for row, cell in there.items()}


def best(found: Cells, stream: str, rows: Sequence[str]) -> str:
    """The row of these with the highest mean accuracy on a stream."""
    means = _means(found, stream)
    return max((row for row in rows if row in means), key=means.__getitem__)


def _best(found: Cells) -> Iterator[str]:
    rows = rows_of(found)
    rivals = [row for row in rows if row.startswith(RIVALS)]
    ours = [row for row in rows if row not in (*rivals, *LABELS)]
    lines, ahead, slower = [], [], []
    for stream in streams_of(found):
        mine, theirs = best(found, stream, ours), best(found, stream, rivals)
        one, other = found[mine, stream], found[theirs, stream]
        ahead.append(difference(one, other, stream))
        slower.append(other.times_as_long_as(one))
        lines.append([
            stream, mine, str(one), theirs, str(other), signed(ahead[-1]), f"{slower[-1]:.0f}",
            decimal(found[LABELS[0], stream].mean),
        ])  # fmt: skip
    heads = ["stream", "best of ours", "accuracy %", "best rival", "accuracy %", "difference", "times as long",
             LABELS[0]]  # fmt: skip
    yield pipe_table([heads, *lines], range(5, 8)) + "\n"
    won = sum(one > 0.0 for one in ahead)
    yield (
        f"The best of ours has the higher mean on {won} of {len(ahead)} streams. Differences are {signed(min(ahead))} "
        f"to {signed(max(ahead))} points, and the best rival takes {min(slower):.0f} to {max(slower):.0f} times as "
        "long. The best of each side is chosen by the figures that are shown. On generated streams each seed is "
        "another stream, and differences are over the seeds that both have.\n"
    )


def _all(found: Cells) -> str:
    streams = streams_of(found)
    order = sorted(rows_of(found), key=lambda row: -sum(found[row, stream].mean for stream in streams))
    lines = [
        [row, *(f"{found[row, stream]} · {decimal(found[row, stream].time)} s" for stream in streams)] for row in order
    ]
    table = pipe_table([["method", *streams], *lines], range(1, 1 + len(streams)))
    return f"Sorted by the mean over these streams:\n\n{table}\n"


def _bases(found: Cells) -> Iterator[str]:
    methods = dict.fromkeys(row.rpartition(", ")[0] for row in rows_of(found) if row.endswith(BASES))
    lines, gains = [], []
    for method in methods:
        for stream in streams_of(found):
            of = [found.get((f"{method}, {base}", stream)) for base in BASES]
            if sum(cell is not None for cell in of) > 1:
                lines.append([method, stream, *("" if cell is None else decimal(cell.mean) for cell in of)])
            if of[1] is not None and of[2] is not None:
                gains.append(difference(of[2], of[1], stream))
    yield (
        "For members that learn each example, a stump is a tree of one split.\n\n"
        f"Trees have a higher mean than naive Bayes (Bernoulli on LED, Gaussian elsewhere) in "
        f"{sum(one > 0.0 for one in gains)} of {len(gains)} cases, by {signed(min(gains))} to {signed(max(gains))} "
        "points.\n"
    )
    yield pipe_table([["method", "stream", *BASES], *lines], (2, 3, 4)) + "\n"


def _pairs(found: Cells) -> Iterator[str]:
    yield (
        "River's ADWIN boosting has change detectors; OnlineBoost does not. River's HAT replaces a subtree as soon as "
        "the alternative has split; ours replaces it once the alternative is better. Leaves of ARF look at the square "
        "root of the number of features, as river's do; those of CapyMOA's at 60 % of them, and so do those of two "
        "rows of ours. Our trees are river's. `algo.leaf=moa` has two of MOA's rules: a leaf never answers a class "
        "that it has not met, and splits though nearly all its examples have one class. CapyMOA's HAT splits with a "
        "confidence of 1e-3, ours with 1e-7 unless the row says otherwise.\n"
    )
    both = [
        (ours, theirs, stream)
        for ours, theirs in PAIRS
        for stream in streams_of(found)
        if (ours, stream) in found and (theirs, stream) in found
    ]
    lines = [
        [ours, theirs, stream, str(found[ours, stream]), str(found[theirs, stream]),
         signed(difference(found[ours, stream], found[theirs, stream], stream)),
         f"{found[theirs, stream].times_as_long_as(found[ours, stream]):.0f}"]
        for ours, theirs, stream in both
    ]  # fmt: skip
    heads = ["ours", "theirs", "stream", "ours, %", "theirs, %", "difference", "times as long"]
    yield pipe_table([heads, *lines], (3, 4, 5, 6)) + "\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
