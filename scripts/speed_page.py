"""Write docs/speed.md from results/bench/speed.csv and speed_machine.csv, which tests/bench/test_speed.py measures.

    python scripts/speed_page.py

Every figure of the page is computed from these files. A test compares the page with the output of this script.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from boostrun.report.markup import pipe_table

ROOT = Path(__file__).parent.parent
BENCH = ROOT / "results" / "bench"
PAGE = ROOT / "docs" / "speed.md"
OURS, ROOFS = "boostrun", ("bytes", "additions", "products", "words")
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))

_INTRODUCTION = """# Speed

`make bench` measures every kernel beside its floor and beside libraries that do the same, and `python
scripts/speed_page.py` makes this page from [the measurements](../results/bench/speed.csv). No figure of a
table is typed by hand.

**How it is measured.** All figures are of {cores} cores and, where nothing else is said, one thread ({dates}, a
sitting a day), some kernels after the others: {processor};
{versions}.
Times are processor time, including child processes; those of two threads are by the clock. Ours and the others are
called in turn; a figure is the minimum, and the median follows in brackets. Binning and other set-up are not in the
time of a round. Other programs ran meanwhile (1-minute load {load}): where the median is far above the minimum, they
slowed memory and caches. Read ratios of minima, and take a tenth for no difference.

**Floors.** A floor counts what one unit cannot do without: bytes read or written, additions to counters,
floating-point operations in products of matrices, and multiply-adds of 16 bits. In this sitting one thread read {bytes}
GB a second in order, made {additions} billion additions a second to counters in the first-level cache, {products}
billion floating-point operations a second in products of double precision, and {words} billion multiply-adds of 16
bits. The floor is the largest of the four times. It is a bound for
programs that add one by one: code that compares many values with one instruction can be below it. A level of a tree
below the root is counted as half of its codes, because the sums of one child are those of the parent minus those of
the other. GEEM's floor is one inverse and one elimination of its covariance matrix, without computing that matrix.
Processes and two threads have no floor.

