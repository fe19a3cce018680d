"""``boostrun report [own | PAPER | PAPER/ITEM ...] [-o report.html]``: an HTML page of stored results."""

from __future__ import annotations

import contextlib
import csv
import functools
import gc
import io
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import joblib

from boostrun import __version__
from boostrun.cli.arguments import Arguments, parse
from boostrun.cli.run import compose_words, split_metrics, table_name
from boostrun.config import catalogue
from boostrun.config.fields import PLACES, Settings
from boostrun.config.words import words_of_places
from boostrun.errors import BoostrunError
from boostrun.files import is_device
from boostrun.report.entry import absent_lines, cell_label, majority_lines, stopped_lines, without_curves
from boostrun.report.markup import metric_name, write_bytes
from boostrun.report.own_table import without_copies
from boostrun.report.page import OWN, PageSection, Records, count_of, files_of, render
from boostrun.report.page.beside import Picture, tidy
from boostrun.report.page.records import section
from boostrun.report.table import TableSpec, build
from boostrun.runner import paper, pool
from boostrun.runner.claims import Planned, verdicts
from boostrun.runner.naming import OwnRun, cell_words, own_runs
from boostrun.runner.plan import PlannedCell, compose_all, compose_one, open_store, plan
from boostrun.store import Store
from boostrun.suggestions import meant_item

_OURS = ("table.png", "curve_", "tradeoff.png", "families.png")  # figures that the page draws itself
_ITEMS_A_WORKER = 4  # fewer are not worth the start of a process
_OF_CLASSES = "reliability*.png", "classes*.png", "confusion*.png"  # drawn from the predictions of a run with a name


def main(words: Arguments) -> int:
    """Write the page, then the files beside it; BoostrunError if an item does not exist or they cannot be written."""
    output = Path(words.output or "report.html")
    if output.is_dir():
        raise BoostrunError(f"-o {output}: a folder; name a file")
    folder = None if is_device(output) else output.with_name(f"{output.stem}_files")
    names = _chosen(words)
    places = words_of_places(words.overrides)
    jobs = [word for word in words.overrides if word.startswith("n_jobs=")]
    settings = compose_one(words.overrides if words.names == [OWN] else [*places, *jobs], words.config_dir)
    stored = _Stored(words, open_store(settings), Path(settings.root["results"]))
    own = stored.own() if OWN in words.names or not words.names else []
    papers, planned = stored.sections(names)
    found = {section.paper for section in papers if section.trials or section.plain}
    about = [name for name in names if paper.paper_of(name) in found]
    as_published = {word.partition("=")[0] for word in words.overrides} <= {*PLACES, "n_jobs"} and not words.flags
    claims = verdicts((), places, words.config_dir, about, planned if as_published else None) if about else {}
    shown = found if not words.names else {section.paper for section in papers}
    sections = [*own, *(section for section in papers if section.paper in shown)]
    without = list(dict.fromkeys(section.paper for section in papers if section.paper not in shown))
    page = render(sections, __version__, claims=claims, folder=folder.name if folder else "", without=without)
    content = page.encode("utf-8", "backslashreplace")  # a path may contain other bytes than UTF-8
    write_bytes(output, content)
    stream = sys.stdout if folder else sys.stderr  # the page may go to /dev/stdout
    if own:
        print(f"own: {count_of(own)} trials in {len(own)} runs", file=stream)
    with_trials = sum(section.trials > 0 for section in papers)
    print(f"{len(papers)} items, {with_trials} with trials, {count_of(sections)} records", file=stream)
    print(f"written: {output} ({_size(len(content))})", file=stream, flush=True)
    if folder:
        files = files_of(sections)
        items = [one.name for one in sections if one.paper != OWN and not _there(folder, files_of([one]))]
        del own, papers, planned, sections  # so that the records of each file are freed once it is written
        _write_beside(words, folder, files, items, settings.root["n_jobs"])
    return 0


def _there(folder: Path, files: Iterable[str]) -> bool:
    return all((folder / name).is_file() for name in files)


