"""From a config to the record of a drifting stream: refused settings, metrics, repeatability."""

import pytest

from boostrun.config import catalogue
from boostrun.data import checksum, describe, fetch, load
from boostrun.data.streams import names
from boostrun.errors import BoostrunError
from boostrun.papers.iboost import CHANGING, DETECTS, ONLINE, WINDOW
from boostrun.runner.plan import compose_one, open_store, plan
from tests.papers.iboost.learners import METHODS, RIVALS, class_of


def made(settings, seed, **budget):
    return catalogue.method(settings.algo).make(settings.algo, {**settings.budget, **budget}, {"random_state": seed})


@pytest.mark.parametrize("words, said", [
    ("algo=geem dataset=sea", "cannot follow the stream dataset=sea; iboost_stochastic"),
    ("algo=iboost_batch dataset=digits", "dataset=digits is none"),
    ("algo=iboost_batch dataset=sea features=hog", "learnt as it is"),
    ("algo=iboost_batch dataset=sea features.bins=16", "learnt as it is"),
    ("algo=iboost_batch dataset=sea holdout=0.2", "does not take holdout=0.2"),
    ("algo=iboost_batch dataset=sea train_samples=20", "does not take train_samples=20"),
    ("algo=iboost_batch dataset=sea T=20", "does not take T=20"),
    ("algo=iboost_batch dataset=sea algo.example=random", "no key 'example'"),
    ("algo=iboost_stochastic dataset=led dataset.schedule=swop", "did you mean 'swap'"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_sentence(command, words, said):
    code, _, err = command(words)
    assert code == 2 and said in err and "Traceback" not in err


@pytest.mark.parametrize("words, said", [
    ("dataset.classes=9", "one of binary, 10"), ("dataset.positive=11", "different digits"),
])  # fmt: skip
def test_what_the_generator_refuses_is_said_before_a_trial_starts(command, words, said):
    code, _, err = command(f"algo=iboost_stochastic dataset=led dataset.n_samples=10 {words} n_jobs=1")
    assert code == 2 and said in err and "failed" not in err


def test_keys_reach_the_classifier():
    settings = compose_one(["algo=iboost_batch", "dataset=sea", "algo.base=gnb", "M=7", "n=30", "p=2", "b=1"])
    model = made(settings, 5)
    found = model.get_params()
    expected = {"update": "batch", "base": "gnb", "budget": 7, "n_window": 30, "period": 2, "n_steps": 1, "eta": None}
    assert {key: found[key] for key in expected} == expected and found["random_state"] == 5


@pytest.mark.parametrize("name", [name for name in names() if name != "file_stream"])
def test_every_stream_says_what_it_needs(name, tmp_path, command):
    line = describe({"name": name}, tmp_path)
    generated = name in ("sea", "led", "rbf", "rbf_abrupt")
    assert ("generated" in line) == generated and ("not there" in line) != generated
    if generated:
        assert fetch({"name": name}, tmp_path) == line
        assert checksum({"name": name}, tmp_path) != checksum({"name": name, "n_samples": 99}, tmp_path)
    with pytest.raises(BoostrunError, match="a stream, which is never read as a whole"):
        load({"name": name}, tmp_path)
    code, out, _ = command(f"data {name}")
    assert code == (0 if generated else 2) and ("generated" in out) == generated


def test_a_missing_file_is_said_before_anything_runs(command):
    code, _, err = command("algo=iboost_stochastic dataset=santafe")
    assert code == 2 and "santafe_laser.npy" in err


def test_a_run_is_stored_and_repeated_exactly(command):
    line = ("algo=iboost_stochastic dataset=sea dataset.n_samples=2000 dataset.holdout_per_concept=300 M=5 n=50 "
            "trials=2 n_jobs=1")  # fmt: skip
    assert command(line)[0] == 0
    first = records(line)
    assert [record["seed"] for record in first] == [0, 1] and first[0]["metrics"] != first[1]["metrics"]
    assert 60 < first[0]["metrics"]["test_accuracy_pct"] < 100 and len(first[0]["curve"]["examples"]) == 98
    assert command(line)[0] == 0 and records(line) == first  # with their times, so no trial was run again
    assert command(f"{line} store=elsewhere")[0] == 0
    again = records(f"{line} store=elsewhere")
    assert [record["metrics"] for record in first] == [record["metrics"] for record in again]


def records(line):
    settings = compose_one(line.split())
    (cell,) = plan([settings], open_store(settings))
    return cell.done


def test_tables_of_methods_and_streams_agree_with_the_papers(command, workplace):
    code, out, _ = command("reproduce iboost/table_methods")
    assert code == 0 and "0 of them differ" in out and (workplace / "results/iboost/table_methods/table.csv").is_file()
    rows = {line.split("|")[1].strip(): line.replace(" ", "") for line in out.splitlines() if line.startswith("| ")}
    assert rows["flc"] == "|flc|x|x|x|x|x|x|x|x|" and rows["adaboost"] == "|adaboost|-|—|-|—|-|—|x|—|"


@pytest.mark.parametrize("name", ["iboost_stochastic", *(name for name in RIVALS if METHODS[name].paper == "iboost")])
def test_a_class_has_the_traits_of_its_declaration(name):
    words = {"uses_change_detector": DETECTS, "updates_base_online": ONLINE,
             "adds_and_removes": CHANGING, "keeps_window": WINDOW}  # fmt: skip
    cls = class_of(name)
    assert METHODS[name].traits == tuple(word for key, word in words.items() if getattr(cls, key))
