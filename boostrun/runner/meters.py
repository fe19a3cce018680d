"""Budgets of a fit, the meters of its costs, and the certificate that lists both.

Meters measure a saved model, whichever method made it: its bytes in flash, the microseconds and instructions of a
prediction, and the columns that it reads; and the memory of the process that trained it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba.core.compiler_lock import global_compiler_lock

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.export import Saved, c_source
from boostrun.methods.saved import Saveable
from boostrun.report.markup import align, pipe_table, write_texts

# -- budgets -----------------------------------------------------------------------------------------------------------

_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
_MICROSECONDS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_COUNT: dict[str, float] = {"": 1.0}


class OwnBudget(NamedTuple):
    """A kind of budget: the ``units`` of its amounts, an ``example``, and the meter in words."""

    units: Mapping[str, float]
    example: str
    meter: str
    whole: bool = False


KINDS = {
    "memory": OwnBudget(_BYTES, "256MiB", "peak resident memory of the training process, by the system"),
    "features": OwnBudget(_COUNT, "20", "columns that the saved model reads", True),
    "flash": OwnBudget(_BYTES, "4kB", "the predictor of whole numbers (export --to c --integer): tables and code"),
    "latency": OwnBudget(_MICROSECONDS, "20us", "median CPU time of a prediction by the C predictor"),
    "held": OwnBudget(_COUNT, "500", "most samples held at once, counted by the source that hands them out", True),
    "seconds": OwnBudget({"": 1.0, "s": 1.0}, "60", "wall clock of the whole command, to the last line but one"),
}
EXAMPLE = "--within features=20,flash=4kB,seconds=60"


def budgets_of(within: str | Mapping[str, Any]) -> dict[str, float]:
    """OwnBudget -> amount: bytes, microseconds, seconds, or a number. BoostrunError, one sentence, for anything else.

    >>> budgets_of("memory=256MiB,features=20,latency=20us,seconds=60")
    {'memory': 268435456.0, 'features': 20.0, 'latency': 20.0, 'seconds': 60.0}
    >>> budgets_of({"flash": "4kB", "held": 500})
    {'flash': 4000.0, 'held': 500.0}
    >>> budgets_of("flash=4")
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: flash=4 has no unit (B, kB, MB, GB, KiB, MiB, GiB): write flash=4kB
    """
    pairs: list[tuple[str, Any]]
    if isinstance(within, Mapping):
        pairs = [(str(kind), amount) for kind, amount in within.items()]
    else:
        parts = [part.strip() for part in within.split(",") if part.strip()]
        for part in parts:
            if "=" not in part:
                raise BoostrunError(f"a budget is KIND=AMOUNT, and '{part}' is none: {EXAMPLE}")
        pairs = [(kind.strip(), amount.strip()) for kind, _, amount in (part.partition("=") for part in parts)]
    if not pairs:
        raise BoostrunError(f"a budget is needed, or several ({', '.join(KINDS)}): {EXAMPLE}")
    found: dict[str, float] = {}
    for kind, amount in pairs:
        if kind not in KINDS:
            raise BoostrunError(f"no budget '{kind}'{did_you_mean(kind, KINDS)} ({', '.join(KINDS)}): {EXAMPLE}")
        if kind in found:
            raise BoostrunError(f"{kind} is given twice: one amount is needed, as in {kind}={KINDS[kind].example}")
        found[kind] = _amount(kind, str(amount))
    return found


def _amount(kind: str, text: str) -> float:
    units, example, _, whole = KINDS[kind]
    number, unit = re.fullmatch(r"([-+0-9._eE]*)\s*(.*)", text).groups()  # type: ignore[union-attr]
    like = f"write {kind}={example}"
    if not re.fullmatch(r"[-+]?(\d+(_\d+)*\.?\d*|\.\d+)([eE][-+]?\d+)?", number):
        raise BoostrunError(f"{kind}={text} has no number: {like}")
    if unit not in units:
        known = ", ".join(each for each in units if each) or "none: it is a number"
        said = f"has no unit ({known})" if not unit else f"has a unit that is unknown, '{unit}' ({known})"
        raise BoostrunError(f"{kind}={text} {said}: {like}")
    value = float(number) * units[unit]
    if not 0.0 < value < math.inf or (whole and value != int(value)):
        kinds = "a whole number above 0" if whole else "a number above 0"
        raise BoostrunError(f"{kind}={text}: {kinds} is needed: {like}")
    return value


def amount_text(kind: str, amount: float) -> str:
    """An amount with its unit.

    >>> amount_text("memory", 2.0**28), amount_text("flash", 4000.0), amount_text("latency", 0.123)
    ('256 MiB', '4,000 B', '0.123 us')
    """
    if kind == "memory":
        return f"{amount / 2**20:,.0f} MiB" if amount >= 10 * 2**20 else f"{amount / 2**20:.3g} MiB"
    if kind == "latency":
        return f"{amount:.3g} us"
    if kind == "seconds":
        return f"{amount:.1f} s" if amount != int(amount) else f"{amount:.0f} s"
    return f"{amount:,.0f}" + (" B" if kind == "flash" else "")


def typed(kind: str, amount: float) -> str:
    """A word of ``--within`` with at least this amount."""
    if kind == "memory":
        return f"memory={math.ceil(amount / 2**24) * 16}MiB"
    if kind == "latency":
        return f"latency={amount * 1.05:.2g}us"
    return f"{kind}={math.ceil(amount)}" + ("B" if kind == "flash" else "")


_CODE = 400  # bytes of a predictor without its tables, about
_A_ROUND = {"flash": 16.0, "latency": 0.012}  # bytes and microseconds of a small tree, about


def first_rounds(budgets: Mapping[str, float], classes: int) -> int:
    """Rounds of small trees, one for each class, that flash and latency have room for, about: where a search begins.

    >>> first_rounds({"flash": 4000.0}, 2), first_rounds({"flash": 4000.0, "latency": 1.2}, 10)
    (225, 10)
    """
    room = [(budgets[kind] - _CODE * (kind == "flash")) / taken for kind, taken in _A_ROUND.items() if kind in budgets]
    return max(1, int(min([*room, 1e6]) / (classes if classes > 2 else 1)))


def fewer_rounds(rounds: int, share: float) -> int:
    """This share of the rounds, less a twentieth since rounds vary; at least one, and fewer than ``rounds``."""
    return max(1, min(rounds - 1, int(rounds * share * 0.95)))


def check_possible(budgets: Mapping[str, float], facts: Mapping[str, int], where: str) -> float:
    """Raise BoostrunError for budgets that no model can keep on such data.

    Returns the seconds that a process takes without training, measured only for a budget of memory; 0 without one.
    """
    if facts["n_classes"] < 2:
        raise BoostrunError(
            f"{where}: all rows are of one class, so there is nothing to tell apart; dataset.label=COLUMN names another"
        )
    if budgets.get("held", math.inf) < 2 * facts["n_classes"]:
        raise BoostrunError(
            f"held={budgets['held']:.0f} is too few for {facts['n_classes']} classes: two of each are the least, as in "
            f"held={2 * facts['n_classes']}"
        )
    begun = time.monotonic()
    if "memory" in budgets:
        least = peak_of([sys.executable, "-c", "import numba, boostrun"]) * 2**20
        if budgets["memory"] < least:
            raise BoostrunError(
                f"memory={amount_text('memory', budgets['memory'])} cannot be kept: Python and numba alone take "
                f"{amount_text('memory', least)}, and a training on few rows about three times as much"
            )
    return time.monotonic() - begun


# -- seconds -----------------------------------------------------------------------------------------------------------


# Functions of XGBoost, LightGBM and llvmlite, and those that Python calls when an object is deleted. An exception must
# not leave them: XGBoost's ended the process.
_CALLED_FROM_C = {
    "_next_wrapper", "_reset_wrapper", "_log_callback", "_raw_object_cache_notify", "_raw_object_cache_getbuffer",
    "__del__", "remove",
}  # fmt: skip


class Deadline:
    """Counts the seconds of a fit from its start, ``begun``, and interrupts parts of it.

    Shares are those of the time after ``lead`` seconds, which a screening of columns took.
    """

    def __init__(self, seconds: float | None, begun: float):
        self.seconds, self.begun = seconds, begun
        self.rang, self.lead = False, 0.0

    @property
    def spent(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.begun

    def left(self, share: float = 1.0) -> float:
        """Seconds until this share of all is spent."""
        if self.seconds is None:
            return math.inf
        return self.lead + share * (self.seconds - self.lead) - self.spent

    def share_of(self, part: float, share: float) -> float:
        """The share of all that is spent after this part of the time that is left until ``share``."""
        if self.seconds is None:
            return share
        return share - (1.0 - part) * self.left(share) / (self.seconds - self.lead)

    @contextlib.contextmanager
    def until(self, share: float, latest: float | None = None) -> Iterator[None]:
        """Raise KeyboardInterrupt in this block when this share is spent; then ``rang`` is true.

        A kernel that is being compiled then is finished first, until the share ``latest``: numba fails with kernels
        whose compilation was interrupted. Functions that are called from C are always finished. It is raised again
        every two seconds until the block ends, unless it is being handled: some library may have lost it.
        """
        ours = threading.current_thread() is threading.main_thread() and sys.platform != "win32"
        if self.seconds is None or not ours:
            yield
            return

        def ring(number: int, frame: Any) -> None:
            compiling = global_compiler_lock.is_locked() and latest is not None and self.left(latest) > 0.0
            if compiling or any(one.f_code.co_name in _CALLED_FROM_C for one, _ in traceback.walk_stack(frame)):
                signal.setitimer(signal.ITIMER_REAL, 0.02, 2.0)
                return
            self.rang = True
            if not isinstance(sys.exc_info()[1], KeyboardInterrupt):
                raise KeyboardInterrupt

        self.rang, before = False, signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, max(self.left(share), 0.01), 2.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)


def process_began() -> float:
    """When this process began, on the clock of ``time.monotonic``; now, if the system does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/stat") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
        return time.monotonic() - max(age, 0.0)
    return time.monotonic()


