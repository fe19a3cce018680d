"""Which model of a search is kept, and the script that draws random budgets and counts those that are exceeded."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from boostrun import BoostrunError
from boostrun.runner.meters import Deadline, budgets_of
from boostrun.runner.within import Contender, Tried, _Choosing

SCRIPT = Path(__file__).parents[2] / "scripts" / "budget_vectors.py"


class Measured(_Choosing):
    """Models whose latency in microseconds is their number of bytes; ``seen`` are those that were measured."""

    def _trained(self, one):
        size = one.row["spent"]["model_bytes"]
        self.seen.append(size)
        path = self.request.output.with_name(f"{size}.npz")
        path.touch()
        return {"latency": size}, {}, path, {}

    def _fewer(self, one, beyond):
        return None

    def _certified(self, one, spent, record, path, how):
        return spent["latency"]


def choosing(folder, most, seconds=None, begun=0.0):
    """What is kept of 20 models, the more exact ones larger: 60, 57, ... 3 bytes."""
    contender = Contender("wsam", [], {}, {}, saved=True)
    tried = [Tried(contender, {}, float(n), {"spent": {"model_bytes": 60.0 - 3 * n}}) for n in range(20)]
    search = SimpleNamespace(tried=tried, first=[], why={}, meters=0.0)
    request = SimpleNamespace(budgets={"latency": most}, output=folder / "m.npz")
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
