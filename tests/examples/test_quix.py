"""The example with quixstreams, on the broker that the client of Kafka brings for tests."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from boostrun import StreamForestClassifier

EXAMPLE = Path(__file__).parents[2] / "examples" / "quix.py"
kafka = pytest.importorskip("confluent_kafka", reason="pip install quixstreams")
pytest.importorskip("quixstreams", reason="pip install quixstreams")
pytestmark = pytest.mark.slow

# that broker does not describe its topics
STARTED = f"""
import runpy
from quixstreams.models.topics import TopicConfig
from quixstreams.models.topics.admin import TopicAdmin

def inspected(self, names, timeout=None):
    return {{name: TopicConfig(num_partitions=1, replication_factor=1, extra_config={{}}) for name in names}}

TopicAdmin.inspect_topics = inspected
runpy.run_path({str(EXAMPLE)!r}, run_name="__main__")
"""


def made(n):
    rng = np.random.default_rng(0)
    for t in range(n):
        a, colour = rng.random(), ["red", "blue"][rng.integers(2)]
        yield {"a": a, "colour": colour, "kind": ("no", "yes")[(a > 0.5) != (colour == "red")] if t % 5 else None}


def started(broker, folder, *words):
    command = [sys.executable, "-c", STARTED, broker, "rows", "answers", "--label", "kind", "--folder", folder, *words]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(EXAMPLE.parents[1])})


def answers(broker, enough, seconds):
    """The answers on the topic, once there are enough or that time is over."""
    reader = kafka.Consumer(
        {"bootstrap.servers": broker, "group.id": str(time.time()), "auto.offset.reset": "earliest"}
    )
    reader.subscribe(["answers"])
    found, end = [], time.monotonic() + seconds
    while len(found) < enough and time.monotonic() < end:
        if (message := reader.poll(0.2)) is not None and not message.error():
            found.append(json.loads(message.value()))
    reader.close()
    return found


def test_after_a_kill_no_row_is_lost_or_learned_twice(tmp_path):
    rows, twin = [*made(2000)], StreamForestClassifier(random_state=0)
    producer = kafka.Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1})
    (one,) = producer.list_topics(timeout=30).brokers.values()
    broker, folder = f"{one.host}:{one.port}", tmp_path / "learner"
    for row in rows:
        producer.produce("rows", json.dumps(row), partition=0)
    producer.flush(30)
    first = started(broker, str(folder), "--every", "100")
    try:
        before = answers(broker, 450, 240)
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    assert len(before) == 450
    killed_at = max(int(path.name) for path in folder.glob("[0-9]*"))
    assert 0 < killed_at < 1600  # it was killed in the middle
    assert started(broker, str(folder), "--every", "100", "--timeout", "20").wait(timeout=400) == 0

    expected = []
    for row in rows:
        x = {"a": row["a"], f"colour={row['colour']}": 1.0}
        expected.append(twin.predict_one(x))
        if row["kind"] is not None:
            twin.learn_one(x, row["kind"])
    found = answers(broker, 10**6, 20)
    assert {one["offset"] for one in found} == {*range(2000)}
    assert all(one["prediction"] == expected[one["offset"]] for one in found if "again" not in one)
    assert sum("again" not in one for one in found) >= 1900  # of a save that was not committed, answers may be lost
    (saved,) = folder.glob("[0-9]*")
    assert int(saved.name) == 1600 and json.loads((saved / "offsets.json").read_text()) == {"0": 2000}
    model, probes = StreamForestClassifier.load(saved / "model.npz"), np.random.default_rng(1).random((50, 3))
    assert np.array_equal(model.predict_proba(probes), twin.predict_proba(probes))
