"""The verb frontier: two methods on digits, refused settings, and interrupted commands that are continued."""

import csv
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest

WORDS = "frontier dataset=digits budget=samples_held at=40,80 algo=wsam,fix T=3 trials=2 n_jobs=1"


@pytest.fixture
def made(command):
    assert command(f"{WORDS} tuning=0")[0] == 0
    return command


def rows(folder, name="digits-samples_held"):
    with open(folder / "results" / "frontiers" / name / "table.csv", newline="") as file:
        return list(csv.DictReader(file))


def without_seconds(table):
    return re.sub(rb"(one a class|one for all) .*", b"", table)


def test_a_frontier_ends_in_a_table_a_picture_and_the_records_and_is_taken_up_again(made, workplace):
    folder = workplace / "results" / "frontiers" / "digits-samples_held"
    names = {path.name for path in folder.iterdir()}
    pictures = {"figure.png", "figure.svg", "drawn.png", "drawn.svg"}
    assert names == {"table.md", "table.csv", "contest.csv", "drawn.csv", "rows.npz", "records.parquet", *pictures}
    assert [(row["method"], row["samples_held"], row["spent"]) for row in rows(workplace)] == [
        ("wsam", "40", "40"), ("wsam", "80", "80"), ("fix", "40", "40"), ("fix", "80", "80"),
    ]  # fmt: skip
    whole, picture = ((folder / name).read_bytes() for name in ("table.md", "figure.png"))
    code, out, _ = made("table frontier/digits-samples_held --draw -o drawn")
    assert code == 0 and out.startswith(whole.decode()) and (workplace / "drawn/figure.png").read_bytes() == picture
    (folder / "records.parquet").unlink()
    records = sorted((workplace / "results" / "runs").rglob("*.json"))
    for path in records[::2]:  # as if it had been killed
        path.unlink()
    code, out, _ = made(f"{WORDS} tuning=0")
    assert "again: boostrun frontier dataset=digits" in whole.decode()
    again = (folder / "table.md").read_bytes()
    assert code == 0 and without_seconds(again) == without_seconds(whole)
    assert "On digits, holding 40 to 80 samples" in out
    assert len(sorted((workplace / "results" / "runs").rglob("*.json"))) == len(records) == 8


def test_another_table_in_the_folder_is_named_and_leaves_no_file(made, workplace):
    folder = workplace / "results" / "frontiers" / "digits-samples_held"
    words = "at=40,40 algo=shareboost tuning=0 T=3 trials=2 n_jobs=1"
    code, _, err = made(f"frontier dataset=digits budget=samples_held {words}")
    assert code == 0 and "replaces the table of boostrun frontier dataset=digits" in err and "--name NAME" in err
    assert not {"drawn.csv", "rows.npz", "drawn.png", "figure.png"} & {path.name for path in folder.iterdir()}


@pytest.fixture
def published(command, workplace):
    """A frontier that is published, and the words that make it again."""
    folder = workplace / "mine" / "frontier"
    folder.mkdir(parents=True)
    lines = ["# two budgets", "dataset: digits", "budget: samples_held", "at: [40, 80]", "algo: [wsam, fix]"]
    (folder / "tuned.yaml").write_text("\n".join([*lines, "tuning: 2", "T: 3", "trials: 2"]) + "\n")
    return "reproduce frontier/tuned n_jobs=1 --config-dir mine"


@pytest.mark.slow
def test_all_methods_are_tuned_with_as_many_trials_on_data_that_are_held_out(command, workplace, published):
    code, out, _ = command(f"{WORDS} tuning=2 --name tuned")
    assert code == 0 and "2 trials a method, by the error on 20 % of the training data" in out
    searched: dict[str, int] = {}
    for path in (workplace / "results" / "runs").rglob("*.json"):
        cell = json.loads(path.read_text())["cell"]
        if "holdout" in cell["dataset"]:
            searched[cell["algo"]["name"]] = searched.get(cell["algo"]["name"], 0) + 1
    assert searched == {"wsam": 4, "fix": 4} and len(rows(workplace, "tuned")) == 4
    shutil.rmtree(workplace / "results" / "runs")  # the published files suffice to make it again
    folder = workplace / "results" / "frontiers" / "tuned"
    first = {path: path.read_bytes() for path in folder.rglob("*.*") if path.suffix in (".csv", ".parquet")}
    code, again, _ = command(published)
    assert code == 0 and again.splitlines()[:6] == out.splitlines()[:6] and len(first) == 5
    assert not list((workplace / "results" / "runs").rglob("*.json"))
    assert first == {path: path.read_bytes() for path in first} and [folder] == list(folder.parent.iterdir())


