"""Write folders of Parquet larger than memory, from published recipes: `python scripts/lakes.py FOLDER [NAME ...]`.

Each becomes FOLDER/NAME/train/part-*.parquet, in row groups of 100,000 rows, and FOLDER/NAME/test.parquet (100,000
rows), with the label in the column `label`:

- spheres: 28 normal numbers, as many as HIGGS has; the label tells whether the squares of the first ten sum to more
  than 9.34 (Hastie, Tibshirani & Friedman 2009, equation 10.2), and is wrong in a fifth of all rows
- mixture: 54 numbers from 200 Gaussians (the random RBF generator of Bifet et al. 2009), seven classes in the shares
  of covertype (Blackard & Dean 1999)
- rotating: 20 uniform numbers on the two sides of a hyperplane (Hulten, Spencer & Domingos 2001) that turns by half a
  turn from the first row to the last, so that old rows mislead; 5 % of labels are wrong; the test rows are the newest
- digits: training images of MNIST below `--data`, each with its own affine distortion (up to 12 degrees and 12 %, as
  `dataset=mnist_affine`); the test rows are MNIST's own
- counts: how often each of 1,000 words occurs in a text of about 50 words, ten classes (the multinomial model of
  McCallum & Nigam 1998), word shares after Zipf, reweighted for each class

The rows of a part do not depend on which other parts are written: each has its own seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from boostrun.data import load
from boostrun.papers.shareboost.mnist_expanded import transformed

PART, GROUP, TEST = 1_000_000, 100_000, 100_000
ROWS = {"spheres": 10**7, "mixture": 10**7, "rotating": 10**7, "digits": 2 * 10**6, "counts": 2 * 10**6}
COVERTYPE = np.array([0.3646, 0.4876, 0.0615, 0.0047, 0.0163, 0.0299, 0.0354])
Block = tuple[np.ndarray, np.ndarray]  # (n, d) samples and (n,) labels


def spheres(rng: np.random.Generator, when: np.ndarray, data_root: Path) -> Block:
    x = rng.normal(size=(len(when), 28)).astype(np.float32)
    inside = np.square(x[:, :10]).sum(axis=1) > 9.34
    return x, np.where(rng.random(len(when)) < 0.2, ~inside, inside).astype(np.int8)


def mixture(rng: np.random.Generator, when: np.ndarray, data_root: Path) -> Block:
    fixed = np.random.default_rng(0)  # the same Gaussians for all rows
    centres, spread = fixed.random((200, 54), dtype=np.float32), fixed.uniform(0.05, 0.4, 200).astype(np.float32)
    of_class = np.concatenate([np.arange(7), fixed.integers(0, 7, 193)])
    weight = fixed.random(200)
    shares = COVERTYPE[of_class] * weight / np.bincount(of_class, weight)[of_class]
    drawn = rng.choice(200, len(when), p=shares / shares.sum())
    x = centres[drawn] + spread[drawn, None] * rng.standard_normal((len(when), 54), dtype=np.float32)
    return x, of_class[drawn].astype(np.int8)


def rotating(rng: np.random.Generator, when: np.ndarray, data_root: Path) -> Block:
    x = rng.random((len(when), 20), dtype=np.float32)
    first, last = (side / np.linalg.norm(side) for side in (np.repeat([1.0, 0.0], 10), np.repeat([0.0, 1.0], 10)))
    normal = np.cos(np.pi * when)[:, None] * first + np.sin(np.pi * when)[:, None] * last  # when: 0 oldest, 1 newest
    above = ((x - 0.5) * normal).sum(axis=1) > 0
    return x, np.where(rng.random(len(when)) < 0.05, ~above, above).astype(np.int8)


def digits(rng: np.random.Generator, when: np.ndarray, data_root: Path) -> Block:
    mnist = load({"name": "mnist"}, data_root)
    if (when == 1).all():
        return mnist.x_test.reshape(-1, 784), mnist.y_test.astype(np.int8)
    rows = rng.integers(0, len(mnist.x_train), len(when))
    most = (np.deg2rad(12), 0.12, 0.12, 0.12)
    x = transformed(mnist.x_train[rows].reshape(-1, 28, 28), 1, most, int(rng.integers(2**31)))[0]
    return x.reshape(-1, 784), mnist.y_train[rows].astype(np.int8)


def counts(rng: np.random.Generator, when: np.ndarray, data_root: Path) -> Block:
    shares = np.random.default_rng(0).gamma(1.0, size=(10, 1000)) / np.arange(1, 1001)
    y = rng.integers(0, 10, len(when))
    x = np.empty((len(when), 1000), np.uint8)
    length = rng.poisson(50, len(when))
    for k in range(10):
        x[y == k] = np.minimum(rng.multinomial(length[y == k], shares[k] / shares[k].sum()), 255)
    return x, y.astype(np.int8)


RECIPES: dict[str, Callable[[np.random.Generator, np.ndarray, Path], Block]] = {
    "spheres": spheres, "mixture": mixture, "rotating": rotating, "digits": digits, "counts": counts,
}  # fmt: skip


def write(name: str, folder: Path, rows: int, data_root: Path, part: int = PART, group: int = GROUP) -> None:
    """Write the train parts and the test file of a recipe; memory is that of one row group."""
    train, test = folder / name / "train", folder / name / "test.parquet"
    train.mkdir(parents=True, exist_ok=True)
    recipe = RECIPES[name]
    for start in range(0, rows, part):
        times = np.arange(start, min(start + part, rows)) / rows
        blocks = (
            recipe(np.random.default_rng([1, start // part, at]), times[at : at + group], data_root)
            for at in range(0, len(times), group)
        )
        _write(train / f"part-{start // part:04d}.parquet", blocks)
    _write(test, [recipe(np.random.default_rng(2), np.ones(min(TEST, rows)), data_root)])
    print(f"{folder / name}: {rows:,} rows to train on, {pq.read_metadata(test).num_rows:,} to test on")


def _write(path: Path, blocks) -> None:
    writer = None
    for x, y in blocks:
        names = [*(f"x{number}" for number in range(x.shape[1])), "label"]
        table = pa.table([*np.ascontiguousarray(x.T), y], names)
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table, row_group_size=len(y))
    writer.close()


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=[*RECIPES], metavar="NAME", help=", ".join(RECIPES))
    parser.add_argument("--rows", type=int, help="rows to train on; 10 million, of digits and counts 2 million")
    parser.add_argument("--data", type=Path, default=Path("datasets"), help="the folder with MNIST")
    given = parser.parse_args()
    if odd := sorted({*given.names} - {*RECIPES}):
        parser.error(f"no recipe {odd[0]!r}; there are {', '.join(RECIPES)}")
    for name in given.names:
        write(name, given.folder, given.rows or ROWS[name], given.data)


if __name__ == "__main__":
    main()
