"""The catalogue: methods, data sets and features of the core and of every installed paper, and the YAML files.

Papers are found by the entry point ``boostrun.papers``, those of boostrun too. A file ``papers.yaml`` in
``--config-dir`` names further ones (``name: module:OBJECT``). A paper of another package is read with care: if it
cannot be read, it is left out, and commands that do not need it go on. Nothing here decides a result, so no digest
counts it.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, NamedTuple

from boostrun import plugins
from boostrun.config.fields import fields_of
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.files import read_yaml
from boostrun.methods.declaration import Method, obtain
from boostrun.methods.paper import DataSet, Paper, Pipeline, SavedModel

GROUPS = {"algo": "methods", "dataset": "datasets", "features": "features"}
_GROUP_OF = {room: group for group, room in GROUPS.items()}
ENTRY_POINTS = {"algo": "boostrun.algorithms", "dataset": "boostrun.datasets", "features": "boostrun.features"}
PARTS = ("strategies", "policies", "weak_learners", "checks", "objects")
_ROOMS = [field.name for field in dataclasses.fields(Paper) if str(field.type).startswith("Mapping")]
_own_papers: dict[str, tuple[str, str]] = {}  # papers of a user's own folder: name -> (module:OBJECT, folder)
_importing: list[str] = []  # module:OBJECT of papers that are being imported
_left_out: dict[tuple[str, str, str], LeftOut] = {}


class LeftOut(NamedTuple):
    """Something that is installed and cannot be read.

    ``what`` it is, its ``name``, ``where`` (module:OBJECT), ``why`` (the error), and the names that it would bring;
    None if these are unknown.
    """

    what: str
    name: str
    where: str
    why: str
    brings: frozenset[str] | None = None

    def __str__(self) -> str:
        """One sentence, without its full stop."""
        return f"{self.what} '{self.name}' ({self.where}) cannot be read and is left out: {self.why}"

    def may_bring(self, word: str) -> bool:
        """Whether it brings something of this name, as far as is known."""
        return self.brings is None or word in self.brings


@functools.cache
def papers() -> dict[str, Paper]:
    """Every paper by name, the core's own declarations first under the empty name.

    A paper of a package is left out if it cannot be read, or if it brings a name that is taken; see :func:`left_out`.
    A paper of a user's own folder raises BoostrunError instead.
    """
    if not _importing:
        _left_out.clear()
        for plugin in plugins.plugins():
            if plugin.error:
                leave_out(LeftOut("the package", plugin.name, "entry_points.txt", plugin.error))
    found = {"": _read_own("", "boostrun.core:CORE")}
    for name, where in _installed_papers():
        if name in _own_papers or where in _importing:  # a paper may ask for the catalogue while it is imported
            continue
        paper = None
        _importing.append(where)
        try:
            paper = _read(where)
            if not _is_boostruns(where):
                _check(paper)
            if name in found:
                raise BoostrunError(f"a paper '{name}' is there already")
            _refuse_shared_names({**found, name: paper})
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a module may call sys.exit()
            leave_out(LeftOut("the paper", name, where, describe_error(error), _names_in(paper)))
        else:
            found[name] = paper
        finally:
            _importing.remove(where)
    for name, (where, _) in _own_papers.items():
        found[name] = _read_own(name, where)
    if _own_papers:
        _refuse_shared_names(found)
    _all.cache_clear()  # filled while papers were imported
    return found


def _read(where: str) -> Paper:
    found = obtain(where)
    if not isinstance(found, Paper):
        raise BoostrunError(f"it is no boostrun.methods.paper.Paper but of type {type(found).__name__}")
    return found


def _read_own(name: str, where: str) -> Paper:
    try:
        return _read(where)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise BoostrunError(f"the paper '{name}' ({where}) cannot be read: {describe_error(error)}") from error


@functools.cache
def _installed_papers() -> list[tuple[str, str]]:
    """(name, module:OBJECT) of the entry points, those of boostrun first."""
    found = plugins.entry_points("boostrun.papers")
    return [*dict.fromkeys((point.name, point.value) for point in found)]


def _is_boostruns(where: str) -> bool:
    return where.startswith("boostrun.")


def _refuse_shared_names(found: Mapping[str, Paper]) -> None:
    for room in (room for room in _ROOMS if room != "frontier"):
        owner: dict[str, str] = {}
        for name, paper in found.items():
            for what in getattr(paper, room):
                if what in owner:
                    first, second = owner[what] or "boostrun", name or "boostrun"
                    raise BoostrunError(f"both {first} and {second} bring a '{what}' among the {room}: rename one")
                owner[what] = name


def describe_error(error: BaseException) -> str:
    """An error in one line: its type and its message; only the message for a BoostrunError."""
    try:
        text = " ".join(str(error).split())[:300]
    except Exception:  # a class of another package may fail to print
        text = ""
    if text and isinstance(error, BoostrunError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# The checks of a paper of another package: for faults that could end a command.

_ENTRIES: dict[str, type] = {
    "methods": Method, "datasets": DataSet, "features": Pipeline, "models": SavedModel, "frontier": Collection,
}  # fmt: skip
_TYPES: dict[str, Any] = {  # how an annotation begins -> the types of its values
    "str": str, "type": type, "Mapping": Mapping, "frozenset": Collection, "tuple": Collection,
    "Path": (Path, type(None)),
}  # fmt: skip


def _check(paper: Paper) -> None:
    """Raise what is wrong with a declaration or with the files that it names."""
    _check_types(paper, "it")
    for room, kind in _ENTRIES.items():
        for name, entry in getattr(paper, room).items():
            if not isinstance(name, str) or not isinstance(entry, kind):
                raise BoostrunError(f"{name!r} among its {room} is of type {type(entry).__name__}")
            if dataclasses.is_dataclass(kind):
                _check_types(entry, f"'{name}' among its {room}")
    for method in paper.methods.values():
        _ = method.fields, method.budget_defaults
    for keys in [entry.keys for room in (paper.datasets, paper.features) for entry in room.values()]:
        fields_of(keys)
    for path in sorted(paper.items.rglob("*.yaml")) if paper.items is not None else ():
        _check_yaml(path, Mapping, "keys")
    if paper.claims is not None:
        _check_yaml(paper.claims, list, "list")
    if paper.reference is not None:
        read_figures(paper.reference)


def _check_types(declared: Any, what: str) -> None:
    for field in dataclasses.fields(declared):
        value = getattr(declared, field.name)
        for begin, kind in _TYPES.items():
            wrong = isinstance(value, str) and begin in ("frozenset", "tuple")
            if str(field.type).startswith(begin) and (wrong or not isinstance(value, kind)):
                raise BoostrunError(f"{field.name} of {what} is of type {type(value).__name__}")


def _check_yaml(path: Path, kind: type, what: str) -> None:
    if not isinstance(content_of(path), kind):
        raise BoostrunError(f"{path} holds no {what}")


def content_of(path: Path) -> Any:
    """The content of a YAML file; BoostrunError if it cannot be read."""
    try:
        return read_yaml(path)
    except Exception as error:  # YAML raises a dozen types
        raise BoostrunError(f"{path} cannot be read: {describe_error(error)}") from None


def _names_in(paper: Paper | None) -> frozenset[str] | None:
    """All names that a paper brings, with the classes of its methods; None if it has not been read."""
    if paper is None:
        return None
    try:
        rooms = (getattr(paper, room) for room in _ROOMS)
        names = {name for room in rooms if isinstance(room, Mapping) for name in room}
        return frozenset(names | {method.target.partition(":")[2] for method in paper.methods.values()})
    except Exception:  # a declaration with wrong types
        return None


def read_figures(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file of reference figures, as text; OSError or ValueError if it cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = csv.DictReader(stream, restkey="", restval="")
            found, columns = list(lines), lines.fieldnames or ()
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if not columns:
        raise ValueError("there is no column in it")
    for wanted in ({"metric"}, {"table", "item"}, {"mean", "value"}):  # one of each
        if wanted.isdisjoint(columns):
            raise ValueError(f"it has no column {' or '.join(sorted(wanted))}")
    for number, line in enumerate(found, 2):
        if "" in line and "" not in columns:
            raise ValueError(f"row {number} has more fields than there are columns")
    return found


def left_out() -> list[LeftOut]:
    """The installed things that cannot be read, as far as is known."""
    return list(_left_out.values())


def leave_out(broken: LeftOut) -> None:
    """Count something as left out from now on."""
    _left_out.setdefault(broken[:3], broken)


def refuse_left_out(word: str) -> None:
    """Raise BoostrunError if ``word`` is the name of a paper that is left out, its module:OBJECT, or an item of it."""
    papers()
    if broken := next((one for one in left_out() if word.partition("/")[0] in (one.name, one.where)), None):
        raise BoostrunError(str(broken))


def missing(word: str) -> str:
    """A clause for the sentence that ``word`` is unknown: the things left out that may bring it.

    >>> missing("geem")
    ''
    """
    papers()
    return "".join(f"; {broken}" for broken in left_out() if broken.may_bring(word))


def is_guest(name: str) -> bool:
    """Whether the paper ``name`` comes with a package other than boostrun."""
    where = next((where for each, where in _installed_papers() if each == name), "boostrun.")
    return name not in _own_papers and not _is_boostruns(where)


@contextlib.contextmanager
def leaving_out(name: str, requested: bool) -> Iterator[None]:
    """Run a block that uses files of the paper ``name``, and leave the paper out if the block fails.

    A paper of boostrun or of a user's own folder is never left out: its error is raised. If the user ``requested`` the
    paper, BoostrunError names the fault.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        if not is_guest(name):
            raise
        broken = LeftOut("the paper", name, dict(_installed_papers())[name], describe_error(error), frozenset())
        if requested:
            raise BoostrunError(str(broken)) from error
        leave_out(broken)


