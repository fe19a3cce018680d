"""What an item of a paper asks for, and the searches on held-out data that its settings come from."""

from pathlib import Path
from typing import Any

import pandas
import yaml

ROOT = Path(__file__).parents[2]


def item(paper: str, name: str) -> dict[str, Any]:
    """The item's file as it is written."""
    return yaml.safe_load((ROOT / f"conf/paper/{paper}/{name}.yaml").read_text(encoding="utf-8"))


def searched(paper: str, name: str) -> pandas.DataFrame:
    """The cells of a search's published table, ten trials each."""
    table = pandas.read_csv(ROOT / f"results/{paper}/{name}/table.csv").dropna(subset=["mean"])
    assert (table["n"] == 10).all()
    return table
