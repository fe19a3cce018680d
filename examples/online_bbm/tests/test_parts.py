"""The strategy, the tree, the policy, the family, and kappa."""

from types import SimpleNamespace

import numpy as np
import pytest
from online_bbm.kappa import KappaPer
from online_bbm.patterns import _uniform, ternary_patterns
from online_bbm.strategy import SmallMargins, spread_near_boundary
from online_bbm.thompson import Thompson, beta_draws, gaussian_draws
from online_bbm.tree import find_tree
from sklearn.datasets import load_digits
from twins import best_split as slow_split
from twins import ternary_counts

from boostrun.papers.adaptive.adaboost_mh import Board


def test_the_k_centres_are_those_of_the_farthest_first_traversal():
    rng = np.random.default_rng(0)
    points, scores = rng.normal(size=(60, 4)), rng.normal(size=60)
    kept = spread_near_boundary(points, scores, 10, 25)
    pool = list(np.argsort(np.abs(scores))[:25])
    chosen = [pool[0]]
    while len(chosen) < 10:
        rest = [i for i in pool if i not in chosen]
        chosen.append(max(rest, key=lambda i: min(np.linalg.norm(points[i] - points[j]) for j in chosen)))
    assert kept.tolist() == sorted(chosen)


def test_equal_points_and_scores_still_give_r_different_samples():
    kept = spread_near_boundary(np.zeros((8, 2), np.uint8), np.zeros(8), 5, 8)
    assert kept.tolist() == [0, 1, 2, 3, 4]


def test_the_strategy_keeps_r_places_of_small_scores_with_their_weights():
    rng = np.random.default_rng(0)
    batch = SimpleNamespace(
        samples=rng.integers(0, 256, (40, 100), dtype=np.uint8), scores=rng.normal(size=40), weights=rng.random(40)
    )
    kept, weights = SmallMargins(pool=1.5, columns=10)(batch, 12, np.random.default_rng(1))
    assert len(set(kept)) == 12 and (np.diff(kept) > 0).all()
    assert (weights == batch.weights[kept]).all()
    assert np.abs(batch.scores[kept]).max() <= np.sort(np.abs(batch.scores))[17]
    everything, _ = SmallMargins(pool=9.0)(batch, 40, rng)
    assert everything.tolist() == list(range(40))


@pytest.mark.parametrize("seed", range(8))
def test_the_tree_splits_as_brute_force_does(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, (50, 4), dtype=np.uint8) * 50
    labels, weights = rng.choice([-1.0, 1.0], 50), rng.integers(1, 9, 50) / 8.0  # sums are exact
    tree = find_tree(codes, labels, weights)
    root = slow_split(codes, labels * weights)
    above = codes[:, root[0]] >= root[1]
    sides = [slow_split(codes[rows], (labels * weights)[rows]) for rows in (~above, above)]
    assert list(zip(tree.features, tree.thresholds)) == [root, *sides]
    leaf = np.where(above, 2 + (codes[:, sides[1][0]] >= sides[1][1]), 0 + (codes[:, sides[0][0]] >= sides[0][1]))
    for k in range(4):
        total = (labels * weights)[leaf == k].sum()
        assert tree.votes[k] == (1.0 if total >= 0 else -1.0)
        assert (tree(codes)[leaf == k] == tree.votes[k]).all()


def test_confidence_is_the_logarithm_of_odds_and_smaller_where_weights_disagree():
    codes = np.array([[0], [0], [9], [9]], np.uint8)
    tree = find_tree(codes, np.array([1.0, 1.0, -1.0, 1.0]), np.array([1.0, 1.0, 2.0, 1.0]), confidence=True)
    smoothing = 5.0 / 8.0
    np.testing.assert_allclose(tree(codes)[0], 0.5 * np.log((2 + smoothing) / smoothing))
    np.testing.assert_allclose(tree(codes)[2], 0.5 * np.log((1 + smoothing) / (2 + smoothing)))


def test_codes_without_two_values_are_not_split():
    tree = find_tree(np.full((3, 2), 7, np.uint8), np.array([1.0, -1.0, -1.0]), np.ones(3))
    assert tree.thresholds.tolist() == [256, 256, 256]
    assert tree(np.full((2, 2), 200, np.uint8)).tolist() == [-1.0, -1.0]


