"""Cases of :mod:`fuzz` with records, whose bytes or values are changed, and with unusual command lines.

Each case copies intact records into ``folder``, damages some of them, and returns the command that reads them.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from boostrun.store import unpack

ITEM = "reservoir/table3"
OF_ITEM = ["dataset=digits", "algo=rand,wsam", "r=20", "T=2", "trials=2", "n_jobs=1"]
"""The published item whose records are damaged, and the overrides that select its trials."""

_VALUES: list[Any] = [
    None, True, -1, 0, 0.5, 1e308, -1e308, 10**400, float("nan"), float("inf"), -float("inf"), "", "x", "\ud800",
    "x" * 100_000, "\u2028", "\0", [], [1], [[1], [2]], ["a"], [None], {}, {"a": 1}, {"": {}}, {"name": []},
    {"py/reduce": ["os.system", "touch canary"]}, {"_target_": "os.system"},
]  # fmt: skip
_CURVES = {
    "family_steps": {"hog": [1, 2]}, "path": {"columns": [1, 2], "test_error_pct": [3.0, 2.0]}, "changes": [1],
    "stream": {"concepts": ["a", "b"], "bayes_accuracy_pct": 90.0}, "misclassified": [[0, 1, 2]], "weights": [[0.5]],
    "selected": [3],
}  # fmt: skip


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The bytes cut, flipped, padded, emptied, partly overwritten or repeated."""
    kind = rng.randrange(7)
    if kind == 0:
        return content[: rng.randrange(len(content) + 1)]
    if kind == 1:
        flipped = bytearray(content)
        for _ in range(rng.choice([1, 2, 20])):
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        return bytes(flipped)
    if kind == 2:
        return content + rng.randbytes(rng.choice([1, 7, 5000]))
    if kind == 3:
        return rng.choice([b"", b"\0" * len(content), rng.randbytes(200), b"\xff\xfe" + content])
    if kind == 4:
        start = rng.randrange(len(content))
        return content[:start] + rng.randbytes(min(64, len(content) - start)) + content[start + 64 :]
    if kind == 5:
        return content + content
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.randrange(1, 100) :]


