"""Fuzz the command: thousands of broken command lines, data files, records and models; each must end in a sentence.

    python scripts/fuzz.py --cases 5000 --seed 0

A case damages something that works:

- the settings of a small run, or another command line
- npz, csv, parquet, UCI, stream, idx and image files, whose bytes or values are changed
- csv files of a few kB that unpack to many MiB
- single and packed records
- saved models of every kind, which are then exported as C, or loaded and used for predictions
- the files of a finished or unfinished feature bank, checkpoints of a killed run, numba's compiled kernels
- a user's own YAML file

The command runs in a forked process in which everything is already imported. It must end within a minute of processor
time and 2 GiB, with exit code 0, or with 1 or 2 and one sentence. It must print no traceback, leave no half-written
file, and run no code from its input; pickles, YAML tags and ``_target_`` keys try that.

The script prints counts and shows each wrong case. The exit code is 0 if no case was wrong, else 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import fuzz_files
import fuzz_records
import numpy as np
from fuzz_records import damaged

from boostrun.cli import main as boostrun

MOST_MEMORY = 2 << 30  # bytes that a command may take
LONGEST = 60  # seconds of processor time that it may take; ten times that of wall-clock time
RUN = ["algo=wsam", "r=20", "T=2", "trials=1", "n_jobs=1"]
CANARY = "canary"  # a file that appears if input was run as code
LIMITED = ("trials", "seed")  # keys whose large values are allowed, and take long
NASTY = [
    "", "null", "true", "-1", "0", "1.5", "nan", "inf", "-inf", "1e309", "1e-400", "abc",
    "[]", "[1,2]", "{}", "{a: 1}", "'", '"',
    "${oc.env:HOME}", "${algo.name}", "${nothing}", "???", "ä", "\u202e", "a b",
    "../../etc/passwd", "/", "/dev/null", "0x10",
    "1_000", "{_target_: os.system, command: touch canary}", "$(touch canary)", "`touch canary`",
    "a" * 5000, "[[[[", "1,2",
]  # fmt: skip
TARGET = ["+algo._target_=os.system", "+algo.command=touch canary"]


class Bomb:
    """Touches the canary in the process that unpickles it."""

    def __reduce__(self):
        return os.system, (f"touch {CANARY}",)


# -- what is damaged ---------------------------------------------------------------------------------------------------


def damage(path: Path, rng: random.Random) -> None:
    path.write_bytes(damaged(path.read_bytes(), rng))


def settings(folder: Path, rng: random.Random) -> list[str]:
    """A run on digits with up to three unusual words."""
    words = [*RUN, "dataset=digits"]
    if rng.random() < 0.5:
        words[0] = f"algo={rng.choice(GROUPS['algo'])}"
    for _ in range(rng.randrange(1, 4)):
        key = rng.choice(KEYS)
        value = rng.choice(NASTY)
        form = rng.randrange(10)
        if form == 0:
            words += rng.choice([TARGET, ["~algo"], ["+x=1"], ["algo@x=rand"], ["hydra.run.dir=out"], ["="], ["a="]])
        elif form == 1:
            words.append(f"{rng.choice(['+', '++', '~', '@', ''])}{key}={value}")
        elif form == 2:
            words.append(f"{key[:-1]}={value}")
        elif form == 3:
            words.append(value)
        elif form == 4:
            words = [rng.choice(["table", "plan", "diff", "ls", "data", "doctor", "export", "tune"]), *words[5:], value]
        else:
            words.append(f"{key}={value}")
    return words


def arrays(rng: random.Random) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(rng.randrange(1 << 30))
    x = draw.normal(size=(120, 5))
    return {"x": x, "y": (x[:, 0] > 0).astype(np.int64)}


def meaning(parts: dict[str, np.ndarray], rng: random.Random) -> dict[str, np.ndarray]:
    """Valid arrays whose content makes no sense."""
    x, y = parts["x"].copy(), parts["y"].copy()
    kind = rng.randrange(16)
    if kind < 3:
        x[rng.randrange(len(x)), 0] = [np.nan, np.inf, 1e308][kind]
    if rng.random() < 0.3:
        x[np.random.default_rng(rng.randrange(1 << 30)).random(x.shape) < rng.choice([0.01, 0.5, 1.0])] = np.nan
    changed = [
        {"x": x, "y": y}, {"x": x, "y": y}, {"x": x, "y": y}, {"x": x[:7], "y": y}, {"x": x}, {"y": y}, {},
        {"x": x[:0], "y": y[:0]},
        {"x": x, "y": np.zeros_like(y)}, {"x": x[:, 0], "y": y}, {"x": x[:, :, None, None, None], "y": y},
        {"x": x.astype(str), "y": y}, {"x": x, "y": y + 0.5}, {"x": np.array([Bomb()] * len(y), object), "y": y},
        {"x": x, "y": np.array([Bomb()] * len(y), object)}, {"x": x.astype(complex), "y": y},
    ]  # fmt: skip
    return changed[kind]


def npz(folder: Path, rng: random.Random) -> list[str]:
    path = folder / "mine.npz"
    parts = arrays(rng)
    if rng.random() < 0.5:
        np.savez(path, **meaning(parts, rng), allow_pickle=True)
    else:
        np.savez(path, **parts)
        damage(path, rng)
    return [*RUN, "dataset=npz", f"dataset.path={path}", *gaps(rng)]


def gaps(rng: random.Random) -> list[str]:
    """Settings that decide how missing values are treated."""
    odd = f"dataset.missing={rng.choice(NASTY)}"
    return rng.choice([[], [], ["dataset.missing=error"], [odd], ["features.bins=2"]])


def csv(folder: Path, rng: random.Random) -> list[str]:
    path = folder / "mine.csv"
    parts = arrays(rng)
    lines = ["a,b,c,d,e,kind"] + [",".join(map(repr, map(float, x))) + f",{y}" for x, y in zip(parts["x"], parts["y"])]
    for few in rng.choice([[], [True], [True] * 3, [False] * 40]):
        at = rng.randrange(len(lines))
        lines[at] = rng.choice(
            [lines[at] + ",1", "", ",,,,,", "x,y", lines[at].replace(".", ","), '"', "nan,1,1,1,1,0"]
            if few
            else ["nan,1,1,1,1,0", ",,,,,1", "1,2,,3,,0", "0.1,NA,1,null,2.5,1", f",{lines[at].partition(',')[2]}"]
        )  # fmt: skip
    path.write_text("\n".join(lines), encoding="utf-8")
    if rng.random() < 0.6:
        damage(path, rng)
    label = rng.choice(["kind", "kind", "a", "nothing", "7", ""])
    return [*RUN, "dataset=csv", f"dataset.path={path}", f"dataset.label={label}", *gaps(rng)]


def parquet(folder: Path, rng: random.Random) -> list[str]:
    """A Parquet file, damaged or with unusual columns, read whole, a few columns at a time, or as a stream."""
    import pandas

    path = folder / "mine.parquet"
    parts = arrays(rng)
    frame = pandas.DataFrame(parts["x"], columns=list("abcde")).assign(kind=parts["y"])
    odd = rng.choice([None, "text", "flags", "groups", "lists", "wide"])
    if odd == "wide":
        more = np.zeros((len(frame), 900), np.float32)
        frame = pandas.concat([pandas.DataFrame(more, columns=[f"w{i}" for i in range(900)]), frame], axis=1)
    elif odd:
        values = {
            "text": ["u", "v"],
            "flags": [True, None],
            "groups": pandas.Categorical(["x", "y"]),
            "lists": [[1], []],
        }
        frame.insert(2, "a.b", list(values[odd]) * (len(frame) // 2))
    frame.to_parquet(path, row_group_size=rng.choice([7, 50, 1000]))
    shutil.copy(path, test := folder / "test.parquet")
    if odd is None or rng.random() < 0.5:
        damage(path, rng)
    if rng.random() < 0.4:
        return [*RUN, "dataset=stream", f"dataset.path={path}", f"dataset.test_path={test}", "run.memory_limit=16"]
    return [*RUN, "dataset=parquet", f"dataset.path={path}", f"run.memory_mb={rng.choice([2, 8, 1024])}"]


def uci(folder: Path, rng: random.Random) -> list[str]:
    name, files, width, gap = rng.choice([
        ("pendigits", ("pendigits.tra", "pendigits.tes"), 16, ","), ("statlog", ("sat.trn", "sat.tst"), 36, " "),
        ("isolet", ("isolet1+2+3+4.data", "isolet5.data"), 617, ","),
    ])  # fmt: skip
    place = folder / "uci"
    place.mkdir()
    for file in files:
        rows = [[rng.randrange(100) for _ in range(width)] + [rng.randrange(1, 4)] for _ in range(40)]
        (place / file).write_text("\n".join(gap.join(map(str, row)) for row in rows), encoding="ascii")
    if rng.random() < 0.9:
        damage(place / rng.choice(files), rng)
    return [*RUN, f"dataset={name}", f"data_root={folder}"]


def streams(folder: Path, rng: random.Random) -> list[str]:
    name = rng.choice(["electricity", "santafe"])
    if name == "santafe":
        path = folder / "santafe" / "A.dat"
        text = "\n".join(str(rng.randrange(256)) for _ in range(10_093))
    else:
        path = folder / "streams" / "electricity_openml.csv"
        head = "date,day,period,nswprice,nswdemand,vicprice,vicdemand,transfer,class"
        rows = [",".join(f"{rng.random():.4f}" for _ in range(8)) + rng.choice([",UP", ",DOWN"]) for _ in range(300)]
        text = "\n".join([head, *rows])
    path.parent.mkdir()
    path.write_text(text, encoding="ascii")
    damage(path, rng)
    return ["algo=iboost_stochastic", f"dataset={name}", "n=50", "M=5", *RUN[3:], f"data_root={folder}"]


def idx(folder: Path, rng: random.Random) -> list[str]:
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for part in ("train", "t10k"):
        images, labels = np.random.default_rng(0).integers(0, 256, (60, 28, 28), np.uint8), np.arange(60) % 10
        (raw / f"{part}-images-idx3-ubyte").write_bytes(struct.pack(">4i", 2051, 60, 28, 28) + images.tobytes())
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(
            struct.pack(">2i", 2049, 60) + labels.astype(np.uint8).tobytes()
        )
    damage(rng.choice(sorted(raw.iterdir())), rng)
    return [*RUN, "dataset=mnist", f"data_root={folder}"]


def picture(size: tuple[int, int], rng: random.Random) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    pixels = np.random.default_rng(rng.randrange(1 << 30)).integers(0, 256, (*size, 3), np.uint8)
    Image.fromarray(pixels).save(out, "png")
    return out.getvalue()


def images(folder: Path, rng: random.Random) -> list[str]:
    inria = rng.random() < 0.4
    root = folder / ("INRIAPerson" if inria else "photos")
    names = [f"{part}_64x128_H96/{kind}" for part in ("train", "test") for kind in ("pos", "neg")] if inria else "ab"
    for name in names:
        (root / name).mkdir(parents=True)
        for number in range(2 if inria else 6):
            (root / name / f"{number}.png").write_bytes(picture((130, 66) if inria else (9, 9), rng))
    files = sorted(root.rglob("*.png"))
    for path in rng.sample(files, rng.choice([1, 1, 3])):
        kind = rng.randrange(4)
        if kind == 0:
            path.unlink()
        elif kind == 1:
            path.write_bytes(picture((2, 2), rng))
        else:
            damage(path, rng)
    if inria:
        return [*RUN, "dataset=inria", "dataset.windows_per_image=1", f"data_root={folder}"]
    return [*RUN, "dataset=image_folder", f"dataset.path={root}", "dataset.size=8"]


def models(folder: Path, rng: random.Random) -> list[str]:
    """A saved model with damaged bytes, or with one or two arrays of a wrong type, shape, range, order or size."""
    path = folder / "model.npz"
    shutil.copy(GIVEN / rng.choice(sorted(MODELS)), path)
    if rng.random() < 0.3:
        damage(path, rng)
    else:
        with np.load(path) as found:
            parts = {name: found[name] for name in found.files}
        for name in rng.sample(sorted(parts), rng.choice([1, 1, 2])):
            parts[name] = odd_array(parts[name], rng)
        if rng.random() < 0.1:
            del parts[rng.choice(sorted(parts))]
        np.savez(path, **parts)
        if rng.random() < 0.2:
            claim(path, rng)
    return ["export", str(path), "--to", "c", "-o", str(folder / "out.c")]


def odd_array(value: np.ndarray, rng: random.Random) -> np.ndarray:
    """The array with another value, shape, order or dtype."""
    changed = value.copy()
    if value.size and value.dtype.kind in "iuf":
        numbers = [0, 1, -1, -5, 5, 64, 100] + ([10**9] if value.dtype.itemsize > 2 else [])
        odd = rng.choice([*numbers, np.nan, np.inf, -np.inf, 1e308] if value.dtype.kind == "f" else numbers)
        changed.reshape(-1)[rng.randrange(value.size)] = np.uint8(odd % 256) if value.dtype == np.uint8 else odd
    flat = value.reshape(-1)
    return rng.choice([
        changed, changed, changed, changed, value[:0] if value.ndim else value, value[:-1] if value.ndim else value,
        np.concatenate([value, value]) if value.ndim else value, value.T, value[None], flat[::-1],
        value.astype(value.dtype.newbyteorder()), value.astype(str), value.astype(np.float32 if value.dtype.kind in
        "iufb" else value.dtype), np.zeros((3, 3)), np.array("x"), np.array([Bomb()], object), np.array(-1),
        np.array(1 << 40), np.array(np.nan), flat[0] if flat.size else value, np.zeros_like(value),
        value.astype(complex) if value.dtype.kind in "iufb" else value,
    ])  # fmt: skip


def claim(path: Path, rng: random.Random) -> None:
    """Add an array whose header claims more values than the file holds."""
    header = {"descr": "<f8", "fortran_order": False, "shape": rng.choice([(10**12,), (-1,), (1 << 40, 1 << 40), ()])}
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, header)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("huge.npy", file.getvalue() + bytes(rng.choice([0, 80, 1 << 27])))


def own_yaml(folder: Path, rng: random.Random) -> list[str]:
    """A user's own YAML file, damaged."""
    place = folder / "mine" / "algo"
    place.mkdir(parents=True)
    text = "name: wsam\nshrinkage: 0.1\n"
    odd = [
        "x: !!python/object/apply:os.system ['touch canary']\n", "_target_: os.system\ncommand: touch canary\n",
        "name: ???\n",
        "name: [wsam]\n", "- a\n", "name: wsam\nname: rand\n", "a: &a [*a]\n", "\t", "name: 'wsam", "shrinkage: yes\n",
        "name: nobody\n",
        "defaults: [nothing]\n", "class: os:system\n", "name: wsam\nclass: subprocess:run\n", "class: nothing.at:All\n",
        "class: 7\n",
    ]  # fmt: skip
    content = damaged(text.encode(), rng) if rng.random() < 0.4 else (rng.choice(["", text]) + rng.choice(odd)).encode()
    (place / "mine.yaml").write_bytes(content)
    return ["--config-dir", str(folder / "mine"), "algo=mine", "dataset=digits", *RUN[1:]]


