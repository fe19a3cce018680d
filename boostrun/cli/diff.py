"""``boostrun diff A B``: compare two records or two tables: settings, versions and machines, figures."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from boostrun.cli.arguments import Arguments, parse
from boostrun.cli.report import composed
from boostrun.cli.run import table_folder, table_name
from boostrun.config import catalogue
from boostrun.config.fields import Settings
from boostrun.errors import BoostrunError
from boostrun.report.entry import by_seed, common, done, places_of, sampling_of
from boostrun.report.markup import MISSING, align, cost_text, decimal, metric_name, spread
from boostrun.report.statistics import ALPHA, LEAST_PAIRS, Sampling, mean_std, paired, welch
from boostrun.runner import paper
from boostrun.runner.naming import own_runs
from boostrun.runner.plan import cell_of, compose_one, open_store, plan, published_store
from boostrun.store import OLD_PACKED, PACKED, unpack
from boostrun.store.cell import NotARecordError, read

#: Provenance that differs between any two runs.
_CLOCK = {"time", "date", "started", "finished", "created", "timestamp", "pid", "hostname", "host"}


def main(words: Arguments) -> int:
    """Compare A with B: each is a record's key (or its beginning), a file, a folder of a table or pack, or an item."""
    if len(words.names) != 2:
        raise BoostrunError("diff needs two things to compare: keys, files, folders or items, as in diff 3f2a 91bc")
    settings = compose_one(words.overrides, words.config_dir)
    print(diff(*(_records(name, settings, words) for name in words.names)))
    return 0


def _records(name: str, settings: Settings, words: Arguments) -> list[dict]:
    path = Path(name)
    if path.is_dir() and (found := _of_item(path.resolve(), words) or _of_command(path.resolve().name, settings)):
        return found
    if (path / "table.csv").is_file():
        raise BoostrunError(f"no stored trial names the command that made {name}: compare keys (boostrun ls runs)")
    path = next((path / file for file in (PACKED, OLD_PACKED) if (path / file).is_file()), path)
    if path.is_file():
        return list(unpack(path)) if path.suffix in (".parquet", ".gz") else [_record(path)]
    if name in catalogue.options("paper", words.config_dir):
        cells = plan(paper.load(name, words.overrides, False, words.config_dir).settings, open_store(settings))
        found = [record for cell in cells for record in cell.best_records]
    else:
        found = [record for record in open_store(settings).records() if record["key"].startswith(name)]
        if len(found) > 1:
            keys = ", ".join(record["key"][:12] for record in found[:5])
            raise BoostrunError(f"'{name}' begins {len(found)} keys ({keys}...): give more of it")
    if not found:
        raise BoostrunError(f"no record, file or item '{name}' (keys are file names in {settings.root['store']})")
    return found


def _of_item(folder: Path, words: Arguments) -> list[dict]:
    """The records of the table in an item's folder, wherever below the results they are packed; else empty."""
    name, results = "/".join(folder.parts[-2:]), folder.parents[1] if len(folder.parts) > 2 else folder
    if name not in catalogue.options("paper", words.config_dir) or paper.drawing(name, words.config_dir):
        return []
    item, _ = paper.load_published(name, results, words.overrides, words.config_dir)
    cells = plan(item.settings, published_store(results), data=False)
    return [record for cell in cells for record in cell.best_records]


def _of_command(folder: str, settings: Settings) -> list[dict]:
    """The records of the table that a command of the user's wrote into this folder; empty if no record names one."""
    store = open_store(settings)
    for run in own_runs(store):
        with contextlib.suppress(BoostrunError):  # a command that does not fit any more
            asked = composed(run.command)[0]
            if asked and _folder_of(run.command, asked) == folder:
                return [record for cell in plan(asked, store, data=False) for record in cell.best_records]
    return []


def _folder_of(command: str, asked: Sequence[Settings]) -> str:
    name = parse(shlex.split(command)[1:]).name or asked[0].root["name"]
    return table_folder([cell_of(one) for one in asked], "", table_name(name)).name


def _record(path: Path) -> dict:
    try:
        return read(path.read_bytes())
    except NotARecordError as error:
        raise BoostrunError(f"{path} holds no record: {error}") from None


