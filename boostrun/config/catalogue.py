"""What there is: the core's own methods, data sets and features, and those of every paper that is installed.

Papers are found by the entry point ``boostrun.papers``, ours as anybody's; a ``papers.yaml`` in ``--config-dir``
names others (``name: module:OBJECT``). Nothing here decides a result, so no digest counts it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from boostrun import plugins
from boostrun.config import guests
from boostrun.config.guests import LeftOut
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.methods.declaration import Method, obtain
from boostrun.methods.paper import DataSet, Paper, Pipeline, SavedModel

GROUPS = {"algo": "methods", "dataset": "datasets", "features": "features"}
PARTS = ("strategies", "policies", "weak_learners", "checks", "objects")
_NAMES = (
    *GROUPS.values(),
    *PARTS,
    "models",
    "probabilities",
    "importances",
    "drawings",
    "pictures",
    "public",
    "streams",
)
_beside: dict[str, tuple[str, str]] = {}  # papers of a person's own folder: name -> (module:OBJECT, folder)
_being_read: list[str] = []  # module:OBJECT of papers whose import has begun
_left_out: dict[tuple[str, str, str], LeftOut] = {}


@functools.cache
def papers() -> dict[str, Paper]:
    """Every paper, by name: the core's own things first, under the empty name.

    One that a package brings and that cannot be read, or brings a name that there is already, is left out, see
    :func:`left_out`. Raises BoostrunError for one of a person's own folder.
    """
    if not _being_read:
        _left_out.clear()
        for plugin in plugins.plugins():
            if plugin.error:
                leave_out(LeftOut("the package", plugin.name, "entry_points.txt", plugin.error))
    found = {"": _read("", "boostrun.core:CORE")}
    for name, where in _installed():
        if name in _beside or where in _being_read:  # it asks itself, as it is imported, what there is
            continue
        paper = None
        _being_read.append(where)
        try:
            paper = guests.read(where)
            if not _is_ours(where):
                guests.check(paper)
            if name in found:
                raise BoostrunError(f"a paper '{name}' is there already")
            _refuse_doubles({**found, name: paper})
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit() at its top, too
            leave_out(LeftOut("the paper", name, where, guests.said(error), guests.brought(paper)))
        else:
            found[name] = paper
        finally:
            _being_read.remove(where)
    for name, (where, _) in _beside.items():
        found[name] = _read(name, where)
    if _beside:
        _refuse_doubles(found)
    _all.cache_clear()  # of what was asked meanwhile
    return found


def _read(name: str, where: str) -> Paper:
    try:
        return guests.read(where)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise BoostrunError(f"the paper '{name}' ({where}) cannot be read: {guests.said(error)}") from error


def left_out() -> list[LeftOut]:
    """What is installed and cannot be read, as far as has been found out."""
    return list(_left_out.values())


def leave_out(one: LeftOut) -> None:
    """From now on this counts as left out."""
    _left_out.setdefault(one[:3], one)


def refuse_left_out(word: str) -> None:
    """Raise BoostrunError where ``word`` is a paper that is left out, its module:OBJECT, or one of its items."""
    papers()
    if broken := next((one for one in left_out() if word.partition("/")[0] in (one.name, one.where)), None):
        raise BoostrunError(str(broken))


def missing(word: str) -> str:
    """For a sentence that there is nothing called ``word``: what is left out and may bring it, as a clause.

    >>> missing("geem")
    ''
    """
    papers()
    return "".join(f"; {one}" for one in left_out() if one.may_bring(word))


def is_guest(name: str) -> bool:
    """Whether the paper ``name`` comes with a package that is not ours."""
    where = next((where for each, where in _installed() if each == name), "boostrun.")
    return name not in _beside and not _is_ours(where)


@contextlib.contextmanager
def sparing(name: str, asked: bool) -> Iterator[None]:
    """A block that uses files of the paper ``name``: where it fails, and the paper is somebody else's, it is left out;
    where a person has ``asked`` for it a BoostrunError says so.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        if not is_guest(name):
            raise
        broken = LeftOut("the paper", name, dict(_installed())[name], guests.said(error), frozenset())
        if asked:
            raise BoostrunError(str(broken)) from error
        leave_out(broken)


def read_beside(folder: Path) -> None:
    """Take the papers that ``papers.yaml`` of a person's own folder names, if there is one."""
    path = folder / "papers.yaml"
    if not path.is_file():
        return
    import yaml

    from boostrun.config import quick_yaml

    try:
        named = quick_yaml.load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BoostrunError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(named, dict) or not all(isinstance(v, str) and ":" in v for v in named.values()):
        raise BoostrunError(f"{path} must name papers as in 'mine: my_paper:PAPER'")
    take_beside(named, str(folder.resolve()))


