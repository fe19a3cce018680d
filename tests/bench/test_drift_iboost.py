"""IBoost on LED prequentially beside river's AdaBoost, memory over a long stream, and the cost of an example over the
window and the budget; no time is asserted. Writes results/bench/drift_cost.csv and drift_cost.png.

All times are processor time, of one thread. The last test counts what the paper's complexity says: with p and b fixed
an example costs a constant, M responses and coefficients, n slots of every feature's order, and n M margins every p
examples (stochastic) or at each of b steps (batch). Least squares of the relative errors give what each of them costs.
"""

import time
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.base import clone

from boostrun import IBoostClassifier
from boostrun.data.streams import draw
from boostrun.papers.iboost.baselines import HoeffdingTreeClassifier
from boostrun.papers.iboost.onlineboost import OnlineBoostClassifier
from boostrun.report.canvas import COLOURS, MARKERS
from tests.bench.timing import RESULTS, panels, show, write_rows
from tests.conftest import REAL_DATA

pytestmark = pytest.mark.bench

SETTING = {"n_window": 200, "budget": 20, "period": 10, "n_steps": 1}
METHODS = {
    "stochastic, stumps": {},
    "batch, stumps": {"update": "batch"},
    "stochastic, Bernoulli": {"base": "bnb"},
}
WINDOWS, BUDGETS = (100, 200, 400, 800, 1600), (10, 20, 40, 80, 160)


def led(count, seed=0):
    """Attributes (count, 24) and classes of LED with its changes, digits 1, 2, 4, 5, 7 against the rest."""
    stream = draw({"name": "led", "n_samples": count}, Path("."), seed)
    return stream.x, stream.y


def seconds(model, X, y):
    """(processor seconds, accuracy) of one prequential pass in chunks of 10,000."""
    right, begun = 0, time.process_time()
    for first in range(0, len(X), 10_000):
        part = slice(first, first + 10_000)
        right += (model.test_then_train(X[part], y[part], classes=[0, 1]) == y[part]).sum()
    return time.process_time() - begun, right / len(X)


def river_seconds(X, y):
    """(processor seconds, accuracy) of one pass of river's AdaBoost of 20 Bernoulli naive Bayes."""
    from river import ensemble, naive_bayes

    model, right = ensemble.AdaBoostClassifier(naive_bayes.BernoulliNB(), n_models=20, seed=0), 0
    examples = [(dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist())]
    begun = time.process_time()
    for x, label in examples:
        right += model.predict_one(x) == label
        model.learn_one(x, label)
    return time.process_time() - begun, right / len(X)


def test_a_million_led_examples():
    """river gets the first 2,000 examples: it takes about 5 ms for one."""
    river = pytest.importorskip("river")
    begun = time.process_time()
    X, y = led(1_000_000)
    rows, ours = [("LED is generated in", f"{time.process_time() - begun:.1f} s")], {}
    for name, keys in METHODS.items():
        seconds(IBoostClassifier(**SETTING | keys), X[:1000], y[:1000])  # compiles
        took, accuracy = seconds(IBoostClassifier(**SETTING | keys), X, y)
        assert accuracy > 0.6  # half of the labels are of either class
        ours[name] = took / len(X)
        rows.append((f"IBoost {name}: s a million, accuracy in %", f"{took:.1f}  {100 * accuracy:.2f}"))
    took, accuracy = river_seconds(X[:2000], y[:2000])
    each = took / 2000
    what = f"river {river.__version__}, AdaBoost of 20 Bernoulli naive Bayes, 2,000 examples: ms an example, accuracy"
    rows.append((what, f"{1e3 * each:.2f}  {100 * accuracy:.2f}"))
    rows.extend((f"times as many examples a second, {name}", f"{each / took:.0f}") for name, took in ours.items())
    show("LED prequentially, M = 20, n = 200, p = 10, b = 1", rows)


def peak():
    """The most memory in use since the last reset, in MiB; Linux only."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def test_memory_over_a_million_examples():
    """The stream comes in pieces that are never in memory together."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        pytest.skip("there is no /proc to tell")
    model, peaks = IBoostClassifier(**SETTING).partial_fit(*led(1000), classes=[0, 1]), {}
    reset.write_text("5")
    for piece in range(100):
        model.partial_fit(*led(10_000, piece))
        peaks[10_000 * (piece + 1)] = peak()
    assert peaks[1_000_000] < peaks[100_000] + 64  # MiB: memory does not grow with the number of examples
    rows = [(f"after {seen:,} more examples", f"{peaks[seen]:.1f} MiB") for seen in (10_000, 100_000, 1_000_000)]
    show("the most memory that the process had in use", rows)


def an_example(n, M, update, X, y):
    """Processor seconds an example costs once the window and the committee are full: the least of three."""
    model = IBoostClassifier(n_window=n, budget=M, period=10, n_steps=1, update=update)
    full, size = n + 10 * M, 2000 if update == "batch" else 6000
    model.partial_fit(X[:full], y[:full], classes=[0, 1])
    starts = range(full, full + 3 * size, size)
    return min(seconds(model, X[start : start + size], y[start : start + size])[0] for start in starts) / size


def terms(n, M):
    """The counts for arrays of window lengths and budgets: (cells, 4)."""
    return np.stack([np.ones(len(n)), M, n, n * M], axis=1)


