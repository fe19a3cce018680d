"""Disturb a sweep by kills, full disks and wrong clocks: its table must equal that of an undisturbed run.

    python scripts/storm.py --kills 200 --seed 0 --busy 4

There are four parts:

- The same sweep is started again and again, and killed at a random moment: the parent, a worker or both by SIGKILL,
  all by Ctrl-C, or the parent by SIGTERM. Sometimes a second command uses the same store, or the clock jumps by months
  in every process. One command in eight also draws pictures. After each kill every record must be complete; none may
  be lost, changed or duplicated; no process may be left, and no traceback may be printed. When the sweep has finished,
  its table must equal that of an undisturbed run to the byte, except for the seconds of training. Then another episode
  begins with an empty store.
- The disk of the store is full in the middle of a sweep, then read-only. The disk is a small tmpfs; mounting it needs
  root.
- ``boostrun follow`` is killed by SIGKILL at random moments until it has answered every line. Its answers must equal
  those of an undisturbed run to the byte.
- Workers of a Dask cluster are killed while a reservoir learner trains on a folder of Parquet files. Its model must
  equal the model that one process trains.

The script prints counts, even if it fails. The exit code is 0 if all checks passed, else 1.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import importlib.util
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path

SWEEP = ("-m", "algo=rand,wsam", "dataset=digits", "r=20,30", "T=10", "trials=15", "n_jobs=2")
N_TRIALS = 60
LONGEST = 600.0  # seconds in which a command must end, even on a busy machine
FIT = """import sys
from pathlib import Path
import joblib
import numpy as np
from boostrun import SplitReservoirClassifier
from boostrun.config import defaults
from boostrun.data import stream_set
folder, address, rounds, to = sys.argv[1:]
options = {**defaults("dataset", "stream"), "name": "stream", "path": f"{folder}/lake", "test_share": 0.3}
data = stream_set.open_set(options, Path(folder))
model = SplitReservoirClassifier(
    "wsam", parts=4, rounds=rounds, reservoir_size=40, n_estimators=60, random_state=0, n_jobs=4 if address else None
)
if address:
    from distributed import Client
    with Client(address), joblib.parallel_config("dask"):
        model.fit_source(data.source(16, 0))
else:
    model.fit_source(data.source(16, 0))
np.save(to, np.concatenate([model.decision_function(columns.T) for columns, _ in data.test_chunks(16)]))
"""
JUMP = """import random, time
_real, _real_ns, _state = time.time, time.time_ns, [0, 0.0]
def _offset():
    _state[0] += 1
    if _state[0] % 20 == 1:
        _state[1] = random.choice([0.0, -2e7, 2e7])
    return _state[1]
time.time = lambda: _real() + _offset()
time.time_ns = lambda: _real_ns() + int(1e9 * _offset())
"""


class Broken(Exception):
    """A check has failed."""


def main(words: list[str] | None = None) -> int:
    """Run all parts; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="number of commands to kill (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="of the times and kinds of kills (default: 0)")
    parser.add_argument("--busy", type=int, default=0, help="busy loops that run at the same time (default: 0)")
    given = parser.parse_args(words)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    counts: Counter[str] = Counter()
    wrong = ""
    with tempfile.TemporaryDirectory(prefix="storm-") as folder:
        try:
            with busy(given.busy):
                storm(Path(folder), given.kills, random.Random(given.seed), counts)
        except Broken as error:
            wrong = str(error)
        except KeyboardInterrupt:
            wrong = "interrupted"
    width = max(map(len, counts), default=0)
    for what in sorted(counts):
        print(f"{what:{width}}  {counts[what]}")
    if wrong:
        print(f"storm: {wrong}", file=sys.stderr)
        return 1
    print("all records are complete, none lost, changed or doubled; all tables equal that of the undisturbed run")
    return 0


