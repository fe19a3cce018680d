"""``boostrun help VERB``, ``boostrun VERB --help``: a page about a verb; and the completion of a shell."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from boostrun.cli.arguments import BUDGETS, USAGE, VERBS, WITHIN, Arguments
from boostrun.errors import BoostrunError, did_you_mean

_PLACES = (
    "store=DIR (records, results/runs), results=DIR, data_root=DIR (or $BOOSTRUN_DATA), cache_root=DIR (feature banks)"
)
_WIDE = 112
_OWN = "--config-dir DIR      your own algorithms, data sets and features, from a folder; before or after the verb"


class Page(NamedTuple):
    """A page: ``usage`` without ``boostrun``, ``text``, ``options``, and ``examples`` with their meaning."""

    usage: str
    text: str
    options: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]


PAGES = {
    "run": Page(
        "[run] [FILE] [key=value ...] [-m]",
        """Runs one cell: one algorithm on one data set with one budget, ten seeded trials in parallel. Prints its
row, with the paper's figure if there is one. With -m it runs every combination of comma-separated values, in one queue
and one table. Each trial is kept as a record, so the same command again runs only the missing ones. Pictures are drawn
beside the table, and drawn again only if one is missing or a record has changed; run.pictures=false draws none. On your
own data balanced accuracy, macro F1, log loss, ROC AUC and average precision are measured too:
table.metrics=[accuracy,roc_auc] shows the ones that you name, and rows compete by the first. A key that the algorithm
does not have is an error. In a sweep of several algorithms a budget or key applies to those that have it, and the table
shows a dash for the others.""",
        (
            "-m, --multirun        every combination of the values",
            "--name NAME           the name of the table below results/tables",
            "--cfg                 print all keys with their meaning, and stop",
            _OWN,
        ),
        (
            ("algo={algo} dataset=digits r=50", "ten trials with 50 samples in the reservoir"),
            ("-m algo={algo},{other} dataset=digits r=20,50 trials=5", "four cells, one table"),
            ("-m algo={algo},majority dataset=digits r=20 --name first", "budgets apply to those that have them"),
            ("mine.csv dataset.label=kind r=50", "your own table, or a folder of images"),
            ("mine.csv table.metrics=[accuracy,balanced_accuracy,roc_auc]", "metrics as columns"),
            ("--cfg algo={algo}", "all its keys"),
        ),
    ),
    "reproduce": Page(
        "reproduce PAPER/ITEM [key=value ...] [--quick] | reproduce frontier/NAME [--quick]",
        """Runs the missing trials of a paper's table or figure, then writes it below results/: Markdown, CSV, LaTeX,
pictures and its records. Keys narrow or change it: dataset=mnist takes one of its data sets. A published frontier
is made again as it was published.""",
        ("--quick               a smaller version that takes minutes, and says so in its table", _OWN),
        (
            ("reproduce {item} --quick", "a smaller version"),
            ("reproduce {item} dataset=mnist n_jobs=4", "its part on MNIST"),
            ("ls paper", "all items"),
            ("ls frontier", "all published frontiers"),
        ),
    ),
    "tune": Page(
        "tune algo=NAME [key=value ...] [-m]",
        """Searches the keys that an algorithm declares as searchable, by Optuna, with the same number of trials for
every algorithm. A trial trains on a part of the training data and is judged by the error on the rest; the
test part is never opened. Trials are ordinary records, so an interrupted search continues. tuned=true runs
with the values found. A key that is typed is not searched; KEY=interval(LOW,HIGH),
tag(log,interval(LOW,HIGH)) or choice(A,B) searches your own range. If a paper fixes a grid (a bandit's
scale, a family of features), the grid is run instead, one full run per value, unless tune.trials or a range
is given; KEY=tuned reads its choice.""",
        (
            "tune.trials=30        combinations of values to try, the usual one first",
            "tune.seeds=1          runs per combination; their mean error counts",
            "metric=roc_auc        choose by it, or by balanced_accuracy, macro_f1, log_loss, average_precision",
            "holdout=0.2           share of the training data that is held out",
            "-m, --multirun        tune every combination",
            _OWN,
        ),
        (
            ("tune algo={algo} dataset=digits r=50 tune.trials=20", "its declared ranges"),
            ("algo={algo} dataset=digits r=50 tuned=true", "ten trials with the values found"),
            ("tune -m algo={algo},{other} dataset=digits r=50", "the same number of trials for both"),
            ("tune algo={algo} r=50 'T=interval(50,400)'", "a range of your own, in quotes for the shell"),
            ("tune algo={tuned} dataset=digits T=50", "the grid of a paper"),
        ),
    ),
    "fit": Page(
        "fit FILE --within BUDGETS [-o model.npz] [algo=NAME,NAME] [key=value ...]",
        """Chooses a method and its settings for your own table, trains it, and proves that it keeps every budget.
