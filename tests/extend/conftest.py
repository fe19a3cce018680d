"""A user's own folder, and a process that forgets its declarations afterwards."""

import sys
import textwrap

import pytest

from boostrun import digest, extend


@pytest.fixture(autouse=True)
def forgetful(monkeypatch):
    """Nothing of theirs stays registered, allowed, imported or on the path."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(extend, "_allowed", {})
    before = set(sys.modules)
    yield
    extend.forget()
    digest.forget()
    for name in set(sys.modules) - before:
        source = getattr(sys.modules[name], "__file__", None) or ""
        package = name.partition(".")[0]  # the standard library's keep their state: a second copy does not share it
        if "site-packages" not in source and package != "boostrun" and package not in sys.stdlib_module_names:
            del sys.modules[name]


@pytest.fixture
def mine(workplace):
    """Write a file of the folder ``mine``: ``mine("algo/x.yaml", text)``."""

    def write(name: str, text: str):
        path = workplace / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
        return path

    return write