def test_published_frontiers_are_listed_and_taken_as_they_stand(command, published):
    listed = [line.split(maxsplit=1) for line in command("ls frontier --config-dir mine")[1].splitlines()]
    assert ["frontier/tuned", "two budgets"] in listed
    for words, said in (
        (f"{published} T=9", "is made as published, without T=9; for another one: boostrun frontier dataset=digits"),
        ("reproduce frontier/tumed --config-dir mine", "no frontier 'tumed'; did you mean 'tuned'?"),
        ("table frontier/tuned --config-dir mine", "no frontier is stored in results/frontiers/tuned"),
        ("plan frontier/tuned --config-dir mine", "plan takes papers' items; boostrun reproduce frontier/tuned"),
    ):
        code, _, err = command(words)
        assert code == 2 and said in err


def test_a_method_joins_a_stored_frontier_and_the_others_are_not_searched_again(command, workplace):
    assert command(f"{WORDS} tuning=2".replace("wsam,fix", "wsam"))[0] == 0
    before, folder = rows(workplace), workplace / "results" / "frontiers" / "digits-samples_held"
    shutil.rmtree(folder / "search")
    shutil.rmtree(workplace / "results" / "runs")
    code, out, err = command(f"{WORDS} tuning=2 settings={folder}")
    assert code == 0 and "with the settings of the table before this one, not searched again: wsam" in out, err
    after = rows(workplace)
    assert [row["words"] for row in after[:2]] == [row["words"] for row in before]
    assert [row["mean"] for row in after[:2]] == [row["mean"] for row in before] and after[2]["method"] == "fix"
    made = [json.loads(path.read_text())["cell"] for path in (workplace / "results" / "runs").rglob("*.json")]
    assert {cell["algo"]["name"] for cell in made} == {"fix"}
    assert "settings=" not in (folder / "table.md").read_text()


@pytest.mark.parametrize(("words", "said"), [
    ("settings=nowhere", "nowhere/table.csv cannot be read"),
    ("settings=here at=41", "its table has no settings for these methods and budgets"),
    ("settings=here budget=model_bytes", "its table has no settings for these methods and budgets"),
    ("settings=of_splits", "a table of several splits does not say those of each"),
    ("settings=bad", "r=0: "),
])  # fmt: skip
def test_settings_that_a_stored_table_does_not_have_are_refused(command, workplace, words, said):
    for name, text in (("here", "r=20"), ("of_splits", "r=20 (split 1)"), ("bad", "r=0")):
        (workplace / name).mkdir()
        (workplace / name / "table.csv").write_text(f"method,samples_held,words\nwsam,40,{text}\nfix,40,{text}\n")
    code, _, err = command(f"frontier dataset=digits budget=samples_held at=40 algo=wsam T=3 trials=2 n_jobs=1 {words}")
    assert code == 2 and said in err and "Traceback" not in err
    assert not (workplace / "results" / "frontiers").exists()


@pytest.mark.parametrize("content", ["dataset: digits", "- digits", "dataset: [digits", ""])
def test_a_file_that_says_no_frontier_is_refused_by_its_name(command, workplace, content):
    (workplace / "frontier").mkdir()
    (workplace / "frontier" / "odd.yaml").write_text(content)
    code, _, err = command("reproduce frontier/odd --config-dir .")
    assert code == 2 and "odd.yaml" in err and "Traceback" not in err


def test_a_table_of_ones_own_has_one_test_part_that_nobody_tunes_on(command, workplace):
    lines = ["a,b,kind"] + [f"{i % 7},{i % 5},{'x' if i % 7 > 3 else 'y'}" for i in range(120)]
    (workplace / "mine.csv").write_text("\n".join(lines) + "\n")
    code, out, err = command(
        "frontier dataset=mine.csv budget=samples_held at=20 algo=wsam tuning=0 T=2 trials=2 n_jobs=1"
    )
    assert code == 0, err
    assert "On mine, holding 20 samples wsam is the best" in out and "one split, two seeds" in out


