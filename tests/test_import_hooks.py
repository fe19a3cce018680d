"""A module runs as its source stands, whatever bytecode lies beside it and whatever the times of both are."""

import marshal
import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import boostrun

PACKAGE = Path(boostrun.__file__).parent
ASK = "import boostrun, {module} as m; print(m.answer())"
ANSWER = "def answer():\n    return 2\n"
SHAPES = {  # files; the last one is edited
    "flat": ("thing", {"thing.py": ANSWER}),
    "package": ("pack.thing", {"pack/__init__.py": "", "pack/thing.py": ANSWER}),
    "namespace package": ("space.thing", {"space/thing.py": ANSWER}),
    "relative import": ("pack", {"pack/__init__.py": "from .thing import answer\n", "pack/thing.py": ANSWER}),
    "lazy import": ("pack", {"pack/__init__.py": "def answer():\n    from . import thing\n    return thing.answer()\n",
                             "pack/thing.py": ANSWER}),
}  # fmt: skip


@pytest.fixture
def python(tmp_path):
    """The output of a separate process."""

    def run(*arguments: str, root: Path = PACKAGE.parent, **more: str) -> str:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        env = {**kept, "PYTHONPATH": os.pathsep.join([str(root), str(tmp_path)]), "PYTHONUTF8": "1", **more}
        line = [sys.executable, *arguments]
        done = subprocess.run(line, check=False, env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return path


def edit(path: Path, old: str = "return 2", new: str = "return 3") -> None:
    """Change a file so that neither its size nor its time tells."""
    before, text = path.stat(), path.read_text()
    assert old in text and len(old) == len(new)
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def bytecode(path: Path) -> Path:
    (found,) = (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc")
    return found


@pytest.mark.parametrize("shape, made_by", [
    *((shape, "Python") for shape in SHAPES), ("flat", "boostrun"), ("flat", "unchecked"),
])  # fmt: skip
def test_an_edit_that_neither_size_nor_time_tells_is_seen(shape, made_by, python, tmp_path):
    module, files = SHAPES[shape]
    path = write(tmp_path, files)
    if made_by == "unchecked":
        py_compile.compile(str(path), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    else:
        imported = "boostrun, " if made_by == "boostrun" else ""
        assert python("-c", f"import {imported}{module} as m; print(m.answer())") == "2"
    assert bytecode(path).is_file()
    edit(path)
    assert made_by != "Python" or python("-c", f"import {module} as m; print(m.answer())") == "2"  # as it is without us
    assert python("-c", ASK.format(module=module)) == "3"
    assert python("-c", f"import {module} as m; print(m.answer())") == "3"  # Python alone reads the new bytecode


def test_a_second_edit_is_seen_and_a_module_without_its_source_is_what_it_is(python, tmp_path):
    path = write(tmp_path, SHAPES["flat"][1])
    python("-c", "import thing")
    stale = bytecode(path)
    edit(path)
    os.utime(stale)  # as copying a folder leaves it
    assert python("-c", ASK.format(module="thing")) == "3"
    path = write(tmp_path, SHAPES["flat"][1])
    py_compile.compile(str(path), cfile=str(tmp_path / "thing.pyc"))
    path.unlink()
    assert python("-c", ASK.format(module="thing")) == "2"


def test_bytecode_of_a_source_that_has_not_changed_is_used(python, tmp_path):
    path = write(tmp_path, SHAPES["package"][1])
    ask = ASK.format(module="pack.thing")
    python("-c", ask)
    first = bytecode(path).stat()
    os.utime(path, ns=(0, 0))  # only its time has changed
    assert python("-c", ask) == "2"
    second = bytecode(path).stat()
    assert (second.st_ino, second.st_ctime_ns) == (first.st_ino, first.st_ctime_ns)
    planted = marshal.dumps(compile(ANSWER.replace("2", "7"), str(path), "exec"))
    bytecode(path).write_bytes(bytecode(path).read_bytes()[:16] + planted)
    assert python("-c", ask) == "7"


def test_bytecode_that_the_set_up_compiles_is_used_where_none_is_written(python, tmp_path):
    makefile = PACKAGE.parent / "Makefile"
    if not makefile.is_file():
        pytest.skip("this copy comes without a Makefile")
    (line,) = (line for line in makefile.read_text().splitlines() if "compileall" in line and " boostrun " in line)
    path = write(tmp_path, SHAPES["package"][1])
    python("-m", *line.partition(" -m ")[2].partition(" boostrun ")[0].split(), "pack")
    kept = bytecode(path)
    kept.write_bytes(kept.read_bytes()[:16] + marshal.dumps(compile(ANSWER.replace("2", "7"), str(path), "exec")))
    assert python("-c", ASK.format(module="pack.thing"), PYTHONDONTWRITEBYTECODE="1") == "7"


@pytest.mark.parametrize("more", [
    {"PYTHONDONTWRITEBYTECODE": "1"}, {"PYTHONPYCACHEPREFIX": "elsewhere"}, {"PYTHONPYCACHEPREFIX": os.devnull},
])  # fmt: skip
def test_where_bytecode_is_kept_or_not_is_all_the_same(more, python, tmp_path):
    path = write(tmp_path, SHAPES["flat"][1])
    ask = ASK.format(module="thing")
    python("-c", "import thing", **({} if "PYTHONDONTWRITEBYTECODE" in more else more))
    edit(path)
    assert [python("-c", ask, **more) for _ in range(2)] == ["3", "3"]
    edit(path, "return 3", "return 4")
    assert python("-c", ask, **more) == "4"
    edit(path, "return 4", "return 5")
    assert python("--check-hash-based-pycs", "never", "-c", ask, **more) == "5"


def test_of_installed_packages_those_that_plug_in_are_run_as_they_stand(python, tmp_path):
    folder = tmp_path / "site-packages"
    write(folder, {
        "mine-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n",
        "mine-1.0.dist-info/RECORD": "mine/__init__.py,,\nbeside.py,,\n",
        "mine-1.0.dist-info/entry_points.txt": "[boostrun.papers]\nmine = mine:PAPER\n",
        "mine/__init__.py": ANSWER, "beside.py": ANSWER, "other.py": ANSWER,
    })  # fmt: skip
    for name in ("mine", "beside", "other"):
        ask = f"import sys; sys.path.append('site-packages'); {ASK.format(module=name)}"
        assert python("-c", ask) == "2"
        edit(folder / ("mine/__init__.py" if name == "mine" else f"{name}.py"))
        assert python("-c", ask) == ("2" if name == "other" else "3")


def test_a_plugin_that_is_found_by_a_hook_of_an_editable_installation_is_run_as_it_stands(python, tmp_path):
    path = write(tmp_path / "src", {"mine/__init__.py": ANSWER})
    hook = (
        "import sys, importlib.util\nclass Hook:\n  @staticmethod\n  def find_spec(name, path=None, target=None):\n"
        f"    if name == 'mine': return importlib.util.spec_from_file_location(name, {str(path)!r})\n"
        "sys.meta_path.append(Hook)\n"
    )
    ask = hook + ASK.format(module="mine")
    assert python("-c", ask) == "2"
    edit(path)
    assert python("-c", ask) == "3"


@pytest.mark.parametrize("made_by", ["boostrun", "Python"])
def test_modules_of_boostrun_run_as_they_stand(made_by, python, tmp_path):
    root = tmp_path / "copied"
    shutil.copytree(PACKAGE, root / "boostrun", ignore=shutil.ignore_patterns("__pycache__", "papers", "rivals"))
    edits = {"__init__.py": ('version__ = "0', 'version__ = "9'), "signals.py": ("_AGAIN = 3.0", "_AGAIN = 4.0"),
             "import_hooks.py": ("dist-packages", "gone-packages")}  # fmt: skip
    if made_by == "Python":
        for name in edits:
            py_compile.compile(str(root / "boostrun" / name))
    ask = (
        "import sys, boostrun, boostrun.signals as s, boostrun.import_hooks as f; "
        "print(boostrun.__version__[0], s._AGAIN, f._INSTALLED[1], boostrun.__file__)"
    )
    if made_by == "boostrun":
        assert python("-c", ask, root=root).startswith("0 3.0 dist-packages")
    for name, (old, new) in edits.items():
        edit(root / "boostrun" / name, old, new)
    assert python("-c", ask, root=root).startswith("9 4.0 gone-packages")
    assert python("-m", "boostrun", "--version", root=root).startswith("boostrun 9")


@pytest.mark.slow
def test_a_command_and_its_workers_run_a_persons_own_module_as_it_stands(python, tmp_path):
    mine = tmp_path / "mine"
    write(mine, {"algo/voter.yaml": "name: voter\nclass: voter:Voter\n", "helped.py": "SHARE = 1\n", "voter.py": (
        "import numpy as np\nclass Voter:\n"
        "    def __init__(self, random_state=None): pass\n"
        "    def fit(self, X, y):\n        self.classes_ = np.unique(y)\n        return self\n"
        "    def predict(self, X):\n        from helped import SHARE\n"
        "        return np.repeat(self.classes_[SHARE], len(X))\n")})  # fmt: skip
    line = ["-m", "boostrun", "--config-dir", "mine", "algo=voter", "dataset=digits", "trials=2", "n_jobs=2"]
    first = python(*line)
    edit(mine / "helped.py", "SHARE = 1", "SHARE = 2")
    again = python(*line, "store=another")
    assert python(*line, "store=a_third", PYTHONDONTWRITEBYTECODE="1", PYTHONPYCACHEPREFIX="none") == again.replace(
        "another", "a_third"
    )
    assert first.splitlines()[1] != again.splitlines()[1]
