"""Reservoirs that are merged by key: as one over all rows, exactly for given keys, and in distribution."""

import contextlib
import doctest
import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from run_clusters import ENVIRONMENT, dask_cluster
from run_toys import alive, wait_for
from scipy.stats import chisquare, ks_2samp
from sklearn.base import clone

from boostrun.data.source import ArraySource, Filter
from boostrun.errors import BoostrunError
from boostrun.methods import estimator
from boostrun.papers.reservoir.classifier import ReservoirClassifier
from boostrun.papers.reservoir.strategies import Batch, KeyedReservoir, WSam
from boostrun.papers.reservoir.variants import SplitReservoirClassifier
from tests.marks import slow_but
from tests.papers.reservoir.test_loop import toy

ARRAYS = ("features", "thresholds", "polarities", "coefficients")


def reservoir_of(keys, rows, size):
    found = KeyedReservoir(size)
    found.add(np.array(keys, float), row=np.array(rows, int))
    return found


def same(one, other):
    return (
        (one.size, one.bound) == (other.size, other.bound)
        and np.array_equal(one.keys, other.keys)
        and all(np.array_equal(one.rows[name], other.rows[name]) for name in {**one.rows, **other.rows})
    )


@given(
    st.lists(st.tuples(st.floats(0.0, 9.0), st.integers(0, 4)), max_size=30, unique_by=lambda row: row[0]),
    st.integers(1, 12), st.randoms(use_true_random=False),
)  # fmt: skip
def test_parts_merged_in_any_order_are_the_reservoir_of_all_rows(rows, size, random):
    parts = []
    for part in range(5):
        own = [(key, place) for place, (key, at) in enumerate(rows) if at == part]
        parts.append(reservoir_of([key for key, _ in own], [place for _, place in own], size))
    random.shuffle(parts)
    merged = KeyedReservoir(size)
    at = random.randint(0, 5)
    merged.merge(*parts[:at])
    for part in parts[at:]:
        merged.merge(KeyedReservoir.restore(part.snapshot()))
    ranked = sorted((key, place) for place, (key, _) in enumerate(rows))  # brute force
    assert merged.keys.tolist() == [key for key, _ in ranked[:size]]
    assert merged.rows.get("row", np.empty(0)).tolist() == [place for _, place in ranked[:size]]
    assert merged.bound == (ranked[size][0] if len(ranked) > size else float("inf"))


def of_subsets(weights, r):
    """The chance of each set of r rows that are drawn one after the other in proportion to the weights left."""
    found = dict.fromkeys(itertools.combinations(range(len(weights)), r), 0.0)
    for order in itertools.permutations(range(len(weights)), r):
        left, chance = sum(weights), 1.0
        for row in order:
            chance, left = chance * weights[row] / left, left - weights[row]
        found[tuple(sorted(order))] += chance
    return found


def drawn(weights, r, owners, times, seed):
    """How often each set is kept by parts that never see each other's rows, merged."""
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(itertools.combinations(range(len(weights)), r), 0)
    for _ in range(times):
        merged = KeyedReservoir(r)
        for part in np.unique(owners):
            own = np.flatnonzero(owners == part)
            each = KeyedReservoir(r)
            for one in own:  # as they arrive
                each.add(KeyedReservoir.draw_keys(weights[[one]], rng), row=own[own == one])
            merged.merge(each)
        counts[tuple(sorted(merged.rows["row"].tolist()))] += 1
    return counts


@pytest.mark.parametrize("owners", slow_but([[0, 1, 0, 1, 1]], [[0, 0, 0, 0, 0], [0, 1, 0, 1, 1], [0, 1, 2, 3, 4]]))
def test_parts_merged_keep_each_set_as_often_as_one_reservoir_does(owners):
    weights, times = np.array([1.0, 2.0, 0.5, 4.0, 1.5]), 2000
    wanted = of_subsets(weights, 2)
    counts = drawn(weights, 2, np.array(owners), times, 0)
    assert chisquare([counts[one] for one in wanted], [times * wanted[one] for one in wanted]).pvalue > 0.01
    wrong = of_subsets(weights**0.7, 2)  # the test can tell
    assert chisquare([counts[one] for one in wrong], [times * wrong[one] for one in wrong]).pvalue < 1e-3


