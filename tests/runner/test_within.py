"""Which model of a search is kept, and the script that draws random budgets and counts those that are exceeded."""

import ctypes
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock
from sklearn.datasets import load_digits

from boostrun import AdaBoostMHClassifier, BoostrunError
from boostrun.runner import within
from boostrun.runner.contenders import ORDER, Contender, Tried
from boostrun.runner.meters import Deadline, budgets_of
from boostrun.runner.plan import composer
from boostrun.runner.search import BEYOND, BY
from boostrun.runner.wide import Request
from boostrun.runner.within import _PART, Search, _Choosing

SCRIPT = Path(__file__).parents[2] / "scripts" / "budget_vectors.py"


class Measured(_Choosing):
    """Models whose latency in microseconds is their number of bytes; ``seen`` are those that were measured."""

    fails_at = 0.0  # bytes of a model that cannot be measured

    def _trained(self, one):
        size = one.row["bytes"]
        self.seen.append(size)
        path = self.request.output.with_name(f".m-{size}.npz")
        path.touch()
        self.made.add(path)
        if size == self.fails_at:
            raise BoostrunError("a meter failed")
        return {"latency": size}, {}, path, {}

    def _fewer(self, one, beyond):
        return None

    def _certified(self, one, spent, record, path, how):
        path.replace(self.request.output)
        return spent["latency"]


def choosing(folder, most, seconds=None, begun=0.0):
    """What is kept of 20 models, the more exact ones larger: 60, 57, ... 3 bytes."""
    contender = Contender("wsam", [], {}, {}, saved=True)
    tried = [Tried(contender, {}, float(n), {"bytes": 60.0 - 3 * n}, share=60.0 - 3 * n) for n in range(20)]
    search = SimpleNamespace(tried=tried, first=[], why={}, meters=0.0, interrupted=False, go_on=lambda took: False)
    request = Request([], (), {"latency": most}, folder / "m.npz")
    made = Measured(request, None, search, Deadline(seconds, time.monotonic() - begun), None)
    made.seen = []
    return made


def test_the_most_exact_model_that_keeps_its_budgets_is_chosen(tmp_path):
    assert choosing(tmp_path, 55.0).run() == 54.0


def test_the_smallest_model_is_measured_before_a_budget_is_given_up(tmp_path):
    made = choosing(tmp_path, 5.0)
    assert made.run() == 3.0 and len(made.seen) == 11


def test_a_budget_that_no_model_keeps_is_named_with_the_least_that_was_measured(tmp_path):
    with pytest.raises(BoostrunError, match=r"latency=2 us cannot be kept on these data: .* is latency=3"):
        choosing(tmp_path, 2.0).run()


def test_a_budget_is_not_called_impossible_if_the_time_ended_first(tmp_path):
    made = choosing(tmp_path, 2.0, 10.0, begun=8.6)  # the attempts end when 9.5 seconds are spent
    made._in_time = lambda one: len(made.seen) < 1
    with pytest.raises(BoostrunError, match=r"latency=2 us is not kept after seconds=10: .* is latency=6"):
        made.run()


def test_after_a_measured_latency_no_model_of_the_method_is_tried_that_would_be_as_slow_again(tmp_path):
    made = choosing(tmp_path, 19.0)
    for one in made.search.tried:  # a third of what is measured
        one.row["spent"] = {"prediction_us": one.row["bytes"] / 3.0}
    assert made.run() == 18.0 and made.seen == [57.0, 18.0]


def test_of_models_with_equal_errors_the_one_that_spends_less_is_chosen(tmp_path):
    made = choosing(tmp_path, 55.0)
    for one in made.search.tried:
        one.loss = 5.0 if one.share > 20.0 else 6.0
    assert made.run() == 21.0 and made.seen == [21.0]


@pytest.mark.parametrize(("sizes", "kept"), [([40.0], 40.0), ([50.0, 40.0], 40.0), ([54.0], 54.0)])
def test_a_model_as_good_as_the_first_one_replaces_it_if_it_spends_less(tmp_path, sizes, kept):
    made = better(choosing(tmp_path, 55.0), sizes, [2.0] * len(sizes))
    assert made.run() == kept


ONE_BYTE = {"bytes": 1.0}


