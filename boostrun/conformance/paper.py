"""Checks of a paper's declaration, its items and its parts: strategies, policies, weak learners."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.config.fields import fields_of
from boostrun.conformance import Check, Failed, Skipped, can, numpy_left_alone, said, small_budget
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.methods.paper import Paper
from boostrun.methods.weak_learner import as_weak_learner
from boostrun.runner import claims, paper

_HEAVY = ("numpy", "numba", "scipy", "sklearn", "pandas", "matplotlib")


def declaration_checks(name: str, where: str) -> list[Check]:
    """All checks of the declaration ``where``, "module:OBJECT", of the paper ``name`` of the catalogue."""
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
        yield from _fault(f"features {name}", obtain, pipeline.target)
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
    try:
        lines = catalogue.read_figures(paper.reference)
    except (OSError, ValueError) as error:
        raise Failed(f"{paper.reference}: {error}") from None
    if not lines:
        raise Failed(f"{paper.reference} has no line")
    column = "mean" if "mean" in lines[0] else "value"
    for number, line in enumerate(lines, start=2):
        try:
            float(line[column] or "nan")
        except ValueError:
            raise Failed(f"line {number}: {column} is {line[column]!r}, no number") from None


def _claims(name: str, paper: Paper) -> None:
    if paper.claims is None:
        raise Skipped("it brings none")
    try:
        claims.check(claims.read(paper.claims), f"the claims of {name}")
    except BoostrunError as error:
        raise Failed(str(error)) from None


def item_checks(name: str, config_dir: str | None = None, overrides: Sequence[str] = ()) -> list[Check]:
    """All checks of the item ``name``, as ``boostrun reproduce`` takes it."""
    return [
        Check("its rows, columns, figures and targets are there", lambda: _named_item(name, config_dir)),
        Check("the settings of every cell can be put together", lambda: _composed(name, config_dir, overrides, False)),
        Check("those of --quick too", lambda: _composed(name, config_dir, overrides, True)),
    ]


def _named_item(name: str, config_dir: str | None) -> None:
    found = paper.faults(name, config_dir)
    if found:
        path = catalogue.options("paper", config_dir)[name]
        places = [_place(path, fault) for fault in found]
        if len(found) == 1:
            raise Failed(found[0], *places)
        raise Failed(f"{len(found)} faults", *(f"{fault} ({place})" for fault, place in zip(found, places)))


def _place(path: Path, fault: str) -> str:
    """The line of an item's file where the name that a fault is about stands."""
    word = fault.partition("'")[2].partition("'")[0]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if word and re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", line) and not line.lstrip().startswith("#"):
            return f"{path}:{number}: {line.strip()}"
    return str(path)


def _composed(name: str, config_dir: str | None, overrides: Sequence[str], quick: bool) -> None:
    if paper.drawing(name, config_dir):
        raise Skipped("it is drawn without trials")
    if paper.faults(name, config_dir):
        raise Skipped("its names come first")
    paper.load(name, overrides, quick, config_dir)


ROOMS = {"strategies": "a strategy", "policies": "a policy", "weak_learners": "a weak learner"}


def part_checks(room: str, where: str, given: Mapping[str, Any]) -> list[Check]:
    """All checks of the part ``where`` with the parameters ``given``; BoostrunError if no paper declares any."""
    known = catalogue.parts("checks")
    if room not in known:
        raise BoostrunError(f"no installed paper has checks for {ROOMS[room]}")
    return obtain(known[room])(maker(where, given))


def maker(where: str, given: Mapping[str, Any]) -> Callable[[], Any]:
    """A function that returns a new part: calls a class with ``given``, returns a function or object as it is."""
    thing = obtain(where)
    return (lambda: thing(**given)) if inspect.isclass(thing) else (lambda: thing)


def room_of(thing: Any) -> str:
    """The kind of part a class, function or object is, by its methods; empty if it is none."""
    if can(thing, "choose"):
        return "policies"
    if can(thing, "find"):
        return "weak_learners"
    called = getattr(thing, "__call__", None) if inspect.isclass(thing) else thing  # noqa: B004 (its signature)
    if callable(called) and not (inspect.isclass(thing) and "__call__" not in _own_names(thing)):
        try:
            names = [name for name in inspect.signature(called).parameters if name != "self"]
        except (TypeError, ValueError):
            return ""
        if names[:1] == ["batch"] and len(names) == 3:
            return "strategies"
    return ""


