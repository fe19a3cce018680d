"""``boostrun predict model.npz new.csv [-o out.csv] [--proba]``: a saved model's answers for new samples."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from boostrun.cli.arguments import Arguments
from boostrun.errors import BoostrunError
from boostrun.files import is_device

_SHOWN = 12  # classes in the last line


def main(words: Arguments) -> int:
    """Write a line of csv for each sample, to standard output or to the file of ``-o``, and say how many there were.

    Columns are found by name; those that the model does not take, such as an id or the label, are handed on in front
    of the prediction. The file is read a bounded piece at a time, and nothing is written where a sample cannot be
    answered.
    """
    if len(words.names) != 2 or words.overrides:
        raise BoostrunError(
            "predict needs a model and a file of samples, as in predict model.npz new.csv (- is standard input)"
        )
    model_path, path = words.names
    output = _output(words)
    from boostrun.prediction import load, pieces
    from boostrun.prediction import model as answers

    model = load(model_path)
    answers.answer_columns(model, "proba" in words.flags)
    found = answers.write(model, pieces(model, path), output, "proba" in words.flags)
    shown = ", ".join(f"{label} {count:,}".replace(",", " ") for label, count in found.most_common(_SHOWN))
    more = f" and {len(found) - _SHOWN} classes more" if len(found) > _SHOWN else ""
    total = f"{sum(found.values()):,}".replace(",", " ")
    print(f"{total} samples: {shown}{more}{f'; {output}' if output else ''}", file=sys.stderr)
    return 0


def _output(words: Arguments) -> str | None:
    """Where to, looked at before anything is read."""
    if words.output is None:
        return None
    path = Path(words.output)
    if path.is_dir() or not path.parent.is_dir():
        raise BoostrunError(f"-o {path}: {'a folder' if path.is_dir() else 'there is no such folder'}; name a file")
    if not is_device(path) and path.exists():
        for name in words.names:
            if os.path.exists(name) and os.path.samefile(name, path):
                raise BoostrunError(f"-o {path} is what is read: name another file")
    return words.output
