"""The published records, for tests that look at them."""

import copy
from functools import cache
from pathlib import Path

from boostrun.runner import paper
from boostrun.runner.plan import plan, published_store
from boostrun.store import packs_below, unpack

RESULTS = Path(__file__).parent.parent / "results"


@cache
def store():
    """All of them."""
    return published_store(RESULTS)


def of_item(name):
    """Those of the table of an item, each once."""
    cells = plan(paper.load_published(name, RESULTS)[0].settings, store(), data=False)
    return list({record["key"]: record for cell in cells for record in cell.best_records}.values())


def of_room(name):
    """Those below a folder of the results."""
    return [record for path in packs_below(RESULTS / name) for record in unpack(path)]


def copies(records):
    """Records that may be changed: their curves are read, and nothing is shared."""
    return [copy.deepcopy(record) for record in records]
