"""Predictors in C: literals, the predictors of ensembles of stumps and trees, and the whole file.

Stumps and trees are added in the same order as in Python. A model that has seen missing values in training takes NaN
for them, see :mod:`boostrun.data.dataset`; other models take finite numbers.
"""

from __future__ import annotations

import string as letters
import textwrap
from typing import NamedTuple

import numpy as np

from boostrun import __version__
from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.export.parts import UNITS, ProgramParts, Saved, thresholds_of
from boostrun.methods.declaration import obtain

TYPES = {"float64": "double", "float32": "float", "int64": "int", "uint8": "unsigned char"}
_WIDTH = 110
_LARGEST_INT = 2**31 - 1
_HARMLESS = frozenset(letters.ascii_letters + letters.digits + " _.,:;+()=<>-")


def table(name: str, values: np.ndarray) -> str:
    """``static const TYPE name[n][m] = {...};`` with exactly these numbers; the type is that of the array.

    Raises BoostrunError for an empty array, NaN, and whole numbers beyond an int.

    >>> print(table("w", np.array([[0.5, -np.inf], [1e-300, 2]])))
    static const double w[2][2] = {
    {0.5, -INFINITY}, {1e-300, 2.0}
    };
    """
    if not values.size:
        raise BoostrunError(f"the model's {name} is empty: there is nothing to export")
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise BoostrunError(f"the model's {name} holds NaN, which cannot be written in C")
    if values.dtype.kind in "iu" and (values.max() > _LARGEST_INT or values.min() < -_LARGEST_INT):
        raise BoostrunError(f"the model's {name} holds a number that is no int of C")
    sizes = "".join(f"[{size}]" for size in values.shape)
    body = textwrap.fill(_braces(values, values.dtype), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"static const {TYPES[values.dtype.name]} {name}{sizes} = {{\n{body}\n}};"


def _braces(values: np.ndarray, kind: np.dtype) -> str:
    if values.ndim > 1:
        return ", ".join("{" + _braces(row, kind) + "}" for row in values)
    return ", ".join(map(_number, values.tolist() if kind != np.float32 else values))


def _number(value) -> str:
    if not isinstance(value, (float, np.floating)):
        return str(value)
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value!s}f" if isinstance(value, np.float32) else repr(value)


def string(text: str) -> str:
    r"""A C string literal of any text in UTF-8; bytes other than harmless characters are octal numbers.

    >>> print(string('a"*/\n'))
    "a\042\052\057\012"
    """
    code = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(byte) if chr(byte) in _HARMLESS else f"\\{byte:03o}" for byte in code) + '"'


def plain(text: str) -> str:
    """The text with ``_`` for all characters that could do harm in a comment.

    >>> plain("a */ b")
    'a __ b'
    """
    return "".join(letter if letter in _HARMLESS else "_" for letter in text)


def block(text: str, **words) -> str:
    """A piece of C without its indentation in Python, and with values for each ``@word@``.

    >>> block('''
    ...     int a[@n@];
    ... ''', n=3)
    'int a[3];'
    """
    out = textwrap.dedent(text).strip("\n").rstrip()
    for word, value in words.items():
        out = out.replace(f"@{word}@", str(value))
    return out


def comment(paragraphs: list[str]) -> str:
    """A C comment with paragraphs of plain text."""
    lines = [
        line
        for number, paragraph in enumerate(paragraphs)
        for line in ([""] if number else []) + textwrap.wrap(paragraph, _WIDTH)
    ]
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


_CODES = """
    /* A column as the model counts them: NaN, missing, is below all numbers, and above them in the copies. */
    static @type@ given(const @type@ *x, int column)
    {
        const @type@ value = x[column < @d@ ? column : missing[column - @d@]];
        return value == value ? value : column < @d@ ? -INFINITY : INFINITY;
    }
"""
_NUMBERS = """
    /* A column as the model counts them: means for NaN, missing, and at the end 1 where a column is. */
    static @type@ given(const @type@ *x, int column)
    {
        const @type@ value = x[column < @d@ ? column : missing[column - @d@]];
        if (column >= @d@)
            return value != value;
        return value == value ? value : filling[column];
    }
"""


class Reading(NamedTuple):
    """How C reads the columns of a model from x.

    Attributes: ``tables``, pieces of C that come first, empty if columns are read directly; ``value``, C of a column,
    to be formatted with its number; ``size``, length of x.
    """

    tables: list[str]
    value: str
    size: int


