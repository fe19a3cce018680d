"""``boostrun help VERB``, ``boostrun VERB --help``: a page about a verb, with examples that the tests read."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from boostrun.cli.arguments import USAGE, VERBS, Arguments
from boostrun.errors import BoostrunError, did_you_mean

_PLACES = (
    "store=DIR (records, results/runs), results=DIR, data_root=DIR (or $BOOSTRUN_DATA), cache_root=DIR (feature banks)"
)
_WIDE = 112
_OWN = "--config-dir DIR      your own algorithms, data sets and features, from a folder; before or after the verb"


class Page(NamedTuple):
    """``usage`` after ``boostrun``, ``text``, ``options``, and ``examples`` with what they do."""

    usage: str
    text: str
    options: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]


PAGES = {
    "run": Page(
        "[run] [key=value ...] [-m]",
        """Runs one cell: one algorithm on one data set with one budget, ten seeded trials in parallel, and prints its
row, the paper's figure beside it where the paper has one. With -m, every combination of comma-separated
values, in one queue and one table. Each trial is kept as a record, so the same command again runs only what
is missing. Pictures are drawn beside the table, and drawn again only if a record has changed; run.pictures=false draws
none. A key that the algorithm has no use for is an error; in a sweep of several algorithms a budget or key
applies to those that have it, and the table shows a dash for the others.""",
        (
            "-m, --multirun        every combination of the values",
            "--name NAME           what the table below results/tables is called",
            "--cfg                 print all keys, what each means beside it, and stop",
            _OWN,
        ),
        (
            ("algo={algo} dataset=digits r=50", "ten trials with 50 samples in the reservoir"),
            ("-m algo={algo},{other} dataset=digits r=20,50 trials=5", "four cells, one table"),
            ("-m algo={algo},majority dataset=digits r=20 --name first", "budgets go to those that have them"),
            ("algo={algo} dataset=csv dataset.path=mine.csv dataset.label=kind", "your own table"),
            ("--cfg algo={algo}", "every key that it has"),
        ),
    ),
    "reproduce": Page(
        "reproduce PAPER/ITEM [key=value ...] [--quick] | reproduce frontier/NAME [--quick]",
        """Runs what is missing of a paper's table or figure, then writes it below results/: Markdown, CSV, LaTeX,
pictures and its records. Keys shrink or change it: dataset=mnist takes one of its data sets. A published frontier
is made again too, as it stands.""",
        ("--quick               a smaller version that takes minutes, and says so in its table", _OWN),
        (
            ("reproduce {item} --quick", "made small"),
            ("reproduce {item} dataset=mnist n_jobs=4", "its part on MNIST"),
            ("ls paper", "all items"),
            ("ls frontier", "all published frontiers"),
        ),
    ),
    "tune": Page(
        "tune algo=NAME [key=value ...] [-m]",
        """Searches what an algorithm declares that may be searched, on Optuna, as many trials for every one: each is