Accuracies are not compared here; see [rivals](explanation/rivals.md) and [stream
learners](howto/which_stream_learner.md). XGBoost's and LightGBM's vote trees search all features, Laminating ten a
sample and split, so that row compares what one round costs, not the same search.
"""


class Times(NamedTuple):
    """Least and median seconds of a unit, and its floor (0: none)."""

    least: float
    median: float
    floor: float
    unit: str

    def __str__(self) -> str:
        return f"{duration(self.least)} ({duration(self.median)})"


class Target(NamedTuple):
    """The least seconds of ``of`` (kernel, way): at most ``most``; those of ``beside`` divide them (``how`` "/"), or
    are subtracted ("-"). ``unit`` "/s" says that ``most`` and the figure are shown as units a second.
    """

    text: str
    of: tuple[str, str]
    most: float
    beside: tuple[str, str] | None = None
    how: str = "/"
    rate: bool = False


_ROUND, _TREE, _GEEM = "stumps, {}", "a tree of depth 6, {}", "GEEM, r = {}"
_TWO_THREADS = f"two threads, {_TREE}"
_STUMPS, _TREES = "prediction, 10 x 250 stumps, {}", "prediction, 10 x 250 trees, {}"
_LAKE = "drawing and coding a lake, 28 columns"
_VOTES = "vote tree of depth 6, ten classes, 60,000 x 784"
_SHAPES = ("60,000 x 784, 255 bins", "60,000 x 784, 2 bins", "1,000 x 20,000, 255 bins", "5,000,000 x 20, 255 bins")
_FIRST = ("GEEM, stumps", "WSam, trees", "ShareBoost", "IBoost")
_IMPORTED = ("ReservoirClassifier", "AdaBoostMHClassifier", "ShareBoostClassifier", "IBoostClassifier")


def _ratio(text: str, kernel: str, most: float, beside: str, other: str = "") -> Target:
    return Target(text, (kernel, OURS), most, (other or kernel, beside))


def _seconds(text: str, kernel: str, most: float, by: str = OURS) -> Target:
    return Target(text, (kernel, by), most)


TARGETS: dict[str, list[Target]] = {
    "Trees": [
        *(_ratio(f"round of depth 6, {shape}: 0.7 of LightGBM's", _TREE.format(shape), 0.7, "LightGBM")
          for shape in _SHAPES),
        *(_ratio(f"two threads, {shape}: 0.7 of LightGBM's", _TWO_THREADS.format(shape), 0.7, "LightGBM")
          for shape in _SHAPES),
        _ratio(f"two threads, {_SHAPES[0]}: 1 / 1.7 of the time of one", _TWO_THREADS.format(_SHAPES[0]), 1 / 1.7,
               "boostrun, one thread"),
        _ratio("round of depth 6, ten classes: 0.7 of LightGBM's", _VOTES, 0.7, "LightGBM, ten trees"),
        _seconds("round of stumps, 5,000,000 x 20: 75 ms", _ROUND.format(_SHAPES[3]), 0.075),
        _ratio("level of a tree, 250 rows held: 1.3 passes of a stump's search", "a level of a tree, 250 x 784", 1.3,
               "a stump's search, ours"),
    ],
    "GEEM": [
        *(_seconds(f"round{how}, r = {r}: {text}", _GEEM.format(r), most, by)
          for how, by in (("", OURS), (" in single precision", "in single precision, ours"))
          for r, text, most in (("250", "4 ms", 0.004), ("1,000", "160 ms", 0.16), ("2,000", "1.2 s", 1.2))),
        *(_seconds(f"thin form, r = {r}: {text}", _GEEM.format(r), most, "thin GEEM, ours")
          for r, text, most in (("1,000", "80 ms", 0.08), ("2,000", "400 ms", 0.4))),
        _ratio("round, r = 250: 4.6 times WSam's, the paper's ratio", _GEEM.format("250"), 4.6, "WSam, ours"),
        _seconds("merge of ten reservoirs of 2,000: 50 ms", "merge of ten reservoirs of 2,000 x 784", 0.05),
    ],
    "Prediction": [
        _seconds("one row, 10 x 250 stumps: 40 µs", _STUMPS.format("float64, one row"), 40e-6),
        *(_ratio(f"batch of float64, {word}: 1 / 0.7 of the time of codes", kernel.format("float64, batch"), 1 / 0.7,
                 OURS, kernel.format("codes, batch")) for word, kernel in (("stumps", _STUMPS), ("trees", _TREES))),
        *(Target(f"exported C, {word} on {kind}: the library's speed", (name, "C as exported, predict_many"), 1.0,
                 (name, OURS))
          for word, kernel in (("stumps", _STUMPS), ("trees", _TREES)) for kind in ("codes", "float64")
          for name in (kernel.format(f"{kind}, batch"),)),
    ],
    "ShareBoost": [
        _seconds("choice over 10,000 x 60,000 codes: 40 ms", "ShareBoost's choice, 10,000 x 60,000 codes", 0.04),
        _seconds("set-up: 2 s", "ShareBoost's set-up, 10,000 x 60,000 codes", 2.0),
    ],
    "Streams": [
        Target("ARF of ten, on RBF: 50,000 examples a second",
               ("stream: arf_stream, 10 members", OURS), 1 / 50_000, rate=True),
        Target("SGBT of ten, on RBF: 16,000 examples a second, CapyMOA's on electricity",
               ("stream: sgbt, 10 members", OURS), 1 / 16_000, rate=True),
        Target("reading and coding a folder of Parquet, 28 columns: 1 / 0.6 of the time of pyarrow's scan",
               (_LAKE, "boostrun, without drawing"), 1 / 0.6, (_LAKE, "pyarrow, scan into float32 rows")),
    ],
    "What a user waits for": [
        _seconds("cached command: 1 s", "a command whose trial is there", 1.0),
        _seconds("fresh tiny command: 1.5 s", "a fresh tiny command", 1.5),
        _ratio("1,000 tiny trials: 1.1 of a plain loop", "a tiny trial among 1,000", 1.1, "a loop of joblib"),
        *(_seconds(f"first fit, {kernels}, {method}: 4 s", f"first fit, no kernel compiled: {method}", 4.0, by)
          for kernels, by in (("kernels of a wheel", "boostrun, kernels of a wheel"), ("no kernel compiled", OURS))
          for method in _FIRST),
        *(Target(f"import of {name}: 0.2 s beyond scikit-learn's", (f"import of {name}", OURS), 0.2,
                 (f"import of {name}", "scikit-learn"), "-") for name in _IMPORTED),
    ],
}  # fmt: skip

TRIED: dict[str, str] = {
    "Trees": """\
*What was tried.* All nodes of a level are searched in one pass, in one of two ways; the number of samples, and how many
have a feature's most frequent code, decide which is used down to which level. *By codes*: each code of each node has a
sum, to which only samples of the smaller of two sisters are added; the sums of the larger are those of the parent minus
these. Codes of four columns are added together. Where most codes are the most frequent one of their column, as on
MNIST, each sample has a list of the others instead, in blocks of columns whose sums stay cached. *By entries*: the
samples of each column are kept in the order of their codes, without the most frequent one, which suits nodes with few
samples. Sums are exact integers of 50 bits, so that a tree does not depend on the way of the search. Sums of a level
are kept as running sums in double precision, which holds them exactly: those of the larger sister are differences of
vectors, without a scan. This took 0.84 of the time of a tree before, on MNIST, with two values, and on long columns.

