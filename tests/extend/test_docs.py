"""docs/extending.md, word for word: its files are written, its commands run, and what they print compared."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def _whole(text: str) -> str:
    """Without decimals: a figure may vary with the machine, a count may not."""
    return re.sub(r"\d+\.\d+", "#", text)


@pytest.mark.slow
def test_the_page_does_what_it_says(command, workplace):
    text, end, commands = PAGE.read_text(), 0, 0
    for found in BLOCK.finditer(text):
        language, content = found.groups()
        before, end = text[end : found.start()], found.end()
        if language in ("python", "yaml"):
            path = workplace / re.findall(r"`(mine/[\w/]+\.(?:py|yaml))`", before)[-1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        elif language == "console":
            for line, expected in re.findall(r"^\$ boostrun (.*)\n((?:(?!\$ ).*\n)*)", content, re.MULTILINE):
                code, out, err = command(line)
                assert code == 0, err
                flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
                same = doctest.OutputChecker().check_output(_whole(expected), _whole(out), flags)
                assert same, f"{line}\n{out}"
                commands += 1
    assert commands == 4
