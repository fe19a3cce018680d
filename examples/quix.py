"""Predict the rows of a Kafka topic, then learn them, by quixstreams; after kill -9 the same command goes on.

    pip install boostrun quixstreams
    python examples/quix.py localhost:9092 rows answers --label kind

A message is a JSON object of numbers, booleans and text. Without a label it is only predicted. The learner is saved
before quixstreams commits its offsets, with the next offset of each partition. After a crash Kafka sends what was not
committed again. Rows that the saved learner knows are not learned twice; they are answered again, by a learner that
knows them, and their answers say so (``"again": true``). So no row is lost, and some may have two answers. There is one
learner: run one process, which reads all partitions.
"""

import argparse
import json
import shutil
from pathlib import Path

from quixstreams import Application
from quixstreams.context import message_context
from quixstreams.sinks import BaseSink

from boostrun import StreamForestClassifier


class Learner(BaseSink):
    """Answers and learns rows; quixstreams calls :meth:`flush` before it commits offsets."""

    def __init__(self, folder: Path, label: str):
        super().__init__()
        self.folder, self.label, self.learned = folder, label, 0
        self.model, self.offsets = StreamForestClassifier(random_state=0), {}
        for saved in sorted(folder.glob("[0-9]*"))[-1:]:
            self.model = StreamForestClassifier.load(saved / "model.npz")
            self.offsets, self.learned = json.loads((saved / "offsets.json").read_text()), int(saved.name)

    def answer(self, row: dict) -> dict:
        """Predict the row, then learn it, unless it is known."""
        place = message_context()
        partition, label = str(place.partition), row.pop(self.label, None)
        again = place.offset < self.offsets.get(partition, 0)
        numbers = (
            (f"{name}={value}", 1.0) if isinstance(value, str) else (name, float(value))
            for name, value in row.items() if value is not None
        )  # fmt: skip
        x = dict(numbers)
        answer = {"partition": place.partition, "offset": place.offset, "prediction": self.model.predict_one(x)}
        if again:
            return answer | {"again": True}
        if label is not None:
            self.model.learn_one(x, label)
            self.learned += 1
        self.offsets[partition] = place.offset + 1
        return answer

    def flush(self) -> None:
        """Save the learner and the offsets as one folder, whole or absent."""
        new, named = self.folder / "new", self.folder / f"{self.learned:012d}"
        if not self.learned or named.exists():  # rows without labels since then may be answered again
            return
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        self.model.save(new / "model.npz")
        (new / "offsets.json").write_text(json.dumps(self.offsets))
        new.rename(named)
        for old in sorted(self.folder.glob("[0-9]*"))[:-1]:
            shutil.rmtree(old)

    def add(self, *row, **keys) -> None:
        """Nothing: :meth:`answer` has learned the row."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("broker", help="address of a Kafka broker: localhost:9092")
    parser.add_argument("rows", help="topic that is read")
    parser.add_argument("answers", help="topic that is written")
    parser.add_argument("--label", required=True, help="name of the label in a row")
    parser.add_argument("--folder", type=Path, default=Path("learner"), help="of the saved learner")
    parser.add_argument("--every", type=int, default=1000, help="rows between two saves")
    parser.add_argument("--timeout", type=float, default=0.0, help="end after so many seconds without a row; 0: never")
    asked = parser.parse_args()
    app = Application(
        broker_address=asked.broker, consumer_group=f"boostrun-{asked.rows}", auto_offset_reset="earliest",
        commit_every=asked.every, state_dir=asked.folder / "quixstreams",
    )  # fmt: skip
    learner = Learner(asked.folder, asked.label)
    answers = app.topic(asked.answers, value_serializer="json")
    frame = app.dataframe(app.topic(asked.rows, value_deserializer="json")).apply(learner.answer)
    frame.to_topic(answers).sink(learner)
    app.run(timeout=asked.timeout)


if __name__ == "__main__":
    main()
