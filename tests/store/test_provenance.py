import json
import re
import subprocess
from types import SimpleNamespace

import pytest

from boostrun.store import provenance


@pytest.fixture
def afresh():
    provenance._revision.cache_clear()
    yield
    provenance._revision.cache_clear()


def test_it_is_plain_json_and_complete_and_git_is_asked_once_per_process(monkeypatch, afresh):
    calls, run = [], subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: calls.append(args) or run(*args, **options))
    provenance.collect()
    provenance.collect()
    assert len([call for call in calls if call[0][0] == "git"]) <= 1
    found = provenance.collect(["boostrun", "r=1"])
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["command"] == ["boostrun", "r=1"]
    assert {"boostrun", "numpy", "joblib"} <= set(found["versions"])
    assert found["cpu"]["cores"] >= found["cpu"]["usable"] >= 1 and found["cpu"]["model"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", found["time"])


def checkout(tmp_path, monkeypatch):
    (tmp_path / "boostrun").mkdir()
    (tmp_path / "boostrun" / "__init__.py").write_text("")
    monkeypatch.setattr(provenance, "boostrun", SimpleNamespace(__file__=str(tmp_path / "boostrun" / "__init__.py")))


def git(folder, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    answer = subprocess.run(["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def test_revision_and_dirty_flag_are_those_of_the_checkout(tmp_path, monkeypatch, afresh):
    checkout(tmp_path, monkeypatch)
    git(tmp_path, "init", "-q")
    assert provenance._revision.__wrapped__() is None  # nothing committed yet
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    revision = git(tmp_path, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert provenance._revision.__wrapped__() == {"revision": revision, "dirty": False}
    (tmp_path / "notes").write_text("untracked")
    assert not provenance._revision.__wrapped__()["dirty"]
    (tmp_path / "boostrun" / "__init__.py").write_text("x = 1\n")
    assert provenance._revision.__wrapped__() == {"revision": revision, "dirty": True}


def test_without_a_checkout_or_without_git_there_is_no_revision(tmp_path, monkeypatch, afresh):
    checkout(tmp_path, monkeypatch)
    assert provenance.collect()["git"] is None
    provenance._revision.cache_clear()
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.collect()["git"] is None


def test_threads_are_those_in_force_and_not_those_asked_for(monkeypatch):
    import numpy as np
    from threadpoolctl import threadpool_limits

    np.ones((4, 4)) @ np.ones((4, 4))
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with threadpool_limits(1):
        provenance.forget_threads()
        found = provenance.threads_in_force()
    provenance.forget_threads()
    assert found["pools"] and set(found["pools"].values()) == {1}
    assert found["environment"]["OMP_NUM_THREADS"] == "7"