def _own_names(cls: type) -> set[str]:
    return {name for base in cls.__mro__ if base is not object for name in vars(base)}


_N, _D = 60, 5


def weak_learner_checks(make: Callable[[], Any]) -> list[Check]:
    """All checks of a weak learner; ``make()`` gives a new one."""
    return [
        Check("a hypothesis that is a NamedTuple of numbers", lambda: _found(make)),
        Check("votes of -1.0 and +1.0, or whole steps, one a sample", lambda: _votes(make)),
        Check("an edge at least as good as chance", lambda: _edge(make)),
        Check("some rows among others, the same hypothesis", lambda: _among(make)),
        Check("negative weights, and one class alone", lambda: _signs(make)),
        Check("samples that are all alike", lambda: _alike(make)),
        Check("values as they are, or codes by its own word", lambda: _values(make)),
        Check("same samples, same hypothesis", lambda: _repeated(make)),
        Check("samples and weights are left as they are", lambda: _untouched(make)),
        Check("an ensemble adds up its votes", lambda: _ensemble(make)),
        Check("saved and loaded, same votes", lambda: _saved(make)),
        Check("a saved column below 0 is refused", lambda: _below(make)),
    ]


def _problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Codes (n, d) uint8, and signed weights (n,) that feature 2 goes with."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (_N, _D), dtype=np.uint8)
    signs = np.where((codes[:, 2] >= 120) ^ (rng.random(_N) < 0.1), 1.0, -1.0)
    return codes, signs * rng.random(_N) / _N


def _hypothesis(make: Callable, codes: np.ndarray, signed: np.ndarray) -> tuple[Any, Any]:
    learner = as_weak_learner(make())
    return learner, learner.find(codes, signed)


def _voted(learner: Any, hypothesis: Any, codes: np.ndarray) -> np.ndarray:
    votes = np.asarray(learner.votes(hypothesis, codes, np.arange(len(codes))))
    if votes.shape != (len(codes),):
        raise Failed(f"votes of the shape {votes.shape} for {len(codes)} samples")
    if learner.whole_steps:
        if not np.isfinite(votes).all():
            raise Failed("a vote is not finite")
    elif not np.isin(votes, (-1.0, 1.0)).all():
        raise Failed(f"a vote is {votes[~np.isin(votes, (-1.0, 1.0))][0]}: -1.0 or +1.0 are needed")
    return votes


def _found(make: Callable) -> None:
    _, hypothesis = _hypothesis(make, *_problem())
    if not isinstance(hypothesis, tuple) or not getattr(hypothesis, "_fields", ()):
        raise Failed(f"find gave a {type(hypothesis).__name__}: a NamedTuple of numbers and arrays is needed")
    for name, value in hypothesis._asdict().items():  # type: ignore[attr-defined]
        if np.asarray(value).dtype.kind not in "biuf":
            raise Failed(f"{type(hypothesis).__name__}.{name} is of {np.asarray(value).dtype}: numbers are needed")


def _votes(make: Callable) -> None:
    codes, signed = _problem()
    learner, hypothesis = _hypothesis(make, codes, signed)
    for n in (_N, 1):
        _voted(learner, hypothesis, codes[:n])


def _edge(make: Callable) -> None:
    for seed in range(3):
        codes, signed = _problem(seed)
        edge = float(signed @ _voted(*_hypothesis(make, codes, signed), codes))
        if edge <= 0.0:
            raise Failed(f"its edge is {edge:.4f} where one feature goes with the labels")


def _among(make: Callable) -> None:
    codes, signed = _problem()
    rows = np.arange(5, 50, 3)
    learner, hypothesis = _hypothesis(make, codes[rows], signed[rows])
    among = as_weak_learner(make()).find_among(codes, rows, signed[rows])
    votes = np.asarray(learner.votes(among, codes, rows))
    if not np.array_equal(votes, _voted(learner, hypothesis, np.ascontiguousarray(codes[rows]))):
        raise Failed("find_among(samples, rows, weights) finds another than find(samples[rows], weights)")