def reading(saved: Saved, x_type: str, width: int | None = None) -> Reading:
    """How C reads columns of a model from x of ``x_type``; ``width`` is the number of columns before a projection."""
    missing = saved.missing
    size = (saved.n_features if width is None else width) - len(missing)
    if not len(missing):
        return Reading([], "x[{}]", size)
    tables = [table("missing", missing)]
    if "means" in saved.inputs:
        tables.append(table("filling", saved.inputs["means"]))
    template = _NUMBERS if "means" in saved.inputs else _CODES
    return Reading([*tables, block(template, type=x_type, d=size)], "given(x, {})", size)


def split_program(
    saved: Saved, what: str, template: str, column: str, weights: list[str], comparisons: int, notes: str, **sizes: int
) -> ProgramParts:
    """A program that compares columns with the thresholds of the saved model.

    Parameters
    ----------
    template : ``scores`` in C, with ``@type@``, ``@value@`` and the names of ``sizes``, which include ``k``; or
        ``static void scores_of(const @type@ *rows, int n, double *out)``, which sets out[k n + i] for n samples, at
        most ``@block@``, one after another in ``rows``, each of ``@size@`` numbers
    column : C of the column that ``@value@`` reads, such as "feature[k][t]"
    weights : further tables
    comparisons : number in a prediction; each counts as a multiply-add
    """
    model = saved.model
    x_type, thresholds = thresholds_of(saved.inputs, model.features, model.thresholds)
    read = reading(saved, x_type)
    tables = [table("feature", model.features.astype(np.int64)), table("threshold", thresholds), *weights]
    in_blocks = "scores_of(" in template
    words = {"type": x_type, "value": read.value.format(column), "size": read.size, "block": _BLOCK, **sizes}
    body = block(template + _FIRST if in_blocks else template, **words)
    return ProgramParts(
        what=what,
        x_type=x_type,
        x_size=read.size,
        x_text=saved.meaning(UNITS[x_type]),
        n_scores=sizes["k"],
        code="\n\n".join([*tables, *read.tables, body]),
        counted=comparisons,
        runs=comparisons,
        notes=notes,
        in_blocks=in_blocks,
    )


_BLOCK = 16  # samples that walk through a tree together, so that its tables are read from memory once for all
_FIRST = """
    void scores(const @type@ *x, double *out)
    {
        scores_of(x, 1, out);
    }
"""


_FOR_EACH_CLASS = """
    void scores(const @type@ *x, double *out)
    {
        for (int k = 0; k < @k@; k++) {
            double sum = 0.0;
            for (int t = 0; t < @rounds@; t++) {
                const double vote[2] = {-step[k][t], step[k][t]}; /* looked up, as a branch on x costs more */
                sum += vote[@value@ >= threshold[k][t]];
            }
            out[k] = sum;
        }
    }
"""
_FOR_ALL_CLASSES = """
    void scores(const @type@ *x, double *out)
    {
        for (int k = 0; k < @k@; k++)
            out[k] = base[k];
        for (int t = 0; t < @rounds@; t++) {
            const double side = 2 * (@value@ >= threshold[t]) - 1;
            for (int k = 0; k < @k@; k++)
                out[k] += side * step[t][k];
        }
    }
"""


def stump_ensemble(saved: Saved) -> ProgramParts:
    """A StumpEnsemble in C."""
    k, rounds = saved.model.features.shape
    what = f"boosted stumps, {rounds} for each of {k} scores"
    return _parts(saved, what, [table("step", saved.model.steps)], _FOR_EACH_CLASS, "feature[k][t]", rounds, k)


def vote_ensemble(saved: Saved) -> ProgramParts:
    """A VoteEnsemble in C."""
    steps = saved.model.alphas[:, None] * saved.model.votes
    return for_all_classes(saved, steps, np.zeros(steps.shape[1]), f"with votes for {steps.shape[1]} scores")


def for_all_classes(saved: Saved, steps: np.ndarray, base: np.ndarray, how: str) -> ProgramParts:
    """C for base[k] + sum_t steps[t, k] phi_t(x), phi_t = +1 if x[features[t]] >= thresholds[t], else -1.

    ``features`` and ``thresholds`` (T,) are those of the saved model; ``steps`` (T, k) and ``base`` (k,) are float64;
    ``how`` describes the stumps in words. Raises BoostrunError if there are none.
    """
    rounds, k = steps.shape
    weights = [table("base", base), table("step", steps)]
    return _parts(saved, f"{rounds} stumps {how}", weights, _FOR_ALL_CLASSES, "feature[t]", rounds, k)


