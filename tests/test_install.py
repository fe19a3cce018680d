"""The wheel and the source distribution, each installed in an empty environment, carry all that they need."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from boostrun import __version__

ROOT = Path(__file__).parent.parent


def built(kind, folder, project=ROOT):
    """The one file that ``--wheel`` or ``--sdist`` puts into ``folder``."""
    subprocess.run(
        [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", folder, project],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    (package,) = folder.iterdir()
    return package


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return built("sdist", tmp_path_factory.mktemp("sdist"))


def installed(folder, *packages):
    """The folder with the programs of a new environment that has these packages and their dependencies."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    install = subprocess.run(
        [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "-c",
         ROOT / "constraints.txt", *packages],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    offline = ("NewConnectionError", "No matching distribution")
    if install.returncode and any(word in install.stderr for word in offline):
        pytest.skip("no package registry can be reached")
    assert install.returncode == 0, install.stderr
    return scripts


def elsewhere():
    """The environment variables without those that would lead back to this checkout."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "BOOSTRUN_DATA")}


def test_the_wheel_carries_configuration_and_reference_figures_and_nothing_of_the_tests(wheel):
    assert wheel.name.startswith(f"boostrun-{__version__}-")
    names = set(zipfile.ZipFile(wheel).namelist())
    page, papers = "boostrun/report/page", "boostrun/papers"
    for folder, packaged in (("conf", "boostrun/conf"), (papers, papers), (page, page)):
        files = {
            f"{packaged}/{path.relative_to(ROOT / folder).as_posix()}"
            for path in (ROOT / folder).rglob("*")
            if path.suffix in (".yaml", ".csv", ".html", ".css", ".js")
        }
        assert files and files <= names
    assert len([name for name in names if re.fullmatch(r"boostrun/papers/\w+/reference\.csv", name)]) == 4
    assert not [name for name in names if name.startswith(("tests", "conf/", "results", "datasets"))]


def test_a_wheel_with_compiled_kernels_is_for_one_python_and_one_kind_of_machine(tmp_path):
    for name in ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("boostrun/__init__.py", "boostrun/compiled/target.json", "conf/config.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f'__version__ = "{__version__}"\n')
    wheel = built("wheel", tmp_path / "dist", tmp_path)
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.startswith(f"boostrun-{__version__}-{python}-{python}-") and not wheel.name.endswith("-any.whl")
    assert "boostrun/compiled/target.json" in zipfile.ZipFile(wheel).namelist()


@pytest.mark.slow
def test_the_installed_command_runs_in_an_empty_environment(wheel, tmp_path):
    scripts = installed(tmp_path / "venv", wheel)
    out = subprocess.run(
        [scripts / "boostrun", "-m", "algo=rand,max", "dataset=digits", "r=20", "T=5", "trials=2", "n_jobs=2"],
        cwd=tmp_path, env=elsewhere(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert out.returncode == 0, out.stderr
    assert "max" in out.stdout and "n=2" in out.stdout
    listed = subprocess.run(
        [scripts / "boostrun", "table", "reservoir/table3", "dataset=mnist"],
        cwd=tmp_path, env=elsewhere(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "84.66" in listed.stdout  # the paper's figures are packaged


def test_the_version_is_told_alike_wherever_it_is_told():
    cited = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    heads = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert cited == [__version__]
    assert re.search(r"\d+\.\d+\.\d+", heads[0])[0] == __version__


@pytest.mark.slow
def test_the_source_distribution_carries_what_is_worked_with(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if kept.returncode:
        pytest.skip("not a checkout")
    folders = ("boostrun", "conf", "docs", "examples", "scripts", "tests")
    wanted = {name for name in kept.stdout.splitlines() if name.partition("/")[0] in folders and (ROOT / name).exists()}
    wanted |= {"CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "README.md", "constraints.txt", "pyproject.toml"}
    assert wanted <= names, sorted(wanted - names)
    assert not [name for name in names if name.startswith(("results", "build/", ".venv"))]


@pytest.mark.slow
def test_the_source_distribution_is_built_and_tests_itself_in_an_empty_environment(sdist, tmp_path):
    scripts = installed(tmp_path / "venv", sdist, "pytest", "pytest-xdist", "hypothesis")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("boostrun-*")
    here = {**elsewhere(), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    listed = subprocess.run(
        [scripts / "boostrun", "table", "reservoir/table3", "dataset=mnist"],
        cwd=tmp_path, env=here, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "84.66" in listed.stdout, listed.stderr
    shutil.rmtree(source / "boostrun")  # so that it is the installed package that is tested
    tests = subprocess.run(
        [scripts / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/config"],
        cwd=source, env=here, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tests.returncode == 0 and " passed" in tests.stdout, tests.stdout + tests.stderr
