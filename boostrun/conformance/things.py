"""The checks of a name: a class or object of the user, a paper, an item, or a choice of the catalogue."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from boostrun import config, extend, plugins
from boostrun.config import catalogue
from boostrun.config.fields import BUDGET_KEYS, Root
from boostrun.config.words import single_values
from boostrun.conformance import (
    Check,
    Nearest,
    Section,
    Skipped,
    Subject,
    can,
    files_of,
    followed,
    method,
    small_budget,
    stream_learner,
    table,
)
from boostrun.conformance import data as of_data
from boostrun.conformance import paper as part
from boostrun.data.options import draw_roots, read_roots
from boostrun.digest import reached
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.methods.declaration import obtain
from boostrun.methods.paper import Paper
from boostrun.suggestions import meant_item

_ONE = {"strategies": "strategy", "policies": "policy", "weak_learners": "weak_learner"}
_MOST_PLACES = 3  # where code cannot be followed, in one line
_NEEDED = (
    "a method has fit and predict, or test_then_train and predict; a data set read; a feature family "
    "__call__(images); a strategy __call__(batch, r, rng); a policy choose(board); a weak learner find(samples, "
    "signed_weights); an evaluation warm_up and run; a paper is a boostrun.methods.paper.Paper"
)


def sections(word: str, config_dir: str | None, overrides: Sequence[str]) -> list[Section]:
    """The checks of ``word``: module:Class, module:PAPER, a paper, PAPER/ITEM, or the name of a choice.

    ``overrides`` are keys of the subject, and short budget keys of a method. Raises BoostrunError with one sentence for
    an unknown name or key.
    """
    if config_dir is not None:
        catalogue.read_own_papers(Path(config_dir))
    if ":" not in word:
        return _of_name(word, config_dir, overrides)
    catalogue.refuse_left_out(word)
    folder = str(Path(config_dir or ".").resolve())
    extend.allow(word, folder)
    thing = extend.named(word)
    if isinstance(thing, Paper):
        return _of_paper(_paper_named(word, folder), config_dir, overrides)
    kind = kind_of(thing, word)
    if kind in ("algo", "dataset", "features"):
        extend.register(kind, word, word)
        return [of_choice(kind, word, overrides)]
    if kind == "evaluation":
        _refuse(overrides, word, "an evaluation has no keys")
        return [_of_evaluation(word)]
    return [of_part(kind, word, word, overrides)]


def kind_of(thing: Any, where: str) -> str:
    """The group of the catalogue to which a class, function or object belongs, or "evaluation".

    Raises BoostrunError if it is none.
    """
    learns = can(thing, "fit") or can(thing, "test_then_train")
    if (learns and can(thing, "predict")) or can(thing, "learn_one", "predict_one"):
        return "algo"
    if can(thing, "warm_up", "run"):
        return "evaluation"
    if room := part.room_of(thing):
        return room
    if not callable(thing):
        raise BoostrunError(f"{where} is neither a class nor a function but of type {type(thing).__name__}")
    if inspect.isclass(thing):
        if can(thing, "read") or can(thing, "draw"):
            return "dataset"
        if of_data.is_family(thing):
            return "features"
        raise BoostrunError(f"{where} is none of ours: {_NEEDED}")
    return "features" if of_data.is_family(thing) else "dataset"


def _of_name(word: str, config_dir: str | None, overrides: Sequence[str]) -> list[Section]:
    """A paper that is installed, one of its items, or a choice of the catalogue."""
    papers = [name for name in catalogue.papers() if name]
    if word in papers:
        return _of_paper(word, config_dir, overrides)
    if word in (items := catalogue.options("paper", config_dir)):
        return [_of_item(word, config_dir, overrides)]
    for group in catalogue.GROUPS:
        if word in catalogue.names(group):
            return [of_choice(group, word, overrides)]
    for room in part.ROOMS:
        if word in catalogue.parts(room):
            return [of_part(room, word, catalogue.parts(room)[word], overrides)]
    catalogue.refuse_left_out(word)
    if "/" in word:
        raise BoostrunError(f"no paper item '{word}'{meant_item(word, items)} (boostrun ls paper)")
    known = [*papers, *(name for group in catalogue.GROUPS for name in catalogue.names(group))]
    raise BoostrunError(
        f"'{word}' names no class (module:Class, as in my_algo:MyBooster, is needed), no paper ({', '.join(papers)}), "
        "and "
        f"nothing that a paper brings{did_you_mean(word, known)}{catalogue.missing(word)}"
    )


def _paper_named(where: str, folder: str) -> str:
    """The name of a paper in the catalogue; adds the paper unless it is installed."""
    for point in plugins.entry_points("boostrun.papers"):
        if point.value == where:
            return str(point.name)
    name = where.partition(":")[0].partition(".")[0]
    catalogue.add_own_papers({name: where}, folder)
    catalogue.papers()
    return name


def _of_paper(name: str, config_dir: str | None, overrides: Sequence[str]) -> list[Section]:
    """One section for the paper, and one for each thing it declares."""
    _refuse(overrides, name, "a paper is checked with the defaults of its things")
    paper, where = catalogue.papers()[name], _where_of(name)
    found = [Section(f"{name}, a paper", part.declaration_checks(name, where), files_of(where))]
    for group, room in catalogue.GROUPS.items():
        found += [_or_told(each, lambda g=group, e=each: of_choice(g, e, ()))  # type: ignore[misc]
                  for each in getattr(paper, room)]  # fmt: skip
    for room in part.ROOMS:
        found += [_or_told(each, lambda r=room, e=each, t=target: of_part(r, e, t, ()))  # type: ignore[misc]
                  for each, target in getattr(paper, room).items()]  # fmt: skip
    items = [each for each in catalogue.options("paper", config_dir) if each.startswith(f"{name}/")]
    return [*found, *(_of_item(each, config_dir, ()) for each in items)]


def _where_of(name: str) -> str:
    """module:OBJECT of a paper."""
    beside = {each: where for each, where, _ in catalogue.own_papers()}
    return beside[name] if name in beside else next(
        point.value for point in plugins.entry_points("boostrun.papers") if point.name == name
    )  # fmt: skip


def _or_told(name: str, make: Callable[[], Section]) -> Section:
    """A section, or one whose single check fails (is skipped if a key must be given) because it cannot be made."""
    try:
        return make()
    except Exception as error:
        given = isinstance(error, BoostrunError) and "must be given" in str(error)
        reason: Exception = Skipped(str(error)) if given else error

        def tell() -> None:
            raise reason

        return Section(name, [Check("it is there, and can be made with its defaults", tell)])


def of_choice(group: str, name: str, overrides: Sequence[str]) -> Section:
    """A method, a data set or features of the catalogue, with keys from the command line."""
    section = _of_choice(group, name, overrides)
    if group == "algo":
        declared = catalogue.methods()[name]
        roots = [declared.target, declared.evaluation, *(each.target for each in declared.parts.values())]
    elif catalogue.own_class(group, name):
        roots = [catalogue.own_class(group, name)]
    elif group == "features":
        roots = [catalogue.pipeline({"name": name}).target]
    else:
        chosen = {"name": name}
        roots = [*read_roots(chosen), *draw_roots(chosen)]
    return section._replace(checks=[*section.checks, *_computed_names(roots)])


def _computed_names(roots: Sequence[str]) -> list[Check]:
    """A check that reports code of a plug-in that a digest cannot follow; empty if it can follow all."""
    own = [root for root in roots if not root.startswith("boostrun.")]
    found = reached(own).unresolved if own else ()
    if not (places := [place for place in found if not place.startswith("boostrun.")]):
        return []

    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""

    def tell() -> None:
        raise Skipped(f"{'; '.join(places[:_MOST_PLACES])}{more}: an edit anywhere there makes records stale")

    return [Check("its code can be followed by name", tell)]


def _of_choice(group: str, name: str, overrides: Sequence[str]) -> Section:
    given = {word.removeprefix(f"{group}."): value for word, value in single_values(overrides).items()}
    budgets = {key: given.pop(key) for key in BUDGET_KEYS if group == "algo" and key in given}
    checked = config.check_group(group, {"name": name, **given})
    if group == "algo":
        return _of_method(name, checked, budgets)
    if catalogue.own_class(group, name):
        checked = {"name": name, "class": catalogue.own_class(group, name), **checked}
    if group == "features":
        own = files_of(checked.get("class") or catalogue.pipeline(checked).target)
        kind = "a feature family" if "class" in checked else "features"
        return Section(f"{name}, {kind}", of_data.family_checks(checked), own)
    declared = catalogue.dataset(checked)
    own = files_of(checked.get("class") or f"{declared.loader}:")
    data_root = Path(os.environ.get("BOOSTRUN_DATA") or "datasets").resolve()
    if declared.gives == "stream":
        return Section(f"{name}, a stream", of_data.drifting_checks(checked, data_root), own)
    if declared.gives == "chunks":
        return Section(f"{name}, a data set in chunks", [Check("it is checked when it is opened", _larger)])
    return Section(f"{name}, a data set", of_data.dataset_checks(checked, data_root), own)


def _larger() -> None:
    raise Skipped("its files may be larger than memory")


def _of_method(name: str, checked: dict[str, Any], budgets: dict[str, Any]) -> Section:
    declared = catalogue.methods()[name]
    root = config.check_keys(Root, budgets)
    config.check_budget(checked, root)
    budget = small_budget(declared, {key: root[key] for key in budgets if root[key] is not None})
    subject = Subject(name, {key: value for key, value in checked.items() if key != "name"}, budget)
    checks: list[Check] = []
    data: dict[str, Any] = {}
    if not subject.follows:
        checks += method.method_checks(subject)
        data["a table"] = subject.table
    if "stream" in declared.inputs:
        along = subject.along_streams()
        checks += [
            check
            for check in stream_learner.stream_learner_checks(along)
            if check.name not in {each.name for each in checks}
        ]
        data |= {
            "a stream with hold-outs": followed(True, budget.get("n", 20)),
            "a stream without": followed(False, budget.get("n", 20)),
        }
    small = lambda: declared.make_small(subject.values, budget)  # noqa: E731
    checks += method.evaluation_checks(declared.evaluation, subject.make, small, data)
    kind = "a method that follows streams" if subject.follows else "an algorithm"
    return Section(f"{name}, {kind}", checks, subject.own)


def of_part(room: str, name: str, where: str, overrides: Sequence[str]) -> Section:
    """A strategy, policy or weak learner ``module:Class`` with keys from the command line.

    Raises BoostrunError for an unknown key.
    """
    given = single_values(overrides)
    thing = obtain(where)
    checked = config.check_keys(extend.of_part(thing, where), given, _ONE[room], name)
    made = {key: _as_before(thing, key, value) for key, value in checked.items()}
    checks = [*part.part_checks(room, where, made), *_computed_names([where])]
    return Section(f"{name}, {part.ROOMS[room]}", checks, files_of(where))


def _as_before(thing: Any, key: str, value: Any) -> Any:
    """A list from the command line as a tuple if the parameter's default is one."""
    default = inspect.signature(thing).parameters[key].default
    return tuple(value) if isinstance(default, tuple) and isinstance(value, list) else value


def _of_evaluation(where: str) -> Section:
    with_method = [name for name, one in catalogue.methods().items() if one.evaluation == where]
    if with_method:
        checks = of_choice("algo", with_method[0], ()).checks
        measured = [check for check in checks if check.name.startswith(("on a ", "it has check"))]
        return Section(f"{where}, an evaluation", measured, files_of(where))
    data = {"a table": table("codes"), "a stream with hold-outs": followed(True, 20),
            "a stream without": followed(False, 20)}  # fmt: skip
    makes: tuple[Callable, Callable] = (Nearest, Nearest)
    usable = {name: each for name, each in data.items() if method.takes(where, makes[0], each)} or data
    return Section(f"{where}, an evaluation", method.evaluation_checks(where, *makes, usable), files_of(where))


def _of_item(name: str, config_dir: str | None, overrides: Sequence[str]) -> Section:
    return Section(f"{name}, a paper's item", part.item_checks(name, config_dir, overrides))


def _refuse(overrides: Sequence[str], name: str, why: str) -> None:
    if overrides:
        raise BoostrunError(f"{name} takes no {overrides[0].partition('=')[0]}: {why}")
