"""Predictors of whole numbers in C: where their tables lie, how many bytes they take, and the file.

The C reads the same tables as :class:`boostrun.export.integer.IntegerModel` and gives the same scores. All tables are
constants, in flash on AVR (PROGMEM); there is no heap, no float and no division.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from boostrun import __version__
from boostrun.errors import BoostrunError
from boostrun.export.c import block, comment, plain
from boostrun.export.forms import is_leaf, leaves_of, of_one_size, splits_of
from boostrun.export.integer import IntegerModel, quantised
from boostrun.export.parts import Saved

TARGETS = ("portable", "avr", "cortex-m")
RAM = 512  # bytes that a prediction may take, x not counted
_AVR_FLASH, _AVR_ARRAY = 2**16, 2**15 - 1  # bytes that AVR's near pointers reach, and of an array of avr-gcc
_CODE = {  # bytes on an ATmega328P, scores of 16 and of 32 bits: the most of drawn models, by avr-gcc 5.4
    "linear": (300, 300), "stumps": (340, 460), "stumps_by_row": (320, 420), "trees": (400, 510),
    "trees_by_row": (410, 460), "votes": (420, 510), "vote_trees": (500, 610),
}  # fmt: skip
_CODE_OF_ONE = {"linear": (170, 170), "stumps_by_row": (160, 230), "trees_by_row": (240, 290)}  # of models of one score
_CODE_OF_TWINS = 60  # bytes more where splits ask whether a value is missing


class Size(NamedTuple):
    """Bytes of a predictor of whole numbers: ``tables`` and ``code`` in flash, ``ram`` of a prediction, ``x`` of the
    caller's array of codes."""

    tables: int
    code: int
    ram: int
    x: int

    @property
    def flash(self) -> int:
        """Bytes of flash."""
        return self.tables + self.code


def size_of(
    saved: Saved, calibration: np.ndarray | None = None, bits: tuple[int, int] | None = None
) -> Size:  # fmt: skip
    """Bytes of flash and RAM of a saved model as ``boostrun export m.npz --to c --integer`` writes it.

    It covers all kinds of models, including trees of LightGBM, XGBoost and scikit-learn (:mod:`.rivals.kept`). Tables
    are counted to the byte; the code is the most that avr-gcc -Os made of drawn models of a form. Parameters are
    those of :func:`boostrun.export.integer.quantised`; a linear model without rows is counted at 8 and 16 bits. Raises
    BoostrunError for a model that has no integer predictor.
    """
    from boostrun.export.forms import LinearForm, real_form

    if calibration is None and isinstance(form := real_form(saved), LinearForm):
        calibration = np.zeros((2, saved.raw_width if len(saved.missing) else 1 + int(form.columns.max())))
        calibration[1], bits = 0.5, bits or (8, 16)
    model = quantised(saved, calibration, bits=bits)
    return sizes(model, laid_out(model))


def within(most: int | None) -> Callable[[IntegerModel], bool]:
    """Whether a predictor takes at most so many bytes of flash (None: any number), and of RAM :data:`RAM`."""

    def fits(model: IntegerModel) -> bool:
        found = sizes(model, laid_out(model))
        return found.ram <= RAM and (most is None or found.flash <= most)

    return fits


# -- tables ------------------------------------------------------------------------------------------------------------


class Kept(NamedTuple):
    """Numbers in tables: ``tables``, name -> (C type, values); ``read``, C of number {i}; ``size`` in bytes."""

    tables: dict[str, tuple[str, np.ndarray]]
    read: str
    size: int


def type_of(values: np.ndarray) -> str:
    """The smallest C type that holds whole numbers.

    >>> type_of(np.array([0, 255])), type_of(np.array([-1, 127])), type_of(np.array([40000]))
    ('uint8_t', 'int8_t', 'uint16_t')
    """
    for bits in (8, 16, 32):
        if values.min() >= 0 and values.max() < 2**bits:
            return f"uint{bits}_t"
        if values.min() >= -(2 ** (bits - 1)) and values.max() < 2 ** (bits - 1):
            return f"int{bits}_t"
    raise BoostrunError("the model holds a number of more than 32 bits: there is no integer predictor of it")