def _signs(make: Callable) -> None:
    codes, signed = _problem()
    for weights in (-signed, np.abs(signed), -np.abs(signed)):
        learner, hypothesis = _hypothesis(make, codes, weights)
        edge = float(weights @ _voted(learner, hypothesis, codes))
        if edge <= 0.0:
            raise Failed(f"its edge is {edge:.4f} where the labels are turned round, or all alike")


def _alike(make: Callable) -> None:
    codes, signed = _problem()
    alike = np.full_like(codes, 7)
    _voted(*_hypothesis(make, alike, signed), alike)


def _values(make: Callable) -> None:
    learner = as_weak_learner(make())
    if learner.codes:
        return
    codes, signed = _problem()
    values = codes / 10.0 - 3.3
    _voted(learner, learner.find(values, signed), values)


def _repeated(make: Callable) -> None:
    codes, signed = _problem()
    with numpy_left_alone():
        first = _hypothesis(make, codes, signed)[1]
    second = _hypothesis(make, codes, signed)[1]
    if not all(np.array_equal(one, other) for one, other in zip(first, second)):
        raise Failed("the same samples and weights give another hypothesis")


def _untouched(make: Callable) -> None:
    codes, signed = _problem()
    _voted(*_hypothesis(make, codes, signed), codes)
    if not all(np.array_equal(one, other) for one, other in zip((codes, signed), _problem())):
        raise Failed("it writes into the samples or weights that it is given")


def _made_weak_learner(make: Callable) -> tuple[Any, np.ndarray, np.ndarray]:
    """An ensemble of three hypotheses of one problem, the codes, and the scores that it should have."""
    codes, _ = _problem()
    learner, expected, members = as_weak_learner(make()), np.zeros(_N), []
    for seed, step in enumerate((0.5, 0.25, 1.0)):
        hypothesis = learner.find(codes, _problem(seed)[1])
        members.append((hypothesis, step))
        expected += step * _voted(learner, hypothesis, codes)
    return learner.ensemble([members], None), codes, expected


def _ensemble(make: Callable) -> None:
    ensemble, codes, expected = _made_weak_learner(make)
    if not np.allclose(ensemble.decision(codes)[0], expected):
        raise Failed("decision(samples) is not the sum of coefficients times votes")
    columns = np.ascontiguousarray(codes.T)
    *_, last = (scores.copy() for scores in ensemble.staged_decision(columns, [1, 2, 3]))
    if ensemble.n_rounds != 3 or not np.allclose(last[0], expected):
        raise Failed("staged_decision(columns, [1, 2, 3]) does not end at the sum of all")


def _saved(make: Callable) -> None:
    ensemble, codes, _ = _made_weak_learner(make)
    with tempfile.TemporaryDirectory() as folder:
        loaded, _ = type(ensemble).load(ensemble.save(Path(folder) / "ensemble.npz"))
    if not np.array_equal(loaded.decision(codes), ensemble.decision(codes)):
        raise Failed("the loaded model votes differently from the saved one")


def _below(make: Callable) -> None:
    """Check that saved column numbers below 0 are refused.

    A saved integer array holds columns if its votes stay the same when d is subtracted, and change when 1 is added.
    """
    ensemble, codes, _ = _made_weak_learner(make)
    expected = ensemble.decision(codes)
    with tempfile.TemporaryDirectory() as folder:
        path = ensemble.save(Path(folder) / "ensemble.npz")
        with np.load(path) as found:
            arrays = {name: found[name] for name in found.files}

        def same(name: str, changed: np.ndarray) -> bool:
            np.savez(path, **{**arrays, name: changed})
            try:
                return np.array_equal(type(ensemble).load(path)[0].decision(codes), expected)
            except BoostrunError:
                return False

        for name in [name for name in arrays if name.startswith("hypothesis_") and arrays[name].dtype.kind == "i"]:
            if same(name, arrays[name] - _D) and not same(name, (arrays[name] + 1) % _D):
                field = name.removeprefix("hypothesis_")
                raise Failed(
                    f"{field} holds columns, and a negative one counts from the end: name it column, columns or "
                    f"{field}_column, which files are held to, or refuse it with a ValueError"
                )
