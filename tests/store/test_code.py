"""Stale records: the code that counts for a cell, and digests that stand for the same code."""

import ast
import contextlib
import dataclasses
import json
import re
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

import boostrun
from boostrun import digest, source
from boostrun.config import catalogue, fields, without_late
from boostrun.data.options import of_trial
from boostrun.digest import reached, source_digest
from boostrun.errors import BoostrunError, DataMissingError
from boostrun.inputs import Places
from boostrun.runner import paper
from boostrun.runner.plan import input_for, open_store, plan
from boostrun.store.cell import Cell
from boostrun.store.code import RERUN, SAME_TREE, Equivalent, add_row, code_of, read_rows, rows_text
from tests.conftest import REAL_DATA

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
TRAINING = {
    "spawn", "Staged", "train_and_test", "Chunks", "opened", "Table", "arguments", "draw", "eliminate", "Bank",
    "ValueBank", "lbfgs",
}  # fmt: skip
UNCOUNTED = (
    "boostrun.cli", "boostrun.config", "boostrun.core", "boostrun.methods.declaration.Method", "boostrun.store",
    "boostrun.runner", "boostrun.report", "boostrun.methods.probabilities", "boostrun.methods.saved",
    "boostrun.files", "boostrun.data.digests", "boostrun.features.store",
)  # fmt: skip


@pytest.fixture(autouse=True)
def fresh():
    yield
    forget()


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


def edit(monkeypatch, change, *edited):
    """Let the digest read changed texts of some modules, or of all if none is named."""
    whole = source.parsed

    def parsed(path, name):
        if edited and name not in edited:
            return whole(path, name)
        text = path.read_text("utf-8")
        assert change(text) != text, f"{name} does not say that any more"
        return ast.parse(change(text))

    monkeypatch.setattr(source, "parsed", parsed)
    forget()


def forget():
    for cached in (digest._digest, digest._reach, digest.code_below):
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
def test_a_function_and_a_constant_added_to_every_module_make_nothing_stale(monkeypatch):
    made, before = cells(), digests(cells())
    edit(monkeypatch, lambda text: f"{text}\n\ndef unrelated():\n    return UNRELATED\n\n\nUNRELATED = 1\n")
    assert digests(made) == before


def constants():
    """The numbers that modules name and that count, with the cells that they count for."""
    found = {}
    for name, cell in cells().items():
        for label in reached(code_of(cell).roots).definitions:
            module, _, constant = label.rpartition(".")
            node = source.parsed(dict(modules())[module], module) if module in dict(modules()) else ast.parse("")
            values = [each.value for each in node.body if isinstance(each, ast.Assign)
                      and isinstance(each.targets[0], ast.Name) and each.targets[0].id == constant]  # fmt: skip
            if len(values) == 1 and isinstance(values[0], ast.Constant) and type(values[0].value) in (int, float):
                found.setdefault(label, set()).add(name)
    return found


@pytest.mark.parametrize("part", range(4))
@pytest.mark.slow
def test_a_constant_that_is_edited_makes_exactly_those_stale_that_reach_it(part, monkeypatch):
    made, before = cells(), digests(cells())
    labels = constants()
    assert len(labels) > 100
    for label in sorted(labels)[part::4]:
        module, _, constant = label.rpartition(".")
        with monkeypatch.context() as patch:
            edit(patch, lambda text: text.replace(f"\n{constant} = ", f"\n{constant} = 1 + "), module)  # noqa: B023
            now = digests(made)
        assert {name for name in made if now[name] != before[name]} == labels[label], label


@pytest.mark.slow
def test_what_trains_counts_and_words_about_a_method_and_what_lists_stores_or_shows_does_not(monkeypatch):
    found = {label for cell in cells().values() for label in reached(code_of(cell).roots).definitions}
    assert {label.partition(".")[0] for label in found} == {"boostrun"}
    assert not TRAINING - {label.rpartition(".")[2] for label in found}
    assert not [label for label in found if f"{label}.".startswith(tuple(f"{each}." for each in UNCOUNTED))]
    made, before = cells(), digests(cells())
    papers = [f"boostrun.papers.{name}.keys" for name in ("adaptive", "iboost", "reservoir", "shareboost")]
    declared = [*papers, "boostrun.methods.declaration"]
    edit(monkeypatch, lambda text: text.replace('help="', 'help="in other words: '), *declared)
    assert digests(made) == before