# -- latency -----------------------------------------------------------------------------------------------------------

_ROWS = 1000  # that are predicted, again and again
_TIMES = 15  # runs, whose median counts
_LEAST_SECONDS = 0.002  # of a run: the clock's steps are small beside it
_HARNESS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    const int n = atoi(argv[2]), d = @d@, times = atoi(argv[3]), runs = atoi(argv[4]);
    @type@ *rows = malloc(sizeof *rows * n * d);
    FILE *file = fopen(argv[1], "rb");
    volatile int said = 0;
    if (argc < 5 || !rows || !file || fread(rows, sizeof *rows, (size_t)n * d, file) != (size_t)n * d)
        return 1;
    for (int run = 0; run < runs; run++) {
        struct timespec begun, ended;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
        for (int again = 0; again < times; again++)
            for (int i = 0; i < n; i++)
                said += predict(rows + (size_t)i * d);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
        printf("%.9f\n", ended.tv_sec - begun.tv_sec + 1e-9 * (ended.tv_nsec - begun.tv_nsec));
    }
    return 0;
}
"""
_TYPES = {"double": np.float64, "float": np.float32, "unsigned char": np.uint8}


class Latency(NamedTuple):
    """Microseconds of a prediction, the median over ``runs``, and instructions of one, None if they were not counted.

    ``pinned`` says whether the process was kept on one core.
    """

    microseconds: float
    runs: int
    rows: int
    pinned: bool
    instructions: float | None


def compiler() -> str:
    """The C compiler; BoostrunError if there is none."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and (found := shutil.which(name)):
            return found
    raise BoostrunError("latency is measured of the predictor in C, and no compiler is found (cc): leave latency out")