def test_wsam_keeps_what_a_reservoir_with_its_keys_does():
    weights = np.random.default_rng(0).random(40)
    batch = Batch(np.zeros((40, 1)), np.ones(40), weights, np.zeros(40, int))
    kept, _ = WSam()(batch, 15, np.random.default_rng(7))
    found = reservoir_of(KeyedReservoir.draw_keys(weights, np.random.default_rng(7)), np.arange(40), 15)
    assert sorted(found.rows["row"]) == kept.tolist()


def test_sums_of_the_rows_kept_are_unbiased_for_the_sum_of_all():
    rng, weights = np.random.default_rng(3), np.array([0.0, 0.2, 5.0, 1.0, 1.0, 0.4, 2.0])
    values = np.arange(7.0)
    sums = []
    for _ in range(2000):
        found = KeyedReservoir(3)
        found.add(KeyedReservoir.draw_keys(weights, rng), weights=weights, values=values)
        own = found.rows["weights"]
        sums.append((own / found.chances(own) * found.rows["values"]).sum())
    assert abs(np.mean(sums) - weights @ values) < 4.0 * np.std(sums) / len(sums) ** 0.5
    whole = reservoir_of([0.1, 0.2], [0, 1], 2)
    assert whole.chances(np.array([0.0, 3.0])).tolist() == [1.0, 1.0]


def test_a_snapshot_goes_through_a_file_and_does_not_change_with_the_reservoir(tmp_path):
    found = reservoir_of([0.3, 0.1, 0.2], [3, 1, 2], 2)
    np.savez(tmp_path / "state.npz", **found.snapshot())
    state = found.snapshot()
    with np.load(tmp_path / "state.npz", allow_pickle=False) as file:
        assert same(KeyedReservoir.restore(file), found)
    before = KeyedReservoir.restore(state)
    found.add(np.array([0.0]), row=np.array([9]))
    assert same(KeyedReservoir.restore(state), before) and not same(found, before)


@pytest.mark.parametrize(
    "change",
    [
        {"keys": np.array([0.2, 0.1])}, {"keys": np.array([0.1])}, {"bound": np.array(0.15)}, {"size": np.array(0)},
        {"size": np.array(1)}, {"keys": np.array([0.1, np.nan])}, {"bound": np.array("far")},
    ],
)  # fmt: skip
def test_a_state_that_is_no_snapshot_is_a_sentence(change):
    state = reservoir_of([0.3, 0.1, 0.2], [3, 1, 2], 2).snapshot()
    with pytest.raises(BoostrunError):
        KeyedReservoir.restore({**state, **change})
    with pytest.raises(BoostrunError, match="no snapshot of a reservoir"):
        KeyedReservoir.restore({"size": 3})


def test_rows_of_other_fields_are_not_merged():
    other = KeyedReservoir(2)
    other.add(np.array([0.5]), label=np.array([1]))
    with pytest.raises(BoostrunError, match="different fields"):
        reservoir_of([0.1], [1], 2).merge(other)


# -- rounds that are merged


def of_parts(strategy, monkeypatch, parts=1, **more):
    """A classifier of merged rounds, which may have one part."""
    monkeypatch.setattr(SplitReservoirClassifier, "_check_parameters", lambda self: None)
    return SplitReservoirClassifier(strategy, rounds="merged", parts=parts, **more)


def same_models(one, other):
    return all(np.array_equal(getattr(one.ensemble_, name), getattr(other.ensemble_, name)) for name in ARRAYS)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("strategy", ["geem", "mvs_mass", "rand", "max", "window", "wsam_mass"])
