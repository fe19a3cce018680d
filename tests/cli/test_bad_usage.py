"""Every bad word on the command line ends in one sentence and exit code 2, without a traceback or a file left."""

import contextlib
from pathlib import Path

import numpy as np
import pytest

from boostrun.store import StoreWriteError

SENTENCES = {
    "frontier dataset=digits": "needs a data set and a budget", "frontier summary": "holds no frontier",
    "frontier summary budget=sample": "did you mean 'samples_held'",
    "frontier summary trials=3": "does not take trials", "frontier everything": "cannot read 'everything'",
    "frontier dataset=digits budget=sample_held": "did you mean 'samples_held'",
    "frontier dataset=digits budget=features algo=wsam": "budgets that it keeps: samples_held",
    "frontier dataset=digits budget=samples_held algo=majority": "budgets that it keeps: none",
    "frontier dataset=digits budget=samples_held algo=gem": "did you mean 'geem'",
    "frontier dataset=digits budget=samples_held at=0": "numbers above 0",
    "frontier dataset=digits budget=samples_held at=many": "numbers above 0",
    "frontier dataset=digits budget=samples_held at=40.5": "whole numbers are needed for budget=samples_held",
    "frontier dataset=digits budget=samples_held tuning=some": "a whole number of trials",
    "frontier dataset=digits budget=samples_held algo=wsam r=5": "a budget of samples_held decides r for wsam",
    "frontier dataset=digits budget=samples_held algo=wsam holdout=0.3": "leave holdout out",
    "frontier dataset=digits budget=samples_held algo=wsam T=5,10": "one value for each key",
    "report reservoir/table33": "did you mean 'reservoir/table3'", "report reservoir/timing T=x": "T",
    "report reservoir/timing -o .": "a folder; name a file",
    "report adaptive/figure1 -o file/report.html": "cannot write",
    "claims reservior": "did you mean 'reservoir'", "claims reservoir T=5": "T=5 cannot be given",
    "ls algo -o a.html": "-o is an option of export, fit, report, claims, predict, follow and table only",
    "--to c r=3": "--to is an option of export", "r=12 plan": "cannot read 'plan'",
    "--config-dir mine plam": "no verb 'plam'; did you mean 'plan'?",
    "algo=gem": "no algo 'gem'; did you mean 'geem'? (boostrun ls algo)", "dataset=mnits": "did you mean 'mnist'",
    "dataset=mine.csv": "no file mine.csv (dataset.path; looked in",
    "mine.csv more.parquet": "more.parquet: one data set is needed; dataset.test_path=FILE adds a test part",
    "export mine.csv": "no file mine.csv", "trials=1_0": "trials=1_0: a whole number from 1 to 100000 is needed",
    "-m r=1_0,20": "r=1_0: a whole number of at least 1 is needed",
    "run.n_jobs=1": "run 'local' has no key 'n_jobs'; did you mean n_jobs=1?",
    "features=hogg": "did you mean 'hog'", "r=abc": "r=abc: a whole number of at least 1 is needed",
    "r=0": "r=0: a whole number of at least 1 is needed", "r=-3": "r=-3: a whole number of at least 1",
    "r=2.5": "r=2.5: a whole number", "T=0": "T=0: a whole number of at least 1", "r=5": "r must be at least 10",
    "r=1000": "r + q must be at most 1438", "n_jobs=0": "n_jobs=0: a whole number of at least 1, or -1 for all cores",
    "n_jobs=two": "n_jobs=two", "trials=0": "trials=0", "seed=-1": "seed=-1",
    "M=5": "algo 'geem' does not take M=5 (it takes r, q, T)", "algo=majority r=10": "it takes no budget",
    "algo.shrinkge=1": "did you mean algo.shrinkage=1",
    "algo.shrinkage=2": "algo.shrinkage=2: a number above 0 and of at most 1",
    "algo.shrinkage=nan": "algo.shrinkage=nan", "algo.ridge=-1": "algo.ridge=-1",
    "algo.loss=logistics": "did you mean 'logistic'", "algo.balanced=maybe": "algo.balanced=maybe: true or false",
    "algo=rand algo.ridge=1": "algo 'rand' has no key 'ridge'",
    "algo.covariance_dims=0": "auto, all, or a whole number",
    "shrinkage=1": "no key 'shrinkage'; did you mean algo.shrinkage=1",
    "+shrinkage=1": "no key 'shrinkage'; did you mean algo.shrinkage=1",
    "features.bins=1000": "a whole number from 2 to 256",
    "features=coates_ng features.device=gpu": "one of cpu, cuda is needed", "run.backend=lokky": "did you mean 'loky'",
    "algo=ucb Q=11": "Q=11 features on all 1438 samples cost 15818 evaluations a step, and its budget is 14380",
    "algo=best_family algo.family=edges": "family=edges: a number from 0 to 0 or one of raw is needed",
    "algo=laminating algo.budget_multiplier=1e-5": "a budget of 0 a step is too small for laminating",
    "algo=tasting_q1 algo.tasting_R=20 algo.charge=true": "20 watched features on all 1438 samples leave nothing",
    "algo=exp3p algo.update=some": "algo.update=some: one of all, played is needed",
    "algo=eps_greedy algo.scale=x": "algo.scale=x: a whole number from 0 to 30, or tuned, is needed",
    "tune algo=majority": "algo=majority has no key to tune",
    "tune algo=geem tune.trails=3": "tune has no key 'trails'; did you mean tune.trials=3?",
    "tune algo=geem tune.trials=0": "tune.trials=0: a whole number from 1 to 100000 is needed",
    "tune algo=geem trials=3": "tune.trials=30 says how many combinations are tried",
    "tune algo=geem tuned=true": "tune chooses all values that can be searched itself: leave it out",
    "tune algo=geem algo.shrinkage=interval(0.1,3)": "algo.shrinkage=3.0: a number above 0 and of at most 1 is needed",
    "tune algo=geem algo.shrinkage=interval(0.5,0.1)": "from 0.5 to 0.1 is no range",
    "tune algo=geem algo.shrinkige=interval(0.1,1)": "has no key 'shrinkige'; did you mean algo.shrinkage=0.1?",
    "tune algo=geem M=interval(10,20)": "does not take M=10",
    "tune algo=geem dataset.split_seed=interval(1,3)": "lists no values",
    "algo=geem algo.shrinkage=interval(0.1,1)": "lists no values",
    "algo=geem r=20 tuned=true": "tuned=true: nothing is tuned for geem · digits · raw · r=20 q=20 T=250; boostrun",
    "tune algo=ucb algo.scale=2": "tune chooses algo.scale itself: leave it out",
    "tune algo=ucb trials=3": "with the first seed, and holds out what it needs: leave trials out",
    "tune algo=ucb,exp3p": "add -m to run them all", "tune ucb": "cannot read 'ucb'",
    "tune algo=best_family dataset=cifar10": "cifar10.npz",
    "algo=ucb algo.scale=tuned": "nothing is tuned for ucb · digits · raw · T=1000 Q=10; boostrun tune with the same",
    "algo=uniform_1q dataset=stream dataset.path=x.npy dataset.test_path=y.npy": "needs all samples in memory",
    "dataset=npz": "dataset.path must be given", "dataset=npz dataset.path=absent.npz": "absent.npz",
    "dataset=[1": "cannot read 'dataset=[1'", "algo=rand,geem": "add -m to run them all",
    "algo=majority results=/etc/passwd": "is a file: name a folder",
    "-m store=a,b algo=majority": "store cannot be swept",
    "geem": "no verb 'geem'", "run geem": "cannot read 'geem'",
    "--fast": "no option '--fast'", "r=${nothing}": "nothing", "ls algos": "did you mean 'algo'",
    "data": "needs the name of a data set", "data digits dataset=wine": "one data set or file, not digits and wine",
    "data mnits": "did you mean 'mnist'", "diff a": "two things to compare",
    "diff a b": "no record, file or item 'a'", "table reservoir/tabel3": "did you mean 'reservoir/table3'",
    "table": "needs a paper's item", "reproduce reservoir/table3 seed=1,2": "seed is not swept",
    "reproduce reservoir/table3 dataset=digit": "did you mean 'digits'",
    "--config-dir nowhere algo=geem": "there is no such folder", "--config-dir": "needs a folder",
    "--shell-completion install=tcsh": "no completion for the shell 'tcsh'", "dataset=cifar10": "cifar10.npz",
    "dataset=stl10": "stl10_binary", "dataset=inria": "INRIAPerson", "plan ~r": "~r: a key cannot be taken away",
    "table reservoir/table3 ~algo": "~algo: a key cannot be taken away",
    "plan r=interval(1,2)": "lists no values: separate them by commas",
    "-m r=glob(*)": "lists no values: separate them by commas",
    "plan -m algo=glob(r*)": "lists no values: separate them by commas",
    "plan trials=1e9": "trials=1000000000.0: a whole number from 1 to 100000 is needed",
    "reproduce reservoir/table3 trials=1000000000": "a whole number from 1 to 100000 is needed",
    "plan -m r=range(10,20) trials=100000 dataset=digits algo=rand": "1,000,000 trials are more than one command",
    "plan -m r=range(1,1000000000)": "lists 999,999,999 values: at most 100,000 can be swept",
    "-m r=shuffle(range(1,1000000000))": "lists 999,999,999 values",
    "report r=range(1,1000000000)": "lists 999,999,999 values", "plan -m r=range(1,10,0)": "steps of 0",
    f"plan -m r={','.join('1' * 400)} q={','.join('1' * 400)}": "this sweep has 160,000 combinations: at most 100,000",
    "seed=1e300": "no whole number may be beyond 2^63 - 1", f"T={10**30}": "no whole number may be beyond 2^63 - 1",
    f"plan r={'9' * 5000}": "cannot read 'r=9999",
    f"table reservoir/table3 algo.shrinkage={'9' * 5000}": "cannot read 'algo.shrinkage=9999",
    f"r={'[' * 3000}{']' * 3000}": "its brackets are nested too deeply",
    f"plan r={'{a:' * 800}1{'}' * 800}": "its brackets are nested too deeply", f"algo={'a' * 100_000}": "no algo 'aaaa",
    f"--config-dir {'x' * 5000} algo=geem": "File name too long",
}  # fmt: skip