@pytest.mark.slow
def test_seconds_buy_as_many_rounds_as_a_pilot_promises(command, workplace):
    words = "frontier dataset=digits budget=seconds at=0.000001,2 algo=fix trials=1 n_jobs=1"
    code, out, err = command(words)
    assert code == 0 and "a round takes" in out, err
    first, second = rows(workplace, "digits-seconds")
    assert first["n"] == "0" and second["n"] == "1" and int(second["words"].partition("T=")[2]) > 20
    before = len(list((workplace / "results" / "runs").rglob("*.json")))
    assert command(words)[0] == 0 and len(list((workplace / "results" / "runs").rglob("*.json"))) == before == 7


def test_a_budget_that_no_method_meets_is_an_empty_column(command):
    code, out, _ = command("frontier dataset=digits budget=samples_held at=5 algo=wsam tuning=0 T=2 trials=1 n_jobs=1")
    assert code == 0 and "no method has a figure" in out and "are 20 samples" in out


@pytest.mark.slow
def test_splits_are_tuned_and_tested_one_by_one_and_no_row_is_tuned_on_that_its_split_tests(command, workplace):
    lines = ["a,b,kind"] + [f"{i % 7},{i % 5},{'x' if i % 7 > 3 else 'y'}" for i in range(120)]
    (workplace / "mine.csv").write_text("\n".join(lines) + "\n")
    words = "frontier dataset=mine.csv budget=samples_held at=20 algo=wsam,sgd tuning=2 T=2 n_jobs=1"
    code, out, err = command(f"{words} splits=6")
    assert code == 0, err
    assert "6 splits, each tuned on its own training data" in out and "95 % over splits" in out
    trials = [json.loads(path.read_text()) for path in (workplace / "results" / "runs").rglob("*.json")]
    held = [(one["seed"], one["cell"]["dataset"]["split_seed"], "holdout" in one["cell"]["dataset"]) for one in trials]
    assert {(seed, split) for seed, split, _ in held} == {(n, n) for n in range(6)}
    assert sum(not search for *_, search in held) == 12
    assert {row["n"] for row in rows(workplace, "mine-samples_held")} == {"6"}
    for more, said in (
        ("splits=6 trials=3", "leave trials out"), ("splits=0", "a whole number from 1 to 100"),
        ("splits=6 dataset.test_path=mine.csv", "comes with a test part"),
    ):  # fmt: skip
        code, _, err = command(f"{words} {more}")
        assert code == 2 and said in err


MEMORY = "frontier dataset=stream dataset.label=kind dataset.test_share=0.2 budget=memory T=4 trials=1 n_jobs=1"


@pytest.fixture
def lake(workplace):
    """A folder of 100,000 rows of ten numbers in row groups, 4 MiB in single precision."""
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    for number in range(2):
        frame = pd.DataFrame(rng.normal(size=(50_000, 10)).astype(np.float32), columns=list("abcdefghij"))
        frame["kind"] = np.where(frame["a"] * frame["b"] + 0.3 * frame["c"] > 0, "up", "down")
        (workplace / "rows").mkdir(exist_ok=True)
        frame.to_parquet(workplace / "rows" / f"{number}.parquet", row_group_size=5_000)
    return "dataset.path=rows"


@pytest.mark.slow
def test_a_budget_of_memory_is_kept_or_the_table_says_what_a_method_takes(command, workplace, lake):
    code, out, err = command(f"{MEMORY} {lake} at=60,900 algo=wsam,sgd tuning=2")
    assert code == 0, err
    assert re.search(r"wsam at 60: it takes \d+ MiB besides its samples, so about \d+ are the least that works\.", out)
    found = {(row["method"], row["memory"]): row for row in rows(workplace, "rows-memory")}
    assert found["wsam", "60"]["spent"] == "" and 100 < float(found["wsam", "900"]["spent"]) <= 900
    assert float(found["sgd", "900"]["spent"]) <= 900
    records = [json.loads(path.read_bytes()) for path in (workplace / "results" / "runs").rglob("*.json")]
    assert all(0 < record["cost"]["memory_mib"] < record["cost"]["peak_memory_mb"] * 1e6 / 2**20 for record in records)
    assert {record["cell"]["dataset"].get("holdout") for record in records} == {None, 0.2}


PROMISE = MEMORY.removeprefix("frontier ").replace("budget=memory ", "") + " dataset.path=rows"


