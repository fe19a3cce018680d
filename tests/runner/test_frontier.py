"""A frontier takes the best settings of a search that fit all training data, and the rounds that seconds allow."""

import itertools
from types import SimpleNamespace

import pytest

from boostrun.errors import BoostrunError
from boostrun.runner import frontier
from boostrun.runner.frontier import PILOTS, facts_of, rounds_in
from boostrun.runner.memory import samples_in
from boostrun.runner.search import Choice, Study


def test_values_that_do_not_fit_all_training_data_give_way_to_the_next_best(monkeypatch):
    def fit(cell, table):
        if cell["Q"] > table:
            raise BoostrunError("too many")

    monkeypatch.setattr(frontier, "with_values", lambda settings, values: settings | values)
    monkeypatch.setattr(frontier, "cell_of", lambda settings: settings)
    monkeypatch.setattr(frontier, "fit", fit)
    errors = {8: 5.0, 256: 1.0, 32: 2.0, 16: 2.0, 64: None}
    rows = [{"values": {"Q": q}, "test_error_pct": error} for q, error in errors.items()]
    choice = Choice(Study(None, {}), None, tuple(rows)).ranked
    one = frontier.Candidate("a", False, 9, settings={"T": 3}, limits={"T": 3})

    def fitting(table):
        return [(found.loss, found.chosen, found.settings) for found in frontier._fitting(choice, one, table)]

    assert fitting(100)[0] == (2.0, {"Q": 32}, {"T": 3, "Q": 32})  # the first of equals
    assert fitting(1000)[0][2] == {"T": 3, "Q": 256}
    assert fitting(1) == []


def test_values_whose_trials_all_fail_give_way_to_the_next_best(monkeypatch):
    monkeypatch.setattr(frontier, "cell_of", lambda settings: SimpleNamespace(key=settings["Q"]))
    fails = SimpleNamespace(done=[], failed=[{"error": {"message": "too large"}}])
    cells = {8: fails, 7: fails, 4: SimpleNamespace(done=[1], failed=fails.failed)}
    rest = [frontier.Chosen(float(q), {"Q": q}, {}, {"Q": q}, {}) for q in (7, 4, 2)]
    one = frontier.Candidate("a", False, 9, settings={"Q": 8}, others=iter(rest))
    tried = []
    while frontier._took_next_best(one, cells):
        tried.append(one.chosen["Q"])
    assert tried == [7, 4] and one.failed == "too large"  # one trial of the last did not fail
    lost = frontier.Candidate("a", False, 9, settings={"Q": 8})
    assert not frontier._took_next_best(lost, cells) and lost.failed == ""


@pytest.mark.parametrize("held_out", [None, 80])
def test_facts_tell_the_training_samples_before_some_were_held_out(held_out):
    class Part:
        classes, families = (0, 1), ()

        def __init__(self, n):
            self.shape = (n, 5)

        def inputs(self, part):
            return self

        def labels(self, part):
            return range(self.shape[0])

    facts = facts_of(Part(held_out or 100), Part(100) if held_out else None)
    assert (facts["n_samples"], facts["n_training"], facts["n_families"]) == (held_out or 100, 100, 1)


@pytest.mark.parametrize(("dataset", "words", "called"), [
    ({"name": "mnist"}, [], "mnist"),
    ({"name": "mnist"}, ["features=families19", "features.bins=64"], "mnist (families19)"),
    ({"name": "csv", "path": "here/own.csv"}, ["features.bins=64"], "own"),
    ({"name": "stream", "path": "rows/sea/train"}, [], "sea"), ({"name": "stream", "path": "train"}, [], "train"),
    ({"name": "stream", "path": "rows/*.parquet"}, [], "rows"), ({"name": "stream", "path": "**/*"}, [], "stream"),
])  # fmt: skip
def test_a_frontier_is_called_by_its_data_and_by_features_that_are_asked_for(dataset, words, called):
    settings = SimpleNamespace(dataset=dataset, features={"name": "families19" if "(" in called else "raw"})
    assert frontier._title(settings, words) == called


@pytest.mark.parametrize(("constant", "a_round"), [(0.0, 0.01), (1.0, 0.01), (0.3, 0.5)])
@pytest.mark.parametrize("budget", [2.0, 50.0])
def test_a_trial_takes_at_most_four_fifths_of_its_seconds(constant, a_round, budget):
    told = rounds_in(*(constant + each * a_round for each in PILOTS))
    rounds = told(budget, {})["T"]
    assert constant + rounds * a_round <= 0.8 * budget + 1e-6 < constant + (rounds + 1) * a_round + 1e-5