def test_models_of_few_rows_are_trained_before_those_that_were_too_large(tmp_path):
    made = choosing(tmp_path, 55.0)
    few, made.search.tried = made.search.tried[2:], [Tried(made.search.tried[0].contender, {}, BEYOND, ONE_BYTE)]
    made.search.first = few
    assert made.run() == 54.0 and made.seen == [54.0]


def better(made, sizes, losses):
    """Let the search find models of these sizes and errors after the first one, of 54 bytes and an error of 2."""

    def go_on(took):
        contender = made.search.tried[0].contender
        made.search.tried += [
            Tried(contender, {}, loss, {"bytes": size}, share=size) for size, loss in zip(sizes, losses)
        ]
        return True

    made.search.go_on = go_on
    return made


@pytest.mark.parametrize(("sizes", "kept"), [([40.0], 40.0), ([56.0, 50.0], 50.0), ([56.0], 54.0), ([], 54.0)])
def test_a_better_model_that_is_found_after_the_first_one_replaces_it_if_it_keeps_the_budgets(tmp_path, sizes, kept):
    made = better(choosing(tmp_path, 55.0), sizes, [-9.0, -8.0])
    assert made.run() == kept and made.seen == [60.0, 57.0, 54.0, *sizes]
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]


def test_a_better_model_of_fewer_rounds_must_be_better_too(tmp_path):
    made = better(choosing(tmp_path, 55.0), [56.0], [-9.0])
    first = made.search.tried[0]
    made._fewer = lambda one, beyond: Tried(first.contender, {}, 2.5, first.row) if one.loss < 0.0 else None
    assert made.run() == 54.0 and made.seen == [60.0, 57.0, 54.0, 56.0]


def test_a_model_is_kept_if_a_better_one_cannot_be_measured(tmp_path):
    made = better(choosing(tmp_path, 55.0), [40.0], [-9.0])
    made.fails_at = 40.0
    assert made.run() == 54.0 and [path.name for path in tmp_path.iterdir()] == ["m.npz"]


def test_models_that_cannot_be_measured_give_way_to_others(tmp_path):
    made = choosing(tmp_path, 55.0)
    made.fails_at = 54.0
    assert made.run() == 51.0 and made.why == "a meter failed"


def test_if_no_model_can_be_measured_the_sentence_says_why(tmp_path):
    made = choosing(tmp_path, 55.0)
    made.search.tried = made.search.tried[2:3]
    made.fails_at = 54.0
    with pytest.raises(BoostrunError, match="no model could be measured, the last one since a meter failed"):
        made.run()


@pytest.mark.parametrize(("why", "first"), [("there are 20 samples to train on", 20.0), ("it was not run", 51.0)])
def test_a_model_that_fewer_rows_refuse_is_not_behind_worse_ones(monkeypatch, why, first):
    monkeypatch.setattr(within, "with_values", lambda settings, values: settings)
    monkeypatch.setattr(within, "_with_root", lambda study, **root: study)
    search = Search.__new__(Search)
    search.request, search.held_out, search.costs, search.records = SimpleNamespace(screened=None), 100, {}, set()
    search.compose = lambda words: None
    contenders = [Contender(name, [], {}, {}, saved=True) for name in ("good", "bad")]
    search.tried = [Tried(one, {}, loss) for one, loss in zip(contenders, (20.0, 55.0))]
    rows = [{BY: None, "why": why, "records": []}, {BY: 49.0, "why": "", "records": []}]
    search._trials = lambda studies, trials, share: [SimpleNamespace(rows=[row]) for row in rows]
    search._confirm()
    assert min(search.tried, key=ORDER).loss == first


def test_if_the_user_interrupts_the_search_after_the_first_model_no_file_is_left(tmp_path):
    made = choosing(tmp_path, 55.0)
    made.search.go_on = lambda took: setattr(made.search, "interrupted", True) or True
    assert made.run() is None and not [*tmp_path.iterdir()]


# -- the search --------------------------------------------------------------------------------------------------------


def searching(seconds=None, words=("dataset=digits", "n_jobs=2"), **budgets):
    """A search that has tried nothing."""
    request = Request(list(words), (), budgets, Path("m.npz"), quiet=True)
    return Search(request, composer(None), [], Deadline(seconds, time.monotonic()), 100, 20)


