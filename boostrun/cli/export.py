"""``boostrun export model.npz --to c|onnx [-o predictor.c]``: a saved model, or one that is trained now, as a C99 or
ONNX file."""

from __future__ import annotations

import sys
from pathlib import Path

from boostrun.cli.arguments import Arguments
from boostrun.config.words import keys_and_values
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.files import is_device
from boostrun.runner.compose import compose_one

FORMS = ("c", "onnx", "npz")


def main(words: Arguments) -> int:
    """Write the predictor (or with ``--to npz`` the model alone) and say what it is.

    In place of a file name settings may be given, ``algo=shareboost dataset=mnist features=templates``: their first
    trial is trained, its record kept as a run keeps it, and its model beside the predictor.
    """
    form = words.to or ("onnx" if Path(words.output or "").suffix == ".onnx" else "c")
    if form not in FORMS:
        raise BoostrunError(f"--to {form}: one of {', '.join(FORMS)} is needed{did_you_mean(form, FORMS)}")
    if bool(words.names) == bool(words.overrides):
        raise BoostrunError(
            "export needs a model file or the settings of one: export model.npz, or export algo=NAME dataset=NAME"
        )
    output = _output(words, form)
    if words.names:
        if form == "npz":
            raise BoostrunError(f"{words.names[0]} is a saved model already: --to c makes a predictor of it")
        return _write(Path(words.names[0]), output, form)
    if "trials" in dict(keys_and_values(words.overrides)):
        raise BoostrunError("export trains one trial, the first seed's: leave trials out")
    settings = compose_one(words.overrides, words.config_dir)
    from boostrun.export import onnx as onnx_model
    from boostrun.export.parts import check
    from boostrun.runner import keep

    keep.check(settings)
    if form != "npz":
        check(settings.algo, settings.features, form)
    if form == "onnx":
        onnx_model.package()
    beside = Path("model.npz") if is_device(output) else output.with_suffix(".npz")
    model = keep.train(settings, output if form == "npz" and is_device(output) else beside, ["boostrun", *words.argv])
    _tell(output, f"model: {model}")
    return 0 if form == "npz" else _write(model, output, form)


def _output(words: Arguments, form: str) -> Path:
    """Where to, looked at before anything is trained."""
    if words.output:
        path = Path(words.output)
    elif words.names:
        path = Path(words.names[0]).with_suffix(f".{form}")
    else:
        path = Path("model.npz" if form == "npz" else f"predictor.{form}")
    if path.is_dir() or not path.parent.is_dir():
        raise BoostrunError(f"-o {path}: {'a folder' if path.is_dir() else 'there is no such folder'}; name a file")
    return path


def _write(model: Path, output: Path, form: str) -> int:
    from boostrun.export import c_source, read
    from boostrun.export import onnx as onnx_model
    from boostrun.report.markup import write_bytes

    saved = read(model)
    if form == "onnx":
        written = onnx_model.model_proto(saved)
        content, head = written.SerializeToString(), written.doc_string
    else:
        source = c_source(saved)
        content = source.encode("ascii")
        head = source.partition("*/")[0].replace("/*", "").replace("\n *", "\n").strip()
    write_bytes(output, content)
    _tell(output, head)
    _tell(output, f"predictor: {output}")
    return 0


def _tell(output: Path, text: str) -> None:
    """Say something where it does not get into what is written, as to /dev/stdout."""
    print(text, file=sys.stderr if is_device(output) else sys.stdout)
