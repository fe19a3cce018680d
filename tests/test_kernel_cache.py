"""Numba's cache stops nothing: damaged files are made again, and where nothing can be written kernels still run."""

import contextlib
import gc
import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import boostrun
from boostrun import kernel_cache
from boostrun import kernel_cache as compiling
from tests.docs.page import script

ROOT = Path(boostrun.__file__).parents[1]
KERNEL = """
from numba import njit
@njit(cache=True)
def twice(x): return 2 * x
"""


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Import a module with one compiled function, as a new process does; gives the function."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "kernel_of_a_test.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def again():
        sys.modules.pop("kernel_of_a_test", None)
        importlib.invalidate_caches()
        return importlib.import_module("kernel_of_a_test").twice

    yield again
    sys.modules.pop("kernel_of_a_test", None)


@pytest.fixture(autouse=True)
def fresh():
    """The folder of last resort is looked for again."""
    kernel_cache.last_resort.cache_clear()
    yield
    kernel_cache.last_resort.cache_clear()


def hits(function) -> int:
    """How often a kernel was found in the cache."""
    return sum(function.stats.cache_hits.values())


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


DAMAGES = {
    "emptied": lambda content: b"", "truncated": lambda content: content[: len(content) // 2], "bit flipped": flipped,
    "zeroed": lambda content: bytes(len(content)), "something else": lambda content: b"not a pickle",
}  # fmt: skip


@pytest.mark.parametrize("damage, suffix", [
    ("emptied", ".nbi"), ("truncated", ".nbc"), ("bit flipped", ".nbi"), ("bit flipped", ".nbc"), ("zeroed", ".nbc"),
    ("something else", ".nbi"),
])  # fmt: skip
def test_a_damaged_file_is_compiled_again_and_then_found(damage, suffix, kernel, tmp_path):
    assert kernel()(4) == 8
    (path,) = (tmp_path / "code" / "__pycache__").glob(f"*{suffix}")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    again = kernel()
    assert again(4) == 8 and hits(again) == 0
    mended = kernel()
    assert mended(4) == 8 and hits(mended) == 1


def test_a_file_that_numba_wrote_alone_is_taken(kernel, tmp_path):
    assert kernel()(4) == 8
    for path in (tmp_path / "code" / "__pycache__").glob("*.nb?"):
        path.write_bytes(path.read_bytes().partition(kernel_cache._MARK)[0])
    again = kernel()
    assert again(4) == 8 and hits(again) == 1


def test_without_a_folder_that_can_be_written_kernels_are_kept_with_temporary_files(kernel, tmp_path, monkeypatch):
    (tmp_path / "code" / "__pycache__").write_text("a file, so that no folder can be made")
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nope")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert kernel()(4) == 8
    again = kernel()
    assert again(4) == 8 and hits(again) == 1
    assert Path(again._cache.cache_path).is_relative_to(tmp_path)


def test_without_even_that_they_are_compiled_each_time(kernel, tmp_path, monkeypatch):
    (tmp_path / "code" / "__pycache__").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nope")
    monkeypatch.setattr("tempfile.tempdir", "/proc/nope")
    for _ in range(2):
        function = kernel()
        assert function(4) == 8 and hits(function) == 0


@pytest.fixture
def wheel(kernel, tmp_path, monkeypatch):
    """A folder of the kernel as a wheel has it, and nothing else that is compiled."""
    assert kernel()(4) == 8
    monkeypatch.setattr(kernel_cache, "SHIPPED", tmp_path / "compiled")
    kernel_cache.SHIPPED.mkdir()
    for name, content in script("compile_kernels").kept(tmp_path / "code").items():
        (kernel_cache.SHIPPED / name).write_bytes(content)
    shutil.rmtree(tmp_path / "code" / "__pycache__")

    def target(**changed):
        kernel_cache.shipped.cache_clear()
        told = {"made_by": kernel_cache.made_by(), "features": [], **changed}
        (kernel_cache.SHIPPED / "target.json").write_text(json.dumps(told))

    target()
    yield target
    kernel_cache.shipped.cache_clear()


def test_a_kernel_of_the_wheel_is_not_compiled(wheel, kernel, tmp_path):
    again = kernel()
    assert again(4) == 8 and hits(again) == 1
    assert again(4.5) == 9.0 and hits(again) == 1  # of other types
    again = kernel()
    assert again(4) == 8 and again(4.5) == 9.0 and hits(again) == 2
    (tmp_path / "code" / "kernel_of_a_test.py").write_text(KERNEL.replace("2 * x", "3 * x"))
    assert kernel()(4) == 12


@pytest.mark.parametrize("changed", [{"made_by": "another Python"}, {"features": ["of another processor"]}])
def test_kernels_of_a_wheel_that_does_not_fit_are_compiled(changed, wheel, kernel):
    wheel(**changed)
    again = kernel()
    assert again(4) == 8 and hits(again) == 0


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_kernel_of_the_wheel_is_compiled(damage, wheel, kernel, tmp_path):
    for path in kernel_cache.SHIPPED.iterdir():
        before = path.read_bytes()
        path.write_bytes(DAMAGES[damage](before))
        kernel_cache.shipped.cache_clear()
        again = kernel()
        assert again(4) == 8 and hits(again) == 0
        path.write_bytes(before)
        shutil.rmtree(tmp_path / "code" / "__pycache__")


@pytest.mark.skipif(os.name != "posix", reason="owners are told by number there alone")
def test_a_folder_that_others_can_write_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = tmp_path / f"boostrun-numba-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    assert kernel_cache.last_resort() != folder


@pytest.fixture
def read_only(tmp_path):
    """Runs Python on a copy of the package in which nothing can be kept, at home neither."""
    package = Path(boostrun.__file__).parent
    shutil.copytree(package, tmp_path / "code" / "boostrun", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(package.parent / "conf", tmp_path / "code" / "conf")
    for folder in [path for path in (tmp_path / "code" / "boostrun").rglob("*") if path.is_dir()]:
        (folder / "__pycache__").write_text("a file, so that no folder can be made")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "work").mkdir()
    own = {"PYTHONPATH": str(tmp_path / "code"), "HOME": "/proc/nope", "TMPDIR": str(tmp_path / "tmp")}
    environment = {key: value for key, value in os.environ.items() if key not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}

    def run(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, *words],
            check=False, cwd=tmp_path / "work", env=environment | own, capture_output=True, text=True,
        )  # fmt: skip

    return run


