"""SEA, LED and RBF against their definitions and river's generators."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ks_2samp

from boostrun.data.streams import draw
from boostrun.errors import BoostrunError
from boostrun.papers.iboost import streams

river = pytest.importorskip("river.datasets.synth", reason="river is an extra")
NOWHERE = Path("nowhere")


def make(name, seed=0, holdout_seed=0, **options):
    return draw({"name": name, **options}, NOWHERE, seed, holdout_seed)


def of_river(generator, n):
    """x (n, d) and y (n,) of a river generator."""
    pairs = list(generator.take(n))
    return np.array([list(x.values()) for x, _ in pairs], float), np.array([y for _, y in pairs], int)


def same_marginals(a, b):
    """No attribute of two samples differs by Kolmogorov and Smirnov's test at 1e-3."""
    return all(ks_2samp(a[:, j], b[:, j]).pvalue > 1e-3 for j in range(a.shape[1]))


def test_sea_is_labelled_by_the_threshold_of_its_segment_and_so_are_its_holdouts():
    stream = make("sea")
    assert stream.changes.tolist() == [12_500, 25_000, 37_500] and len(stream.holdouts) == 4
    expected = [0.32, 0.405, 0.245, 0.45125]  # threshold^2 / 200
    for concept, (threshold, share) in enumerate(zip((8, 9, 7, 9.5), expected)):
        part = slice(12_500 * concept, 12_500 * (concept + 1))
        np.testing.assert_array_equal(stream.y[part], stream.x[part, 0] + stream.x[part, 1] <= threshold)
        assert abs(stream.y[part].mean() - share) < 4 * np.sqrt(share * (1 - share) / 12_500)
        held = stream.holdouts[concept]
        assert held.x.shape == (2500, 3)
        np.testing.assert_array_equal(held.y, held.x[:, 0] + held.x[:, 1] <= threshold)


def test_noise_flips_labels_of_the_stream_alone():
    stream = make("sea", noise=0.1)
    clean = streams.is_below(stream.x, np.repeat([8, 9, 7, 9.5], 12_500))
    assert abs((stream.y != clean).mean() - 0.1) < 0.006
    np.testing.assert_array_equal(stream.holdouts[1].y, streams.is_below(stream.holdouts[1].x, 9))


@pytest.mark.parametrize("variant, threshold", list(enumerate(streams.SEA_THRESHOLDS)))
def test_sea_is_rivers(variant, threshold):
    x, y = of_river(river.SEA(variant=variant, seed=3), 5000)
    np.testing.assert_array_equal(streams.is_below(x, threshold), 1 - y)
    assert same_marginals(x, make("sea").x[:5000])


def test_led_codes_and_flips_are_rivers_at_one_per_cent_more():
    ours = make("led", n_samples=50_000, schedule="swap", classes="10")
    plain = slice(0, 12_500)
    flips = (ours.x[plain, :7] != streams.SEGMENTS[ours.y[plain]]).mean()
    assert abs(flips - 0.1) < 0.004
    x, y = of_river(river.LED(seed=1, noise_percentage=0.11, irrelevant_features=True), 12_500)
    assert abs((x[:, :7] != streams.SEGMENTS[y]).mean() - flips) < 0.006
    clean, digits = of_river(river.LED(seed=2), 200)
    np.testing.assert_array_equal(clean, streams.SEGMENTS[digits])


@pytest.mark.parametrize("concept", range(4))
def test_led_columns_are_segments_or_coins_as_the_exchange_says(concept):
    stream = make("led", n_samples=40_000, classes="10")
    part = slice(10_000 * concept, 10_000 * (concept + 1))
    shown = streams.exchange(*streams.LED_CONCEPTS["swap"][concept])
    np.testing.assert_array_equal(shown[shown], np.arange(24))
    assert (shown[:7] >= 7).sum() == (0 if concept == 0 else 4)
    for column, attribute in enumerate(shown):
        values = stream.x[part, column]
        if attribute < 7:
            assert abs((values != streams.SEGMENTS[stream.y[part], attribute]).mean() - 0.1) < 0.015
        else:
            assert abs(values.mean() - 0.5) < 0.03
            assert abs(np.corrcoef(values, streams.SEGMENTS[stream.y[part], 0])[0, 1]) < 0.05


