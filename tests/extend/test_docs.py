"""docs/howto/extending.md, word for word: its files are written, its commands run, and what they print compared."""

import pytest

from tests.docs.page import DOCS, follow


@pytest.mark.slow
def test_the_page_does_what_it_says(command, workplace):
    assert follow(DOCS / "howto/extending.md", command, workplace) == {"files": 8, "commands": 6, "examples": 7}
