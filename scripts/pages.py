"""Write the pages of the documentation that are made of declarations and of published items.

    python scripts/pages.py

``docs/reference.md``: every verb, option and key. ``docs/gallery.md``: a picture of each published item, with the
command that draws it. A test holds both to what this writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from boostrun.cli import help
from boostrun.cli.arguments import VERBS
from boostrun.config import catalogue
from boostrun.config.fields import MISSING, fields_of, kind_of
from boostrun.config.settings import Root, Run, Tune
from boostrun.config.yaml_files import first_comment, options
from boostrun.runner.packed import Packs, packs_below

ROOT = Path(__file__).parent.parent


def reference() -> str:
    """The page of all verbs and keys."""
    return "\n".join(_reference())


def _reference() -> Iterator[str]:
    yield "# All verbs and keys\n"
    yield "Made from the declarations by `python scripts/pages.py`; nothing here is typed by hand. `boostrun --cfg`"
    yield "prints the keys of one choice, `boostrun help VERB` one of these pages.\n"
    yield "## Verbs\n"
    for verb in VERBS:
        yield f"### {verb}\n\n```text\n{help.page(verb).rstrip()}\n```\n"
    yield "## Keys of every run\n"
    yield from _keys(fields_of(Root), "")
    yield from _keys({name: field for name, field in fields_of(Run).items() if name != "name"}, "run.")
    yield from _keys(fields_of(Tune), "tune.")
    for group, title, found in (
        ("algo", "Methods", catalogue.methods()), ("dataset", "Data sets", catalogue.datasets()),
        ("features", "Features", catalogue.pipelines()),
    ):  # fmt: skip
        yield f"## {title}\n"
        for name, one in found.items():
            budget = "".join(f" `{key}={value}`" for key, value in getattr(one, "budget_defaults", {}).items())
            yield f"### {group}={name}\n\n{_escaped(one.summary)}." + (f" Budget:{budget}." if budget else "") + "\n"
            yield from _keys(catalogue.fields(group, name), f"{group}.")
            yield from _searched(getattr(one, "search", {}), getattr(one, "budget", {}))


def _keys(fields: Mapping[str, Any], prefix: str) -> Iterator[str]:
    if not fields:
        return
    yield "| key | default | takes | meaning |\n| --- | --- | --- | --- |"
    for key, field in fields.items():
        kind = kind_of(field)
        value = field.default
        plain = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        default = "must be given" if value == MISSING else f"`{plain}`"
        yield f"| `{prefix}{key}` | {default} | {_escaped(kind.allowed.rstrip(','))} | {_escaped(kind.help)} |"
    yield ""


def _searched(search: Mapping[str, Any], budget: Mapping[str, str]) -> Iterator[str]:
    if search:
        words = (f"`{key if key in budget else f'algo.{key}'}={one}`" for key, one in search.items())
        yield f"`boostrun tune` searches {', '.join(words)}.\n"


def _escaped(text: str) -> str:
    return re.sub(r"([_*|<>\[])", r"\\\1", text)


def gallery() -> str:
    """The page of pictures."""
    return "\n".join(_gallery())


def _gallery() -> Iterator[str]:
    yield "# Gallery\n"
    yield "A picture of each published item, and the command that draws it from stored records."
    yield "Your own runs get theirs beside their table. Made by `python scripts/pages.py`.\n"
    yield from _costs()
    paper = ""
    for name, path in options("paper").items():
        if (picture := _picture(ROOT / "results" / name)) is None:
            continue
        if name.partition("/")[0] != paper:
            paper = name.partition("/")[0]
            yield f"## {_escaped(catalogue.papers()[paper].title)}\n"
        said = first_comment(path)
        yield f"### {name}\n\n{_escaped(said)}\n\n![{name}](../{picture.relative_to(ROOT).as_posix()})\n"
        yield f"```console\n$ boostrun reproduce {name}\n```\n"
    yield from _frontiers()


def _frontiers() -> Iterator[str]:
    """Pictures of what each budget buys."""
    found = {name: _picture(ROOT / "results" / "frontiers" / name) for name in options("frontier")}
    if any(found.values()):
        yield "## What a budget buys\n"
    for name, picture in found.items():
        if picture is not None:
            said = first_comment(options("frontier")[name])
            yield f"### frontier/{name}\n\n{_escaped(said)}\n"
            yield f"![frontier/{name}](../{picture.relative_to(ROOT).as_posix()})\n"
            yield f"```console\n$ boostrun reproduce frontier/{name}\n```\n"


def _costs() -> Iterator[str]:
    """What all records of a paper took, each once."""
    papers = dict.fromkeys(name.partition("/")[0] for name in options("paper"))
    took = {paper: _seconds(ROOT / "results" / paper) for paper in papers}
    tuned = _seconds(ROOT / "results" / "tuned")
    yield "All published records, made from nothing, take so long on one core: wall seconds of each trial as its record"
    yield "has them (machines and their load differed), features and compiling not counted.\n"
    yield "| | records | core-hours |\n| --- | ---: | ---: |"
    rows = [(_escaped(catalogue.papers()[paper].title), known) for paper, known in took.items()]
    rows.append(("choices of `boostrun tune`", tuned))
    if bought := _seconds(ROOT / "results" / "frontiers"):
        rows.append(("what a budget buys, with its searches", bought))
    rows.append(("all", {key: seconds for _, known in rows for key, seconds in known.items()}))
    for title, known in rows:
        yield f"| {title} | {len(known)} | {sum(known.values()) / 3600:.1f} |"
    yield ""


def _seconds(folder: Path) -> dict[str, float]:
    """Seconds of each packed record of a folder, by its key."""
    packed = Packs(packs_below(folder))
    return {known.key: known.seconds or 0.0 for known in packed.known.values()}


def _picture(folder: Path) -> Path | None:
    """What shows most of an item: a figure, curves against rounds or examples, any curves, the dots of its table."""
    found = sorted(folder.glob("*.png"))
    for wanted in (r"figure", r"curve(_\w+)?_(T|examples)", r"curve_\w+", r"tradeoff", r"table", r".*"):
        for picture in found:
            if re.fullmatch(wanted, picture.stem):
                return picture
    return None


def main() -> None:
    """Write both."""
    for name, text in (("reference.md", reference()), ("gallery.md", gallery())):
        (ROOT / "docs" / name).write_text(text, encoding="utf-8")
        print(f"written: docs/{name}")


if __name__ == "__main__":
    main()
