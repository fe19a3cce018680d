"""Compile kernels into boostrun/compiled, for any x86-64 processor with AVX2; `make wheel` puts them into a wheel.

    python scripts/compile_kernels.py

Each of our methods runs on small data, and each classifier is fitted, with an empty cache. What they have compiled is
kept under the names that :mod:`boostrun.kernel_cache` looks for. This takes six minutes. A kernel that is not there,
or is called with other types, is compiled where it is used.
"""

import json
import os
import pickle
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from boostrun.kernel_cache import SHIPPED, made_by, name_of, sealed

LEVEL = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "xsave")  # x86-64-v3
WORK = """
import tempfile
import numpy as np
import boostrun
from boostrun.config import catalogue
rng = np.random.default_rng(0)
X = rng.integers(0, 200, (300, 8))
y = X[:, 0] // 60
fits = [
    lambda name=name, kind=kind, y=labels: getattr(boostrun, name)().fit(X.astype(kind), y).predict(X[:1].astype(kind))
    for name in sorted(boostrun.__all__) if name.endswith("Classifier")
    for kind in (np.uint8, np.float64) for labels in (y, y > 1)
]
runs, streams = ["dataset=digits T=3"], ["dataset=sea dataset.first=2000"]
with tempfile.TemporaryDirectory() as folder:
    for paper, declared in catalogue.papers().items():
        for name, method in declared.methods.items() if paper != "rivals" else ():
            trees = ["dataset=digits T=3 algo.weak_learner=tree"] if "weak_learner" in method.fields else []
            for words in streams if "stream" in method.inputs else runs + trees:
                fits.append(lambda name=name, words=words: boostrun.run(
                    f"algo={name}", *words.split(), trials=1, n_jobs=1, store=folder, cache_root=folder,
                    results=folder))
    for fit in fits:
        try:
            fit()
        except boostrun.BoostrunError as refused:  # not all of them take these data and keys
            print(f"not run: {refused}")
"""


def kept(caches: Path) -> dict[str, bytes]:
    """The contents of compiled kernels in caches of Numba, by name."""
    found = {}
    for index in caches.rglob("*.nbi"):
        with open(index, "rb") as file:
            pickle.load(file)  # Numba's version
            _, kernels = pickle.loads(file.read())
        for (signature, *_, content), name in kernels.items():
            with open(index.parent / name, "rb") as file:
                found[name_of(signature, content)] = sealed(pickle.dumps(pickle.load(file)))
    return found


def main() -> None:
    if platform.machine() not in ("x86_64", "AMD64"):
        sys.exit(f"compile_kernels: kernels are compiled in advance for x86-64 only, not for {platform.machine()}")
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ, "NUMBA_CACHE_DIR": folder, "NUMBA_CPU_NAME": "x86-64-v3", "OMP_NUM_THREADS": "1",
            "NUMBA_CPU_FEATURES": ",".join(f"+{name}" for name in LEVEL),
        }  # fmt: skip
        subprocess.run([sys.executable, "-c", WORK], env=environment, check=True)
        kernels = kept(Path(folder))
    if not kernels:
        sys.exit("compile_kernels: no kernel was compiled")
    shutil.rmtree(SHIPPED, ignore_errors=True)
    SHIPPED.mkdir()
    for name, content in kernels.items():
        (SHIPPED / name).write_bytes(content)
    (SHIPPED / "target.json").write_text(json.dumps({"made_by": made_by(), "features": LEVEL}), "utf-8")
    print(f"{len(kernels)} kernels, {sum(map(len, kernels.values())) / 2**20:.1f} MiB, in {SHIPPED}")


if __name__ == "__main__":
    main()