# Papers and choices of a user's own.

_own: dict[tuple[str, str], tuple[Any, str]] = {}  # (group, name) -> declaration, module:Class named by a file


def read_own_papers(folder: Path) -> None:
    """Add the papers that ``papers.yaml`` in a user's own folder names, if there is such a file."""
    path = folder / "papers.yaml"
    if not path.is_file():
        return
    named = content_of(path)
    if not isinstance(named, dict) or not all(isinstance(v, str) and ":" in v for v in named.values()):
        raise BoostrunError(f"{path} must name papers as in 'mine: my_paper:PAPER'")
    add_own_papers(named, str(folder.resolve()))


def add_own_papers(named: Mapping[str, str], folder: str) -> None:
    """Add papers, name -> module:OBJECT, whose modules are in a folder."""
    if folder not in sys.path:
        sys.path.append(folder)  # last: no file there hides a module that something else imports
    new = {name: (where, folder) for name, where in named.items()}
    if not new.items() <= _own_papers.items():
        _own_papers.update(new)
        papers.cache_clear()
        _all.cache_clear()


def own_papers() -> list[tuple[str, str, str]]:
    """(name, module:OBJECT, folder) of the papers of a user's own folder."""
    return [(name, where, folder) for name, (where, folder) in _own_papers.items()]