@pytest.mark.slow
def test_doctor_says_that_nothing_can_be_kept(read_only):
    done = read_only("-m", "boostrun", "doctor")
    assert done.returncode == 0, done.stderr
    assert "boostrun-numba-" in done.stdout and "cannot be written (NUMBA_CACHE_DIR chooses another)" in done.stdout


@pytest.mark.slow
def test_trials_run_where_nothing_can_be_kept_and_say_that_they_compile(read_only):
    done = read_only("-m", "boostrun", "algo=rand", "r=20", "T=2", "trials=2", "n_jobs=2", "cache_root=banks")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("boostrun: compiling kernels") == 1


@pytest.mark.parametrize("first, during", [(700, 50_000), (90_000, 90_000), (0, 0)])
@pytest.mark.parametrize("function", [lambda x: x + 1, lambda x: x.nothing])
def test_garbage_is_collected_rarely_while_a_kernel_is_compiled_and_as_before_afterwards(first, during, function):
    from numba import TypingError, njit
    from numba.core import event

    class Looks(event.Listener):
        def on_start(self, event):
            seen.append(gc.get_threshold())

        def on_end(self, event):
            pass

    seen, before = [], gc.get_threshold()
    try:
        gc.set_threshold(first, 7, 7)
        with event.install_listener("numba:compile", Looks()), contextlib.suppress(TypingError):
            njit(function)(1)
        assert seen == [(during, 7, 7)] and gc.get_threshold() == (first, 7, 7)
    finally:
        gc.set_threshold(*before)


def test_compiling_that_takes_a_while_is_said_once_and_where_it_is_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(compiling, "_said", compiling.threading.Event())
    compiling._write_line()  # standard error is no terminal
    with compiling.notice(False):
        compiling._write_line()
    assert capsys.readouterr().err == ""
    with compiling.notice(True):
        compiling._write_line()
        compiling._write_line()
    assert capsys.readouterr().err.count("compiling") == 1