def bytes_of(kind: str) -> int:
    """Bytes of a number of a C type such as "int16_t"."""
    return int("".join(filter(str.isdigit, kind))) // 8


def direct(name: str, values: np.ndarray) -> Kept:
    """Numbers one after another, or one that stands in the code if all are equal."""
    if len(values) and np.all(values == values[0]):
        return Kept({}, str(values[0]), 0)
    kind, place = type_of(values), f"{name}_table"
    return Kept({place: (kind, values)}, read_of(kind, f"{place} + {{i}}"), len(values) * bytes_of(kind))


def kept(name: str, values: np.ndarray) -> Kept:
    """Numbers directly, or the different ones once and their places, whichever is smaller.

    >>> kept("t", np.array([900, 7, 900, 900, 7, 7, 900, 900])).size
    12
    """
    plainly = direct(name, values)
    different, place = np.unique(values, return_inverse=True)
    at, once = direct(f"{name}_at", place), direct(name, different)
    if at.size + once.size >= plainly.size:
        return plainly
    read = once.read.replace("{i}", at.read)
    return Kept(at.tables | once.tables, read, at.size + once.size)


def read_of(kind: str, place: str) -> str:
    """C that reads a number of a type from flash."""
    return f"({kind})READ{8 * bytes_of(kind)}({place})"


class TableLayout(NamedTuple):
    """Tables and code of a predictor: ``form``, ``parts`` by name, ``shape`` of words in the code."""

    form: str
    parts: dict[str, Kept]
    words: dict[str, str | int]

    @property
    def size(self) -> int:
        """Bytes of the tables."""
        return sum(part.size for part in self.parts.values())


def laid_out(model: IntegerModel) -> TableLayout:
    """The smallest layout of a model's tables."""
    k = len(model.base)
    words: dict[str, str | int] = {"k": k, "columns": len(model.codes.columns)}
    if len(model.weights):
        parts = {"base": kept("base", model.base), "weight": kept("weight", model.weights.T.ravel())}
        return TableLayout("linear", parts, words)
    base = {"base": kept("base", model.base)}
    trees, wide = model.trees, k > 1 and all(row < 0 for row in model.rows)
    stumps = all(is_leaf(tree[2]) and is_leaf(tree[3]) for tree in trees)
    if stumps and all(np.array_equal(tree[2], -tree[3]) for tree in trees):
        steps = np.array([tree[3] for tree in trees])
        of_step = base | {"step": kept("step", steps.ravel())}
        found = [TableLayout("stumps", of_step | part, words) for part in _pairs(model)]
        if wide and all(map(of_one_size, trees)):
            signs = {"size": kept("size", np.abs(steps[:, 0])), "sign": _bits(steps > 0)}
            found += [TableLayout("votes", base | part | signs, words) for part in _pairs(model)]
        if not wide:
            found = [_by_rows(layout, model) for layout in found]
        return min(found, key=lambda layout: layout.size)
    leaves = np.concatenate([leaves_of(tree) for tree in trees])
    sizes = np.array([len(splits_of(tree)) for tree in trees])
    shapes = [_lefts(tree) for tree in trees]
    same = all(shape == shapes[0] for shape in shapes)
    left = kept("left", np.array(shapes[0] if same else list(itertools.chain(*shapes))))
    words |= {"left": left.read.replace("{i}", "at" if same else "first + at")}
    shape = base | {"left": left, "splits": kept("splits", sizes)}
    of_leaf = shape | {"leaf": kept("leaf", leaves.ravel())}
    found = [TableLayout("trees", of_leaf | part, words) for part in _pairs(model)]
    if wide and all(map(of_one_size, trees)):
        signs = {
            "size": kept("size", np.array([np.abs(leaves_of(tree)[0][0]) for tree in trees])),
            "sign": _bits(leaves > 0),
        }
        found += [TableLayout("vote_trees", shape | part | signs, words) for part in _pairs(model)]
    if not wide:
        found = [_by_rows(layout, model) for layout in found]
    return min(found, key=lambda layout: layout.size)


def _lefts(tree) -> list[int]:
    """For each split of a tree, each before those below, how many splits are below."""
    if is_leaf(tree):
        return []
    below, above = _lefts(tree[2]), _lefts(tree[3])
    return [len(below), *below, *above]


