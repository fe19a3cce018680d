"""``boostrun frontier dataset=NAME budget=KIND``: the best accuracy of each method under each budget."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from pathlib import Path

from boostrun.cli.arguments import BUDGETS, Arguments
from boostrun.cli.run import print_end, table_name
from boostrun.config import catalogue
from boostrun.config.fields import PLACES
from boostrun.config.words import keys_and_values, words_of_places
from boostrun.errors import BoostrunError, DataMissingError, did_you_mean
from boostrun.report.entry import ACCURACY, metric_key, metric_word
from boostrun.report.markup import NARROW
from boostrun.runner.naming import word
from boostrun.runner.plan import compose_one

ROOM = "frontier/"  # before the name of a published frontier
_SHRUNK = ("at", "algo", "tuning", "trials", "T")  # keys for which --quick has its own values
_TUNING, _QUICK_TUNING, _QUICK_TRIALS = 20, 5, 8


def main(words: Arguments) -> int:
    """Tune and run what is missing; write table.md, table.csv, figure.png, figure.svg and the records, and print."""
    if words.names:
        return _summary(words)
    from boostrun.report.figures import write_both
    from boostrun.report.frontier import text, write_table
    from boostrun.report.frontier_summary import draw_frontier, read_frontier
    from boostrun.runner.frontier import measure
    from boostrun.store import write_records

    request = _request(words)
    found = measure(request, command=["boostrun", *words.argv])
    if found.interrupted:
        return print_end(found, words)
    named = f"-{metric_word(request.metric)}" * (request.metric != ACCURACY)
    usual = f"{table_name(found.frontier.dataset)}{named}-{request.kind}{'-quick' if request.quick else ''}"
    name = table_name(words.name) or usual
    again = ["boostrun", "frontier", *_without_places(words), *(["--quick"] if request.quick else []),
             *words.config_words, *([] if name == usual else ["--name", name])]  # fmt: skip
    frontier = dataclasses.replace(found.frontier, about=(*found.frontier.about, f"again: {shlex.join(again)}"))
    results = Path(found.settings.root["results"])
    folder = results / "frontiers" / name
    written = [path.name for path in write_table(frontier, folder)]
    packed = write_records(folder, found.records, results)
    if found.searched:
        write_records(folder / "search", found.searched, results)
    # a refusal is not a failure of the command: the table gives the reason
    found.failed = [record for record in found.failed if record["error"]["type"] != BoostrunError.__name__]
    if (figure := draw_frontier(read_frontier(folder, request.kind), request.kind)) is not None:
        written += [path.name for path in write_both(figure, folder / "figure")]
    print(text(frontier))
    print(f"written: {folder}/{', '.join(written + ([packed.name] if packed else []))}")
    return print_end(found, words)


def _without_places(words: Arguments) -> list[str]:
    """The overrides except places and the number of workers."""
    return [each for each in words.overrides if each.partition("=")[0] not in (*PLACES, "n_jobs")]


def _request(words: Arguments):
    """The frontier that the words ask for: its own keys, and the other overrides."""
    from boostrun.runner.frontier import FrontierRequest

    quick = "quick" in words.flags
    given = dict(keys_and_values(words.overrides))
    if "dataset" not in given or "budget" not in given:
        raise BoostrunError("a frontier needs a data set and a budget, as in dataset=digits budget=samples_held")
    kind = _one("budget", given.pop("budget"))
    at = tuple(_budget(value) for value in given.pop("at", ()))
    metric = metric_key(_one("metric", given.pop("metric", ["accuracy"])))
    algos = tuple(dict.fromkeys(given.pop("algo", ())))
    tuning = _one("tuning", given.pop("tuning", [str(_QUICK_TUNING if quick else _TUNING)]))
    if not tuning.isdecimal():
        raise BoostrunError(f"tuning={tuning}: a whole number of trials is needed, 0 for no tuning")
    if quick:
        given.setdefault("trials", [str(_QUICK_TRIALS)])
    others = tuple(f"{key}={','.join(values)}" for key, values in given.items())
    return FrontierRequest(kind, at, algos, others, int(tuning), quick, words.config_dir, metric)


def _one(key: str, values: list[str]) -> str:
    if len(values) > 1:
        raise BoostrunError(f"{key}={','.join(values)}: one value is needed")
    return values[0]


def _budget(text: str) -> float:
    """A number above 0, as int if it is whole."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise BoostrunError(f"at={text}: numbers above 0 are needed, as in at=50,200,1000")
    return int(number) if number.is_integer() else number


