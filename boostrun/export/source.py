"""The whole C file of a saved model: its head, tables, ``scores``, ``predict`` and ``class_name``."""

from __future__ import annotations

from boostrun.config import catalogue
from boostrun.methods.declaration import obtain

from .. import __version__
from .parts import ProgramParts
from .saved import Saved
from .text import block, comment, plain, string

_SIGN = """
    int predict(const @type@ *x)
    {
        double score[1];
        scores(x, score);
        return score[0] >= 0.0;
    }
"""
_LARGEST = """
    int predict(const @type@ *x)
    {
        double score[@scores@];
        int best = 0;
        scores(x, score);
        for (int k = 1; k < @classes@; k++)
            if (score[k] > score[best])
                best = k;
        return best;
    }
"""
_NAMES = """
    const char *class_name(int number)
    {
        static const char *const names[@classes@] = {@names@};
        return number >= 0 && number < @classes@ ? names[number] : "";
    }
"""


def c_source(saved: Saved) -> str:
    """A C99 file with ``int predict(const TYPE *x)``, ``void scores(const TYPE *x, double *out)`` and ``const char
    *class_name(int number)``: static tables, no allocation, nothing but math.h's INFINITY included.

    Of a path the last predictor is exported. Scores equal those of Python but for rounding, stumps' to the last bit; a
    template's response that lies within rounding of the edge between two codes may get the other one, 1/255 away.
    Raises BoostrunError, one sentence, for what cannot be exported.
    """
    parts: ProgramParts = obtain(catalogue.models()[saved.kind].writer)(saved)
    classes = saved.classes if parts.n_scores == 1 else saved.classes[: parts.n_scores]  # some may be without samples
    functions = block(
        _SIGN if parts.n_scores == 1 else _LARGEST,
        type=parts.x_type, scores=parts.n_scores, classes=len(classes),
    )  # fmt: skip
    names = ", ".join(map(string, classes))
    prototypes = "\n".join([
        f"int predict(const {parts.x_type} *x);", f"void scores(const {parts.x_type} *x, double *out);",
        "const char *class_name(int number);",
    ])  # fmt: skip
    sections = [
        comment(_head(parts, classes)), "#include <math.h>", prototypes, parts.code, functions,
        block(_NAMES, classes=len(classes), names=names),
    ]  # fmt: skip
    return "\n\n".join(sections) + "\n"


def _head(parts: ProgramParts, classes: list[str]) -> list[str]:
    named = ", ".join(f"{number} = {plain(name)}" for number, name in enumerate(classes[:100]))
    rule = "1 where the score is at least 0, else 0" if parts.n_scores == 1 else "the lowest of equals"
    scores = f"out[0..{parts.n_scores - 1}], double precision, without a unit"
    if parts.n_scores > len(classes):
        scores += f"; those after the first {len(classes)} belong to classes that had no training sample"
    return [
        f"A predictor written by boostrun {__version__}: {parts.what}.",
        f"x is {parts.x_type}[{parts.x_size}]: {parts.x_text}.",
        f"int predict(x): the number of the class, {rule}: {named}{', ...' if len(classes) > 100 else ''}.",
        f"void scores(x, out): {scores}.",
        "const char *class_name(number): the name of a class in UTF-8.",
        f"Multiply-adds of a prediction: {parts.counted} as counted in boostrun's records, {parts.runs} in this file: "
        f"{parts.notes}.",
        "All functions may be called from several threads. C99: cc -O3 -std=c99 -c FILE",
    ]
