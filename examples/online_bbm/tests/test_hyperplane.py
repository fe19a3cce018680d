import numpy as np
import pytest
from online_bbm.hyperplane import labels, rotating_hyperplane


def test_labels_are_the_formula_row_by_row_and_noise_exchanges_its_share():
    stream = rotating_hyperplane(20_000, np.random.default_rng(1), noise=0.1)
    clean = np.array([int(w @ x >= 0.5 * w.sum()) for x, w in zip(stream.x, stream.weights)])
    assert abs((stream.y != clean).mean() - 0.1) < 0.01
    assert 0.45 < clean.mean() < 0.55


def test_only_drifting_weights_move_and_each_by_the_magnitude():
    stream = rotating_hyperplane(500, np.random.default_rng(0), n_features=6, n_drifting=2, magnitude=0.01, flip=0.2)
    steps = np.diff(stream.weights, axis=0)
    np.testing.assert_allclose(np.abs(steps[:, :2]), 0.01, rtol=1e-9)
    assert (steps[:, 2:] == 0).all()
    assert (steps[0, :2] > 0).all()
    turned = (np.sign(steps[1:, :2]) != np.sign(steps[:-1, :2])).mean()
    assert abs(turned - 0.2) < 0.05


def test_directions_never_turn_with_probability_0_and_always_with_1():
    forth = rotating_hyperplane(50, np.random.default_rng(0), flip=0.0, magnitude=0.5)
    np.testing.assert_allclose(forth.weights[-1, 0] - forth.weights[0, 0], 49 * 0.5)
    back = rotating_hyperplane(50, np.random.default_rng(0), flip=1.0, magnitude=0.5)
    np.testing.assert_allclose(back.weights[::2, 0], back.weights[0, 0])


def test_a_holdout_has_the_concept_of_the_example_and_one_seed_gives_one_stream():
    stream = rotating_hyperplane(1000, np.random.default_rng(5), magnitude=0.01)
    x, y = stream.holdout(700, 50, np.random.default_rng(0))
    assert (y == labels(x, stream.weights[699])).all()
    again = rotating_hyperplane(1000, np.random.default_rng(5), magnitude=0.01)
    assert (again.x == stream.x).all() and (again.y == stream.y).all()
    with pytest.raises(ValueError, match="examples=1001: a number from 1 to 1000"):
        stream.holdout(1001, 5, np.random.default_rng(0))


@pytest.mark.parametrize(
    "keys", [{"n_drifting": 11}, {"flip": 1.5}, {"noise": -0.1}, {"magnitude": -1.0}, {"n_features": 0}]
)
def test_a_parameter_out_of_its_range_is_named(keys):
    with pytest.raises(ValueError, match=next(iter(keys))):
        rotating_hyperplane(10, np.random.default_rng(0), **keys)