SOURCES: dict[str, tuple[int, Callable[[Path, random.Random], list[str]]]] = {
    "settings": (8, settings), "npz": (3, npz), "csv": (3, csv), "parquet": (1, parquet), "uci": (2, uci),
    "streams": (1, streams),
    "idx": (1, idx), "images": (2, images), "models": (3, models),
    "yaml": (2, own_yaml),
    "records": (6, lambda folder, rng: fuzz_records.records(GIVEN, folder, rng)),
    "packed": (4, lambda folder, rng: fuzz_records.packed(GIVEN, folder, rng)),
    "lines": (6, lambda folder, rng: fuzz_records.lines(GIVEN, folder, rng)),
    "loaded": (6, lambda folder, rng: fuzz_files.loaded(GIVEN, folder, rng)),
    "bank": (2, lambda folder, rng: fuzz_files.bank(GIVEN, folder, rng)),
    "half": (2, lambda folder, rng: fuzz_files.half(GIVEN, folder, rng)),
    "rounds": (2, lambda folder, rng: fuzz_files.rounds(GIVEN, folder, rng)),
    "kernels": (1, lambda folder, rng: fuzz_files.kernels(GIVEN, folder, rng)),
    "bombs": (1, lambda folder, rng: fuzz_files.bomb(GIVEN, folder, rng)),
}  # fmt: skip
EVERY = 250  # cases between two lines of progress
GIVEN = Path()  # the folder with the undamaged store and models
MODELS = {
    "model.npz": [], "votes.npz": ["algo=laminating"], "linear.npz": ["algo=shareboost"],
    "shared.npz": ["algo=jointboost", "features=stumps"], "mixed.npz": ["algo=mixed_norm", "features=linear"],
    "greedy.npz": ["algo=ovr_greedy", "features=linear"],
}  # fmt: skip
COMMANDS = {"predict": fuzz_files.predict, "fresh": fuzz_files.fresh}  # in addition to those of boostrun
GROUPS: dict[str, list[str]] = {}
KEYS: list[str] = []