def test_the_exchange_is_rivers_for_its_offsets():
    generator = river.LEDDrift(seed=7, irrelevant_features=True, n_drift_features=5)
    next(iter(generator))
    offsets = generator._rng.__class__(7)
    r, s = offsets.randint(0, 6), offsets.randint(0, 16)
    np.testing.assert_array_equal(generator._attr_idx, streams.exchange(5, r, s))


def test_a_gradual_change_is_half_done_at_its_position():
    of = streams.gradual(40_000, np.array([10_000, 30_000]), 2000, np.random.default_rng(0))
    assert set(of[:4000]) == {0} and set(of[16_000:24_000]) == {1} and set(of[36_000:]) == {2}
    assert abs((of[9900:10_100] == 1).mean() - 0.5) < 0.12
    later = (of[10_400:10_600] == 1).mean()  # 1 / (1 + e^-1) at a quarter of the width
    assert abs(later - 0.731) < 0.12


def test_static_led_never_changes_and_the_chain_ends_with_all_segments_hidden():
    assert make("led", n_samples=100, schedule="static").changes.size == 0
    chain = make("led", n_samples=40_000, schedule="moa_chain", width=100, classes="10")
    last = slice(35_000, 40_000)
    assert abs((chain.x[last, 7:14] != streams.SEGMENTS[chain.y[last]]).mean() - 0.1) < 0.01


@pytest.mark.parametrize(
    "noise, digits, accuracy",
    [(0.1, None, 0.7400), (0.1, [1, 2, 4, 5, 7], 0.8807), (0.1, [1, 3, 5, 7, 9], 0.8897),
     (0.1, [5, 6, 7, 8, 9], 0.8607), (0.09, None, 0.7648), (0.09, [1, 2, 4, 5, 7], 0.8925), (0.0, None, 1.0)],
)  # fmt: skip
def test_the_best_accuracy_on_led_is_known(noise, digits, accuracy):
    assert streams.bayes_accuracy(noise, digits) == pytest.approx(accuracy, abs=6e-5)


def test_binary_led_has_the_digits_asked_for():
    ten, two = make("led", n_samples=1000, classes="10"), make("led", n_samples=1000, positive="905")
    np.testing.assert_array_equal(two.y, np.isin(ten.y, [0, 5, 9]))
    for wrong in ("", "11", "1234567890", "1a"):
        with pytest.raises(BoostrunError, match="one to nine different digits"):
            make("led", n_samples=10, positive=wrong)
    with pytest.raises(BoostrunError, match="one of static, swap, moa_chain"):
        make("led", n_samples=10, schedule="sudden")


def test_centres_move_as_rivers_do_for_five_thousand_steps():
    generator = river.RandomRBFDrift(seed_model=4, seed_sample=4, n_features=6, n_centroids=8, change_speed=0.001,
                                     n_drift_centroids=5)  # fmt: skip
    generator._generate_centroids()
    centres = np.array([centroid.centre for centroid in generator.centroids])
    velocities = np.array(generator.centroid_speed)
    x, of = np.zeros((5000, 6)), np.arange(5000) % 8
    from boostrun.papers.iboost.kernels.bases import add_moving_centres

    add_moving_centres(x, of, centres, velocities, 0.001)
    for k, _ in zip(range(5000), generator):  # yields after the move
        centre = np.array(generator.centroids[of[k]].centre)
        np.testing.assert_array_equal(x[k], centre)
        assert (centre >= 0).all() and (centre <= 1).all()
    bounced = (np.array(generator.centroid_speed) < 0).sum()
    assert bounced > 0
    np.testing.assert_array_equal(velocities, generator.centroid_speed)