def test_workers_are_started_only_where_they_are_sooner_done():
    found = searching()
    assert not found._in_workers(1000, 0.5)  # no trial has been timed
    found.each, found.start = 1.0, 3.0
    assert not found._in_workers(12, 0.5) and found._in_workers(13, 0.5)
    found.cores = 1
    assert not found._in_workers(1000, 0.5)
    short = searching(10.0)
    short.each, short.start = 1.0, 3.0
    assert not short._in_workers(1000, 0.5)  # five seconds are left


@pytest.mark.parametrize(("spent", "rounds"), [(400.0, 9), (90.0, 40), (60.0, 20), (10.0, 100)])
def test_a_first_trial_says_how_many_rounds_fit(spent, rounds):
    """Of 100 bytes: too many are taken, most, more than half, and few of them; the usual rounds are 100."""
    found = searching(words=["dataset=digits"], flash=100.0)
    one = Contender("few_features", ["dataset=digits", "algo=few_features", "T=100"], {}, {}, saved=True)
    one.give_rounds(40 if spent != 60.0 else 20)
    values = {"T": one.rounds}
    found.tried = [Tried(one, values, 5.0, {"spent": {"flash_bytes": spent}})]
    assert found._sized(one, few=False) == (one.rounds != values["T"]) and one.rounds == rounds


class Slow(Search):
    """Trials of a part of the time end for none; of all of it for ``ends``. ``asked`` are the rungs."""

    def _rung(self, contenders, trials, share, rows=None, part=1.0):
        self.asked.append(([one.name for one in contenders], part))
        self.tried += [Tried(one, {}, 5.0) for one in contenders if part == 1.0 and one.name == self.ends]


def test_if_no_trial_ends_in_a_part_of_the_time_all_of_it_goes_to_one_after_another():
    names = ["logistic", "lightgbm", "xgboost", "wsam"]
    contenders = [Contender(name, ["dataset=digits"], {}, {}, saved=name != "logistic") for name in names]
    plain = searching(words=["dataset=digits"])
    found = Slow(plain.request, plain.compose, contenders, plain.clock, 100, 2000)
    found.asked, found.ends = [], "xgboost"
    found.run()
    assert found.asked[:4] == [([name], _PART) for name in names]
    assert found.asked[4:6] == [(["lightgbm"], 1.0), (["xgboost"], 1.0)]
    assert all(asked in ([], ["xgboost"]) for asked, _ in found.asked[6:])


def test_after_the_first_model_the_search_goes_on_until_there_is_time_for_one_more():
    plain = searching(100.0, words=["dataset=digits"])
    names = ["lightgbm", "xgboost", "wsam", "few_features"]
    contenders = [Contender(name, ["dataset=digits"], {}, {}, saved=True) for name in names]
    found = Slow(plain.request, plain.compose, contenders, plain.clock, 100, 2000)
    found.tried = [Tried(one, {}, loss) for one, loss in zip(contenders, [3.0, 2.0, 4.0, 5.0])]
    found.asked, found.ends = [], ""
    assert found.go_on(2.0) and found.reserve == 1.5 * 2.0 + found.start + 0.5
    best = [names for names, _ in found.asked]
    assert best == 2 * [["xgboost", "lightgbm"]] + 2 * [["xgboost", "lightgbm", "wsam"]]
    assert not found.go_on(63.0) and len(found.asked) == 4


def test_a_kernel_is_compiled_before_the_clock_interrupts():
    clock, ended = Deadline(1.0, time.monotonic()), []
    with pytest.raises(KeyboardInterrupt), clock.until(0.1, latest=0.8):
        with global_compiler_lock:
            time.sleep(0.3)
            ended.append(clock.spent)
        time.sleep(0.6)
        ended.append(clock.spent)
    assert len(ended) == 1 and clock.rang and clock.spent < 0.7
    with pytest.raises(KeyboardInterrupt), clock.until(0.8, latest=0.9), global_compiler_lock:  # not for ever
        time.sleep(3.0)