def _bits(signs: np.ndarray) -> Kept:
    packed = np.packbits(signs.ravel(), bitorder="little").astype(np.int64)
    return direct("sign", packed)


def _pairs(model: IntegerModel) -> list[dict[str, Kept]]:
    """Ways to hold the feature and the threshold of each split: each by itself, or different pairs once."""
    splits = np.array([split for tree in model.trees for split in splits_of(tree)], np.int64)
    alone = {"feature": kept("feature", splits[:, 0]), "threshold": kept("threshold", splits[:, 1])}
    pairs, place = np.unique(splits, axis=0, return_inverse=True)
    shared = {
        "pair": direct("pair", place.ravel()), "feature": kept("feature", pairs[:, 0]),
        "threshold": kept("threshold", pairs[:, 1]),
    }  # fmt: skip
    return [alone, shared]


def _by_rows(layout: TableLayout, model: IntegerModel) -> TableLayout:
    """The layout with the number of trees of each score, which follow one another."""
    counts = np.bincount(np.maximum(model.rows, 0), minlength=len(model.base))
    return layout._replace(form=f"{layout.form}_by_row", parts={"count": kept("count", counts), **layout.parts})


def sizes(model: IntegerModel, layout: TableLayout) -> Size:
    """The bytes of a model that is laid out."""
    many = not (layout.form.endswith("_by_row") or layout.form == "linear")
    score, k = bytes_of(_score_type(model)), len(model.base)
    tables, code = layout.size, (_CODE_OF_ONE if k == 1 else _CODE)[layout.form][score == 4]
    if len(model.codes.twins) and model.trees:
        tables, code = tables + direct("twin", model.codes.twins).size, code + _CODE_OF_TWINS
    x = len(model.codes.columns) * model.codes.bits // 8
    return Size(tables, code, score * k * many + 40, x)


def _score_type(model: IntegerModel) -> str:
    return "int16_t" if model.bound < 2**15 else "int32_t"


# -- C -----------------------------------------------------------------------------------------------------------------

