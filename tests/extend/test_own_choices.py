"""A user's own code: only named modules are imported, each mistake is one sentence, and records know the code."""

import functools
import importlib
import sys

import pytest

import boostrun
from boostrun import digest, extend
from boostrun.errors import BoostrunError
from boostrun.runner.plan import compose_one

VOTER = """
    import numpy as np
    class Voter:
        budget = {"T": "rounds"}
        def __init__(self, rounds=3, share=0.5, note="", random_state=None):
            self.rounds, self.share, self.note = rounds, share, note
        def fit(self, X, y): self.most = np.bincount(y).argmax()
        def predict(self, X): return np.full(len(X), self.most)
"""
RUN = "--config-dir mine algo=voter dataset=digits trials=1 n_jobs=1"


@pytest.fixture
def voter(mine):
    mine("voter.py", VOTER)
    return mine("algo/voter.yaml", "# votes\nname: voter\nclass: voter:Voter\n")


@pytest.fixture
def trap(mine, workplace):
    """A module that leaves a mark when it is imported."""
    mine("trap.py", "import pathlib\npathlib.Path('sprung').touch()\ndef run(*_, **__): pathlib.Path('ran').touch()\n")
    yield "trap:run"
    assert not (workplace / "sprung").exists() and not (workplace / "ran").exists()
    assert "trap" not in sys.modules


TRAPS = ("algo.note={}", "algo.class={}", "+algo._target_={}", "+dataset.loader=trap", "+features.pipeline=trap")
MORE_TRAPS = (
    "+algo.loader={}", "+dataset.class={}", "+features.class={}", "+run.class={}", "+_target_={}", "algo.name={}",
    "features={}", "+algo._target_=os.system +algo.command=true",
)  # fmt: skip


@pytest.mark.parametrize("word", [*TRAPS, *(pytest.param(word, marks=pytest.mark.slow) for word in MORE_TRAPS)])
def test_a_path_in_a_value_runs_nothing(word, command, voter, trap, workplace):
    quoted = " ".join(f"'{part}'" if ":" in part else part for part in word.format(trap).split())
    code, _, err = command(f"{RUN} {word.format(trap) if ':' not in word else quoted}")
    assert code == (0 if word.startswith("algo.note") else 2) and "Traceback" not in err


def test_nor_does_a_choice_that_is_not_made_or_a_file_that_speaks_for_another(command, voter, trap, mine):
    mine("dataset/trapped.yaml", "name: trapped\nclass: trap:run\n")
    mine("features/raw2.yaml", "# @package _global_\nfeatures: {name: raw}\ndataset: {class: 'trap:run'}\n")
    assert command(RUN)[0] == command("ls --config-dir mine")[0] == 0
    assert "trapped: yours to name" in command("doctor --config-dir mine")[1]
    assert "dataset 'digits' is boostrun's own" in command(f"{RUN} features=raw2")[2]
    voter.write_text("name: voter\nclass: voter:Voter\nnote: trap:run\n_target_: trap.run\n")
    code, _, err = command(RUN)
    assert code == 2 and "algo 'voter' has no key '_target_'" in err


def test_nor_does_a_config_from_elsewhere(trap):
    with pytest.raises(BoostrunError, match="trap:run is not imported"):
        extend.obtain(trap)


SENTENCES = {
    "class: nowhere:Voter": "there is no module 'nowhere' in ",
    "class: voter:Vote": "has no class or function 'Vote'; did you mean 'Voter'?",
    "class: voter": "'voter' names no class: module:Class is needed",
    "class: 3": "'3' names no class",
    "class: voter:np": "neither a class nor a function but of type module",
    "class: broken:Voter": "the module 'broken' cannot be imported: ZeroDivisionError: division by zero",
    "class: wrong:Stars": "takes *rest, and its keys are the names of its parameters",
    "class: wrong:Deaf": "wrong:Deaf is no algorithm: a class with fit and predict, or with test_then_train and",
    "class: wrong:Thrifty": "wrong:Thrifty.budget has the key 'rounds'; the short keys are r, q, T",
    "class: wrong:Vague": "wrong:Vague.budget names the parameter 'rounds', and there is none",
    "class: wrong:Named": "wrong:Named has a parameter 'name', which is a key of boostrun's own",
    "class: wrong:Boundless": "'rounds' is a budget, so its default must be a whole number",
    "class: json:Voter": "json.py is hidden by ",
    "class: voter:Voter\nshare: much": "algo.share=much: a finite number is needed",
    "class: voter:Voter\nshere: 1": "algo 'voter' has no key 'shere'; did you mean algo.share=1?",
}
WRONG = """
    class Base:
        def fit(self, X, y): ...
        def predict(self, X): ...
    class Stars(Base):
        def __init__(self, *rest): ...
    class Deaf:
        def fit(self, X, y): ...
    class Thrifty(Base): budget = {"rounds": "rounds"}
    class Vague(Base): budget = {"T": "rounds"}
    class Boundless(Base):
        budget = {"T": "rounds"}
        def __init__(self, rounds=None): ...
    class Named(Base):
        def __init__(self, name="x"): ...
"""


