"""The words of a command line, sorted into verb, options, names and overrides before anything else is imported."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.suggestions import meant_key, nearest, plain, same

VERBS = {
    "run": "run one cell: seeded trials in parallel, continued after an interruption (the default verb)",
    "reproduce": "run what a paper's table or a frontier lacks, then write it: reproduce PAPER/ITEM [--quick]",
    "tune": "choose values of an algorithm's keys on held-out training data, equal trials for all: tune algo=NAME ...",
    "fit": "choose and train a model of your table within budgets: fit mine.csv --within features=20,flash=4kB",
    "frontier": "compare methods under each budget, all tuned alike: frontier dataset=NAME budget=samples_held",
    "table": "show a paper's table from stored records: table PAPER/ITEM [--draw] [--strict]",
    "claims": "check the papers' claims against their printed figures and stored records: claims [PAPER] [--on-paper]",
    "report": "write an HTML page of stored results: report [paper/item ...] [-o report.html]",
    "plan": "dry run: which trials are cached, stale (and why) or to run, with estimated time",
    "ls": "list names: ls algo | dataset | features | paper | frontier | strategies | policies | runs ...",
    "data": "fetch and verify a data set, or say which file belongs where: data mnist",
    "diff": "compare two records or tables: diff A B",
    "export": "write a predictor in C or ONNX of a saved model, or train one first: export model.npz --to c [-o FILE]",
    "predict": "predict new samples with a saved model: predict model.npz new.csv [-o out.csv] [--proba]",
    "follow": "learn from live lines of JSON or csv, each after it is predicted: follow algo=NAME label=COLUMN",
    "check": "run the conformance checks on your own method or paper: check my_algo:MyBooster T=20",
    "doctor": "show versions, threads, cores, data found, compiler cache, writable folders",
    "help": "show a page about a verb, with examples: help reproduce, or reproduce --help",
}

BUDGETS = ("samples_held", "evaluations", "features", "model_bytes", "flash_bytes", "memory", "seconds")
"""Kinds of budget of a frontier."""

WITHIN = ("memory", "features", "flash", "latency", "held", "seconds")
"""Kinds of budget of ``fit --within``."""

USAGE = """boostrun: boosting under a budget, seed by seed, compared with the papers' own figures

usage: boostrun [verb] [key=value ...] [options]

  boostrun dataset=digits r=50                        one cell, ten trials, of the default algorithm
  boostrun mine.csv r=50                              the same on your own table, or a folder of images
  boostrun -m algo=NAME,NAME r=100,250                a sweep: one queue, one table (boostrun ls algo has the names)
  boostrun reproduce PAPER/ITEM                       a table of a paper (boostrun ls paper)
  boostrun report -o report.html                      all papers' results as one page

verbs:
{verbs}

keys: algo dataset features | r q T Q S M n p b (budgets) | trials seed n_jobs store results data_root cache_root
      and nested ones: algo.shrinkage=0.1 features.atoms=400 dataset.path=my.npz   (boostrun --cfg shows all)

options:
  -m, --multirun        run every combination of comma-separated values
  --quick               reproduce, frontier: a smaller version that takes minutes, and says so in its table
  --strict              table: exit code 1 when a cell is missing
  --draw                table: draw its pictures too
  --on-paper            claims: judge the papers' printed figures alone
  --why                 plan: every changed definition, and code that a digest cannot follow
  --to c|onnx|npz       export: a C99 file, an ONNX file, or the model itself
  --integer             export: C of whole numbers for a chip: export model.npz rows.csv --integer --target avr
  --target CHIP         export, check: portable, avr or cortex-m
  --name NAME           run, frontier: the name of the table, as name=NAME
  --within BUDGETS      fit: features=20,flash=4kB,latency=20us,memory=512MiB,held=500,seconds=60, any of them
  -o, --output FILE     export, fit, report, claims, predict, follow, table --draw: the file or folder to write
  --proba               predict: a column probability_CLASS for each class; follow: probabilities in each answer
  --config-dir DIR      your own YAML files, used with the packaged ones
  --cfg                 print the composed configuration with the meaning of each key, and stop
  --shell-completion install=bash|zsh|fish            eval "$(boostrun --shell-completion install=bash)"
  --version, --help     after a verb, --help is about it: boostrun reproduce --help