Budgets are any of features=20 (columns that a prediction reads), flash=4kB (tables of the predictor), latency=20us (a
prediction in C), memory=512MiB (peak of the process that trains), held=500 (samples held at once) and seconds=60 (the
whole command). A share of the rows, dataset.test_fraction, is a test part that the search never sees. Methods of the
papers and installed rivals are compared on held-out rows of the rest, the better ones more often. Then the costs of the
saved model are measured. A certificate lists the cost under each budget, the accuracy on the test part with its
interval, the next best method of another kind, and the command that repeats the fit. Each trial is a record, so the
same command goes on after an interruption. If a budget cannot be kept, the error names the smallest that can.""",
        (
            "--within BUDGETS      one or several, with commas",
            "-o, --output FILE     the model, by default model.npz; the certificate is written beside it",
            "algo=NAME,NAME        only these methods", _OWN,
        ),
        (
            ("fit mine.csv --within features=5,seconds=60", "at most five columns, in a minute"),
            ("fit mine.csv --within flash=4kB,latency=20us -o small.npz", "for a small device"),
            ("fit mine.csv dataset.label=kind --within held=500 algo={algo},{other}", "among two methods"),
            ("predict model.npz new.csv", "use the model"),
        ),
    ),
    "frontier": Page(
        "frontier dataset=NAME budget=KIND [at=50,200,...] [algo=NAME,NAME] [key=value ...]",
        """Finds the best accuracy of each method under each budget: samples_held, evaluations, features,
model_bytes, flash_bytes (as C of whole numbers), memory (of files larger than it) or seconds. Each method is tuned
under each budget, with the same number of trials, on held-out training data, then measured on the test data over
seeds. Writes a table, a picture and its records, and a sentence about where our methods are ahead and where rivals are.
A trial that exceeds its budget cannot win.""",
        (
            "budget=KIND           the kind of budget",
            "at=50,200,1000        the budgets; by default six in logarithmic steps, of memory 512,1024,2048 (MiB)",
            "algo=NAME,NAME        the methods; by default the usual ones and every installed rival",
            "tuning=20             trials of each search; 0 for no tuning",
            "splits=10             number of splits, each with its own tuning and test; 1 by default",
            "metric=roc_auc        tune by and compare another metric than accuracy, as for tune",
            "settings=FOLDER       methods that stand in this stored table keep its settings, others are searched",
            "--quick               three methods of each paper, three rivals, three budgets, eight seeds, T=100",
            "--name NAME           the name of its folder below results/frontiers", _OWN,
        ),
        (
            ("frontier dataset=digits budget=samples_held --quick", "a picture in minutes"),
            ("frontier dataset=digits budget=samples_held at=100 algo={algo},{other}", "two methods, one budget"),
            ("frontier mine.csv dataset.label=kind budget=samples_held", "your own table"),
            ("frontier summary budget=samples_held", "all stored frontiers, by data set"),
        ),
    ),
    "table": Page(
        "table PAPER/ITEM | frontier/NAME [key=value ...] [--draw [-o FOLDER]] [--strict]",
        """Prints a paper's table from stored records; a missing cell is a dash, a stale one has a cross. With
--draw it draws the table, its curves and its other figures as PNG files below results/, and says where.""",
        (
            "--draw                draw its pictures; an item without trials is drawn too",
            "-o, --output FOLDER   the folder for pictures, by default results/PAPER/ITEM",
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
        "claims [PAPER ...] [--on-paper] [-o claims.md]",
        """Shows each claim of the papers with two verdicts: by the paper's printed figures (holds, in part,
contradicted, level, not printed), and by stored records (holds, holds only if, by construction, agrees with the print,
fails, undecided), with the effect, the number of trials and the test. Runs no trials.""",
        (
            "--on-paper            the print alone, with its figures; reads no record",
            "-o, --output FILE     write Markdown to a file", _OWN,
        ),
        (
            ("claims", "all papers"),
            ("claims {paper} --on-paper", "verdicts by the figures that a paper prints"),
            ("claims {paper} -o claims.md", "one paper, into a file"),
        ),
    ),
    "report": Page(
        "report [own | PAPER | PAPER/ITEM ...] [-o report.html]",
        """Writes one HTML page of all stored results, or of some: your own runs first, newest first, then the papers'
