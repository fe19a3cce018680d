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
        package = name.partition(".")[0]  # the standard library's keep their state: a second copy does not share it
        # a compiled module makes modules without a file, and only once
        files = [str(getattr(sys.modules.get(each), "__file__", "")) for each in (name, package)]
        installed = any("site-packages" in file for file in files)
        if not installed and package != "boostrun" and package not in sys.stdlib_module_names:
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