exit codes: 0 done, 1 some trials failed, 2 bad usage, 130 interrupted, 143 terminated (SIGTERM)
"""


@dataclass
class Arguments:
    """A sorted command line: ``names`` are words without ``=``, ``overrides`` those with it.

    ``typed_verb`` is empty if no verb was typed.
    """

    argv: list[str]
    verb: str = "run"
    names: list[str] = field(default_factory=list)
    overrides: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    config_dir: str | None = None
    to: str | None = None
    output: str | None = None
    name: str | None = None
    within: str | None = None
    target: str | None = None
    typed_verb: str = ""

    @property
    def config_words(self) -> list[str]:
        """``--config-dir`` as it was typed, for a command that is printed."""
        return ["--config-dir", self.config_dir] if self.config_dir else []


_FLAGS = {
    "-m": "multirun", "--multirun": "multirun", "--quick": "quick", "--strict": "strict", "--cfg": "cfg",
    "--proba": "proba", "--why": "why", "--draw": "draw", "--on-paper": "on_paper",
    "--integer": "integer",
    "-h": "help", "--help": "help", "--version": "version",
}  # fmt: skip
_TAKES = {
    "reproduce": 1, "table": 1, "ls": 1, "data": 1, "diff": 2, "plan": 1, "export": 1, "check": 1, "report": math.inf,
    "predict": 2, "follow": 1, "help": 1, "frontier": 1, "claims": math.inf,
}  # fmt: skip
OWN_KEYS = {  # of verbs, besides those of every configuration
    "run": ("table.metrics",), "plan": ("table.metrics",), "tune": ("metric", "tune.trials", "tune.seeds"),
    "frontier": ("budget", "at", "metric", "tuning", "splits", "settings"),
    "follow": ("label", "id", "order", "every", "state", "bad"),
}  # fmt: skip
REFUSED_KEYS = {"tune": ("trials", "tuned"), "export": ("trials",), "fit": ("trials", "tuned", "holdout")}
_READ_DATA = ("run", "fit", "tune", "frontier", "plan", "export", "data")  # verbs that take a file as their data set
_VALUES = {
    "--config-dir": "config_dir", "-cd": "config_dir", "--to": "to", "-o": "output", "--output": "output",
    "--name": "name", "--within": "within", "--target": "target",
}  # fmt: skip
_OF = {
    "to": ("export",), "output": ("export", "fit", "report", "claims", "predict", "follow", "table"),
    "within": ("fit",), "target": ("export", "check"),
    "name": ("run", "frontier"), "multirun": ("run", "plan", "tune", "report"), "cfg": ("run",),
    "quick": ("reproduce", "table", "frontier", "plan", "report"), "strict": ("table",), "draw": ("table",),
    "why": ("plan",), "on_paper": ("claims",), "proba": ("predict", "follow"), "integer": ("export",),
}  # fmt: skip
_ELSEWHERE = {  # words of options, as they are compared -> what does the same
    "format fmt json tsv latex markdown md csv tex": "a table is written as Markdown, CSV and LaTeX, in the folder of "
    "the last line, and export --to c|onnx|npz chooses the form of a model",
    "resume continue restart": "a run continues by itself: the same command runs the trials that are missing",
    "force overwrite rerun nocache": "finished trials are kept in store=...: another folder has none",
}  # fmt: skip
_NEEDS = {"config_dir": "a folder", "to": "c, onnx or npz", "output": "a file name", "name": "a name",
          "target": "portable, avr or cortex-m",
          "within": "budgets, as in features=20,flash=4kB,seconds=60"}  # fmt: skip


def parse(argv: Sequence[str]) -> Arguments:
    """Sort the words of a command line, with options before or after the verb; BoostrunError for an unknown word.

    >>> parse(["-m", "algo=rand,geem", "r=100"]).flags
    {'multirun'}
    >>> parse(["reproduce", "reservoir/table3", "--quick"]).names
    ['reservoir/table3']
    >>> parse(["my table.csv", "r=50"]).overrides
    ["dataset='my table.csv'", 'r=50']
    """
    words = Arguments(list(argv))
    rest, given, data = list(argv), list[str](), list[str]()
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option in _VALUES:
            if not equals and not rest:
                raise BoostrunError(f"{option} needs {_NEEDS[_VALUES[option]]}")
            setattr(words, _VALUES[option], value if equals else rest.pop(0))
            given.append(option)
        elif word in _FLAGS:
            words.flags.add(_FLAGS[word])
            given.append(word)
        elif word.startswith("-") and word != "-":  # "-" is standard input
            raise _no_option(word, rest, words)
        elif _names_data(word, words):
            from boostrun.config.words import quoted

            data.append(word)
            words.overrides.append(f"dataset={quoted(word)}")
        elif "=" in word or word.startswith("~"):
            words.overrides.append(word)
        elif words.typed_verb or words.overrides:
            words.names.append(word)
        elif word in VERBS:
            words.verb = words.typed_verb = word
        else:
            meant = _meant_name(word) or f"{did_you_mean(word, VERBS)} ({', '.join(VERBS)})"
            raise BoostrunError(f"no verb '{word}'{meant}")
    for option in given:
        name = (_VALUES | _FLAGS)[option]
        verbs = _OF.get(name, tuple(VERBS))
        if words.verb not in verbs:
            listed = " and ".join(filter(None, (", ".join(verbs[:-1]), verbs[-1])))
            known = {"output": ["results"], "target": ["dataset.label"]}.get(name)
            meant = meant_key(name, getattr(words, name), known)[0] if known else " (boostrun --help)"
            raise BoostrunError(f"{option} is an option of {listed} only{meant}")
    if data and sum(word.startswith("dataset=") for word in words.overrides) > 1:
        raise BoostrunError(
            f"{data[-1]}: one data set is needed; dataset.test_path=FILE adds a test part, -m dataset=A,B runs both"
        )
    takes = _TAKES.get(words.verb, 0) + (words.target is not None or "integer" in words.flags)  # and a file of rows
    if len(words.names) > takes:
        extra = words.names[int(takes)]
        meant = _meant_name(extra) or ", as in dataset=mnist r=250"
        raise BoostrunError(f"cannot read '{extra}': settings are given as key=value{meant}")
    return words


def _no_option(option: str, rest: Sequence[str], words: Arguments) -> BoostrunError:
    """The error that there is no such option, with the setting, verb or option that is meant."""
    from boostrun.config.words import Composer, keys_taken, quoted
    from boostrun.config.words import parse as parse_overrides

    name, equals, value = option.lstrip("-").partition("=")
    following = rest[0] if rest and not rest[0].startswith("-") and "=" not in rest[0] else None
    head, tail = f"no option '{option}'", " (boostrun --help)"
    if said := next((text for names, text in _ELSEWHERE.items() if plain(name) in names.split()), ""):
        return BoostrunError(f"{head}; {said}")
    compose = Composer()
    try:
        typed = [f"dataset={quoted(word)}" if _names_data(word, words) else word for word in rest]
        typed = [word for word in typed if "=" in word and not word.startswith("-")]
        values = compose(parse_overrides([*words.overrides, *typed]))
    except BoostrunError:
        values = compose([])
    known, parameters = keys_taken(values)
    known += OWN_KEYS.get(words.verb, ())
    meant, certain = meant_key(name, value if equals else following, known, parameters)
    if not certain:
        options = {known.lstrip("-"): known for known in (*_FLAGS, *_VALUES, "--shell-completion")}
        if verb := same(name, VERBS):
            meant = f"; did you mean boostrun {verb}?"
        elif spelled := nearest(name, options):
            meant = f"; did you mean '{options[spelled]}'?"
    return BoostrunError(f"{head}{meant}{'' if certain else tail}")


def _meant_name(word: str) -> str:
    """A clause for a word that is no verb but the name of something else; or empty."""
    from boostrun.config import catalogue

    if group := next((group for group in catalogue.GROUPS if word in catalogue.summaries(group)), ""):
        return f"; did you mean {group}={word}?"
    if catalogue.option("paper", word) is not None:
        return f"; did you mean reproduce {word}, or table {word}?"
    if os.path.isfile(word):
        return f"; if this file is a table of text, it is read by dataset=csv {shlex.quote(f'dataset.path={word}')}"
    return ""


def _names_data(word: str, before: Arguments) -> bool:
    """Whether a word after ``before`` names a file or folder with samples, and so stands for ``dataset=...``."""
    if before.verb not in _READ_DATA or word in VERBS or ("=" in word and not os.path.isfile(word)):
        return False
    if "=" not in word and "." not in word and not word.endswith("/") and not os.path.exists(word):  # most words
        return False
    from boostrun.config import catalogue

    of_verb = {
        "plan": lambda: catalogue.option("paper", word, before.config_dir) is not None,
        "frontier": lambda: word == "summary",
        "export": lambda: word.lower().endswith(".npz"),  # a model
    }
    return bool(catalogue.readers(word)) and not of_verb.get(before.verb, lambda: False)()