def test_one_part_is_one_reservoir_to_the_bit(strategy, shared, monkeypatch):
    samples, y = toy()
    source = ArraySource(samples + np.random.default_rng(1).random(samples.shape), y, 1).split(1)[0]  # binned
    sizes = {"reservoir_size": 30, "batch_size": 20, "n_estimators": 8, "random_state": 3, "shared": shared}
    whole = ReservoirClassifier(strategy, **sizes).fit_source(source)
    monkeypatch.setattr(ArraySource, "split", lambda self, parts: [self])
    part = of_parts(strategy, monkeypatch, **sizes).fit_source(source)
    assert same_models(part, whole)
    for name in ("samples_drawn_", "peak_samples_held_", "samples_drawn_per_problem_"):
        assert getattr(part, name) == getattr(whole, name)
    assert np.array_equal(part.staged_samples_drawn_, whole.staged_samples_drawn_)


@pytest.mark.parametrize("weights", ["uniform", "w"])
def test_one_part_keeps_what_wsam_keeps_by_the_same_keys(weights, monkeypatch):
    samples, y = toy()
    source = ArraySource(samples, y > 0, 1)
    sizes = {"reservoir_size": 30, "n_estimators": 8, "random_state": 3, "stump_weights": weights}
    whole = ReservoirClassifier("wsam", **sizes).fit_source(source)
    monkeypatch.setattr(ArraySource, "split", lambda self, parts: [self])
    rng = np.random.default_rng(np.random.SeedSequence(whole._entropy()).spawn(2)[1].spawn(1)[0])
    drawn = KeyedReservoir.draw_keys
    monkeypatch.setattr(KeyedReservoir, "draw_keys", staticmethod(lambda weights, _: drawn(weights, rng)))
    assert same_models(of_parts("wsam", monkeypatch, **sizes).fit_source(source), whole)


@pytest.mark.slow
def test_parts_learn_as_one_reservoir_in_distribution(monkeypatch):
    """The scores of models that are trained with other seeds: those of three parts, and of one reservoir of as many
    fresh samples, are from one distribution; those of a reservoir with fewer fresh samples are from another.
    """
    samples, y = toy(n=900)
    y = np.where(y > 0, 1, 0)

    def figures(make):
        models = [make(seed).fit_source(ArraySource(samples, y, seed)) for seed in range(80)]
        return [np.abs(model.decision_function(samples)).mean() for model in models]

    sizes = {"reservoir_size": 30, "n_estimators": 12}
    parts = figures(lambda seed: of_parts("wsam", monkeypatch, 3, batch_size=30, random_state=seed, **sizes))
    one = figures(lambda seed: ReservoirClassifier("wsam", batch_size=90, random_state=1000 + seed, **sizes))
    fewer = figures(lambda seed: ReservoirClassifier("wsam", batch_size=8, random_state=1000 + seed, **sizes))
    print(np.mean(parts), np.mean(one), np.mean(fewer))
    assert ks_2samp(parts, one).pvalue > 0.01 and ks_2samp(parts, fewer).pvalue < 1e-3


@pytest.mark.parametrize("strategy", ["wsam", "geem"])
def test_merged_rounds_do_not_depend_on_the_number_at_a_time(strategy):
    samples, y = toy(n=600)
    source = ArraySource(samples + np.random.default_rng(1).random(samples.shape), y, 1)
    sizes = {"reservoir_size": 20, "n_estimators": 6, "random_state": 0, "parts": 3, "rounds": "merged"}
    found = [SplitReservoirClassifier(strategy, n_jobs=n_jobs, **sizes) for n_jobs in (None, 2)]
    for model, backend in zip(found, ("loky", "threading")):
        with parallel_config(backend):
            model.fit_source(source)
    assert same_models(*found) and found[0].ensemble_.n_rounds == 6
    assert found[0].samples_drawn_ == 3 * (20 + 3 * 20 + 6 * 3 * 20) == found[0].staged_samples_drawn_[-1]
    assert found[0].peak_samples_held_ <= 40 and not vars(found[0]).keys() & {"_objects", "_problems", "_learner"}