def latency(saved: Saved, samples: np.ndarray, most: float = math.inf) -> Latency:
    """The time of a prediction by the C predictor, one sample after the other, on raw ``samples`` (n, d).

    The predictor is compiled with -O2, kept on one core where the system allows, and run until a run takes two
    milliseconds of its CPU time: other programs on that core do not count. Instructions are counted by valgrind if it
    is installed, and the time is at most ``most`` microseconds: the difference between three passes over the samples
    and one, which takes three times as long as all else. Raises BoostrunError if there is no compiler, or the model
    has no predictor in C.
    """
    source = c_source(saved)
    prototype = re.search(r"int predict\(const (.*?) \*x\);", source)
    size = re.search(r"x is [\w ]+\[(\d+)\]", source)
    assert prototype and size  # the writer has written them
    rows = np.ascontiguousarray(samples[:_ROWS], _TYPES[prototype[1]])
    harness = _HARNESS.replace("@type@", prototype[1]).replace("@d@", size[1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "predictor.c").write_text(source + harness, encoding="ascii")
        (folder / "rows").write_bytes(rows.tobytes())
        program = [str(folder / "predictor"), str(folder / "rows"), str(len(rows))]
        _called([compiler(), "-O2", "-std=gnu99", "-o", program[0], str(folder / "predictor.c"), "-lm"])
        once = max(float(_called([*program, "1", "1"]).split()[0]), 1e-7)
        times = max(1, math.ceil(_LEAST_SECONDS / once))
        core = _core()
        seconds = list(map(float, _called([*program, str(times), str(_TIMES)], core).split()))
        microseconds = 1e6 * statistics.median(seconds) / times / len(rows)
        counted = _instructions(program, len(rows)) if microseconds <= most else None
        return Latency(microseconds, _TIMES, len(rows), core is not None, counted)


def _core() -> int | None:
    """A core that this process may use; None if the system keeps no process on one."""
    return max(os.sched_getaffinity(0)) if sys.platform == "linux" else None


def _called(command: Sequence[str], core: int | None = None) -> str:
    """The output of a program, kept on ``core``; BoostrunError with its last line if it fails."""
    pin = None if core is None else lambda: os.sched_setaffinity(0, {core})
    done = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=pin)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise BoostrunError(f"{Path(command[0]).name} failed while the latency was measured: {said}")
    return done.stdout


