"""``boostrun doctor``, ``data``, ``check`` and ``ls``: this installation, a data set, your own work, all names.

``boostrun ls algo | dataset | features | paper | frontier ... | runs`` prints names to choose from, one line each.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun.cli.arguments import Arguments
from boostrun.cli.reproduce import ROOM
from boostrun.config import MISSING, catalogue, defaults
from boostrun.config.words import quoted, single_values, words_of_places
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.runner.plan import compose_one, roots

PACKAGES = (
    "boostrun", "numpy", "scipy", "numba", "scikit-learn", "hydra-core", "omegaconf", "joblib", "pandas",
    "scikit-image", "PyWavelets", "matplotlib", "filelock", "torch", "torchvision", "river", "lightgbm",
)  # fmt: skip
_WIDTH = 8  # of a status
_CLASSES = 10  # that are named
GROUPS = ("algo", "dataset", "features", "paper", "frontier", *catalogue.PARTS, "run")
RUNS = "runs"
_KEY = 8  # letters of a record's key


def main(words: Arguments) -> int:
    """Print versions, threads, cores, data found, compiler cache and folders; 1 if a folder is not writable."""
    settings = compose_one(words.overrides, words.config_dir)
    data_root, cache_root = roots(settings)
    _section("versions", [f"python {sys.version.split()[0]}", *map(_version, PACKAGES)])
    _section("cores and threads", _threads())
    _section(f"data in {data_root}", _data(words))
    _section("compiler cache", [_compiler_cache()])
    folders = {"store": settings.root["store"], "results": settings.root["results"], "banks": cache_root}
    states = [f"{name}: {_writable(Path(path))}" for name, path in folders.items()]
    _section("folders", states)
    if broken := _broken(words):
        _section("installed and left out", broken)
    return 1 if any("not writable" in state for state in states) else 0


def _section(title: str, lines: Iterable[str]) -> None:
    print(f"{title}:")
    for line in lines:
        print(f"  {line}")


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} is not installed"


def _threads() -> list[str]:
    from boostrun.store.provenance import usable_cores

    variables = [f"{key}={value}" for key, value in sorted(os.environ.items()) if key.endswith("_NUM_THREADS")]
    use = "a trial runs on one thread; ShareBoost's and its rivals' also on cores that no other trial has"
    return [f"{usable_cores()} usable cores; {use}", *variables]


def _data(words: Arguments) -> list[str]:
    from boostrun import data

    lines = []
    for name in catalogue.summaries("dataset", words.config_dir):
        if name not in catalogue.names("dataset") or MISSING in defaults("dataset", name).values() or name == "openml":
            lines.append(f"{name}: yours to name")
            continue
        try:
            settings = compose_one([*naming(name), *words.overrides], words.config_dir)
            data.checksum(settings.dataset, roots(settings)[0])
            lines.append(f"{name}: found")
        except (Exception, SystemExit) as error:  # a loader may be a plug-in's
            lines.append(f"{name}: not found; {catalogue.describe_error(error)}")
    return lines


def _compiler_cache() -> str:
    """The folder of compiled kernels, and their number."""
    from boostrun.kernel_cache import last_resort
    from boostrun.kernels import stumps

    path = Path(stumps.add_scores._cache.cache_path)  # type: ignore[attr-defined]
    entries = len(list(path.glob("*.nbi"))) if path.is_dir() else 0
    if not path.is_relative_to(last_resort()):
        return f"{path}: {entries} kernels; {_writable(path)}"
    why = "the folders of the code and of the user's cache cannot be written (NUMBA_CACHE_DIR chooses another)"
    return f"{path}: {entries} kernels; {why}" if last_resort().is_dir() else f"none, every process compiles; {why}"


def _writable(path: Path) -> str:
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            return f"{path} is writable" if place == path else f"{path} will be made"
    except OSError as error:
        return f"{path} is not writable ({error.strerror})"


def _broken(words: Arguments) -> list[str]:
    """Entry points of installed packages that cannot be read, including every claim and item of their papers."""
    from boostrun.runner import claims, paper

    for name in filter(catalogue.is_guest, catalogue.papers()):
        with catalogue.leaving_out(name, requested=False):
            if catalogue.papers()[name].claims is not None:
                claims.claims_of([name], words.config_dir)
            for item in catalogue.options("paper", words.config_dir):
                if item.startswith(f"{name}/"):
                    paper.faults(item, words.config_dir)
    for group in catalogue.GROUPS:
        catalogue.summaries(group, words.config_dir)
    return [str(one) for one in catalogue.left_out()]


def data(words: Arguments) -> int:
    """Fetch a data set if it is missing and can be fetched, verify it, and describe it in one line."""
    from boostrun import data
    from boostrun.extend import loader

    given = single_values(words.overrides).get("dataset")
    name = words.names[0] if words.names else given
    if words.names and given is not None:
        raise BoostrunError(f"data takes one data set or file, not {name} and {given}")
    if name is None:
        known = ", ".join(catalogue.summaries("dataset", words.config_dir))
        raise BoostrunError(f"data needs the name of a data set ({known}), or a file")
    settings = compose_one([*naming(str(name)), *words.overrides], words.config_dir)
    root, _ = roots(settings)
    chosen = loader.config_for(settings.dataset, root)
    print(data.fetch(chosen, root))
    if settings.dataset.get("path") and catalogue.dataset(settings.dataset).gives == "table":
        print(_described(data.load(chosen, root)))
    return 0


def _described(found: Any) -> str:
    """A line about samples, features and classes."""
    import numpy as np

    counts = np.bincount(np.concatenate([found.y_train, found.y_test]), minlength=len(found.classes))
    few = ", ".join(f"{name} {count}" for name, count in list(zip(found.classes, counts.tolist()))[:_CLASSES])
    more = f" and {len(counts) - _CLASSES} more" if len(counts) > _CLASSES else ""
    d = int(np.prod(found.x_train.shape[1:]))
    return f"{counts.sum()} samples, {len(found.y_test)} of them for tests; {d} features; classes: {few}{more}"


def naming(name: str) -> list[str]:
    """The overrides that choose a data set, with an algorithm that can learn from it.

    >>> naming("digits")
    ['dataset=digits']
    """
    reader = name if name in catalogue.datasets() else next(iter(catalogue.readers(name).values()), "")
    declared = catalogue.datasets().get(reader)
    able = (each for each, method in catalogue.methods().items() if declared and declared.gives in method.inputs)
    fitting = next(able, None)
    return [f"dataset={quoted(name)}", *([f"algo={fitting}"] if fitting else [])]


def check(words: Arguments) -> int:
    """Print one line per conformance check, with its details below if it fails; 1 if a check fails.

    The name is module:Class (or a function, an object, a whole paper: module:PAPER), the name of an installed paper or
    of one of its items, or any choice of the catalogue. A module is looked up in ``--config-dir``, else in the current
    folder, and where Python finds its modules. Keys are those of the class or function, and budget symbols of a method.
    """
    from boostrun.conformance import outcomes, things

    if words.target is not None:
        from boostrun.cli.export import check_on_chip

        return check_on_chip(words)
    if not words.names:
        raise BoostrunError(
            "check needs the name of a class, function or paper, as in check my_algo:MyBooster or check my_paper:PAPER"
        )
    if words.config_dir is not None and not Path(words.config_dir).is_dir():
        raise BoostrunError(f"--config-dir {words.config_dir}: there is no such folder")
    count = failed = 0
    found = things.sections(words.names[0], words.config_dir, words.overrides)
    for number, section in enumerate(found):
        print(f"{chr(10) if number else ''}{section.title}", flush=True)
        for outcome in outcomes(section.checks, section.own):
            print(f"{outcome.status:<{_WIDTH}} {outcome.name}{f': {outcome.reason}' if outcome.reason else ''}")
            for detail in outcome.details:
                print(f"{'':<{_WIDTH}} - {detail}" if detail else "", flush=True)
            count, failed = count + 1, failed + (outcome.status == "FAILED")
    several = f" of {len(found)} things" if len(found) > 1 else ""
    print(f"{count} checks{several}, {failed} failed")
    return 1 if failed else 0


# -- boostrun ls -------------------------------------------------------------------------------------------------------


def ls(words: Arguments) -> int:
    """Print the choices of the groups that are named, or of all groups, one line each; for ``runs`` your runs.

    Methods are grouped by budget and paper. If groups are named, headings are printed on a terminal only, so that in a
    pipe the first column has the names and nothing else; otherwise each group is a line "GROUP:" and indented names.
    """
    if words.overrides:
        compose_one(words.overrides, words.config_dir)  # raises BoostrunError for an unknown key
    if words.names == [RUNS]:
        return _runs(words)
    for group in words.names or GROUPS:
        if group not in GROUPS:
            known = (*GROUPS, RUNS)
            raise BoostrunError(f"nothing to list under '{group}'{did_you_mean(group, known)} ({', '.join(known)})")
        found = catalogue.parts(group) if group in catalogue.PARTS else catalogue.summaries(group, words.config_dir)
        if group == "frontier":  # with the prefix that boostrun reproduce expects
            found = {f"{ROOM}{name}": line for name, line in found.items()}
        if not words.names:
            print(f"{group}:")
        wide = max(map(len, found), default=0)
        for heading, names in _by_budget(found) if group == "algo" else [("", list(found))]:
            if heading and words.names and sys.stdout.isatty():
                print(f"\n{heading}\n")
            for name in names:
                print(f"{'' if words.names else '  '}{name:<{wide}}  {found[name]}{_notes(group, name)}")
    return 0


def _by_budget(found: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """The names of methods in groups, each with its heading: a paper and its budget, rivals, and your own."""
    left = dict.fromkeys(found)
    papers = catalogue.papers()
    groups: dict[str, list[str]] = {}
    for paper in sorted(papers.values(), key=lambda paper: (paper.rivals, paper is papers[""])):
        for name, method in paper.methods.items():
            if name in left:
                kind = "for streams" if "stream" in method.inputs else "for tables"
                heading = " · ".join(filter(None, (paper.budget, paper.title, kind if paper.rivals else "")))
                groups.setdefault("level of chance" if paper is papers[""] else heading, []).append(name)
                del left[name]
    yield from groups.items()
    if left:
        yield "from YAML files and installed packages", list(left)


def _notes(group: str, name: str) -> str:
    """The budget keys and traits of a method, and the packages it needs."""
    if group != "algo" or name not in catalogue.methods():
        return ""
    method = catalogue.methods()[name]
    lists = [", ".join(words) for words in (method.budget, method.traits) if words]
    if method.needs:
        package, extra = method.needs
        if importlib.util.find_spec(package) is None:
            lists.append(f"not installed: pip install 'boostrun[{extra}]'")
    return "".join(f" [{words}]" for words in lists)


def _runs(words: Arguments) -> int:
    """Print a line for each cell of the store, newest first: a key, the time of its last trial, its mean, its label."""
    from pathlib import Path

    from boostrun.report.markup import align
    from boostrun.runner.naming import flat, last_time
    from boostrun.store import Store

    root = compose_one(words_of_places(words.overrides), words.config_dir).root["store"]
    cells: dict[str, list[Mapping[str, Any]]] = {}
    for record in Store(Path(root)).records():
        cells.setdefault(record["cell_key"], []).append(record)
    found = sorted(cells.values(), key=last_time, reverse=True)
    alike: dict[str, list[dict[str, Any]]] = {}
    for records in found:
        alike.setdefault(_label(records), []).append(flat(records[0]["cell"]))
    for line in align([_run(records, alike[_label(records)]) for records in found]):
        print(line)
    if not found:
        print(f"nothing is stored in {root} yet")
    return 0


def _label(records: Sequence[Mapping[str, Any]]) -> str:
    from boostrun.store.cell import Cell

    return Cell.from_config(records[0]["cell"]).label


def _run(records: Sequence[Mapping[str, Any]], alike: Sequence[Mapping[str, Any]]) -> list[str]:
    """The line of a cell; ``alike`` are the cells of the same label, which differ in keys that the line then shows."""
    from boostrun.report.markup import spread
    from boostrun.report.statistics import mean_std
    from boostrun.runner.naming import flat, last_time, word

    done = [record for record in records if record["status"] == "done"]
    failed = f" {len(records) - len(done)} failed" if len(done) < len(records) else ""
    figures = [record["metrics"]["test_accuracy_pct"] for record in done if "test_accuracy_pct" in record["metrics"]]
    more = [
        f"{key}={word(value)}" for key, value in flat(records[0]["cell"]).items()
        if any(other.get(key, value) != value for other in alike)
    ]  # fmt: skip
    label = " · ".join([_label(records), " ".join(more)] if more else [_label(records)])
    shown = spread(*mean_std(figures), " ") if figures else ""
    return [records[0]["key"][:_KEY], last_time(records)[:16].replace("T", " "), f"n={len(done)}{failed}", shown, label]