def test_a_function_that_is_called_from_c_ends_before_the_clock_interrupts():
    ended = []

    @ctypes.CFUNCTYPE(ctypes.c_int)
    def called():
        return _next_wrapper()

    def _next_wrapper():  # as XGBoost's
        time.sleep(0.3)
        ended.append(1)
        return 7

    with pytest.raises(KeyboardInterrupt), Deadline(1.0, time.monotonic()).until(0.1):
        ended.append(called())
        time.sleep(2.0)
    assert ended == [1, 7]


def test_a_part_of_the_time_until_a_share():
    clock = Deadline(100.0, time.monotonic() - 20.0)
    assert clock.share_of(0.25, 0.6) == pytest.approx(0.3, abs=0.01)
    assert clock.share_of(1.0, 0.6) == 0.6 and Deadline(None, 0.0).share_of(0.25, 0.6) == 0.6


# -- scripts/budget_vectors.py -----------------------------------------------------------------------------------------


@pytest.fixture
def script(monkeypatch):
    if not SCRIPT.is_file():
        pytest.skip("the scripts are in a checkout only")
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import budget_vectors

    yield budget_vectors
    sys.modules.pop("budget_vectors")


def test_vectors_come_from_the_seed_alone_and_can_be_kept(script):
    for name, one in script.SETS.items():
        vectors = [script.drawn(name, number) for number in range(script.VECTORS)]
        assert vectors == [script.drawn(name, number) for number in range(script.VECTORS)]
        assert len(set(vectors)) > 1 and vectors != [script.drawn(name, number, seed=9) for number in range(5)]
        for budgets in map(budgets_of, vectors):
            assert "seconds" not in budgets and budgets.get("features", 2) in range(2, one.columns + 1)
            assert 10 * one.classes <= budgets.get("held", one.rows) <= one.rows
            assert budgets.get("memory", 2**30) >= 450 * 2**20 and budgets.get("flash", 1e4) >= 500 + 100 * one.classes


def test_a_budget_that_is_exceeded_or_not_measured_is_counted(script):
    most = {"features": 3.0, "flash": 900.0, "held": 9.0}
    assert script.exceeded(most, {"features": 3.0, "flash": 900.0, "held": 8.0}) == ""
    assert script.exceeded(most, {"features": 4.0, "flash": 909.0}) == "features 1.333; flash 1.010; held nan"


def test_each_budget_of_a_saved_model_is_measured_again(script, tmp_path):
    X, y = load_digits(return_X_y=True)
    AdaBoostMHClassifier(n_estimators=4).fit(X, y).save(tmp_path / "m.npz")
    np.savez(tmp_path / "t.npz", x_train=X, y_train=y, x_test=X, y_test=y)
    asked = {kind: {"spent": 9.0} for kind in ("features", "flash", "latency", "held")}
    found = script.again(tmp_path / "m.npz", str(tmp_path / "t.npz"), {"seconds": 2.0, "budgets": asked})
    assert found["seconds"] == 2.0 and found["held"] == 9.0 and found["features"] <= 4.0
    assert 100.0 < found["flash"] < 4000.0 and found["latency"] > 0.0


def row(name, regret, **others: str) -> Mapping[str, str]:
    keys = ("exceeded", "exceeded_again", "fit_error", "full_error")
    return {
        "set": name, "budgets": "3", "regret": regret, "fit_trials": "10", "full_trials": "40",
        **dict.fromkeys(keys, ""), **others,
    }  # fmt: skip


def test_the_summary_counts_what_is_exceeded_and_who_is_ahead(script):
    lost = row("wine", "", budgets="", fit_error="too short", fit_trials="", full_trials="40")
    rows = [row("wine", "2.0"), row("wine", "-1.0", exceeded_again="flash 1.1; held nan"), lost, row("spam", "0.2")]
    _, wine, spam, every = script.summary_of(rows)
    assert wine == ["wine", "3", "0, 2 of 6", "1", "0.50", "2.12", "1, 0, 1", "20 : 80"]
    assert spam == ["spam", "1", "0, 0 of 3", "0", "0.20", "", "0, 1, 0", "10 : 40"]
    assert every[:4] == ["all", "4", "0, 2 of 9", "1"] and every[-2:] == ["1, 1, 1", "30 : 120"]
