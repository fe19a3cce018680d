"""Pages of commands do what they say, and the picture of the rooms is of these sources."""

import re
import shutil

import pytest
import yaml

from .page import DOCS, follow, script


@pytest.mark.slow
def test_the_tutorial_does_what_it_says(command, workplace):
    shutil.copytree(DOCS.parent / "results/reservoir/table3", workplace / "results/reservoir/table3")
    for records in (DOCS.parent / "results/reservoir").glob("*.parquet"):
        shutil.copy(records, workplace / "results/reservoir")
    shutil.copy(DOCS.parent / "results/equivalent.json", workplace / "results")
    assert follow(DOCS / "tutorial.md", command, workplace) == {"files": 0, "commands": 10, "examples": 50}


@pytest.mark.slow
def test_the_questions_have_the_answers_that_the_page_says(command, workplace):
    assert follow(DOCS / "howto/faq.md", command, workplace) == {"files": 0, "commands": 17, "examples": 0}


@pytest.mark.slow
def test_metrics_are_as_the_page_says(command, workplace):
    assert follow(DOCS / "howto/metrics.md", command, workplace) == {"files": 0, "commands": 1, "examples": 6}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_predictors_for_microcontrollers_are_as_the_page_says(command, workplace):
    assert follow(DOCS / "howto/chips.md", command, workplace) == {"files": 0, "commands": 3, "examples": 6}


@pytest.mark.slow
def test_extending_does_what_the_page_says(command, workplace, forgetful):
    assert follow(DOCS / "howto/extending.md", command, workplace) == {"files": 8, "commands": 6, "examples": 7}


@pytest.mark.slow
def test_tuning_does_what_the_page_says(command, workplace):
    assert follow(DOCS / "howto/tuning.md", command, workplace) == {"files": 0, "commands": 2, "examples": 0}


@pytest.mark.slow
def test_the_learners_of_streams_do_what_the_page_says(command, workplace):
    pytest.importorskip("river")
    assert follow(DOCS / "reference/streams.md", command, workplace) == {"files": 0, "commands": 0, "examples": 24}


ROOT = DOCS.parent


@pytest.mark.slow
def test_the_commands_of_contributing_do_what_they_say(command, workplace, forgetful):
    shutil.copytree(ROOT / "examples/online_bbm", workplace / "examples/online_bbm")
    assert follow(ROOT / "CONTRIBUTING.md", command, workplace) == {"files": 0, "commands": 2, "examples": 0}


def test_files_and_targets_that_contributing_names_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"(?:\]\(|`)((?:boostrun|docs|examples|scripts|results|tests)/[\w./-]+)[)`]", text))
    assert len(named) > 6
    assert [path for path in named if not (ROOT / path).exists()] == []
    scripts = set(re.findall(r"python (scripts/\w+\.py)", text))
    assert len(scripts) == 3 and all((ROOT / path).is_file() for path in scripts)
    targets = set(re.findall(r"(?:^|`)make ([\w-]+)", text, re.MULTILINE))
    made = set(re.findall(r"^([\w -]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert targets <= {word for line in made for word in line.split()} and len(targets) > 4


def test_how_it_is_built_runs_as_the_page_says_and_a_commit_as_the_tests_begin(command, workplace):
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]
    assert [hook["entry"] for repo in repos for hook in repo["hooks"]] == ["make lint"]
    assert re.search(r"^test: lint ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert follow(DOCS / "architecture.md", command, workplace)["examples"] == 12


@pytest.mark.slow
def test_the_picture_has_every_module_in_a_room_and_is_the_same_twice(tmp_path):
    rooms = script("picture_rooms")
    lines, arrows = rooms.read()
    assert set(lines) == set(rooms.layer_of())
    assert {room for pair in arrows for room in pair} <= set(lines)
    for name in ("one.svg", "two.svg"):
        rooms.draw(tmp_path / name)
    drawn = (tmp_path / "one.svg").read_text()
    assert drawn == (tmp_path / "two.svg").read_text()
    assert all(f">{room}<" in drawn for room in lines)