@pytest.mark.parametrize("draws", [beta_draws, gaussian_draws])
def test_posterior_draws_have_the_posteriors_mean_and_narrow_with_plays(draws):
    rng = np.random.default_rng(0)
    rewards, plays = np.array([0.0, 40.0, 3.0]), np.array([0.0, 50.0, 50.0])
    found = np.stack([draws(rewards, plays, rng) for _ in range(4000)])
    prior = (1.0, 2.0) if draws is beta_draws else (0.0, 1.0)
    np.testing.assert_allclose(found.mean(axis=0), (rewards + prior[0]) / (plays + prior[1]), atol=0.06)
    assert (found.std(axis=0)[1:] < 0.5 * found.std(axis=0)[0]).all()


@pytest.mark.parametrize("prior", ["beta", "gaussian"])
def test_thompson_finds_the_family_that_pays_and_sees_all_nineteen(prior):
    codes = np.random.default_rng(0).integers(0, 256, (19 * 3, 20), dtype=np.uint8)
    families = [(f"f{k}", 3 * k, 3 * k + 3) for k in range(19)]
    board = Board(codes, families, 20 * 20, "weight", np.random.default_rng(1))
    policy = Thompson(Q=2, scale=0, prior=prior)
    policy.start(board)
    for _ in range(1500):
        features = policy.candidates(board)
        assert (features // 3 == policy.arm).all()
        policy.learn(0.9 if policy.arm == 12 else 0.2)
    assert (policy.plays > 0).all()
    assert policy.plays.argmax() == 12
    assert policy.plays[12] > 300


def test_one_cell_of_ternary_patterns_counts_pixel_by_pixel():
    images = np.random.default_rng(0).integers(0, 60, (3, 7, 9), dtype=np.uint8)
    bins = _uniform()
    found = ternary_patterns(images, threshold=8, cells=1)
    assert found.dtype == np.float32
    for image, row in zip(images, found):
        np.testing.assert_array_equal(row, ternary_counts(image, 8, bins))


def test_cells_share_the_pixels_and_tell_digits_apart():
    digits = load_digits()
    images = digits.images.astype(np.uint8)
    whole, cells = ternary_patterns(images, 2, 1), ternary_patterns(images, 2, 3)
    assert cells.shape == (len(images), 2 * 59 * 9)
    np.testing.assert_array_equal(cells.reshape(-1, 2, 9, 59).sum(axis=2).reshape(len(images), -1), whole)
    colour = np.repeat(images[:5, :, :, None], 3, axis=3)
    np.testing.assert_array_equal(ternary_patterns(colour, 2, 3), cells[:5])
    means = np.stack([cells[:900][digits.target[:900] == c].mean(axis=0) for c in range(10)])
    nearest = np.square(cells[900:, None] - means).sum(axis=2).argmin(axis=1)
    assert (nearest == digits.target[900:]).mean() > 0.7


@pytest.mark.parametrize(
    ("shape", "keys", "words"),
    [
        ((4, 9), {}, "not the shape"),
        ((4, 9, 9), {"threshold": 0}, "threshold=0"),
        ((4, 9, 9), {"cells": 8}, "cells=8: a number from 1 to 7"),
    ],
)
def test_images_and_keys_that_do_not_fit_are_named(shape, keys, words):
    with pytest.raises(ValueError, match=words):
        ternary_patterns(np.zeros(shape, np.uint8), **keys)


@pytest.mark.parametrize("sizes", [[1000], [1] * 1000, [3, 400, 7, 590]])
def test_kappa_and_its_curve_are_those_of_the_definition_however_blocks_are_cut(sizes):
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 3, 250), 4)
    predicted = np.where(rng.random(1000) < 0.8, labels, 2)
    score, first = KappaPer(window=150, every=100), 0
    for size in sizes:
        score.update(predicted[first : first + size], labels[first : first + size])
        first += size
    right = (predicted == labels).astype(float)
    same = np.append(0.0, labels[1:] == labels[:-1])

    def kappa(part):
        return (right[part].mean() - same[part].mean()) / (1 - same[part].mean())

    assert score.kappa_per == pytest.approx(kappa(slice(None)))
    assert score.curve["examples"] == list(range(100, 1001, 100))
    expected = [kappa(slice(max(0, end - 150), end)) for end in score.curve["examples"]]
    assert score.curve["window_kappa_per"] == pytest.approx(expected)


def test_no_change_itself_has_kappa_zero_and_a_perfect_learner_one():
    labels = np.array(["up", "up", "down", "down", "up"])
    same, perfect = KappaPer(), KappaPer()
    same.update(np.append("none", labels[:-1]), labels)
    perfect.update(labels, labels)
    assert same.kappa_per == 0.0 and perfect.kappa_per == 1.0
    assert np.isnan(KappaPer().kappa_per)
