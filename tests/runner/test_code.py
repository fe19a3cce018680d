"""What makes a record stale: which code counts for which cell, and which digests stand for the same code."""

import dataclasses
import functools
import importlib
import json
from pathlib import Path

import pytest

import boostrun
from boostrun import digest
from boostrun.config import catalogue
from boostrun.digest import modules_of, source_digest
from boostrun.errors import BoostrunError
from boostrun.runner.cell import Cell
from boostrun.runner.code import code_of
from boostrun.runner.equivalent import RERUN, SAME_TREE, Equivalent

HOME = Path(boostrun.__file__).parent
BANK, VALUES, DRIFTING, CHUNKS = (
    ({"name": "mnist"}, {"name": "raw", "bins": 256}), ({"name": "statlog"}, {"name": "linear"}),
    ({"name": "sea"}, {"name": "raw"}), ({"name": "stream"}, {"name": "raw", "bins": 256}),
)  # fmt: skip
ALL = [
    *((name, *(DRIFTING if "stream" in each.inputs else BANK)) for name, each in catalogue.methods().items()),
    *((name, *CHUNKS) for name, each in catalogue.methods().items() if "chunks" in each.inputs),
    ("shareboost", *VALUES),
]
TRAINING = (
    "boostrun.evaluation.seeds", "boostrun.evaluation.staged", "boostrun.evaluation.trial", "boostrun.inputs.chunks",
    "boostrun.inputs.opened", "boostrun.inputs.table", "boostrun.methods.making", "boostrun.papers.iboost.streams.sea",
    "boostrun.papers.reservoir.kernels.geem", "boostrun.papers.shareboost.kernels.sharing",
)  # fmt: skip
LISTS = (
    "boostrun", "boostrun.cli", "boostrun.config", "boostrun.config.catalogue", "boostrun.config.compose",
    "boostrun.core", "boostrun.data.keys", "boostrun.methods.declaration", "boostrun.papers",
    "boostrun.papers.adaptive", "boostrun.papers.adaptive.keys", "boostrun.papers.iboost",
    "boostrun.papers.iboost.keys", "boostrun.papers.reservoir", "boostrun.papers.reservoir.keys",
    "boostrun.papers.shareboost", "boostrun.papers.shareboost.keys", "boostrun.runner.cell", "boostrun.runner.code",
    "boostrun.runner.store", "boostrun.runner.trial",
)  # fmt: skip


@pytest.fixture(autouse=True)
def fresh():
    yield
    forget_but_bodies()


def cells():
    made = {}
    for name, dataset, features in ALL:
        method = catalogue.methods()[name]
        values = {key: one.default for key, one in method.fields.items()}
        made[name, dataset["name"]] = Cell({"name": name, **values}, dataset, features, dict.fromkeys(method.budget, 1))
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

    def read(name, path):
        text = whole(name, path)
        if name != module:
            return text
        assert change(text) != text, f"{module} does not say that any more"
        return change(text)

    body = digest._body
    monkeypatch.setattr(digest, "_read", read)
    forget_but_bodies()
    edited = functools.cache(body.__wrapped__)
    monkeypatch.setattr(digest, "_body", lambda name, own: (edited if name == module else body)(name, own))


def forget_but_bodies():
    for cached in (digest._digest, digest._closure, digest._hash, digest._tree, digest._passed_on, digest._defined):
        cached.cache_clear()


def declare(monkeypatch, name, **changes):
    """Let the catalogue have another declaration of a method."""
    known = dict(catalogue.methods())
    known[name] = dataclasses.replace(known[name], **changes)
    monkeypatch.setattr(catalogue, "method", lambda algo: known[algo["name"]])


def keys_with(keys, **defaults):
    """A class of keys with other defaults of some of its fields, all else the same."""
    changed = [
        (one.name, one.type, dataclasses.field(default=defaults.get(one.name, one.default), metadata=one.metadata))
        for one in dataclasses.fields(keys)
    ]
    return dataclasses.make_dataclass("Changed", changed, eq=False)