@pytest.mark.parametrize("line", SENTENCES, ids=lambda line: line[:60])
def test_a_bad_word_is_one_sentence(line, command, workplace):
    (workplace / "file").write_text("")
    code, out, err = command(line)
    assert code == 2 and not out and SENTENCES[line] in err
    said = [text for text in err.splitlines() if not text.startswith("boostrun 0.")]
    assert len(said) == 1 and said[0].startswith("boostrun: ") and "Traceback" not in err + out
    assert len(said[0]) < 1100
    assert not (workplace / "results").exists()


BAD_DATA = {
    "constant label": (lambda rng: {"x": rng.random((50, 3)), "y": np.zeros(50)}, "the same label"),
    "not a number": (lambda rng: {"x": np.full((50, 3), np.nan), "y": np.arange(50) % 2}, "holds no values"),
    "infinite": (lambda rng: {"x": np.full((50, 3), np.inf), "y": np.arange(50) % 2}, "infin"),
    "lengths differ": (lambda rng: {"x": rng.random((50, 3)), "y": np.arange(49) % 2}, "49"),
    "more classes than samples in the reservoir": (
        lambda rng: {"x": rng.random((120, 3)), "y": np.arange(120) % 12},
        "r must be at least 12",
    ),
}


@pytest.mark.parametrize("what", BAD_DATA)
def test_bad_data_is_one_sentence(what, command, workplace):
    make, words = BAD_DATA[what]
    np.savez(workplace / "mine.npz", **make(np.random.default_rng(0)))
    code, _, err = command("dataset=npz dataset.path=mine.npz r=10 T=3 n_jobs=1")
    assert code == 2 and words in err and "Traceback" not in err


