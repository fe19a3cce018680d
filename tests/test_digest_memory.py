"""Digests that are remembered are those that would be found."""

import functools

import pytest

from boostrun import digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    (tmp_path / "remembered_one.py").write_text("import remembered_two\nA = remembered_two.B\n")
    (tmp_path / "remembered_two.py").write_text("B = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    digest.forget()
    yield tmp_path
    digest.forget()


def remembered(folder):
    digest.forget()
    with digest.remembering([folder / "memory" / "digests.json"]):
        return digest.source_digest(["remembered_one", "remembered_two"])


def test_what_is_remembered_is_not_found_again_until_a_source_changes(package, monkeypatch):
    first = remembered(package)
    with monkeypatch.context() as patch:
        patch.setattr(digest, "_hash", functools.cache(lambda *_: pytest.fail("found again")))
        assert remembered(package) == first
    (package / "remembered_two.py").write_text("B = 2\n")
    assert remembered(package) != first
    (package / "remembered_two.py").write_text("B = 1\n")
    assert remembered(package) == first


@pytest.mark.parametrize("content", [b"", b"{", b"\xff" * 99])
def test_a_damaged_memory_is_no_harm(package, content):
    first = remembered(package)
    (package / "memory" / "digests.json").write_bytes(content)
    assert remembered(package) == first
