"""CONTRIBUTING.md and docs/architecture.md do what they say, and the picture of the rooms is of these sources."""

import re
import shutil

import pytest
import yaml

from .page import DOCS, follow, script

ROOT = DOCS.parent


@pytest.fixture
def rooms():
    return script("picture_rooms")


def test_how_it_is_built_runs_as_the_page_says(command, workplace):
    assert follow(DOCS / "architecture.md", command, workplace)["examples"] == 12


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


def test_before_a_commit_runs_what_the_tests_begin_with_and_fetches_nothing():
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]
    assert [hook["entry"] for repo in repos for hook in repo["hooks"]] == ["make lint"]
    assert re.search(r"^test: lint ", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.slow
def test_the_picture_has_every_module_in_a_room_and_is_the_same_twice(rooms, tmp_path):
    lines, arrows = rooms.read()
    assert set(lines) == set(rooms.layer_of())
    assert {room for pair in arrows for room in pair} <= set(lines)
    for name in ("one.svg", "two.svg"):
        rooms.draw(tmp_path / name)
    drawn = (tmp_path / "one.svg").read_text()
    assert drawn == (tmp_path / "two.svg").read_text()
    assert all(f">{room}<" in drawn for room in lines)


def test_an_import_that_runs_upward_is_told(rooms):
    arrows = {("runner", "data"): ["a -> b"], ("data", "runner"): ["c -> d"], ("papers/iboost", "papers/reservoir"): []}
    assert rooms.upward(arrows) == [("data", "runner")]


def test_arrows_that_others_imply_are_left_out(rooms):
    arrows = {("cli", "runner"): [], ("runner", "data"): [], ("cli", "data"): [], ("cli", "base"): []}
    assert rooms.told(arrows) == {("cli", "runner"), ("runner", "data")}
