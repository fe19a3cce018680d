"""Which model of a search is kept, and what is said if none is."""

import time
from types import SimpleNamespace

import pytest

from boostrun import BoostrunError
from boostrun.runner.meters import Deadline
from boostrun.runner.within import Contender, Tried, _Choosing


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