def test_settings_that_cannot_be_merged_are_a_sentence():
    samples, y = toy(n=100)
    merged = SplitReservoirClassifier("wsam", rounds="merged", reservoir_size=10, n_estimators=2, random_state=0)
    with pytest.raises(BoostrunError, match="each fit starts with new parts"):
        merged.set_params(warm_start=True).fit(samples, y)
    with pytest.raises(BoostrunError, match="need one reservoir only"):
        merged.set_params(warm_start=False).partial_fit(samples, y, classes=np.unique(y))
    with pytest.raises(BoostrunError, match="none of loky, threading, dask, ray"), parallel_config("multiprocessing"):
        merged.set_params(n_jobs=2).fit(samples, y)
    with pytest.raises(BoostrunError, match="rounds"):
        merged.set_params(rounds="some").fit(samples, y)


# -- workers that die


class Mortal(ArraySource):
    """A part that notes each Filter that it opens, and may kill its process at a draw: the first time, or always."""

    def __init__(self, part, number, folder, kills):
        super().__init__(part.samples, part.labels, part.seed)
        self.number, self.folder, self.kills = number, folder, kills

    def open(self, capacity, stream=0):
        with open(self.folder / "opened", "a", encoding="ascii") as file:
            file.write(f"{self.number} {os.getpid()}\n")
        found = super().open(capacity, stream)
        found.__class__, found.mortal = MortalFilter, self
        return found


class MortalFilter(Filter):
    def draw(self, n):
        dead = self.mortal.folder / "dead"
        if self.mortal.kills and self.drawn > 60 and (self.mortal.kills == "always" or not dead.exists()):
            dead.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().draw(n)


def in_parts(folder, kills, monkeypatch):
    """A source whose second part of three may kill its process."""
    samples, y = toy(n=600)
    source = ArraySource(samples, np.where(y > 0, 1, 0), 1)
    parts = [Mortal(part, k, folder, kills if k == 1 else "") for k, part in enumerate(source.split(3))]
    monkeypatch.setattr(source, "split", lambda n: parts)
    return source


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills processes")
@pytest.mark.parametrize("rounds", ["independent", "merged"])
def test_of_a_worker_that_dies_only_the_part_is_trained_again(rounds, tmp_path, monkeypatch):
    sizes = {"parts": 3, "rounds": rounds, "reservoir_size": 20, "n_estimators": 6, "random_state": 0}
    calm = SplitReservoirClassifier("wsam", **sizes).fit_source(in_parts(tmp_path, "", monkeypatch))
    opened = tmp_path / "opened"
    opened.unlink()
    killed = SplitReservoirClassifier("wsam", n_jobs=3, **sizes).fit_source(in_parts(tmp_path, "once", monkeypatch))
    assert same_models(killed, calm) and (tmp_path / "dead").exists()
    lines = [line.split() for line in opened.read_text().splitlines()]
    assert sorted(number for number, _ in lines) == ["0", "1", "1", "2"]
    assert len({process for _, process in lines}) == 4 and str(os.getpid()) not in {process for _, process in lines}