_HEAD = """
    #ifndef BOOSTRUN_MODEL
    #define BOOSTRUN_MODEL
    #include <stdint.h>

    typedef @x@ boostrun_x;
    typedef @score@ boostrun_score;

    @label@ predict(const boostrun_x *x);
    void scores(const boostrun_x *x, boostrun_score *out);
    #ifdef BOOSTRUN_FLOAT
    void quantise(const double *values, boostrun_x *x);
    #endif
    #endif
"""
_FLASH = """
    #ifdef __AVR__
    #include <avr/pgmspace.h>
    #define FLASH PROGMEM
    #define READ8(place) pgm_read_byte(place)
    #define READ16(place) pgm_read_word(place)
    #define READ32(place) pgm_read_dword(place)
    #define READ_REAL(place) pgm_read_float(place)
    #else
    #define FLASH
    #define READ8(place) (*(place))
    #define READ16(place) (*(place))
    #define READ32(place) (*(place))
    #define READ_REAL(place) (*(place))
    #endif
"""
_VALUE = {
    False: """
    #define VALUE(feature) x[feature]
""",
    True: """
    /* A code, and for the features from @columns@ on whether one is missing: the code 0. */
    static boostrun_x value_of(const boostrun_x *x, @index@ feature)
    {
        boostrun_x found;
        if (feature < @columns@)
            return x[feature];
        found = x[@twin@];
        return found ? found : @most@;
    }
    #define VALUE(feature) value_of(x, feature)
""",
}
_BY_ROW = """
    static @label@ run(const boostrun_x *x, boostrun_score *out)
    {
        @label@ best = 0;
        boostrun_score highest = 0;
        @index@ t = 0;
    @start@
        for (@label@ k = 0; k < @k@; k++) {
            boostrun_score sum = (boostrun_score)@base@;
    @loop@
            if (out)
                out[k] = sum;
            if (k == 0 || sum > highest) {
                highest = sum;
                best = k;
            }
        }
        return @result@;
    }

    @label@ predict(const boostrun_x *x)
    {
        return run(x, 0);
    }

    void scores(const boostrun_x *x, boostrun_score *out)
    {
        (void)run(x, out);
    }
"""
_ALL = """
    void scores(const boostrun_x *x, boostrun_score *out)
    {
    @start@
        for (@label@ k = 0; k < @k@; k++)
            out[k] = (boostrun_score)@base@;
        for (@index@ t = 0; t < @trees@; t++) {
    @loop@
        }
    }

    @label@ predict(const boostrun_x *x)
    {
        boostrun_score out[@k@];
        @label@ best = 0;
        scores(x, out);
        for (@label@ k = 1; k < @k@; k++)
            if (out[k] > out[best])
                best = k;
        return best;
    }
"""
_WALK = """
    @size@ left = @splits@, at = 0, leaf = 0;
    while (left) {
        const @size@ below = (@size@)@left@;
        @pair@
        if (VALUE(@feature@) >= @threshold@) {
            at = (@size@)(at + below + 1);
            leaf = (@size@)(leaf + below + 1);
            left = (@size@)(left - below - 1);
        } else {
            at++;
            left = below;
        }
    }
"""
_LOOPS = {
    "linear": """
    for (@index@ u = 0; u < @columns@; u++)
        sum = (boostrun_score)(sum + (boostrun_score)x[u] * (boostrun_score)@weight@);
""",
    "stumps_by_row": """
    for (@index@ end = (@index@)(t + @count@); t < end; t++) {
        @pair@
        const boostrun_score step = @step@;
        sum = (boostrun_score)(VALUE(@feature@) >= @threshold@ ? sum + step : sum - step);
    }
""",
    "stumps": """
    @pair@
    const uint8_t above = VALUE(@feature@) >= @threshold@;
    for (@label@ k = 0; k < @k@; k++) {
        const boostrun_score step = @step@;
        out[k] = (boostrun_score)(above ? out[k] + step : out[k] - step);
    }
""",
    "votes": """
    @pair@
    const uint8_t above = VALUE(@feature@) >= @threshold@;
    const boostrun_score size = @size_of@;
    for (@label@ k = 0; k < @k@; k++, bit++)
        out[k] = (boostrun_score)(SIGN(bit) == above ? out[k] + size : out[k] - size);
""",
    "trees_by_row": """
    for (@index@ end = (@index@)(t + @count@); t < end; t++) {
    @walk@
        sum = (boostrun_score)(sum + @leaf@);
        first = (@index@)(first + @splits@);
    }
""",
    "trees": """
    @walk@
    for (@label@ k = 0; k < @k@; k++)
        out[k] = (boostrun_score)(out[k] + @leaf@);
    first = (@index@)(first + @splits@);
""",
    "vote_trees": """
    @walk@
    const boostrun_score size = @size_of@;
    for (@label@ k = 0; k < @k@; k++) {
        const @index@ bit = (@index@)((@index@)(first + t + leaf) * @k@u + k);
        out[k] = (boostrun_score)(SIGN(bit) ? out[k] + size : out[k] - size);
    }
    first = (@index@)(first + @splits@);
""",
}
_QUANTISE = """
    #ifdef BOOSTRUN_FLOAT
    void quantise(const double *values, boostrun_x *x)
    {
    @tables@
        for (@index@ i = 0; i < @columns@; i++) {
            const double value = (values[i] - READ_REAL(offset + i)) * READ_REAL(scale + i);
            x[i] = (boostrun_x)(@missing@ : value >= @most@.0 ? @most@u : value > @least@.0 ? value : @least@);
        }
    }
    #endif
"""


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line if line else line for line in text.splitlines())