def add(group: str, name: str, declared: Method | DataSet | Pipeline, where: str = "") -> None:
    """Add a user's own choice; ``where`` is the module:Class if a YAML file or an entry point names it."""
    _own[group, name] = declared, where
    _all(GROUPS[group])[name] = declared


def own_class(group: str, name: str) -> str:
    """The module:Class of a user's own choice that a YAML file or an entry point names; empty for any other choice."""
    return _own[group, name][1] if (group, name) in _own else ""


def forget() -> None:
    """Remove all that comes from a user's own folder."""
    _own_papers.clear()
    _own.clear()
    papers.cache_clear()
    _all.cache_clear()


# The declarations, by name.


@functools.cache
def _all(room: str) -> dict[str, Any]:
    found = {}
    for paper_name, paper in papers().items():
        for name, declared in getattr(paper, room).items():
            of_paper = room == "methods" and not declared.paper
            found[name] = dataclasses.replace(declared, paper=paper_name) if of_paper else declared
    for point in _entry_points(_GROUP_OF.get(room, "")):
        if point.name in found:
            _leave_out_taken(_GROUP_OF[room], point)
    return found | {name: declared for (group, name), (declared, _) in _own.items() if GROUPS[group] == room}


def methods() -> dict[str, Method]:
    """Every method, by the name that a user types."""
    return _all("methods")


def datasets() -> dict[str, DataSet]:
    """Every data set, by name."""
    return _all("datasets")


def pipelines() -> dict[str, Pipeline]:
    """Every feature pipeline, by name."""
    return _all("features")


def models() -> dict[str, SavedModel]:
    """Every kind of saved model that can be exported, by the kind that its file names."""
    return _all("models")


def readers(path: str) -> dict[str, str]:
    """The data sets that read a file or folder, by the kind of input that they give: table, chunks or stream.

    >>> readers("my/sales.CSV"), readers("sales.xyz")
    ({'table': 'csv', 'stream': 'file_stream'}, {})
    """
    name = path.lower() + ("/" if os.path.isdir(path) else "")
    found: dict[str, str] = {}
    for each, declared in datasets().items():
        if name.endswith(declared.endings):
            found.setdefault(declared.gives, each)
    return found


def method(algo: Mapping[str, Any]) -> Method:
    """The method of a cell's algo group."""
    return declaration("algo", str(algo.get("name")))


def dataset(chosen: Mapping[str, Any]) -> DataSet:
    """The data set of a cell's dataset group."""
    return declaration("dataset", str(chosen.get("name")))


def pipeline(features: Mapping[str, Any]) -> Pipeline:
    """The feature pipeline of a cell's features group."""
    return declaration("features", str(features.get("name")))


def declaration(group: str, name: str) -> Any:
    """The declaration of a choice of a group; BoostrunError for an unknown name."""
    known = _all(GROUPS[group])
    if name not in known:
        raise BoostrunError(f"no {group} '{name}'{did_you_mean(name, known)} (boostrun ls {group}){missing(name)}")
    return known[name]


def names(group: str) -> list[str]:
    """The choices of a group that are declared, and those of a user's own that have been added."""
    return list(_all(GROUPS[group]))


