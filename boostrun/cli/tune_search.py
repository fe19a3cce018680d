"""``boostrun tune algo=geem tune.trials=30``: a search of what a method declares, on held-out training data.

``algo.shrinkage=interval(0.05,1)`` searches a range of one's own, ``algo.shrinkage=0.1`` leaves the key out of it.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun import __version__, config
from boostrun.cli.arguments import Arguments
from boostrun.cli.run import same_places, tell_end
from boostrun.config import catalogue
from boostrun.config.settings import Choices, Range, Settings, Tune
from boostrun.config.words import Span, keys_and_values, single_values
from boostrun.errors import BoostrunError
from boostrun.runner.compose import compose_all, compose_one, expand
from boostrun.runner.tuned import with_values

PREFIX = "tune."
_DECIDED = {
    "trials": "tune.trials=30 says how many combinations are tried, tune.seeds=1 how often each",
    "tuned": "tune chooses all values that can be searched itself: leave it out",
}


def main(words: Arguments, ranges: Mapping[str, Span | Choices]) -> int:
    """Search every combination; print the best trials, keep the choices under ``results/tuned``, say what comes next.

    ``words`` has the overrides that are no range.
    """
    how, overrides = _how(words.overrides)
    if "multirun" in words.flags:
        combinations, all_settings = expand(overrides, words.config_dir), compose_all(overrides, words.config_dir)
    else:
        combinations, all_settings = [overrides], [compose_one(overrides, words.config_dir)]
    same_places(all_settings)
    from boostrun.runner.search import study_of, tune_all

    studies = []
    for settings, own in zip(all_settings, _of_each(all_settings, ranges)):
        typed = {key for key, _ in keys_and_values(overrides)}
        studies.append(study_of(settings, typed, {key: _range(settings, key, one) for key, one in own.items()}))
    if not any(study.space for study in studies):
        names = ",".join(dict.fromkeys(settings.algo["name"] for settings in all_settings))
        advice = "nothing of it is declared that is not typed, and no range is, as in 'T=interval(50,200)'"
        raise BoostrunError(f"algo={names} has nothing to tune: {advice}")
    print(_headline(all_settings, how), file=sys.stderr)
    found = tune_all(studies, how["trials"], seeds=how["seeds"], command=["boostrun", *words.argv])
    for choice, combination in zip(found.choices, combinations):
        _report(choice, combination, words, found.interrupted)
    return tell_end(found, words)


def _how(words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The keys of the search itself, checked, and the other words."""
    mine = [word for word in words if word.startswith(PREFIX)]
    others = [word for word in words if not word.startswith(PREFIX)]
    for key, _ in keys_and_values(others):
        if key in _DECIDED:
            raise BoostrunError(f"{key}: {_DECIDED[key]}")
    values = single_values([word.removeprefix(PREFIX) for word in mine])
    return config.check_keys(Tune, values, "tune", ""), others


def _of_each(all_settings: Sequence[Settings], ranges: Mapping[str, Span | Choices]) -> list[dict[str, Span | Choices]]:
    """Of several methods each is given the ranges of keys that it has; one that none has is refused."""
    found: list[dict[str, Span | Choices]] = [{} for _ in all_settings]
    for key, one in ranges.items():
        having = [number for number, settings in enumerate(all_settings) if _has(settings, key)]
        for number in having or [0]:
            found[number][key] = one
    return found


def _has(settings: Settings, key: str) -> bool:
    method = catalogue.method(settings.algo)
    return key in method.budget or (key.startswith("algo.") and key.partition(".")[2] in method.fields)


def _range(settings: Settings, key: str, given: Span | Choices) -> Range | Choices:
    """What a person wants searched, its ends held against the key: whole numbers, or within its limits."""
    values = given.values if isinstance(given, Choices) else (given.low, given.high)
    checked = [with_values(settings, {key: value}) for value in values]
    plain = [each.algo[key.partition(".")[2]] if "." in key else each.budget[key] for each in checked]
    if isinstance(given, Choices):
        return Choices(*plain)
    from boostrun.runner.search import study_of

    declared, (low, high) = study_of(settings).space.get(key), plain
    log = given.log or (isinstance(declared, Range) and declared.log and low > 0)
    try:
        return Range(low, high, log=log)
    except (ValueError, TypeError) as error:
        raise BoostrunError(f"{key}=interval({given.low},{given.high}): {error}") from None


def _headline(all_settings: Sequence[Settings], how: Mapping[str, Any]) -> str:
    from boostrun.runner.plan import cell_of

    first = all_settings[0]
    what = cell_of(first).label if len(all_settings) == 1 else f"{len(all_settings)} cells"
    times = f" of {how['seeds']} seeds" if how["seeds"] > 1 else ""
    workers = "all cores" if first.root["n_jobs"] == -1 else f"n_jobs={first.root['n_jobs']}"
    return f"boostrun {__version__} · tune {what} · {how['trials']} trials{times} each · {workers}"


def _report(choice: Any, combination: Sequence[str], words: Arguments, interrupted: bool) -> None:
    from boostrun.report.markup import write_bytes
    from boostrun.report.tuning import choice_markdown, choice_text
    from boostrun.runner.plan import cell_of, open_store
    from boostrun.runner.search import whole
    from boostrun.runner.tuned import searched_folder
    from boostrun.store.packs import write_records

    settings = whole(choice.study.settings)
    if choice.best is None:
        if not interrupted:
            why = choice.rows[0]["why"]
            print(f"nothing is chosen for {cell_of(settings).label}: all trials failed ({why})", file=sys.stderr)
        return
    kept = choice.kept()
    folder = searched_folder(settings.root["results"], cell_of(settings))
    store = open_store(settings)
    records = {key: store.done(key) for row in choice.rows for key in row["records"]}
    found = [record for record in records.values() if record is not None]
    write_records(folder, found, Path(settings.root["results"]))
    write_bytes(folder / "table.md", choice_markdown(kept).encode())
    write_bytes(folder / "tuned.json", (json.dumps(kept, indent=2) + "\n").encode())
    print(choice_text(kept))
    print(f"choice: {folder}/tuned.json, which tuned=true reads")
    mine = ["--config-dir", words.config_dir] if words.config_dir else []
    left = [word for word in combination if not word.startswith("holdout=")]
    print(f"next: boostrun {shlex.join([*mine, *left, 'tuned=true'])}\n")