def diff(a: Sequence[Mapping], b: Sequence[Mapping]) -> str:
    """The differences of two groups of records as plain text; a single record is a group of one.

    Figures are means (standard deviation, ddof 1) with n. Groups with the same six or more seeds over equal data are
    tested by Wilcoxon's signed-rank test paired by seed, or by a corrected t test if each trial has its own split.
    Others are tested by Welch's t test. Groups of several cells are compared cell by cell.

    >>> trial = {"cell": {"budget": {"r": 100}}, "seed": 0, "status": "done", "metrics": {"test_error_pct": 6.5}}
    >>> print(diff([trial], [{**trial, "cell": {"budget": {"r": 250}}, "metrics": {"test_error_pct": 6.0}}]))
    a: 1 record, seed 0; b: 1 record, seed 0
    <BLANKLINE>
    config
      budget.r  a: 100  b: 250
    <BLANKLINE>
    environment
      no difference
    <BLANKLINE>
    metrics
      test error %  a: 6.50 n=1  b: 6.00 n=1  b - a: -0.50  no test (n < 2)
    """
    a, b = ([a] if isinstance(a, Mapping) else list(a)), ([b] if isinstance(b, Mapping) else list(b))
    lines = [f"a: {_count(a)}; b: {_count(b)}", "", "config"]
    settings = [[{**(one.get("cell") or {}), "inputs": one.get("inputs") or {}} for one in side] for side in (a, b)]
    lines += _differences(*settings)
    lines += ["", "environment", *_differences(*([one.get("provenance") or {} for one in side] for side in (a, b)))]
    cells_a, cells_b = _cells(a), _cells(b)
    if len(cells_a) <= 1 and len(cells_b) <= 1:
        return "\n".join(lines + _figures(a, b))
    labels = _labels({**cells_a, **cells_b})
    for key in [key for key in cells_a if key in cells_b]:
        lines += ["", f"cell {labels[key]}", *_figures(cells_a[key], cells_b[key])[1:]]
    for name, ours, others in (("a", cells_a, cells_b), ("b", cells_b, cells_a)):
        alone = [labels[key] for key in ours if key not in others]
        if alone:
            lines += ["", f"only in {name}", *(f"  {label}" for label in alone)]
    return "\n".join(lines)


def flatten(tree: Mapping, prefix: str = "") -> dict[str, object]:
    """Nested keys joined by dots.

    >>> flatten({"algo": {"name": "geem", "ridge": 0.1}, "seed": 3})
    {'algo.name': 'geem', 'algo.ridge': 0.1, 'seed': 3}
    """
    flat: dict[str, object] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _count(records: list[Mapping]) -> str:
    failed = len(records) - len(done(records))
    count = f"{len(records)} record{'s' * (len(records) != 1)}" + (f" ({failed} failed)" if failed else "")
    seeds = sorted({record["seed"] for record in records if "seed" in record})
    return f"{count}, seed{'s' * (len(seeds) != 1)} {_runs(seeds)}" if seeds else count


def _runs(numbers: Sequence[int]) -> str:
    """Whole numbers in increasing order, three or more in a row as a range.

    >>> _runs([0, 1, 2, 3, 7, 8])
    '0 to 3, 7, 8'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _differences(a: Sequence[Mapping], b: Sequence[Mapping]) -> list[str]:
    """Keys of nested settings whose set of values differs between the groups, with the values."""
    sides = [[flatten(tree) for tree in trees] for trees in (a, b)]
    rows = []
    for key in sorted({key for flats in sides for flat in flats for key in flat}):
        # sorted sets, so that the order of the records makes no difference
        ours, others = (sorted({str(flat.get(key, MISSING)) for flat in flats}) or [MISSING] for flats in sides)
        if ours != others and key.rpartition(".")[2] not in _CLOCK:
            rows.append([f"  {key}", f"a: {', '.join(ours)}", f"b: {', '.join(others)}"])
    return align(rows) or ["  no difference"]


def _cells(records: list[Mapping]) -> dict[str, list[Mapping]]:
    """The records by cell, in the order of their labels."""
    cells: dict[str, list[Mapping]] = {}
    for record in sorted(records, key=_label):
        cells.setdefault(str(record.get("cell_key") or flatten(record.get("cell") or {})), []).append(record)
    return cells


def _label(record: Mapping) -> str:
    """The names and the budget of a record's cell."""
    cell = record.get("cell") or {}
    names = [str((cell.get(part) or {}).get("name", "")) for part in ("algo", "dataset")]
    budget = [f"{key}={value}" for key, value in flatten(cell.get("budget") or {}).items() if value is not None]
    return " ".join(filter(None, [*names, *budget])) or str(record.get("cell_key", "?"))


