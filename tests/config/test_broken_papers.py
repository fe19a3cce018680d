"""A package with a broken paper is left out: one line on standard error, and every other command goes on."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

import boostrun
from tests.marks import slow_but

ROOT = Path(boostrun.__file__).parents[1]
HEALTHY = """
from pathlib import Path

from boostrun.config.fields import Keys, integer, keys
from boostrun.methods.declaration import Method
from boostrun.methods.paper import Paper

HERE = Path(__file__).parent


@keys
class ItsKeys(Keys):
    depth: int = integer(1, help="how deep it is")


METHODS = {{"its_method": Method("{name}_learner:Learner", ItsKeys, "what it does")}}
PAPER = Paper("theirs", methods=METHODS{more})
"""
ITEM = "title: t\n"
CLAIMS = "- claim: it holds\n  where: section 1\n  open: nobody has looked\n"


def paper(more: str = "", **files: str | bytes) -> dict[str, str | bytes]:
    """The files of a package whose paper has more parts than a method."""
    return {"theirs.py": HEALTHY.format(name="theirs", more=more), **files}


ALL = ', items=HERE / "items", claims=HERE / "claims.yaml", reference=HERE / "reference.csv"'
FIGURES = "table,metric,method,mean\ntable1,test_accuracy_pct,its_method,50\n"
ALL_FILES = {"items/one.yaml": ITEM, "claims.yaml": CLAIMS, "reference.csv": FIGURES}
BROKEN = {  # files -> the message
    "it leaves": ({"theirs.py": "raise SystemExit(0)"}, "SystemExit: 0"),
    "it leaves with a word": ({"theirs.py": "import sys\nsys.exit('bye')"}, "SystemExit: bye"),
    "no Python": ({"theirs.py": "def"}, "SyntaxError: invalid syntax"),
    "imports what is not there": ({"theirs.py": "import not_there"}, "No module named 'not_there'"),
    "is not there": ({}, "No module named 'theirs'"),
    "fails": ({"theirs.py": "1 / 0"}, "ZeroDivisionError: division by zero"),
    "many lines": ({"theirs.py": "raise ValueError('one\\n\\ntwo')"}, "ValueError: one two"),
    "an error that cannot be printed": (
        {"theirs.py": "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd"}, "Odd",
    ),
    "no exception": ({"theirs.py": "raise BaseException('odd')"}, "BaseException: odd"),
    "no object": ({"theirs.py": ""}, "has no attribute 'PAPER'"),
    "something else": ({"theirs.py": "PAPER = 3"}, "of type int"),
    "methods that are none": (paper(more=", datasets=3"), "datasets of it is of type int"),
    "a method that is none": (paper(more=", features={'f': 'mine:Features'}"), "'f' among its features is of type str"),
    "a name of ours": (paper(more=", strategies={'geem': 'x:Y'}"), "both reservoir and theirs bring a 'geem'"),
    "a public name of ours": (paper(more=", public={'ReservoirClassifier': 'x'}"), "bring a 'ReservoirClassifier'"),
    "claims that are no YAML": (paper(ALL, **ALL_FILES | {"claims.yaml": "- ["}), "claims.yaml cannot be read"),
    "claims that are no list": (paper(ALL, **ALL_FILES | {"claims.yaml": "a: b"}), "claims.yaml holds no list"),
    "no claims": (paper(', claims=HERE / "claims.yaml"'), "claims.yaml cannot be read: FileNotFoundError"),
    "an item that is no YAML": (paper(ALL, **ALL_FILES | {"items/one.yaml": "a: ["}), "one.yaml cannot be read"),
    "an item that is no text": (paper(ALL, **ALL_FILES | {"items/one.yaml": b"a: \xff"}), "one.yaml cannot be read"),
    "figures that are no text": (paper(ALL, **ALL_FILES | {"reference.csv": b"\xff\xfe\n"}), "UnicodeDecodeError"),
    "figures without a column": (paper(ALL, **ALL_FILES | {"reference.csv": "a,b\n1,2\n"}), "has no column metric"),
    "no figures": (paper(', reference=HERE / "reference.csv"'), "No such file"),
}  # fmt: skip
UNKNOWN = [kind for kind, (files, _) in BROKEN.items() if "METHODS" not in str(files)]  # its names are not known
SMALL = "algo=rand dataset=digits r=20 T=2 n_jobs=1 trials=2"
SOME = ("it leaves", "claims that are no YAML")  # all commands are held to these, two to every kind
QUICK = ("ls paper", "algo=no_such")
COMMANDS = (
    *QUICK, "ls", f"plan {SMALL}", "help run", "doctor", "table reservoir/table3", "claims reservoir",
    "plan reservoir/table3 dataset=digits", SMALL,
)  # fmt: skip
ASKING = (
    "table theirs/one", "check theirs:PAPER", "algo=its_method", "claims theirs", "plan theirs/one",
    "reproduce theirs/one", "report theirs", "check theirs", "check theirs/one", "plan algo=its_method",
    "check its_method", "tune algo=its_method dataset=digits", "export algo=its_method dataset=digits",
)  # fmt: skip


@pytest.fixture
def installed(tmp_path):
    """Put a package into a folder of its own, on the Python path of every command."""

    def write(files: dict, name: str = "theirs", points: str = "", metadata: bool = True) -> None:
        info = f"{name}-1.0.dist-info"
        about = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        points = points or f"[boostrun.papers]\n{name} = {name}:PAPER\n"
        files = {**files, f"{info}/entry_points.txt": points, **({f"{info}/METADATA": about} if metadata else {})}
        for file, content in files.items():
            path = tmp_path / "packages" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    return write


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The results of commands without another package, each run once."""
    folder = tmp_path_factory.mktemp("alone")
    return functools.cache(lambda line: run_in(line, folder))


