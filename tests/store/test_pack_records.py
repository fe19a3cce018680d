"""Folding the packed records of items into the file of their room."""

import gzip
import json
import sys
from pathlib import Path

import pytest
from run_toys import cell, record

from boostrun.store import pack, packs_below, unpack
from boostrun.store.cell import Inputs
from boostrun.store.parquet import ParquetPack

SCRIPT = Path(__file__).parents[2] / "scripts" / "pack_records.py"
if not SCRIPT.is_file():
    pytest.skip("the scripts are in a checkout only", allow_module_level=True)
sys.path.insert(0, str(SCRIPT.parent))

from pack_records import fold, main  # noqa: E402

CURVE = {"T": [1, 2], "x": [0.1, 0.7]}


def made(seed, r=10, time="2024", source="s"):
    return record(seed, time, cell=cell(r=r), inputs=Inputs("d", source), curve={**CURVE, "seed": [seed]})


def lines(records):
    return [json.dumps({**one, "curve": dict(one["curve"])}, sort_keys=True) for one in records]


def content(room):
    return lines(unpack(room / "records.parquet"))


@pytest.fixture
def room(tmp_path):
    """A room with two items' files, one of an earlier version, and a table."""
    pack([made(1), made(0)], tmp_path / "mine" / "b" / "records.parquet")
    (tmp_path / "mine" / "a" / "search").mkdir(parents=True)
    (tmp_path / "mine" / "b" / "table.md").write_text("a table")
    old = tmp_path / "mine" / "a" / "search" / "records.jsonl.gz"
    old.write_bytes(gzip.compress("\n".join(map(json.dumps, [made(1, 5), made(0, 5), made(0)])).encode()))
    return tmp_path / "mine"


def test_all_files_of_a_room_become_one_and_nothing_is_lost(room, capsys):
    assert main(["--results", str(room.parent)]) == 0 and "4 new" in capsys.readouterr().out
    assert packs_below(room) == [room / "records.parquet"] and not (room / "a" / "search").exists()
    assert content(room) == lines([made(0), made(0, 5), made(1, 5), made(1)]) and (room / "b" / "table.md").exists()
    before = (room / "records.parquet").read_bytes()
    assert main(["--results", str(room.parent)]) == 0 and (room / "records.parquet").read_bytes() == before


def test_what_is_new_comes_after_what_was_there_which_stays_byte_for_byte(room):
    fold(room)
    before = (room / "records.parquet").read_bytes()
    end = len(before) - 8 - int.from_bytes(before[-8:-4], "little")
    pack([made(0), made(7)], room / "c" / "records.parquet")
    assert fold(room) == 1
    assert (room / "records.parquet").read_bytes()[:end] == before[:end]
    assert content(room)[4:] == lines([made(7)]) and ParquetPack(room / "records.parquet").groups == 2


def test_a_record_gives_way_to_a_later_one_of_its_cell_and_seed(room):
    fold(room)
    later, earlier = made(1, time="2025", source="new"), made(0, time="2023", source="old")
    pack([later, earlier], room / "c" / "records.parquet")
    assert fold(room) == 1 and sorted(content(room)) == sorted(lines([made(0), made(0, 5), made(1, 5), later]))


def test_a_damaged_file_stops_its_room_and_no_other(room, capsys):
    pack([made(3)], room.parent / "zoo" / "a" / "records.parquet")
    damaged = room / "b" / "records.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-20])
    assert main(["--results", str(room.parent)]) == 1 and "cut or corrupt" in capsys.readouterr().out
    assert not (room / "records.parquet").exists() and len(packs_below(room)) == 2
    assert content(room.parent / "zoo") == lines([made(3)])