trained on a part of the training data and judged by the error on the rest; the test part is never opened. Trials are
ordinary records, so a search that was cut off goes on. tuned=true runs with what was found. A key that is typed is
not searched; KEY=interval(LOW,HIGH), tag(log,interval(LOW,HIGH)) or choice(A,B) searches a range of your own. Where a
paper fixes a grid (a bandit's scale, a family of features) that is run instead, one full run with each value, unless
tune.trials or a range is given; KEY=tuned reads its choice.""",
        (
            "tune.trials=30        combinations of values that are tried, the usual one first",
            "tune.seeds=1          runs of each; their mean error counts",
            "holdout=0.2           share of the training data that is held out",
            "-m, --multirun        tune every combination",
            _OWN,
        ),
        (
            ("tune algo={algo} dataset=digits r=50 tune.trials=20", "its declared ranges"),
            ("algo={algo} dataset=digits r=50 tuned=true", "ten trials with what was found"),
            ("tune -m algo={algo},{other} dataset=digits r=50", "as many trials for both"),
            ("tune algo={algo} r=50 'T=interval(50,400)'", "a range of your own, in quotes for the shell"),
            ("tune algo={tuned} dataset=digits T=50", "the grid of a paper"),
        ),
    ),
    "frontier": Page(
        "frontier dataset=NAME budget=KIND [at=50,200,...] [algo=NAME,NAME] [key=value ...]",
        """The best accuracy that each method reaches under each budget: samples_held, evaluations, features,
model_bytes or seconds. Each method is tuned under each budget, all with as many trials, on training data that
are held out, then measured on the test data over seeds. Writes a table, a picture and its records, and says in a
sentence where the budget pays and where a rival is the better choice. What a trial really spent is held against
its budget. A data set may be a file: dataset=mine.csv.""",
        (
            "budget=KIND           what is limited",
            "at=50,200,1000        the budgets; else six in logarithmic steps",
            "algo=NAME,NAME        the methods; else the usual ones and every rival that is installed",
            "tuning=20             trials of each search; 0: nothing is tuned",
            "--quick               three methods of each paper, three rivals, three budgets, eight seeds, T=100",
            "--name NAME           what its folder below results/frontiers is called", _OWN,
        ),
        (
            ("frontier dataset=digits budget=samples_held --quick", "a picture in minutes"),
            ("frontier dataset=digits budget=samples_held at=100 algo={algo},{other}", "two methods, one budget"),
            ("frontier dataset=mine.csv dataset.label=kind budget=samples_held", "your own table"),
            ("frontier summary budget=samples_held", "those that are there, set by set"),
        ),
    ),
    "table": Page(
        "table PAPER/ITEM | frontier/NAME [key=value ...] [--draw [-o FOLDER]] [--strict]",
        """Prints a paper's table from stored records alone; a missing cell is a dash, a stale one has a cross. With
--draw it draws the table, its curves and its other figures as PNG files below results/, and says where.""",
        (
            "--draw                draw its pictures; an item without trials is drawn too",
            "-o, --output FOLDER   where pictures go; results/PAPER/ITEM unless given",
            "--strict              exit code 1 when a cell is missing or incomplete", _OWN,
        ),
        (
            ("table {item}", "works in a fresh clone: published records come with it"),
            ("table {item} --draw", "its pictures, from stored records"),
            ("table frontier/digits-samples_held --draw", "a published frontier and its picture"),
            ("table {item} dataset=mnist --strict", "part of it; 1 if any cell lacks trials"),
        ),
    ),
    "claims": Page(
        "claims [PAPER ...] [-o claims.md]",
        """Every claim of the papers with its verdict (holds, holds only if, fails, undecided), its effect, the
number of trials and the test, decided from stored records. Nothing is run.""",
        ("-o, --output FILE     as Markdown into a file", _OWN),
        (("claims", "of all papers"), ("claims {paper} -o claims.md", "of one, written")),
    ),
    "report": Page(
        "report [own | PAPER | PAPER/ITEM ...] [-o report.html]",
        """One HTML page of all that is stored, or of some: own runs first, newest first, then what holds of the papers,
the best of each data set, and each paper's tables, curves, comparisons, records. Nothing is run.""",
        ("-o, --output FILE     report.html unless given", _OWN),
        (
            ("report", "everything"),
            ("report own", "your own runs alone, which takes seconds"),
            ("report {item} -o some.html", "an item; the name of a paper stands for all that it has"),
        ),
    ),
    "plan": Page(
        "plan [PAPER/ITEM] [key=value ...]",
        """What a run, a sweep or a reproduction would do, a line a cell: trials that are cached, stale (and which
definitions or data changed) or to run, with time and memory from earlier records like them. Nothing is built or
run.""",
        ("--quick               of an item's smaller version",
         "--why                 every definition that changed, and code that a digest cannot follow", _OWN),
        (
            ("plan -m algo={algo},{other} dataset=digits r=20,50", "a sweep"),
            ("plan {item}", "an item"),
        ),
    ),
    "ls": Page(
        "ls [algo | dataset | features | paper | frontier | strategies | policies | weak_learners | run | runs]",
        """What there is, a line each: algorithms with the budgets that they take, data sets, features, items of
papers, published frontiers, and with `runs` the cells that you have run: how many trials, the mean, when, and the
beginning of a record's key, which diff takes. All but runs when nothing is named.""",
        ("store=DIR             runs: where the records are", _OWN),
        (("ls algo", "names for algo=..."), ("ls paper", "names for reproduce, table and plan"),
         ("ls runs", "what is stored, the newest first")),
    ),
    "data": Page(
        "data NAME [dataset.key=value ...]",
        """Fetches a data set where it is missing and can be fetched, compares it with published checksums, and says
what is there; or says which file belongs where.""",
        ("data_root=DIR         where to; else $BOOSTRUN_DATA, else ./datasets",),
        (("data mnist", "fetch and verify"), ("ls dataset", "all names")),
    ),
    "diff": Page(
        "diff A B [store=DIR]",
        """Compares two records or two groups of them: settings and seeds, surroundings, figures, and whether a
difference is significant (paired by seed where the seeds are the same). A and B are the beginning of a
record's key, a file, a folder of packed records, or an item.""",
        ("store=DIR             where the records are", _OWN),
        (("diff 3f2a 91bc", "two records, by the first letters of their files"),
         ("diff one.parquet two.parquet", "two packs of records, cell by cell"), ("ls runs", "keys to compare")),
    ),
    "export": Page(
        "export MODEL.npz [-o FILE] | export algo=NAME dataset=NAME [key=value ...] [--to c | onnx | npz] [-o FILE]",
        """Makes one C99 or ONNX file of a saved model. Given settings in place of a file it trains their first trial,
keeps its model beside that file, and its record; with --to npz the model alone. ONNX needs the package onnx
(pip install 'boostrun[onnx]') and features raw, linear, products or stumps; the file takes X (n, d) and gives
label and scores, and says in its doc_string what X is.""",
        (
            "--to c|onnx|npz       a C99 file (unless given, or -o ends in .onnx), an ONNX file, or the model",
            "-o, --output FILE     where to", _OWN,
        ),
        (
            ("export algo={algo} dataset=digits r=50 --to npz -o digits.npz", "train, and keep the model"),
            ("export digits.npz -o digits.c", "a predictor in C of it"),
            ("export digits.npz -o digits.onnx", "or in ONNX"),
            ("predict digits.npz new.npz", "or its answers here"),
        ),
    ),
    "predict": Page(
        "predict MODEL.npz FILE [-o out.csv] [--proba]",
        """The answers of a saved model for new samples, a line of csv each, in their order. FILE is a table (csv,
csv.gz, Parquet), arrays (npz, npy), a folder of images, or - for a table on standard input. Columns are
found by name; those that the model does not take, an id or the label, stand in front of the prediction.
Files are read a piece at a time, and nothing is written where a sample cannot be answered.""",
        (
            "-o, --output FILE     where to; standard output unless given",
            "--proba               a column probability_CLASS each, where scores mean probabilities", _OWN,
        ),
        (
            ("predict model.npz new.csv -o out.csv", "a table"),
            ("predict model.npz photos", "a folder of images, their names beside the answers"),
            ("predict model.npz new.csv --proba", "the probability of each class beside it"),
            ("predict model.npz -", "standard input"),
        ),
    ),
    "check": Page(
        "check NAME [key=value ...]",
        """Whether what you bring keeps the rules, check by check: a class or function (module:Name), a whole paper
(module:PAPER), or anything that has a name in the lists. Exit code 1 when a check fails.""",
        (_OWN,),
        (("check my_algo:MyBooster T=20", "a class in the current folder"), ("check {algo}", "one that is there")),
    ),
    "doctor": Page(
        "doctor",
        """Versions, threads, cores, which data sets are found, the compiler's cache, folders that can be written.""",
        ("data_root=DIR, store=DIR, cache_root=DIR    other folders than the usual",),
        (("doctor", "look at everything"),),
    ),
    "help": Page(
        "help [VERB]",
        """A page about a verb, as boostrun VERB --help prints it; without one, all verbs and options.""",
        (), (("help reproduce", "a page"), ("help", "all verbs")),
    ),
}  # fmt: skip


