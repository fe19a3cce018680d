"""``boostrun diff A B``: compare two records or two tables: settings, versions and machines, figures."""

from __future__ import annotations

from pathlib import Path

from boostrun.cli.arguments import Arguments
from boostrun.config import catalogue
from boostrun.config.settings import Settings
from boostrun.errors import BoostrunError
from boostrun.report.diff import diff
from boostrun.runner import paper
from boostrun.runner.compose import compose_one
from boostrun.runner.plan import open_store, plan, published_store
from boostrun.store.packs import NAME, OLD_NAME, unpack
from boostrun.store.record import NotARecordError, read


def main(words: Arguments) -> int:
    """Compare A with B: each is a record's key (or its beginning), a record file, a folder or pack, or an item."""
    if len(words.names) != 2:
        raise BoostrunError("diff needs two things to compare: keys, files, folders or items, as in diff 3f2a 91bc")
    settings = compose_one(words.overrides, words.config_dir)
    print(diff(*(_records(name, settings, words) for name in words.names)))
    return 0


def _records(name: str, settings: Settings, words: Arguments) -> list[dict]:
    path = Path(name)
    if path.is_dir() and (found := _published(path.resolve(), words)):
        return found
    path = next((path / file for file in (NAME, OLD_NAME) if (path / file).is_file()), path)
    if path.is_file():
        return list(unpack(path)) if path.suffix in (".parquet", ".gz") else [_read(path)]
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


def _published(folder: Path, words: Arguments) -> list[dict]:
    """The records of the table in an item's folder, wherever below the results they are packed; else empty."""
    name, results = "/".join(folder.parts[-2:]), folder.parents[1] if len(folder.parts) > 2 else folder
    if name not in catalogue.options("paper", words.config_dir) or paper.drawing(name, words.config_dir):
        return []
    item, _ = paper.load_published(name, results, words.overrides, words.config_dir)
    cells = plan(item.settings, published_store(results), data=False)
    return [record for cell in cells for record in cell.best_records]


def _read(path: Path) -> dict:
    try:
        return read(path.read_bytes())
    except NotARecordError as error:
        raise BoostrunError(f"{path} holds no record: {error}") from None
