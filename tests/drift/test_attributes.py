"""What each method has, against the paper's table."""

import csv
from importlib import resources

import pytest

from boostrun import IBoostClassifier
from boostrun.schemas import drift
from tests.drift.learners import RIVALS

ATTRIBUTES = {
    "change_detector": "uses_change_detector",
    "online_base_update": "updates_base_online",
    "classifier_add_remove": "adds_and_removes",
    "sliding_window": "keeps_window",
}


def test_attributes_are_those_of_the_papers_table():
    methods = RIVALS | {"iboost": IBoostClassifier}
    with resources.files("boostrun.reference").joinpath("iboost.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["table"] == "characteristics"]
    assert len(rows) == len(ATTRIBUTES) * 8  # AdaBoost is not in that table
    for row in rows:
        assert getattr(methods[row["method"]], ATTRIBUTES[row["metric"]]) == (float(row["value"]) == 1), row


@pytest.mark.parametrize("name", RIVALS)
def test_the_list_of_algorithms_says_the_same(name):
    words = {"uses_change_detector": drift.DETECTS, "updates_base_online": drift.ONLINE,
             "adds_and_removes": drift.CHANGING, "keeps_window": drift.WINDOW}  # fmt: skip
    method = RIVALS[name]
    assert drift.ALGORITHMS[name].traits == tuple(word for key, word in words.items() if getattr(method, key))