def run_in(line: str, folder: Path) -> tuple[int, str, list[str]]:
    path = os.pathsep.join([str(ROOT), str(folder / "packages")])
    (folder / "w").mkdir(exist_ok=True)
    env = {**os.environ, "PYTHONPATH": path, "BOOSTRUN_DATA": "no_data"}
    words = [sys.executable, "-m", "boostrun", *line.split()]
    done = subprocess.run(words, check=False, capture_output=True, text=True, env=env, cwd=folder / "w")
    return done.returncode, done.stdout.replace(str(folder), ""), done.stderr.splitlines()


@pytest.fixture
def run(tmp_path):
    """Run a command in its own process; returns its exit code, its output, and the lines of its errors."""

    return lambda line: run_in(line, tmp_path)


def test_a_paper_that_leaves_python_is_one_line_and_all_else_goes_on(installed, run):
    installed(BROKEN["it leaves"][0])
    code, out, err = run("ls strategies")
    assert code == 0 and "geem" in out
    assert err == ["boostrun: the paper 'theirs' (theirs:PAPER) cannot be read and is left out: SystemExit: 0"]
    code, out, _ = run("doctor")
    assert code == 0 and "installed and left out:\n  the paper 'theirs' (theirs:PAPER)" in out


@pytest.mark.slow
def test_a_healthy_paper_is_there_and_may_ask_what_else_there_is_when_it_is_imported(installed, run):
    asks = "from boostrun import ReservoirClassifier\nfrom boostrun.config import catalogue\n"
    asks += "assert 'rand' in catalogue.methods() and 'its_method' not in catalogue.methods()\n"
    files = paper(ALL, **ALL_FILES)
    installed({**files, "theirs.py": f"{asks}{files['theirs.py']}"})
    code, out, err = run("ls algo")
    assert (code, err) == (0, []) and "its_method" in out
    assert run("claims theirs")[::2] == (0, [])


@pytest.mark.parametrize("kind", slow_but(("fails",), BROKEN))
def test_every_command_goes_on_as_if_it_were_not_there_and_one_that_asks_for_it_names_the_fault(
    kind, installed, run, alone
):
    files, why = BROKEN[kind]
    installed(files)
    for line in COMMANDS if kind in SOME else QUICK:
        code, out, err = run(line)
        ended, printed, before = alone(line)
        lines = [each for each in err if "the paper 'theirs' (theirs:PAPER) cannot be read and is left out" in each]
        assert code == ended and len(lines) == 1, (line, out, err)
        assert all(why in each for each in lines) and "Traceback" not in str(err)
        if line == "algo=no_such":
            assert len(err) == (1 if kind in UNKNOWN else 2)
        elif line == "doctor":
            assert "installed and left out:\n  the paper 'theirs'" in out
        elif line != SMALL:  # its output has seconds
            assert (out, [each for each in err if each not in lines]) == (printed, before)
    for line in ASKING if kind in SOME else ASKING[:1]:
        code, out, err = run(line)
        assert (code, out, len(err)) == (2, "", 1), (line, out, err)
        assert "the paper 'theirs' (theirs:PAPER) cannot be read and is left out: " in err[0] and why in err[0]