def is_declared(group: str, name: str) -> bool:
    """Whether a choice is declared by boostrun or a paper, so that no file and no entry point may take its name."""
    return group in GROUPS and name in _all(GROUPS[group]) and not own_class(group, name)


def fields(group: str, name: str) -> dict[str, dataclasses.Field]:
    """The keys of a choice of a group, by name."""
    found = _all(GROUPS[group])[name]
    return found.fields if isinstance(found, Method) else fields_of(found.keys)


def installed(group: str) -> dict[str, EntryPoint]:
    """The choices of a group that entry points of installed packages name, without importing them.

    One whose name is taken is left out, see :func:`left_out`.
    """
    found: dict[str, EntryPoint] = {}
    for point in _entry_points(group):
        if found.get(point.name, point).value != point.value:
            _leave_out_taken(group, point)
        elif not is_declared(group, point.name):
            found[point.name] = point
    return found


def _entry_points(group: str) -> list[EntryPoint]:
    return plugins.entry_points(ENTRY_POINTS[group]) if group in ENTRY_POINTS else []


def _leave_out_taken(group: str, point: EntryPoint) -> None:
    why = f"{group} '{point.name}' is there already"
    leave_out(LeftOut(f"the {ENTRY_POINTS[group]}", point.name, point.value, why))


def summaries(group: str, config_dir: str | None = None) -> dict[str, str]:
    """The choices of a group by name, each with a line about it: declared, in YAML files, named by entry points.

    >>> summaries("algo")["rand"]
    'keep samples uniformly at random (Lefakis & Fleuret 2013)'
    """
    declared = _all(GROUPS[group]) if group in GROUPS else {}
    found = {name: one.summary for name, one in declared.items() if (group, name) not in _own}
    found |= {name: first_comment(path) for name, path in options(group, config_dir).items()}
    for name, point in installed(group).items():
        package = f" ({point.dist.name})" if point.dist else ""
        found.setdefault(name, f"installed: {point.value}{package}")
    return found


def part(room: str, name: str) -> Any:
    """The class of a strategy, policy or weak learner; BoostrunError for an unknown name.

    >>> part("strategies", "gem")
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: there is no 'gem' among the strategies (...); did you mean 'geem'?
    """
    return obtain(part_target(room, name))


def parts(room: str) -> dict[str, str]:
    """The strategies, policies, weak learners or other parts of papers by name, each with its "module:Class"."""
    return dict(_all(room))


def part_target(room: str, name: str) -> str:
    """``module:Class`` of a strategy, policy or weak learner; BoostrunError for an unknown name."""
    known = _all(room)
    if name not in known:
        meant = f"{did_you_mean(name, known)}{missing(name)}"
        raise BoostrunError(f"there is no '{name}' among the {room} ({', '.join(known)}){meant}")
    return known[name]


def public() -> Iterator[tuple[str, str]]:
    """(name, module) of the names that papers add to ``from boostrun import``."""
    for paper in papers().values():
        yield from paper.public.items()


# The YAML files that a user may name: presets, items of papers, published frontiers.


def conf_dir() -> Path:
    """The folder of YAML files: in the installed package, or at the top of a checkout."""
    packaged = Path(__file__).parents[1] / "conf"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "conf"


def options(group: str, config_dir: str | None = None) -> dict[str, Path]:
    """The YAML files of a group by name; a file of a user's own folder wins over another of the same name.

    >>> "reservoir/table3" in options("paper")
    True
    """
    return {
        prefix + path.relative_to(folder).with_suffix("").as_posix(): path
        for prefix, folder in _folders(group, config_dir) for path in sorted(folder.rglob("*.yaml"))
    }  # fmt: skip


def option(group: str, name: str, config_dir: str | None = None) -> Path | None:
    """The file of one name of :func:`options`, without a look at the others; None if there is no such file."""
    files = [folder / f"{name.removeprefix(prefix)}.yaml" for prefix, folder in _folders(group, config_dir)
             if name.startswith(prefix) and not {"", ".", ".."} & {*name.removeprefix(prefix).split("/")}]  # fmt: skip
    with contextlib.suppress(OSError):  # a name that is too long
        return next((file for file in reversed(files) if file.is_file()), None)
    return None


def _folders(group: str, config_dir: str | None) -> Iterator[tuple[str, Path]]:
    """The prefix of names and the folder of a group's files, in order: a later file of the same name wins."""
    if group == "paper":
        yield from ((f"{name}/", paper.items) for name, paper in papers().items() if paper.items)
    yield from (("", Path(folder) / group) for folder in (conf_dir(), config_dir) if folder)


def first_comment(path: Path) -> str:
    """The comment in the first line of a file, without its sign; empty if that line is no comment."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ") if first.startswith("#") else ""