def take_beside(named: Mapping[str, str], folder: str) -> None:
    """Take papers, name -> module:OBJECT, that lie in a folder."""
    if folder not in sys.path:
        sys.path.append(folder)  # last: no file of theirs hides a module that something else imports
    new = {name: (where, folder) for name, where in named.items()}
    if not new.items() <= _beside.items():
        _beside.update(new)
        papers.cache_clear()
        _all.cache_clear()


def beside() -> list[tuple[str, str, str]]:
    """(name, module:OBJECT, folder) of the papers of a person's own folder."""
    return [(name, where, folder) for name, (where, folder) in _beside.items()]


def declaring() -> frozenset[str]:
    """Dotted names of the modules that declare the papers."""
    beside = (where for where, _ in _beside.values())
    return frozenset(where.partition(":")[0] for where in (*(where for _, where in _installed()), *beside))


@functools.cache
def _installed() -> list[tuple[str, str]]:
    """(name, module:OBJECT) of the entry points, ours first; looked up once, which takes longer than a digest."""
    found = plugins.entry_points("boostrun.papers")
    return [*dict.fromkeys((point.name, point.value) for point in found)]


def _is_ours(where: str) -> bool:
    return where.startswith("boostrun.")


def methods() -> dict[str, Method]:
    """Every method, by the name that a person types."""
    return _all("methods")


def datasets() -> dict[str, DataSet]:
    """Every data set, by name."""
    return _all("datasets")


def pipelines() -> dict[str, Pipeline]:
    """Every feature pipeline, by name."""
    return _all("features")


def models() -> dict[str, SavedModel]:
    """Every kind of saved model that can be exported, by what its file says that it holds."""
    return _all("models")


def of_classes(room: str) -> dict[str, str]:
    """ "module:Class" -> "module:function" of what papers declare of their classifiers' "probabilities" or
    "importances".
    """
    return _all(room)


def method(algo: Mapping[str, Any]) -> Method:
    """The method of a cell's algo group."""
    return _chosen("algo", algo)


def dataset(chosen: Mapping[str, Any]) -> DataSet:
    """The data set of a cell's dataset group."""
    return _chosen("dataset", chosen)


def pipeline(features: Mapping[str, Any]) -> Pipeline:
    """The feature pipeline of a cell's features group."""
    return _chosen("features", features)


def _chosen(group: str, values: Mapping[str, Any]) -> Any:
    name, known = values.get("name"), _all(GROUPS[group])
    if name not in known:
        raise BoostrunError(
            f"no {group} '{name}'{did_you_mean(str(name), known)} (boostrun ls {group}){missing(str(name))}"
        )
    return known[name]


def names(group: str) -> list[str]:
    """The choices of a group."""
    return list(_all(GROUPS[group]))


def part(room: str, name: str) -> Any:
    """The class of a strategy, policy or weak learner; BoostrunError for a name that is none.

    >>> part("strategies", "gem")
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: there is no 'gem' among the strategies (...); did you mean 'geem'?
    """
    return obtain(part_target(room, name))


def parts(room: str) -> dict[str, str]:
    """Strategies, policies or weak learners by name, each with its ``module:Class``."""
    return dict(_all(room))


def part_target(room: str, name: str) -> str:
    """``module:Class`` of a strategy, policy or weak learner; BoostrunError for a name that is none."""
    known = _all(room)
    if name not in known:
        meant = f"{did_you_mean(name, known)}{missing(name)}"
        raise BoostrunError(f"there is no '{name}' among the {room} ({', '.join(known)}){meant}")
    return known[name]


def fields(group: str, name: str) -> dict[str, dataclasses.Field]:
    """The keys of a choice of a group, by name."""
    from boostrun.config.fields import fields_of

    found = _all(GROUPS[group])[name]
    return found.fields if isinstance(found, Method) else fields_of(found.keys)


def add(group: str, name: str, declared: Method | DataSet | Pipeline) -> None:
    """Take a person's own choice, named in a YAML of his, beside the others."""
    _all(GROUPS[group])[name] = declared


def forget() -> None:
    """Take everything that came from a person's own folder out again."""
    _beside.clear()
    papers.cache_clear()
    _all.cache_clear()


@functools.cache
def _all(room: str) -> dict[str, Any]:
    found = {}
    for paper_name, paper in papers().items():
        for name, declared in getattr(paper, room).items():
            own = room == "methods" and not declared.paper
            found[name] = dataclasses.replace(declared, paper=paper_name) if own else declared
    return found


def _refuse_doubles(found: Mapping[str, Paper]) -> None:
    for room in _NAMES:
        owner: dict[str, str] = {}
        for name, paper in found.items():
            for what in getattr(paper, room):
                if what in owner:
                    first, second = owner[what] or "boostrun", name or "boostrun"
                    raise BoostrunError(f"both {first} and {second} bring a '{what}' among the {room}: rename one")
                owner[what] = name


def public() -> Iterator[tuple[str, str]]:
    """(name, module) of what papers give to ``from boostrun import``."""
    for paper in papers().values():
        yield from paper.public.items()
