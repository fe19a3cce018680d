"""Run quick tests with other versions of dependencies than constraints.txt has, each set in its own environment.

    python scripts/versions.py lowest      # the oldest versions that pyproject.toml allows
    python scripts/versions.py newest      # the newest versions
    python scripts/versions.py hydra       # the newest versions and the pre-release of Hydra

The tests use the Python that runs this script, for example ``python3.10 scripts/versions.py newest``. Environments are
kept in build/versions, or in the folder that ``--where`` names, and made again if the bounds in pyproject.toml change.
Arguments after ``--`` are passed to pytest in place of the default tests. The exit code is that of pytest.
"""

import argparse
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = (
    "tests/config", "tests/cli/test_verbs.py", "tests/runner/test_queue.py", "tests/runner/test_store.py",
    "tests/papers/reservoir/test_loop.py", "tests/papers/shareboost/test_shareboost.py",
    "tests/papers/iboost/test_iboost.py", "tests/report/test_tables.py",
)  # fmt: skip
TOOLS = ("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100")
HYDRA = "hydra-core>=1.4.0.dev0,<1.5"  # with a pre-release as bound, pip installs pre-releases


def dependencies() -> list[str]:
    """The ``[project] dependencies`` of pyproject.toml, read without tomllib, which Python 3.10 lacks."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert listed
    return re.findall(r'^  "([^"]+)",$', listed[1], re.MULTILINE)


def lowest(requirement: str) -> str:
    """The requirement at its lower bound.

    >>> lowest("hydra-core>=1.3.2,<1.5")
    'hydra-core==1.3.2'
    """
    name, bound = re.match(r"([\w-]+)>=([\w.]+)", requirement).groups()
    return f"{name}=={bound}"


def requirements(kind: str) -> list[str]:
    """The requirements that pip installs, without boostrun itself."""
    listed = dependencies()
    if kind == "lowest":
        return [lowest(requirement) for requirement in listed]
    return [*listed, HYDRA] if kind == "hydra" else listed


def environment(kind: str, where: Path) -> Path:
    """The Python of the environment of this kind, which is made if it is missing or outdated."""
    folder = where / f"{kind}-{sys.version_info.major}.{sys.version_info.minor}"
    asked = "\n".join([*requirements(kind), *TOOLS])
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    made_for = folder / "asked.txt"
    if not made_for.exists() or made_for.read_text("utf-8") != asked:
        venv.create(folder, clear=True, with_pip=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        # only wheels, so that no compiler runs; antlr4, Hydra's parser, is pure Python and has no wheel
        wheels = ["--only-binary", ":all:", "--no-binary", "antlr4-python3-runtime"]
        subprocess.run([*install, *wheels, *requirements(kind), *TOOLS], check=True)
        subprocess.run([*install, "--no-deps", "--editable", ROOT], check=True)
        made_for.write_text(asked, "utf-8")
    return python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("lowest", "newest", "hydra"))
    parser.add_argument("--where", type=Path, default=ROOT / "build" / "versions", help="folder of the environments")
    parser.add_argument("tests", nargs="*", default=TESTS, help="after --, for pytest")
    args = parser.parse_args()
    python = environment(args.kind, args.where)
    names = [re.split(r"[<>=]", requirement)[0] for requirement in dependencies()]
    say = f"from importlib.metadata import version as v; print(*(f'{{n}} {{v(n)}}' for n in {names!r}), sep=', ')"
    print(f"{args.kind}, Python {sys.version.split()[0]}", flush=True)
    subprocess.run([python, "-c", say], check=True)
    return subprocess.run([python, "-m", "pytest", "-q", *args.tests], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
