"""Trials within bytes of flash: what is counted are the tables of the C text, and what is measured is its predictor."""

import re

import numpy as np
import pytest

from boostrun.cli import main
from boostrun.data import load
from boostrun.errors import BoostrunError
from boostrun.export.chip import source, within
from boostrun.export.flash import (
    MOST_ROWS,
    first_rounds,
    flash,
    microseconds_of,
    most_rounds,
    rounds_of,
    saved_of_table,
)
from boostrun.export.forms import TreeForm, is_leaf, real_form, real_scores
from boostrun.export.integer import decided, quantised
from boostrun.export.parts import Saved
from boostrun.methods.declaration import ON_CHIP
from boostrun.runner.execute import execute_of
from boostrun.runner.plan import cell_of, compose_one, open_store, plan, prepare
from boostrun.store.cell import Trial
from boostrun.store.code import code_of
from tests.marks import slow_but

TABLE = re.compile(r"static const u?int(8|16|32)_t \w+\[\d*\] FLASH = \{(.*?)\};", re.S)
CASES = [
    ("logitboost", 700, "T=40"), ("logitboost", 1500, "T=40 algo.weak_learner=tree algo.depth=3"),
    ("few_features", 500, "T=60"), ("jointboost", 450, "T=12"), ("laminating", 600, "T=60"),
    ("shareboost", 480, "T=30"), ("lightgbm", 1500, "T=20 algo.leaves=4"),
    ("lightgbm_reuse", 1500, "T=20 algo.leaves=4"), ("xgboost", 1500, "T=20 algo.depth=2"),
    ("random_forest", 1500, "T=20 algo.leaves=8"), ("hist_gradient_boosting", 1500, "T=20 algo.leaves=4"),
    ("extra_trees", 1500, "T=20 algo.leaves=8"),
]  # fmt: skip


def trained(tmp_path, *words):
    places = (f"store={tmp_path / 'store'}", f"cache_root={tmp_path / 'cache'}", f"results={tmp_path}")
    settings = compose_one([*" ".join(words).split(), *places])
    (cell,) = plan([settings], open_store(settings))
    prepare([cell], 0, progress=False)
    return execute_of([settings], 1).trained(Trial(cell.cell, 0, cell.inputs))