def _parts(
    saved: Saved, what: str, weights: list[str], template: str, column: str, rounds: int, k: int
) -> ProgramParts:
    if rounds == 0:
        raise BoostrunError("the model holds no stump: there is nothing to export")
    notes = "a comparison for each stump, and an addition for each stump and score"
    return split_program(saved, what, template, column, weights, rounds * k, notes, k=k, rounds=rounds)


_TREES = """
    static void scores_of(const @type@ *rows, int n, double *out)
    {
        unsigned short node[@block@]; /* the depth is at most 10; a compiler that gathers ints takes twice as long */
        for (int k = 0; k < @k@; k++, out += n) {
            for (int i = 0; i < n; i++)
                out[i] = 0.0;
            for (int t = 0; t < @rounds@; t++) {
                for (int i = 0; i < n; i++)
                    node[i] = 0;
                for (int level = 0; level < @depth@; level++)
                    for (int i = 0; i < n; i++) {
                        const @type@ *x = rows + i * @size@;
                        node[i] = (unsigned short)(2 * node[i] + 1 + (@value@ >= threshold[k][t][node[i]]));
                    }
                for (int i = 0; i < n; i++)
                    out[i] += leaf[k][t][node[i] - @nodes@];
            }
        }
    }

"""


def tree_ensemble(saved: Saved) -> ProgramParts:
    """A TreeEnsemble in C."""
    model = saved.model
    k, rounds, nodes = model.features.shape
    what = f"boosted trees of depth {model.depth}, {rounds} for each of {k} scores"
    return split_program(
        saved, what, _TREES, "feature[k][t][node[i]]", [table("leaf", model.leaves)], rounds * k * model.depth,
        "a comparison for each level of a tree, and an addition for each tree", k=k, rounds=rounds, nodes=nodes,
        depth=model.depth,
    )  # fmt: skip


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
_IN_BLOCKS = """
    void predict_many(const @type@ *rows, size_t n, int *out)
    {
        double score[@scores@ * @block@];
        for (; n; rows += @block@ * @size@) {
            const int some = n < @block@ ? (int)n : @block@;
            scores_of(rows, some, score);
            for (int i = 0; i < some; i++) {
                int best = 0;
                for (int k = 1; k < @classes@; k++)
                    if (score[k * some + i] > score[best * some + i])
                        best = k;
                *out++ = @label@;
            }
            n -= (size_t)some;
        }
    }
"""
_ONE_BY_ONE = """
    void predict_many(const @type@ *rows, size_t n, int *out)
    {
        for (size_t i = 0; i < n; i++)
            out[i] = predict(rows + i * @size@);
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
    """A C99 file with ``int predict(const TYPE *x)``, ``void predict_many(const TYPE *rows, size_t n, int *out)``,
    ``void scores(const TYPE *x, double *out)`` and ``const char *class_name(int number)``, with static tables, without
    allocation, and with no include but math.h for INFINITY and stddef.h for size_t.

    The last predictor of a path is exported. Scores equal those of Python up to rounding, those of stumps to the bit; a
    response of a template within rounding of the edge between two codes may get the other code, 1/255 away. Raises
    BoostrunError, one sentence, for a model that cannot be exported.
    """
    parts: ProgramParts = obtain(catalogue.models()[saved.kind].writer)(saved)
    classes = saved.classes if parts.n_scores == 1 else saved.classes[: parts.n_scores]  # some may have no samples
    one = parts.n_scores == 1
    functions = block(
        (_SIGN if one else _LARGEST) + (_IN_BLOCKS if parts.in_blocks else _ONE_BY_ONE), type=parts.x_type,
        size=parts.x_size, scores=parts.n_scores, block=_BLOCK, label="score[i] >= 0.0" if one else "best",
        classes=1 if one else len(classes),
    )  # fmt: skip
    names = ", ".join(map(string, classes))
    prototypes = "\n".join([
        f"int predict(const {parts.x_type} *x);",
        f"void predict_many(const {parts.x_type} *rows, size_t n, int *out);",
        f"void scores(const {parts.x_type} *x, double *out);", "const char *class_name(int number);",
    ])  # fmt: skip
    sections = [
        comment(_head(parts, classes)), "#include <math.h>\n#include <stddef.h>", prototypes, parts.code, functions,
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
        "void predict_many(rows, n, out): out[0..n-1], the class numbers of n samples that follow one another.",
        f"void scores(x, out): {scores}.",
        "const char *class_name(number): the name of a class in UTF-8.",
        f"Multiply-adds of a prediction: {parts.counted} as counted in boostrun's records, {parts.runs} in this file: "
        f"{parts.notes}.",
        "All functions may be called from several threads. C99: cc -O3 -std=c99 -c FILE",
    ]