def _write_beside(
    words: Arguments, folder: Path, files: dict[str, Callable[[], bytes]], items: Sequence[str], n_jobs: int
) -> None:
    """Write the files that a folder beside a page lacks, and print how many there are and where.

    Several processes write those of ``items``, which they read from the store themselves, if there are enough. A
    function leaves ``files`` before it is called, so that its records can be freed.
    """
    names = list(files)
    if lacking := sum(not _there(folder, [name]) for name in names):
        print(f"writing {lacking} files beside it; it can be opened meanwhile", flush=True)
    workers = min(pool.workers(n_jobs), len(items) // _ITEMS_A_WORKER)
    if workers > 1:
        here = os.getcwd()
        tasks = (joblib.delayed(_write_item)(here, tuple(words.argv), folder, name) for name in items)
        try:
            with pool.closing(pool.parallel("loky", workers)(tasks)) as done:
                for _ in done:
                    pass
        except pool.TerminatedWorkerError as error:
            raise BoostrunError("a process that drew charts died; n_jobs=1 draws them in this process") from error
    gc.collect()  # Jinja's cycles hold the sections
    gc.freeze()  # figures are cycles too: those of each file are collected without a look at older objects
    for name in names:
        content = files.pop(name)
        if not _there(folder, [name]):
            write_bytes(folder / name, content())
            gc.collect()
    gc.unfreeze()
    if names:
        tidy(folder, names)
        size = sum((folder / name).stat().st_size for name in names)
        print(f"written: {folder} ({len(names)} files, {_size(size)}): charts and trials")


def _write_item(here: str, argv: tuple[str, ...], folder: Path, name: str) -> None:
    """Write the files of an item beside a page, in a process that works for a command started ``here``."""
    os.chdir(here)
    sections, _ = _stored_for(here, argv).sections([name])
    for file, content in files_of(sections).items():
        if not _there(folder, [file]):
            write_bytes(folder / file, content())


@functools.cache
def _stored_for(here: str, argv: tuple[str, ...]) -> _Stored:
    """The sources of the sections of a command's page, once for each process and the folder of the command."""
    words = parse(argv)
    if words.config_dir is not None:
        catalogue.read_own_papers(Path(words.config_dir))
    settings = compose_one(words_of_places(words.overrides), words.config_dir)
    return _Stored(words, open_store(settings), Path(settings.root["results"]))


def _size(number: int) -> str:
    return f"{number / 1e6:.1f} MB"


def _chosen(words: Arguments) -> list[str]:
    """The named items; a paper's name means all its items. All items by default. Own runs are not an item."""
    known = list(catalogue.options("paper", words.config_dir))
    if not words.names:
        return known
    chosen: dict[str, None] = {}
    for name in words.names:
        if name == OWN:
            continue
        found = [item for item in known if item == name or item.startswith(f"{name}/")]
        if not found:
            papers = dict.fromkeys(item.partition("/")[0] for item in known)
            catalogue.refuse_left_out(name)
            raise BoostrunError(f"no paper item '{name}'{meant_item(name, [*known, *papers])} (boostrun ls paper)")
        chosen |= dict.fromkeys(found)
    return list(chosen)


@dataclass(frozen=True)
class _Stored:
    """The sources of the sections of one page."""

    words: Arguments
    store: Store
    results: Path

    def own(self) -> list[PageSection]:
        """A section for each of the user's own runs, newest first."""
        return [self._own(f"{OWN}/{number}", run) for number, run in enumerate(own_runs(self.store), 1)]

    def _own(self, name: str, run: OwnRun) -> PageSection:
        cells, metrics = self._asked(run)
        stale = {record["key"]: why for cell in cells for record, why in cell.stale.values()}
        curves, records = run.entries(cells), Records()
        for record in (record for entry in curves for record in entry.records):
            records.put(record, cell_words(record["cell"]), stale.get(record["key"], ""))
        entries = [
            replace(entry, column=(*entry.column, metric_name(metric)), metric=metric)
            for entry in curves for metric in metrics
        ]  # fmt: skip
        names = {(entry.row, entry.setting, entry.column): (entry.row, entry.column[0]) for entry in entries}
        labels = [cell_label(entry.row, entry.column) for entry in curves]
        notes = [*stopped_lines(curves, labels), *majority_lines(curves, labels)]
        notes += absent_lines(curves, labels, metrics)
        notes += filter(None, [without_curves(curves, metrics)])
        spec = TableSpec(run.name, "", "", metrics[0], True, ("data", "cell", "metric"), tuple(notes))
        table = without_copies(build(spec, entries))
        missing = build(replace(spec, columns=("data", "cell")), curves).missing
        return section(
            name, run.command, table, entries, curves, metrics, names, records, when=run.last[:16].replace("T", " "),
            pictures=self._of_classes(name, run.name), missing=[f"{label}: {why}" for label, why in missing],
        )  # fmt: skip

    def _asked(self, run: OwnRun) -> tuple[list[PlannedCell], list[str]]:
        """The cells that a run asked for, none if its command cannot be composed any more; and the metrics it shows."""
        cells, metrics = list[PlannedCell](), list[str]()
        with contextlib.suppress(BoostrunError):
            settings, metrics, every = composed(run.command)
            known = {record["cell_key"] for record in run.records}
            cells = [one for one in plan(settings, self.store, data=False) if every or one.cell.key in known]
        measured = {name for cell in cells for record in cell.best_records for name in record["metrics"]}
        return cells, [name for name in metrics if name in measured] or [run.metric]

    def _of_classes(self, name: str, run: str) -> list[Picture]:
        """The pictures that were drawn from the predictions of a run."""
        try:
            return _pictures(name, self.results / "tables" / table_name(run), _OF_CLASSES)
        except BoostrunError:  # not a name of a table: the run had none
            return []

    def sections(self, names: Sequence[str]) -> tuple[list[PageSection], dict[str, Planned]]:
        """The sections of items, and the items with their cells."""
        found: dict[str, PageSection] = {}
        loaded: dict[str, tuple[paper.Item, Sequence[str]]] = {}
        for name in names:
            with self._sparing(paper.paper_of(name)):
                if paper.drawing(name, self.words.config_dir):
                    found[name] = self._drawn(name)
                else:
                    loaded[name] = self._item(name)
        items = {name: item for name, (item, _) in loaded.items()}
        planned = {name: (items[name], cells)
                   for name, cells in paper.plan_items(items, self.store, self._sparing).items()}  # fmt: skip
        for name, (item, cells) in planned.items():
            with self._sparing(paper.paper_of(name)):
                found[name] = self._section(name, item, loaded[name][1], cells)
        return [found[name] for name in names if name in found], planned

    def _sparing(self, of: str) -> contextlib.AbstractContextManager:
        return catalogue.leaving_out(of, requested=bool(self.words.names))

    def _section(
        self, name: str, item: paper.Item, overrides: Sequence[str], cells: Sequence[PlannedCell]
    ) -> PageSection:
        records = Records()
        for cell in cells:
            command = cell_words(cell.cell.config())
            for record in cell.best_records:
                _, changed = cell.stale.get(record["seed"], (record, ""))
                records.put(record, command, changed)
        entries = item.entries(cells)
        table = build(item.spec, entries)
        kept = [word for word in overrides if word.partition("=")[0] not in PLACES]
        command = shlex.join(["boostrun", "reproduce", name, *kept, *(["--quick"] if item.spec.quick else [])])
        return section(
            name, command, table, entries, item.curves(cells), item.metrics, _names(item, cells), records,
            extras=item.extras(entries, table), pictures=_pictures(name, item.folder()),
            differences_to=item.differences_to,
        )  # fmt: skip

    def _item(self, name: str) -> tuple[paper.Item, Sequence[str]]:
        words = self.words
        if "quick" in words.flags:
            return paper.load(name, words.overrides, True, words.config_dir), words.overrides
        return paper.load_published(name, self.results, words.overrides, words.config_dir)

    def _drawn(self, name: str) -> PageSection:
        """The section of an item without trials, with its figures."""
        title = catalogue.first_comment(catalogue.options("paper", self.words.config_dir)[name])
        folder = self.results / name
        plain = []
        if (folder / "table.csv").is_file():
            plain = list(csv.reader(io.StringIO((folder / "table.csv").read_text(encoding="utf-8"))))
        pictures = _pictures(name, folder)
        missing = "" if plain or pictures else f"not drawn yet: boostrun table {name} --draw"
        return PageSection(name, title, f"boostrun reproduce {name}", missing, plain=plain, pictures=pictures)


def composed(command: str) -> tuple[list[Settings], list[str], bool]:
    """The settings and metrics of a run's command, and whether the run has all of its cells.

    There are none for a search. BoostrunError if the command does not fit. A record may come from another machine: a
    command that looks something up is not composed.
    """
    program, *argv = shlex.split(command) or [""]
    if "${" in command or program not in ("boostrun", "boostrun.run"):
        return [], [], True
    if program == "boostrun.run":
        return compose_all(argv), [], True
    words = parse(argv)
    if words.verb == "reproduce":
        return paper.load(words.names[0], words.overrides, "quick" in words.flags, words.config_dir).settings, [], False
    if words.verb != "run":
        return [], [], True
    overrides, metrics = split_metrics(words.overrides)
    return compose_words(words, overrides)[1], metrics, True


def _names(item: paper.Item, cells: Sequence[PlannedCell]) -> dict[tuple, tuple[str, str]]:
    """(algorithm, data set) of each place of the table; for a quoted row the names in the paper's figures."""
    names = {}
    for place, cell in zip(item.cells, cells):
        found = (str(cell.cell.algo["name"]), str(cell.cell.dataset["name"]))
        for entry in replace(item, cells=[place], quoted={}, relative={}).entries([cell]):
            names[entry.row, entry.setting, tuple(entry.column)] = found
    for entry in replace(item, cells=[]).entries([]):
        where = {key: str(value) for key, value in entry.where.items()}
        names[entry.row, entry.setting, tuple(entry.column)] = (where.get("method", ""), where.get("dataset", ""))
    return names


def _pictures(name: str, folder: Path, wanted: Sequence[str] = ("*.png",)) -> list[Picture]:
    """The pictures of a folder for the section ``name``, except those of its table and curves."""
    paths = [path for pattern in wanted for path in sorted(folder.glob(pattern))]
    found = [path for path in paths if not path.name.startswith(_OURS)]
    return [Picture(name, path.stem.replace("_", " "), path.read_bytes()) for path in found]