@pytest.mark.slow
def test_a_constant_in_each_module_in_turn_makes_exactly_those_stale_whose_roots_reach_it(monkeypatch):
    codes = {name: code_of(cell) for name, cell in cells().items()}
    before = {name: source_digest(*code) for name, code in codes.items()}
    reached = {name: set(modules_of(code.roots)) for name, code in codes.items()}
    whole, own = digest._body, digest._own(("boostrun",), catalogue.declaring())

    def stale(*changed):
        made = {module: whole(module, own)._replace(text=whole(module, own).text + "_CHANGED = 1\n")
                for module in changed}  # fmt: skip
        monkeypatch.setattr(digest, "_body", lambda name, own: made.get(name) or whole(name, own))
        digest._hash.cache_clear()
        digest._digest.cache_clear()
        return {name for name, code in codes.items() if source_digest(*code) != before[name]}

    count = set().union(*reached.values())
    assert not stale(*(module for module, _ in modules() if module not in count))
    for module in count:
        assert stale(module) == {name for name in codes if module in reached[name]}, module
    monkeypatch.setattr(digest, "_body", whole)
    assert not set(TRAINING) - count and not set(LISTS) & count


def test_a_constant_of_one_methods_own_makes_that_method_stale_and_no_other(monkeypatch):
    made, before = cells(), digests(cells())
    own = {
        "boostrun.papers.iboost.dwm": {("dwm", "sea")},
        "boostrun.papers.adaptive.policies.exp3p": {("exp3p", "mnist")},
        "boostrun.papers.reservoir.split": {("geem_split", "mnist")},
        "boostrun.papers.shareboost.jointboost": {("jointboost", "mnist")},
    }
    for module, expected in own.items():
        with monkeypatch.context() as patch:
            edit(patch, module, lambda text: f"{text}\nCHANGED = 1\n")
            now = digests(made)
        assert {name for name in made if now[name] != before[name]} == expected, module


@pytest.mark.parametrize("constant", ["20131205", "20111213"])
def test_the_seeds_of_the_holdout_and_of_a_subset_make_tables_stale_and_nothing_else(constant, monkeypatch):
    made, before = cells(), digests(cells())
    edit(monkeypatch, "boostrun.inputs.table", lambda text: text.replace(constant, "1"))
    now = digests(made)
    of_chunks = set(modules_of(code_of(made["geem", "stream"]).roots))
    assert "boostrun.inputs.table" not in of_chunks
    expected = {name for name in made if name[1] in ("mnist", "statlog")}
    assert {name for name in made if now[name] != before[name]} == expected


def test_two_budgets_that_change_their_names_make_the_method_stale(monkeypatch):
    cell = cells()["geem", "mnist"]
    before = source_digest(*code_of(cell))
    declare(monkeypatch, "geem", budget={"r": "batch_size", "q": "reservoir_size", "T": "n_estimators"})
    assert source_digest(*code_of(cell)) != before


def test_the_order_of_the_budgets_and_one_that_the_cell_does_not_have_make_no_method_stale(monkeypatch):
    cell = cells()["geem", "mnist"]
    before = source_digest(*code_of(cell))
    declare(monkeypatch, "geem", budget=dict(reversed(catalogue.methods()["geem"].budget.items())))
    assert source_digest(*code_of(cell)) == before
    declare(monkeypatch, "geem", budget=catalogue.methods()["geem"].budget | {"S": "shrinkage"}, search={})
    assert source_digest(*code_of(cell)) == before


def test_what_makes_it_the_method_makes_it_stale(monkeypatch):
    made = cells()
    for name, data, fixed in (("geem", "mnist", {"strategy": "wsam"}), ("iboost_batch", "sea", {"update": "other"})):
        before = source_digest(*code_of(made[name, data]))
        declare(monkeypatch, name, fixed={**catalogue.methods()[name].fixed, **fixed})
        assert source_digest(*code_of(made[name, data])) != before, name


def test_the_default_of_a_parameter_that_no_key_sets_makes_the_method_stale_and_that_of_a_key_does_not(monkeypatch):
    cell, keys = cells()["geem", "mnist"], catalogue.methods()["geem"].keys
    before = source_digest(*code_of(cell))
    declare(monkeypatch, "geem", keys=keys_with(keys))
    assert source_digest(*code_of(cell)) == before
    declare(monkeypatch, "geem", keys=keys_with(keys, shrinkage=0.25))
    assert source_digest(*code_of(cell)) == before  # the value that a record was made with stands in its cell
    declare(monkeypatch, "geem", keys=keys_with(keys, max_bins=17))
    assert source_digest(*code_of(cell)) != before


