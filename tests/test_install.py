"""The built wheel, installed in an empty environment, carries all it needs and its command runs."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return next(out.glob("boostrun-*.whl"))


def test_the_wheel_carries_configuration_and_reference_figures_and_nothing_of_the_tests(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    page = "boostrun/report/page"
    for folder, packaged in (("conf", "boostrun/conf"), ("boostrun/reference", "boostrun/reference"), (page, page)):
        files = {
            f"{packaged}/{path.relative_to(ROOT / folder).as_posix()}"
            for path in (ROOT / folder).rglob("*")
            if path.suffix in (".yaml", ".csv", ".html", ".css", ".js")
        }
        assert files and files <= names
    assert not [name for name in names if name.startswith(("tests", "conf/", "results", "datasets"))]


def test_the_installed_command_runs_in_an_empty_environment(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    scripts = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    install = subprocess.run(
        [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "-c",
         ROOT / "constraints.txt", wheel],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    offline = ("NewConnectionError", "No matching distribution")
    if install.returncode and any(word in install.stderr for word in offline):
        pytest.skip("no package registry can be reached")
    assert install.returncode == 0, install.stderr
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "BOOSTRUN_DATA")}
    out = subprocess.run(
        [scripts / "boostrun", "-m", "algo=rand,max", "dataset=digits", "r=20", "T=5", "trials=2", "n_jobs=2"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert out.returncode == 0, out.stderr
    assert "max" in out.stdout and "n=2" in out.stdout
    listed = subprocess.run(
        [scripts / "boostrun", "table", "reservoir/table3", "dataset=mnist"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "84.66" in listed.stdout  # the paper's figures are packaged
