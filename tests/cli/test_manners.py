"""Help, and where words may stand."""

import re
import shlex
import time

import pytest

from boostrun.cli.arguments import VERBS, parse
from boostrun.cli.help import PAGES, page
from boostrun.cli.reproduce import names
from boostrun.config import catalogue
from boostrun.runner.plan import compose_all
from boostrun.store import Store

VALUED = ("--to", "--target", "--output", "--config-dir", "--name", "--within")
SMALL = "dataset=digits r=12 T=3 trials=2 n_jobs=1"


def test_the_bare_command_says_what_it_can_do_and_help_of_no_verb_the_nearest(command, workplace):
    code, out, err = command("")
    assert (code, err) == (0, "") and all(f"  {verb} " in out for verb in VERBS)
    assert command("--help")[1] == out == command("help")[1] and not list(workplace.iterdir())
    assert set(PAGES) == set(VERBS) and page("run") != page("plan")
    code, out, err = command("help plam")
    assert (code, out) == (2, "") and "no verb 'plam'; did you mean 'plan'?" in err


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_page_with_examples_that_are_understood(command, verb):
    code, out, err = command(f"help {verb}")
    assert (code, err) == (0, "") and command(f"{verb} --help") == (code, out, err) == command(f"--help {verb}")
    assert out.startswith("usage: boostrun ") and "examples:" in out and max(map(len, out.splitlines())) <= 130
    for line in out.partition("examples:\n")[2].splitlines():
        if line.startswith("  boostrun "):
            words = parse(shlex.split(line.partition("boostrun ")[2].partition("   ")[0]))
            items = [name for name in words.names if re.match(r"(?!results/)\w+/\w+", name)]
            assert words.verb in VERBS and set(items) <= {*catalogue.options("paper"), *names()}, line
            if words.overrides and not items and words.verb in ("run", "plan", "tune", "export"):
                plain = [word for word in words.overrides if not word.startswith(("tune.", "table."))]
                compose_all([word for word in plain if "=interval(" not in word])
    for word in out.partition("options:\n")[2].partition("\n\n")[0].split():
        if word.startswith("--"):
            parse([
                verb, word.rstrip(","),
                *(["x"] if word.rstrip(",") in VALUED else []),
            ])  # fmt: skip


def test_options_stand_before_or_after_the_verb(command, workplace):
    (workplace / "mine").mkdir()
    lines = command("ls algo --config-dir mine")[1], command("--config-dir mine ls algo")[1]
    assert lines[0] == lines[1] and "majority" in lines[0]
    before, after = parse(shlex.split("--config-dir mine reproduce a/b --quick")), parse(shlex.split(
        "reproduce a/b --quick --config-dir mine"))  # fmt: skip
    assert {**vars(before), "argv": 0} == {**vars(after), "argv": 0} and before.names == ["a/b"]
    assert parse(["-m", "plan", "r=1,2"]).verb == "plan" and parse(["-o", "x.c", "export", "m.npz"]).output == "x.c"


def test_a_command_of_one_trial_starts_no_process_and_gives_what_a_worker_gives(command, workplace, monkeypatch):
    line = "algo=wsam dataset=digits r=12 T=3 run.pictures=false n_jobs=2"
    assert command(f"{line} trials=2 store=workers")[0] == 0
    monkeypatch.setattr("boostrun.runner.pool.one_worker", None)
    monkeypatch.setattr("boostrun.runner.pool.parallel", None)
    assert command(f"{line} trials=1 store=here")[0] == 0
    workers, here = ({record["seed"]: record["metrics"] for record in Store(workplace / name).records()}
                     for name in ("workers", "here"))  # fmt: skip
    assert len(workers) == 2 and here == {0: workers[0]}


def test_runs_are_listed_newest_first_with_what_tells_them_apart(command):
    assert command("ls runs") == (0, "nothing is stored in results/runs yet\n", "")
    command(f"-m algo=rand {SMALL} algo.shrinkage=0.1,0.5")
    time.sleep(1.1)  # times of records are in seconds
    command(f"algo=geem {SMALL}")
    code, out, err = command("ls runs")
    first, *others = out.splitlines()
    assert (code, err) == (0, "") and first.endswith("geem · digits · raw · r=12 q=12 T=3") and "n=2" in first
    assert {line.rpartition(" · ")[2] for line in others} == {"algo.shrinkage=0.1", "algo.shrinkage=0.5"}
    a, b = first.split()[0], others[0].split()[0]
    assert command(f"diff {a} {b}")[0] == 0
    assert "nothing is stored in elsewhere yet" in command("ls runs store=elsewhere")[1]
    assert "runs:" not in command("ls")[1]