def _labels(cells: Mapping[str, Sequence[Mapping]]) -> dict[str, str]:
    """For each cell, its label, and the keys that distinguish it from cells with the same label."""
    found: dict[str, list[str]] = {}
    for key, records in cells.items():
        found.setdefault(_label(records[0]), []).append(key)
    labels = {}
    for label, alike in found.items():
        flats = [flatten(cells[key][0].get("cell") or {}) for key in alike]
        differing = [name for name in dict.fromkeys(n for flat in flats for n in flat)
                     if len({str(flat.get(name, MISSING)) for flat in flats}) > 1]  # fmt: skip
        for key, flat in zip(alike, flats):
            labels[key] = " ".join([label, *(f"{name}={flat.get(name, MISSING)}" for name in differing)])
    return labels


def _figures(a: list[Mapping], b: list[Mapping]) -> list[str]:
    """The metrics with tests, then the costs with their ratio."""
    lines = ["", "metrics"]
    rows = [_metric_row(name, a, b) for name in _names("metrics", a, b)]
    lines += align(rows) or ["  none"]
    rows = []
    for name in _names("cost", a, b):
        means = [mean_std(by_seed(records, name)[0].values())[0] for records in (a, b)]
        ratio = decimal(means[1] / means[0], group=" ") if means[0] else ""  # empty for NaN
        ratio = f"b / a: {ratio}" if ratio else ""
        shown = [f"{side}: {cost_text(name, mean) or MISSING}" for side, mean in zip("ab", means)]
        rows.append([f"  {metric_name(name)}", *shown, ratio])
    return [*lines, "", "cost (means, not tested)", *align(rows)] if rows else lines


def _names(part: str, a: list[Mapping], b: list[Mapping]) -> list[str]:
    """The names of the figures in finished records, sorted."""
    found = {name for record in done([*a, *b]) for name in (record.get(part) or {})}
    return sorted(name for name in found if by_seed(a, name)[0] or by_seed(b, name)[0])


def _metric_row(name: str, a: list[Mapping], b: list[Mapping]) -> list[str]:
    ours, others = by_seed(a, name)[0], by_seed(b, name)[0]
    stats = [(*mean_std(values.values()), len(values)) for values in (ours, others)]
    row, places = [f"  {metric_name(name)}"], places_of(name)
    row += [f"{side}: {spread(mean, std, ' ', places) or MISSING} n={n}" for side, (mean, std, n) in zip("ab", stats)]
    if not (ours and others):
        return row
    change = decimal(stats[1][0] - stats[0][0], signed=True, group=" ", places=places)
    return [*row, f"b - a: {change}", _test(ours, others, stats, a, b)]


def _test(ours: dict, others: dict, stats: list, a: list[Mapping], b: list[Mapping]) -> str:
    """The result of the test that fits the two groups."""
    if min(len(ours), len(others)) < 2:
        return "no test (n < 2)"
    if all(len({round(figure, 9) for figure in side.values()}) == 1 for side in (ours, others)):
        return "no test (every trial gave the same)"
    if set(ours) == set(others) and len(ours) >= LEAST_PAIRS and _data(a) == _data(b):
        sampling = Sampling(common([sampling_of(records, "") for records in (a, b)]).ratio)
        p = paired(ours, others, sampling).p
        name = "t test corrected for overlapping splits" if sampling.ratio else "Wilcoxon paired by seed"
    else:
        p, name = welch(*stats[0], *stats[1]), "Welch"
    return f"{'significant' if p < ALPHA else 'not significant'} ({name}, p {'< 0.0001' if p < 1e-4 else f'= {p:.4f}'})"


def _data(records: list[Mapping]) -> set[str]:
    """The data of the trials; trials of one seed are pairs only if their data are the same."""
    return {str((record.get("inputs") or {}).get("data")) for record in done(records)}