@pytest.mark.slow
def test_a_model_is_loaded_whatever_else_is_installed(installed, run, tmp_path):
    assert run("export algo=rand dataset=digits r=20 T=2 --to npz -o m.npz")[0] == 0
    (tmp_path / "w/new.csv").write_text("\n".join(",".join(["1"] * 64) for _ in range(3)))
    expected = run("predict m.npz new.csv")
    installed(BROKEN["fails"][0])
    code, out, err = run("predict m.npz new.csv")
    assert (code, out) == expected[:2] and len(err) == len(expected[2]) + 1


@pytest.mark.slow
def test_workers_do_not_say_it_again(installed, run):
    installed(BROKEN["it leaves"][0])
    code, _, err = run("algo=rand dataset=digits r=20 T=2 n_jobs=2 trials=4")
    assert code == 0 and len([line for line in err if "left out" in line]) == 1


@pytest.mark.slow
def test_a_name_that_is_taken_leaves_the_later_paper_out(installed, run):
    installed({"other.py": "PAPER = 3"}, name="other", points="[boostrun.papers]\nreservoir = other:PAPER\n")
    code, out, err = run("ls algo")
    assert code == 0 and "geem" in out and "the paper 'reservoir' (other:PAPER)" in err[0] and len(err) == 1
    assert run("table reservoir/table3")[0] == 0
    for name in ("anna", "bert"):
        installed({f"{name}.py": HEALTHY.format(name=name, more="")}, name=name)
    code, out, err = run("ls algo")
    assert code == 0 and out.count("its_method") == 1 and len(err) == 2
    assert "both anna and bert bring a 'its_method' among the methods" in str(err)


@pytest.mark.slow
def test_claims_that_name_what_is_not_there_are_left_out_alone(installed, run):
    wrong = "- claim: it wins\n  where: section 1\n  test: order\n  item: theirs/none\n  sides: [a, b]\n  at: [[c]]\n"
    installed(paper(ALL, **ALL_FILES | {"claims.yaml": wrong}))
    code, out, err = run("claims")
    assert code == 0 and "reservoir" in out and "it wins" not in out
    assert len(err) == 1 and "the paper 'theirs' (theirs:PAPER) cannot be read and is left out: " in err[0]
    code, out, err = run("claims theirs")
    assert (code, out, len(err)) == (2, "", 1) and "no paper item 'theirs/none'" in err[0]
    code, out, err = run("doctor")
    assert code == 0 and "no paper item 'theirs/none'" in out and len(err) == 1


@pytest.mark.slow
def test_a_damaged_package_is_reported_or_passed_over(installed, run):
    installed({}, name="nobodys", points="[boostrun.papers]\nno list")
    installed(paper(), metadata=False)
    code, out, err = run("ls algo")
    assert code == 0 and "its_method" in out and len(err) == 1 and "the package 'nobodys'" in err[0]
    installed({}, name="others", points="no list at all")
    assert run("ls algo")[2] == err


def test_an_algorithm_of_a_package_with_a_name_of_ours_is_left_out(installed, run):
    points = "[boostrun.algorithms]\nrand = theirs:Learner\nanother = theirs:Learner\n"
    installed({"theirs.py": "1 / 0"}, points=points)
    code, out, err = run("plan algo=rand dataset=digits")
    assert code == 0 and "rand" in out and len(err) == 1
    assert "'rand' (theirs:Learner) cannot be read and is left out: algo 'rand' is there already" in err[0]
    code, out, err = run("plan algo=another dataset=digits")
    assert (code, out) == (2, "") and "the module 'theirs' cannot be imported: ZeroDivisionError" in err[0]


@pytest.mark.parametrize("text", ["raise SystemExit(0)", "1 / 0", "PAPER = 3"])
def test_a_paper_of_the_user_s_folder_ends_the_command_with_a_sentence(text, run, tmp_path):
    (tmp_path / "w/mine").mkdir(parents=True)
    (tmp_path / "w/mine/papers.yaml").write_text("mine: mine_of_mine:PAPER\n")
    (tmp_path / "w/mine/mine_of_mine.py").write_text(text)
    code, out, err = run("ls algo --config-dir mine")
    assert (code, out, len(err)) == (2, "", 1) and "the paper 'mine' (mine_of_mine:PAPER) cannot be read" in err[0]
