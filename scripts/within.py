"""Check that `boostrun fit --within` keeps its budgets: fits models of tables under random budgets, and measures again.

    python scripts/within.py OUT.csv TABLE.csv [TABLE.csv ...] [vectors=3] [seed=0]

Writes a row for each budget of each fit: its limit, the cost by the certificate, the cost by a second measurement, and
the accuracy on the test part. If a fit fails, one row has its error. The second measurement takes seconds around the
whole command; columns, flash and latency from the saved model; and memory from a second run of the training command.
The last row counts the budgets that the second measurement exceeds.
"""

import csv
import json
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from boostrun.prediction import load, pieces
from boostrun.runner import meters

CHOICES = {
    "features": ["2", "3", "5", "10", "20"], "flash": ["500B", "1kB", "4kB", "16kB"],
    "latency": ["500ns", "2us", "20us"], "memory": ["400MiB", "512MiB", "1GiB"], "held": ["100", "500", "2000"],
}  # fmt: skip
SECONDS = ["40", "60", "90"]
ASKED = 0.5  # probability that a budget of each kind is set
HEAD = ["table", "within", "rc", "method", "accuracy", "low", "high", "kind", "most", "certificate", "again", "kept"]


def vectors(count: int, seed: int) -> list[str]:
    """Random words for --within; each sets a budget of seconds and some others."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        asked = {kind: str(generator.choice(some)) for kind, some in CHOICES.items() if generator.random() < ASKED}
        asked["seconds"] = str(generator.choice(SECONDS))
        found.append(",".join(f"{kind}={amount}" for kind, amount in asked.items()))
    return found


def again(model: Path, table: Path, facts: dict, seconds: float) -> dict[str, float]:
    """The cost of each kind of budget by a second measurement; ``held`` is copied from the certificate."""
    samples = next(iter(pieces(load(model), str(table), {}))).X
    found = {"seconds": seconds}
    if "features" in facts["budgets"]:
        read = meters.columns_read(load(model), samples, seed=1)
        found["features"] = float(len(read.columns)) if read.all_others else float(samples.shape[1])
    saved = meters.read(model)
    if "flash" in facts["budgets"]:
        found["flash"] = float(meters.flash(saved, samples).bytes)
    if "latency" in facts["budgets"]:
        found["latency"] = meters.latency(saved, samples).microseconds
    if "memory" in facts["budgets"]:
        command = [*shlex.split(facts["alone"])[1:-1], str(model.with_name("second.npz"))]
        found["memory"] = meters.peak_of([sys.executable, "-m", "boostrun", *command]) * 2**20
    if "held" in facts["budgets"]:
        found["held"] = facts["budgets"]["held"]["spent"]
    return found


def main(words: list[str]) -> None:
    """Fit all models; each row is written as soon as it is known."""
    keys = dict(word.split("=", 1) for word in words if "=" in word)
    out, *tables = [word for word in words if "=" not in word]
    beyond = total = 0
    with open(out, "w", newline="") as file, tempfile.TemporaryDirectory() as name:
        lines = csv.writer(file)
        lines.writerow(HEAD)
        for number, table in enumerate(map(Path, tables)):
            for within in vectors(int(keys.get("vectors", 3)), int(keys.get("seed", 0)) + number):
                model = Path(name) / "m.npz"
                places = [f"{key}={name}/{key}" for key in ("store", "results", "cache_root")]
                command = ["fit", str(table.absolute()), "--within", within, "-o", str(model), *places, "n_jobs=2"]
                begun = time.monotonic()
                whole = [sys.executable, "-m", "boostrun", *command]
                done = subprocess.run(whole, check=False, capture_output=True, text=True)
                seconds = time.monotonic() - begun
                if done.returncode:
                    said = done.stderr.strip().splitlines()[-1]
                    lines.writerow([table.stem, within, done.returncode, said, *[""] * 7, f"{seconds:.1f}"])
                else:
                    facts = json.loads(model.with_name("m.certificate.json").read_text())
                    second = again(model, table, facts, seconds)
                    for kind, each in facts["budgets"].items():
                        kept = second[kind] <= each["most"]
                        total, beyond = total + 1, beyond + (not kept)
                        lines.writerow([
                            table.stem, within, 0, facts["method"], facts["test_accuracy_pct"], *facts["interval_95"],
                            kind, each["most"], each["spent"], second[kind], kept,
                        ])  # fmt: skip
                file.flush()
        lines.writerow(["all", "", "", "", "", "", "", "", total, "", beyond, ""])
    print(f"{beyond} of {total} budgets are exceeded")


if __name__ == "__main__":
    main(sys.argv[1:])