CALLING = """
from numba import njit
from kernels_of_a_test import called
@njit(cache=True)
def twice(x): return called.once(x) * 2
"""
CALLED = """
from numba import njit
@njit(cache=True)
def once(x): return x + {more}
"""


def test_a_kernel_is_compiled_again_when_one_that_it_calls_has_changed(tmp_path):
    package = tmp_path / "kernels_of_a_test"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "calling.py").write_text(CALLING)
    said = []
    for more in (1, 1, 10):
        if more == 10 or not said:
            (package / "called.py").write_text(CALLED.format(more=more))
        code = (
            "import boostrun, kernels_of_a_test.calling as c; print(c.twice(1), sum(c.twice.stats.cache_hits.values()))"
        )
        path = f"{tmp_path}{os.pathsep}{ROOT}"
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        said.append(run.stdout.split())
    assert said == [["4", "0"], ["4", "1"], ["22", "0"]]


def test_a_kernel_is_stale_when_a_value_changes_that_only_its_second_function_reads(monkeypatch):
    from types import FunctionType, ModuleType

    constants = ModuleType("constants")
    constants.FIRST, constants.SECOND = 1, 2
    space = {"constants": constants}
    exec("def inner(x): return x * constants.SECOND\ndef outer(x): return inner(x) + constants.FIRST", space)
    outer = space["outer"]
    assert isinstance(outer, FunctionType)
    for function in ("inner", "outer"):
        space[function].__module__ = "code_of_a_test"
    before = kernel_cache.content_of(outer)
    for name in ("FIRST", "SECOND"):
        with monkeypatch.context() as patch:
            patch.setattr(constants, name, 5)
            assert kernel_cache.content_of(outer) != before
    assert kernel_cache.content_of(outer) == before


READ = {  # a module that a kernel reads, and how
    "ufunc": ("from numba import vectorize\n@vectorize\ndef one(x): return x + 1\n", "h.one(x)"),
    "types of a ufunc": ("from numba import vectorize\n@vectorize(['i1(i1)'])\ndef one(x): return x\n", "h.one(x)"),
    "function of a ufunc": ("from numba import njit, vectorize\n@njit\ndef two(x): return x + 1\n@vectorize\n"
                            "def one(x): return two(x)\n", "h.one(x)"),
    "stencil": ("from numba import stencil\n@stencil\ndef one(x): return x[0] + 1\n", "h.one(x)"),
    "enumeration": ("from enum import Enum\nclass Kind(Enum):\n    A = 1\n", "x + h.Kind.A.value"),
    "member of an enumeration": ("from enum import Enum\nclass Kind(Enum):\n    A = 1\nMEMBER = Kind.A\n",
                                 "x + h.MEMBER.value"),
    "fields of a dtype": ("import numpy as np\nKIND = np.dtype([('a', 'f8'), ('b1', 'f8')])\n", "np.zeros(1, h.KIND)"),
    "compiled class": ("from numba import float64, njit\nfrom numba.experimental import jitclass\n@njit\n"
                       "def two(): return 1\n@jitclass([('a', float64)])\nclass Kind:\n    def __init__(s): s.a = 0\n"
                       "    def get(s): return two()\n", "x + h.Kind().get()"),
}  # fmt: skip


@pytest.mark.parametrize("what", READ)
def test_a_kernel_is_stale_when_what_it_reads_of_another_file_changes(what, tmp_path, monkeypatch):
    text, use = READ[what]
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "toykernel.py").write_text(f"import toyread as h, numpy as np\ndef k(x): return {use}\n")

    def content(text):
        (tmp_path / "toyread.py").write_text(text)
        for name in ("toyread", "toykernel"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        kernel_cache._source_of.cache_clear()
        kernel_cache.parsed.cache_clear()
        try:
            return kernel_cache.content_of(importlib.import_module("toykernel").k)
        finally:
            for name in ("toyread", "toykernel"):
                sys.modules.pop(name, None)

    before = content(text)
    assert content(f"# why\n{text}") == before != content(text.replace("1", "2"))


def test_options_of_a_kernel_have_no_order():
    code = (
        "from boostrun.kernel_cache import content_of\nfrom boostrun.papers.adaptive.policies import mas\n"
        "print(content_of(mas._normal))"
    )
    found = [
        subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, cwd=ROOT,
                       capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert len({*found}) == 1