@pytest.mark.parametrize("content", SENTENCES)
def test_a_mistake_is_one_sentence(content, voter, mine):
    mine("wrong.py", WRONG)
    mine("broken.py", "1 / 0\n")
    mine("json.py", "class Voter: ...\n")
    voter.write_text(f"name: voter\n{content}\n")
    with pytest.raises(BoostrunError) as caught:
        compose_one(["algo=voter"], "mine")
    assert SENTENCES[content] in str(caught.value) and "\n" not in str(caught.value)


def test_bad_keys_and_names_that_are_taken_or_not_the_files_are_one_sentence(command, voter, mine):
    assert "algo.share=x: a finite number is needed" in command(f"{RUN} algo.share=x")[2]
    assert "algo 'voter' has no key 'shere'; did you mean algo.share=1?" in command(f"{RUN} algo.shere=1")[2]
    assert "algo 'voter' does not take r=9 (it takes T)" in command(f"{RUN} r=9")[2]
    assert "cannot be taken away" in command(f"{RUN} ~algo.class")[2]
    voter.write_text("name: other\nclass: voter:Voter\n")
    assert "its name is that of no YAML file in --config-dir" in command(RUN)[2]
    mine("algo/geem.yaml", "name: geem\nclass: voter:Voter\n")
    code, _, err = command(RUN)
    assert code == 2 and "mine/algo/geem.yaml: algo 'geem' is boostrun's own; give yours another name" in err


def test_a_data_set_or_family_that_fails_says_where(command, mine):
    mine(
        "poor.py",
        """
        import numpy as np
        def one(): return np.zeros((9, 2)), np.zeros(9)
        def bare(): return 3
        def bad(): return np.zeros((9, 2), "gone")
        def wide(images): return images
        def loud(images): raise RuntimeError("too loud")
        def holes(images): return np.full((len(images), 2), np.nan)
    """,
    )
    for name in ("one", "bare", "bad"):
        mine(f"dataset/{name}.yaml", f"name: {name}\nclass: poor:{name}\n")
    for name in ("wide", "loud", "holes"):
        mine(f"features/{name}.yaml", f"name: {name}\nclass: poor:{name}\n")
    said = {
        "dataset=one": "all 7 training samples have the same label",
        "dataset=bare": "poor:bare must return (x, y) or (x_train, y_train, x_test, y_test), not an object of type int",
        "dataset=bad": "poor:bad failed (poor.py, line 4): TypeError: ",
        "features=wide": "poor:wide made uint8 of the shape (1, 8, 8) of 1 images; numbers of the shape (n, d)",
        "features=loud": "poor:loud failed (poor.py, line 6): RuntimeError: too loud",
        "features=holes": "features=holes made 2 values that are NaN or infinite",
    }
    for word, sentence in said.items():
        code, _, err = command(f"--config-dir mine algo=majority {word} n_jobs=1")
        assert code == 2 and sentence in err and "Traceback" not in err, err


@pytest.mark.slow
def test_records_carry_the_digest_of_the_persons_file(command, voter, mine):
    assert command(RUN)[0] == 0
    assert "1 cached" in command(f"plan {RUN}")[1]
    mine("voter.py", VOTER.replace("budget =", "# said otherwise\n        budget ="))
    digest.forget()
    assert "1 cached, 0 stale" in command(f"plan {RUN}")[1]
    mine("voter.py", VOTER.replace(".argmax()", ".argmin()"))
    digest.forget()
    assert "1 stale (changed: voter.Voter)" in command(f"plan {RUN}")[1]


