"""``boostrun claims``: a stranger's paper brings its own, and a file that names what is not there is one sentence."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from boostrun.config import catalogue

from ..published import copies, of_item

ROOT = Path(__file__).parents[2]
BBM = ROOT / "examples" / "online_bbm"


@pytest.fixture
def own(tmp_path):
    """A paper in a user's folder with one claim, and the function that rewrites it."""
    folder = tmp_path / "mine"
    (folder / "paper" / "mine").mkdir(parents=True)
    (folder / "papers.yaml").write_text("mine: a_paper_with_claims:PAPER")
    (folder / "a_paper_with_claims.py").write_text(
        "from pathlib import Path\nfrom boostrun.methods.paper import Paper\n"
        "PAPER = Paper('Mine', claims=Path(__file__).with_name('claims.yaml'))\n"
    )
    (folder / "paper" / "mine" / "digits.yaml").write_text(
        "{title: Mine, paper: '', table: '', metric: test_accuracy_pct, higher_is_better: true, rows: algo,"
        " columns: [dataset], where: {}, overrides: [T=5, r=20, trials=6],"
        " blocks: [{sweep: {algo: [rand, geem], dataset: [digits]}}]}"
    )
    yield folder
    catalogue.forget()
    sys.modules.pop("a_paper_with_claims", None)
    sys.path[:] = [path for path in sys.path if path != str(folder)]


def row(**values):
    said = {
        "claim": "GEEM before Rand", "where": "1", "item": "mine/digits", "test": "order", "sides": ["geem", "rand"],
    }  # fmt: skip
    return json.dumps([{**said, **values}])


def test_a_claim_without_records_names_the_command_that_makes_them_and_is_decided_by_it(command, own):
    (own / "claims.yaml").write_text(row())
    code, out, err = command(f"claims mine --config-dir {own}")
    assert code == 0 and "undecided (0 of at least 6 seeds" in " ".join(out.split())
    assert "there are no records here" in err
    made = next(line for line in out.splitlines() if "$ boostrun reproduce mine/digits" in line)
    assert command(" ".join(made.split()[2:]) + " n_jobs=1")[0] == 0
    code, out, err = command(f"claims mine --config-dir {own}")
    told = " ".join(out.split())
    assert code == 0 and not err and "0 of at least 6" not in told and "Wilcoxon" in told and "n=6" in told
    assert "$ boostrun table mine/digits" in told


def test_the_print_is_judged_without_records_and_a_claim_without_its_printed_figure_is_refused(command, own):
    (own / "claims.yaml").write_text(row())
    code, _, err = command(f"claims mine --on-paper --config-dir {own}")
    assert code == 2 and "no printed figures" in err
    module, item = own / "a_paper_with_claims.py", own / "paper" / "mine" / "digits.yaml"
    printed = "reference=Path(__file__).with_name('printed.csv'), claims="
    module.write_text(module.read_text().replace("claims=", printed))
    lines = ["paper,table,dataset,method,metric,value", "mine,1,digits,geem,test_accuracy_pct,80"]
    (own / "printed.csv").write_text("\n".join([*lines, "mine,1,digits,rand,test_accuracy_pct,81"]))
    found = item.read_text().replace("paper: '', table: ''", "paper: mine, table: 1")
    item.write_text(found.replace("where: {}", "where: {method: algo, dataset: dataset}"))
    catalogue.forget()
    sys.modules.pop("a_paper_with_claims", None)
    code, out, _ = command(f"claims mine --on-paper --config-dir {own}")
    assert code == 0 and "contradicted: test accuracy %, geem 80.00, rand 81.00" in " ".join(out.split())
    level = row(test="alike", margin=1, sides=["rand", "paper"])
    (own / "claims.yaml").write_text(level)
    assert command(f"claims mine --on-paper --config-dir {own}")[0] == 0
    (own / "printed.csv").write_text("\n".join(lines))
    for line in ("claims mine --on-paper", "claims mine"):
        code, out, err = command(f"{line} --config-dir {own}")
        assert code == 2 and not out and "mine/digits has no figure of the paper beside 'rand" in " ".join(err.split())


@pytest.mark.parametrize("change, sentence", [
    ({"item": "mine/digit"}, "did you mean 'mine/digits'"),
    ({"sides": ["geem", "rend"]}, "no row 'rend'; did you mean 'rand'"),
    ({"at": [["mnist"]]}, "no label of a column 'mnist'"), ({"setting": "tuned"}, "no setting 'tuned'"),
    ({"metric": "test_acuracy_pct"}, "did you mean 'test_accuracy_pct'"), ({"test": "ordr"}, "did you mean 'order'"),
    ({"test": "lines", "column": "x", "is": ["<", 1]}, "has trials and cannot be held to the test 'lines'"),
])  # fmt: skip
def test_a_name_that_nobody_has_is_one_sentence_before_anything_is_read(command, own, change, sentence):
    (own / "claims.yaml").write_text(row(**change))
    code, out, err = command(f"claims mine --config-dir {own}")
    assert code == 2 and not out and sentence in " ".join(err.split()) and "Traceback" not in err


def test_the_example_of_a_strangers_paper_has_claims_that_are_understood(command, workplace):
    code, out, _ = command(f"claims online_bbm --config-dir {BBM}")
    assert code == 0 and out.count("boostrun reproduce online_bbm/streams") == 2


@pytest.mark.skipif(not (ROOT / "results").is_dir(), reason="this copy comes without published records")
def test_records_of_other_code_in_one_comparison_are_refused(command, workplace):
    folder = workplace / "results" / "reservoir" / "lattice"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "results" / "equivalent.json", workplace / "results")
    records = copies(of_item("reservoir/lattice"))
    from boostrun.store import pack
    from boostrun.store.cell import trial_key

    for record in records:
        if record["cell"]["algo"]["name"] == "geem":
            record["inputs"]["source"] = "0" * 64
            record["key"] = trial_key(record["cell"], record["seed"], record["inputs"])
    pack(records, folder / "records.parquet")
    told = " ".join(command("claims reservoir")[1].split())
    assert "records of different code: geem digits raw" in told
