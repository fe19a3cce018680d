"""What makes a record stale: which code counts for which cell, and which digests stand for the same code."""

import importlib
import json
from pathlib import Path

import pytest

import boostrun
from boostrun import digest
from boostrun.digest import modules_of, source_digest
from boostrun.errors import BoostrunError
from boostrun.runner import algorithms
from boostrun.runner.cell import Cell
from boostrun.runner.code import code_of
from boostrun.runner.equivalent import RERUN, SAME_TREE, Equivalent

HOME = Path(boostrun.__file__).parent
BANK, VALUES, DRIFTING, CHUNKS = (
    ({"name": "mnist"}, {"bins": 256}), ({"name": "statlog"}, {}), ({"name": "sea"}, {}),
    ({"name": "stream"}, {"bins": 256}),
)  # fmt: skip
ALL = [
    *((name, "bank", *BANK) for name in algorithms.ALGORITHMS),
    ("geem", "hold-out", {"name": "mnist", "holdout": 0.2}, BANK[1]),
    ("geem", "subset", {"name": "mnist", "train_samples": 500}, BANK[1]),
    ("geem", "chunks", *CHUNKS),
    ("shareboost", "values", *VALUES),
    ("iboost_batch", "stream", *DRIFTING),
]


@pytest.fixture(autouse=True)
def fresh():
    digest.forget()
    yield
    digest.forget()


def cells():
    made = {}
    for name, kind, dataset, features in ALL:
        packaged = algorithms.ALGORITHMS[name]
        budget = dict.fromkeys(packaged.budget or {"r": 1, "q": 1, "T": 1}, 1)
        made[name, kind] = Cell({"name": name}, dataset, features, budget)
    return made


def digests(made):
    return {name: source_digest(*code_of(cell)) for name, cell in made.items()}


def modules():
    for path in sorted(HOME.rglob("*.py")):
        parts = path.relative_to(HOME.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def edit(monkeypatch, module, change):
    """Let the digest read a changed text of one module, and forget only what hangs on it."""
    whole = digest._read
    monkeypatch.setattr(
        digest, "_read", lambda name, path: change(whole(name, path)) if name == module else whole(name, path)
    )


def test_a_constant_in_each_module_in_turn_makes_exactly_those_stale_whose_roots_reach_it(monkeypatch):
    made = cells()
    before, reached = digests(made), {name: set(modules_of(code_of(cell).roots)) for name, cell in made.items()}
    seen = set()
    whole = digest._body
    own = frozenset({"boostrun"})
    for module, _ in modules():
        changed = whole(module, own)._replace(text=whole(module, own).text + "_CHANGED = 1\n")
        monkeypatch.setattr(
            digest, "_body", lambda name, own, m=module, c=changed: c if name == m else whole(name, own)
        )
        digest._hash.cache_clear()
        digest._digest.cache_clear()
        now = digests(made)
        stale = {name for name in made if now[name] != before[name]}
        assert stale == {name for name in made if module in reached[name]}, module
        seen |= {module} if stale else set()
    monkeypatch.setattr(digest, "_body", whole)
    assert {"boostrun.runner.holdout", "boostrun.runner.fewer", "boostrun.runner.protocol", "boostrun.runner.make",
            "boostrun.runner.seeds", "boostrun.features.bank", "boostrun.data.streams.sea"} < seen  # fmt: skip
    assert not {"boostrun.runner.algorithms", "boostrun.runner.trial", "boostrun.runner.cell", "boostrun.config",
                "boostrun.cli", "boostrun.schemas", "boostrun.runner.store"} & seen  # fmt: skip


def test_the_holdouts_seed_makes_the_cells_with_a_holdout_stale_and_no_other(monkeypatch):
    made, before = cells(), digests(cells())
    digest.forget()
    edit(monkeypatch, "boostrun.runner.holdout", lambda text: text.replace("20131205", "20131206"))
    now = digests(made)
    assert {name for name in made if now[name] != before[name]} == {("geem", "hold-out")}


def test_two_budgets_that_change_their_names_make_the_method_stale(monkeypatch):
    cell = cells()["geem", "bank"]
    before = source_digest(*code_of(cell))
    names = {**algorithms._PARAMETERS, "r": "batch_size", "q": "reservoir_size"}
    monkeypatch.setattr(algorithms, "_PARAMETERS", names)
    assert source_digest(*code_of(cell)) != before


def test_another_method_in_the_registry_makes_no_method_stale(monkeypatch):
    made, before = cells(), digests(cells())
    monkeypatch.setitem(algorithms.ALGORITHMS, "another", algorithms.ALGORITHMS["geem"]._replace(method="another"))
    digest.forget()
    assert digests(made) == before


def test_two_methods_of_one_family_have_different_digests():
    made = cells()
    names = [name for name in made if name[1] == "bank"]
    assert len({source_digest(*code_of(made[name])) for name in names}) == len(names)


PACK = {
    "one/__init__.py": "",
    "one/main.py": "from one.tools import deep\nfrom one import loop as l\ndef f(x):\n    from .late import g\n"
    "    return g(x) + deep.value + l.n\n",
    "one/loop.py": "import one.main as m\nn = 2\n",
    "one/tools/__init__.py": "",
    "one/tools/deep.py": "value = 1\n",
    "one/late.py": "def g(x):\n    return x\n",
}


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    importlib.invalidate_caches()
    digest.forget()


def test_moving_and_renaming_files_and_folders_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, PACK)
    before = source_digest(["one.main"])
    moved = {
        "two/__init__.py": "", "two/inner/__init__.py": "",
        "two/inner/first.py": PACK["one/main.py"]
        .replace("from one.tools import deep", "from ..deeper import far as deep")
        .replace("from one import loop as l", "from . import ring as l").replace(".late", "two.late"),
        "two/inner/ring.py": "from . import first as m\nn = 2\n",
        "two/deeper/far.py": PACK["one/tools/deep.py"],
        "two/late.py": PACK["one/late.py"],
    }  # fmt: skip
    write(tmp_path, moved)
    assert source_digest(["two.inner.first"]) == before
    write(tmp_path, {"two/late.py": "def g(x):\n    return -x\n"})
    assert source_digest(["two.inner.first"]) != before


