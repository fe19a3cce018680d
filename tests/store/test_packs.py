"""Files of packed records: the written records are read, only the requested ones, and no damaged files."""

import copy
import gzip
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_toys import cell, record

import boostrun.store
from boostrun.errors import BoostrunError
from boostrun.report.entry import canonical
from boostrun.store import DamagedPackError, Known, Packs, Store, pack, packs_below, unpack, write_records
from boostrun.store.cell import Inputs, set_aside_line
from boostrun.store.parquet import COSTS, LARGEST_GROUP, ParquetPack, parquet_of, table_of

CURVE = {
    "T": [1, 2, 5], "test_accuracy_pct": [10.0, 1e-300, 0.1 + 0.2], "weights": [[1.0], [2.0, -0.0], []],
    "family_steps": {"lbp": [0, 0, 1], "hog": [1, 2, 3]}, "mixed": [1, 2.0, None, True, "i3", "=", ""], "empty": [],
    "large": [2**63, -(2**70)], "edge": [2**63 - 1, -(2**63)], "stream": {"concepts": ["a", "b\ud800"]}, "one": -0.0,
    "saturated": [True, False], "é\ud800.x": [1, 2], "": {"": [[0.5]]},
}  # fmt: skip


def canonical_bytes(one):
    return json.dumps({**one, "curve": dict(one["curve"])}, sort_keys=True).encode()


def same(found, expected):
    """Equal as canonical JSON: -0.0 is no 0.0, 1 is no 1.0."""
    return sorted(map(canonical_bytes, found)) == sorted(map(canonical_bytes, expected))


def failed(seed):
    return record(seed, status="failed", error={"type": "E", "message": "m", "traceback": ""})


def test_packing_is_deterministic_sorted_and_loses_nothing(tmp_path):
    made = [record(seed, cell=cell(r=r), curve=CURVE) for r in (100, 20) for seed in (1, 0)]
    pack(made, tmp_path / "a.parquet")
    pack(reversed(made), tmp_path / "deep" / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "deep" / "b.parquet").read_bytes()
    back = list(unpack(tmp_path / "a.parquet"))
    assert [(r["cell"]["budget"]["r"], r["seed"]) for r in back] == [(100, 0), (100, 1), (20, 0), (20, 1)]
    assert same(back, made) and back == [made[1], made[0], made[3], made[2]]
    assert not list(tmp_path.glob(".*"))


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e70, 1e70) | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
NAMES = st.text(max_size=6).filter(
    lambda name: name not in ("T", "examples", "changes", "family_steps", "path", "stream")
)
NUMBERS = st.lists(st.floats(-1e70, 1e70)) | st.lists(st.integers(-(2**70), 2**70))


@settings(max_examples=50)
@given(st.lists(st.dictionaries(NAMES, NUMBERS | PLAIN, max_size=4), min_size=1, max_size=5), st.data())
def test_any_curve_and_cost_comes_back_equal_to_the_bit(tmp_path_factory, curves, data):
    costs = st.dictionaries(st.sampled_from([*COSTS, "x"]), st.none() | st.integers(-9, 2**65) | st.floats(0, 1e70))
    made = [record(10**40 * seed, curve=curve, cost=data.draw(costs)) for seed, curve in enumerate(curves)]
    path = tmp_path_factory.mktemp("packs") / "a.parquet"
    pack(made, path)
    assert same(unpack(path), made)


def test_a_record_whose_keys_are_not_those_of_its_content_is_not_packed(tmp_path):
    for odd in (record(0, key="0" * 64), record(0, cell_key="0" * 64), record(0, metrics={"x": float("nan")})):
        with pytest.raises(BoostrunError, match="record"):
            pack([odd], tmp_path / "a.parquet")
    assert not list(tmp_path.iterdir())


def test_of_a_curve_only_what_is_looked_at_is_read(tmp_path, monkeypatch):
    pack([record(seed, curve=CURVE) for seed in range(3)], tmp_path / "a.parquet")
    series = []
    whole = ParquetPack.series
    monkeypatch.setattr(ParquetPack, "series", lambda *words: series.append(words[2]) or whole(*words))
    (first, *_) = unpack(tmp_path / "a.parquet")
    assert set(first["curve"]) == set(CURVE) and len(first["curve"]) == len(CURVE) and "T" in first["curve"]
    assert not series and "absent" not in first["curve"] and first["curve"].get("absent") is None
    assert first["curve"]["T"] == first["curve"]["T"] == [1, 2, 5] and series == ["T"]
    assert copy.deepcopy(first)["curve"] == CURVE and type(copy.deepcopy(first)["curve"]) is dict
    assert json.loads(canonical(first).encode("utf-8", "surrogatepass")) == record(0, curve=CURVE)


