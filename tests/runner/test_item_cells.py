"""Rows of methods that learn nothing: one for each place of a method that learns, with keys of data and trials."""

import pytest

from boostrun.runner import claims, paper
from boostrun.runner.item_checks import cells, narrow
from boostrun.runner.plan import plan
from boostrun.store import Store
from tests.marks import slow_but

ITEM = {
    "rows": "algo",
    "columns": ["metric", "n"],
    "overrides": ["M=200", "dataset.noise=0.1", "trials=10"],
    "naught": ["no_change"],
    "blocks": [
        {"sweep": {"algo": ["iboost"], "dataset": ["sea"], "n": [100, 200]}, "settings": {"": ["b=5", "algo.eta=0.1"]}},
        {"sweep": {"algo": ["ocb"], "dataset": ["sea"], "n": [100, 200]}, "quick": ["trials=1"]},
    ],
    "quick": ["dataset.n_samples=8000"],
}


def composed(raw: dict, *typed: str, quick: bool = False) -> list[tuple[str, list[str]]]:
    narrowed, others = narrow("own/item", raw["blocks"], typed)
    return [(place.named(place.values), words) for place, words in cells(raw, narrowed, others, quick)]


def test_naught_is_told_of_data_and_trials_alone() -> None:
    found = composed(ITEM)
    assert [name for name, _ in found] == [
        "iboost sea 100", "iboost sea 200", "ocb sea 100", "ocb sea 200", "no_change sea 100", "no_change sea 200",
    ]  # fmt: skip
    same = ["dataset.noise=0.1", "trials=10", "dataset=sea", "algo=no_change"]
    assert [words for _, words in found[-2:]] == [same, same]
    assert found[0][1] == ["M=200", "dataset.noise=0.1", "trials=10", "b=5", "algo.eta=0.1", "algo=iboost",
                           "dataset=sea", "n=100"]  # fmt: skip


def test_typed_keys_of_methods_are_not_told_to_it() -> None:
    name, words = composed(ITEM, "M=20", "seed=7", "n=100", quick=True)[-1]
    assert name == "no_change sea 100"
    assert words == ["dataset.noise=0.1", "trials=10", "dataset.n_samples=8000", "dataset=sea", "seed=7",
                     "algo=no_change"]  # fmt: skip


def test_narrowed_rows_leave_it_out_or_alone_and_a_row_of_the_blocks_is_only_marked():
    assert {name.split()[0] for name, _ in composed(ITEM, "algo=ocb")} == {"ocb"}
    assert {name for name, _ in composed(ITEM, "algo=no_change")} == {"no_change sea 100", "no_change sea 200"}
    assert {name.split()[0] for name, _ in composed(ITEM, "algo=ocb,no_change")} == {"ocb", "no_change"}
    raw = {**ITEM, "naught": ["ocb"]}
    assert composed(raw) == composed({**ITEM, "naught": []})


def test_settings_that_it_is_not_told_of_are_one() -> None:
    settings = {"slow": ["algo.eta=0.1"], "fast": ["algo.eta=1"], "clean": ["dataset.noise=0"]}
    raw = {**ITEM, "blocks": [{"sweep": {"algo": ["iboost"], "dataset": ["sea"]}, "settings": settings}]}
    assert [name for name, _ in composed(raw)][-2:] == ["no_change sea slow", "no_change sea clean"]
    columns = {**raw, "columns": ["setting", "metric"]}
    assert [name for name, _ in composed(columns)][-3:] == [f"no_change sea {setting}" for setting in settings]
    rows = {**raw, "rows": "setting"}
    assert [name for name, _ in composed(rows)][-1:] == ["no_change sea no_change"]


def test_stream_tables_have_both_levels_in_every_column_and_compare_them_with_nothing() -> None:
    item = paper.load("iboost/table_sea_window", ["n=100,500"])
    rows = {(place.values["algo"], place.values["n"]) for place, _ in item.cells}
    assert {(row, n) for row in ("no_change", "majority_so_far") for n in ("100", "500")} <= rows
    alone = [settings for place, settings in item.cells if place.values["algo"] == "no_change"]
    first, second = ((one.algo, one.dataset, one.features, one.budget) for one in alone)
    assert first == second and not first[-1]
    assert item.spec.naught == ("no_change", "majority_so_far")


@pytest.mark.parametrize("name", slow_but(["reservoir"], claims.claims_of([])))
def test_of_the_cells_of_an_item_those_that_are_wanted_make_the_wanted_entries(name, tmp_path):
    wanted: dict[str, set] = {}
    for pick in (
        pick for one in claims.claims_of([name])[name] for case in one.cases for pick in claims.picks_of(case)
    ):
        wanted.setdefault(pick.item, set()).add((pick.row, pick.labels))
    store, fewer = Store(tmp_path), 0
    for item, these in wanted.items():
        whole, part = (paper.load(item, wanted=given) for given in (None, these))
        fewer += len(part.cells) < len(whole.cells)
        found, expected = (
            [
                entry for entry in one.entries(plan(one.settings, store, data=False) if one.cells else [])
                if any(entry.row == row and set(labels) <= set(entry.column) for row, labels in these)
            ] for one in (part, whole)
        )  # fmt: skip
        assert found == expected and part.positions == whole.positions
    assert fewer
