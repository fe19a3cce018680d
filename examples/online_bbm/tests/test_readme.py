"""The README, word for word: every command of it is run, and what it prints compared, decimals left open."""

import doctest
import re

import pytest
from commands import PACKAGE, boostrun

_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^\$ boostrun (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands():
    """(words, what they print) of every block."""
    return [found for block in _BLOCK.findall((PACKAGE / "README.md").read_text()) for found in _COMMAND.findall(block)]


def _without_figures(text):
    return re.sub(r"\d+\.\d+", "#", text)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """One folder for all: what is run first is cached for what comes later."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "examples").mkdir()
    (folder / "examples" / "online_bbm").symlink_to(PACKAGE, target_is_directory=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("words", "printed"), commands())
def test_a_command_does_what_the_readme_says(workplace, words, printed):
    done = boostrun(words, workplace)
    assert done.code == 0, done.err
    same = doctest.OutputChecker().check_output(_without_figures(printed), _without_figures(done.out), _FLAGS)
    assert same, done.out


def test_the_readme_has_commands_of_every_kind():
    verbs = {words.partition(" ")[0] for words, _ in commands()}
    assert {"ls", "reproduce", "table", "plan", "check", "-m"} <= verbs and len(commands()) >= 12
