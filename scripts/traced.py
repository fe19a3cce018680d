"""Trace the definitions of boostrun that a run calls and reads, for ``reached.py``."""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
import io
import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType

import numpy as np

from boostrun import digest, normal_form, source

# Definitions that runs call and no digest counts. A name stands for everything below it.
ON_PURPOSE = (
    *digest._UNCOUNTED,  # see digest.py; methods of normal_form._AFTERWARDS and modules named keys are left out too,
    # see on_purpose: their values are in the cell
    "boostrun.digest", "boostrun.normal_form", "boostrun.import_hooks",  # compute digests, and import
    "boostrun.kernel_cache", "boostrun.kernels.lanes_plain",  # cache kernels, or replace them
    "boostrun.runner", "boostrun.extend",  # plan, open, measure cost; import a user's code, which is counted itself
    "boostrun.methods.declaration",  # Method.make passes on facts of the digest and values of the cell
    "boostrun.errors", "boostrun.data.dataset._called", "boostrun.data.table.column_difference",  # text of messages
    "boostrun.data.dataset.forget",  # frees pages of a memory map
    *(f"boostrun.data.{name}" for name in (  # make the options in the key of the data
        "options", "_PLACES", "_checks", "_Checks", "_open_loader", "arrays.files_digits",
        "stream_set.files", "stream_set.parameters",
    )),
    "boostrun.papers.iboost.streams.files",
    *(f"boostrun.features.{name}" for name in (  # open the bank of a key, or refuse it
        "open_bank", "key_of", "pipeline_target", "_pipeline", "_Computed", "_refuse_whole", "_without_missing",
        "_remove_damaged", "_remove_samples", "first_split", "checked_split",
    )),
    *(f"boostrun.inputs.{name}" for name in (
        "bank.BankInput", "bank._open", "bank._by_key", "bank._configs", "bank._OF_RUN", "drifting.StreamInput",
        "drifting._whole", "Places", "_INPUTS", "input_of", "check_reservoir", "chunks.ChunksInput",
    )),
)  # fmt: skip


class Watched(ModuleType):
    """A module of boostrun that records which of its names functions of boostrun read while a trial runs."""

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        frame = sys._getframe(1)
        if _watch.on and not name.startswith("__") and frame.f_code.co_flags & 1 and _ours(frame.f_globals):
            _watch.asked.add((frame.f_code, super().__getattribute__("__name__"), name))
        return value


def _ours(names: dict) -> bool:
    return f"{names.get('__name__')}.".startswith("boostrun.")


class Watch:
    """Records the code objects of boostrun that are called during a trial, and apart from them those of imports."""

    def __init__(self) -> None:
        self.on = False
        self.asked: set[tuple[CodeType, str, str]] = set()
        self.called: dict[CodeType, str] = {}
        self.at_import: dict[CodeType, str] = {}
        self._depth = threading.local()

    def __call__(self, frame, event, _):
        if event not in ("call", "return") or not _ours(frame.f_globals):
            return
        code, depth = frame.f_code, getattr(self._depth, "value", 0)
        if code.co_name == "<module>":
            self._depth.value = depth + (1 if event == "call" else -1)
            if event == "call" and type(module := sys.modules[frame.f_globals["__name__"]]) is ModuleType:
                module.__class__ = Watched
        elif event == "call":
            (self.called if self.on and not depth else self.at_import)[code] = frame.f_globals["__name__"]


_watch = Watch()


def run(line: str) -> dict:
    """Run a command line; returns the definitions that it calls and reads, and those that its digests count."""
    # so far only the modules of boostrun that compute digests are imported; they are no part of a trial
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        os.chdir(folder)
        os.environ |= {"BOOSTRUN_DATA": folder, "XDG_CACHE_HOME": folder}
        try:
            return {"line": line, **_run(line)}
        except BaseException as error:
            return {"line": line, "failed": "".join(traceback.format_exception(error)[-2:]).strip()}


def _run(line: str) -> dict:
    sys.setprofile(_watch)
    threading.setprofile(_watch)
    from boostrun.runner import plan, worker
    from boostrun.runner.plan import compose_one

    if "dataset=stream" in line:
        np.save("x.npy", np.random.default_rng(0).integers(0, 9, (60, 5)).astype(np.uint8))
        np.save("y.npy", np.arange(60) % 3)
    roots = set[str]()
    whole = digest._digest
    digest._digest = lambda names, facts: (roots.update(names), whole(names, facts))[1]
    settings = compose_one(line.split())
    (cell,) = plan.plan([settings], plan.open_store(settings))
    data, cache = (str(path.absolute()) for path in plan.roots(settings))
    _watch.on = True
    plan.prepare([cell], 0, progress=False)
    trained = worker.Execute(data, cache, folder=os.getcwd()).trained(cell.to_run[0])
    _watch.on = False
    sys.setprofile(None)
    assert trained.result["metrics"] or trained.result["curve"]
    calls = {place for code, module in _watch.called.items() if _in_file(code, module)
             for place in [_label(code, module)] if not on_purpose(place)}  # fmt: skip
    digest._digest = whole
    return {"calls": calls, "reads": _reads(), "counted": _counted(sorted(roots)), "roots": tuple(sorted(roots))}


