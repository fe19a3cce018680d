"""Simulate a sweep on many cores: trials of measured length, one dispatcher, one shared file system.

    python scripts/simulate_cluster.py [PAPER/ITEM] [key=value ...]

Prints a line for each number of cores. The keys are trials=..., cores=1,8,64, order=longest|shuffled and the fields of
`Costs`. The lengths of trials are those of the published records, repeated until there are enough trials, and shuffled
with a fixed seed or sorted, the longest first. docs/howto/scale.md quotes the output and explains the costs.

Every worker asks one dispatcher for its next trial and waits for it; the real engines send trials ahead and are faster.
After a trial the worker's operations on the store run one after the other, each with the latency of the network. All
workers share the file server, which does a limited number of operations a second.
"""

from __future__ import annotations

import argparse
import dataclasses
import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from boostrun.runner.cluster import in_batches

ITEM = "reservoir/table3"


@dataclass(frozen=True)
class Costs:
    """Costs in addition to the trials: seconds, operations and bytes."""

    dispatch: float = 0.005
    """Seconds in which the dispatcher sends a task and receives its answer."""
    batch: int = 1
    """Trials in a task, grouped as the queue does."""
    operations: int = 19
    """Operations on the shared file system per trial."""
    latency: float = 0.001
    """Seconds that a worker waits for one operation if the server is idle."""
    rate: float = 5000.0
    """Operations per second that the file server does for all workers together."""
    start: float = 10.0
    """Seconds in which a worker loads its libraries."""
    bank: float = 110e6
    """Bytes of the feature bank, read once by each node."""
    bandwidth: float = 1e9
    """Bytes per second that the file server sends to all nodes together."""
    cores_a_node: int = 32


@dataclass(frozen=True)
class Outcome:
    """The outcome of a simulation. ``dispatcher_busy`` and ``store_busy`` are shares of the time."""

    seconds: float
    trials: int
    work: float
    cores: int
    dispatcher_busy: float
    store_busy: float

    @property
    def efficiency(self) -> float:
        """Seconds of trials per second of a core."""
        return self.work / (self.cores * self.seconds)


def simulate(lengths: Sequence[float], cores: int, costs: Costs) -> Outcome:
    """Simulate trials of these lengths, in seconds and in this order, on ``cores``; O(trials log cores) time.

    >>> free = Costs(dispatch=0, operations=0, start=0, bank=0)
    >>> simulate([3, 1, 1, 1], 2, free).seconds
    3.0
    """
    nodes = -(-cores // costs.cores_a_node)
    begin = costs.start + nodes * costs.bank / costs.bandwidth
    tasks = in_batches(lengths, costs.batch)
    service = costs.operations / costs.rate
    events: list[tuple[float, int, list[float]]] = [(begin, worker, []) for worker in range(cores)]
    dispatcher = store = end = 0.0
    sent = 0
    while events:
        now, worker, task = heapq.heappop(events)
        if task:  # a trial is computed: its record is written
            store = max(now, store) + service
            now = end = max(store, now + costs.operations * costs.latency)
            task = task[1:]
        elif sent < len(tasks):  # idle
            dispatcher = now = max(now, dispatcher) + costs.dispatch
            task = tasks[sent]
            sent += 1
        else:
            continue
        heapq.heappush(events, (now + task[0] if task else now, worker, task))
    return Outcome(
        seconds=float(end), trials=len(lengths), work=float(sum(lengths)), cores=cores,
        dispatcher_busy=len(tasks) * costs.dispatch / end, store_busy=len(lengths) * service / end,
    )  # fmt: skip


def lengths_of(item: str, trials: int, seed: int = 0, results: Path = Path("results")) -> list[float]:
    """Seconds of the published trials of an item, repeated until there are ``trials``, shuffled with ``seed``."""
    from boostrun.runner import paper
    from boostrun.runner.plan import plan, published_store

    cells = plan(paper.load_published(item, results)[0].settings, published_store(results), data=False)
    found = {record["key"]: record["cost"]["seconds"] for cell in cells for record in cell.best_records}
    measured = [seconds for _, seconds in sorted(found.items())]
    lengths = (measured * -(-trials // len(measured)))[:trials]
    random.Random(seed).shuffle(lengths)
    return lengths


def table(lengths: Sequence[float], cores: Sequence[int], costs: Costs) -> str:
    """One line for each number of cores."""
    mean, longest = sum(lengths) / len(lengths), max(lengths)
    lines = [
        f"{len(lengths)} trials, mean {mean:.2f} s, longest {longest:.0f} s",
        f"{'cores':>6} {'hours':>8} {'trials/s':>9} {'efficiency':>11} {'dispatcher':>11} {'store':>7}",
    ]
    for number in cores:
        out = simulate(lengths, number, costs)
        lines.append(
            f"{number:>6} {out.seconds / 3600:>8.3f} {out.trials / out.seconds:>9.1f} {out.efficiency:>10.0%} "
            f"{out.dispatcher_busy:>11.1%} {out.store_busy:>7.1%}"
        )
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> None:
    """Print the table for the words of a command line, by default of this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help=f"an item ({ITEM} if left out), key=value")
    words = parser.parse_args(words).words
    given = dict(word.split("=", 1) for word in words if "=" in word)
    items = [word for word in words if "=" not in word] or [ITEM]
    if len(items) > 1:
        parser.error(f"give one item, not {' and '.join(items)}")
    cores = [int(number) for number in given.pop("cores", "1,8,64,256,1000").split(",")]
    trials = int(given.pop("trials", "20000"))
    order = given.pop("order", "shuffled")
    kinds = {field.name: type(field.default) for field in dataclasses.fields(Costs)}
    unknown = set(given) - set(kinds)
    if unknown:
        parser.error(f"no key {', '.join(sorted(unknown))}; there are trials, cores, order, {', '.join(kinds)}")
    if order not in ("shuffled", "longest"):
        parser.error(f"order={order} is not shuffled or longest")
    costs = Costs(**{key: kinds[key](float(value)) for key, value in given.items()})
    lengths = lengths_of(items[0], trials)
    print(table(sorted(lengths, reverse=True) if order == "longest" else lengths, cores, costs))


if __name__ == "__main__":
    main()