def panel(axis, update, n, M, measured, costs):
    lengths = np.geomspace(WINDOWS[0], WINDOWS[-1], 100)
    for at, budget in enumerate(BUDGETS):
        of = budget == M
        said = terms(lengths, np.full(100, budget)) @ costs
        axis.plot(lengths, 1e6 * said, color=COLOURS[at], linestyle="--", linewidth=1)
        axis.plot(n[of], 1e6 * measured[of], color=COLOURS[at], marker=MARKERS[at], linestyle="", label=f"M = {budget}")
    unit = "processor time of an example in \N{MICRO SIGN}s"
    axis.set(xscale="log", yscale="log", xlabel="window n", ylabel=unit)
    axis.set_xticks(WINDOWS, [str(length) for length in WINDOWS])
    axis.set_xticks([], minor=True)
    axis.set_title(update, fontsize=11)
    axis.legend(fontsize=9, frameon=False)


def test_cost_of_an_example_over_the_window_and_the_budget():
    X, y = led(25_000)
    n, M = (grid.ravel().astype(float) for grid in np.meshgrid(WINDOWS, BUDGETS))
    rows, cells = [], []
    title = "IBoost with stumps on LED, p = 10, b = 1: measured, and by the complexity (dashed)"
    with panels(RESULTS / "drift_cost.png", title, 2, height=5) as axes:
        for axis, update in zip(axes, ("stochastic", "batch")):
            measured = np.array([an_example(int(a), int(b), update, X, y) for a, b in zip(n, M)])
            counted = terms(n, M)
            costs, _ = nnls(counted / measured[:, None], np.ones(len(measured)))
            said = counted @ costs
            assert (costs >= 0.0).all() and costs.any()
            panel(axis, update, n, M, measured, costs)
            units = "an example", "an example and classifier", "an example and slot", "an example, slot and classifier"
            rows += [(f"{update}: ns for {unit}", f"{1e9 * cost:.3g}") for unit, cost in zip(units, costs)]
            ratio = measured / said
            name = f"{update}: measured over counted, least and most of 25"
            rows.append((name, f"{ratio.min():.2f} {ratio.max():.2f}"))
            cells += [
                {"update": update, "n": int(a), "M": int(b), "us_an_example": f"{1e6 * took:.3f}",
                 "us_counted": f"{1e6 * by:.3f}"}
                for a, b, took, by in zip(n, M, measured, said)
            ]  # fmt: skip
    write_rows(RESULTS / "drift_cost.csv", cells)
    show("cost of an example, p = 10, b = 1, stumps, 24 features", rows)


STREAMS = {
    "sea": {}, "led": {"n_samples": 50_000, "classes": "10"}, "rbf": {"n_samples": 50_000}, "electricity": {},
    "weather": {},
}  # fmt: skip


def prequential(model, stream):
    """(processor seconds, predictions) in chunks of 10,000."""
    X, y, known, said = np.array(stream.x), np.array(stream.y), np.arange(len(stream.classes)), []
    begun = time.process_time()
    for first in range(0, len(y), 10_000):
        said.append(model.test_then_train(X[first : first + 10_000], y[first : first + 10_000], known))
    return time.process_time() - begun, np.concatenate(said)


def followed(model, stream):
    """(processor seconds, predictions) of a model of river's, example by example."""
    said = []
    examples = [(dict(enumerate(x)), label) for x, label in zip(stream.x.tolist(), stream.y.tolist())]
    begun = time.process_time()
    for x, label in examples:
        said.append(model.predict_one(x) or 0)
        model.learn_one(x, label)
    return time.process_time() - begun, np.array(said)


def compared(name, stream, ours, said, took, theirs):
    """By how many points ours is ahead; both are shown."""
    right = [100.0 * np.mean(found == stream.y) for found in (said, theirs)]
    show(name, [
        ("accuracy in %, ours and river's", f"{right[0]:.2f}  {right[1]:.2f}"),
        ("us an example, ours and river's", f"{1e6 * ours / len(said):.2f}  {1e6 * took / len(said):.1f}"),
        ("times as long", f"{took / ours:.1f}"),
    ])  # fmt: skip
    return right[0] - right[1]


@pytest.mark.realdata
@pytest.mark.parametrize("name", STREAMS)
def test_the_same_accuracy_as_river(name):
    tree = pytest.importorskip("river.tree")
    stream = draw({"name": name, **STREAMS[name]}, REAL_DATA, 0)
    prequential(HoeffdingTreeClassifier(), draw({"name": "sea", "n_samples": 2000}, Path("."), 0))  # compiles
    ours, said = prequential(HoeffdingTreeClassifier(), stream)
    took, theirs = followed(tree.HoeffdingTreeClassifier(), stream)
    assert abs(compared(name, stream, ours, said, took, theirs)) <= 0.5


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["electricity", "sea", "rbf"])
def test_the_adaptive_tree_is_as_good_as_rivers(name):
    tree = pytest.importorskip("river.tree")
    stream = draw({"name": name, **STREAMS[name]}, REAL_DATA, 0)
    adaptive = HoeffdingTreeClassifier(adaptive=True)
    prequential(clone(adaptive), draw({"name": "sea", "n_samples": 2000}, Path("."), 0))  # compiles
    ours, said = prequential(adaptive, stream)
    took, theirs = followed(tree.HoeffdingAdaptiveTreeClassifier(bootstrap_sampling=False), stream)
    assert compared(name, stream, ours, said, took, theirs) >= -0.5


def test_ten_trees_on_a_million_led_examples():
    stream = draw({"name": "led", "n_samples": 1_000_000, "classes": "10"}, Path("."), 0)
    model = OnlineBoostClassifier(budget=10, base="hoeffding", random_state=0)
    took, said = prequential(model, stream)
    accuracy = 100 * np.mean(said == stream.y)
    assert accuracy > 50.0  # of ten classes
    show("a million LED examples", [("OnlineBoost of ten trees: s, accuracy in %", f"{took:.1f}  {accuracy:.2f}")])
