"""Numba's cache of compiled kernels, made safe against damaged files, unwritable folders, and stale kernels.

Numba keeps a kernel beside its module, or in the user's cache folder, and trusts every file it finds there. If neither
folder can be written (a container, a project mounted read-only) it refuses to make the kernel, and a truncated file or
a flipped bit ends every call, or runs. Here each file ends in the digest of its content and counts as absent if that is
wrong, so that the kernel is compiled again; a folder for temporary files is the last resort. Reading and hashing the 40
files of a command takes 2 ms.

Numba recompiles a kernel when the time or size of its own file has changed, but not when a kernel it calls or a
constant of another module has: after a ``git pull`` old code would run under the digest of the new. Here a kernel is
kept under its content, see :func:`content_of`, in a file of that name, so that processes at two versions do not
exchange kernels.

A wheel for one platform has kernels in ``boostrun/compiled`` (``scripts/compile_kernels.py``). They are used if Python,
Numba and the processor fit; a first fit then does not wait for the compiler.

Kernels of plug-ins import Numba themselves, so Numba's own cache classes are replaced, as soon as they are loaded.
The same module writes a line on standard error when compiling takes a while, as in a fresh container, and lets garbage
be collected more rarely meanwhile, which saves a sixth of the time: the compiler makes many objects, and most stay.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import glob
import hashlib
import io
import json
import os
import pickle
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from boostrun.normal_form import plain_form
from boostrun.source import parsed

# their versions are known to Numba, or to the index of its cache
_LIBRARIES = frozenset({"numba", "numpy", "scipy", "llvmlite", *sys.stdlib_module_names})
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MARK = b"boostrun sealed\n"
_DIGEST = hashlib.sha256().digest_size


def sealed(content: bytes) -> bytes:
    """``content`` with a mark and its digest appended, which a reader of pickles ignores."""
    return content + _MARK + hashlib.sha256(content).digest()


def whole(content: bytes) -> bool:
    """Whether a file's bytes match their digest; True for a file without one, written by plain Numba.

    >>> whole(sealed(b"kernel")), whole(sealed(b"kernel").replace(b"k", b"j")), whole(b"kernel")
    (True, False, True)
    """
    head, seal = content[: -len(_MARK) - _DIGEST], content[-len(_MARK) - _DIGEST :]
    return not seal.startswith(_MARK) or hashlib.sha256(head).digest() == seal[len(_MARK) :]


@functools.cache
def last_resort() -> Path:
    """The folder for kernels when no usual folder can be written: one a user, shared by all processes.

    A folder of that name with another owner is not used, because its files are executed: then kernels are not kept, and
    the returned path cannot be created.
    """
    nowhere = Path(os.devnull) / "numba"
    try:
        folder = Path(tempfile.gettempdir()) / f"boostrun-numba-{os.getuid() if os.name == 'posix' else 'user'}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return nowhere
    if os.name == "posix" and (folder.is_symlink() or status.st_uid != os.getuid() or status.st_mode & 0o022):
        return nowhere
    return folder


def content_of(kernel: Any) -> str:
    """sha256 (hex) of everything a compiled function computes with.

    Its code and constants, those of all functions it calls, in whichever file, and the current values of its globals
    and closure, which Numba freezes.

    >>> from boostrun.kernels import trees
    >>> content_of(trees.grow_in.py_func) == content_of(trees.grow_in.py_func) != content_of(trees.leaves_of.py_func)
    True
    """
    told: list[str] = []
    seen: dict[Any, int] = {}
    _tell(kernel, frozenset(), told, seen)
    return hashlib.sha256("\n".join(told).encode("utf-8", "surrogatepass")).hexdigest()


def _tell(value: Any, names: frozenset[str], told: list[str], seen: dict[Any, int]) -> None:
    """Add a value to the hash; ``names`` are the attributes that the code may read from a module."""
    from numba.core.types import Type
    from numpy import generic, ndarray

    key = (id(value), names) if isinstance(value, ModuleType) else id(value)  # each function reads names of its own
    if key in seen:
        told.append(f"again {seen[key]}")
        return
    function = _function_of(value)
    if isinstance(function, FunctionType):
        seen[key] = len(seen)
        if str(function.__module__).partition(".")[0] in _LIBRARIES:
            told.append(f"{function.__module__}.{function.__qualname__}")
        else:
            told.append("function")
            _tell(dict(sorted(getattr(value, "targetoptions", {}).items())), names, told, seen)
            if function not in (value, getattr(value, "py_func", None)):
                told.append(_source_of(function.__module__))  # the options of a ufunc or a stencil
            _tell_function(function, told, seen)
    elif isinstance(value, CodeType):
        told.append(f"code {value.co_code.hex()} {value.co_names} {value.co_varnames} {value.co_flags}")
        for each in value.co_consts[isinstance(value.co_consts[0] if value.co_consts else 0, str) :]:  # no docstring
            _tell(each, names, told, seen)
    elif isinstance(value, ModuleType):
        told.append("module" if value.__name__.partition(".")[0] not in _LIBRARIES else value.__name__)
        if told[-1] == "module":
            seen[key] = len(seen)
            for name in sorted(names & vars(value).keys()):
                told.append(name)
                _tell(vars(value)[name], names, told, seen)
    elif isinstance(value, (tuple, list)):
        told.append(f"{type(value).__name__} {len(value)}")
        for each in value:
            _tell(each, names, told, seen)
    elif isinstance(value, (ndarray, generic)):
        told.append(f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}")
    elif isinstance(value, type):
        told.append(f"class {value.__name__} {getattr(value, '_fields', '')} {getattr(value, '__members__', '')}")
        if value.__module__.partition(".")[0] not in _LIBRARIES:
            seen[key] = len(seen)
            told.append(_source_of(value.__module__))
            jitted = getattr(value, "class_type", None)
            for each in ("jit_methods", "jit_props", "jit_static_methods"):
                _tell(getattr(jitted, each, None), names, told, seen)
    elif isinstance(value, dict):
        told.append(f"dict {list(map(repr, value))}")
        for each in value.values():
            _tell(each, names, told, seen)
    elif isinstance(value, (set, frozenset)):
        told.append(f"set {sorted(map(repr, value))}")
    elif callable(value) and type(value).__module__ == "builtins":
        told.append(f"{value.__module__}.{value.__qualname__}")
    elif type(value).__module__ == "builtins" or isinstance(value, Type):  # a number, a text; a type of Numba's
        told.append(f"{type(value).__name__} {value!r}")
    else:
        told.append(_ADDRESS.sub("", f"{type(value).__module__}.{type(value).__qualname__} {value!r}"))


def _function_of(value: Any) -> Any:
    """The Python function behind a kernel, an intrinsic, a ufunc or a stencil; any other value itself."""
    if isinstance(value, (FunctionType, CodeType, ModuleType)):
        return value
    found = (getattr(value, name, None) for name in ("py_func", "_defn", "__wrapped__"))
    stencil = getattr(getattr(value, "kernel_ir", None), "func_id", None)
    return next((each for each in found if each is not None), getattr(stencil, "func", value))


def _tell_function(function: FunctionType, told: list[str], seen: dict[Any, int]) -> None:
    names = frozenset(_names_in(function.__code__))
    _tell(function.__code__, names, told, seen)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    known = function.__globals__
    given = [function.__defaults__, *cells, *(known[name] for name in sorted(names & known.keys()))]
    for each in given:
        _tell(each, names, told, seen)
    if any(getattr(each, "__module__", "") == "numba.core.extending" for each in known.values()):
        told.append(_source_of(function.__module__))  # its instructions to the compiler have no name in a kernel


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names_in(each)


@functools.cache
def _source_of(module: str) -> str:
    """The source of a module that extends the compiler, without comments and layout."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return plain_form(parsed(Path(file), module)) if file else ""