def _summary(words: Arguments) -> int:
    """Compare the stored frontiers of a kind of budget."""
    from boostrun.report.figures import write_both
    from boostrun.report.frontier_summary import (
        FrontierSummary,
        draw_differences,
        draw_ranks,
        frontiers_of,
        text,
        write_summary,
    )

    if words.names != ["summary"]:
        raise BoostrunError(f"cannot read '{words.names[0]}': frontier dataset=NAME budget=KIND, or frontier summary")
    given = dict(keys_and_values(words.overrides))
    kind, results = _one("budget", given.pop("budget", ["samples_held"])), given.pop("results", ["results"])
    at = tuple(map(_budget, given.pop("at", ())))
    if given:
        raise BoostrunError(f"a summary reads stored frontiers, and has no use for {', '.join(given)}")
    if kind not in BUDGETS:
        raise BoostrunError(f"no budget '{kind}'{did_you_mean(kind, BUDGETS)} ({', '.join(BUDGETS)})")
    folder = Path(_one("results", results)) / "frontiers"
    summary = FrontierSummary(kind, frontiers_of(folder, kind), at)
    written = [write_summary(folder / f"summary-{kind}", summary)]
    for name, figure in (("figure", draw_differences(summary)), ("ranks", draw_ranks(summary))):
        written += write_both(figure, folder / f"summary-{kind}" / name) if figure is not None else []
    names = ", ".join(path.name for path in written)
    print(f"{text(summary)}\nwritten: {written[0].parent}/{names}".replace(NARROW, " "))
    return 0


# -- published frontiers -----------------------------------------------------------------------------------------------


def names(config_dir: str | None = None) -> list[str]:
    """The names of published frontiers, as ``reproduce`` takes them."""
    return [f"{ROOM}{name}" for name in catalogue.options("frontier", config_dir)]


def reproduce(words: Arguments) -> int:
    """Make the published frontier that ``reproduce frontier/NAME`` names, from the words in its file.

    Only places and the number of workers may be typed with it. Raises BoostrunError for an unknown name, other keys,
    and a file that is not a frontier.
    """
    name = words.names[0].removeprefix(ROOM)
    known = catalogue.options("frontier", words.config_dir)
    if name not in known:
        raise BoostrunError(f"no frontier '{name}'{did_you_mean(name, known)} (boostrun ls frontier)")
    quick = "quick" in words.flags
    published = _words_of(known[name], _SHRUNK if quick else ())
    if more := _without_places(words):
        raise BoostrunError(
            f"{words.names[0]} is made as published, without {more[0]}; for another one: boostrun frontier "
            f"{' '.join([*published, more[0]])}"
        )
    data = Path(published[0].partition("=")[2])
    if data.parent != Path() and not data.is_file():
        how = f"in a checkout `python scripts/small_tables.py {data.parts[0]}` writes it"
        raise DataMissingError(f"no file {data}, which {words.names[0]} reads; {how}")
    return main(Arguments(
        words.argv, "frontier", overrides=[*published, *words.overrides], flags=words.flags,
        config_dir=words.config_dir, name=f"{name}-quick" if quick else name,
    ))  # fmt: skip


def _words_of(path: Path, left_out: tuple[str, ...]) -> list[str]:
    """``key=value`` for each key of a frontier's file."""
    import yaml

    from boostrun.files import read_yaml

    try:
        raw = read_yaml(path)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BoostrunError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    if not isinstance(raw, Mapping) or not {"dataset", "budget"} <= raw.keys():
        raise BoostrunError(f"{path} is not a frontier: it needs keys and values as they are typed, dataset and budget")
    typed = {key: ",".join(map(word, value)) if isinstance(value, list) else word(value) for key, value in raw.items()}
    return [f"{key}={value}" for key, value in typed.items() if key not in left_out]


def show(words: Arguments) -> int:
    """Print the stored table of ``frontier/NAME``; with ``--draw`` draw its figure from that table."""
    from boostrun.report.figures import write_both
    from boostrun.report.frontier_summary import draw_frontier, read_frontier

    name = words.names[0].removeprefix(ROOM)
    folder = Path(compose_one(words_of_places(words.overrides), words.config_dir).root["results"]) / "frontiers" / name
    if not (folder / "table.csv").is_file():
        raise BoostrunError(f"no frontier is stored in {folder} (boostrun reproduce {ROOM}{name} makes one)")
    print((folder / "table.md").read_text(encoding="utf-8"))
    if "draw" in words.flags:
        table = read_frontier(folder, "").table
        kind = next((kind for kind in BUDGETS if table and kind in table[0]), "")
        figure = draw_frontier(read_frontier(folder, kind), kind) if kind else None
        drawn = [] if figure is None else write_both(figure, Path(words.output or folder) / "figure")
        print(f"written: {', '.join(map(str, drawn))}" if drawn else "there is nothing to draw")
    return 0
