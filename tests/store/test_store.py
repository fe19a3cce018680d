import contextlib
import errno
import io
import json
import os
import pickle
import threading
import time

import pytest
from run_toys import cell, record

from boostrun.errors import BoostrunError
from boostrun.store import LockBusyError, Store, StoreWriteError, pack
from boostrun.store.cell import Inputs, set_aside_line


def test_what_was_put_is_got_back_equal_under_the_documented_name(tmp_path):
    store, made = Store(tmp_path / "s"), record()
    path = store.put(made)
    assert path == tmp_path / "s" / made["key"][:2] / f"{made['key']}.json"
    assert store.get(made["key"]) == made == store.done(made["key"])
    assert list(store.records()) == [made]


def test_an_absent_record_is_none_and_neither_reading_nor_what_is_no_record_makes_a_folder(tmp_path):
    store = Store(tmp_path / "s")
    assert store.get(record()["key"]) is None
    assert store.find(cell().key, 0) == list(store.records()) == []
    for change in ({"seed": 1}, {"key": "0" * 64}, {"metrics": {"x": float("nan")}}):  # no records
        with pytest.raises(BoostrunError):
            store.put({**record(), **change})
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("key", ["../../etc/passwd", "", "ab", None, "g" * 64])
def test_a_key_that_is_none_never_reaches_the_disk(tmp_path, key):
    with pytest.raises(BoostrunError, match="not a key"):
        Store(tmp_path).get(key)


@pytest.mark.parametrize("junk", [b"", b"{", b"null", b"[]", b"\xff\xfe", b'{"schema": 1}', b"[" * 100_000])
def test_a_half_written_file_is_absent_told_of_once_and_moved_aside(tmp_path, junk):
    store, made = Store(tmp_path), record()
    path = store.put(made)
    path.write_bytes(junk)
    assert store.get(made["key"]) is None and store.get(made["key"]) is None
    line = set_aside_line()
    assert line.startswith("set aside: 1 record") and line.count(str(path)) == 1 and not set_aside_line()
    assert not path.exists() and path.with_name(path.name + ".corrupt").read_bytes() == junk
    store.put(made)
    assert store.get(made["key"]) == made


def test_a_record_of_a_newer_version_stays_where_it_is(tmp_path):
    store = Store(tmp_path)
    path = store.path("ab" * 32)
    path.parent.mkdir(parents=True)
    path.write_text('{"schema": 2, "more": 1}')
    assert store.get("ab" * 32) is None and path.exists() and "another version" in set_aside_line()


def test_a_record_under_a_wrong_name_is_not_taken_for_another(tmp_path):
    store, one, two = Store(tmp_path), record(0), record(1)
    path = store.path(two["key"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(one))
    assert store.get(two["key"]) is None
    assert "it has the key of another" in set_aside_line()
    path = store.put(one)
    path.write_text(json.dumps(one | {"seed": 7}))
    assert store.get(one["key"]) is None
    assert "its key is not that of its cell, seed and inputs" in set_aside_line()


def test_find_gives_all_inputs_of_a_cell_and_seed_newest_first_and_sees_what_others_write(tmp_path):
    store, other = Store(tmp_path), Store(tmp_path)
    old, new = record(0, "2024-01", inputs=Inputs("d", "old")), record(0, "2025-01", inputs=Inputs("d", "new"))
    store.put(old)
    store.put(record(1))
    assert store.find(cell().key, 0) == [old]
    other.put(new)
    assert store.find(cell().key, 0) == [new, old]
    other.path(old["key"]).unlink()
    assert store.find(cell().key, 0) == [new]
    assert store.find(cell(r=11).key, 0) == []


def test_an_index_reads_no_file_again_until_it_changes(tmp_path, monkeypatch):
    store, made = Store(tmp_path), record()
    store.put(made)
    index, read, again = store.index(), Store._read, []
    monkeypatch.setattr(Store, "_read", lambda *words: again.append(words) or read(*words))
    assert store.index() == index and not again
    store.put(record(1))
    assert len(store.index()) == 2 and len(again) == 1


def test_packed_records_are_read_beside_single_ones_and_what_is_published_wins(tmp_path):
    packed = [record(seed, "2024") for seed in range(3)]
    pack(packed, tmp_path / "p.parquet")
    store = Store(tmp_path / "s", [tmp_path / "p.parquet", tmp_path / "absent.parquet"])
    assert store.done(packed[2]["key"]) == packed[2]
    store.put(record(1, "2025"))
    store.put(record(3, "2025"))
    assert store.get(packed[1]["key"]) == packed[1] == store.done(packed[1]["key"])
    assert {r["seed"]: r["provenance"]["time"] for r in store.records()} == {0: "2024", 1: "2024", 2: "2024", 3: "2025"}
    assert [known.seed for known in store.known()] == [r["seed"] for r in store.records()]
    assert store.find(cell().key, 2) == [packed[2]]
    assert pickle.loads(pickle.dumps(store)).get(packed[0]["key"]) == packed[0]


FAILED = {"status": "failed", "error": {"type": "E", "message": "m", "traceback": ""}}


@pytest.mark.parametrize("published, own", [(None, FAILED), ({}, FAILED), (FAILED, None), (FAILED, FAILED)])
def test_a_failure_is_got_but_not_done_and_a_result_wins_over_it_wherever_both_are(tmp_path, published, own):
    if published is not None:
        pack([record(0, **published)], tmp_path / "p.parquet")
    store, key = Store(tmp_path / "s", [tmp_path / "p.parquet"]), record(0)["key"]
    if own:
        store.put(record(0, **own))
    if published != {}:
        assert store.get(key)["status"] == "failed" and store.done(key) is None
        store.put(record(0))
    assert store.get(key) == store.done(key) == record(0)
    assert [known.status for known in store.known()] == ["done"]


class FullFile(io.FileIO):
    def write(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("call", ["fsync", "fdopen", "replace", "open"])
def test_a_full_disk_leaves_the_record_absent_and_nothing_behind(tmp_path, monkeypatch, call):
    store = Store(tmp_path)
    store.put(record(1))

    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, FullFile if call == "fdopen" else full)
        with pytest.raises(BoostrunError, match="No space left"):
            store.put(record(0))
        if call == "fsync":
            with pytest.raises(BoostrunError, match="No space left"):
                pack([record(0)], tmp_path / "p.parquet")
    assert store.get(record(0)["key"]) is None
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [f"{record(1)['key']}.json"]


def test_a_store_that_cannot_be_written_or_read_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "s")
    for action in (lambda: store.put(record()), lambda: store.lock(record()["key"]).__enter__()):
        with pytest.raises(BoostrunError, match="cannot write"):
            action()
    for action in (lambda: store.get(record()["key"]), lambda: list(store.records())):
        with pytest.raises(BoostrunError, match="cannot read"):
            action()