def test_a_name_bound_to_another_body_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, {
        "three/__init__.py": "", "three/a.py": "def f(): return 1\n", "three/b.py": "def f(): return 2\n",
        "three/main.py": "from three import a, b\n", "three/other.py": "from three import b as a, a as b\n",
    })  # fmt: skip
    assert source_digest(["three.main"]) != source_digest(["three.other"])


@pytest.mark.parametrize("text", ["from boostrun import ReservoirClassifier\n",
                                  "import boostrun\nboostrun.ReservoirClassifier()\n",
                                  "import boostrun as b\nx = b.ReservoirClassifier\n",
                                  "from boostrun.reservoir import ReservoirClassifier\n"])  # fmt: skip
def test_a_public_name_in_a_strangers_code_leads_to_its_body(text, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, {"stranger.py": text})
    found = modules_of(["stranger:Mine"])
    assert {"boostrun.reservoir.classifier", "boostrun.reservoir.loop"} < set(found)
    before = source_digest(["stranger:Mine"])
    digest.forget()
    edit(monkeypatch, "boostrun.reservoir.loop", lambda text: text + "\nCHANGED = 1\n")
    assert source_digest(["stranger:Mine"]) != before


def test_facts_and_the_name_of_a_root_count():
    module = "boostrun.online.oza"
    assert len({source_digest([module]), source_digest([f"{module}:Oza"]), source_digest([module], {"a": 1})}) == 3


def test_rows_lead_on_and_round_and_a_rerun_anywhere_is_told():
    known = Equivalent(
        [
            {"kind": SAME_TREE, "old": "a", "new": "b"},
            {"kind": SAME_TREE, "old": "b", "new": "a"},
            {"kind": RERUN, "old": "b", "new": "c"},
            {"kind": SAME_TREE, "old": "c", "new": "d"},
        ]
    )
    assert [known.kind("a", new) for new in "abcde"] == [SAME_TREE, SAME_TREE, RERUN, RERUN, ""]
    assert known.kind("d", "a") == ""
    assert known.kind("e", "e") == SAME_TREE


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": 3}', '{"rows": [{"old": "a", "new": "b"}]}',
                                  '{"rows": [{"kind": "guess", "old": "a", "new": "b"}]}',
                                  '{"rows": [{"kind": "rerun", "old": "a", "new": 3}]}'])  # fmt: skip
def test_a_damaged_list_is_one_sentence(text, tmp_path):
    (tmp_path / "equivalent.json").write_text(text)
    with pytest.raises(BoostrunError, match=r"equivalent\.json is no list of equivalent digests") as told:
        Equivalent.read(tmp_path)
    assert "\n" not in str(told.value)


def test_without_a_list_only_equal_digests_are_the_same(tmp_path):
    known = Equivalent.read(tmp_path)
    assert known.kind("a", "a") and not known.kind("a", "b")


def test_every_row_that_is_published_is_well_formed():
    rows = json.loads((HOME.parent / "results" / "equivalent.json").read_text())["rows"]
    assert all(len(row[end]) == 64 for row in rows for end in ("old", "new"))
    assert all(len(row["commit"]) == 40 for row in rows if row["kind"] == SAME_TREE)
