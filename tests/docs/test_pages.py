"""The pages of commands do what they say."""

import shutil

import pytest

from .page import DOCS, follow


@pytest.mark.slow
def test_the_tutorial_does_what_it_says(command, workplace):
    shutil.copytree(DOCS.parent / "results/reservoir/table3", workplace / "results/reservoir/table3")
    for records in (DOCS.parent / "results/reservoir").glob("*.parquet"):
        shutil.copy(records, workplace / "results/reservoir")
    shutil.copy(DOCS.parent / "results/equivalent.json", workplace / "results")
    assert follow(DOCS / "tutorial.md", command, workplace) == {"files": 0, "commands": 10, "examples": 50}


@pytest.mark.slow
def test_the_questions_have_the_answers_that_the_page_says(command, workplace):
    assert follow(DOCS / "howto/faq.md", command, workplace) == {"files": 0, "commands": 14, "examples": 0}


@pytest.mark.slow
def test_tuning_does_what_the_page_says(command, workplace):
    assert follow(DOCS / "howto/tuning.md", command, workplace) == {"files": 0, "commands": 2, "examples": 0}


@pytest.mark.slow
def test_the_learners_of_streams_do_what_the_page_says(command, workplace):
    pytest.importorskip("river")
    assert follow(DOCS / "reference/streams.md", command, workplace) == {"files": 0, "commands": 0, "examples": 24}