# -- running and judging -----------------------------------------------------------------------------------------------


def run(words: list[str], folder: Path) -> tuple[int | str, str]:
    """Run the command in a forked process; returns its exit code, or "hang", and its stderr."""
    said = folder / "stderr"
    child = os.fork()
    if child == 0:
        code = 99
        with contextlib.suppress(BaseException):
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
            os.chdir(folder)
            for number, path in ((1, folder / "stdout"), (2, said)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            try:
                code = COMMANDS.get(words[0], boostrun)(words)
            except BaseException:
                import traceback

                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    limit = time.monotonic() + 10 * LONGEST
    while True:
        found, status, used = os.wait4(child, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            if code in (-signal.SIGXCPU, -signal.SIGKILL):
                return "hang", ""
            if used.ru_maxrss > MOST_MEMORY / 1024:
                return f"{used.ru_maxrss >> 10} MiB", ""
            return code, said.read_text("utf-8", "replace") if said.exists() else ""
        if time.monotonic() > limit:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hang", ""
        time.sleep(0.005)


def fault(code: int | str, said: str, folder: Path, given: dict[Path, bytes]) -> str:
    """The rule that a case broke, empty if none. ``given`` are the records before the command, which may be damaged."""
    if code == "hang":
        return f"it did not end within {LONGEST} s"
    if isinstance(code, str):
        return f"the command took {code}"
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if "Traceback" in said:
        return "a traceback"
    if len(max(said.splitlines(), default="")) > 5000:
        return "a line of more than 5,000 characters"
    sentences = [line for line in said.splitlines() if line.startswith("boostrun: ")]
    if code == 2 and len(sentences) != 1:
        return f"{len(sentences)} sentences"
    if list(folder.rglob(CANARY)) or Path(CANARY).exists():
        return "input was run as code"
    left = [path.name for path in folder.rglob("*.tmp")]
    if left:
        return f"half-written: {left[0]}"
    for path in (folder / "store").glob("??/*.json"):
        content = path.read_bytes()
        try:
            if given.get(path) != content:
                json.loads(content)
        except ValueError:
            return "a damaged record"
    return ""


def prepare(folder: Path) -> None:
    """Make the files that cases damage, with the command itself; this also imports and compiles everything."""
    from boostrun.config import catalogue

    global GIVEN
    GIVEN = folder
    GROUPS.update({group: sorted(catalogue.summaries(group)) for group in ("algo", "dataset", "features")})
    KEYS.extend(key for key in keys() if key not in LIMITED)
    common = [f"store={folder / 'store'}", f"results={folder / 'results'}", f"cache_root={folder / 'cache'}"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert boostrun([*RUN, "dataset=digits", *common]) == 0
        own = [f"store={folder / 'item' / 'store'}", f"results={folder / 'item' / 'results'}", common[2]]
        assert boostrun(["reproduce", fuzz_records.ITEM, *fuzz_records.OF_ITEM, *own]) == 0
        for name, settings_of in MODELS.items():
            words = [*settings_of, "T=2"] if settings_of else RUN[:3]
            trained = ["export", *words, "dataset=digits", *common, "--to", "npz", "-o", str(folder / name)]
            assert boostrun(trained) == 0, name
        fuzz_files.make(folder, boostrun)


def keys() -> list[str]:
    """All keys of a few composed configurations, which together have most keys."""
    import yaml

    found: set[str] = set()
    for words in (["algo=wsam"], ["algo=laminating"], ["algo=shareboost"], ["dataset=npz", "dataset.path=x"]):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            assert boostrun(["--cfg", *words]) == 0
        for key, value in next(iter(yaml.safe_load_all(out.getvalue()))).items():
            found |= {f"{key}.{inner}" for inner in value} if isinstance(value, dict) else {key}
    return sorted(found)


def main(words: list[str] | None = None) -> int:
    """Run the cases; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5000, help="number of cases (default: 5000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first case; each has its own (default: 0)")
    parser.add_argument("--only", choices=SOURCES, help="run only cases of this kind")
    given = parser.parse_args(words)
    names = [given.only] if given.only else [name for name, (share, _) in SOURCES.items() for _ in range(share)]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    counts: Counter[str] = Counter()
    stopped = ""
    try:
        attack(names, range(given.seed, given.seed + given.cases), counts)
    except KeyboardInterrupt:
        stopped = "fuzz: interrupted"
    for what in sorted(counts):
        print(f"{counts[what]:6} {what}")
    print(stopped, end="\n" if stopped else "", file=sys.stderr)
    return 1 if counts["WRONG"] or stopped else 0


def attack(names: list[str], numbers: range, counts: Counter[str]) -> None:
    """Run the cases with these numbers, each of a kind drawn from ``names``; counts outcomes and prints wrong ones."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        top = Path(place)
        prepare(top / "given")
        for number in numbers:
            rng = random.Random(number)
            name = rng.choice(names)
            folder = top / "case"
            folder.mkdir()
            command = SOURCES[name][1](folder, rng)
            where = {"store": folder / "store", "results": folder / "results", "cache_root": folder / "cache"}
            if command[0] not in ("ls", "doctor", *COMMANDS) and name != "models":  # exporting a file takes no settings
                command += [f"{key}={path}" for key, path in where.items()]
            given_records = {path: path.read_bytes() for path in (folder / "store").glob("??/*.json")}
            code, said = run(command, folder)
            wrong = fault(code, said, folder, given_records)
            counts[f"{name}: exit code {code}"] += 1
            if wrong:
                counts["WRONG"] += 1
                shown = " ".join(word if len(word) < 100 else f"{word[:100]}..." for word in command)
                print(f"case {number} ({name}): {wrong}\n  boostrun {shown}\n  {said[-1200:]}", file=sys.stderr)
            shutil.rmtree(folder)
            if (number + 1 - numbers.start) % EVERY == 0:
                print(f"fuzz: {number + 1 - numbers.start} cases, {counts['WRONG']} wrong", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