SHIPPED = Path(__file__).parent / "compiled"


def made_by() -> str:
    """The versions of Python, Numba and llvmlite, and the kind of machine: compiled kernels fit these only."""
    import llvmlite
    import numba
    from llvmlite import binding

    return " ".join((str(sys.implementation.cache_tag), numba.__version__, llvmlite.__version__,
                     binding.get_process_triple()))  # fmt: skip


def name_of(signature: Any, content: str) -> str:
    """The file of a kernel that a wheel has: a hash of its types and of :func:`content_of`."""
    told = _ADDRESS.sub("", f"{signature!r} {content}")
    return f"{hashlib.sha256(told.encode()).hexdigest()[:32]}.nbc"


@functools.cache
def shipped() -> Path | None:
    """The folder of the kernels that a wheel has, if they run here."""
    import numba
    from llvmlite import binding

    config: Any = numba.config
    try:
        target = json.loads((SHIPPED / "target.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    features = {name for name, there in binding.get_host_cpu_features().items() if there}
    fits = target["made_by"] == made_by() and features.issuperset(target["features"])
    return SHIPPED if fits and config.CPU_NAME is None else None


def mend(caching: Any) -> None:
    """Replace Numba's class of cache files, add a folder to those it tries, and catch the cache's errors.

    These are not public parts of Numba; a version without them is left unchanged.
    """
    with contextlib.suppress(AttributeError):
        _mend(caching)


def _mend(caching: Any) -> None:
    class SealedFiles(caching.IndexDataCacheFile):
        """Index and data files that are intact, or count as absent."""

        def _load_index(self) -> dict:
            try:
                return super()._load_index() if _whole_file(self._index_path) else {}
            except Exception:  # a damaged pickle raises any of a dozen kinds
                return {}

        def _load_data(self, name: str) -> Any:
            path = self._data_path(name)
            if not _whole_file(path):
                raise FileNotFoundError(path)
            return super()._load_data(name)

        def save(self, key: Any, data: Any) -> None:
            overloads = self._load_index()
            name = f"{self._index_name[:-4]}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
            self._save_data(name, data)
            self._save_index({**overloads, key: name})
            if not overloads:  # the kernel's own file has changed: its old kernels go
                for path in Path(self._cache_path).glob(f"{glob.escape(self._index_name[:-4])}.*.nbc"):
                    if path.name != name:
                        path.unlink(missing_ok=True)

        @contextlib.contextmanager
        def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
            content = io.BytesIO()
            with super()._open_for_write(filepath) as file:
                yield content
                file.write(sealed(content.getvalue()))

    class LastResort(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
        """Numba's locator of last resort: never refused, and writable if any folder is."""

        def __init__(self, py_func: Any, py_file: str) -> None:
            self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> LastResort | None:
            return cls(py_func, py_file) if os.path.exists(py_file) else None

        def get_cache_path(self) -> str:
            return str(last_resort() / self.get_suitable_cache_subpath(self._py_file))

    cache = caching.Cache
    load, save, key = cache._load_overload, cache.save_overload, cache._index_key

    @functools.wraps(key)
    def key_by_content(self: Any, *arguments: Any) -> tuple:
        return (*key(self, *arguments), content_of(self._py_func))

    @functools.wraps(load)
    def load_or_nothing(self: Any, signature: Any, context: Any) -> Any:
        try:
            found = load(self, signature, context)
            if found is None and (folder := shipped()) and self._enabled:
                content = (folder / name_of(signature, content_of(self._py_func))).read_bytes()
                found = self._impl.rebuild(context, pickle.loads(content)) if whole(content) else None
            return found
        except Exception:  # whatever is wrong with the cache, the kernel can be compiled
            return None

    @functools.wraps(save)
    def save_if_possible(self: Any, *arguments: Any) -> None:
        with contextlib.suppress(Exception):  # a full disk, a folder that was writable a moment ago, odd content
            save(self, *arguments)

    caching.IndexDataCacheFile = SealedFiles
    caching.CacheImpl._locator_classes.append(LastResort)
    cache._load_overload, cache.save_overload, cache._index_key = load_or_nothing, save_if_possible, key_by_content


def _whole_file(path: str) -> bool:
    try:
        return whole(Path(path).read_bytes())
    except OSError:
        return False


_PATIENCE = 1.0  # seconds of compiling, in all, that need no explanation
_THRESHOLD = 50_000  # objects until garbage is collected, 700 by default; the peak of memory grows by 2 %
_LINE = "boostrun: compiling kernels; they are kept, so the next command does not wait for it"

_wanted: bool | None = None
has_compiled = threading.Event()
"""Whether this process has compiled a kernel that was not in the cache."""


@contextlib.contextmanager
def notice(wanted: bool) -> Iterator[None]:
    """Within the block the line is written, or not; outside, only if standard error is a terminal."""
    global _wanted
    before, _wanted = _wanted, wanted
    try:
        yield
    finally:
        _wanted = before


def listen(event: Any) -> None:
    """Register for kernels being compiled, one at a time; ``event`` is Numba's module of that name."""

    class Compiling(event.Listener):
        """Writes the line once a process, from its own thread: the compiling thread is busy."""

        def __init__(self) -> None:
            self._depth, self._patience, self._begun = 0, _PATIENCE, 0.0
            self._before = gc.get_threshold()
            self._timer = threading.Timer(0.0, _write_line)

        def on_start(self, event: Any) -> None:
            has_compiled.set()
            self._depth += 1
            if self._depth == 1:
                self._before = gc.get_threshold()
                if 0 < self._before[0] < _THRESHOLD:
                    gc.set_threshold(_THRESHOLD, *self._before[1:])
            if self._depth == 1 and not _said.is_set():
                self._begun = time.monotonic()
                self._timer = threading.Timer(self._patience, _write_line)
                self._timer.daemon = True
                self._timer.start()

        def on_end(self, event: Any) -> None:
            self._depth -= 1
            if self._depth == 0:
                gc.set_threshold(*self._before)
                self._timer.cancel()
                self._patience = max(0.0, self._patience - (time.monotonic() - self._begun))

    event.register("numba:compile", Compiling())


_said = threading.Event()


def _write_line() -> None:
    try:
        terminal = sys.stderr.isatty()
        if _said.is_set() or not (terminal if _wanted is None else _wanted):
            return
        _said.set()
        # On a terminal the line takes the place of the bar, which is drawn again below it.
        print(f"\r\033[K{_LINE}" if terminal else _LINE, file=sys.stderr, flush=True)
    except (AttributeError, OSError, ValueError):  # standard error is closed
        return
