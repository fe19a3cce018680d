"""Records are the same with an index of their packed file, without one, and whatever has become of it."""

import gzip
import json
import os
import time

import pytest
from run_toys import cell, record

from boostrun.runner import packed as packed_module
from boostrun.runner.packed import Known
from boostrun.runner.record import told
from boostrun.runner.store import Store, pack

MANY = 40


@pytest.fixture
def packs(tmp_path, monkeypatch):
    """Two packed files that share a key, of which the one that is done counts, with an odd line; settled long ago."""
    failed = record(0, status="failed", error={"type": "E", "message": "m", "traceback": ""})
    pack([failed, *(record(seed) for seed in range(1, MANY))], tmp_path / "a.gz")
    lines = [json.dumps(record(seed, "2030", cell=cell(r=11 if seed else 10))).encode() for seed in range(3)]
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"\n".join([lines[0], b'{"odd": 1}', *lines[1:]]) + b"\n"))
    monkeypatch.setattr(packed_module, "_SMALLEST_INDEXED", 0)
    monkeypatch.setattr(packed_module, "_SETTLED", -1e12)
    return [tmp_path / "a.gz", tmp_path / "b.gz"]


def opened(packs, folder="indexes"):
    return Store(packs[0].parent / "s", packs, [packs[0].parent / folder] if folder else [])


def whole(store):
    """All that a store says of its records, and of what it set aside."""
    told()
    records = list(store.records())
    known, index = list(store.known()), store.index()
    return records, known, index, sorted(store.packed_keys()), [store.get(one["key"]) for one in records], told()


def index_files(packs):
    return sorted((packs[0].parent / "indexes").glob("*.json"))


def test_a_store_with_indexes_says_what_one_without_says(packs):
    expected = whole(opened(packs, None))
    assert len(expected[0]) == MANY + 2 and "b.gz line 2" in expected[-1]
    assert expected[0] == sorted(expected[0], key=lambda one: one["key"])
    assert expected[1] == [Known.of(one) for one in expected[0]]
    assert whole(opened(packs)) == expected and len(index_files(packs)) == 2  # made
    assert whole(opened(packs)) == expected  # used
    assert opened(packs).done(record(0)["key"])["provenance"]["time"] == "2030"


def test_by_its_index_nothing_of_a_pack_is_read_but_what_is_asked_for(packs, monkeypatch):
    whole(opened(packs))
    store, reads = opened(packs), []
    monkeypatch.setattr(packed_module, "_read_all", lambda path: pytest.fail(f"{path} was read"))
    read = packed_module.schema.read
    monkeypatch.setattr(packed_module.schema, "read", lambda text: reads.append(text) or read(text))
    assert len(list(store.known())) == MANY + 2 and len(store.index()) == MANY + 2 and not reads
    assert store.get(record(7)["key"]) == record(7) and len(reads) == 1
    assert store.get(record(7)["key"]) == record(7) and len(reads) == 1
    assert store.find(cell().key, 9) == [record(9)] and len(reads) == 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: b"",
        lambda text: text[:70],
        lambda text: text.replace(b'"done"', b'"gone"', 1),
        lambda text: b"\xff" * 200,
        lambda text: b"[" * 100_000,
        lambda text: b"\n".join([packed_module._sha(b"[1]").encode(), b"[1]"]),
    ],
)
def test_a_damaged_index_is_made_anew_and_nobody_notices(packs, spoil):
    expected = whole(opened(packs))
    path = index_files(packs)[0]
    text = path.read_bytes()
    path.write_bytes(spoil(text))
    assert whole(opened(packs)) == expected
    assert path.read_bytes() == text


def test_an_index_that_lies_of_its_file_is_thrown_away(packs):
    expected = whole(opened(packs))
    for path in index_files(packs):
        index = json.loads(path.read_bytes().partition(b"\n")[2])
        index["lines"] = [[start + 1, stop] for start, stop in index["lines"]]
        text = json.dumps(index).encode()
        path.write_bytes(packed_module._sha(text).encode() + b"\n" + text)
    assert whole(opened(packs)) == expected
    assert len(index_files(packs)) < 2


@pytest.mark.parametrize("replace", [False, True])
def test_another_file_of_the_same_size_and_time_is_read_anew(packs, replace):
    first, path = whole(opened(packs)), packs[0]
    before = path.stat()
    text = gzip.decompress(path.read_bytes()).replace(
        record(1)["key"].encode(), record(1, cell=cell(r=9))["key"].encode()
    )
    other = gzip.compress(text, 9, mtime=0)
    other = gzip.compress(text, 0, mtime=0)[: before.st_size] if len(other) != before.st_size else other
    if replace:
        path.with_name("new").write_bytes(other)
        path.with_name("new").replace(path)
    else:
        path.write_bytes(other)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size and path.stat().st_mtime_ns == before.st_mtime_ns
    found = whole(opened(packs))
    assert found == whole(opened(packs, None)) and found != first


def test_a_pack_that_is_damaged_after_its_index_was_read_is_set_aside_as_a_whole(packs):
    whole(opened(packs))
    store = opened(packs)
    assert len(list(store.known())) == MANY + 2
    packs[0].write_bytes(packs[0].read_bytes()[:-9])
    assert store.get(record(7)["key"]) is None and "a.gz (cut or corrupt)" in told()
    assert store.get(record(0)["key"])["status"] == "done" and len(list(store.records())) == 3


def test_code_that_checks_otherwise_does_not_believe_an_index(packs, monkeypatch):
    whole(opened(packs))
    monkeypatch.setattr(packed_module, "_code", lambda: "other")
    monkeypatch.setattr(
        packed_module.schema, "read", lambda text: (_ for _ in ()).throw(packed_module.NotARecordError("x"))
    )
    assert not list(opened(packs).known())


def test_without_the_source_of_its_code_no_index_is_made(packs, monkeypatch):
    expected = whole(opened(packs, None))
    monkeypatch.setattr(packed_module, "_code", lambda: "")
    assert whole(opened(packs)) == expected and not index_files(packs)


def test_a_file_that_has_just_changed_is_not_indexed(packs, monkeypatch):
    monkeypatch.setattr(packed_module, "_SETTLED", 2e9)
    whole(opened(packs))
    assert not index_files(packs)
    later = time.time_ns() + 3_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: later)
    whole(opened(packs))
    assert len(index_files(packs)) == 2


def test_a_folder_that_cannot_be_made_is_no_harm_and_the_next_is_used(packs):
    folder = packs[0].parent
    (folder / "file").write_text("")
    places = [folder / "absent" / "indexes", folder / "file" / "indexes", folder / "last" / "indexes"]
    expected = whole(opened(packs, None))
    assert whole(Store(folder / "s", packs, places[:2])) == expected
    assert whole(Store(folder / "s", packs, places)) == expected
    assert len(list(places[2].glob("*.json"))) == 2 and not (folder / "absent").exists()


def test_indexes_do_not_pile_up(packs, monkeypatch):
    monkeypatch.setattr(packed_module, "_MOST_INDEXES", 4)
    folder = packs[0].parent / "indexes"
    folder.mkdir()
    for number in range(9):
        (folder / f"{number}.json").write_text("")
        os.utime(folder / f"{number}.json", (number, number))
    whole(opened(packs))
    assert len(index_files(packs)) <= 4 and not (folder / "0.json").exists()
    expected = whole(opened(packs))
    assert whole(opened(packs)) == expected