def source(model: IntegerModel, target: str = "portable") -> str:
    """The C99 file of a predictor of whole numbers.

    Raises BoostrunError where a prediction would take more than 512 bytes of RAM, or tables more than AVR can read.
    """
    layout = laid_out(model)
    size = sizes(model, layout)
    if size.ram > RAM:
        raise BoostrunError(
            f"scores of {len(model.base)} classes take {size.ram} bytes of RAM, and a predictor takes at most {RAM}: "
            "a method with stumps for each class needs no room for all scores"
        )
    if target == "avr" and size.tables > _AVR_FLASH - 1024:
        raise BoostrunError(f"the tables take {size.tables} bytes, and AVR reads {_AVR_FLASH}: train fewer rounds")
    largest = max((len(values) * bytes_of(kind) for _, kind, values in _tables(layout)), default=0)
    if target == "avr" and largest > _AVR_ARRAY:
        raise BoostrunError(f"a table takes {largest} bytes, and avr-gcc takes {_AVR_ARRAY}: train fewer rounds")
    return "\n\n".join([
        comment(_told(model, layout, target)), block(_HEAD, **_types(model)),
        block(_FLASH), *map(_table, _tables(layout)), *_code(model, layout), _quantise(model),
    ]) + "\n"  # fmt: skip


def _types(model: IntegerModel) -> dict[str, str]:
    label = type_of(np.array([len(model.base)]))
    return {"x": f"uint{model.codes.bits}_t", "score": _score_type(model), "label": label}


def _tables(layout: TableLayout) -> list[tuple[str, str, np.ndarray]]:
    return [(name, *found) for part in layout.parts.values() for name, found in part.tables.items()]


def _table(one: tuple[str, str, np.ndarray]) -> str:
    name, kind, values = one
    body = textwrap.fill(", ".join(map(str, values.tolist())), 110)
    return f"static const {kind} {name}[{len(values)}] FLASH = {{\n{body}\n}};"


def _code(model: IntegerModel, layout: TableLayout) -> list[str]:
    parts, form = layout.parts, layout.form
    splits = sum(len(splits_of(tree)) for tree in model.trees)
    columns = len(model.codes.columns) + len(model.codes.twins)
    most = max(splits + 2 * len(model.trees) + 1, len(model.base) * len(model.codes.columns), columns, 1)
    if form in ("votes", "vote_trees", "stumps", "trees"):
        most = max(most, (splits + len(model.trees)) * len(model.base))
    index = "uint8_t" if most < 2**8 else "uint16_t" if most < 2**16 else "uint32_t"
    inner = max((len(splits_of(tree)) for tree in model.trees), default=0)
    words: dict[str, str | int] = {
        "index": index, "size": "uint8_t" if inner < 255 else "uint16_t" if inner < 2**16 - 1 else "uint32_t",
        "trees": len(model.trees), "result": "best", "start": "", **_types(model), **layout.words,
    }  # fmt: skip
    walking = "trees" in form
    split = "first + at" if walking else "t"
    pair = ""
    if "pair" in parts and parts["pair"].tables:
        kind = parts["pair"].tables["pair_table"][0]
        pair, split = f"const {kind} pair_at = {parts['pair'].read.replace('{i}', split)};", "pair_at"
    elif "pair" in parts:
        split = parts["pair"].read
    words["pair"] = pair
    for name in ("feature", "threshold"):
        if name in parts:
            words[name] = parts[name].read.replace("{i}", split)
    places = {
        "base": "k", "count": "k", "splits": "t", "size": "t", "weight": "k * @columns@ + u",
        "step": "t" if form == "stumps_by_row" else "t * @k@u + k",
        "leaf": "first + t + leaf" if form == "trees_by_row" else "(@index@)(first + t + leaf) * @k@u + k",
    }  # fmt: skip
    for name, place in places.items():
        if name in parts:
            words["size_of" if name == "size" else name] = parts[name].read.replace("{i}", place)
    if walking:
        words["start"] = f"    {index} first = 0;"
    elif form == "votes":
        words["start"] = f"    {index} bit = 0;"
    by_row = form.endswith("_by_row") or form == "linear"
    if form == "linear":
        words["t"] = ""
    if len(model.base) == 1:
        words["result"] = f"({words['label']})(best + (highest >= 0))"
    loop = block(_LOOPS[form])
    loop = loop.replace("@walk@", _indented(block(_WALK), 4 if by_row else 0).strip())
    text = block(_BY_ROW if by_row else _ALL)
    text = text.replace("@loop@", _indented(loop, 8))
    if form == "linear":
        text = text.replace("    @index@ t = 0;\n", "")
    for _ in range(3):
        for word, value in words.items():
            text = text.replace(f"@{word}@", str(value))
    text = "\n".join(line for line in text.splitlines() if line.strip() or not line)
    twin = len(model.codes.twins) > 0 and "feature" in parts
    value = block(_VALUE[twin], columns=len(model.codes.columns), most=model.codes.most, index=index)
    if twin:
        held = direct("twin", model.codes.twins)
        value = value.replace("@twin@", held.read.replace("{i}", f"(feature - {len(model.codes.columns)})"))
        value = "\n\n".join([*(_table((name, *found)) for name, found in held.tables.items()), value])
    sign = []
    if "sign" in parts:
        read = parts["sign"].read.replace("{i}", "((bit) >> 3)")
        sign = [f"#define SIGN(bit) (({read} >> ((bit) & 7)) & 1)"]
    return [*([value] if model.trees else []), *sign, text]


