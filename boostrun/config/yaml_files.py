"""The YAML files that a person may name: presets, papers' items, published frontiers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from boostrun.config import catalogue


def conf_dir() -> Path:
    """The folder of YAML files: packaged beside this module, or at the top of a checkout."""
    packaged = Path(__file__).parents[1] / "conf"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "conf"


def options(group: str, config_dir: str | None = None) -> dict[str, Path]:
    """The YAML files of a group, by name: presets of its choices, or papers' items, of which a person's own win.

    >>> "reservoir/table3" in options("paper")
    True
    """
    return {
        prefix + path.relative_to(folder).with_suffix("").as_posix(): path
        for prefix, folder in _folders(group, config_dir) for path in sorted(folder.rglob("*.yaml"))
    }  # fmt: skip


def option(group: str, name: str, config_dir: str | None = None) -> Path | None:
    """The file of one of :func:`options`, None where there is none; the others are not looked at."""
    files = [folder / f"{name.removeprefix(prefix)}.yaml" for prefix, folder in _folders(group, config_dir)
             if name.startswith(prefix) and not {"", ".", ".."} & {*name.removeprefix(prefix).split("/")}]  # fmt: skip
    return next((file for file in reversed(files) if file.is_file()), None)


def _folders(group: str, config_dir: str | None) -> Iterator[tuple[str, Path]]:
    """Where files of a group lie, and what their names begin with; of two with one name the later counts."""
    if group == "paper":
        yield from ((f"{name}/", paper.items) for name, paper in catalogue.papers().items() if paper.items)
    yield from (("", Path(folder) / group) for folder in (conf_dir(), config_dir) if folder)


def first_comment(path: Path) -> str:
    """The first line of a file where that is a comment, without its sign; else nothing."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ") if first.startswith("#") else ""