def test_rbf_has_rivers_distribution_for_rivers_centroids():
    generator = river.RandomRBF(seed_model=11, seed_sample=5, n_features=4, n_centroids=6)
    x, y = of_river(generator, 6000)
    known = streams.Centroids(
        np.array([c.centre for c in generator.centroids]), np.array([c.class_label for c in generator.centroids]),
        np.array([c.std_dev for c in generator.centroids]), np.array(generator.centroid_weights), np.empty((0, 4)),
    )  # fmt: skip
    ours, labels = streams.examples(known, 0.0, 6000, np.random.default_rng(0))
    assert same_marginals(x, ours) and 0 < y.mean() < 1
    assert abs(labels.mean() - y.mean()) < 0.04 and abs(labels.mean() - known.positive_share) < 0.03
    for label in (0, 1):
        spread = x[y == label].std(axis=0) * np.sqrt(1 / (y == label).sum() + 1 / (labels == label).sum())
        assert (np.abs(x[y == label].mean(axis=0) - ours[labels == label].mean(axis=0)) < 4 * spread).all()


def test_velocities_come_of_the_same_seed_as_the_centres():
    made = streams.draw_centroids(3, 10, 10, 10)
    first = made.centres[0] / np.linalg.norm(made.centres[0])
    np.testing.assert_allclose(made.velocities[0], first)
    np.testing.assert_allclose(np.linalg.norm(made.velocities, axis=1), 1.0)
    assert (made.velocities > 0).all()


@pytest.mark.parametrize("seed", range(8))
def test_no_class_of_rbf_is_rare(seed):
    facts = make("rbf", seed, n_samples=10).facts
    assert 0.35 <= facts["positive_share"] <= 0.65
    same = make("rbf", seed + 1, n_samples=10, model_seed=facts["model_seed"]).facts
    assert same == facts


def test_blocks_do_not_change_where_centroids_are(monkeypatch):
    known = streams.draw_centroids(1, 3, 4, 4)._replace(sds=np.zeros(4))  # every point is its centre
    positions = {}
    for block in (7, 100_000):
        monkeypatch.setattr(streams, "_BLOCK", block)
        x, _ = streams.examples(known, 0.01, 500, np.random.default_rng(0))
        positions[block] = {tuple(row) for row in x}
    centres, velocities = known.centres.copy(), known.velocities.copy()
    possible = set()
    for _ in range(500):  # the twin of the kernel
        for i, j in itertools.product(range(4), range(3)):
            centres[i, j] += velocities[i, j] * 0.01
            if not 0 <= centres[i, j] <= 1:
                centres[i, j] = min(max(centres[i, j], 0), 1)
                velocities[i, j] *= -1
        possible |= {tuple(row) for row in centres}
    assert positions[7] <= possible and positions[100_000] <= possible and len(positions[7]) > 300


def test_abrupt_rbf_is_rbf_at_rest_with_new_centroids_in_each_third():
    stream = make("rbf_abrupt", 3, n_samples=30_000, n_features=5, n_centroids=4)
    assert stream.changes.tolist() == [10_000, 20_000] and not stream.holdouts
    for start, seed in zip((0, 10_000, 20_000), stream.facts["model_seeds"]):
        x, y = stream.x[start : start + 10_000], stream.y[start : start + 10_000]
        centroids = streams.draw_centroids(seed, 5, 4, 0)
        theirs, labels = streams.examples(centroids, 0.0, 10_000, np.random.default_rng(0))
        assert same_marginals(x, theirs) and abs(y.mean() - labels.mean()) < 0.025
        assert 0.35 <= centroids.positive_share <= 0.65
    assert not same_marginals(stream.x[:10_000], stream.x[10_000:20_000])
    steady = make("rbf_abrupt", 3, n_samples=100, changes=0)
    assert len(steady.changes) == 0 and len(steady.facts["model_seeds"]) == 1


def test_more_centroids_cannot_drift_than_there_are():
    with pytest.raises(BoostrunError, match="only 3 centroids"):
        make("rbf", n_samples=10, n_centroids=3, n_drift_centroids=4)


def test_a_stream_that_does_not_exist_has_a_near_name():
    with pytest.raises(BoostrunError, match="did you mean 'sea'"):
        make("see")
