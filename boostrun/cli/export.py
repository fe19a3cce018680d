"""``boostrun export`` and ``boostrun predict``: use a saved model, or one that is trained first.

``export model.npz --to c|onnx [-o predictor.c]`` writes it as a C99 or ONNX file, ``export model.npz rows.csv --integer
[--target avr]`` as C of whole numbers for a chip, ``predict model.npz new.csv [-o out.csv] [--proba]`` predicts new
samples.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostrun.cli.arguments import Arguments
from boostrun.config import checked_words
from boostrun.config.words import keys_and_values, single_values
from boostrun.data.formats import ARROW, EXCEL, PARQUET
from boostrun.data.keys import WRITTEN, TableDatasetKeys
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.files import as_npz, is_device

if TYPE_CHECKING:
    import numpy as np

    from boostrun.export.integer import IntegerModel

FORMS = ("c", "onnx", "npz")
_SHOWN = 12  # classes in the last line of predict
_NO_CSV = (".gz", ".zip", ".npz", ".npy", ".json", ".jsonl", *PARQUET, *ARROW, *EXCEL)


def main(words: Arguments) -> int:
    """Write the predictor, or with ``--to npz`` only the model, and describe it.

    Instead of a file name, settings may be given, as in ``algo=shareboost dataset=mnist features=templates``: their
    first trial is trained, its record kept as a run keeps it, and its model written beside the predictor.
    """
    integer = "integer" in words.flags or words.target is not None
    if integer and words.to not in (None, "c"):
        raise BoostrunError(f"--integer writes C: --to {words.to} has no predictor of whole numbers")
    target = checked_target(words.target or "portable")
    form = words.to or ("c" if integer else None) or ("onnx" if Path(words.output or "").suffix == ".onnx" else "c")
    if form not in FORMS:
        raise BoostrunError(f"--to {form}: one of {', '.join(FORMS)} is needed{did_you_mean(form, FORMS)}")
    rows = _rows(words) if integer and words.names else None
    if words.names and rows is None and (len(words.names) > 1 or words.overrides):
        extra = (words.names[1:] or words.overrides)[0]
        raise BoostrunError(f"{extra}: a saved model has its settings, and rows are for --integer")
    if bool(words.names) == bool(words.overrides) and rows is None:
        raise BoostrunError(
            "export needs a model file or the settings of one: export model.npz, or export algo=NAME dataset=NAME"
        )
    if words.names and not words.output:
        output = checked_output(Path(words.names[0]).with_suffix(f".{form}"))
    else:
        output = checked_output(Path(words.output or ("model.npz" if form == "npz" else f"predictor.{form}")))
    if words.names:
        if form == "npz":
            raise BoostrunError(f"{words.names[0]} is a saved model already: --to c makes a predictor of it")
        keep_inputs(output, [words.names[0], *([] if rows is None else [rows])])
        if integer:
            return _write_integer(Path(words.names[0]), output, target, rows)
        return _write(Path(words.names[0]), output, form)
    if "trials" in dict(keys_and_values(words.overrides)):
        raise BoostrunError("export trains one trial, the first seed's: leave trials out")
    from boostrun.export import onnx as onnx_model
    from boostrun.export.parts import check
    from boostrun.runner.execute import check_kept, train_one
    from boostrun.runner.plan import compose_one

    settings = compose_one(words.overrides, words.config_dir)
    path = Path("model.npz") if is_device(output) else output.with_suffix(".npz")
    if form == "npz" and not is_device(output):
        output = path = as_npz(output)
    read = [str(settings.dataset[key]) for key in ("path", "test_path") if settings.dataset.get(key)]
    for written in (output, path):
        keep_inputs(written, read)
    if form != "npz" and output.suffix == ".npz":
        raise BoostrunError(f"-o {output}: the model is written to this file, beside a predictor .{form}; name that")
    check_kept(settings)
    if form != "npz":
        check(settings.algo, settings.features, form)
    if form == "onnx":
        onnx_model.package()
    model = train_one(settings, output if form == "npz" and is_device(output) else path, ["boostrun", *words.argv])
    _print(output, f"model: {model}")
    if integer:
        return _write_integer(model, output, target, None, settings)
    return 0 if form == "npz" else _write(model, output, form)


def checked_target(target: str) -> str:
    """The name of a chip's family, checked."""
    from boostrun.export.chip import TARGETS

    if target not in TARGETS:
        raise BoostrunError(f"--target {target}: one of {', '.join(TARGETS)} is needed{did_you_mean(target, TARGETS)}")
    return target


def _rows(words: Arguments) -> str | None:
    """The file of calibration rows beside a model; a table among the words stands as dataset=FILE."""
    others = single_values(words.overrides)
    table = others.pop("dataset", None)
    given = [*words.names[1:], *([] if table is None else [str(table)])]
    if len(given) > 1 or others:
        raise BoostrunError("one file of calibration rows is taken, as in export model.npz rows.csv --integer")
    return given[0] if given else None


