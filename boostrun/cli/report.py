"""``boostrun report [own | PAPER | PAPER/ITEM ...] [-o report.html]``: one HTML page of stored results."""

from __future__ import annotations

import csv
import io
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from boostrun import __version__
from boostrun.cli.arguments import Arguments
from boostrun.cli.run import table_name
from boostrun.config import catalogue
from boostrun.config.settings import PLACES
from boostrun.config.words import words_of_places
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.files import is_device
from boostrun.report import TableSpec, build
from boostrun.report.formats import lower_is_better
from boostrun.report.markup import write_bytes
from boostrun.report.own_table import without_copies
from boostrun.report.page import OWN, PageSection, Records, render
from boostrun.report.page.records import Picture, section
from boostrun.runner import paper
from boostrun.runner.claims import verdicts
from boostrun.runner.naming import cell_words, own_runs
from boostrun.runner.plan import PlannedCell, compose_one, indexes, open_store, plan, roots
from boostrun.store.store import Store

_OURS = ("table.png", "curve_", "tradeoff.png", "families.png")  # figures that the page draws itself
_OF_CLASSES = "reliability*.png", "classes*.png", "confusion*.png"  # drawn from the predictions of a run with a name


def main(words: Arguments) -> int:
    """Write the page and print its size; BoostrunError if an item does not exist or the file cannot be written."""
    output = Path(words.output or "report.html")
    if output.is_dir():
        raise BoostrunError(f"-o {output}: a folder; name a file")
    names = _chosen(words)
    places = words_of_places(words.overrides)
    settings = compose_one(places, words.config_dir)
    drawn = [folder.with_name("drawn") for folder in indexes(roots(settings)[1])]
    stored, records = _Stored(words, open_store(settings), Path(settings.root["results"]), drawn), Records()
    own = stored.own(records) if OWN in words.names or not words.names else []
    sections = list(own)
    for name in names:
        with catalogue.leaving_out(name.partition("/")[0], requested=bool(words.names)):
            sections.append(stored.section(name, records))
    claims = verdicts((), places, words.config_dir, names) if names else {}
    page = render(sections, records, __version__, claims=claims)
    content = page.encode("utf-8", "backslashreplace")  # a path may contain other bytes than UTF-8
    write_bytes(output, content)
    papers = sections[len(own) :]
    with_trials = sum(section.trials > 0 for section in papers)
    stream = sys.stderr if is_device(output) else sys.stdout  # the page may go to /dev/stdout
    if own:
        print(f"own: {sum(section.trials for section in own)} trials in {len(own)} runs", file=stream)
    print(f"{len(papers)} items, {with_trials} with trials, {len(records)} records", file=stream)
    print(f"written: {output} ({len(content) / 1e6:.1f} MB)", file=stream)
    return 0


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
            raise BoostrunError(f"no paper item '{name}'{did_you_mean(name, [*known, *papers])} (boostrun ls paper)")
        chosen |= dict.fromkeys(found)
    return list(chosen)


@dataclass(frozen=True)
class _Stored:
    """The sources of the sections of one page."""

    words: Arguments
    store: Store
    results: Path
    drawn: Sequence[Path]

    def own(self, records: Records) -> list[PageSection]:
        """A section for each of the user's own runs, newest first; their records are added to ``records``."""
        found = []
        for number, run in enumerate(own_runs(self.store), 1):
            entries = run.entries()
            names = {}
            for entry in entries:
                for record in entry.records:
                    records.put(record, cell_words(record["cell"]))
                names[entry.row, entry.setting, tuple(entry.column)] = (entry.row, entry.column[0])
            spec = TableSpec(title=run.name, paper="", table="", metric=run.metric,
                             higher_is_better=not lower_is_better(run.metric), columns=("data", "cell"))  # fmt: skip
            when = run.last[:16].replace("T", " ")
            pictures = self._of_classes(run.name)
            table = without_copies(build(spec, entries))
            found.append(section(f"{OWN}/{number}", run.command, table, entries, entries, [run.metric],
                                 names, records, when=when, pictures=pictures, drawn=self.drawn))  # fmt: skip
        return found

    def _of_classes(self, name: str) -> list[Picture]:
        """The pictures that were drawn from the predictions of the run with this name."""
        try:
            return _pictures(self.results / "tables" / table_name(name), _OF_CLASSES)
        except BoostrunError:  # not a name of a table: the run had none
            return []

    def section(self, name: str, records: Records) -> PageSection:
        """The section of an item; its records are added to ``records``."""
        words = self.words
        if paper.drawing(name, words.config_dir):
            return self._drawn(name)
        item, overrides = self._item(name)
        cells = plan(item.settings, self.store)
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
            extras=item.extras(entries, table), pictures=_pictures(item.folder()), differences_to=item.differences_to,
            drawn=self.drawn,
        )  # fmt: skip

    def _item(self, name: str) -> tuple[paper.Item, Sequence[str]]:
        words = self.words
        if "quick" in words.flags:
            return paper.load(name, words.overrides, True, words.config_dir), words.overrides
        return paper.load_published(name, self.results, words.overrides, words.config_dir)

    def _drawn(self, name: str) -> PageSection:
        """The section of an item without trials, with what was drawn of it."""
        title = catalogue.first_comment(catalogue.options("paper", self.words.config_dir)[name])
        folder = self.results / name
        plain = []
        if (folder / "table.csv").is_file():
            plain = list(csv.reader(io.StringIO((folder / "table.csv").read_text(encoding="utf-8"))))
        pictures = _pictures(folder)
        missing = "" if plain or pictures else f"not drawn yet: boostrun table {name} --draw"
        return PageSection(name, title, f"boostrun reproduce {name}", missing, plain=plain, pictures=pictures)


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


def _pictures(folder: Path, wanted: Sequence[str] = ("*.png",)) -> list[Picture]:
    """The pictures of a folder, except those of its table and curves."""
    paths = [path for pattern in wanted for path in sorted(folder.glob(pattern))]
    found = [path for path in paths if not path.name.startswith(_OURS)]
    return [Picture(path.stem.replace("_", " "), _light(path.read_bytes())) for path in found]


def _light(content: bytes) -> bytes:
    """A PNG with 256 colours, enough for a drawing, which has a third of the size."""
    from PIL import Image

    made = io.BytesIO()
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
    except (OSError, ValueError):  # not a picture
        return content
    return min(content, made.getvalue(), key=len)