@pytest.fixture
def packs(tmp_path):
    """Two packed files that share a key, of which the one that is done counts; the second is of an earlier version and
    has an odd line."""
    pack([failed(0), *(record(seed) for seed in range(1, 9))], tmp_path / "a.parquet")
    lines = [json.dumps(record(seed, "2030", cell=cell(r=11 if seed else 10))).encode() for seed in range(3)]
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"\n".join([lines[0], b'{"odd": 1}', *lines[1:]]) + b"\n"))
    return [tmp_path / "a.parquet", tmp_path / "b.gz"]


def test_a_store_says_the_same_of_its_records_whether_it_reads_them_or_not(packs):
    store = Store(packs[0].parent / "s", packs)
    records = list(store.records())
    assert len(records) == 11 and "b.gz line 2" in set_aside_line()
    assert records == sorted(records, key=lambda one: one["key"])
    assert list(store.known()) == [Known.of(one) for one in records] and len(store.index()) == 11
    assert store.packed_keys() == {one["key"] for one in records}
    assert store.done(record(0)["key"])["provenance"]["time"] == "2030"


@pytest.mark.parametrize("odd", [b'{"half": ', b"[1]", b"1", b'{"key": 1}', b"", b"\xff", b"[" * 100_000, b"7" * 5000])
def test_a_line_of_an_old_pack_that_is_no_record_is_set_aside_and_the_others_count(tmp_path, odd):
    path, made = tmp_path / "p.gz", [record(seed) for seed in range(3)]
    lines = [json.dumps(one).encode() for one in made]
    path.write_bytes(gzip.compress(b"\n".join([lines[0], odd, *lines[1:]]) + b"\n"))
    assert list(unpack(path)) == made
    line = set_aside_line()
    assert f"{path} line 2" in line and line.startswith("set aside: 1 record") and "\n" not in line


def test_an_old_pack_of_more_than_can_be_held_is_damaged_and_not_unpacked(tmp_path, monkeypatch):
    (tmp_path / "p.gz").write_bytes(gzip.compress(b" " * 2000))
    monkeypatch.setattr(boostrun.store, "_LARGEST_OLD", 1000)
    with pytest.raises(DamagedPackError, match="more than"):
        list(unpack(tmp_path / "p.gz"))


@pytest.mark.parametrize("name", ["p.gz", "p.parquet"])
def test_a_missing_pack_is_one_sentence(tmp_path, name):
    with pytest.raises(BoostrunError, match="no packed file"):
        list(unpack(tmp_path / name))


