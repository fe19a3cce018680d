"""Feeding an engine: tasks go out as others come back, and what a dead worker has left undone goes out again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from boostrun.runner.cluster import Engine
from boostrun.runner.cluster.task import Lost, Task
from boostrun.runner.worker import Summary

Number = TypeVar("Number", int, float)


def flow(
    engine: Engine,
    numbers: Sequence[int],
    task_of: Callable[[Sequence[int]], Task],
    lost: Callable[[Task, str], list[int]],
) -> Generator[Summary, None, None]:
    """Summaries of the trials of these numbers, as they come.

    ``task_of`` makes a task of some numbers, ``lost`` is told of a task whose worker died, and why, and answers which
    of its numbers are to be sent again. Closed early, it takes back what has not begun.
    """
    waiting = deque(in_batches(numbers, engine.batch(len(numbers))))
    out = 0
    try:
        while waiting or out:
            tasks = [task_of(waiting.popleft()) for _ in range(min(len(waiting), engine.width - out))]
            if tasks:
                engine.send(tasks)
                out += len(tasks)
            for task, answer in engine.receive():
                out -= 1
                if not isinstance(answer, Lost):
                    yield from answer
                elif again := lost(task, answer.cause):
                    waiting.append(again)
    finally:
        if out:
            engine.cancel()


def in_batches(numbers: Sequence[Number], size: int) -> list[list[Number]]:
    """Numbers dealt out in turn, so that every batch holds some of each cell; none holds more than ``size``.

    >>> in_batches([1, 2, 3, 4, 5], 2)
    [[1, 4], [2, 5], [3]]
    """
    if size == 1:
        return [[number] for number in numbers]
    batches = -(-len(numbers) // size)
    return [list(numbers[start::batches]) for start in range(batches)]
