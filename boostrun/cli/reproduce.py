"""``boostrun reproduce | table PAPER/ITEM``, ``boostrun claims``, ``boostrun frontier``: tables and claims of papers.

``reproduce`` runs the missing trials of a table and writes it; ``table`` prints it from stored records, and ``claims``
the verdicts on the papers' claims. ``frontier dataset=NAME budget=KIND`` measures the best accuracy of each method
under each budget; ``frontier/NAME`` is a published frontier.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from boostrun.cli.arguments import BUDGETS, Arguments
from boostrun.cli.run import check_shared, print_end, table_name
from boostrun.config import catalogue
from boostrun.config.fields import PLACES
from boostrun.config.words import keys_and_values, words_of_places
from boostrun.errors import BoostrunError, DataMissingError, did_you_mean
from boostrun.report.entry import ACCURACY, metric_key, metric_word
from boostrun.report.layout import render_text, write
from boostrun.report.markup import NARROW, write_texts
from boostrun.report.table import build
from boostrun.runner import paper
from boostrun.runner.naming import word
from boostrun.runner.plan import compose_one, open_store, plan, roots

ROOM = "frontier/"  # before the name of a published frontier
_SHRUNK = ("at", "algo", "tuning", "trials", "T")  # keys for which --quick has its own values
_TUNING, _QUICK_TUNING, _QUICK_TRIALS, _MOST_SPLITS = 20, 5, 8, 100


def main(words: Arguments) -> int:
    """Run the cells whose data are present, and write table.md, .csv, .tex, .png and the packed records.

    A figure without trials is drawn, with its numbers if it has any.
    """
    name = item_name(words)
    if name.startswith(ROOM):
        return _reproduce_frontier(words)
    if drawing := paper.drawing(name, words.config_dir):
        return _draw(drawing, name, words)
    from boostrun.report.table import write_differences
    from boostrun.runner.execute import run_cells
    from boostrun.store import write_records
    from boostrun.store.code import publish

    item = paper.load(name, words.overrides, "quick" in words.flags, words.config_dir)
    check_shared(item.settings)
    again = (item.folder() / "table.md").is_file()
    result = run_cells(item.settings, command=["boostrun", *words.argv], skip_missing=True, again=again)
    entries = item.entries(result.cells)
    table = build(item.spec, entries)
    folder, root = item.folder(), item.settings[0].root
    if not result.interrupted:  # written before anything is printed: a closed pipe must not cost the table
        records = [record for cell in result.cells for record in cell.best_records]
        before = paper.published_words(folder)
        write(table, folder)
        if again and sorted(before) != sorted(paper.published_words(folder)):
            how = f"made with {shlex.join(before)}" if before else "of the whole item"
            print(f"boostrun: replaces the table {how}; results=DIR keeps both", file=sys.stderr)
        packed = write_records(folder, records, Path(root["results"]))
        publish(Path(root["results"]), Path(root["store"]), {record["inputs"]["source"] for record in records})
        if item.differences_to:
            write_differences(table, item.differences_to, folder)
        drawn, lines = item.draw(result.cells, entries, table, folder)
    print(render_text(table))
    if not result.interrupted:
        what = ".tex, .png, curves" if drawn else ".tex; there is nothing to draw"
        what += f" and {packed.name}" if packed and drawn else ""
        print("\n".join(["", *lines, f"written: {folder}/table.md, .csv, {what}"]))
    return print_end(result, words)


def item_name(words: Arguments) -> str:
    """The item that a verb names; BoostrunError if it names none."""
    if not words.names:
        example = next(iter(catalogue.options("paper")))
        raise BoostrunError(f"{words.verb} needs a paper's item, as in {example} (boostrun ls paper)")
    name = words.names[0]
    if name.startswith(ROOM) and words.verb not in ("reproduce", "table"):
        folder = f"results/frontiers/{name.removeprefix(ROOM)}"
        raise BoostrunError(f"{words.verb} takes papers' items; boostrun reproduce {name} makes {folder}/table.md")
    if words.verb in ("reproduce", "table") and catalogue.option("frontier", name, words.config_dir):
        raise BoostrunError(f"no paper item '{name}'; did you mean '{ROOM}{name}'? (boostrun ls frontier)")
    return name


def _draw(drawing: str, name: str, words: Arguments) -> int:
    """Draw an item without trials."""
    settings = compose_one(words.overrides, words.config_dir)
    folder = Path(words.output or Path(settings.root["results"]) / name)
    print(paper.draw(drawing, folder, roots(settings)[0]))
    return 0


def table(words: Arguments) -> int:
    """Print the table as it is published; with ``--strict`` the exit code is 1 if a cell is missing or incomplete.

    Typed settings replace those it was published with. With ``--draw`` its pictures are drawn into its folder below
    results/, or into the folder of ``-o``.
    """
    name = item_name(words)
    if words.output is not None and "draw" not in words.flags:
        raise BoostrunError("-o names the folder of pictures: add --draw")
    if name.startswith(ROOM):
        return _show_frontier(words)
    if "draw" in words.flags and (drawing := paper.drawing(name, words.config_dir)):
        return _draw(drawing, name, words)
    if "quick" in words.flags:
        item = paper.load(name, words.overrides, True, words.config_dir)
    else:
        results = compose_one(words_of_places(words.overrides), words.config_dir).root["results"]
        item, _ = paper.load_published(name, results, words.overrides, words.config_dir)
    cells = plan(item.settings, open_store(item.settings[0]))
    entries = item.entries(cells)
    made = build(item.spec, entries)
    print(render_text(made))
    if "draw" in words.flags:
        folder = Path(words.output or item.folder())
        drawn, lines = item.draw(cells, entries, made, folder)
        names = ", ".join(path.name for path in drawn)
        print("\n".join(["", *lines, f"written: {folder}/{names}" if drawn else "there is nothing to draw"]))
    if "strict" in words.flags and made.missing:
        print(f"boostrun: {len(made.missing)} cells are missing or incomplete", file=sys.stderr)
        return 1
    return 0


def claims(words: Arguments) -> int:
    """Print the claims of papers with their verdicts, or write them as Markdown; BoostrunError for other words."""
    from boostrun.report import verdicts as texts
    from boostrun.report.markup import write_bytes
    from boostrun.runner.claims import verdicts

    places = words_of_places(words.overrides)
    keys = {place.partition("=")[0] for place in places}
    if odd := [word for word in words.overrides if word.partition("=")[0] not in keys]:
        raise BoostrunError(f"claims are decided by their items as they are published: {odd[0]} cannot be given")
    print_only = "on_paper" in words.flags
    gc.disable()  # thousands of records stay in use: collecting garbage takes a sixth of the time
    try:
        found = verdicts(words.names, places, words.config_dir, print_only=print_only)
    finally:
        gc.enable()
    if words.output:
        titles = {name: one.title for name, one in catalogue.papers().items()}
        write_bytes(Path(words.output), texts.markdown(found, titles, print_only).encode("utf-8", "backslashreplace"))
        print(f"written: {words.output}")
    else:
        print(texts.terminal(found, print_only))
    if not print_only and not any(open_store(compose_one(places, words.config_dir)).known()):
        note = "boostrun: there are no records here, so nothing is decided: results=FOLDER names those of a checkout"
        print(f"{note}; --on-paper needs none", file=sys.stderr)
    return 0


# -- frontiers ---------------------------------------------------------------------------------------------------------


def frontier(words: Arguments) -> int:
    """Tune and run what is missing; write table.md, table.csv, figure.png, figure.svg and the records, and print."""
    if words.names:
        return _summary(words)
    from boostrun.report.frontier import text
    from boostrun.report.frontier_summary import with_rows, write_table
    from boostrun.runner.frontier import measure
    from boostrun.store import write_records

    request = _request(words)
    found = measure(request, command=["boostrun", *words.argv])
    if found.interrupted:
        return print_end(found, words)
    named = f"-{metric_word(request.metric)}" * (request.metric != ACCURACY)
    usual = f"{table_name(found.frontier.dataset)}{named}-{request.kind}{'-quick' if request.quick else ''}"
    name = table_name(words.name) or usual
    again = ["boostrun", "frontier", *_without(words, "settings"), *(["--quick"] if request.quick else []),
             *words.config_words, *([] if name == usual else ["--name", name])]  # fmt: skip
    results = Path(found.settings.root["results"])
    folder = results / "frontiers" / name
    about = (*found.frontier.about, f"again: {shlex.join(again)}")
    made = with_rows(dataclasses.replace(found.frontier, about=about), folder)
    _say_replaced(folder, shlex.join(again))
    written = [path.name for path in write_table(made, folder)]
    packed = write_records(folder, found.records, results)
    if found.searched:
        write_records(folder / "search", found.searched, results)
    # a refusal is not a failure of the command: the table gives the reason
    found.failed = [record for record in found.failed if record["error"]["type"] != BoostrunError.__name__]
    written += [path.name for path in _draw_frontier(folder, request.kind, folder)]
    print(text(made))
    print(f"written: {folder}/{', '.join(written + ([packed.name] if packed else []))}")
    return print_end(found, words)


def _say_replaced(folder: Path, again: str) -> None:
    """Name on stderr the command of another table that is in the folder."""
    with contextlib.suppress(OSError):
        lines = (folder / "table.md").read_text(encoding="utf-8").splitlines()
        before = next((line for line in lines if line.startswith("- again: ")), "").removeprefix("- again: ")
        if before not in ("", again):
            print(f"boostrun: replaces the table of {before}; --name NAME keeps both", file=sys.stderr)


def _draw_frontier(folder: Path, kind: str, into: Path) -> list[Path]:
    """Draw the figures of a stored frontier: by its budget, and by samples drawn if these are known."""
    from boostrun.report.figures import write_both
    from boostrun.report.frontier_summary import draw_by_draws, draw_frontier, read_frontier

    files = read_frontier(folder, kind)
    figures = {"figure": draw_frontier(files, kind), "drawn": draw_by_draws(files, kind)}
    for name in (name for name, figure in figures.items() if figure is None and into == folder):
        for ending in (".png", ".svg"):  # of another table
            (into / f"{name}{ending}").unlink(missing_ok=True)
    return [path for name, figure in figures.items() if figure is not None for path in write_both(figure, into / name)]


def _without(words: Arguments, *keys: str) -> list[str]:
    """The overrides except places, the number of workers and ``keys``."""
    return [each for each in words.overrides if each.partition("=")[0] not in (*PLACES, "n_jobs", *keys)]


def _request(words: Arguments):
    """The frontier that the words ask for: its own keys, and the other overrides."""
    from boostrun.runner.frontier import FrontierRequest

    quick = "quick" in words.flags
    given = dict(keys_and_values(words.overrides))
    if "dataset" not in given or "budget" not in given:
        raise BoostrunError("a frontier needs a data set and a budget, as in dataset=digits budget=samples_held")
    kind = _one("budget", given.pop("budget"))
    at = tuple(dict.fromkeys(_budget(value) for value in given.pop("at", ())))
    if kind not in ("seconds", "memory") and (part := next((each for each in at if not isinstance(each, int)), None)):
        raise BoostrunError(f"at={part}: whole numbers are needed for budget={kind}")
    metric = metric_key(_one("metric", given.pop("metric", ["accuracy"])))
    algos = tuple(dict.fromkeys(given.pop("algo", ())))
    tuning = _one("tuning", given.pop("tuning", [str(_QUICK_TUNING if quick else _TUNING)]))
    if not tuning.isdecimal():
        raise BoostrunError(f"tuning={tuning}: a whole number of trials is needed, 0 for no tuning")
    splits = _one("splits", given.pop("splits", ["1"]))
    if not splits.isdecimal() or not 1 <= int(splits) <= _MOST_SPLITS:
        raise BoostrunError(f"splits={splits}: a whole number from 1 to {_MOST_SPLITS} is needed")
    settings = _one("settings", given.pop("settings", [""]))
    if quick and int(splits) == 1:
        given.setdefault("trials", [str(_QUICK_TRIALS)])
    others = tuple(f"{key}={','.join(values)}" for key, values in given.items())
    return FrontierRequest(kind, at, algos, others, int(tuning), quick, words.config_dir, metric, int(splits), settings)


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
        markdown,
        text,
    )

    if words.names != ["summary"]:
        raise BoostrunError(f"cannot read '{words.names[0]}': frontier dataset=NAME budget=KIND, or frontier summary")
    given = dict(keys_and_values(words.overrides))
    kind, results = _one("budget", given.pop("budget", ["samples_held"])), given.pop("results", ["results"])
    at = tuple(map(_budget, given.pop("at", ())))
    if given:
        raise BoostrunError(f"a summary reads stored frontiers and does not take {', '.join(given)}")
    if kind not in BUDGETS:
        raise BoostrunError(f"no budget '{kind}'{did_you_mean(kind, BUDGETS)} ({', '.join(BUDGETS)})")
    folder = Path(_one("results", results)) / "frontiers"
    summary = FrontierSummary(kind, frontiers_of(folder, kind), at)
    into = folder / f"summary-{kind}"
    written = write_texts(into, {"table.md": markdown(summary)})
    for name, figure in (("figure", draw_differences(summary)), ("ranks", draw_ranks(summary))):
        written += write_both(figure, into / name) if figure is not None else []
    names = ", ".join(path.name for path in written)
    print(f"{text(summary)}\nwritten: {into}/{names}".replace(NARROW, " "))
    return 0


# -- published frontiers -----------------------------------------------------------------------------------------------


def names(config_dir: str | None = None) -> list[str]:
    """The names of published frontiers, as ``reproduce`` takes them."""
    return [f"{ROOM}{name}" for name in catalogue.options("frontier", config_dir)]


def _reproduce_frontier(words: Arguments) -> int:
    """Make the published frontier that ``reproduce frontier/NAME`` names, from the words in its file.

    Only places, the number of workers and ``settings`` may be typed with it. Raises BoostrunError for an unknown name,
    other keys, and a file that is not a frontier.
    """
    name = words.names[0].removeprefix(ROOM)
    known = catalogue.options("frontier", words.config_dir)
    if name not in known:
        raise BoostrunError(f"no frontier '{name}'{did_you_mean(name, known)} (boostrun ls frontier)")
    quick = "quick" in words.flags
    published = _words_of(known[name], _SHRUNK if quick else ())
    if more := _without(words, "settings"):
        raise BoostrunError(
            f"{words.names[0]} is made as published, without {more[0]}; for another one: boostrun frontier "
            f"{' '.join([*published, more[0]])}"
        )
    data = Path(published[0].partition("=")[2])
    if data.parent != Path() and not data.is_file():
        how = f"in a checkout `python scripts/small_tables.py {data.parts[0]}` writes it"
        raise DataMissingError(f"no file {data}, which {words.names[0]} reads; {how}")
    return frontier(Arguments(
        words.argv, "frontier", overrides=[*published, *words.overrides], flags=words.flags,
        config_dir=words.config_dir, name=f"{name}-quick" if quick else name,
    ))  # fmt: skip


def _words_of(path: Path, left_out: tuple[str, ...]) -> list[str]:
    """``key=value`` for each key of a frontier's file."""
    raw = catalogue.content_of(path)
    if not isinstance(raw, Mapping) or not {"dataset", "budget"} <= raw.keys():
        raise BoostrunError(f"{path} is not a frontier: it needs keys and values as they are typed, dataset and budget")
    typed = {key: ",".join(map(word, value)) if isinstance(value, list) else word(value) for key, value in raw.items()}
    return [f"{key}={value}" for key, value in typed.items() if key not in left_out]


def _show_frontier(words: Arguments) -> int:
    """Print the stored table of ``frontier/NAME``; with ``--draw`` draw its figure from that table."""
    from boostrun.report.frontier_summary import read_frontier

    name = words.names[0].removeprefix(ROOM)
    folder = Path(compose_one(words_of_places(words.overrides), words.config_dir).root["results"]) / "frontiers" / name
    if not (folder / "table.csv").is_file():
        raise BoostrunError(f"no frontier is stored in {folder} (boostrun reproduce {ROOM}{name} makes one)")
    print((folder / "table.md").read_text(encoding="utf-8"))
    if "draw" in words.flags:
        rows = read_frontier(folder, "").table
        kind = next((kind for kind in BUDGETS if rows and kind in rows[0]), "")
        drawn = _draw_frontier(folder, kind, Path(words.output or folder)) if kind else []
        print(f"written: {', '.join(map(str, drawn))}" if drawn else "there is nothing to draw")
    return 0