def _instructions(program: Sequence[str], rows: int) -> float | None:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return None
    counts = []
    for times in (1, 3):
        command = [valgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *program]
        done = subprocess.run([*command, str(times), "1"], check=False, capture_output=True, text=True)
        found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
        if found is None:
            return None
        counts.append(int(found[1].replace(",", "")))
    return (counts[1] - counts[0]) / 2 / rows


# -- features ----------------------------------------------------------------------------------------------------------


class Read(NamedTuple):
    """The ``columns`` (numbers) that a model reads, and whether ``all_others`` were shown to change no score."""

    columns: np.ndarray
    all_others: bool


def columns_read(model: Saveable, samples: np.ndarray, seed: int = 0) -> Read:
    """The columns of raw ``samples`` (n, d) that change a prediction of the model.

    The model's own importances name the columns that it uses. All others are then filled with the values of other
    rows, drawn at random, three times: labels and probabilities (if it has them) must stay the same to the bit.
    """
    model.__dict__.pop("feature_names_in_", None)  # rows are arrays in its order
    used = np.flatnonzero(model.feature_importances_[: samples.shape[1]] > 0.0)
    others = np.setdiff1d(np.arange(samples.shape[1]), used)
    generator, before = np.random.default_rng(seed), _answers(model, samples)
    same = True
    for _ in range(3):
        changed = samples.copy()
        for column in others:
            changed[:, column] = samples[generator.permutation(len(samples)), column]
        same = same and all(np.array_equal(one, two) for one, two in zip(before, _answers(model, changed)))
    return Read(used, same)


def _answers(model: Any, samples: np.ndarray) -> list[np.ndarray]:
    with contextlib.suppress(AttributeError):
        return [model.predict(samples), model.predict_proba(samples)]
    return [model.predict(samples)]


# -- memory ------------------------------------------------------------------------------------------------------------


