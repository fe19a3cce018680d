"""Metrics beside accuracy agree with scikit-learn's, and say something where a class is absent."""

import warnings

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.preprocessing import label_binarize

from boostrun.evaluation.measures import counted, of_counts, of_probabilities, of_test_part


def made(seed, classes, rows=60, without=()):
    rng = np.random.default_rng(seed)
    there = [one for one in range(classes) if one not in without]
    truth = np.concatenate([there, rng.choice(there, rows - len(there))])
    probabilities = rng.dirichlet(np.ones(classes), rows)
    probabilities[np.arange(rows), truth] += rng.uniform(0.0, 0.5, rows)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return truth, probabilities.argmax(axis=1), np.round(probabilities, 2)  # with ties


@pytest.mark.parametrize("classes, without", [(2, ()), (3, ()), (10, ()), (10, (4, 9)), (3, (0,))])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("named", [False, True])
def test_metrics_of_labels_are_those_of_scikit_learn(seed, classes, without, named):
    truth, predicted, _ = made(seed, classes, without=without)
    names = np.array([f"class {number}" for number in range(classes)])
    given = (names[truth], names[predicted]) if named else (truth, predicted)
    found = of_counts(counted(truth, predicted, classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # predictions of absent classes
        assert found["balanced_accuracy_pct"] == pytest.approx(100 * sk.balanced_accuracy_score(*given), abs=1e-10)
        assert found["macro_f1_pct"] == pytest.approx(100 * sk.f1_score(*given, average="macro"), abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_metrics_of_probabilities_are_those_of_scikit_learn_for_two_classes_and_for_ten(seed):
    truth, _, probabilities = made(seed, 2)
    found = of_probabilities(truth, probabilities)
    names = np.array(["no", "yes"])[truth]
    assert found["roc_auc"] == pytest.approx(sk.roc_auc_score(names, probabilities[:, 1]))
    precision = sk.average_precision_score(names, probabilities[:, 1], pos_label="yes")
    assert found["average_precision"] == pytest.approx(precision)
    truth, _, probabilities = made(seed, 10)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    found = of_probabilities(truth, probabilities)
    assert found["roc_auc"] == pytest.approx(sk.roc_auc_score(truth, probabilities, multi_class="ovr"))
    binary = label_binarize(truth, classes=range(10))
    assert found["average_precision"] == pytest.approx(sk.average_precision_score(binary, probabilities))


def test_a_class_that_is_absent_from_the_test_part_is_left_out_of_the_means():
    truth, _, probabilities = made(0, 4, without=(2,))
    areas = [sk.roc_auc_score(truth == one, probabilities[:, one]) for one in (0, 1, 3)]
    found = of_probabilities(truth, probabilities)
    assert found["roc_auc"] == pytest.approx(np.mean(areas)) and 0 < found["average_precision"] <= 1
    only = of_probabilities(np.zeros(5, int), np.full((5, 2), 0.5))  # of two classes only the first
    assert only == {}
    assert of_probabilities(np.ones(5, int), np.full((5, 2), 0.5)) == {"average_precision": 1.0}


def test_counts_of_parts_add_up_and_name_the_level_of_the_majority():
    truth, predicted, _ = made(1, 3)
    parts = counted(truth[:20], predicted[:20], 3) + counted(truth[20:], predicted[20:], 3)
    assert np.array_equal(parts, counted(truth, predicted, 3))
    rare = counted(np.repeat([0, 1], [238, 2]), np.zeros(240, int), 2)
    assert of_counts(rare)["balanced_accuracy_pct"] == 50.0
    assert of_test_part(rare) == {"test_rows": 240, "majority_pct": pytest.approx(99.1667, abs=1e-4)}