def main(words: Arguments) -> int:
    """Print the page of the verb that is named, or the usage."""
    print(page(words.names[0]) if words.names else usage(), end="")
    return 0


def usage() -> str:
    """All verbs, keys and options."""
    return USAGE.format(verbs="\n".join(f"  {verb:<10} {text}" for verb, text in VERBS.items()))


def page(verb: str) -> str:
    """What ``verb`` does, its options and examples; BoostrunError for one that is none.

    >>> print(page("doctor"))
    usage: boostrun doctor
    <BLANKLINE>
    Versions, threads, cores, which data sets are found, the compiler's cache, folders that can be written.
    <BLANKLINE>
    options:
      data_root=DIR, store=DIR, cache_root=DIR    other folders than the usual
    <BLANKLINE>
    examples:
      boostrun doctor   look at everything
    <BLANKLINE>
    """
    if verb not in VERBS:
        raise BoostrunError(f"no verb '{verb}'{did_you_mean(verb, VERBS)} ({', '.join(VERBS)})")
    found = PAGES[verb]
    examples = [(_filled(command), meaning) for command, meaning in found.examples]
    lines = [f"usage: boostrun {found.usage}", "", textwrap.fill(" ".join(found.text.split()), _WIDE), ""]
    if found.options:
        lines += ["options:", *(f"  {option}" for option in found.options), ""]
    wide = max(len(command) for command, _ in examples)
    lines += ["examples:", *(f"  boostrun {command:<{wide}}   {meaning}" for command, meaning in examples)]
    if "[key=value" in found.usage:
        lines += ["", f"where: {_PLACES}", "keys: boostrun --cfg algo=NAME shows each with its meaning"]
    return "\n".join(lines) + "\n"


def _filled(command: str) -> str:
    """With names that there are: ``{algo}`` and ``{other}`` of methods with r, q and T, ``{tuned}``, ``{item}``."""
    if "{" not in command:
        return command
    from boostrun.config import catalogue

    methods = catalogue.methods()
    algo, other, *_ = [name for name, method in methods.items() if {"r", "q", "T"} == set(method.budget)]
    tuned = next(name for name, method in methods.items() if method.tuning)
    item = next(name for name in catalogue.options("paper") if "table" in name)
    return command.format(algo=algo, other=other, tuned=tuned, item=item, paper=item.partition("/")[0])