@pytest.mark.slow
def test_a_promise_of_memory_decides_how_many_samples_are_held_and_the_least_that_is_named_works(
    command, workplace, lake
):
    code, _, err = command(f"{PROMISE} algo=wsam run.memory_mb=100")
    least = re.search(r"takes ([\d,]+) MiB besides its samples, so about ([\d,]+) are the least that works\n$", err)
    assert code == 2 and least, err
    code, _, err = command(f"{PROMISE} algo=wsam run.memory_mb={least[2]} trials=2 store=own")
    assert code == 0 and "trials of wsam tell how many samples" in err, err
    every = [json.loads(path.read_bytes()) for path in (workplace / "own").rglob("*.json")]
    found = [record for record in every if record["seed"] == 1]
    assert len(found) == 1 and found[0]["cell"]["budget"]["r"] >= 32
    of_cell = [record for record in every if record["cell_key"] == found[0]["cell_key"]]
    assert len(of_cell) == 2 and all(100 < record["cost"]["memory_mib"] <= int(least[2]) for record in of_cell)
    assert all("balanced_accuracy_pct" not in record["metrics"] for record in of_cell)
    before = len(every)
    assert command(f"{PROMISE} algo=wsam run.memory_mb={least[2]} trials=2 store=own")[0] == 0
    assert len(list((workplace / "own").rglob("*.json"))) == before  # pilots and trials are taken up again
    # how many are held is said, so there are no pilots
    for more in ("algo=wsam r=40", "algo=lightgbm algo.samples_held=500"):
        code, _, err = command(f"{PROMISE} {more} run.memory_mb=64")
        assert code == 1 and "two trials" not in err
        assert re.search(r"run.memory_mb=64 is too little: libraries and .* run.memory_mb=\d+ is the least", err), err


@pytest.mark.parametrize(("words", "said"), [
    ("run.memory_mb=400 run.memory_limit=32", "run.memory_mb=400 decides run.memory_limit"),
    ("run.memory_mb=300,400 -m", "run.memory_mb cannot be swept"),
    ("run.memory_mb=4096 run.backend=slurm", "needs jobs of run.job_memory_mb=4608 or more, not 4096"),
])  # fmt: skip
def test_a_promise_that_two_keys_decide_is_refused(command, lake, words, said):
    code, _, err = command(f"{PROMISE} algo=wsam {words}")
    assert code == 2 and said in err and err.count("\n") == 1


def test_a_system_that_does_not_say_what_a_process_takes_is_one_sentence(command, lake, monkeypatch):
    monkeypatch.setattr("boostrun.runner.execute.knows_memory", lambda: False)
    code, _, err = command(f"{PROMISE} algo=wsam r=20 run.memory_mb=400")
    assert code == 2 and "run.memory_mb=400: this system does not say what a process takes" in err


@pytest.mark.slow
def test_a_search_within_a_limit_of_memory_holds_as_many_samples_as_the_run_that_it_advises(command, workplace, lake):
    code, out, err = command(f"tune {PROMISE.replace('trials=1 ', '')} algo=wsam run.memory_mb=300 tune.trials=2")
    assert code == 0, err
    found = [json.loads(path.read_bytes()) for path in (workplace / "results" / "runs").rglob("*.json")]
    assert all(record["cost"]["memory_mib"] <= 300 for record in found) and len(found) > 2
    advised = re.search(r"next: boostrun (.*r=\d+ q=\d+ run.memory_limit=\d+ tuned=true)\n", out)
    code, out, err = command(f"{advised[1]} trials=1")
    assert code == 0 and "trials of wsam" not in err and "wsam" in out, err


def test_a_stored_trial_whose_memory_is_not_known_is_no_promise_that_is_kept(command, lake):
    words = f"{PROMISE} algo=fix r=10 run.memory_limit=16"
    assert command(words)[0] == 0
    code, _, err = command(f"{words} run.memory_mb=900")
    assert code == 2 and "has no memory in its record (run.memory_mb=900)" in err


@pytest.mark.parametrize(("words", "said"), [
    ("frontier dataset=digits budget=memory at=256 algo=wsam", "budget=memory is for dataset=stream"),
    (f"{MEMORY} dataset.path=rows at=256 algo=shareboost", "cannot keep a budget of memory"),
    (f"{MEMORY} dataset.path=rows at=256 algo=wsam run.memory_mb=256", "at=... sets run.memory_mb"),
    (f"{MEMORY.replace('memory', 'samples_held')} dataset.path=rows at=50 algo=wsam", "budget=memory compares on"),
])  # fmt: skip
def test_what_has_no_budget_of_memory_is_one_sentence(command, words, said):
    code, _, err = command(words)
    assert code == 2 and said in err and err.count("\n") == 1
