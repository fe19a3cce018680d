"""The last and the most frequent label: predictions in any chunks, with new classes, and after loading."""

import numpy as np
import pytest

from boostrun.papers.iboost.baselines import MajoritySoFarClassifier, NoChangeClassifier

KINDS = [NoChangeClassifier, MajoritySoFarClassifier]
LABELS = np.array(list("aabbbacbcccccab"))


def plain(kind, labels, first="a"):
    """The predictions before each label, label by label, for three classes."""
    said = []
    for place in range(len(labels)):
        seen = labels[:place].tolist()
        if kind is NoChangeClassifier:
            said.append(seen[-1] if seen else first)
        else:
            said.append(max("abc", key=seen.count))
    return said


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cuts", [[], [1], [1, 2, 9], list(range(1, 14))])
def test_each_prediction_is_of_the_labels_before_whatever_the_chunks(kind, cuts):
    x, model = np.zeros((len(LABELS), 2)), kind()
    said = [model.test_then_train(x[: len(part)], part, classes=list("abc")) for part in np.split(LABELS, cuts)]
    assert np.concatenate(said).tolist() == plain(kind, LABELS)
    assert model.predict(x[:3]).tolist() == 3 * [{NoChangeClassifier: "b", MajoritySoFarClassifier: "c"}[kind]]


@pytest.mark.parametrize("kind", KINDS)
def test_of_two_classes_the_second_comes_first_and_a_third_may_be_met(kind):
    assert kind().test_then_train([[0.0]], [0], classes=[0, 1]).tolist() == [1]
    model = kind()
    model.partial_fit(np.zeros((4, 1)), [0, 1, 1, 0])
    model.partial_fit(np.zeros((4, 1)), [2, 2, 2, 2])
    assert model.predict([[0.0]]).tolist() == [2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_one_goes_on_where_it_was(kind, tmp_path):
    x = np.zeros((len(LABELS), 2))
    model = kind().partial_fit(x[:9], LABELS[:9], classes=list("abc"))
    model.save(tmp_path / "model.npz")
    loaded = kind.load(tmp_path / "model.npz")
    assert loaded.test_then_train(x[9:], LABELS[9:]).tolist() == plain(kind, LABELS)[9:]