def test_looking_whether_a_store_can_be_written_leaves_no_trace(tmp_path):
    for root in (tmp_path, tmp_path / "not" / "there"):
        Store(root).check_writable()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("root", ["file", "file/below/it", "/proc/nope/nor/this"])
def test_a_store_that_cannot_be_written_is_known_before_a_record_is(root, tmp_path):
    if root.startswith("/proc") and not os.path.isdir("/proc/self"):
        pytest.skip("there is no /proc, in which not even root can make a folder")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreWriteError, match="cannot write in the store"):
        Store(tmp_path / root).check_writable()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_leftovers_of_dead_writers_are_not_records_and_go_in_time(tmp_path):
    store, made = Store(tmp_path), record()
    folder = store.put(made).parent
    old, young = folder / f".{made['key']}.1-a.tmp", folder / f".{made['key']}.1-b.tmp"
    for path in (old, young):
        path.write_text("{")
    os.utime(old, (0, 0))
    assert list(store.records()) == [made]
    assert not old.exists() and young.exists()
    store.sweep(made["key"])
    assert not young.exists()


def test_a_lock_keeps_others_out_and_is_free_afterwards(tmp_path):
    store, key, other = Store(tmp_path), record(0)["key"], record(1)["key"]
    with store.lock(key):
        with pytest.raises(LockBusyError), Store(tmp_path).lock(key, timeout=0):
            pass
        with store.lock(other, timeout=0):
            pass
    with store.lock(key, timeout=0):
        pass
    with contextlib.suppress(ZeroDivisionError), store.lock(key):
        raise ZeroDivisionError
    with store.lock(key, timeout=0):
        pass


def test_many_threads_on_one_lock_are_never_inside_together(tmp_path):
    inside, most, lock_of = [0], [0], record()["key"]

    def enter():
        store = Store(tmp_path)
        for _ in range(20):
            with store.lock(lock_of):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0.0002)
                inside[0] -= 1

    workers = [threading.Thread(target=enter) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert most[0] == 1


def test_many_are_found_by_one_look_at_the_folders(tmp_path, monkeypatch):
    store = Store(tmp_path / "s")
    for seed in range(20):
        store.put(record(seed))
    looks = []
    scan = store._scan
    monkeypatch.setattr(store, "_scan", lambda: looks.append(1) or scan())
    index = store.index()
    cell_key = record(0)["cell_key"]
    found = [store.find(cell_key, seed, index) for seed in range(25)]
    assert [len(records) for records in found] == [1] * 20 + [0] * 5 and len(looks) == 1
    assert [records[0]["seed"] for records in found[:20]] == list(range(20))
    assert found[3] == store.find(cell_key, 3)
