"""A folder of its own for every test that runs the command: store, results and banks go there."""

import os
import re
import sys
import tempfile
import types
from pathlib import Path

import pytest
from hypothesis import settings

from boostrun.config import catalogue
from boostrun.data import digests as states

settings.register_profile("shared machine", deadline=None)  # a busy machine is no failure
settings.load_profile("shared machine")

REAL_DATA = Path(os.environ.get("BOOSTRUN_DATA") or Path(__file__).parent.parent / "datasets")


_LONG_TO_COMPILE = {  # classes: the tests and docstrings' examples that are named after one are slow
    f"{name}Classifier" for name in (
        "AdwinBagging", "DWM", "FLC", "HoeffdingTree", "IBoostActive", "IBoostAdwin", "IBoostFitted", "IBoostGeem",
        "IBoostOutliers", "IBoostTrees", "NSOnlineBoost", "OCB", "SmoothBoost", "StreamForest",
    )
}  # fmt: skip
_LONGEST = ("test_install.py", "test_resume.py", "test_stream_command.py", "test_crash.py", "test_metamorphic.py",
            "test_pictures.py", "test_saved_models.py")  # fmt: skip


_FIRST_HALF = ("iboost", "adaptive")  # two workers: each compiles the kernels of about half the papers


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests of one paper's methods stay together, so that two workers do not compile the same kernels.

    A worker begins with half of the list, and takes from the end of another's part when its own is done. The longest
    of the other tests come before the rest, so that no worker is left alone with one of them at the end.
    """
    of_paper = {name: _paper(method.target) for name, method in catalogue.methods().items()}
    of_paper |= {method.target.partition(":")[2]: _paper(method.target) for method in catalogue.methods().values()}
    parts = {True: [], False: [], None: []}
    for item in items:
        words = re.findall(r"\w+", item.name)
        if not _LONG_TO_COMPILE.isdisjoint(words):
            item.add_marker(pytest.mark.slow)
        named = (of_paper[word] for word in words if word in of_paper)
        paper = _paper(".".join(item.path.with_suffix("").parts)) or next(named, "")
        parts[paper in _FIRST_HALF if paper else None].append(item)
    parts[None].sort(key=lambda item: _LONGEST.index(item.path.name) if item.path.name in _LONGEST else len(_LONGEST))
    more = max(0, len(items) // 2 - len(parts[True]))
    items[:] = [*parts[True], *parts[None][:more], *parts[False], *parts[None][more:]]


def _paper(module):
    """The paper, or "rivals", that a dotted name lies below; empty if it is another."""
    found = re.search(r"\bpapers\.(\w+)|\b(rivals)\.", module)
    return found[1] or found[2] if found else ""


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch, request):
    """Runs draw nothing, which would take a second each, but in tests that are marked ``pictures``."""
    if request.node.get_closest_marker("pictures") is None:
        none = types.ModuleType("boostrun.cli.pictures")
        none.draw = lambda *_: ""
        monkeypatch.setitem(sys.modules, none.__name__, none)
        if "boostrun.cli" in sys.modules:
            monkeypatch.setattr(sys.modules["boostrun.cli"], "pictures", none, raising=False)


@pytest.fixture
def quiet_soon(monkeypatch):
    """A file is quiet a moment after it was written; stamps are finer than that wherever tests are run."""
    monkeypatch.setattr(states, "_QUIET", 20e6)


@pytest.fixture
def local(monkeypatch, quiet_soon):
    """States of files count as on a local disk, wherever tests are run; nothing may be written through maps."""
    monkeypatch.setattr(states, "_file_system", lambda descriptor: "ext")
    monkeypatch.setattr(states, "_write_back", lambda descriptor: True)


@pytest.fixture
def disk(tmp_path):
    """A folder on a local disk whose file system is known to stamp each write."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    known = states._file_system(descriptor)
    os.close(descriptor)
    return tmp_path if known else pytest.skip(f"{tmp_path} is on no such file system")


@pytest.fixture
def tmpfs():
    """A folder on tmpfs."""
    mounts = Path("/proc/mounts")
    if not mounts.exists() or " /dev/shm tmpfs " not in mounts.read_text():
        pytest.skip("there is no tmpfs at /dev/shm")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture(params=["disk", "tmpfs"])
def anywhere(request):
    """A folder on a local disk, then one on tmpfs."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """The current folder is empty, and so is the data root."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BOOSTRUN_DATA", str(tmp_path / "datasets"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def command(workplace, capsys):
    """Run the command in this process: ``code, out, err = command("algo=rand r=20")``."""
    from boostrun.cli import main

    def run(line: str):
        code = main(line.split())
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
