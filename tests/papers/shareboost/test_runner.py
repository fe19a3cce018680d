"""From a config to a record of shared features; killed runs go on at their next round."""

import json

import numpy as np
import pytest

from boostrun.core import FEATURES as PIPELINES
from boostrun.errors import BoostrunError
from boostrun.evaluation import staged as shared_path
from boostrun.features import open_bank
from boostrun.inputs.bank import Table
from boostrun.methods.declaration import obtain
from boostrun.papers.shareboost import PAPER
from boostrun.papers.shareboost import evaluations as evaluation
from boostrun.papers.shareboost import model as template_costs
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.evaluations import pool_of, samples_of
from boostrun.papers.shareboost.selection import Checkpoint
from boostrun.runner.execute import fewer_trials, threads_for
from boostrun.runner.plan import cell_of, compose_one, input_for, places_of
from boostrun.runner.worker import Execute
from boostrun.store.cell import Inputs, Trial
from tests.papers.shareboost.pools import POOLS, samples


@pytest.fixture
def table(tmp_path):
    """90 + 30 samples of five numbers in three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    x = rng.normal(size=(120, 5)) + 1.5 * y[:, None] * [1, -1, 0, 0, 1]
    np.savez(tmp_path / "t.npz", x_train=x[:90], y_train=y[:90], x_test=x[90:], y_test=y[90:])
    return {"name": "npz", "path": str(tmp_path / "t.npz")}


def table_of(table, tmp_path, **features):
    return Table(open_bank(table, features, tmp_path, tmp_path / "cache"), PIPELINES[features["name"]].gives)


def trained(data, T=4, **keys):
    model = ShareBoostClassifier(T, **keys)
    return model, evaluation.SharePath().run(model, data, None)


@pytest.mark.parametrize(
    ("features", "pool", "candidates"),
    [({"name": "linear"}, "values", 5), ({"name": "products"}, "products", 10), ({"name": "raw"}, "codes", 5),
     ({"name": "stumps", "bins": 4}, "stumps", 1 + 5 * 3),
     ({"name": "anchors", "anchors": 4, "radii": 3, "pca": 2}, "anchors", 12)],
)  # fmt: skip
def test_a_record_tells_the_whole_path(table, tmp_path, features, pool, candidates):
    data = table_of(table, tmp_path, **features)
    assert data.kind == pool and evaluation.SharePath().pool(ShareBoostClassifier(), data).n_candidates == candidates
    model, result = trained(data)
    curve, truth = result["curve"], data.labels("test")
    assert model.bias == "auto" and curve["T"] == [1, 2, 3, 4]
    samples = samples_of(data, "test")
    for t, scores in enumerate(model.model_.staged_scores(samples)):
        wrong = scores.argmax(axis=1) != truth
        assert curve["test_error_pct"][t] == pytest.approx(100 * wrong.mean())
    assert [row[0] for row in curve["misclassified"]] == np.flatnonzero(wrong).tolist()
    assert result["metrics"]["test_errors"] == wrong.sum() and result["metrics"]["features"] == 4
    assert curve["selected"] == model.selected_.tolist()
    assert ("weights" in curve) == (pool != "anchors") and len(curve.get("weights", "four")) == 4
    assert np.all(np.diff(curve["train_loss"]) <= 1e-9) and np.all(np.diff(curve["optimise_seconds"]) >= 0)
    # the weights; of a product, scaling both factors and multiplying; of a piece, the distance and three columns
    each = {"products": 3 + 3, "anchors": 3 * 3 + 2}.get(pool, 3)
    assert curve["multiply_adds"] == [t * each for t in (1, 2, 3, 4)]
    json.dumps(result)  # plain values


def test_the_scale_of_products_is_applied_once(table, tmp_path):
    for scale in ("minmax", "max01", "standard"):
        data = table_of(table, tmp_path, name="products", scale=scale)
        z = data.values("train")
        columns = np.array([z[:, i] * z[:, j] for i in range(5) for j in range(i + 1, 5)]).T
        pool = pool_of(data)
        for r in range(10):
            expected = columns[:, [r]] / np.abs(columns[:, r]).max()
            np.testing.assert_allclose(pool.columns(r), expected, atol=1e-12)


def test_on_a_share_of_the_training_data_the_test_part_stays_closed(table, tmp_path, monkeypatch):
    for name in ("linear", "raw"):
        data = table_of(table, tmp_path, name=name)
        for method in ("values", "codes", "samples", "labels"):
            if hasattr(data.bank, method):
                opened = getattr(type(data.bank), method)

                def guarded(self, split, opened=opened):
                    assert split == "train"
                    return opened(self, split)

                monkeypatch.setattr(type(data.bank), method, guarded)
        _, result = trained(data.held_out(0.2))
        assert len(result["curve"]["test_error_pct"]) == 4
        monkeypatch.undo()


def test_pieces_may_be_scored_on_some_samples(table, tmp_path):
    some, others, all_ = (
        pool_of(table_of(table, tmp_path, name="anchors", anchors=4, radii=3, pca=0, score_samples=count))
        for count in (30, 30, 90)
    )
    assert len(some.rows) == 30 and (some.rows == others.rows).all() and all_.rows is None


def test_a_path_that_ends_early_keeps_its_last_point(table, tmp_path):
    model, result = trained(table_of(table, tmp_path, name="linear"), T=8)
    curve = result["curve"]
    assert len(curve["selected"]) == len(model.selected_) == 5 and curve["T"] == list(range(1, 9))
    assert curve["test_error_pct"][4:] == [curve["test_error_pct"][4]] * 4 and result["metrics"]["features"] == 5


RIVALS = [
    ("mixed_norm", {"n_lambdas": 8, "debias": True}, {"T": 8}, {"name": "products"}, "values"),
    ("ovr_greedy", {}, {"T": 3}, {"name": "linear"}, "values"),
    ("jointboost", {}, {"T": 6}, {"name": "stumps"}, "samples"),
    ("knn", {}, {}, {"name": "raw"}, "samples"),
    ("knn", {"k": 1}, {}, {"name": "linear"}, "values"),
    ("kernel_svm", {"C": 1.0}, {}, {"name": "anchors", "anchors": 3, "pca": 2}, "values"),
]


@pytest.mark.parametrize(("name", "keys", "budget", "features", "part"), RIVALS)
def test_the_record_of_a_rival_tells_what_it_predicts(table, tmp_path, name, keys, budget, features, part):
    method, bank = PAPER.methods[name], table_of(table, tmp_path, **features)
    measured = obtain(method.evaluation)()
    measured.warm_up(method.make_small(keys, budget), bank)
    model = method.make(keys, budget, {"random_state": 0})
    result = measured.run(model, bank, None)
    json.dumps(result)
    curve, truth, test = result["curve"], bank.labels("test"), getattr(bank, part)("test")
    if name == "mixed_norm":
        staged, counts, path = list(model.model_.staged_scores(test)), model.n_columns_, curve["path"]
        assert path["columns"] == counts.tolist() and len(path["test_error_pct_debiased"]) == len(counts)
        assert max(path["certificate"]) <= 1e-3
    elif name == "ovr_greedy":
        staged, counts = list(model.model_.staged_scores(test)), model.n_union_
        assert result["metrics"]["summed"] == 9 and curve["per_class"][-1] == 3
        assert result["metrics"]["summed_features_to_20_pct"] % 3 == 0
    elif name == "jointboost":
        staged, counts = [scores.copy() for scores in model.stumps_.staged_decision(test)], model.n_used_
    else:
        predicted = model.predict(test)
        assert result["metrics"]["test_error_pct"] == pytest.approx(100 * np.mean(predicted != truth))
        assert [row[0] for row in curve["misclassified"]] == np.flatnonzero(predicted != truth).tolist()
        assert result["metrics"]["multiply_adds"] == model.multiply_adds_
        return
    upto = budget["T"] if name in ("jointboost", "mixed_norm") else max(counts)
    assert curve["T"] == list(range(max(1, min(counts)), upto + 1))
    for t, error in zip(curve["T"], curve["test_error_pct"]):
        last = max(point for point, count in enumerate(counts) if count <= t)
        assert error == pytest.approx(100 * np.mean(staged[last].argmax(axis=1) != truth))
    assert result["metrics"]["features"] == max(counts)


def test_the_fewest_features_to_a_target_are_told_where_it_is_reached():
    curve = {"T": [2, 3, 4], "test_error_pct": [30.0, 20.0, 25.0]}
    metrics = shared_path.metrics_of(curve)
    assert metrics["features_to_20_pct"] == 3 and "features_to_8_pct" not in metrics
    assert metrics["test_accuracy_pct"] == 75


def test_template_costs_equal_a_count_cell_by_cell():
    rng = np.random.default_rng(0)
    masks = (rng.random((3, 4, 5)) < 0.5) * 1.0
    fitted = {"filters": rng.normal(size=(2, 2, 2)), "masks": masks}
    chosen = np.array([0, 1, 3, 5])  # (mask, filter): 00 01 11 21
    each = template_costs.template_costs(fitted)
    plain, once, seen = 0, 0, set()
    for r in chosen:
        mask, filter_ = divmod(r, 2)
        for cell in zip(*np.nonzero(masks[mask])):
            plain += 4 + 1
            once += 1 + (0 if (filter_, cell) in seen else 4)
            seen.add((filter_, cell))
    assert each[chosen].sum() == plain and template_costs.cost_with_patches_once(fitted, chosen) == once
    assert template_costs.cost_of_all_cells(fitted, chosen) == 4 * 20 * 5
    assert template_costs.template_names(fitted)[3] == "filter 1 under mask 1"


def records(workplace):
    return [json.loads(path.read_text()) for path in (workplace / "results" / "runs").rglob("*.json")]


def test_the_command_runs_one_trial_and_finds_it_again(command, workplace, table):
    line = f"algo=shareboost dataset=npz dataset.path={table['path']} features=products T=3 n_jobs=1"
    code, out, _ = command(line)
    assert code == 0 and "n=1" in out
    (record,) = records(workplace)
    assert record["cell"]["budget"] == {"T": 3} and record["curve"]["T"] == [1, 2, 3]
    assert not list((workplace / "datasets" / "checkpoints").iterdir())
    code, out, _ = command(line)
    assert code == 0 and len(records(workplace)) == 1


@pytest.mark.parametrize(("line", "sentence"), [
    ("algo=geem dataset=digits features=products", "algo 'geem' cannot be trained on features=products; it takes raw"),
    ("algo=shareboost dataset=digits r=5", "does not take r=5"),
    ("algo=shareboost algo.rule=gradiant", "did you mean 'gradient'"),
    ("algo=shareboost dataset=digits features=linear algo.n_classes=3", "n_classes=3: y holds 10 classes"),
    ("algo=shareboost dataset=stream dataset.path=a dataset.test_path=b", "needs all samples in memory"),
    ("algo=shareboost dataset=isolet features=products", "isolet1+2+3+4.data"),
])  # fmt: skip
def test_what_cannot_be_is_a_sentence(command, line, sentence):
    code, _, err = command(f"{line} n_jobs=1")
    assert code in (1, 2) and sentence in err and "Traceback" not in err


def trial_of(table, algo, T):
    settings = compose_one(
        [f"algo={algo}", "dataset=npz", f"dataset.path={table['path']}", "features=linear", f"T={T}"]
    )
    cell = cell_of(settings)
    key = input_for(cell.dataset).key(cell.dataset, cell.features, places_of(settings))
    return Trial(cell, 0, Inputs(key, "s"))


def test_a_killed_trial_goes_on_from_its_checkpoint(table, tmp_path, monkeypatch):
    trial = trial_of(table, "shareboost", 4)
    execute = Execute(str(tmp_path), str(tmp_path / "cache"))
    whole = execute(trial)
    monkeypatch.setattr(evaluation, "errors", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        execute(trial)
    assert len(list((tmp_path / "cache" / "checkpoints" / trial.key).iterdir())) == 4
    monkeypatch.undo()
    kept = Checkpoint.rounds
    monkeypatch.setattr(Checkpoint, "rounds", lambda self: (r._replace(seconds_select=100.0) for r in kept(self)))
    again = execute(trial)
    assert again["cost"]["train_seconds"] > 400  # the earlier rounds' seconds count
    assert again["curve"]["selected"] == whole["curve"]["selected"]
    assert again["curve"]["weights"] == whole["curve"]["weights"] and again["metrics"] == whole["metrics"]
    assert not (tmp_path / "cache" / "checkpoints" / trial.key).exists()


@pytest.mark.parametrize(
    ("n_jobs", "backend", "trials", "each"),
    [(8, "loky", 1, 8), (8, "loky", 3, 2), (2, "loky", 5, 1), (1, "loky", 1, 1), (4, "sequential", 9, 4)],
)  # fmt: skip
def test_cores_are_shared_out_among_trials(n_jobs, backend, trials, each):
    settings = compose_one(["algo=shareboost", "dataset=digits", f"n_jobs={n_jobs}", f"run.backend={backend}"])
    assert threads_for(settings, trials) == each


@pytest.mark.parametrize("algo", ["shareboost", "ovr_greedy", "mixed_norm"])
def test_threads_are_recorded_and_change_nothing_else(table, tmp_path, algo):
    trial = trial_of(table, algo, 3)
    one, two = (Execute(str(tmp_path), str(tmp_path / "cache"), threads=count)(trial) for count in (1, 2))
    assert (one["cost"]["threads"], two["cost"]["threads"]) == (1, 2)
    assert one["metrics"] == two["metrics"]
    for key, value in one["curve"].items():
        assert "seconds" in key or key == "path" or value == two["curve"][key]


def test_more_trials_of_what_is_not_random_are_refused_aloud():
    line = ["dataset=digits", "features=raw"]
    asked = [compose_one([f"algo={name}", *line, "trials=3"]) for name in ("jointboost", "knn", "rand")]
    assert [len(settings.seeds) for settings in asked] == [1, 1, 3]
    assert fewer_trials(asked) == "boostrun: nothing is random in jointboost, knn: 1 trial, not 3"
    for one in (["trials=1"], []):  # and where no number was asked for
        settings = compose_one(["algo=knn", *line, *one])
        assert len(settings.seeds) == 1 and not fewer_trials([asked[2], settings])


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