def storm(folder: Path, kills: int, rng: random.Random, counts: Counter[str]) -> None:
    """Run all parts below ``folder`` and count their events. Raises Broken."""
    (folder / "clock").mkdir()
    (folder / "clock" / "sitecustomize.py").write_text(JUMP, encoding="ascii")
    calm = Episode(folder / "calm", counts)
    begun = time.monotonic()
    calm.finish(start(calm.folder))
    seconds, wanted = deque([time.monotonic() - begun], maxlen=5), calm.tables()
    struck = 0
    while struck < kills:
        episode = Episode(folder / f"episode{counts['episodes']}", counts)
        counts["episodes"] += 1
        while struck < kills:
            wrong_clock, pictures = rng.random() < 0.2, rng.random() < 0.125
            command = start(episode.folder, clock=folder / "clock" if wrong_clock else None, pictures=pictures)
            counts["commands that draw"] += pictures
            second = start(episode.folder) if rng.random() < 0.15 else None
            counts["second commands"] += second is not None
            begun = time.monotonic()
            if episode.strike(command, rng, rng.uniform(0.0, 1.1 * max(seconds))):
                struck += 1
            else:  # the load of the machine changes
                seconds.append(time.monotonic() - begun)
            if second is not None:
                episode.finish(second)
            episode.check()
            if len(episode.kept) == N_TRIALS:
                break
        episode.finish(start(episode.folder))
        if episode.tables() != wanted:
            raise Broken(f"the table of {episode.folder.name} differs from that of the undisturbed run")
    disk(folder / "disk", counts, wanted)
    follow(folder, max(2, kills // 20), rng, counts)
    lake(folder, max(2, kills // 20), rng, counts)


def follow(folder: Path, kills: int, rng: random.Random, counts: Counter[str]) -> None:
    """Kill ``boostrun follow`` this often; compare its answers with an undisturbed run. Raises Broken."""
    lines = [{"x": rng.random(), "y": rng.random(), "kind": rng.choice("ab")} for _ in range(30_000)]
    (folder / "live.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="ascii")

    def started(name: str) -> subprocess.Popen:
        words = ["follow", "algo=vfdt", "label=kind", "live.jsonl", "every=200", f"state={name}.npz", "-o", name]
        return subprocess.Popen(
            [sys.executable, "-m", "boostrun", *words], cwd=folder, start_new_session=True, stderr=subprocess.PIPE
        )

    def whole(name: str) -> bytes:
        process = started(name)
        said = process.communicate()[1]
        if process.returncode:
            raise Broken(f"follow failed: {said[-500:]!r}")
        return (folder / name).read_bytes()

    wanted = whole("calm.jsonl")  # compiles; the next run is timed
    begun = time.monotonic()
    whole("timed.jsonl")
    seconds = time.monotonic() - begun
    for _ in range(kills):
        killed = started("killed.jsonl")
        with contextlib.suppress(subprocess.TimeoutExpired):
            killed.wait(rng.uniform(0.3, 0.9) * seconds)
        ended = killed.poll() is not None
        counts["follow ended" if ended else "follow killed"] += 1
        send(killed.pid, signal.SIGKILL)
        killed.communicate()
        if ended:
            if whole("killed.jsonl") != wanted:
                raise Broken("the answers of follow differ from those of the undisturbed run")
            for name in ("killed.jsonl", "killed.jsonl.npz"):  # the next one starts at the first row
                (folder / name).unlink()
    if whole("killed.jsonl") != wanted:
        raise Broken("the answers of follow differ from those of the undisturbed run")


def lake(folder: Path, kills: int, rng: random.Random, counts: Counter[str]) -> None:
    """Kill Dask workers of a learner this often; compare its scores with those of one process. Raises Broken."""
    if lacking := [name for name in ("distributed", "pyarrow") if importlib.util.find_spec(name) is None]:
        print(f"storm: {lacking[0]} is not installed: the part on a Dask cluster was skipped")
        return
    from distributed import Client

    write_lake(folder / "lake", rng)
    with cluster(folder) as address, Client(address, set_as_default=False) as client:
        for rounds in ("merged", "independent"):
            wanted = Fit(folder, "", rounds).result()
            begun = time.monotonic()
            if Fit(folder, address, rounds).result() != wanted:
                raise Broken(f"the model of {rounds} parts on Dask differs from that of one process")
            seconds, struck = time.monotonic() - begun, 0
            while struck < kills:
                fit = Fit(folder, address, rounds)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    fit.process.wait(rng.uniform(0.2, 0.9) * seconds)
                client.wait_for_workers(1, timeout=LONGEST)
                if fit.process.poll() is None:
                    send(rng.choice(sorted(client.run(os.getpid, on_error="ignore").values())), signal.SIGKILL)
                    struck += 1
                    counts[f"Dask worker killed, {rounds}"] += 1
                if fit.result() != wanted:
                    raise Broken(f"the model of {rounds} parts differs after a Dask worker was killed")


def write_lake(folder: Path, rng: random.Random) -> None:
    """Write eight Parquet files with three row groups each; two of the columns determine the label."""
    import pyarrow
    from pyarrow import parquet

    folder.mkdir()
    for number in range(8):
        values = {name: [rng.random() for _ in range(900)] for name in "abcd"}
        kind = ["big" if a + b > 1.0 else "small" for a, b in zip(values["a"], values["b"])]
        parquet.write_table(pyarrow.table({**values, "kind": kind}), folder / f"{number}.parquet", row_group_size=300)


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Start a Dask scheduler and two workers, which restart when they die; yields the scheduler's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    dask = [sys.executable, "-m", "dask"]
    commands = (
        [*dask, "scheduler", "--host=127.0.0.1", f"--port={address.rpartition(':')[2]}", "--no-dashboard", "--no-show"],
        [*dask, "worker", address, "--nworkers=2", "--nthreads=1", "--no-dashboard", "--memory-limit=0",
         f"--local-directory={folder}"],
    )  # fmt: skip
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    running = [subprocess.Popen(command, **quiet) for command in commands]
    try:
        yield address
    finally:
        for process in reversed(running):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Fit:
    """A process that trains on the Parquet files, with the cluster at ``address``, or alone if it is empty."""

    def __init__(self, folder: Path, address: str, rounds: str):
        self.scores = folder / "scores.npy"
        self.scores.unlink(missing_ok=True)
        words = [sys.executable, "-c", FIT, str(folder), address, rounds, str(self.scores)]
        self.process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def result(self) -> bytes:
        """Wait; returns the bytes of the .npy file with the scores of the test rows. Raises Broken."""
        try:
            said = self.process.communicate(timeout=LONGEST)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Broken(f"a learner on Dask did not end within {LONGEST:.0f} s") from None
        if self.process.returncode:
            raise Broken(f"a learner on Dask failed: {said[-1500:].decode()}")
        return self.scores.read_bytes()


class Episode:
    """A folder with a store, and the records that have been seen in it."""

    def __init__(self, folder: Path, counts: Counter):
        self.folder, self.counts = folder, counts
        self.kept: dict[Path, bytes] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def strike(self, command: subprocess.Popen, rng: random.Random, after: float) -> bool:
        """Kill a command after so many seconds; returns False if it had ended before."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            command.wait(after)
            self.finish(command)
            return False
        how = rng.choice(["SIGKILL parent", "SIGKILL worker", "SIGKILL both", "SIGTERM", "ctrl-C"])
        workers = [pid for pid in session(command.pid) if pid != command.pid]
        if "worker" in how or "both" in how:
            for pid in rng.sample(workers, min(1, len(workers))):
                send(pid, signal.SIGKILL)
        if how in ("SIGKILL parent", "SIGKILL both"):
            send(command.pid, signal.SIGKILL)
        elif how == "SIGTERM":
            send(command.pid, signal.SIGTERM)
        elif how == "ctrl-C":
            for pid in [command.pid, *workers]:
                send(pid, signal.SIGINT)
        self.counts[how] += 1
        self.end(command, (0, 1, 2, 130, 143, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT))
        return True

    def finish(self, command: subprocess.Popen) -> None:
        """Wait for an undisturbed command, which must succeed. Raises Broken."""
        self.end(command, (0,))

    def end(self, command: subprocess.Popen, codes: tuple[int, ...]) -> str:
        """Wait until a command and all its processes have ended; returns its stderr. Raises Broken."""
        try:
            printed, said = command.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            raise Broken(f"a command did not end within {LONGEST:.0f} s") from None
        self.counts["commands"] += 1
        self.counts[f"exit code {command.returncode}"] += 1
        if command.returncode not in codes:
            raise Broken(f"a command ended with {command.returncode}: {said[-500:]}")
        # A worker that is still importing when SIGKILL ends its command cannot avoid a traceback.
        words = ("Traceback", "Exception in thread", "exception calling callback")
        if command.returncode >= 0 and any(word in printed + said for word in words):
            raise Broken(f"a traceback: {(printed + said)[-1500:]}")
        limit = time.monotonic() + 10.0
        while left := session(command.pid):
            if time.monotonic() > limit:
                raise Broken(f"{len(left)} processes outlived their command")
            time.sleep(0.05)
        return said

    def check(self) -> None:
        """Check that all records are complete and unchanged, and none stored twice. Raises Broken."""
        found, places = {}, Counter()
        for path in (self.folder / "store").glob("??/*.json"):
            found[path] = path.read_bytes()
            try:
                record = json.loads(found[path])
            except ValueError:
                raise Broken(f"a record is incomplete: {path.name}") from None
            if record["key"] != path.stem:
                raise Broken(f"a record is in the wrong place: {path.name}")
            places[record["cell_key"], record["seed"]] += 1
        if list((self.folder / "store").glob("??/*.corrupt")):
            raise Broken("boostrun found a damaged record")
        if any(n > 1 for n in places.values()):
            raise Broken("a trial is stored twice")
        for path, content in self.kept.items():
            if path not in found and json.loads(content)["status"] == "done":
                raise Broken(f"a record is lost: {path.name}")
            if found.get(path, content) != content and json.loads(content)["status"] == "done":
                raise Broken(f"a record has changed: {path.name}")
        self.counts["records made"] += len(found.keys() - self.kept.keys())
        self.kept = {path: text for path, text in found.items() if json.loads(text)["status"] == "done"}

    def tables(self) -> tuple[list[str], list[list[tuple[str, str]]]]:
        """The sweep's table as Markdown and csv, without the seconds of training, which differ between runs."""
        (folder,) = (self.folder / "results" / "tables").iterdir()
        with open(folder / "table.csv", encoding="utf-8", newline="") as file:
            rows = [sorted(item for item in row.items() if item[0] != "fit s") for row in csv.DictReader(file)]
        return without_seconds((folder / "table.md").read_text(encoding="utf-8")), rows


def without_seconds(table: str) -> list[str]:
    """The lines of a table in Markdown without the seconds of training.

    These are the last column, or if all rows have the same value, part of a line below the table.

    >>> without_seconds("| a | fit s |\\n| 1 | 0.2 |"), without_seconds("| a |\\n- in every row: r 1, fit s 0.2")
    ([' a ', ' 1 '], [' a ', '- in every row: r 1'])
    """
    lines = [re.sub(r"(, |: )fit s [0-9.]+", "", line).strip("|") for line in table.splitlines()]
    if any("fit s" in line for line in lines):
        lines = [line.rpartition("|")[0] or line for line in lines]
    return [line for line in lines if line != "- in every row"]


def disk(folder: Path, counts: Counter, wanted: tuple) -> None:
    """Run the sweep with its store on a full disk, then on a read-only one, then with free space. Raises Broken."""
    episode = Episode(folder, counts)
    store = folder / "store"
    store.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", store], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        print("storm: a small disk could not be mounted (this needs root): full and read-only disks were skipped")
        return
    try:
        for state, options in (("full disk", "size=96k"), ("read-only disk", "ro"), ("room again", "rw,size=8m")):
            subprocess.run(["mount", "-o", f"remount,{options}", store], check=True)
            command = start(folder)
            if state == "room again":
                episode.finish(command)
            else:
                said = episode.end(command, (1, 2))
                if not any(word in said for word in ("No space left", "Read-only", "cannot write")):
                    raise Broken(f"{state}: the error does not mention it: {said[-500:]}")
            counts[state] += 1
            episode.check()
        if episode.tables() != wanted:
            raise Broken("the table after a full disk differs from that of the undisturbed run")
    finally:
        subprocess.run(["umount", store], check=True)


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Run this many busy loops, so that processes are slow and interrupted at unusual places."""
    loop = f"import os\nwhile os.getppid() == {os.getpid()}: pass"  # ends with its parent
    running = [subprocess.Popen([sys.executable, "-c", loop], start_new_session=True) for _ in range(loops)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def start(folder: Path, clock: Path | None = None, pictures: bool = False) -> subprocess.Popen:
    """Start the sweep in its own session; drawing pictures takes longer than the trials."""
    environment = dict(os.environ)
    if clock is not None:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(clock), environment.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, "-m", "boostrun", *SWEEP, f"store={folder / 'store'}", f"results={folder / 'results'}",
         f"cache_root={folder / 'cache'}", f"run.pictures={str(pictures).lower()}"],
        cwd=folder, env=environment, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def session(leader: int) -> list[int]:
    """The process ids of a session, without zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, _, _, number, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(number) == leader and state != "Z":
                    found.append(int(entry.name))
    return found


def send(pid: int, number: int) -> None:
    """Send a signal to a process, if it still exists."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(main())