claims, the best of each data set, and each paper's tables, curves, comparisons and records. Runs no trials. An own run
lists each cell that lacks trials, with the reason. The page is written first. Charts and trials follow, by n_jobs
processes, in a folder beside it that it needs; those that have not changed are kept. Only plan checks whether data have
changed.""",
        ("-o, --output FILE     by default report.html, with report_files beside it", _OWN),
        (
            ("report", "everything"),
            ("report own", "only your own runs, in seconds"),
            ("report {item} -o some.html", "an item; the name of a paper means all its items"),
        ),
    ),
    "plan": Page(
        "plan [PAPER/ITEM] [key=value ...]",
        """Shows what a run, a sweep or a reproduction would do, one line per cell: trials that are cached, stale (and
which definitions or data changed) or to run, with time and memory estimated from similar records. Runs no trials.""",
        ("--quick               the smaller version of an item",
         "--why                 every changed definition, and code that a digest cannot follow", _OWN),
        (
            ("plan -m algo={algo},{other} dataset=digits r=20,50", "a sweep"),
            ("plan {item}", "an item"),
        ),
    ),
    "ls": Page(
        "ls [algo | dataset | features | paper | frontier | strategies | policies | weak_learners | run | runs]",
        """Lists names, one per line: algorithms with their budgets, data sets, features, items of papers, published