@pytest.mark.slow
def test_a_corrupt_download_names_both_checksums(command, workplace):
    pytest.importorskip("torch")
    raw = workplace / "datasets" / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
        (raw / f"{name}-ubyte.gz").write_bytes(b"torn")
        (raw / f"{name}-ubyte").write_bytes(b"torn")
    code, _, err = command("dataset=mnist")
    assert code == 2 and "f68b3c2dcbeaaa9fbdd348bbdeb94873" in err and "Traceback" not in err


def test_a_results_folder_that_cannot_be_written_is_one_sentence(command, workplace):
    (workplace / "results").write_text("a file where a folder belongs")
    code, _, err = command("algo=majority trials=1 n_jobs=1")
    assert code == 2 and "results" in err.splitlines()[-1] and "Traceback" not in err


@pytest.mark.parametrize(("line", "expected"), [
    ("repr", "reproduce"), ("reproduce reservoir/sw", "reservoir/swaps"), ("data pend", "pendigits"),
    ("algo=wsa", "algo=wsam algo=wsam_active algo=wsam_mass"), ("plan algo=logi", "algo=logistic algo=logitboost"),
    ("exp", "export"), ("report ow", "own"), ("ls pol", "policies"), ("dataset=strea", "dataset=stream"),
    ("export algo=wsa", "algo=wsam algo=wsam_active algo=wsam_mass"), ("run.memory_l", "run.memory_limit="),
    ("dataset=stream dataset.chunk", "dataset.chunk_rows="), ("fi", "fit"), ("fit mine.csv --within fl", "flash="),
    ("fit mine.csv --within features=2,s", "features=2,seconds="),
])  # fmt: skip
def test_completion_knows_verbs_items_choices_and_keys(line, expected, command, monkeypatch, capsys):
    from boostrun.cli import main

    monkeypatch.setenv("COMP_LINE", f"boostrun {line}")
    monkeypatch.setenv("COMP_POINT", str(len(f"boostrun {line}")))
    with contextlib.suppress(SystemExit):
        main(["--shell-completion", "query=bash"])
    assert capsys.readouterr().out.split() == expected.split()


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a folder in which not even root can write")
def test_a_store_that_cannot_be_written_is_one_sentence_before_any_worker_starts(command, workplace, monkeypatch):
    monkeypatch.setattr("boostrun.runner.pool.parallel", None)
    code, _, err = command("algo=rand dataset=digits r=20 T=2 trials=2 n_jobs=2 store=/proc/nope")
    assert code == 2 and err.splitlines()[-1] == (
        "boostrun: cannot write in the store /proc/nope: No such file or directory"
    )
    assert not [path for path in workplace.iterdir() if path.name != "cache"]


def test_a_store_that_cannot_be_written_still_gives_what_it_has(command, monkeypatch):
    line = "algo=rand dataset=digits r=20 T=2 trials=2 n_jobs=1"
    assert command(line)[0] == 0

    def refuse(_store):
        raise StoreWriteError("cannot write in the store")

    monkeypatch.setattr("boostrun.store.Store.check_writable", refuse)
    assert command(line)[0] == 0 and command(line.replace("n_jobs=1", "n_jobs=2"))[0] == 0
    assert command(line.replace("r=20", "r=30"))[0] == 2


@pytest.mark.parametrize("words", ["ls runs stor=mine", "ls algo foo=1", "report own stor=mine -o q.html"])
def test_a_key_that_lists_and_pages_do_not_take_is_refused(command, workplace, words):
    code, out, err = command(words)
    assert (code, out) == (2, "") and ("'foo'" in err or "did you mean store=" in err)
    assert not (workplace / "q.html").exists()