def test_a_constant_of_one_methods_own_makes_that_method_stale_and_no_other(monkeypatch):
    made, before = cells(), digests(cells())
    own = {
        "boostrun.papers.iboost.online_ensembles": {
            (name, "sea") for name in ("dwm", "adwinbag", "ocp_stream", "osboost_stream")
        },
        "boostrun.papers.adaptive.policies.bandits": {(name, "mnist") for name in ("exp3p", "ucb", "eps_greedy")},
        "boostrun.papers.shareboost.jointboost": {("jointboost", "mnist")},
    }
    for module, expected in own.items():
        with monkeypatch.context() as patch:
            edit(patch, lambda text: re.sub(r"(\nclass \w+\(.*\):\n)", r"\1    changed = 1\n", text), module)
            now = digests(made)
        assert {name for name in made if now[name] != before[name]} == expected, module


@pytest.mark.slow
@pytest.mark.parametrize("constant", ["20131205", "20111213"])
def test_the_seeds_of_the_holdout_and_of_a_subset_make_tables_stale_and_nothing_else(constant, monkeypatch):
    made, before = cells(), digests(cells())
    edit(monkeypatch, lambda text: text.replace(constant, "1"), "boostrun.inputs.bank")
    now = digests(made)
    expected = {name for name in made if name[1] in ("mnist", "statlog")}
    assert {name for name in made if now[name] != before[name]} == expected


@pytest.mark.parametrize("name, changes, stale", [
    ("geem", lambda m: {"budget": {"r": "batch_size", "q": "reservoir_size", "T": "n_estimators"}}, True),
    ("geem", lambda m: {"budget": dict(reversed(m.budget.items()))}, False),
    ("geem", lambda m: {"budget": m.budget | {"S": "shrinkage"}, "search": {}}, False),  # the cell does not have it
    ("geem", lambda m: {"fixed": {**m.fixed, "strategy": "wsam"}}, True),
    ("iboost_batch", lambda m: {"fixed": {**m.fixed, "update": "other"}}, True),
    ("geem", lambda m: {"keys": keys_with(m.keys)}, False),
    ("geem", lambda m: {"keys": keys_with(m.keys, shrinkage=0.25)}, False),  # the value is in the record's cell
    ("geem", lambda m: {"keys": keys_with(m.keys, max_bins=17)}, True),  # no key sets it
    ("geem", lambda m: dict(summary="other words", traits=("other",), exports=frozenset(), probe={}), False),
])  # fmt: skip
def test_a_method_is_stale_where_its_declaration_decides_a_result_otherwise(name, changes, stale, monkeypatch):
    cell = cells()[name, "sea" if name == "iboost_batch" else "mnist"]
    before = source_digest(*code_of(cell))
    declare(monkeypatch, name, **changes(catalogue.methods()[name]))
    assert (source_digest(*code_of(cell)) != before) == stale


def test_another_default_of_a_key_that_came_later_names_another_cell():
    field = fields.integer(6, absent=6)
    assert fields.kind_of(field).absent == 6 and fields.kind_of(fields.renamed(field, default=1)).absent == 6
    values = {"name": "rand", **{key: one.default for key, one in catalogue.methods()["rand"].fields.items()}}
    assert "depth" not in without_late("algo", values)
    assert without_late("algo", {**values, "depth": 1})["depth"] == 1


def test_the_default_of_a_parameter_that_has_no_effect_in_the_method_is_the_one_it_is_made_with(monkeypatch):
    """Parameters in ``unused`` keep the constructor's default, whatever it is: nothing that is computed changes."""
    method = catalogue.methods()["wsam"]
    values = {key: one.default for key, one in method.fields.items()}
    made = method.make(values, {"r": 20, "q": 10, "T": 5}, {}).get_params()
    defaults = {one.name: one.default for one in dataclasses.fields(method.keys)}
    assert all(made[name] == defaults[name] for name in method.unused)


@pytest.mark.slow
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
    monkeypatch.setattr(catalogue, "part_target", lambda room, name: "boostrun.methods.hypothesis_ensemble")
    assert source_digest(*code_of(named)) != before


@pytest.mark.parametrize("text", [
    "from boostrun import ReservoirClassifier\ndef f(): return ReservoirClassifier()\n",
    "import boostrun\ndef f(): return boostrun.ReservoirClassifier()\n",
    "import boostrun as b\nx = b.ReservoirClassifier\ndef f(): return x\n",
    "from boostrun.papers.reservoir.classifier import ReservoirClassifier\nclass f(ReservoirClassifier): pass\n",
])  # fmt: skip
def test_a_public_name_in_a_strangers_code_leads_to_its_definition(text, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "stranger.py").write_text(text)
    found = set(reached(["stranger:f"]).definitions)
    classifier = "boostrun.papers.reservoir.classifier"
    assert {f"{classifier}.ReservoirClassifier", f"{classifier}.Reservoir", "stranger.f"} < found
    before = source_digest(["stranger:f"])
    head = "\nclass Reservoir:\n"
    edit(monkeypatch, lambda text: text.replace(head, f"{head}    changed = 1\n"), classifier)
    assert source_digest(["stranger:f"]) != before


