"""``boostrun frontier dataset=NAME budget=KIND``: each method's best under each budget, ours and today's rivals."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boostrun.cli.arguments import BUDGETS, Arguments
from boostrun.cli.run import table_name, tell_end
from boostrun.config import catalogue
from boostrun.config.settings import PLACES
from boostrun.config.words import keys_and_values
from boostrun.errors import BoostrunError, DataMissingError, did_you_mean
from boostrun.report.formats import NARROW

ROOM = "frontier/"  # before a name, where papers' items have their paper
_SHRUNK = ("at", "algo", "tuning", "trials", "T")  # what --quick has values of its own for


def names(config_dir: str | None = None) -> list[str]:
    """As they are typed behind ``reproduce``."""
    return [f"{ROOM}{name}" for name in catalogue.options("frontier", config_dir)]


def command_of(words: Arguments) -> Arguments:
    """The command ``frontier ...`` that makes the frontier which ``reproduce frontier/NAME`` names.

    What it is made with stands in its file: only places and the number of workers may be typed beside it.
    Raises BoostrunError for a name or a key that is none of those, and for a file that says no frontier.
    """
    name = words.names[0].removeprefix(ROOM)
    known = catalogue.options("frontier", words.config_dir)
    if name not in known:
        raise BoostrunError(f"no frontier '{name}'{did_you_mean(name, known)} (boostrun ls frontier)")
    quick = "quick" in words.flags
    told = _words(known[name], _SHRUNK if quick else ())
    own = [word for word in words.overrides if word.partition("=")[0] not in (*PLACES, "n_jobs")]
    if own:
        said = f"{words.names[0]} is published as it is, without {own[0]}"
        raise BoostrunError(f"{said}; for another one: boostrun frontier {' '.join([*told, own[0]])}")
    _look_for(Path(told[0].partition("=")[2]), words.names[0])
    folder = f"{name}-quick" if quick else name
    return Arguments(
        words.argv, "frontier", overrides=[*told, *words.overrides], flags=words.flags, config_dir=words.config_dir,
        name=folder,
    )  # fmt: skip


def _look_for(data: Path, name: str) -> None:
    """Raise DataMissingError where what a frontier reads is a small table, a path, that nobody has written."""
    if data.parent != Path() and not data.is_file():
        how = f"in a checkout `python scripts/small_tables.py {data.parts[0]}` writes it"
        raise DataMissingError(f"no file {data}, which {name} reads; {how}")


def _words(path: Path, left_out: tuple[str, ...]) -> list[str]:
    """``key=value`` for each key of a file."""
    raw = _read(path)
    if not isinstance(raw, Mapping) or not {"dataset", "budget"} <= raw.keys():
        raise BoostrunError(f"{path} is no frontier: it needs keys and values as they are typed, dataset and budget")
    return [f"{key}={_typed(value)}" for key, value in raw.items() if key not in left_out]


def _typed(value: Any) -> str:
    from boostrun.runner.naming import word

    return ",".join(map(word, value)) if isinstance(value, list) else word(value)


def _read(path: Path) -> Any:
    import yaml

    from boostrun.files import read_yaml

    try:
        return read_yaml(path)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BoostrunError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None


_TUNING, _QUICK_TUNING, _QUICK_TRIALS = 20, 5, 8
_FILES = {".csv": "csv", ".csv.gz": "csv", ".parquet": "parquet", ".npz": "npz"}


def main(words: Arguments) -> int:
    """Tune and run what is missing; write table.md, table.csv, figure.png, figure.svg and the records, and print."""
    if words.names:
        return _summary(words)
    from boostrun.report.frontier import text, write_table
    from boostrun.report.frontier_summary import draw_frontier, read_frontier
    from boostrun.report.pictures import write_both
    from boostrun.runner.frontier import measure
    from boostrun.store.packs import write_records

    asked = _asked(words)
    found = measure(asked, command=["boostrun", *words.argv])
    if found.interrupted:
        return tell_end(found, words)
    usual = f"{table_name(found.frontier.dataset)}-{asked.kind}{'-quick' if asked.quick else ''}"
    name = table_name(words.name) or usual
    again = _again(words, "" if name == usual else name)
    frontier = dataclasses.replace(found.frontier, about=(*found.frontier.about, f"again: {again}"))
    results = Path(found.settings.root["results"])
    folder = results / "frontiers" / name
    written = [path.name for path in write_table(frontier, folder)]
    packed = write_records(folder, found.records, results)
    if found.searched:
        write_records(folder / "search", found.searched, results)
    refused = [record for record in found.failed if record["error"]["type"] == BoostrunError.__name__]
    found.failed = [record for record in found.failed if record not in refused]  # the table says why
    if (figure := draw_frontier(read_frontier(folder, asked.kind), asked.kind)) is not None:
        written += [path.name for path in write_both(figure, folder / "figure")]
    print(text(frontier))
    print(f"written: {folder}/{', '.join(written + ([packed.name] if packed else []))}")
    return tell_end(found, words)


def show(words: Arguments) -> int:
    """Print the stored table of ``frontier/NAME``; with ``--draw`` draw its figure from that table."""
    from boostrun.config.words import words_of_places
    from boostrun.report.frontier import KINDS
    from boostrun.report.frontier_summary import draw_frontier, read_frontier
    from boostrun.report.pictures import write_both
    from boostrun.runner.compose import compose_one

    name = words.names[0].removeprefix(ROOM)
    folder = Path(compose_one(words_of_places(words.overrides), words.config_dir).root["results"]) / "frontiers" / name
    if not (folder / "table.csv").is_file():
        raise BoostrunError(f"no frontier is stored in {folder} (boostrun reproduce {ROOM}{name} makes one)")
    print((folder / "table.md").read_text(encoding="utf-8"))
    if "draw" in words.flags:
        table = read_frontier(folder, "").table
        kind = next((kind for kind in KINDS if table and kind in table[0]), "")
        figure = draw_frontier(read_frontier(folder, kind), kind) if kind else None
        drawn = [] if figure is None else write_both(figure, Path(words.output or folder) / "figure")
        print(f"written: {', '.join(map(str, drawn))}" if drawn else "there is nothing to draw")
    return 0


def _again(words: Arguments, name: str) -> str:
    """The command, without what says where and by how many workers things are run."""
    told = [word for word in words.overrides if word.partition("=")[0] not in (*PLACES, "n_jobs")]
    quick = ["--quick"] if "quick" in words.flags else []
    mine = ["--config-dir", words.config_dir] if words.config_dir else []
    return shlex.join(["boostrun", "frontier", *told, *quick, *mine, *(["--name", name] if name else [])])


def _summary(words: Arguments) -> int:
    """Set the frontiers of a kind of budget that are there beside each other."""
    from boostrun.report.frontier_summary import (
        FrontierSummary,
        draw_differences,
        draw_ranks,
        frontiers_of,
        text,
        write_summary,
    )
    from boostrun.report.pictures import write_both

    if words.names != ["summary"]:
        raise BoostrunError(f"cannot read '{words.names[0]}': frontier dataset=NAME budget=KIND, or frontier summary")
    given = dict(keys_and_values(words.overrides))
    kind, results = _one("budget", given.pop("budget", ["samples_held"])), given.pop("results", ["results"])
    at = tuple(map(_budget, given.pop("at", ())))
    if given:
        raise BoostrunError(f"a summary reads what is there, and has no use for {', '.join(given)}")
    if kind not in BUDGETS:
        raise BoostrunError(f"no budget '{kind}'{did_you_mean(kind, BUDGETS)} ({', '.join(BUDGETS)})")
    folder = Path(_one("results", results)) / "frontiers"
    summary = FrontierSummary(kind, frontiers_of(folder, kind), at)
    written = [write_summary(folder / f"summary-{kind}", summary)]
    for name, figure in (("figure", draw_differences(summary)), ("ranks", draw_ranks(summary))):
        written += write_both(figure, folder / f"summary-{kind}" / name) if figure is not None else []
    print(
        f"{text(summary)}\nwritten: {written[0].parent}/{', '.join(path.name for path in written)}".replace(NARROW, " ")
    )
    return 0


def _asked(words: Arguments):
    """What the words ask for, those of the frontier itself taken out of the others."""
    from boostrun.runner.frontier import FrontierRequest

    quick = "quick" in words.flags
    given = {key: values for key, values in keys_and_values(words.overrides)}
    if "dataset" not in given or "budget" not in given:
        raise BoostrunError("a frontier needs a data set and a budget, as in dataset=digits budget=samples_held")
    kind = _one("budget", given.pop("budget"))
    at = tuple(_budget(value) for value in given.pop("at", ()))
    algos = tuple(dict.fromkeys(given.pop("algo", ())))
    tuning = _count(_one("tuning", given.pop("tuning", [str(_QUICK_TUNING if quick else _TUNING)])))
    if quick:
        given.setdefault("trials", [str(_QUICK_TRIALS)])
    if ending := next((one for one in _FILES if given["dataset"][0].strip("'\"").endswith(one)), None):
        given["dataset.path"] = [_one("dataset", given["dataset"])]
        given["dataset"] = [_FILES[ending]]
    others = tuple(f"{key}={','.join(values)}" for key, values in given.items())
    return FrontierRequest(kind, at, algos, others, tuning, quick, words.config_dir)


def _one(key: str, values: list[str]) -> str:
    if len(values) > 1:
        raise BoostrunError(f"{key}={','.join(values)}: one value is needed")
    return values[0]


def _budget(text: str) -> float:
    """A budget as a number above 0, a whole one where it is."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise BoostrunError(f"at={text}: numbers above 0 are needed, as in at=50,200,1000")
    return int(number) if number.is_integer() else number


def _count(text: str) -> int:
    if not text.isdecimal():
        raise BoostrunError(f"tuning={text}: a whole number of trials is needed, 0 to tune nothing")
    return int(text)
