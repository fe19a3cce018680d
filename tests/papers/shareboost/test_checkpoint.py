"""A killed run goes on at its next round, to the same result."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from tests.papers.shareboost.pools import POOLS, samples


class Killed(Exception):
    pass


def kill_after(rounds):
    def look(t, _):
        if t == rounds:
            raise Killed

    return look


def run(name, folder, n_features=6, on_round=None, **keys):
    x, y = samples()
    model = ShareBoostClassifier(n_features, reg=1e-4, checkpoint=folder, **keys)
    return model.fit_pool(POOLS[name](x), y, on_round)


@pytest.mark.parametrize(("name", "keys"), [
    ("dense", {}), ("products32", {"scoring": "lazy"}),
    ("binned stumps", {"bias": "free", "rule": "column", "shortlist": 4}),
])  # fmt: skip
def test_a_killed_run_ends_as_one_that_was_not(name, keys, tmp_path):
    with pytest.raises(Killed):
        run(name, tmp_path / "killed", on_round=kill_after(3), **keys)
    assert len(list((tmp_path / "killed").iterdir())) == 3
    rounds = []
    resumed = run(name, tmp_path / "killed", on_round=lambda t, _: rounds.append(t), **keys)
    whole = run(name, None, **keys)
    assert rounds == [4, 5, 6]
    np.testing.assert_array_equal(resumed.selected_, whole.selected_)
    for a, b in zip(resumed.path_, whole.path_):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(resumed.train_loss_, whole.train_loss_)
    np.testing.assert_allclose(resumed.scores_, whole.scores_, rtol=1e-6)


def test_pieces_go_on_too(tmp_path):
    with pytest.raises(Killed):
        run("pieces", tmp_path, 3, on_round=kill_after(1))
    np.testing.assert_array_equal(run("pieces", tmp_path, 3).path_[-1], run("pieces", None, 3).path_[-1])


def test_a_finished_run_is_gone_on_with_for_more_features_or_read_for_fewer(tmp_path):
    run("dense", tmp_path, 3)
    longer, shorter = run("dense", tmp_path, 5), run("dense", tmp_path, 2)
    np.testing.assert_array_equal(longer.path_[-1], run("dense", None, 5).path_[-1])
    assert len(shorter.selected_) == 2


def test_a_half_written_round_is_not_there(tmp_path):
    run("dense", tmp_path, 3)
    (tmp_path / "round-0003.npz").rename(tmp_path / ".round-0003.npz.1.tmp")
    rounds = []
    run("dense", tmp_path, 3, on_round=lambda t, _: rounds.append(t))
    assert rounds == [3]


@pytest.mark.parametrize("damage", ["empty", "cut", "flip", "head of an array"])
def test_a_damaged_round_and_those_after_it_are_made_again(damage, tmp_path, capsys):
    whole = run("dense", tmp_path, 4)
    path = tmp_path / "round-0002.npz"
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
    elif damage == "head of an array":  # of a smaller one: numpy would read it without a word
        place = content.index(b"'shape': (", content.index(b"weights.npy"))
        content[place : place + 14] = bytes(content[place : place + 14]).replace(b"(1,", b"(0,").replace(b"(2,", b"(1,")
    path.write_bytes({"empty": b"", "cut": content[:-30]}.get(damage, content))
    rounds = []
    resumed = run("dense", tmp_path, 4, on_round=lambda t, _: rounds.append(t))
    np.testing.assert_array_equal(resumed.path_[-1], whole.path_[-1])
    assert rounds == [2, 3, 4] and capsys.readouterr().err.count("round-0002.npz is damaged") == 1


@pytest.mark.parametrize("keys", [{"margin": 0.5}, {"inner_rtol": 1e-4}])
def test_rounds_of_another_run_are_refused(keys, tmp_path):
    run("dense", tmp_path, 2)
    with pytest.raises(BoostrunError, match="another run"):
        run("dense", tmp_path, 2, **keys)


def test_rounds_on_other_data_are_refused(tmp_path):
    run("dense", tmp_path, 2)
    x, y = samples(seed=1)
    with pytest.raises(BoostrunError, match="another run"):
        ShareBoostClassifier(2, reg=1e-4, checkpoint=tmp_path).fit_pool(POOLS["dense"](x), y)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BoostrunError, match="cannot make the folder"):
        run("dense", tmp_path / "file" / "folder")