def test_no_record_is_kept_of_code_that_changes_while_it_runs(command, voter, mine):
    edit = "__import__('pathlib').Path('mine/sizes.py').write_text('SHARE = 2')"
    changed = VOTER.replace("self.most =", f"{edit}; self.most =")
    mine("voter.py", changed.replace("np.full(len(X), self.most)", "np.full(len(X), self.most) * SHARE")
         .replace("import numpy as np", "import numpy as np\n    from sizes import SHARE"))  # fmt: skip
    mine("sizes.py", "SHARE = 1\n")
    code, _, err = command(RUN)
    assert code == 1 and "sizes.py changed after it was imported: give the command again" in err
    assert "0 cached, 0 stale, 1 to run" in command(f"plan {RUN}")[1]


def test_a_python_session_that_has_imported_other_code_stores_and_answers_nothing(mine, workplace):
    """Nor after one module alone was loaded again: others may hold its old names."""
    mine("voter.py", f"    from sizes import SHARE{VOTER.replace('self.most)', 'SHARE)')}")
    mine("algo/voter.yaml", "class: voter:Voter\n")
    mine("sizes.py", "SHARE = 1\n")
    again = functools.partial(boostrun.run, "algo=voter", "dataset=digits", n_jobs=1, config_dir="mine")
    first = again(trials=2)["test_accuracy_pct"]
    mine("sizes.py", "SHARE = 1  # the same\n")
    assert again(trials=3)["test_accuracy_pct"][:2].equals(first)
    mine("sizes.py", "SHARE = 2\n")
    for _ in range(2):
        with pytest.raises(BoostrunError, match=r"sizes\.py changed after it was imported"):
            again(trials=3)
        importlib.reload(sys.modules["sizes"])
    for name in ("sizes", "voter"):  # as a new Python
        del sys.modules[name]
    assert again(trials=3)["test_accuracy_pct"][0] != first[0]
    assert len(boostrun.records("algo=voter", "dataset=digits", trials=3, config_dir="mine")) == 3


@pytest.mark.parametrize("group", ["dataset", "features"])
def test_nor_does_it_of_data_and_features(group, mine):
    text = {"dataset": "def made(): return np.arange(60).reshape(30, 2) * {}, np.arange(30) % 2\n",
            "features": "def made(images): return images.reshape(len(images), -1)[:, :8] * {}\n"}[group]  # fmt: skip
    mine("maker.py", "import numpy as np\n" + text.format(1))
    mine(f"{group}/made.yaml", "class: maker:made\n")
    words = ["dataset=digits", "algo=majority", f"{group}=made"]
    boostrun.run(*words, trials=1, n_jobs=1, config_dir="mine")
    mine("maker.py", "import numpy as np\n" + text.format(2))
    with pytest.raises(BoostrunError, match=r"maker\.py changed after it was imported"):
        boostrun.run(*words, trials=1, n_jobs=1, config_dir="mine")


def test_a_data_set_with_files_is_stale_when_one_changes(command, mine, workplace):
    mine(
        "shelf.py",
        """
        import numpy as np
        class Shelf:
            def __init__(self, path="numbers.txt", test_part=False): self.path, self.test_part = path, test_part
            def files(self, data_root): return [data_root / self.path]
            def read(self, data_root):
                x = np.loadtxt(data_root / self.path).reshape(-1, 2)
                y = np.array(["a", "b"])[np.arange(len(x)) % 2]
                return (x[:8], y[:8], x[8:], y[8:]) if self.test_part else (x, y)
    """,
    )
    mine("dataset/shelf.yaml", "name: shelf\nclass: shelf:Shelf\n")
    line = "--config-dir mine algo=majority dataset=shelf trials=1 n_jobs=1"
    code, _, err = command(line)
    assert code == 2 and "numbers.txt, which shelf:Shelf reads" in err
    (workplace / "datasets").mkdir(exist_ok=True)
    (workplace / "datasets" / "numbers.txt").write_text(" ".join(map(str, range(40))))
    assert command(line)[0] == command(f"{line} dataset.test_part=true")[0] == 0
    assert "numbers.txt" in command("data shelf --config-dir mine")[1]
    (workplace / "datasets" / "numbers.txt").write_text(" ".join(map(str, range(1, 41))))
    assert "1 stale (changed: data or features)" in command(f"plan {line}")[1]


