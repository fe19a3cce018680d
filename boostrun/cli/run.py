"""``boostrun [run] key=value ...``: one cell, or with ``-m`` every combination, as one queue and one table."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from boostrun import __version__
from boostrun.cli.arguments import Arguments
from boostrun.config import catalogue, fields_in
from boostrun.config.fields import fields_of, kind_of
from boostrun.config.settings import GROUPS, Root, Settings
from boostrun.runner.compose import compose_all, compose_one
from boostrun.runner.naming import distinctions, word
from boostrun.runner.plan import PlannedCell
from boostrun.store.cell import Cell, digest_of

_WIDEST = 40  # a longer line of --cfg has its comment behind it, out of the column

_BARE = re.compile(r"[A-Za-z_/][\w/.@+-]*(:[\w/.@+-]+)?", re.ASCII)  # texts that need no quotes
_NOT_TEXTS = ("null", "true", "false", "nan", "inf")

METRIC = "test_accuracy_pct"
_KAPPAS = ("kappa", "kappa_majority", "kappa_temporal")  # of predictions on a stream


def main(words: Arguments) -> int:
    """Run, print each cell's row with the paper's figure beside it, and write the table under ``results/tables``."""
    if "multirun" in words.flags:
        all_settings = compose_all(words.overrides, words.config_dir)
    else:
        all_settings = [compose_one(words.overrides, words.config_dir)]
    if "cfg" in words.flags:
        return _print_config(all_settings)
    same_places(all_settings)
    name = table_name(words.name or all_settings[0].root["name"])
    from boostrun.runner.execute import run_cells

    print(headline(all_settings), file=sys.stderr)
    result = run_cells(all_settings, command=["boostrun", *words.argv])
    if any(cell.best_records for cell in result.cells):
        _report(result.cells, name)
    return tell_end(result, words)


def same_places(all_settings: Sequence[Settings]) -> None:
    """Refuse a sweep over a key that only says where and how things run."""
    from boostrun.errors import BoostrunError

    for key in ("store", "results", "data_root", "cache_root", "n_jobs", "name"):
        if len({settings.root[key] for settings in all_settings}) > 1:
            raise BoostrunError(f"{key} cannot be swept: all cells of one command share it")


def tell_end(result, words: Arguments) -> int:
    """The last lines of a run: every failure with the command that runs it again; returns the exit code."""
    for record in result.failed:
        cell = Cell.from_config(record["cell"])
        print(f"failed: {cell.label} seed={record['seed']}: {record['error']['message']}", file=sys.stderr)
        mine = f"--config-dir {shlex.quote(words.config_dir)} " if words.config_dir else ""
        print(f"  again: boostrun {mine}{rerun(record)}", file=sys.stderr)
    if result.interrupted:
        print("boostrun: interrupted; finished trials are kept. Go on with:", file=sys.stderr)
        print(f"  boostrun {shlex.join(words.argv)}", file=sys.stderr)
        return 130
    return 1 if result.failed else 0


def rerun(record: dict) -> str:
    """The words after ``boostrun`` that run a record's trial again, and no other."""
    return f"{cell_words(record['cell'])} seed={record['seed']} trials=1"


def cell_words(config: dict) -> str:
    """A cell as a person types it after ``boostrun``; seeds and trials come besides."""
    parts = []
    for group in ("algo", "dataset", "features"):
        values = dict(config[group])
        if (holdout := values.pop("holdout", None)) is not None:
            parts.append(f"holdout={holdout}")
        if (count := values.pop("train_samples", None)) is not None:
            parts.append(f"train_samples={count}")
        if (limit := values.pop("memory_limit", None)) is not None:
            parts.append(f"run.memory_limit={limit}")
        parts.append(f"{group}={_quoted(values['name'])}")
        parts += [f"{group}.{key}={_quoted(value)}" for key, value in values.items() if key not in ("name", "class")]
    parts += [f"{key}={value}" for key, value in config["budget"].items()]
    return shlex.join(parts)


