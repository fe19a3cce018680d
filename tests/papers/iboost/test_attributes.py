"""What each method has, against the paper's table."""

import csv

import pytest

from boostrun import IBoostClassifier
from boostrun.papers.iboost import CHANGING, DETECTS, ONLINE, PAPER, WINDOW
from tests.papers.iboost.learners import METHODS, RIVALS, class_of

ATTRIBUTES = {
    "change_detector": "uses_change_detector",
    "online_base_update": "updates_base_online",
    "classifier_add_remove": "adds_and_removes",
    "sliding_window": "keeps_window",
}


def test_attributes_are_those_of_the_papers_table():
    methods = {name: class_of(name) for name in RIVALS} | {"iboost": IBoostClassifier}
    with PAPER.reference.open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["table"] == "characteristics"]
    assert len(rows) == len(ATTRIBUTES) * 8  # AdaBoost is not in that table
    for row in rows:
        assert getattr(methods[row["method"]], ATTRIBUTES[row["metric"]]) == (float(row["value"]) == 1), row


@pytest.mark.parametrize("name", [name for name in RIVALS if METHODS[name].paper == "iboost"])
def test_the_list_of_algorithms_says_the_same(name):
    words = {"uses_change_detector": DETECTS, "updates_base_online": ONLINE,
             "adds_and_removes": CHANGING, "keeps_window": WINDOW}  # fmt: skip
    method = class_of(name)
    assert METHODS[name].traits == tuple(word for key, word in words.items() if getattr(method, key))