@contextlib.contextmanager
def connected(engine, folder, monkeypatch):
    """joblib's backend is an engine with two workers."""
    if engine == "dask":
        distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
        with dask_cluster(folder) as address, distributed.Client(address), parallel_config("dask"):
            yield
    else:
        ray = pytest.importorskip("ray", reason="the extra ray is not installed")
        from ray.util.joblib import register_ray

        register_ray()
        monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            with parallel_config("ray"):
                yield
        finally:
            ray.shutdown()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="kills processes")
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_parts_are_on_the_workers_of_an_engine_one_of_which_dies(engine, tmp_path, monkeypatch):
    sizes = {"parts": 3, "reservoir_size": 20, "n_estimators": 6, "random_state": 0}
    calm = [
        SplitReservoirClassifier("wsam", rounds=rounds, **sizes).fit_source(in_parts(tmp_path, "", monkeypatch))
        for rounds in ("independent", "merged")
    ]
    (tmp_path / "opened").unlink()
    with connected(engine, tmp_path, monkeypatch):
        for model in calm:
            killed = clone(model).set_params(n_jobs=2).fit_source(in_parts(tmp_path, "once", monkeypatch))
            assert same_models(killed, model) and (tmp_path / "dead").exists()
            (tmp_path / "dead").unlink()
        with pytest.raises(BoostrunError, match=r"^part 2 of 3 has lost its worker 4 times in a row$"):
            clone(calm[0]).set_params(n_jobs=2).fit_source(in_parts(tmp_path, "always", monkeypatch))
        with (
            estimator.Held([Damaged, Damaged], 2) as objects,
            pytest.raises(BoostrunError, match=r"^this part is damaged$"),
        ):
            objects.ask([(), ()], anew=True)
    assert str(os.getpid()) not in (tmp_path / "opened").read_text().split()


class Damaged:
    def __call__(self):
        raise BoostrunError("this part is damaged")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills processes")
def test_a_part_that_always_kills_its_worker_is_a_sentence(tmp_path, monkeypatch):
    model = SplitReservoirClassifier("wsam", parts=3, reservoir_size=20, n_estimators=6, random_state=0, n_jobs=2)
    with pytest.raises(BoostrunError, match="part 2 of 3 has lost its worker 4 times"):
        model.fit_source(in_parts(tmp_path, "always", monkeypatch))


def test_a_held_object_that_is_not_where_it_should_be_is_made_again():
    made = []

    def make():
        made.append([])
        return made[-1].append

    with estimator.Held([make, make], 1) as objects:
        assert objects.ask([(1,), (2,)], anew=True) == [None, None]
        estimator._held.clear()
        objects.ask([(3,), (4,)])
    assert made == [[1], [2], [1, 3], [2, 4]] and not estimator._held


def test_a_call_for_a_worker_that_has_left_the_cluster_does_not_wait_for_it():
    class Unanswered:
        def __init__(self, done):
            self.done = lambda: done

        def result(self, timeout):
            raise TimeoutError

    class Client:
        def __init__(self, *addresses):
            self.left = [dict.fromkeys(addresses, 1), {}]

        def nthreads(self):
            return self.left.pop(0)

    with pytest.raises(estimator._Gone):  # at the second look
        estimator._AtWorker(Client("here"), "here", Unanswered(done=False)).result()
    with pytest.raises(TimeoutError):  # the call's own
        estimator._AtWorker(Client(), "here", Unanswered(done=True)).result()


def test_the_page_says_how_reservoirs_are_merged():
    page = Path(__file__).parents[3] / "docs" / "howto" / "scale.md"
    if not page.is_file():
        pytest.skip("the pages are not beside the tests")
    done = doctest.testfile(str(page), module_relative=False)
    assert done.attempted > 4 and not done.failed


WAITING = """import os, time
from boostrun.methods.estimator import Held
def make():
    return lambda what: os.getpid() if what == "who" else time.sleep(300)
with Held([make, make], 2) as objects:
    print(*objects.ask([("who",)] * 2, anew=True), flush=True)
    objects.ask([("wait",)] * 2)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_workers_end_when_the_process_that_merges_is_killed():
    process = subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, text=True)
    workers = [int(word) for word in process.stdout.readline().split()]
    assert len(set(workers)) == 2 and all(map(alive, workers))
    process.kill()
    process.communicate()
    assert wait_for(lambda: not any(map(alive, workers)))