def _quantise(model: IntegerModel) -> str:
    codes = model.codes
    absent = np.broadcast_to(codes.absent, len(codes.columns))
    held = [("double", "offset", codes.offset), ("double", "scale", codes.scale)]
    missing = "value != value ? 0"
    if absent.any():
        held.append((f"uint{codes.bits}_t", "absent", absent))
        missing = f"values[i] != values[i] ? READ{codes.bits}(absent + i)"
    tables = "\n".join(
        f"    static const {kind} {name}[{len(values)}] FLASH = {{{', '.join(map(repr, values.tolist()))}}};"
        for kind, name, values in held
    )
    words = {
        "columns": len(codes.columns), "most": codes.most, "least": codes.least, "index": "uint16_t",
        "missing": missing,
    }  # fmt: skip
    return block(_QUANTISE, **words).replace("@tables@", tables)


def _told(model: IntegerModel, layout: TableLayout, target: str) -> list[str]:
    codes, size = model.codes, sizes(model, layout)
    named = ", ".join(f"{number} = {plain(name)}" for number, name in enumerate(model.classes[:100]))
    rule = "1 where the score is at least 0, else 0" if len(model.base) == 1 else "the first of the largest scores"
    share = f"{model.lost} of {model.rows_seen}"
    rows = "calibration rows" if model.given else "rows drawn around the thresholds, as no calibration rows were given,"
    lines = [
        f"A predictor of whole numbers written by boostrun {__version__}: {plain(model.what)}.",
        f"x is codes of {codes.bits} bits, x[i] = floor((value - offset) * scale), at least {codes.least} and at most "
        f"{codes.most}{', and 0 where the value is missing (NaN)' if codes.least else ''}:",
    ]
    absent = np.broadcast_to(codes.absent, len(codes.columns)).tolist()
    for number, (name, offset, scale) in enumerate(zip(model.names, codes.offset.tolist(), codes.scale.tolist())):
        if number == 64:
            lines.append(f"... and {len(model.names) - number} more, see quantise() below")
            break
        told = f"offset {offset!r}, scale {scale!r}{f', {absent[number]} where it is missing' * (absent[number] > 0)}"
        told = told if scale else f"{absent[number]} where it is missing (NaN), else 0"
        lines.append(f"x[{number}]: {plain(name)}, number {codes.columns[number]}, {told}")
    nan = "" if any(absent) else " NaN is 0."
    return [
        *lines,
        f"With -DBOOSTRUN_FLOAT, quantise(values, x) does it; values[i] is the value of x[i], a double.{nan}",
        f"predict(x): the number of the class, {rule}: {named}{', ...' if len(model.classes) > 100 else ''}.",
        f"Thresholds {codes.bits} bits, leaves {model.leaf_bits} bits: {share} {rows} have another label than the "
        "model in real numbers gives them.",
        f"Tables: {size.tables} bytes, constants{' in flash' if target != 'portable' else ''}. RAM of a prediction: at "
        f"most {RAM} bytes, and x of {size.x} bytes. No heap, no float.",
        _COMPILED[target],
    ]  # fmt: skip


_COMPILED = {
    "portable": "C99: cc -O2 -std=c99 -c FILE",
    "avr": "C99: avr-gcc -mmcu=atmega328p -Os -std=c99 -c FILE",
    "cortex-m": "C99: arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -Os -std=c99 -ffreestanding -c FILE",
}