def test_a_data_set_that_is_other_each_time_is_found_out(command, mine):
    mine(
        "dice.py",
        """
        import numpy as np
        def dice(): return np.random.rand(40, 2), np.arange(40) % 2
    """,
    )
    mine("dataset/dice.yaml", "name: dice\nclass: dice:dice\n")
    code, _, err = command("--config-dir mine algo=majority dataset=dice trials=1 n_jobs=1")
    assert code == 2 and "dice:dice gives other samples each time: seed its random numbers by a key" in err


def test_an_installed_package_needs_no_yaml(command, mine, workplace, monkeypatch):
    mine("their_package.py", VOTER)
    mine("their_package-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    mine("their_package-1.0.dist-info/entry_points.txt", "[boostrun.algorithms]\nthey_vote = their_package:Voter\n")
    monkeypatch.syspath_prepend(workplace / "mine")
    assert "they_vote" in command("ls algo")[1] and "their_package" not in sys.modules
    assert "installed: their_package:Voter (their-package)" in command("ls algo")[1]
    code, out, err = command("algo=they_vote dataset=digits trials=1 n_jobs=1 T=2 algo.share=0.25")
    assert code == 0 and "they_vote" in out, err
    code, _, err = command("algo=they_vote algo.class=os:system")
    assert code == 2 and "its entry point says" in err
    assert "did you mean 'they_vote'" in command("algo=they_votes")[2]


def test_drifting_and_streamed_sets_are_not_for_them(command, voter):
    for word, sentence in (
        ("dataset=sea", "algo 'voter' cannot follow the stream dataset=sea"),
        ("dataset=stream dataset.path=x.npy dataset.test_path=y.npy", "algo 'voter' needs all samples in memory"),
        ("features=stumps", "algo 'voter' cannot be trained on features=stumps"),
    ):
        code, _, err = command(f"--config-dir mine algo=voter {word}")
        assert code == 2 and sentence in err


def test_defaults_that_no_record_can_hold_are_no_keys():
    class Odd:
        def __init__(self, missing=float("nan"), parts=(1, 2), depth=None, rate=0.1): ...
        def fit(self, X, y): ...
        def predict(self, X): ...

    declared = extend.declared("algo", Odd, "own:Odd")
    assert list(declared.fields) == ["parts", "depth", "rate"] and not declared.random


def test_values_may_be_trained_on_as_they_are(command, voter):
    assert command(f"{RUN} features=linear")[0] == 0


def test_a_trial_that_fails_is_a_record_with_the_command_again(command, voter, mine):
    mine("voter.py", VOTER.replace("return np.full(len(X), self.most)", "return self.most"))
    code, _, err = command(RUN)
    assert code == 1 and "Voter.predict gave the shape () for 359 samples" in err
    assert "again: boostrun --config-dir mine algo=voter algo.share=0.5" in err


@pytest.mark.parametrize("thing, splits", [
    ("def two(n=9): return x, y", True),
    ("def four(n=9): return x, y, x, y", False),
    ("def said(n=9): raise SystemExit('read')\nsaid.has_test_part = True", False),
    ("class Files:\n    def files(self, root): return ['x.npy']\n    def read(self, root): return x, y, x, y", False),
    ("class Quick:\n    has_test_part = False\n    def files(self, root): 1 / 0\n    read = files", True),
    ("def broken(n=9): 1 / 0", True),
])  # fmt: skip
def test_own_data_are_split_anew_where_they_have_no_test_part(thing, splits, mine, workplace):
    mine("things.py", "import numpy as np\nx, y = np.eye(9), np.arange(9) % 3\n")
    with (workplace / "mine" / "things.py").open("a") as file:
        file.write(thing)
    mine(
        "dataset/thing.yaml", f"name: thing\nclass: things:{thing.replace('(', ':').replace(' ', ':').split(':')[1]}\n"
    )
    assert compose_one(["algo=majority", "dataset=thing"], "mine").splits is splits
    assert not compose_one(["algo=majority", "dataset=thing", "dataset.split_seed=3"], "mine").splits
