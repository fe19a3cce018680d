"""Saved arrays: whole or absent, whatever happens to the machine."""

import os

import numpy as np

from boostrun.methods import archive


def test_what_is_saved_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (order.append(f"fsync {os.fstat(file).st_size > 0}"), fsync(file)))
    monkeypatch.setattr(os, "replace", lambda *names: (order.append("rename"), replace(*names)))
    path = archive.save(tmp_path / "it", "kind/1", {"a": np.ones(3)})
    assert order[:2] == ["fsync True", "rename"] and archive.load(path, "kind/1", ("a",))[0][0].sum() == 3