def test_pilots_that_make_no_sense_promise_nothing():
    assert rounds_in(2.0, 1.0)(10.0, {}) == {"T": 80}  # as the slower of both: 0.1 s a round
    with pytest.raises(BoostrunError, match=r"a round takes 0\.01 s, and a trial 1 s besides"):
        rounds_in(1.2, 2.0)(1.0, {})


@pytest.mark.parametrize("constant", [80.0, 240.0])
@pytest.mark.parametrize("sample", [0.0, 0.0001, 0.002])
@pytest.mark.parametrize("budget", [300, 2048])
def test_samples_fill_nine_tenths_of_a_budget_of_memory_whichever_part_of_it_their_buffers_take(
    constant, sample, budget
):
    def buffers(samples):
        return max(16, samples / 5000)

    def taken(samples):
        return constant + sample * samples + buffers(samples)

    def holding(samples, facts):
        return {"r": samples, "run.memory_limit": buffers(samples)}

    sizes, most = (50_000, 200_000), 10**9

    def measure(keys):
        measured.append(keys["r"])
        return taken(keys["r"])

    measured = []
    keep = samples_in([*map(taken, sizes)], sizes, [holding(size, {}) for size in sizes], holding, measure)
    found = keep(budget, {"n_samples": most})["r"]
    largest = max([sizes[-1], *measured])
    assert found <= 1.25 * largest and all(b <= 4 * a for a, b in itertools.pairwise([sizes[-1], *measured]))
    assert taken(found) <= 0.9 * budget + 1e-6 < taken(1.01 * found)
    assert keep(budget, {"n_samples": found // 2})["r"] == found // 2  # all there are
    with pytest.raises(BoostrunError, match="besides its samples, so"):
        keep(constant, {"n_samples": most})


@pytest.mark.parametrize("first", [(290.0, 288.0), (280.0, 300.0), (288.0, 290.0)])
def test_more_pilots_are_run_where_small_ones_differ_by_chance(first):
    """WSam's small pilots on 28 columns took 289.9 and 288.5 MiB; the 420,000 samples that they promised took 435."""

    def taken(keys):
        return 284.0 + 0.0004 * keys["r"]

    sizes = (23_000, 93_000)
    keep = samples_in(first, sizes, [{}, {}], lambda samples, facts: {"r": samples}, taken)
    for budget in (384, 512):
        assert 0.85 * budget < taken(keep(budget, {"n_samples": 10**7})) <= 0.95 * budget
    assert keep(512, {"n_samples": 50_000}) == {"r": 50_000}


def test_samples_have_room_below_a_peak_that_other_parts_of_a_trial_need():
    """On 784 columns WSam's pilots took 449 MiB with 2,674 samples and with 10,699; it was given 4,072 of 512 MiB."""

    def taken(keys):
        return max(449.0, 300.0 + 0.01 * keys["r"])

    def holding(samples, facts):
        return {"r": samples, "run.memory_limit": max(16, samples / 333)}

    sizes, most = (2674, 10_699), 2 * 10**6
    keys = [holding(size, {}) for size in sizes]
    keep = samples_in([449.4, 449.3], sizes, keys, holding, taken)
    found = keep(512, {"n_samples": most})["r"]
    assert sizes[-1] <= found and taken({"r": found}) <= 0.9 * 512
    assert keep(512, {"n_samples": 8000})["r"] == 8000
    everything = samples_in([449.4, 449.3], sizes, keys, holding, lambda keys: 449.0)
    assert everything(512, {"n_samples": most})["r"] == most


@pytest.mark.parametrize(
    ("path", "name"),
    [("rows/spheres/train", "spheres"), ("mine.csv", "mine"), ("train.csv", "train"), (None, "digits")],
)
def test_a_frontier_is_named_after_the_file_or_after_the_folder_of_its_training_part(path, name):
    settings = SimpleNamespace(dataset={"name": "digits", "path": path}, features={"name": "raw"})
    assert frontier._title(settings, ["T=5"]) == name
    assert frontier._title(settings, ["features=raw"]) == f"{name} (raw)"