def _counted(roots: list[str]) -> set[str]:
    """The names of the definitions that digests count; digests list those that register themselves by number."""
    found = set(digest.reached(roots).definitions)
    for label in sorted(found):
        module, _, number = label.rpartition(".#")
        there = digest.code_below(frozenset()).module(module) if module else None
        if there is not None:
            found |= {f"{module}.{name}" for name in source.names_bound([there.statements[int(number)]])}
    return found


def _label(code: CodeType, module: str) -> str:
    """``module:name.rest`` of a code object; for a lambda at the top of a module, the name that it is bound to."""
    name = code.co_qualname.replace(".<locals>", "")
    if name.startswith("<"):
        name = next((bound for statement in tree(module) if statement.lineno <= code.co_firstlineno <=
                     statement.end_lineno for bound in source.names_bound([statement])), name)  # fmt: skip
    return f"{module}:{name}"


def _in_file(code: CodeType, module: str) -> bool:
    return code.co_filename == getattr(sys.modules[module], "__file__", "")


def _reads() -> set[str]:
    """``module:name`` of all names that are read, and of the names that the statements that bind them read."""
    waiting = [place for code, module in _watch.called.items() if _in_file(code, module)
               and not on_purpose(_label(code, module)) for place in read_by(code, module)]  # fmt: skip
    for code, module, name in _watch.asked:
        asking = _watch.called.get(code)
        if asking is None or not on_purpose(_label(code, asking)):
            waiting += resolved(module, name)
    begun: dict[str, list[tuple[CodeType, str]]] = {}
    for code, module in _watch.at_import.items():
        if _in_file(code, module):
            begun.setdefault(_label(code, module).partition(".<")[0], []).append((code, module))
    found: set[str] = set()
    while waiting:
        place = waiting.pop()
        if place in found or on_purpose(place):
            continue
        found.add(place)
        module, _, name = place.partition(":")
        for statement in tree(module):
            if name in source.names_bound([statement]):
                waiting += [other for used in _on_top(statement) for other in resolved(module, used)]
        waiting += [other for code, where in begun.get(place, ()) for other in read_by(code, where)]
        kernel = vars(sys.modules[module]).get(name)
        if (function := getattr(kernel, "py_func", None) or getattr(kernel, "_defn", None)) is not None:
            waiting += [other for code in _nested(function.__code__) for other in read_by(code, function.__module__)]
    return found


def _on_top(node: ast.AST) -> Iterator[str]:
    """The names that a statement reads when it runs, without those in the bodies of functions."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    inside = (ast.FunctionDef, ast.AsyncFunctionDef)
    parts = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)] if isinstance(
        node, inside) else ast.iter_child_nodes(node)  # fmt: skip
    for part in parts:
        if not (isinstance(node, ast.AnnAssign) and part is node.annotation):
            yield from _on_top(part)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested(each)


@functools.cache
def read_by(code: CodeType, module: str) -> tuple[str, ...]:
    """The names of boostrun's modules that a code object reads, as globals or as attributes of a module."""
    found: list[str] = []
    steps = [each for each in dis.get_instructions(code) if each.opname not in ("PRECALL", "CACHE", "RESUME")]
    for step, following in zip(steps, [*steps[1:], None]):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found += resolved(module, step.argval)
            value = vars(sys.modules[module]).get(step.argval)
            if isinstance(value, ModuleType) and following is not None and following.opname.startswith("LOAD_"):
                found += resolved(ModuleType.__getattribute__(value, "__name__"), str(following.argval))
    return tuple(found)


@functools.cache
def tree(module: str) -> tuple[ast.stmt, ...]:
    """The top-level statements of a module of boostrun, including those inside ``if`` and ``try``."""
    path = getattr(sys.modules.get(module), "__file__", None)
    if path is None or not path.endswith(".py"):
        return ()
    body = ast.parse(Path(path).read_text("utf-8")).body
    return tuple(source.inner(body))


@functools.cache
def resolved(module: str, name: str) -> tuple[str, ...]:
    """``module:name`` of the definition behind a name, in the module that defines it instead of importing it."""
    if not f"{module}.".startswith("boostrun."):
        return ()
    for statement in tree(module):
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if name in (alias.asname or alias.name, "*") or alias.name == "*":
                    package = module if hasattr(sys.modules[module], "__path__") else module.rpartition(".")[0]
                    for _ in range(statement.level - 1):
                        package = package.rpartition(".")[0]
                    base = ".".join(filter(None, [package if statement.level else "", statement.module]))
                    if found := resolved(base, name if alias.name == "*" else alias.name):
                        return found
        elif name in source.names_bound([statement]):
            return (f"{module}:{name}",)
    return ()


def on_purpose(place: str) -> bool:
    """Whether ``module:name.rest`` is left out of digests on purpose."""
    module, _, name = place.partition(":")
    parts = name.split(".")
    label = f"{module}.{parts[0]}."
    return (
        module.endswith(".keys")
        or (len(parts) > 1 and parts[1] in normal_form._AFTERWARDS)
        or any(label.startswith(f"{each}.") for each in ON_PURPOSE)
    )