def test_the_default_of_a_parameter_that_has_no_effect_in_the_method_is_the_one_it_is_made_with(monkeypatch):
    """Parameters in ``unused`` keep the constructor's default, whatever it is: nothing that is computed changes."""
    method = catalogue.methods()["wsam"]
    values = {key: one.default for key, one in method.fields.items()}
    made = method.make(values, {"r": 20, "q": 10, "T": 5}, {}).get_params()
    defaults = {one.name: one.default for one in dataclasses.fields(method.keys)}
    assert all(made[name] == defaults[name] for name in method.unused)


def test_words_about_a_method_make_it_not_stale(monkeypatch):
    made, before = cells(), digests(cells())
    for module in ("boostrun.papers.reservoir.keys", "boostrun.papers.iboost.keys", "boostrun.papers.adaptive.keys",
                   "boostrun.papers.shareboost.keys", "boostrun.data.keys", "boostrun.features.keys"):  # fmt: skip
        with monkeypatch.context() as patch:
            edit(patch, module, lambda text: text.replace('help="', 'help="in other words: '))
            assert digests(made) == before, module
    declare(monkeypatch, "geem", summary="said otherwise", traits=("other",), exports=frozenset(), probe={})
    assert digests(made) == before


def test_another_method_data_set_or_strategy_to_choose_makes_no_method_stale(monkeypatch):
    made, before = cells(), digests(cells())
    known = catalogue.papers()
    more = known["reservoir"]
    more = dataclasses.replace(
        more, methods={**more.methods, "another": more.methods["geem"]},
        strategies={**more.strategies, "another": more.strategies["rand"]},
        datasets={"another": known[""].datasets["digits"]},
    )  # fmt: skip
    monkeypatch.setattr(catalogue, "papers", lambda: {**known, "reservoir": more})
    catalogue._all.cache_clear()
    digest.forget()
    try:
        assert "another" in catalogue.methods() and digests(made) == before
    finally:
        catalogue._all.cache_clear()


def test_a_strategy_by_another_body_makes_stale_those_that_name_it(monkeypatch):
    cell = cells()["geem", "mnist"]
    named = Cell({**cell.algo, "weak_learner": "stump"}, cell.dataset, cell.features, cell.budget)
    before = source_digest(*code_of(named))
    monkeypatch.setattr(catalogue, "part_target", lambda room, name: "boostrun.methods.one_vs_all")
    assert source_digest(*code_of(named)) != before


def test_two_methods_of_one_family_have_different_digests():
    made = cells()
    tables = [name for name in made if name[1] in ("mnist", "sea")]
    assert len({source_digest(*code_of(made[name])) for name in tables}) == len(tables)


def test_only_our_own_code_counts_to_our_own_methods():
    found = {module.partition(".")[0] for cell in cells().values() for module in modules_of(code_of(cell).roots)}
    assert found == {"boostrun"}


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


@pytest.mark.parametrize(
    "text",
    [
        "from boostrun import ReservoirClassifier\n",
        "import boostrun\nboostrun.ReservoirClassifier()\n",
        "import boostrun as b\nx = b.ReservoirClassifier\n",
        "from boostrun.papers.reservoir.classifier import ReservoirClassifier\n",
    ],
)
def test_a_public_name_in_a_strangers_code_leads_to_its_body(text, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, {"stranger.py": text})
    found = modules_of(["stranger:Mine"])
    assert {"boostrun.papers.reservoir.classifier", "boostrun.papers.reservoir.loop"} < set(found)
    before = source_digest(["stranger:Mine"])
    edit(monkeypatch, "boostrun.papers.reservoir.loop", lambda text: text + "\nCHANGED = 1\n")
    assert source_digest(["stranger:Mine"]) != before


def test_facts_and_the_name_of_a_root_count():
    module = "boostrun.papers.reservoir.online.oza"
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


def test_what_becomes_of_a_trained_model_counts_for_no_cell():
    counted = set().union(*(modules_of(code_of(cell).roots) for cell in cells().values()))
    assert "boostrun.methods.estimator" in counted
    assert not {"probabilities", "importances", "saved"} & {name.rpartition(".")[2] for name in counted}
