"""Whatever lies among the stored records, every command that reads them answers, and names what it set aside."""

import gzip
import json
import random
import shlex
from pathlib import Path

import pytest

from boostrun.cli import run
from boostrun.config.words import single_values

ITEM = "reservoir/table3"
OF_ITEM = "dataset=digits algo=rand r=20 T=2 trials=2 n_jobs=1"
COMMANDS = [
    f"table {ITEM}", f"report {ITEM}", f"plan {ITEM}", f"reproduce {ITEM}", "plan", f"diff KEY {ITEM}", "ls paper",
]  # fmt: skip


def put(place: str, value: object):
    """A function that sets the value at a place of a record, written with dots."""

    def odd(record: dict) -> bytes:
        inner, (*parents, last) = record, place.split(".")
        for name in parents:
            inner = inner[name]
        inner[last] = value
        return json.dumps(record).encode()

    return odd


ODD = {
    "no JSON": lambda record: b"{", "nested 100,000 deep": lambda record: b"[" * 100_000,
    "a number of 5,000 digits": lambda record: put("seed", 7)(record).replace(b'"seed": 7', b'"seed": ' + b"7" * 5000),
    "a list": lambda record: json.dumps([record]).encode(), "a key that is a list": put("key", ["a"]),
    "no cell": put("cell", {}), "an algorithm that is a text": put("cell.algo", "x"),
    "cost as a list": put("cost", [1]), "a cost that is a text": put("cost.seconds", "x"),
    "a budget of lists": put("cell.budget", {"r": [1]}), "a command that is a number": put("provenance.command", 7),
    "checkpoints of lists": put("curve", {"T": [[1]], "x": [1]}),
    "families without checkpoints": put("curve", {"family_steps": {"a": [1]}}),
}  # fmt: skip


@pytest.fixture
def done(command):
    """The files of an item's records, single and packed."""
    assert command(f"reproduce {ITEM} {OF_ITEM}")[0] == 0
    return sorted(Path("results/runs").glob("??/*.json")), Path("results") / ITEM / "records.parquet"


def answers(command, line, key):
    words = line.replace("KEY", key)
    code, _, err = command(words if line == "ls paper" else f"{words} {OF_ITEM}")
    assert code in (0, 1) and "Traceback" not in err, (line, err)
    return [said for said in err.splitlines() if said.startswith("set aside: ")]


@pytest.mark.slow
def test_a_single_record_that_does_not_fit_disables_no_command_and_is_named_once(command, done):
    files, packed = done
    key, victim = files[0].stem, files[1]
    whole = victim.read_bytes()
    readers = [line for line in COMMANDS if line != "ls paper"]
    for number, (what, odd) in enumerate(ODD.items()):
        packed.unlink(missing_ok=True)  # packed records of `reproduce` come before single ones
        victim.write_bytes(odd(json.loads(whole)))
        line = readers[number % len(readers)]
        (said,) = answers(command, line, key)
        assert said.startswith("set aside: 1 record") and str(victim.name) in said, (what, line, said)
    assert not answers(command, "ls paper", key)
    assert victim.with_name(f"{victim.name}.corrupt").exists()


@pytest.mark.slow
def test_packed_records_that_do_not_fit_disable_no_command_and_are_named(command, done):
    files, packed = done
    old, whole = packed.with_name("records.jsonl.gz"), packed.read_bytes()
    lines = [path.read_bytes().strip() for path in files]
    for path in [*files, packed]:
        path.unlink()
    for what, odd in list(ODD.items())[::3]:
        old.write_bytes(gzip.compress(b"\n".join([odd(json.loads(lines[0])), *lines[1:]])))
        (said,) = answers(command, COMMANDS[len(what) % 3], "")
        assert said.startswith("set aside: 1 record") and f"{old.name} line 1 " in said
    old.unlink()
    packed.write_bytes(whole[:-20])
    for line in COMMANDS[1:3]:
        (said,) = answers(command, line, "")
        assert "(cut or corrupt)" in said
    damaged = packed.read_bytes()
    answers(command, COMMANDS[3], "")
    assert packed.with_name(f"{packed.name}.corrupt").read_bytes() == damaged
    assert not answers(command, COMMANDS[0], "")


def test_a_metric_that_is_no_number_is_a_failed_trial_and_runs_again(command, done):
    files, packed = done
    packed.unlink()
    record = json.loads(files[0].read_bytes())
    record["metrics"]["test_accuracy_pct"] = float("nan")
    files[0].write_text(json.dumps(record))
    code, out, err = command(f"plan {ITEM} {OF_ITEM}")
    assert code == 0 and "1 failed before" in out and "1 to run" in out and not err
    assert command(f"table {ITEM} {OF_ITEM} --strict")[0] == 1
    assert command(f"reproduce {ITEM} {OF_ITEM}")[0] == 0
    assert json.loads(files[0].read_bytes())["status"] == "done"


@pytest.mark.slow
def test_names_that_no_encoding_has_are_shown_and_packed(command, done):
    files, _ = done
    for path in files:
        record = json.loads(path.read_bytes())
        record["provenance"]["command"] = ["boostrun", "\udcff\u2028"]
        path.write_text(json.dumps(record))
    for line in (COMMANDS[1], COMMANDS[3], COMMANDS[5]):
        assert not answers(command, line, files[0].stem)


def test_a_cell_is_typed_so_that_the_shell_and_the_command_take_it_back():
    rng = random.Random(0)
    parts = [*"a'\"\\,[}= 7é~#*`;", "${", "$(x)", "null", "1e5"]
    for _ in range(200):
        text = "".join(rng.choice(parts) for _ in range(rng.randrange(1, 6)))
        config = {
            "algo": {"name": "wsam", "loss": None, "balanced": True, "shrinkage": 0.5},
            "dataset": {"name": "csv", "path": text, "holdout": 0.25},
            "features": {"name": "raw", "kinds": [text, "b"]},
            "budget": {"r": 20},
        }
        typed = {key: plain(value) for key, value in single_values(shlex.split(run.cell_words(config))).items()}
        assert typed == {
            "algo": "wsam", "algo.loss": None, "algo.balanced": True, "algo.shrinkage": 0.5, "holdout": 0.25,
            "dataset": "csv", "dataset.path": text, "features": "raw", "features.kinds": [text, "b"], "r": 20,
        }  # fmt: skip


def plain(value):
    """A parsed value as a config holds it, with escapes of interpolations resolved."""
    from omegaconf import OmegaConf

    value = [getattr(one, "text", one) for one in value] if isinstance(value, list) else getattr(value, "text", value)
    return OmegaConf.to_container(OmegaConf.create({"value": value}), resolve=True)["value"]
