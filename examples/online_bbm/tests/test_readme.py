"""The README: each command is run and its output compared, without decimals."""

import doctest
import re

import pytest
from commands import PACKAGE, boostrun

_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^\$ boostrun (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands():
    """(words, output) of every block."""
    return [found for block in _BLOCK.findall((PACKAGE / "README.md").read_text()) for found in _COMMAND.findall(block)]


def _without_figures(text):
    return re.sub(r"\d+\.\d+", "#", text)


@pytest.mark.slow
def test_every_command_does_what_the_readme_says(tmp_path):
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "online_bbm").symlink_to(PACKAGE, target_is_directory=True)
    for words, printed in commands():
        done = boostrun(words, tmp_path)  # in one folder: later commands find the records of earlier ones
        assert done.code == 0, done.err
        same = doctest.OutputChecker().check_output(_without_figures(printed), _without_figures(done.out), _FLAGS)
        assert same, f"boostrun {words}\n{done.out}"


def test_the_readme_has_commands_of_every_kind():
    verbs = {words.partition(" ")[0] for words, _ in commands()}
    assert {"ls", "reproduce", "table", "plan", "check", "-m"} <= verbs and len(commands()) >= 12
