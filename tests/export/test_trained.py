"""From a config to a predictor of raw samples: every kind of features, through the model file that a trial leaves."""

import ctypes
import json
import re

import numpy as np
import pytest

from boostrun import VoteEnsemble
from boostrun.config import catalogue
from boostrun.data import load
from boostrun.export import c_source, read
from boostrun.features import open_bank
from boostrun.inputs.bank import Table
from boostrun.methods import archive
from boostrun.papers.shareboost import model as template_costs
from boostrun.papers.shareboost.evaluations import samples_of
from boostrun.runner import keep
from boostrun.runner.compose import compose_one
from tests.export.compiled import Compiled
from tests.marks import slow_but


@pytest.fixture
def folder(workplace):
    """90 training and 210 test samples of five numbers, and of images of 12 x 10 pixels, in three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    numbers = rng.normal(size=(300, 5)) + 1.5 * y[:, None] * [1, -1, 0, 0, 1]
    numbers[:, 2] = -2.0
    images = rng.integers(0, 60, (300, 12, 10))
    for image, label in zip(images, y):
        image[3 * label : 3 * label + 4, 2:7] += 150
    for name, x in (("numbers", numbers), ("images", images.astype(np.uint8))):
        labels = np.array(["red", "green", "*/"])[y]
        np.savez(workplace / f"{name}.npz", x_train=x[:90], y_train=labels[:90], x_test=x[90:], y_test=labels[90:])
    return workplace


SMALL = "features=templates features.patch=3 features.centres=6 features.masks=4 features.sigma=2 features.patches=500"
CASES = [
    ("numbers", "algo=shareboost features=linear T=4", "double"),
    ("numbers", "algo=shareboost features=raw features.bins=16 T=4", "float"),
    ("numbers", "algo=shareboost features=raw features.bins=16 T=4 train_samples=60", "float"),
    ("numbers", "algo=shareboost features=products T=5", "double"),
    ("numbers", "algo=shareboost features=stumps features.bins=16 T=9", "float"),
    ("numbers", "algo=shareboost features=anchors features.anchors=6 features.radii=3 features.pca=2 T=3", "double"),
    ("numbers", "algo=shareboost features=anchors features.anchors=6 features.radii=3 features.pca=0 T=3", "double"),
    ("numbers", "algo=ovr_greedy features=products T=3", "double"),
    ("numbers", "algo=mixed_norm features=linear T=4 algo.n_lambdas=6", "double"),
    ("numbers", "algo=jointboost features=stumps features.bins=16 T=9", "float"),
    ("numbers", "algo=wsam features=raw r=20 T=9", "float"),
    ("numbers", "algo=laminating features=raw T=9", "float"),
    ("images", "algo=wsam features=raw r=20 T=9", "unsigned char"),
    ("images", "algo=uniform_1q features=stumps T=9 Q=5", "unsigned char"),
    ("images", "algo=shareboost features=stumps T=9", "unsigned char"),
    ("images", "algo=shareboost features=raw T=9", "unsigned char"),
    ("images", f"algo=shareboost {SMALL} T=9", "unsigned char"),
    ("images", f"algo=shareboost {SMALL} T=5 algo.bias=free", "unsigned char"),
    ("images", f"algo=ovr_greedy {SMALL} T=3", "unsigned char"),
]


def trained(folder, data, line):
    """(settings, the model as it was saved, the bank, raw test images)."""
    settings = compose_one([*line.split(), "dataset=npz", f"dataset.path={folder / data}.npz", "n_jobs=1"])
    saved = read(keep.train(settings, folder / "model.npz"))
    root = folder / "datasets"
    bank = open_bank(settings.dataset, settings.features, root, root)
    kind = catalogue.pipeline(settings.features).gives
    return settings, saved, Table(bank, kind), load(settings.dataset, root)


def scores_of(saved, bank):
    if hasattr(saved.model, "decision"):
        scores = saved.model.decision(bank.samples("test"))
        return scores if hasattr(saved.model, "subsets") else scores.T
    return saved.model.scores(samples_of(bank, "test"))


@pytest.mark.parametrize(("data", "line", "type_"), slow_but(CASES[::3], CASES))
def test_the_predictor_of_a_trial_takes_raw_samples(folder, data, line, type_):
    _, saved, bank, raw = trained(folder, data, line)
    compiled = Compiled(c_source(saved), folder / "c")
    numbers, scores = compiled(raw.x_test)
    expected = scores_of(saved, bank)
    assert compiled.type == type_ and saved.classes == list(bank.classes)
    same = np.isclose(scores, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()).all(axis=1)
    assert same.mean() > 0.97 if "templates" in line else same.all()  # a response may lie on the edge of two codes
    np.testing.assert_array_equal(numbers[same], expected[same].argmax(axis=1))
    (record,) = [json.loads(path.read_text()) for path in (folder / "results" / "runs").rglob("*.json")]
    error = 100 * np.mean(numbers != bank.labels("test"))
    if same.all():
        assert record["metrics"]["test_error_pct"] == pytest.approx(error)
    if "multiply_adds" in record["metrics"]:
        assert compiled.counted == record["metrics"]["multiply_adds"]


_ADDITIONS = {"out[j] += ": 3, "const float masked = ": 1, "out[k] += ": 1}  # a row of a window: 3 pixels


def test_what_runs_on_templates_is_what_is_counted(folder):
    _, saved, bank, raw = trained(folder, "images", f"algo=shareboost {SMALL} T=9 algo.reg=1e-3")
    source = c_source(saved).replace("#include <math.h>", "int done;")
    for addition, count in _ADDITIONS.items():
        assert source.count(addition) == 1
        source = re.sub(rf"( *)({re.escape(addition)}[^;]*;)", rf"\1done += {count};\n\1\2", source)
    source = re.sub(r"(for \([^)]*\))\n( *done [^;]*;\n[^;]*;)", r"\1 {\n\2 }", source)
    compiled = Compiled(source, folder / "c")
    done = ctypes.c_int.in_dll(compiled.shared, "done")
    chosen, fitted = saved.model.selected, bank.fitted()
    for image in raw.x_test[:3]:
        before = done.value
        compiled(image[None])
        assert done.value - before == 2 * compiled.runs  # scores by itself, and for predict
    assert compiled.runs == template_costs.cost_with_patches_once(fitted, chosen) + 3 * 9
    assert compiled.counted == template_costs.template_costs(fitted)[chosen].sum() + 3 * 9
    assert compiled.runs < compiled.counted  # some patch is chosen under two masks


def test_the_command_makes_a_predictor_of_settings_and_of_a_file(command, folder):
    words = f"dataset=npz dataset.path={folder}/images.npz n_jobs=1"
    code, out, err = command(f"export algo=shareboost {SMALL} T=3 {words} -o first.c")
    assert code == 0, err
    assert "unsigned char[120]" in out and out.splitlines()[-2:] != []
    assert (folder / "first.npz").is_file()
    code, out, _ = command("export first.npz --to c --output=second.c")
    assert code == 0 and (folder / "first.c").read_text() == (folder / "second.c").read_text()
    assert command("export first.npz")[0] == 0  # beside the model, as first.c
    assert command(f"export algo=laminating features=raw T=2 {words} --to npz")[0] == 0
    assert read(folder / "model.npz").inputs["kind"] == "pixels" and not (folder / "predictor.c").exists()
    records = [json.loads(path.read_text()) for path in (folder / "results" / "runs").rglob("*.json")]
    assert sorted(record["cell"]["algo"]["name"] for record in records) == ["laminating", "shareboost"]
    code, out, _ = command(f"algo=shareboost {SMALL} T=3 {words}")
    assert code == 0 and len(list((folder / "results" / "runs").rglob("*.json"))) == 2  # the run finds its record


SENTENCES = {
    "export": "export needs a model file or the settings of one",
    "export absent.npz": "no ensemble at absent.npz",
    "export numbers.npz": "numbers.npz is not an ensemble saved by boostrun",
    "export bare.npz": "bare.npz holds a model but no classes",
    "export other.npz": "other.npz holds something else, which is no model that can be exported",
    "export hog.npz": "this model of features=hog cannot be exported: a predictor in C computes raw, linear",
    "export bare.npz algo=geem": "export needs a model file or the settings of one",
    "export bare.npz more.npz": "cannot read 'more.npz'",
    "export bare.npz --to onx": "--to onx: one of c, onnx, npz is needed",
    "export bare.npz --to npz": "bare.npz is a saved model already",
    "export bare.npz --to": "--to needs c, onnx or npz",
    "export bare.npz -o": "-o needs a file name",
    "export bare.npz -o nowhere/p.c": "-o nowhere/p.c: there is no such folder",
    "ls algo -o p.c": "-o is an option of export",
    "export algo=knn": "algo 'knn' keeps no model of its own",
    "export algo=geem trials=3": "leave trials out",
    "export algo=geem features=hog": "features=hog cannot be exported",
    "export algo=geem features=templates": "algo 'geem' on features=templates cannot be exported: shareboost",
    "export algo=geem r=1,2": "lists several values",
    "export algo=geem dataset=stream dataset.path=x.npy dataset.test_path=y.npy": "a model of dataset=stream is not",
    "export algo=geem dataset=digits r=5": "r must be at least 10",
    "export algo=geem dataset=cifar10 features=raw": "cifar10.npz",
}


@pytest.mark.parametrize("line", SENTENCES)
def test_what_cannot_be_exported_is_one_sentence(line, command, folder):
    model = VoteEnsemble.empty(3, 2)
    model.save("bare.npz")
    model.save("hog.npz", classes=np.arange(3), n_features_in=np.array(4), input_kind=np.array("hog"))
    archive.save("other.npz", "something else", {})
    code, out, err = command(line)
    said = [text for text in err.splitlines() if text.startswith("boostrun: ")]
    assert code == 2 and len(said) == 1 and SENTENCES[line] in said[0] and "Traceback" not in out + err
    assert not list(folder.glob("*.c"))