def _nested(rng: random.Random) -> Any:
    value: Any = 1
    for _ in range(rng.choice([5, 20, 300])):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def odd(record: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A record with up to three values changed, removed, repeated under another name, or moved."""
    made = copy.deepcopy(record)
    if rng.random() < 0.5:
        name = rng.choice(sorted(_CURVES))
        made["curve"][name] = copy.deepcopy(_CURVES[name])
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        place: Any = made
        while isinstance(place, dict | list) and place:
            key = rng.choice(sorted(place)) if isinstance(place, dict) else rng.randrange(len(place))
            inner = place[key]
            if not (isinstance(inner, dict | list) and inner) or rng.random() < 0.25:
                kind = rng.randrange(8)
                if kind == 0 and isinstance(place, dict):
                    del place[key]
                elif kind == 1 and isinstance(place, dict):
                    place[rng.choice(["more", "", "\ud800", "name"])] = inner
                elif kind == 2:
                    place[key] = _nested(rng)
                elif kind == 3:
                    place[key] = copy.deepcopy(rng.choice(list(record.values())))
                else:
                    place[key] = copy.deepcopy(rng.choice(_VALUES))
                break
            place = inner
    return made


def odd_line(record: dict[str, Any], rng: random.Random) -> bytes:
    """A line of JSON with the record, a damaged copy of it, or something else."""
    line = json.dumps(record).encode()
    kind = rng.randrange(9)
    if kind == 0:
        return damaged(line, rng)
    if kind == 1:
        return rng.choice([b"[" * 100_000, b'{"a":' * 100_000, b"7" * 5000, b"", b"null", b"\xef\xbb\xbf" + line, b" "])
    if kind == 2:  # a number that is valid JSON, but that Python does not write
        return line.replace(b'"metrics": {', b'"metrics": {"x": ' + rng.choice([b"1e999", b"-0", b"7" * 5000]) + b", ")
    if kind == 3:  # the same key twice
        return b'{"seed": 3, "metrics": {}, ' + line[1:]
    return json.dumps(odd(record, rng), ensure_ascii=rng.random() < 0.8).encode("utf-8", "surrogatepass")


def reading(rng: random.Random, key: str, files: list[Path]) -> list[str]:
    """A command that reads the stored records."""
    file, one = str(rng.choice(files)), [word.replace("rand,", "") for word in OF_ITEM]
    return rng.choice([
        ["table", ITEM, *OF_ITEM], ["table", ITEM, "--strict", *OF_ITEM], ["report", ITEM, *OF_ITEM],
        ["plan", ITEM, *OF_ITEM], ["plan", *OF_ITEM[:1], *OF_ITEM[2:]], ["reproduce", ITEM, *OF_ITEM],
        ["diff", key, ITEM, *one], ["diff", file, ITEM, *one], ["diff", file, file], ["ls", "paper"],
        ["-m", *OF_ITEM],
    ])  # fmt: skip


def records(given: Path, folder: Path, rng: random.Random) -> list[str]:
    """The store of a finished item with one to three damaged records."""
    shutil.copytree(given / "item" / "store", folder / "store")
    if rng.random() < 0.3:
        shutil.copytree(given / "item" / "results", folder / "results")
    files = sorted((folder / "store").glob("??/*.json"))
    for path in rng.sample(files, rng.choice([1, 1, 3])):
        path.write_bytes(odd_line(json.loads(path.read_bytes()), rng))
    return reading(rng, files[0].stem[:12], files)


def packed(given: Path, folder: Path, rng: random.Random) -> list[str]:
    """The packed records of an item, with damaged lines or a damaged file."""
    shutil.copytree(given / "item" / "results", folder / "results")
    path = folder / "results" / ITEM / "records.parquet"
    found = [copy.deepcopy(record) for record in unpack(path)]
    key = found[0]["key"][:12]
    kind = rng.randrange(6)
    if kind > 2:  # the format of earlier versions
        path.unlink()
        path = path.with_name("records.jsonl.gz")
    lines = [json.dumps(record).encode() for record in found]
    if kind < 3:
        path.write_bytes(damaged(path.read_bytes(), rng))
    elif kind == 3:
        for number in rng.sample(range(len(lines)), rng.choice([1, 1, 3])):
            lines[number] = odd_line(json.loads(lines[number]), rng)
        if rng.random() < 0.3:
            lines += rng.sample(lines, 2)  # doubled
        path.write_bytes(gzip.compress(b"\n".join(lines)))
    elif kind == 4:
        path.write_bytes(damaged(gzip.compress(b"\n".join(lines)), rng))
    else:
        whole = b"\n".join(lines)
        path.write_bytes(gzip.compress(damaged(whole, rng)) + rng.choice([b"", gzip.compress(whole), b"\0" * 9]))
    return reading(rng, key, [path, path.parent])


_WORDS: list[Callable[[random.Random], str]] = [
    lambda rng: rng.choice(["~r", "~algo", "~", "~r=1", "~algo.shrinkage", "r", "=", "=1", "r=", "", "-", "@x=1"]),
    lambda rng: "r=" + rng.choice(["interval(1,2)", "glob(*)", "choice(1,2)", "sort(2,1)", "shuffle(1,2)", "tag(a,1)"]),
    lambda rng: f"{rng.choice(['r', 'T', 'seed', 'trials', 'n_jobs', 'run.memory_mb'])}={'9' * rng.choice([20, 5000])}",
    lambda rng: f"{rng.choice(['r', 'T', 'seed', 'trials'])}={rng.choice(['1e9', '1e30', '1e300', '1e400', '-1e9'])}",
    lambda rng: f"r=range({rng.choice(['1', '0', '-5', '0.5'])},{rng.choice(['1000000000', '1e18', '9', '1e308'])}"
    f"{rng.choice(['', ',0', ',1e-9', ',-1'])})",
    lambda rng: f"r={rng.choice('[{(')}" * rng.choice([1, 19, 3000]) + "1",
    lambda rng: "r=" + "[" * (n := rng.choice([5, 40, 3000])) + "]" * n,
    lambda rng: "r=" + "{a:" * (n := rng.choice([5, 40, 800])) + "1" + "}" * n,
    lambda rng: f"{rng.choice(['algo', 'dataset', 'run', 'r'])}=" + rng.choice("aä💥") * rng.choice([1, 99_999]),
    lambda rng: f"{rng.choice(['+', '++', '+++', '@', '~'])}{rng.choice(['r', 'algo', 'algo.new', 'key'])}=1",
    lambda rng: rng.choice(["algo@dataset=rand", "+algo@x=rand", "algo@_global_=rand", "hydra.verbose=true", "é=1"]),
    lambda rng: rng.choice(["hydra/launcher=basic", "hydra.run.dir=/", "+hydra.sweeper.x=1", "algo.name=geem"]),
    lambda rng: rng.choice(["r=${T}", "r=${r}", "r=${oc.env:NO}", "r=${oc.env:HOME}", "r=${", "store=\udcff"]),
    lambda rng: rng.choice(["algo=[rand,geem]", "algo={a:1}", "algo=null", "dataset=null", "algo=rand,,geem", "r=1,"]),
    lambda rng: rng.choice(["dataset=csv", "dataset=npz dataset.path=x", "dataset.path=x", "features=hog", "r=5,6"]),
    lambda rng: f"{rng.choice('rqT')}={','.join(map(str, range(1, rng.choice([3, 400, 3000]))))}",
    lambda rng: rng.choice(["--cfg", "-m", "--quick", "--strict", "--help", "--config-dir", "-o", "--nothing", "--to"]),
    lambda rng: rng.choice(["--config-dir=", "--config-dir=/nope", "--config-dir=" + "x" * 5000, "--to=c", "-o=x"]),
    lambda rng: rng.choice(["r='", 'r="', "r='a", "r='1'", "r=\\", "r=\\,", "r=a b", "r=\t1", "r=1 # no", "r=1;2"]),
    lambda rng: rng.choice(["holdout=1e-320", "algo.shrinkage=1e-320", "train_samples=1e300", "seed=-0", "r=0x10"]),
]  # fmt: skip
_VERBS = [
    ["plan"], ["plan", "-m"], ["--cfg"], ["--cfg", "-m"], ["run", "-m", "--cfg"], ["table", ITEM], ["report", ITEM],
    ["plan", ITEM], ["data", "digits"], ["diff", "a", "b"], ["ls"], ["check", "nothing:X"], ["tune", "seed=-1"],
    ["reproduce", ITEM, "seed=-1"], ["export", "seed=-1"], ["-m", "n_jobs=0"], ["n_jobs=0"], ["table"], ["nothing"],
]  # fmt: skip


def lines(_given: Path, _folder: Path, rng: random.Random) -> list[str]:
    """A command line with up to four unusual words; none of them starts a training."""
    verb = rng.choice(_VERBS)
    narrowed = ["dataset=digits", "algo=rand"] if ITEM in verb and rng.random() < 0.8 else []
    return [*verb, *narrowed, *(rng.choice(_WORDS)(rng) for _ in range(rng.choice([1, 1, 2, 4])))]