*Tried and not taken.* Sums of 32 bits, for weights of 30 bits in all, take 0.83 of that time on MNIST, no less in the
other two cases, and give other trees. Samples in the order of their nodes, so that a block's sums stay in the
second-level cache, gain nothing. A choice of the way for each column gained a twentieth. *Not built:* bits in
place of codes for columns with two values: 50 bits of a weight need 50 counts of bits.

Threads share the search, samples' way down the tree, and the list of a level's samples if there are many. Weights are
computed by one thread. With two bins a tree is grown so quickly that a second thread gains little.

Memory is NumPy's and is used again in the next round: on long columns numba's own, which has small pages, took a
quarter of the time of a round. Beside the search, the exponential of each sample remains.

With 100,000 columns LightGBM's histograms of 64 leaves take 26 GB, more than this machine has: trees are compared on
20,000.
""",
    "GEEM": """\
*What was tried.* Rounds include the search for the stump and the scores. Above 1,000 samples at hand (r = 500 with as
many fresh ones), GEEM discards in blocks, by products of matrices: the same samples in the same order. The inverse and
the elimination alone are the floor in the table below: where the floor is above the target, no program that inverts in
double precision can meet it at this speed of products. `algo.strategy=geem_single` computes in single precision: a
choice keeps the same samples unless losses are nearly equal, but other bits, so it is not the default. Computing the
covariance in tiles was not built, which gains little. The thin form (`algo.strategy=geem_thin`) replaces the covariance
by that over 128 random stumps.
""",
    "Prediction": """\
*What was tried.* A row of the fitted width, in C order, skips most of the checks. The exported C looks up the vote of a
stump instead of branching on the sample, and takes trees 16 samples at a time. Its nodes are of 16 bits: with nodes of
32 bits and `-march=native`, GCC 12 gathered thresholds by vector instructions, which took twice as long on this
processor.
""",
    "ShareBoost": """\
*What was tried.* In a choice, a first pass multiplies codes by residuals of 16 bits and rules out most columns; the
others are computed in single precision. The six billion multiply-adds of the first pass are the floor; with residuals
of 8 bits there would be half as many instructions, but the bounds of the sums would rule out fewer columns. Products
of codes in BLAS's own order of terms made the optimisation after a choice faster with equal bits, but they would have
to follow each of BLAS's kernels, and were not taken. Set-up transposes the rows in tiles of 256 codes, where NumPy's
transposition took nearly all of its 5.0 seconds before.
""",
    "Streams": """\
*What was tried.* The forest is compiled, with all members in one pool of nodes. Accuracies, and seconds of CapyMOA's
learners in Java, are on [another page](howto/which_stream_learner.md). river has no gradient boosting
for streams; its ADWIN boosting of as many trees stands beside SGBT. SGBT with 100
trees takes more than ten times as long as with ten because its histograms do not stay cached: after 10,000 examples of
five classes and ten drifting features, those of 500 trees took 0.8 GB and those of 50 trees 70 MB, and an update of a
tree 3.2 microseconds instead of 1.8. Prefetching the next tree's histograms gave 2.7 in a try. It
is not used, because it would make published trials stale. A value of a file gets its code from tables: its cell, of
equal width, tells how many edges of bins lie below it, and the edges in its cell are compared. This takes 2.7
nanoseconds, a binary search 6.5. Drawing samples at random from the buffer is not in the target.
""",
    "What a user waits for": """\