frontiers. With `runs` it lists the cells that you have run: number of trials, mean, time, and the beginning of a
record's key, which diff takes. By default all groups except runs.""",
        ("store=DIR             runs: the folder of the records", _OWN),
        (("ls algo", "names for algo=..."), ("ls paper", "names for reproduce, table and plan"),
         ("ls runs", "stored cells, the newest first")),
    ),
    "data": Page(
        "data NAME | FILE [dataset.key=value ...]",
        """Fetches a data set if it is missing and can be fetched, compares it with published checksums, and describes
it; or says which file belongs where.""",
        ("data_root=DIR         the folder of data; by default $BOOSTRUN_DATA, else ./datasets",),
        (("data mnist", "fetch and verify"), ("ls dataset", "all names")),
    ),
    "diff": Page(
        "diff A B [store=DIR]",
        """Compares two records or two groups of them: settings, seeds, versions and machines, figures, and whether a
difference is significant (paired if the seeds are the same). A and B are the beginning of a record's key, a file, a
folder of a table of yours or of packed records, or an item.""",
        ("store=DIR             the folder of the records", _OWN),
        (("diff 3f2a 91bc", "two records, by the beginning of their keys"),
         ("diff one.parquet two.parquet", "two packs of records, cell by cell"),
         ("diff results/tables/first results/tables/second", "two tables of yours, cell by cell"),
         ("ls runs", "keys to compare")),
    ),
    "export": Page(
        "export MODEL.npz [ROWS] [--to c | onnx | npz] [-o FILE] | export algo=NAME dataset=NAME [key=value ...] [...]",
        """Writes a saved model as one C99 or ONNX file. Given settings instead of a file, it first trains their first
trial and keeps its record, and its model beside the written file; with --to npz it writes only the model. ONNX needs
the package onnx (pip install 'boostrun[onnx]') and features raw, linear, products or stumps; the file takes X (n, d)
and returns label and scores, and its doc_string describes X. With --integer the C has whole numbers only, tables in
flash and at most 512 bytes of RAM. 8 or 16 bits are chosen such that no label of ROWS, a table or array, changes; if
labels still change, they are counted.""",
        (
            "--to c|onnx|npz       a C99 file (the default, unless -o ends in .onnx), an ONNX file, or the model",
            "--integer             C of whole numbers, for stumps, trees, linear models on columns, and IBoost",
            "--target CHIP         portable (the default), avr or cortex-m",
            "-o, --output FILE     the file to write", _OWN,
        ),
        (
            ("export algo={algo} dataset=digits r=50 --to npz -o digits.npz", "train, and keep the model"),
            ("export digits.npz -o digits.c", "its predictor in C"),
            ("export digits.npz -o digits.onnx", "or in ONNX"),
            ("export model.npz rows.csv --integer --target avr -o model.c", "or for a microcontroller"),
            ("predict digits.npz new.npz", "or its predictions here"),
        ),
    ),
    "predict": Page(
        "predict MODEL.npz FILE [-o out.csv] [--proba] [dataset.KEY=VALUE ...]",
        """Predicts new samples with a saved model, one line of csv per sample, in their order. FILE is a table (csv,
csv.gz, Parquet), arrays (npz, npy), a folder of images, or - for a table on standard input. Columns are
found by name; columns that the model does not use, such as an id or the label, are copied in front of the prediction.
Files are read in pieces. If a sample cannot be predicted, no output is written. A table that is written in another way
than its first rows say, or than that of training, is described by dataset.sep, header, encoding, na, decimal, types and
drop, as in a run.""",
        (
            "-o, --output FILE     the file to write, by default standard output",
            "--proba               a column probability_CLASS per class, if the model has probabilities", _OWN,
        ),
        (
            ("predict model.npz new.csv -o out.csv", "a table"),
            ("predict model.npz photos", "a folder of images, with their names"),
            ("predict model.npz new.csv --proba", "with the probability of each class"),
            ("predict model.npz new.csv dataset.decimal=comma", "a table with decimal commas"),
            ("predict model.npz -", "standard input"),
        ),
    ),
    "follow": Page(
        "follow algo=NAME label=COLUMN [SOURCE] [-o answers.jsonl] [key=value ...]",
        """Predicts each row that arrives, then learns it if it has a label. SOURCE is a file, tcp://HOST:PORT, or by
default standard input, with a JSON object or a line of csv per row; a line that does not begin with a brace is the
header of csv. A row is a line: no cell holds a line break. Numbers, truth values and text (as name=text) are features,
and null or an empty cell is absent. Each answer is a line of JSON. Every so many rows the answers are put on the disk,
then the learner in state=FILE. The same command goes on from there, also after kill -9: a file is read on from that
row, and answers after it are written again, the same. From a pipe or a socket the rows after it must be sent again;
with order=COLUMN rows may be sent again from any earlier one, as those not beyond the last are left out. Answers on
standard output cannot be taken back: after a crash some come twice.""",
        (
            "label=COLUMN          the label; a row without it is only predicted",
            "id=COLUMN[,COLUMN]    columns that are copied to the answers and not learned",
            "order=COLUMN          a column that rises, such as a time or an offset; copied too",
            "every=1000            rows after which answers and learner are saved",
            "state=follow.npz      the file of the saved learner",
            "bad=stop|skip         a row that cannot be read or learned: end, or answer with the reason",
            "-o, --output FILE     the file of the answers, by default standard output",
            "--proba               probabilities in each answer",
            _OWN,
        ),
        (
            ("follow algo=sgbt label=kind live.jsonl -o answers.jsonl", "a file"),
            ("follow algo=sgbt M=50 label=kind order=time tcp://localhost:9000 -o answers.jsonl", "a socket"),
        ),
    ),
    "check": Page(
        "check NAME [key=value ...] | check --target CHIP [MODEL.npz [ROWS]]",
        """Runs the conformance checks on your own class or function (module:Name), on a whole paper (module:PAPER), or
on any name that boostrun ls lists. The exit code is 1 if a check fails. With --target, predictors of whole numbers are
compiled for a chip and run on 1,000 rows by an emulator (avr: simavr, ATmega328P; cortex-m: qemu-system-arm, Cortex-M0
and M3; portable: this machine), and class and scores are compared with Python's; without a model, of drawn ones.""",
        ("--target CHIP         portable, avr or cortex-m", _OWN),
        (("check my_algo:MyBooster T=20", "a class in the current folder"), ("check {algo}", "an installed one"),
         ("check --target avr", "predictors of whole numbers, on an ATmega328P"),
         ("check --target cortex-m model.npz rows.csv", "that of a saved model")),
    ),
    "doctor": Page(
        "doctor",
        """Shows versions, threads, cores, which data sets are found, the compiler's cache, and writable folders.""",
        ("data_root=DIR, store=DIR, cache_root=DIR    folders other than the default ones",),
        (("doctor", "check everything"),),
    ),
    "help": Page(
        "help [VERB]",
        """Shows a page about a verb, as boostrun VERB --help does; without a verb, all verbs and options.""",
        (), (("help reproduce", "a page"), ("help", "all verbs")),
    ),
}  # fmt: skip


def main(words: Arguments) -> int:
    """Print the page of a verb, or the usage."""
    print(page(words.names[0]) if words.names else usage(), end="")
    return 0


def usage() -> str:
    """All verbs, keys and options."""
    return USAGE.format(verbs="\n".join(f"  {verb:<10} {text}" for verb, text in VERBS.items()))


