"""Write the pages docs/explanation/when_*.md and the summary of each kind of budget from the published frontiers.

    python scripts/budget_page.py

Every figure of their tables is computed from ``results/frontiers/*/table.csv`` and ``contest.csv``. Tests compare the
pages with the output of this script, and these files with the records beside them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from boostrun.cli import main as command
from boostrun.errors import BoostrunError
from boostrun.report.frontier import KINDS, LOSS, amount
from boostrun.report.frontier_summary import FrontierSummary, frontiers_of
from boostrun.report.markup import NARROW, escape, pipe_table

ROOT = Path(__file__).parent.parent
FRONTIERS = ROOT / "results" / "frontiers"
DOCS = ROOT / "docs"
PAGE = DOCS / "explanation" / "when_a_budget_pays.md"
OF_MEMORY = DOCS / "explanation" / "when_memory_is_the_budget.md"

_INTRODUCTION = """# When a budget pays

`python scripts/budget_page.py` makes this page from the published frontiers. No figure is typed by hand.

A budget of samples held, of features or of evaluations may cost accuracy. Are methods that are made for a budget
better than today's methods under the same budget: LightGBM on a random part of the data, a forest, a linear model that
reads the data in batches? Each method is [tuned alike under each
budget](../howto/frontier.md#how-it-is-measured). The best of our methods is then compared with the best rival on test
data, over the trials and over the rows of the test part. If a rival is ahead, use the rival.

Samples *held* are the samples in memory at one time. A reservoir draws fresh samples each round, [for one class after
the other](../howto/frontier.md#several-classes), and drops most of them again; with one reservoir for all classes [WSam
is less accurate](../../results/reservoir/trees_shared/table.md) on four of five sets, by up to 8 points. Some rivals
also see all of the data: `sgd` reads them in batches, and a neural network, LightGBM, XGBoost and forests [continue
training on one fresh chunk after another](rivals.md#rivals-that-read-fresh-chunks). `lightgbm`, `xgboost`,
`random_forest`, `extra_trees` and `logistic` are trained on as many samples, drawn once at random. If all your data fit
into memory, you do not have this budget. [When memory is the budget](when_memory_is_the_budget.md) counts MiB instead
of samples.
"""
_LAKES = """# When memory is the budget

`python scripts/budget_page.py` makes the tables of this page from the published frontiers; no figure of theirs is typed
by hand.

Your data do not fit into the memory that a program may take. Which method makes the most of so many MiB? Memory is that
of the whole process, less an empty interpreter: samples, buffers, the model and all libraries.
[`run.memory_mb=384`](../howto/data.md#a-limit-on-all-memory) keeps one trial within a limit, and
[`budget=memory`](../howto/frontier.md#a-budget-of-memory) compares methods under it. The number of rows on disk does
not matter: [200 million rows take as much memory as 10 million](../howto/data.md#a-limit-on-all-memory).

**There are three folders of files so far**: `python scripts/lakes.py rows spheres mixture digits`.

- *spheres*: 28 numbers. The label tells whether the squares of the first ten sum to more than their median, and is
  wrong in a fifth of all rows, so that no model can be right on more than about 80 %.
- *mixture*: 54 numbers from 200 Gaussians, seven classes in the shares of covertype.
- *digits*: two million affine distortions of MNIST's training images, 784 pixels and ten classes; the other two have
  ten million rows.

Trees have 100 rounds, which was not tuned. Reservoirs train trees on codes, a byte a number, one reservoir for all
classes. LightGBM is trained once on as many rows as fit. The neural network reads all rows once, chunk by chunk. Each
method has four trials of tuning, which is few: the neural network's standard deviation of 1.05 on spheres shows that
its settings are not reliable. They are chosen on a fifth of the rows of digits, on a twentieth of the others.

The tables of all methods ([spheres](../../results/frontiers/lake_spheres-memory/table.md),
[mixture](../../results/frontiers/lake_mixture-memory/table.md),
[digits](../../results/frontiers/lake_digits-memory/table.md)) say more than who wins:

- **On digits all reservoirs lose, with fewer samples than there was room for.** The neural network reads nearly all two
  million images and has 98.62 %. LightGBM, trained once on 15,712 images, has 96.38. WSam holds 2,036 images and as
  many fresh ones, draws 207,672 in 100 rounds, and has 96.04; MVS and Sparrow have 94.76 and 93.78. Their pilot trials
  took 449 MiB with 2,674 images and with 10,699, because fitting bins to 10,000 images took more memory than
  training. Therefore the reservoirs got too few samples. The number of images is estimated correctly now, and with
  10,000 images a trial takes 330 MiB instead of 392; the trials have not run again.
- Python and the libraries leave room for few rows. By the pilot trials on spheres a row of 28 numbers takes about 500
  bytes with LightGBM: float32 values, double values of the rows by which it bins, and bins. In a reservoir it takes 130
  to 180.
- **WSam's lead on spheres fell from 1.01 to 0.74 points when the program itself took less memory.** Then LightGBM held
  106,835 rows instead of 68,601, and WSam 611,435 with the fresh ones instead of 477,892; spheres has run again since,
  mixture has not. When libraries take less memory, the method whose rows are larger gains most.
- **WSam's lead on spheres comes from more rows alone, not from its choice of samples or its trees.** Without a limit,
  and with the settings of its 106,835 rows, LightGBM has 77.18 % (0.08, five trials) on as many rows as Sparrow holds,
  416,132, and 77.32 (0.05) on 611,435, as many as WSam has at hand. With the same rows LightGBM is ahead of both:
  Sparrow has 77.04, WSam 77.14. WSam read 75 times as many rows as Sparrow, which never had to replace its first
  sample. These trials, and those of the next two points, are not among the published records.
- **LightGBM that bins rows as it reads them would win on spheres.** Given its rows by `lightgbm.Sequence`, with those
  settings, it trained on 1.5 million rows and had 77.52 % (one trial, by a script that is not part of the project); its
  process took 353 MiB more than an empty interpreter. The tables have LightGBM without this.
- WSam takes much longer. On 50 million rows (five links to each file of spheres) two trials with these settings took 42
  and 46 s, LightGBM 2.4 and 2.9 s on its 106,835 rows. Reading the 31 million rows that WSam draws takes pyarrow 13 s.
  Twice LightGBM's time and this reading are 18 s: that target is missed 2.5 times, and in 256 MiB neither fits.
- **On mixture the rivals' figures depend on chance in four trials of tuning.** In 384 MiB the same search
  gave the neural network 98.87 (0.30), more than in 512, and LightGBM 79.16 (0.21), as its better settings took more
  than that. MVS is 0.67 points ahead of this network, half of its lead in the table.

**Not run**: LightGBM and XGBoost that go on chunk by chunk (LightGBM takes more than seven minutes a trial), linear
models, more memory, two other recipes of that script. On spheres LightGBM needs 336 MiB, WSam with trees 304. XGBoost
with its bins in files (`algo=xgboost_external`) cannot take part: the rows of spheres took it
882 MiB, in a trial of ten rounds that read 65,536 rows at a time. All methods here would be at chance on
another recipe, *rotating*, whose newest rows contradict the oldest: files are read in random order.
"""
_NONE = (
    "No frontier is published yet: `boostrun frontier dataset=digits budget=samples_held --quick` makes a small one."
)


def page(folder: Path = FRONTIERS) -> str:
    """The page of the frontiers below a folder, of all budgets but memory."""
    return _made(_INTRODUCTION, [kind for kind in KINDS if kind != "memory"], folder)


def page_of_memory(folder: Path = FRONTIERS) -> str:
    """The page of the frontiers of memory below a folder."""
    return _made(_LAKES, ["memory"], folder)


def _made(introduction: str, kinds: list[str], folder: Path) -> str:
    found = [summary for kind in kinds if (summary := summary_of(folder, kind))]
    parts = [part for summary in found for part in _of_kind(summary, folder)]
    return "\n".join([introduction, *(parts or [_NONE, ""])]).replace(NARROW, " ")


def summary_of(folder: Path, kind: str) -> FrontierSummary | None:
    """The summary of a folder's frontiers of one kind of budget; None if there are none."""
    try:
        return FrontierSummary(kind, frontiers_of(folder, kind))
    except BoostrunError:
        return None


def _of_kind(summary: FrontierSummary, folder: Path) -> Iterator[str]:
    head = KINDS[summary.kind].head
    yield f"## A budget of {head}\n"
    yield from _rivals_ahead(summary)
    yield f"{summary.counted}. {escape(summary.sentence())}\n"
    if summary.kind == "samples_held":
        yield from _not_asked(summary)
    where = "data sets" if len(summary.sets) == len(summary.frontiers) else "frontiers"
    yield f"Number of {where} on which each side is ahead, by {head}:\n"
    yield f"{_table(summary.tally())}\n"
    stem = summary.kind.removeprefix("samples_")
    yield from _picture(f"{stem}_differences", f"the best of ours minus the best rival, by {head}")
    yield "For each data set: the best of ours, the best rival, the difference of their mean accuracies in points.\n"
    table = _table(summary.outcomes())
    for one in summary.frontiers:  # links are inserted last, since the table escapes their signs
        name, place = escape(one.name), _beside(one.folder / "table.md")
        table = table.replace(f"\n| {name} ", f"\n| [{name}]({place}) ")
    yield f"{table}\n"
    if summary.ranks:
        yield "Mean ranks (1 is the best):\n"
        yield f"{_table(summary.ranked())}\n"
        yield from _picture(f"{stem}_ranks", f"mean ranks by {head}")
    yield from (f"- {escape(note)}" for note in summary.notes())
    yield f"- {_spent(summary)}"
    yield ""


def _rivals_ahead(summary: FrontierSummary) -> Iterator[str]:
    """The frontiers and budgets for which a rival is ahead."""
    found = []
    for one in summary.frontiers:
        ahead: dict[str, list[str]] = {}
        for row in one.contest:
            if row["outcome"] == LOSS:
                ahead.setdefault(row["rival"], []).append(amount(float(row[summary.kind])))
        found += [f"{one.name} (`{rival}`: {', '.join(budgets)})" for rival, budgets in ahead.items()]
    if found:
        yield f"**A rival is ahead** on {', '.join(found)}.\n"


def _not_asked(summary: FrontierSummary) -> Iterator[str]:
    """The frontiers that lack rivals which others have."""
    rivals = dict.fromkeys(row["method"] for one in summary.frontiers for row in one.table if row["rival"] == "1")
    lacking: dict[str, list[str]] = {}
    for one in summary.frontiers:
        methods = {row["method"] for row in one.table}
        lacking.setdefault(", ".join(f"`{name}`" for name in rivals if name not in methods), []).append(one.name)
    lacking.pop("", None)
    for names, sets in lacking.items():
        yield f"**Not tried on {', '.join(sets)}**: {names}. The comparisons there are with the other rivals.\n"


def _spent(summary: FrontierSummary) -> str:
    """A sentence: the shares of their budgets that our methods and the rivals spent."""
    shares: dict[str, list[float]] = {"0": [], "1": []}
    for one in summary.frontiers:
        with (one.folder / "table.csv").open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["spent"]:
                    shares[row["rival"]].append(float(row["spent"]) / float(row[summary.kind]))
    ours, rivals = (f"{min(side):.2f} to {max(side):.2f}" for side in shares.values())
    return (
        f"Our methods spent {ours} of their budgets, rivals {rivals}. A share is below 1.00 if a smaller budget "
        "was better on held-out data, or if only a bound of the cost is known in advance. A method that exceeds its "
        "budget cannot win."
    )


def _table(lines: list[list[str]]) -> str:
    return pipe_table(lines, range(1, len(lines[0])))


def _picture(name: str, text: str) -> Iterator[str]:
    """A picture of docs/pictures, which `make pictures` draws."""
    if (DOCS / "pictures" / f"{name}.png").is_file():
        yield f"![{text}](../pictures/{name}.png)\n"


def _beside(path: Path) -> str:
    return f"../../{path.relative_to(ROOT).as_posix()}" if path.is_relative_to(ROOT) else path.as_posix()


def main() -> None:
    """Write the summaries and the pages."""
    for kind in KINDS:
        if summary_of(FRONTIERS, kind):
            command(["frontier", "summary", f"budget={kind}", f"results={FRONTIERS.parent}"])
    for path, text in ((PAGE, page()), (OF_MEMORY, page_of_memory())):
        path.write_text(text, encoding="utf-8")
        print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