@pytest.mark.parametrize("name", ["p.gz", "p.parquet"])
@pytest.mark.parametrize("spoil", [
    lambda data: data[: len(data) // 2], lambda data: data[:-4], lambda data: b"", lambda data: b"plain text",
    lambda data: data[:20] + bytes([data[20] ^ 255]) + data[21:],
])  # fmt: skip
def test_a_cut_or_corrupt_pack_is_one_sentence(tmp_path, name, spoil):
    path, made = tmp_path / name, [record(seed) for seed in range(5)]
    if name == "p.gz":
        path.write_bytes(gzip.compress(b"\n".join(json.dumps(one).encode() for one in made)))
    else:
        pack(made, path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(DamagedPackError, match=rf"p\.{name[2:]}"):
        list(unpack(path))


def test_whatever_bit_is_flipped_no_other_record_comes_out(tmp_path):
    path, rng = tmp_path / "p.parquet", random.Random(0)
    made = [record(seed, curve={"T": [1, 2], "x": [0.5, seed / 3]}) for seed in range(3)]
    pack(made, path)
    whole = path.read_bytes()
    right = set(map(canonical_bytes, made))
    survived = 0
    for place in rng.sample(range(len(whole) * 8), 250):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            found = [canonical_bytes(one) for one in unpack(path)]
        except DamagedPackError:
            continue
        assert set(found) == right and len(found) == 3  # a bit of the footer that says nothing
        survived += 1
    assert survived < 80


def test_a_damaged_pack_hides_no_other_and_is_told_of(tmp_path):
    for seed, name in enumerate("ab"):
        pack([record(seed)], tmp_path / name)
    damaged = tmp_path / "a"
    damaged.write_bytes(damaged.read_bytes()[:-9])
    store = Store(tmp_path / "s", [tmp_path / "a", tmp_path / "b"])
    assert [one["seed"] for one in store.records()] == [1]
    assert f"{damaged} (cut or corrupt)" in set_aside_line()


def test_a_pack_whose_damage_shows_late_is_set_aside_as_a_whole(tmp_path):
    made = [record(seed, curve={"x": [0.5] * 50}) for seed in range(9)]
    for name in ("a.parquet", "b.parquet"):
        pack(made[:5] if name == "b.parquet" else made, tmp_path / name)
    whole = (tmp_path / "a.parquet").read_bytes()
    end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    places = [place for place in range(4, end, 7) if opens(tmp_path / "c.parquet", whole, place)]
    (tmp_path / "a.parquet").write_bytes(flipped(whole, places[-1]))
    packs = Packs([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert len(packs.known) == 9
    assert packs.get(made[7]["key"]) is None and "a.parquet (cut or corrupt)" in set_aside_line()
    assert packs.get(made[2]["key"]) == made[2] and len(packs.known) == 5


def flipped(data, place):
    return data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]


def opens(path, whole, place):
    """Whether a file that is damaged at a place looks right to who plans."""
    path.write_bytes(flipped(whole, place))
    try:
        ParquetPack(path)
    except DamagedPackError:
        return False
    return True


def test_a_file_that_another_has_replaced_is_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("boostrun.store.parquet._SMALL", 0)
    pack([record(seed, curve=CURVE) for seed in range(3)], tmp_path / "a.parquet")
    packs = Packs([tmp_path / "a.parquet"])
    pack([record(7)], tmp_path / "a.parquet")
    assert packs.get(record(1)["key"]) == record(1, curve=CURVE)


def test_a_later_table_leaves_the_row_groups_before_it_as_they_are():
    rng = random.Random(0)
    made = [record(seed, curve={"T": [1, 2], "x": [rng.random(), 1.0]}) for seed in range(40)]
    more = [record(seed, cell=cell(r=1), curve={"T": [1], "new": [0.5]}) for seed in range(5)]
    one = parquet_of([table_of(made[:20]), table_of(made[20:])])
    two = parquet_of([table_of(made[:20]), table_of(made[20:]), table_of(made[:3])])
    end = len(one) - 8 - int.from_bytes(one[-8:-4], "little")
    assert two[:end] == one[:end] and LARGEST_GROUP >= 256
    assert len(parquet_of([table_of(made), table_of(more)])) > 0


# -- what a command packs ----------------------------------------------------------------------------------------------


def packed_in(folder):
    return [one["seed"] for path in packs_below(folder) for one in unpack(path)]


def test_a_record_is_packed_once_below_the_results_and_no_failure_keeps_it_out(tmp_path):
    made = [record(seed) for seed in range(4)]
    assert write_records(tmp_path / "a" / "x", made[:2], tmp_path) == tmp_path / "a" / "x" / "records.parquet"
    write_records(tmp_path / "a" / "y", made, tmp_path)
    assert packed_in(tmp_path / "a" / "x") == [0, 1] and packed_in(tmp_path / "a" / "y") == [2, 3]
    assert write_records(tmp_path / "a" / "z", made, tmp_path) is None and not (tmp_path / "a" / "z").exists()
    write_records(tmp_path / "other" / "a", [failed(0)], tmp_path / "other")
    path = write_records(tmp_path / "other" / "b", [record(0)], tmp_path / "other")
    assert [one["status"] for one in unpack(path)] == ["done"]


def test_what_is_packed_stays_until_its_cell_and_seed_are_run_again(tmp_path):
    folder = tmp_path / "a" / "x"
    write_records(folder, [record(seed) for seed in range(3)], tmp_path)
    again = record(1, "2030", inputs=Inputs("d", "later"))
    write_records(folder, [again, record(7)], tmp_path)
    found = {one["seed"]: one for one in unpack(folder / "records.parquet")}
    assert sorted(found) == [0, 1, 2, 7] and found[1] == again
    write_records(tmp_path / "b", found.values(), tmp_path / "elsewhere")
    write_records(folder, [], tmp_path)
    assert not (folder / "records.parquet").exists()


def test_an_old_file_is_replaced_and_a_damaged_one_renamed(tmp_path):
    old, new = tmp_path / "records.jsonl.gz", tmp_path / "records.parquet"
    old.write_bytes(gzip.compress(json.dumps(record(0)).encode()))
    write_records(tmp_path, [record(1)], tmp_path)
    assert not old.exists() and packed_in(tmp_path) == [0, 1]
    damaged = new.read_bytes()[:-20]
    new.write_bytes(damaged)
    write_records(tmp_path, [record(2)], tmp_path)
    assert new.with_name("records.parquet.corrupt").read_bytes() == damaged and packed_in(tmp_path) == [2]