def page(verb: str) -> str:
    """A description of ``verb`` with its options and examples; BoostrunError for an unknown one.

    >>> print(page("doctor"))
    usage: boostrun doctor
    <BLANKLINE>
    Shows versions, threads, cores, which data sets are found, the compiler's cache, and writable folders.
    <BLANKLINE>
    options:
      data_root=DIR, store=DIR, cache_root=DIR    folders other than the default ones
    <BLANKLINE>
    examples:
      boostrun doctor   check everything
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
    """A command with real names: ``{algo}`` and ``{other}`` (methods with r, q and T), ``{tuned}``, ``{item}``."""
    if "{" not in command:
        return command
    from boostrun.config import catalogue

    methods = catalogue.methods()
    algo, other, *_ = [name for name, method in methods.items() if {"r", "q", "T"} == set(method.budget)]
    tuned = next(name for name, method in methods.items() if method.tuning)
    item = next(name for name in catalogue.options("paper") if "table" in name)
    return command.format(algo=algo, other=other, tuned=tuned, item=item, paper=item.partition("/")[0])


# -- completion --------------------------------------------------------------------------------------------------------


def complete(arguments: Sequence[str]) -> int:
    """``boostrun --shell-completion install=bash``: install, uninstall or query the completion of a shell.

    Verbs and items are completed here, everything else by Hydra.
    """
    if len(arguments) != 1 or arguments[0].partition("=")[0] not in ("install", "uninstall", "query"):
        raise BoostrunError("--shell-completion takes install=SHELL or uninstall=SHELL with SHELL bash, zsh or fish")
    action, _, shell = arguments[0].partition("=")
    if shell not in ("bash", "zsh", "fish"):
        raise BoostrunError(f"no completion for the shell '{shell}' (bash, zsh, fish)")
    if action != "query" or not _complete_verb():
        _ask_hydra(arguments[0])
    return 0


def _complete_verb() -> bool:
    """Complete a verb or its argument; otherwise remove the verb from the line, for Hydra, and return False."""
    line = os.environ.get("COMP_LINE", "")
    words = line.split()[1:] + ([""] if line.endswith(" ") or not line.split()[1:] else [])
    word, before = words[-1], [w for w in words[:-1] if not w.startswith("-")]

    def offer(choices: Iterable[str]) -> bool:
        found = [choice for choice in choices if choice.startswith(word)]
        if found:
            print(" ".join(found))
        return bool(found)

    if not before and word and "=" not in word and offer(VERBS):
        return True
    if len(before) == 1 and before[0] in VERBS and "=" not in word and offer(_names_after(before[0])):
        return True
    if before[:1] == ["frontier"] and word and offer(f"budget={kind}" for kind in BUDGETS):
        return True
    if words[-2:-1] == ["--target"]:
        from boostrun.export.chip import TARGETS

        return offer(TARGETS)
    if before[:1] == ["fit"] and words[-2:-1] == ["--within"]:
        typed = "".join(word.rpartition(",")[:2])
        return offer(f"{typed}{kind}=" for kind in WITHIN)
    if before and before[0] in VERBS:
        before = before[1:]
    rest = [w for w in before if "=" in w] + [word]
    os.environ["COMP_LINE"] = " ".join([line.split()[0] if line.split() else "boostrun", *rest])
    os.environ["COMP_POINT"] = str(len(os.environ["COMP_LINE"]))
    return False


def _names_after(verb: str) -> Iterable[str]:
    """The names that a verb takes."""
    from boostrun.cli.doctor import GROUPS, RUNS
    from boostrun.cli.reproduce import names
    from boostrun.config import catalogue

    items = list(catalogue.options("paper"))
    if verb == "claims":
        return [name for name, one in catalogue.papers().items() if one.claims]
    return {
        "reproduce": [*items, *names()], "table": items, "report": ["own", *items], "plan": items, "diff": items,
        "ls": (*GROUPS, RUNS), "data": catalogue.summaries("dataset"), "help": VERBS, "frontier": ["summary"],
    }.get(verb, ())  # fmt: skip


def _ask_hydra(argument: str) -> None:
    import hydra
    from hydra.core.config_store import ConfigStore

    from boostrun.config import catalogue, defaults

    for group in catalogue.GROUPS:
        for name in catalogue.names(group):
            ConfigStore.instance().store(group=group, name=name, node={"name": name, **defaults(group, name)})
    sys.argv = [sys.argv[0], "--shell-completion", argument]

    @hydra.main(config_path=str(catalogue.conf_dir().resolve()), config_name="config", version_base="1.3")
    def app(_config) -> None:
        """Never called: Hydra answers and exits."""

    app()
