"""``boostrun tune algo=ucb ...``: a full run with each value of the key that an algorithm tunes, and the best of them.

This is the grid that a paper fixes. Whoever has none is searched, and so is everybody where ``tune.trials`` or a range
is typed: see :mod:`boostrun.cli.tune_search`. The choice is by the training loss at T on one seed, and a posteriori, or
by the error on a held-out share of the training data, as the algorithm says: what it cost is printed beside it. With
``-m`` every combination is tuned, in one queue.
"""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from boostrun.cli.arguments import Arguments
from boostrun.cli.run import headline, same_places, tell_end
from boostrun.config import catalogue
from boostrun.config.settings import Settings
from boostrun.config.words import keys_and_values, split_ranges
from boostrun.errors import BoostrunError
from boostrun.runner.compose import compose_all, compose_one, expand


def main(words: Arguments) -> int:
    """Run what is missing of each grid; print it, keep the choice under ``results/tuned``, say what to run next."""
    overrides, ranges = split_ranges(words.overrides)
    if ranges or _no_grid(words):
        from boostrun.cli import tune_search

        return tune_search.main(dataclasses.replace(words, overrides=overrides), ranges)
    if "multirun" in words.flags:
        combinations, tuned = expand(words.overrides, words.config_dir), compose_all(words.overrides, words.config_dir)
    else:
        combinations, tuned = [words.overrides], [compose_one(words.overrides, words.config_dir)]
    same_places(tuned)
    for settings in tuned:
        _check(settings, words)
    grids = [_grid(settings) for settings in tuned]
    flat = [settings for grid in grids for settings in grid]
    from boostrun.runner.execute import run_cells

    print(headline(flat), file=sys.stderr)
    result = run_cells(flat, command=["boostrun", *words.argv])
    planned = iter(result.cells)
    for combination, grid, settings in zip(combinations, grids, tuned):
        cells = [next(planned) for _ in grid]
        if all(cell.done for cell in cells):
            _report(cells, settings, combination, words)
        elif not result.interrupted:
            runs = f"{sum(bool(cell.done) for cell in cells)} of {len(cells)} runs"
            print(f"nothing is chosen for {cells[0].cell.label}: {runs} are there", file=sys.stderr)
    return tell_end(result, words)


def _no_grid(words: Arguments) -> bool:
    """Whether keys of a search are typed, or some algorithm has no grid."""
    if any(word.startswith("tune.") for word in words.overrides):
        return True
    named = dict(keys_and_values(words.overrides)).get("algo") or [compose_one([]).algo["name"]]
    methods = catalogue.methods()
    return any(name not in methods or methods[name].tuning is None for name in named)


def _check(settings: Settings, words: Arguments) -> None:
    """Refuse an algorithm without a tuned key, and overrides of what tuning decides itself."""
    tuning = catalogue.method(settings.algo).tuning
    if tuning is None:
        having = ", ".join(name for name, method in catalogue.methods().items() if method.tuning)
        raise BoostrunError(f"algo '{settings.algo['name']}' has nothing to tune ({having} have)")
    given = dict(keys_and_values(words.overrides))
    if f"algo.{tuning.key}" in given:
        raise BoostrunError(f"tune chooses algo.{tuning.key} itself: leave it out")
    for part in ("trials", "holdout"):
        if part in given:
            raise BoostrunError(
                f"tune runs each value once, with the first seed, and holds out what it needs: leave {part} out"
            )


def _grid(settings: Settings) -> list[Settings]:
    """The settings with each value of the tuned key, for one trial."""
    tuning = catalogue.method(settings.algo).tuning
    assert tuning is not None  # looked at before
    root = {**settings.root, "trials": 1}
    if tuning.holdout is not None:
        root["holdout"] = tuning.holdout
    values: Sequence = tuning.values
    if not values:
        from boostrun.runner.plan import table_of

        values = [name for name, _, _ in table_of(settings).families]
    return [dataclasses.replace(settings, algo={**settings.algo, tuning.key: value}, root=root) for value in values]


def _report(cells, settings: Settings, combination: Sequence[str], words: Arguments) -> None:
    from boostrun.report.markup import write_bytes
    from boostrun.report.tuning import choice_markdown, choice_text
    from boostrun.runner import tuned
    from boostrun.runner.plan import cell_of
    from boostrun.store.packs import write_records

    records = [cell.done[0] for cell in cells]
    choice = tuned.choose([cell.cell for cell in cells], records)
    folder = tuned.folder(settings.root["results"], cell_of(settings))
    write_records(folder, records, Path(settings.root["results"]))
    write_bytes(folder / "table.md", choice_markdown(choice).encode())
    write_bytes(folder / "tuned.json", (json.dumps(choice, indent=2) + "\n").encode())
    print(choice_text(choice))
    if len(cells) > 1 and len({row[choice["by"]] for row in choice["grid"]}) == 1:
        print(f"every value does the same here: {choice['key']}={choice['value']} is no better than the others")
    print(f"choice: {folder}/tuned.json, which {choice['key']}=tuned reads")
    mine = ["--config-dir", words.config_dir] if words.config_dir else []
    again = shlex.join([*mine, *combination, f"{choice['key']}={choice['value']}"])
    print(f"next: boostrun {again}\n")