def _quoted(value) -> str:
    """A value as an override takes it back: a text that could be read as something else stands in quotes.

    >>> print(_quoted("mnist"), _quoted(None), _quoted("it's, this"), _quoted("7"), _quoted(["a", "b c"]))
    mnist null 'it\\'s, this' '7' [a,'b c']
    """
    if isinstance(value, list):
        return f"[{','.join(map(_quoted, value))}]"
    if not isinstance(value, str) or (_BARE.fullmatch(value) and value.lower() not in _NOT_TEXTS):
        return word(value)
    escaped = re.sub(r"(\\*)('|$)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), value)
    return "'" + re.sub(r"(\\*)\$\{", lambda found: found[1] * 2 + "\\${", escaped) + "'"


def headline(all_settings: Sequence[Settings]) -> str:
    """The first line of a run: version, what is run, how often and on how many workers."""
    from boostrun.runner.plan import cell_of

    first = all_settings[0]
    trials = sum(len(settings.seeds) for settings in all_settings)
    what = cell_of(first).label if len(all_settings) == 1 else f"{len(all_settings)} cells"
    workers = "all cores" if first.root["n_jobs"] == -1 else f"n_jobs={first.root['n_jobs']}"
    if first.run["backend"] not in ("loky", "sequential"):
        workers += f" of {first.run['backend']}"
    return f"boostrun {__version__} · {what} · {trials} trial{'s' if trials != 1 else ''} · {workers}"


def table_name(name: str | None) -> str:
    """A name as that of a folder; BoostrunError for one without a letter or digit. Nothing for nothing.

    >>> table_name("Wine, ten splits")
    'Wine-ten-splits'
    """
    from boostrun.errors import BoostrunError

    if name is None:
        return ""
    folder = re.sub(r"[^\w.+=-]+", "-", name).strip("-.")
    if not re.search(r"\w", folder):
        raise BoostrunError(f"name={name}: a name for the table with a letter or a digit in it is needed")
    return folder


def _report(cells: Sequence[PlannedCell], name: str) -> None:
    from boostrun.files import sweep
    from boostrun.report import summary
    from boostrun.report.own_table import own_table
    from boostrun.runner.naming import in_common, trials

    entries = [entry(cell) for cell in cells]
    keys = distinctions(cells)
    root = Path(cells[0].settings.root["results"]) / "tables"
    for other in root.glob("*/"):
        sweep(other)
    title = name or (cells[0].cell.label if len(cells) == 1 else f"{len(cells)} cells")
    digest = digest_of([cell.cell.key for cell in cells])[:8]
    folder = root / (name or f"{'-'.join(title.replace('·', ' ').split()).replace('=', '').replace(':', '.')}-{digest}")
    scores, kept = _scores(cells)
    table = own_table(title, entries, keys, METRIC, [in_common(cells), trials(cells)], scores=scores)
    table.write(folder)  # before anything is printed: a full disk must not cost the table
    print(summary(entries, METRIC, keys=keys, scores=scores))
    print(trials(cells))
    print(f"records: {cells[0].settings.root['store']}   table: {folder}", flush=True)  # pictures take a while
    if kept:
        print(kept, file=sys.stderr)
    if cells[0].settings.run["pictures"]:
        from boostrun.cli import pictures

        if told := pictures.draw(folder, name, cells, entries):
            print(told, file=sys.stderr)


def _scores(cells: Sequence[PlannedCell]) -> tuple[list[dict[str, list[float]]], str]:
    """The kappas of each cell, where its records have them, and what was measured of its probabilities where they are
    kept; a line on these where that was asked for.
    """
    from boostrun.runner import predictions

    settings = cells[0].settings
    folder, asked = predictions.folder_of(settings), settings.run["predictions"]
    keys = [[record["key"] for record in cell.done] for cell in cells]
    scores = [predictions.scores(folder, each) for each in keys] if folder.is_dir() else [{} for _ in cells]
    figures = [[record["metrics"] for record in cell.done] for cell in cells]
    for name in _KAPPAS:
        if any(name in each for own in figures for each in own):
            for one, own in zip(scores, figures):
                one[name.replace("_", " ")] = [each[name] for each in own if name in each]
    if not asked and not any(values for one in scores for values in one.values()):
        return [], ""
    return scores, predictions.size_line(folder, list(chain(*keys))) if asked else ""


def entry(cell: PlannedCell):
    """A cell as the report takes it, compared where the paper has its like."""
    from boostrun.report import Entry

    return Entry(
        row=cell.cell.algo["name"],
        column=(),
        where=_paper_place(cell),
        expected=len(cell.settings.seeds),
        records=cell.best_records,
        stale=len(cell.stale),
        sampled=frozenset(cell.sampled),
        failed=len(cell.failed),
        reason=cell.missing if len(cell.best_records) < len(cell.settings.seeds) else "",
    )


def _paper_place(cell: PlannedCell) -> dict[str, str]:
    """How the papers' figures name this cell; empty unless its other budgets and features are the papers' own."""
    from boostrun.config import catalogue, check_budget

    algo, budget = cell.cell.algo["name"], cell.cell.budget
    usual = check_budget(cell.cell.algo, {"r": budget.get("r")})
    if budget != usual or not catalogue.methods()[algo].paper or {"holdout", "train_samples"} & set(cell.cell.dataset):
        return {}
    return {"method": algo, "dataset": cell.cell.dataset["name"], "r": str(budget.get("r", ""))}


def _print_config(all_settings: Sequence[Settings]) -> int:
    """Each composed configuration as YAML that can be read again, what a key means behind it."""
    from omegaconf import OmegaConf

    for settings in all_settings:
        plain = {group: dict(getattr(settings, group)) for group in GROUPS}
        lines = OmegaConf.to_yaml(OmegaConf.create({**plain, **settings.root, **settings.budget})).splitlines()
        meanings = _meanings(settings)
        group, wide = "", min(_WIDEST, max(map(len, lines)))
        for line in lines:
            key = line.partition(":")[0].strip(" '")
            group = "" if not line.startswith((" ", "-")) else group
            meaning = meanings.get((group, key), "")
            print(f"{line:<{wide}}  # {meaning}" if meaning else line)
            group = key if key in GROUPS and not line.startswith(" ") else group
        print("---")
    return 0


def _meanings(settings: Settings) -> dict[tuple[str, str], str]:
    """(group, key) -> what it means, of every key and of what was chosen; keys at the top have the empty group."""
    found = {("", key): kind_of(field).help for key, field in fields_of(Root).items()}
    for group in GROUPS:
        name = getattr(settings, group)["name"]
        found |= {(group, key): kind_of(field).help for key, field in fields_in(group, name).items()}
        found[group, "name"] = catalogue.summaries(group).get(name, "")
    return found
