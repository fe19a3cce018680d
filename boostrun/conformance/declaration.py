"""Checks of a paper's declaration: it costs nothing to read, and everything that it names is there."""

from __future__ import annotations

import csv
import importlib
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator

from boostrun.config import catalogue
from boostrun.config.fields import fields_of
from boostrun.conformance import Check, Failed, Skipped, said
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.methods.paper import Paper
from boostrun.report.claims import read
from boostrun.runner import claims

_HEAVY = ("numpy", "numba", "scipy", "sklearn", "pandas", "matplotlib")
_FIGURES = ({"metric"}, {"table", "item"}, {"mean", "value"})  # columns of reference figures: one of each


def declaration_checks(name: str, where: str) -> list[Check]:
    """All checks of the declaration of the paper ``name`` of the catalogue, which is ``module:OBJECT``."""
    paper = catalogue.papers()[name]
    return [
        Check("it is read without NumPy, numba or scikit-learn", lambda: _light(where)),
        Check("everything that it names is there", lambda: _each(_named(paper))),
        Check("a method's constructor has the defaults that are declared", lambda: _each(_defaults(paper))),
        Check("every method is made with its defaults", lambda: _each(_made(name))),
        Check("its reference figures can be read", lambda: _figures(paper)),
        Check("its claims name items, cells and tests that are there", lambda: _claims(name, paper)),
    ]


def _light(where: str) -> None:
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; from boostrun.methods.declaration import obtain; obtain({where!r}); "
        f"import json; print(json.dumps([name for name in {_HEAVY!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"it cannot be imported: {(done.stderr.strip().splitlines() or [''])[-1][:200]}")
    heavy = json.loads(done.stdout.splitlines()[-1])
    if heavy:
        raise Failed(f"to read it imports {', '.join(heavy)}: help, completion and planning would wait for it")


def _each(faults: Iterator[str]) -> None:
    found = list(faults)
    if found:
        raise Failed(found[0] if len(found) == 1 else f"{len(found)} faults", *found)


def _named(paper: Paper) -> Iterator[str]:
    for name, method in paper.methods.items():
        for where in (method.target, method.evaluation, *(part.target for part in method.parts.values())):
            yield from _fault(f"method {name}", obtain, where)
    for room in catalogue.PARTS:
        for name, where in getattr(paper, room).items():
            yield from _fault(f"{room} {name}", obtain if ":" in where else importlib.import_module, where)
    for kind, model in paper.models.items():
        for where in filter(None, (model.target, model.writer, model.onnx)):
            yield from _fault(f"saved model {kind}", obtain, where)
    for name, dataset in paper.datasets.items():
        yield from _fault(f"data set {name}", importlib.import_module, dataset.loader)
    for name, pipeline in paper.features.items():
        yield from _fault(f"features {name}", importlib.import_module, pipeline.module)
    for name, module in paper.public.items():
        yield from _fault(f"public {name}", obtain, f"{module}:{name}")


def _fault(what: str, function: Callable, *arguments) -> Iterator[str]:
    try:
        function(*arguments)
    except Exception as error:
        yield f"{what}: {' '.join(map(str, arguments))}: {said(error)}"


def _defaults(paper: Paper) -> Iterator[str]:
    for name, method in paper.methods.items():
        pairs = [(method.target, method.keys)] + [(part.target, part.keys) for part in method.parts.values()]
        for where, keys in pairs:
            has = {key: one.default for key, one in inspect.signature(obtain(where)).parameters.items()}
            for key, field in fields_of(keys).items():
                if key not in has:
                    yield f"{name}: {where} has no parameter {key}"
                elif has[key] != field.default and list(_plain(has[key])) != list(_plain(field.default)):
                    yield f"{name}: {key} is {has[key]!r} in {where}, and {field.default!r} in {keys.__name__}"


def _plain(value) -> tuple:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _made(name: str) -> Iterator[str]:
    from boostrun.conformance.subject import small_budget

    for each, method in catalogue.methods().items():
        if method.paper != name:
            continue
        values = {key: field.default for key, field in method.fields.items()}
        if "???" in values.values():
            continue  # a key that must be given
        budget = small_budget(method, {})
        yield from _fault(f"method {each}", method.make, values, budget, {"random_state": 0})
        yield from _fault(f"method {each}, small", method.make_small, values, budget)


def _figures(paper: Paper) -> None:
    if paper.reference is None:
        raise Skipped("it brings none")
    with paper.reference.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    if not lines:
        raise Failed(f"{paper.reference} has no line")
    for wanted in _FIGURES:
        if not wanted & set(lines[0]):
            raise Failed(f"{paper.reference} has no column {' or '.join(sorted(wanted))}")
    column = "mean" if "mean" in lines[0] else "value"
    for number, line in enumerate(lines, start=2):
        try:
            float(line[column] or "nan")
        except (ValueError, TypeError):
            raise Failed(f"line {number}: {column} is {line[column]!r}, no number") from None


def _claims(name: str, paper: Paper) -> None:
    if paper.claims is None:
        raise Skipped("it brings none")
    try:
        claims.check(read(paper.claims), f"the claims of {name}")
    except BoostrunError as error:
        raise Failed(str(error)) from None