@pytest.mark.parametrize(("name", "most", "words"), slow_but([CASES[0], *CASES[3:8:2], CASES[8]], CASES))
def test_bytes_are_those_of_the_tables_that_export_writes_and_labels_those_of_its_predictor(
    name, most, words, tmp_path
):
    if name in ("lightgbm", "lightgbm_reuse", "xgboost"):
        pytest.importorskip(name.partition("_")[0])
    found = trained(tmp_path, f"algo={name} dataset=digits train_samples=400 algo.flash_bytes={most}", words)
    cost, metrics = found.result["cost"], found.result["metrics"]
    saved = saved_of_table(found.model, found.data)
    form = real_form(saved)
    whole = load({"name": "digits"}, tmp_path)
    train = whole.x_train.reshape(len(whole.x_train), -1)[found.data.rows["train"]]
    test = whole.x_test.reshape(len(whole.x_test), -1)
    chip = quantised(saved, train[:MOST_ROWS], form=form, fits=within(most))
    text = source(chip)
    tables = sum(int(bits) // 8 * len(body.split(",")) for bits, body in TABLE.findall(text))
    assert tables == int(re.search(r"Tables: (\d+) bytes", text)[1])
    assert tables + 300 <= cost["flash_bytes"] <= most and cost["flash_bytes"] - tables <= 560
    rounds = int(re.search(r"T=(\d+)", words)[1])
    assert cost["rounds_kept"] == rounds or cost["flash_bytes"] > 0.7 * most
    truth = found.data.labels("test")
    assert metrics["test_accuracy_pct"] == pytest.approx(100.0 * np.mean(chip.predict(chip.codes(test)) == truth))
    np.testing.assert_array_equal(found.model.right_on_chip_, chip.predict(chip.codes(test)) == truth)
    real = 100.0 * np.mean(decided(real_scores(form, test, saved.missing)) == truth)
    assert metrics["real_accuracy_pct"] == pytest.approx(real) and real > 15.0
    if name != "jointboost":  # whose curve is over features
        assert real == pytest.approx(found.result["curve"]["test_accuracy_pct"][-1], abs=0.3)


def comparisons(tree, share=1.0):
    """Of a prediction by a tree, if half the samples go each way."""
    return 0.0 if is_leaf(tree) else share + comparisons(tree[2], share / 2) + comparisons(tree[3], share / 2)


@pytest.mark.parametrize("words", ["algo=logitboost T=9", "algo=laminating T=9", "algo=extra_trees T=9 algo.leaves=8"])
def test_the_estimate_of_a_latency_counts_trees_leaves_and_comparisons(words, tmp_path):
    found = trained(tmp_path, f"{words} dataset=digits train_samples=400")
    form = real_form(saved_of_table(found.model, found.data))
    below = sum(comparisons(tree) for tree in form.trees) - len(form.trees)
    leaves = 10 * len(form.trees) if form.rows[0] < 0 else 0
    expected = (1.2 * len(form.trees) + 1.0 * leaves + 12.0 * below) / 1000
    assert microseconds_of(found.model, found.data) == pytest.approx(expected)
    more = trained(tmp_path, f"{words.replace('T=9', 'T=90')} dataset=digits train_samples=400")
    assert microseconds_of(more.model, more.data) == pytest.approx(10 * expected, rel=0.25)


@pytest.mark.slow
def test_rows_that_are_held_out_are_measured_as_the_table_parts_them(tmp_path):
    found = trained(tmp_path, "algo=logitboost dataset=digits T=20 holdout=0.25 algo.flash_bytes=5000")
    assert found.result["metrics"]["real_accuracy_pct"] == found.result["curve"]["test_accuracy_pct"][-1] > 80.0
    assert len(found.model.right_on_chip_) == len(found.data.rows["test"])


def test_missing_values_are_missing_for_the_predictor(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    y = (x[:, 0] > 0) ^ (rng.random(300) < 0.2)
    holes = y | (rng.random(300) < 0.3)
    lines = [f"{'' if hole else a},{b},{c},{late:d}\n" for (a, b, c), hole, late in zip(x.round(3), holes, y)]
    path = tmp_path / "mine.csv"
    path.write_text("".join(["a,b,c,kind\n", *lines]))
    words = "T=30 algo.flash_bytes=2000 dataset.missing=data dataset.label=kind dataset.split_seed=0"
    found = trained(tmp_path, f"algo=logitboost dataset=csv dataset.path={path}", words)
    metrics = found.result["metrics"]
    assert metrics["test_accuracy_pct"] == metrics["real_accuracy_pct"] > 75.0
    assert metrics["real_accuracy_pct"] == found.result["curve"]["test_accuracy_pct"][-1]


def test_bytes_too_few_are_a_sentence_with_the_smallest_that_work(tmp_path):
    words = "algo=logitboost dataset=digits T=5 train_samples=200 algo.flash_bytes"
    with pytest.raises(BoostrunError, match=r"^algo.flash_bytes=300: the smallest model has (\d+)$") as refused:
        trained(tmp_path, f"{words}=300")
    least = int(str(refused.value).rpartition(" ")[2])
    assert trained(tmp_path, f"{words}={least}").result["cost"]["flash_bytes"] <= least
    with pytest.raises(BoostrunError, match="the smallest model has"):
        trained(tmp_path, f"{words}={least - 1}")


def test_export_writes_the_predictor_within_its_bytes(tmp_path, capsys):
    words = ["algo=logitboost", "dataset=digits", "T=40", "algo.weak_learner=tree", "algo.depth=3"]
    places = [f"store={tmp_path / 'store'}", f"cache_root={tmp_path / 'cache'}", "-o", str(tmp_path / "m.c")]
    assert main(["export", *words, "algo.flash_bytes=1500", "--to", "c", "--integer", *places]) == 0
    (tables,) = re.findall(r"Tables: (\d+) bytes", (tmp_path / "m.c").read_text())
    assert 800 < int(tables) <= 1500 - 450 and "predictor" in capsys.readouterr().out


@pytest.mark.slow
def test_bits_with_which_a_predictor_does_not_fit_are_not_chosen_if_others_do():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    trees = [(t % 3, float(rng.normal()), -leaf, leaf) for t, leaf in enumerate(rng.normal(size=(60, 1)))]
    form, saved = TreeForm("", trees, [0] * 60, np.zeros(1)), Saved(None, ["a", "b"], 3, {}, "")
    one = quantised(saved, X, form=form)
    assert (one.codes.bits, one.leaf_bits) != (8, 8)
    small = quantised(saved, X, form=form, bits=(8, 8))
    sizes = [next(n for n in range(10_000) if within(n)(each)) for each in (small, one)]
    assert sizes[0] < sizes[1]
    chosen = quantised(saved, X, form=form, fits=within(sizes[0]))
    assert (chosen.codes.bits, chosen.leaf_bits) == (8, 8) and chosen.lost == small.lost > 0
    nothing = quantised(saved, X, form=form, fits=within(1))
    assert (nothing.codes.bits, nothing.leaf_bits, nothing.lost) == (one.codes.bits, one.leaf_bits, one.lost)


def test_the_most_rounds_are_found_whatever_they_take():
    rng = np.random.default_rng(0)
    for _ in range(200):
        sizes = 300 + np.cumsum(rng.integers(0, 40, 60))
        most = int(rng.integers(sizes[0], sizes[-1] + 50))
        found = most_rounds(lambda rounds, sizes=sizes: int(sizes[rounds - 1]), 60, most)
        assert sizes[found - 1] <= most
        assert found == 60 or sizes[found] > most or sizes[found - 1] >= 0.98 * most


def test_first_rounds_are_those_of_each_row():
    leaf = np.array([1.0])
    form = TreeForm("", [leaf * n for n in range(7)], [0, 0, 0, 1, 1, 1, 1], np.zeros(2))
    assert rounds_of(form) == 4
    part = first_rounds(form, 2)
    assert [tree[0] for tree in part.trees] == [0, 1, 3, 4] and part.rows == [0, 0, 1, 1]


def test_a_large_model_is_counted_in_proportion(monkeypatch, tmp_path):
    found = trained(tmp_path, "algo=logitboost dataset=digits T=20 train_samples=400 algo.weak_learner=tree")
    saved = saved_of_table(found.model, found.data)
    whole = flash(saved).tables
    monkeypatch.setattr("boostrun.export.flash._SPLITS", 200)
    assert flash(saved).tables == pytest.approx(whole, rel=0.3)


def test_only_cells_with_the_key_reach_the_code_of_chips():
    plain, small = (compose_one(["algo=wsam", *more]) for more in ([], ["algo.flash_bytes=4000"]))
    assert "flash_bytes" not in cell_of(plain).algo and cell_of(small).algo["flash_bytes"] == 4000
    assert ON_CHIP not in code_of(cell_of(plain)).roots and ON_CHIP in code_of(cell_of(small)).roots


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run algo=wsam dataset=digits algo.flash_bytes=0", "algo.flash_bytes=0: a whole number of at least 1"),
        ("run algo=wsam dataset=stream dataset.path=x.npy algo.flash_bytes=10", "algo.flash_bytes needs a table"),
        ("run algo=wsam dataset=digits algo.flash_bytes=900 run.predictions=true", "are not kept"),
        ("frontier dataset=digits budget=flash_bytes metric=macro_f1", "leave metric out"),
        ("frontier dataset=digits budget=flash_bytes algo=catboost", "cannot keep a budget of flash_bytes"),
    ],
)
def test_bad_words_are_a_sentence(words, said, capsys, tmp_path):
    assert main([*words.removeprefix("run ").split(), f"store={tmp_path}", f"results={tmp_path}"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_a_frontier_of_flash_reports_the_predictor_and_never_more_bytes(tmp_path, capsys):
    words = ["frontier", "dataset=digits", "budget=flash_bytes", "at=450,900", "algo=logitboost,few_features",
             "tuning=2", "trials=2", f"store={tmp_path / 'store'}", f"results={tmp_path}"]  # fmt: skip
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "in 450 to 900 bytes of flash" in said or "450 bytes of flash" in said
    (table,) = tmp_path.glob("frontiers/*/table.csv")
    lines = [line.split(",") for line in table.read_text().splitlines()]
    spent = [float(line[lines[0].index("spent")]) for line in lines[1:]]
    budgets = [float(line[2]) for line in lines[1:]]
    assert len(spent) == 4 and all(0 < one <= most for one, most in zip(spent, budgets))


@pytest.mark.slow
def test_each_trial_that_splits_anew_reads_the_rows_of_its_own_split(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4)).round(3)
    y = x[:, 0] + x[:, 1] > rng.normal(size=200) / 2
    path = tmp_path / "mine.csv"
    path.write_text("a,b,c,d,kind\n" + "".join(f"{','.join(map(str, row))},{int(late)}\n" for row, late in zip(x, y)))
    words = f"algo=logitboost dataset=csv dataset.path={path} T=30 algo.flash_bytes=1500"
    for holdout in ("", "holdout=0.3"):
        settings = compose_one([*words.split(), *holdout.split(), f"store={tmp_path}", f"cache_root={tmp_path}"])
        (cell,) = plan([settings], open_store(settings))
        assert settings.splits and len({trial.inputs.data for trial in cell.to_run}) == 10
        for trial in cell.to_run[:4]:
            prepare([cell], trial.seed, progress=False)
            metrics = (found := execute_of([settings], 1).trained(trial)).result["metrics"]
            assert metrics["real_accuracy_pct"] == found.result["curve"]["test_accuracy_pct"][-1]
