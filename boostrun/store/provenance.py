"""Where a record comes from: revision, versions, machine, threads, command and time."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import boostrun

_PACKAGES = (
    "numpy", "scipy", "numba", "scikit-learn", "joblib", "scikit-image", "pandas", "torch", "torchvision", "lightgbm",
    "xgboost", "xgboost-cpu", "catboost",
)  # fmt: skip
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def collect(command: Sequence[str] | None = None) -> dict[str, Any]:
    """The provenance of this process as plain values; all but command, time and threads is found once.

    ``git`` is {"revision", "dirty"}, or None outside a checkout of boostrun; ``cpu`` is {"model", "cores", "usable"};
    ``command`` is ``sys.argv`` by default; ``time`` is UTC in ISO format. A record has the ``threads`` and
    ``instructions`` of the worker that ran it.

    >>> sorted(collect(["boostrun", "algo=geem"]))
    ['command', 'cpu', 'git', 'instructions', 'platform', 'python', 'threads', 'time', 'versions']
    """
    revision = _revision()
    return {
        "git": dict(revision) if revision else None,
        "versions": dict(_versions()),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": {"model": _cpu_model(), "cores": os.cpu_count() or 1, "usable": usable_cores()},
        "threads": threads_in_force(),
        "instructions": instructions_in_force(),
        "command": [str(word) for word in (sys.argv if command is None else command)],
        "time": utc_now(),
    }


def prepare() -> None:
    """Start to look up in the background what :func:`collect` needs, while cells are planned."""
    threading.Thread(target=lambda: (_revision(), _versions(), _cpu_model()), daemon=True).start()


def utc_now() -> str:
    """The time as ``2024-05-01T12:00:00.123456+00:00``; such strings sort by time."""
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


def usable_cores() -> int:
    """The cores that this process may use (affinity and container limits, as joblib counts them)."""
    from joblib import cpu_count

    return int(cpu_count())


def threads_in_force() -> dict[str, Any]:
    """The threads that the numerical libraries of this process would use now.

    ``pools``: library name -> threads, of every BLAS and OpenMP library loaded (the largest if one is loaded twice);
    ``numba``: its threads, or None if numba is not loaded; ``environment``: the variables that are set.
    """
    pools: dict[str, int] = {}
    for library in _libraries(len(sys.modules)):
        name = library["internal_api"]
        pools[name] = max(pools.get(name, 0), int(library["num_threads"]))
    numba = loaded_numba()
    return {
        "pools": dict(sorted(pools.items())),
        "numba": int(numba.get_num_threads()) if numba else None,
        "environment": {name: os.environ[name] for name in _THREAD_VARIABLES if name in os.environ},
    }


def instructions_in_force() -> dict[str, str]:
    """The instruction sets that the numerical libraries of this process use, by library.

    Rounding, and the order of equal values in a sort, depend on them: results may differ between two sets, see the FAQ.

    >>> instructions_in_force()["numpy"]
    '...'
    """
    import numpy

    extensions = numpy.show_config(mode="dicts")["SIMD Extensions"]
    found = {"numpy": " ".join(extensions.get("found") or extensions.get("baseline", []))}
    for library in _libraries(len(sys.modules)):
        if "architecture" in library:
            found[library["internal_api"]] = str(library["architecture"])
    if "llvmlite" in sys.modules:
        from llvmlite.binding import get_host_cpu_name

        found["numba"] = os.environ.get("NUMBA_CPU_NAME") or get_host_cpu_name()
    return found


def loaded_numba() -> Any:
    """numba if this process has loaded it, else None. If another thread is loading it, waits for that."""
    if not sys.modules.get("numba"):
        return None
    import numba

    return numba


def forget_threads() -> None:
    """Inspect the libraries again next time, after their number of threads has been changed."""
    _libraries.cache_clear()


@lru_cache(maxsize=1)
def _libraries(_modules_loaded: int) -> list[dict[str, Any]]:
    """The numerical libraries as threadpoolctl finds them, inspected again when more modules are loaded."""
    from threadpoolctl import threadpool_info

    return threadpool_info()


@lru_cache(maxsize=1)
def _revision() -> dict[str, Any] | None:
    """Revision and dirty flag of the checkout that boostrun was imported from, by one call of git."""
    root = Path(boostrun.__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return None
    # A hook's GIT_DIR would point git elsewhere; without optional locks, git status never writes in the checkout.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    lines = _output_of(
        ["git", "-C", str(root), "status", "--porcelain=v2", "--branch", "--untracked-files=no"], environment
    ).splitlines()
    revision = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), "(initial)")
    if revision == "(initial)":
        return None
    return {"revision": revision, "dirty": any(not line.startswith("#") for line in lines)}


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    versions = {"boostrun": boostrun.__version__}
    for package in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


@lru_cache(maxsize=1)
def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Model", "cpu model") and value.strip():
                return value.strip()
    if sys.platform == "darwin" and (model := _output_of(["sysctl", "-n", "machdep.cpu.brand_string"]).strip()):
        return model
    return platform.processor() or platform.machine()


def _output_of(command: Sequence[str], environment: dict[str, str] | None = None) -> str:
    """The output of a command; empty if it fails."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=20, env=environment, check=True, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