def test_facts_and_the_name_of_a_root_count_and_no_two_methods_have_one_digest():
    module = "boostrun.papers.reservoir.online"
    assert len({source_digest([module]), source_digest([f"{module}:Oza"]), source_digest([module], {"a": 1})}) == 3
    made = cells()
    tables = [name for name in made if name[1] in ("mnist", "sea")]
    assert len({source_digest(*code_of(made[name])) for name in tables}) == len(tables)


def test_rows_lead_on_and_round_and_a_rerun_anywhere_is_told():
    known = Equivalent([
        {"kind": SAME_TREE, "old": "a", "new": "b"}, {"kind": SAME_TREE, "old": "b", "new": "a"},
        {"kind": RERUN, "old": "b", "new": "c"}, {"kind": SAME_TREE, "old": "c", "new": "d"},
    ])  # fmt: skip
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


def test_without_a_list_only_equal_digests_are_the_same_and_every_published_row_is_well_formed(tmp_path):
    known = Equivalent.read(tmp_path)
    assert known.kind("a", "a") and not known.kind("a", "b")
    rows = read_rows(HOME.parent / "results")
    assert all(len(row[end]) == 64 for row in rows for end in ("old", "new"))


def test_a_row_is_added_once_and_what_is_frozen_stays(tmp_path):
    frozen = {SAME_TREE: {"c": ["b", "a"]}, RERUN: {}}
    (tmp_path / "equivalent.json").write_text(rows_text({"frozen": frozen, "rows": []}))
    for _ in range(2):
        add_row(tmp_path, {"kind": RERUN, "old": "c", "new": "d", "seeds": 3})
    known = Equivalent.read(tmp_path)
    assert (known.kind("a", "c"), known.kind("b", "d"), known.kind("d", "c")) == (SAME_TREE, RERUN, "")
    content = json.loads((tmp_path / "equivalent.json").read_text())
    assert content["frozen"] == {SAME_TREE: {"c": ["a", "b"]}, RERUN: {}} and len(content["rows"]) == 1


ROOT = Path(boostrun.__file__).parents[1]
RESULTS = ROOT / "results"


def test_published_trials_on_digits_are_of_todays_code_and_data(tmp_path):
    """Digits come with scikit-learn, so this holds wherever the tests run."""
    item, _ = paper.load_published("reservoir/table3", RESULTS, ["dataset=digits", f"store={tmp_path}"])
    cells = plan(item.settings, open_store(item.settings[0]))
    assert len(cells) > 20 and all(cell.done for cell in cells)
    assert {why for cell in cells for _, why in cell.stale.values()} == set()


def of_other_data(tmp_path, wanted) -> set[tuple]:
    """The data sets and features of published records whose key is not today's and not known to have its content."""
    known, places = Equivalent.read(RESULTS), Places(REAL_DATA, tmp_path, folder=ROOT)
    seen, keys, wrong = set(), {}, set()
    for path in RESULTS.glob("*/records.parquet"):
        for row in read_table(path, columns=["cell", "seed", "inputs"]).to_pylist():
            cell, data = json.loads(row["cell"]), json.loads(row["inputs"])["data"]
            if data and wanted(cell["dataset"]):
                seen.add(
                    (json.dumps(of_trial(cell["dataset"], row["seed"], REAL_DATA)), json.dumps(cell["features"]), data)
                )
    for dataset, features, data in seen:
        if (dataset, features) not in keys:
            named = json.loads(dataset), json.loads(features)
            with contextlib.suppress(DataMissingError):  # rows that a script makes
                keys[dataset, features] = input_for(named[0]).key(*named, places)
        if not known.kind(data, keys.get((dataset, features), data)):
            wrong.add((dataset, features, data))
    assert seen
    return wrong


def test_all_published_records_of_digits_are_of_todays_data(tmp_path):
    assert of_other_data(tmp_path, lambda dataset: dataset["name"] == "digits") == set()


@pytest.mark.slow
@pytest.mark.realdata
def test_all_published_records_are_of_todays_data(tmp_path):
    """Records of 34 glyphs, which no item has any more, were made before all glyphs were there."""
    assert of_other_data(tmp_path, lambda dataset: dataset.get("classes") != 34) == set()