def calibrated(model: Path, rows: str | None, settings: Any = None) -> tuple[IntegerModel, np.ndarray | None]:
    """The predictor of whole numbers of a model file, and the raw rows that chose its bits, None if they were drawn.

    They are at most 10,000 of the file ``rows``, or of the training data of ``settings``, with the labels that the
    model gives them. Raises BoostrunError.
    """
    import numpy as np

    from boostrun.config import catalogue
    from boostrun.export import read
    from boostrun.export.chip import within
    from boostrun.export.flash import MOST_ROWS
    from boostrun.export.forms import real_form, saved_of
    from boostrun.export.integer import quantised
    from boostrun.methods.archive import kind_of
    from boostrun.prediction import load
    from boostrun.prediction.samples import first_rows, known_table

    exported = kind_of(model) in catalogue.models()
    classifier: Any = load(model)
    saved = read(model) if exported else None
    saved, form = (saved, real_form(saved)) if saved is not None else saved_of(classifier, kind_of(model))
    table = known_table(classifier)
    names = table.columns if table is not None else ()
    if rows is not None:
        samples = first_rows(classifier, rows, MOST_ROWS)
    elif settings is not None:
        from boostrun.data import load as load_data
        from boostrun.runner.plan import roots

        samples = load_data(settings.dataset, roots(settings)[0]).x_train[:MOST_ROWS]
        samples = samples.reshape(len(samples), -1)
    else:
        return quantised(saved, names=names, form=form), None
    classifier.__dict__.pop("feature_names_in_", None)  # rows are arrays in its order
    number = {label: place for place, label in enumerate(classifier.classes_.tolist())}
    labels = np.array([number[label] for label in classifier.predict(samples).tolist()])
    most = settings.algo.get("flash_bytes") if settings is not None else None
    return quantised(saved, samples, labels, names=names, form=form, fits=within(most)), samples


def check_on_chip(words: Arguments) -> int:
    """``boostrun check --target avr [model.npz [rows.csv]]``: a line for each model and chip; 1 if a row differs.

    Without a model, one of each form is drawn, see :func:`boostrun.export.proof.drawn_models`.
    """
    from boostrun.export.proof import drawn_models, lacking, proof_codes, prove

    target = checked_target(words.target or "")
    if words.overrides:
        raise BoostrunError("a model and rows are taken, as in check --target avr model.npz rows.csv")
    if absent := lacking(target):
        raise BoostrunError(absent)
    if words.names:
        rows = words.names[1] if len(words.names) > 1 else None
        models: list[Any] = [(words.names[0], *calibrated(Path(words.names[0]), rows))]
    else:
        models = list(drawn_models())
    different = 0
    for name, model, samples in models:
        for proof in prove(model, proof_codes(model, samples), target):
            same = "all the twin's" if not proof.different else f"{proof.different} DIFFERENT"
            stack = f", {proof.stack} bytes of stack" if proof.stack is not None else ""
            print(
                f"{name}: {proof.rows} rows on {proof.name}, {same}; {proof.flash} bytes of flash, {proof.data} bytes "
                f"of data{stack}; {model.lost} of {model.rows_seen} labels lost",
                flush=True,
            )
            different += proof.different > 0
    return 1 if different else 0


def _write_integer(
    model: Path, output: Path, target: str, rows: str | None, settings: Any = None
) -> int:  # fmt: skip
    from boostrun.export.chip import laid_out, sizes, source
    from boostrun.report.markup import write_bytes

    made, _ = calibrated(model, rows, settings)
    text = source(made, target)
    write_bytes(output, text.encode("ascii"))
    size = sizes(made, laid_out(made))
    _print(output, text.partition("*/")[0].replace("/*", "").replace("\n *", "\n").strip())
    _print(output, f"predictor: {output}, {size.tables} bytes of tables, {made.lost} of {made.rows_seen} labels lost")
    return 0


def checked_output(path: Path) -> Path:
    """The path of an output, checked before any work is done."""
    if path.is_dir() or not path.parent.is_dir():
        raise BoostrunError(f"-o {path}: {'a folder' if path.is_dir() else 'there is no such folder'}; name a file")
    return path


def keep_inputs(output: Path, inputs: Sequence[str]) -> None:
    """Raise BoostrunError if the output is a file that is read."""
    for name in inputs:
        if os.path.exists(name) and os.path.exists(output) and os.path.samefile(name, output):
            raise BoostrunError(f"{output} is also the input: name another file, -o FILE")


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
    _print(output, head)
    _print(output, f"predictor: {output}")
    return 0


def _print(output: Path, text: str) -> None:
    """Print to standard error if the output is a device, such as /dev/stdout, so that they do not mix."""
    print(text, file=sys.stderr if is_device(output) else sys.stdout)


def predict(words: Arguments) -> int:
    """Write a line of csv per sample, to standard output or to the file of ``-o``, and print their number.

    Columns are found by name. Columns that the model does not use, such as an id or the label, are copied in front of
    the prediction. The keys ``WRITTEN`` say how a table is written. The file is read in pieces of bounded size. If a
    sample cannot be predicted, no output is written.
    """
    if len(words.names) != 2:
        raise BoostrunError(
            "predict needs a model and a file of samples, as in predict model.npz new.csv (- is standard input)"
        )
    model_path, path = words.names
    written = checked_words(words.overrides, TableDatasetKeys, "dataset", WRITTEN, "predict")
    if words.output is not None and not is_device(checked_output(Path(words.output))):
        keep_inputs(Path(words.output), words.names)
        if Path(words.output).suffix.lower() in _NO_CSV:
            raise BoostrunError(f"-o {words.output}: predictions are written as csv: name a file .csv")
    from boostrun.prediction import load, pieces
    from boostrun.prediction import model as answers

    model = load(model_path)
    answers.answer_columns(model, "proba" in words.flags)
    found = answers.write(model, pieces(model, path, written), words.output, "proba" in words.flags)
    shown = ", ".join(f"{label} {count:,}".replace(",", " ") for label, count in found.most_common(_SHOWN))
    more = f" and {len(found) - _SHOWN} classes more" if len(found) > _SHOWN else ""
    total = f"{sum(found.values()):,}".replace(",", " ")
    print(f"{total} samples: {shown}{more}{f'; {words.output}' if words.output else ''}", file=sys.stderr)
    return 0