Seconds are those of whole processes, imports and workers included. *What was tried.* Set-up compiles boostrun's
modules to bytecode in a form that is accepted wherever they lie. A command whose trials are there draws no picture
again, starts no worker and imports no kernel. A command of one trial runs it in its own process. A fresh command
spends 2.1 seconds on the imports of scikit-learn's data sets, Numba and Matplotlib. Garbage is collected rarely while
kernels are compiled. Two more ways were tried on first fits and not taken: without entry points from Python, kernels
that only other kernels call are compiled faster (trees 10.7 seconds of processor time instead of 12.9, IBoost 10.5
instead of 10.7), and LLVM's lowest level of optimisation takes a tenth less and makes slower code. Most of the time
is Numba's own analysis in Python. *Not built:* fewer signatures. Therefore `make wheel` also makes a wheel for one
Python, one Numba and x86-64 with AVX2, which has the kernels compiled. A checkout and the wheel for all compile them,
once for each version of their code, and keep them; "kernels kept" in the table is every later process. IBoost's
kernels stand in the method's own file, as in the paper's pseudocode, so importing it imports Numba.
""",
}


def duration(seconds: float) -> str:
    """Three digits and a unit.

    >>> duration(0.0123), duration(4.56e-05), duration(12.0)
    ('12.3 ms', '45.6 µs', '12.0 s')
    """
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), _UNITS[-1])
    value = seconds / size
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a csv."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measured(folder: Path) -> tuple[dict[tuple[str, str], Times], dict[str, str]]:
    """Times by (kernel, way), ours first of each kernel, and what was measured on."""
    here, times = {row["what"]: row["value"] for row in rows_of(folder / "speed_machine.csv")}, {}
    for row in rows_of(folder / "speed.csv"):
        floor = max(float(row[name] or 0.0) / float(here[f"{name}_a_second"]) for name in ROOFS)
        times[row["kernel"], row["by"]] = Times(float(row["least_s"]), float(row["median_s"]), floor, row["unit"])
    return times, here


def table(folder: Path = BENCH) -> str:
    """One row for each kernel and other way."""
    times, _ = measured(folder)
    units = {kernel: times[kernel, OURS].unit for kernel, _ in times}
    lines = []
    for kernel, unit in units.items():
        ours = times[kernel, OURS]
        floor = [duration(ours.floor), f"{ours.least / ours.floor:.1f}"] if ours.floor else ["—", "—"]
        head = [kernel, unit, str(ours), *floor]
        for by in (by for of, by in times if of == kernel and by != OURS):
            lines.append([*head, by, str(times[kernel, by]), f"{ours.least / times[kernel, by].least:.3g}"])
            head = [""] * len(head)
    heads = ["kernel", "one", "boostrun", "floor", "times its floor", "beside", "takes", "ours / theirs"]
    return pipe_table([heads, *lines], (3, 4, 7))


def verdict(target: Target, times: dict[tuple[str, str], Times]) -> tuple[str, str]:
    """What was measured, and whether it is within the target; if not, whether the floor is."""
    value, floor = times[target.of].least, times[target.of].floor
    said = f"{1 / value:,.0f} a second" if target.rate else duration(value)
    if target.beside is not None:
        other = times[target.beside].least
        value, floor = (value / other, floor / other) if target.how == "/" else (value - other, 0.0)
        said = f"{value:.2f}" if target.how == "/" else f"{value:.2f} s"
    if value <= 1.1 * target.most:
        return said, "met" if value <= target.most else "within a tenth"
    above = f"; the floor alone: {floor / target.most:.2g} times" if floor > target.most else ""
    return said, f"missed, {value / target.most:.2g} times{above}"


def _targets(times: dict[tuple[str, str], Times]) -> Iterable[str]:
    lines = {
        part: [[target.text, *verdict(target, times)] for target in targets if target.of in times]
        for part, targets in TARGETS.items()
    }
    verdicts = [line[2] for part in lines.values() for line in part]
    yield (
        f"## Targets\n\nOf {len(verdicts)} targets {verdicts.count('met')} are met. Each is an upper bound, or a lower "
        "one for examples a second; a missed one has\nthe factor by which it is missed.\n"
    )
    for part, found in lines.items():
        yield f"### {part}\n\n{pipe_table([['target', 'measured', ''], *found], (1,))}\n"
        if part in TRIED:
            yield TRIED[part]


_BEFORE_AFTER = """## Before and after

`python scripts/before_after.py` ran the code from before the work on speed (commit {commit} of the history) and
today's code in turn, in one sitting ([measurements](../results/bench/before_after.csv)). Times are processor time of
one thread. Trees and choices are timed without the rest of a round.

{table}
"""


def before_and_after(folder: Path) -> str:
    """The section that compares with an earlier checkout."""
    rows = {(row["work"], row["code"]): row for row in rows_of(folder / "before_after.csv")}
    lines = []
    for work in dict.fromkeys(work for work, _ in rows):
        both = [Times(float(row["least_s"]), float(row["median_s"]), 0.0, "") for code in ("before", "after")
                for row in (rows[work, code],)]  # fmt: skip
        lines.append([work, *map(str, both), f"{both[1].least / both[0].least:.2f}"])
    commit = next(iter(rows.values()))["commit"]
    return _BEFORE_AFTER.format(commit=commit, table=pipe_table([["", "before", "now", "ratio"], *lines], (1, 2, 3)))


def page(folder: Path = BENCH) -> str:
    """The page."""
    times, here = measured(folder)
    dates = sorted({row["date"] for row in rows_of(folder / "speed.csv")})
    rates = {name: f"{float(here.pop(f'{name}_a_second')) / 1e9:.1f}" for name in ROOFS}
    about = {name: here.pop(name) for name in ("cores", "processor", "load")} | {"dates": ", ".join(dates)}
    versions = ", ".join(f"{name} {version}" for name, version in here.items())
    head = _INTRODUCTION.format(versions=versions, **about, **rates)
    return "\n".join([head, *_targets(times), before_and_after(folder), f"## All kernels\n\n{table(folder)}\n"])


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
