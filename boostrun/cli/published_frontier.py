"""Frontiers that are published: ``conf/frontier/NAME.yaml`` holds the words of a command, key by key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boostrun.cli.arguments import Arguments
from boostrun.config.compose import PLACES
from boostrun.config.yaml_files import options
from boostrun.errors import BoostrunError, DataMissingError, did_you_mean

ROOM = "frontier/"  # before a name, where papers' items have their paper
_SHRUNK = ("at", "algo", "tuning", "trials", "T")  # what --quick has values of its own for


def names(config_dir: str | None = None) -> list[str]:
    """As they are typed behind ``reproduce``."""
    return [f"{ROOM}{name}" for name in options("frontier", config_dir)]


def command_of(words: Arguments) -> Arguments:
    """The command ``frontier ...`` that makes the frontier which ``reproduce frontier/NAME`` names.

    What it is made with stands in its file: only places and the number of workers may be typed beside it.
    Raises BoostrunError for a name or a key that is none of those, and for a file that says no frontier.
    """
    name = words.names[0].removeprefix(ROOM)
    known = options("frontier", words.config_dir)
    if name not in known:
        raise BoostrunError(f"no frontier '{name}'{did_you_mean(name, known)} (boostrun ls frontier)")
    quick = "quick" in words.flags
    told = _words(known[name], _SHRUNK if quick else ())
    own = [word for word in words.overrides if word.partition("=")[0] not in (*PLACES, "n_jobs")]
    if own:
        said = f"{words.names[0]} is published as it is, without {own[0]}"
        raise BoostrunError(f"{said}; for another one: boostrun frontier {' '.join([*told, own[0]])}")
    _look_for(Path(told[0].partition("=")[2]), words.names[0])
    folder = f"{name}-quick" if quick else name
    return Arguments(
        words.argv, "frontier", overrides=[*told, *words.overrides], flags=words.flags, config_dir=words.config_dir,
        name=folder,
    )  # fmt: skip


def _look_for(data: Path, name: str) -> None:
    """Raise DataMissingError where what a frontier reads is a small table, a path, that nobody has written."""
    if data.parent != Path() and not data.is_file():
        how = f"in a checkout `python scripts/small_tables.py {data.parts[0]}` writes it"
        raise DataMissingError(f"no file {data}, which {name} reads; {how}")


def _words(path: Path, left_out: tuple[str, ...]) -> list[str]:
    """``key=value`` for each key of a file."""
    raw = _read(path)
    if not isinstance(raw, Mapping) or not {"dataset", "budget"} <= raw.keys():
        raise BoostrunError(f"{path} is no frontier: it needs keys and values as they are typed, dataset and budget")
    return [f"{key}={_typed(value)}" for key, value in raw.items() if key not in left_out]


def _typed(value: Any) -> str:
    from boostrun.runner.naming import word

    return ",".join(map(word, value)) if isinstance(value, list) else word(value)


def _read(path: Path) -> Any:
    import yaml

    from boostrun.config import quick_yaml

    try:
        return quick_yaml.load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BoostrunError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