_APART = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
"""


def peak_of(command: Sequence[str]) -> float:
    """MiB of a command, its peak resident memory as the system reports it at its end, wait4(2).

    A small process starts it: the system counts what the starting process takes as the command's. Raises BoostrunError
    with the last line of the command if it fails.
    """
    whole = [sys.executable, "-I", "-S", "-c", _APART, *command]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(whole, start_new_session=True, **pipes) as process:
        try:
            said = process.communicate()[0]
        except BaseException:  # both processes end with this one
            os.killpg(process.pid, signal.SIGKILL)
            raise
    *lines, peak = said.strip().splitlines() or [""]
    if process.returncode:
        raise BoostrunError((lines or ["the training said nothing"])[-1].removeprefix("boostrun: "))
    return int(peak) / ((1 << 20) if sys.platform == "darwin" else (1 << 10))  # bytes there, KiB elsewhere


# -- the certificate ---------------------------------------------------------------------------------------------------


def wilson(right: int, of: int) -> tuple[float, float]:
    """The 95 % interval of an accuracy in percent, from the number of right predictions (Wilson 1927).

    >>> [round(each, 1) for each in wilson(90, 100)]
    [82.6, 94.5]
    """
    z, share = 1.959964, right / of
    middle, half = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low, high = ((middle + sign * half) / (1 + z * z / of) for sign in (-1, 1))
    return 100 * max(low, 0.0), 100 * min(high, 1.0)


def certificate_text(facts: Mapping[str, Any], markdown: bool = False) -> str:
    """The certificate as Markdown, or as lines for a terminal."""
    lines = [["budget", "most", "spent", "meter"]]
    for kind, each in facts["budgets"].items():
        lines.append([kind, amount_text(kind, each["most"]), amount_text(kind, each["spent"]), each["meter"]])
    settings = " ".join(f"{key}={value}" for key, value in facts["settings"].items())
    low, high = facts["interval_95"]
    rows = facts["rows"]
    chosen = facts["validation_accuracy_pct"]
    twice = f" and, once more, on {2 * rows['held_out']:,}"
    said = [
        f"model: {facts['model']}, {facts['method']} {settings}",
        f"accuracy on {rows['test']:,} rows that the search never saw: {facts['test_accuracy_pct']:.2f} %, "
        f"95 % interval {low:.2f} to {high:.2f}",
        f"chosen by {chosen:.2f} % on {rows['held_out']:,} held-out rows{twice * facts['confirmed']}, of "
        f"{facts['trials']} trial{'s' * (facts['trials'] != 1)}, each trained on at most {rows['train']:,} rows",
    ]
    if columns := facts.get("columns"):
        said.append(
            f"columns: {columns['kept']:,} of {columns['of']:,}, those with the largest rank statistic (Kruskal-"
            f"Wallis) on {columns['rows']:,} rows that trials train on; kept in {columns['tables'][0]}"
        )
    other = facts["next_best"]
    if other is not None:
        words = " ".join(f"{key}={value}" for key, value in other["settings"].items())
        unsaved = "; trained on a quarter of the rows" * other["few_rows"]
        unsaved += "" if other["saved"] else "; it has no saved model here"
        said.append(
            f"next best of another kind: {other['method']} {words}, {other['validation_accuracy_pct']:.2f} % on the "
            f"held-out rows{unsaved}"
        )
    commands = [f"again: {facts['again']}", f"the model alone: {facts['alone']}"]
    commands += [f"for a chip: {facts['chip']}"] if "chip" in facts else []
    if not markdown:
        return "\n".join([*said, *align(lines), *commands])
    said += [f"{head}: `{command}`" for head, _, command in (one.partition(": ") for one in commands)]
    body = "\n".join(f"- {line}" for line in said)
    return f"# Certificate of {Path(facts['model']).name}\n\n{body}\n\n{pipe_table(lines, ())}\n"


def write_certificate(facts: Mapping[str, Any], output: Path) -> list[Path]:
    """Write ``m.certificate.md`` and ``m.certificate.json`` beside ``m.npz``, and return their paths."""
    texts = {"md": certificate_text(facts, markdown=True), "json": json.dumps(facts, indent=2) + "\n"}
    return write_texts(output.parent, {f"{output.stem}.certificate.{end}": text for end, text in texts.items()})


def draw(
    tried: Sequence[tuple[str, float, float]], chosen: tuple[str, float, float], head: str, most: float, path: Path
) -> Path:
    """Draw what was tried, a point for each (method, cost, error in percent), with a ring around the chosen one.

    ``head`` names the cost; a line is the budget ``most``, 0 for none.
    """
    from boostrun.report.canvas import MARKERS, axes_of, handle, hue, with_legend, write_png

    figure, (axis,) = axes_of(1, 3.6, f"{path.stem}: {chosen[0]}")
    keys = []
    for number, name in enumerate(dict.fromkeys(name for name, _, _ in tried)):
        looks = {"color": hue(number), "marker": MARKERS[number % len(MARKERS)], "linestyle": ""}
        axis.plot(*zip(*(point[1:] for point in tried if point[0] == name)), markersize=4, alpha=0.7, **looks)
        keys.append(handle(name, **looks))
    axis.plot(*([each] for each in chosen[1:]), marker="o", markersize=13, fillstyle="none", color="black")
    if most:
        axis.axvline(most, color="0.4", linewidth=1.0)
    axis.set_xscale("log")
    axis.set(xlabel=head, ylabel="error on held-out rows (%)")
    axis.grid(color="0.9")
    return write_png(with_legend(figure, keys, "ring: the model that was chosen"), path)
