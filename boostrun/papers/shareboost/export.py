"""The saved models of ShareBoost and its rivals as C, and as operators of ONNX.

Linear predictors on few features: attributes, codes, stumps, products of two attributes, patch templates under masks;
piece-wise linear predictors (C only); and stumps shared by subsets of the classes. The C of templates computes the
chosen ones only, skips cells where a mask is 0, and computes a patch once for all its masks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.export.c import TYPES, block, for_all_classes, reading, table
from boostrun.export.forms import LinearForm, TreeForm, of_steps, raw_thresholds, stump_trees
from boostrun.export.onnx import columns_of, compare, signs
from boostrun.export.onnx import for_all_classes as for_all_classes_onnx
from boostrun.export.parts import (
    GIVEN,
    IN_UNITS,
    PIXELS,
    UNITS,
    OnnxParts,
    Operators,
    ProgramParts,
    Saved,
    thresholds_of,
)
from boostrun.export.parts import kind_of_input as kind_of
from boostrun.papers.shareboost.model import cost_with_patches_once, template_costs


@dataclass
class LinearPredictor:
    """s(x) = base + W' phi(x), with the arrays from which the features phi are computed.

    Attributes: ``what``; ``kind`` of features; ``features``, arrays with a row for each feature; ``weights`` (U, k);
    ``base`` (k,); ``sparse``, whether each class has its own features; ``counted``, multiply-adds as in the records.
    """

    what: str
    kind: str
    features: dict[str, np.ndarray]
    weights: np.ndarray
    base: np.ndarray
    sparse: bool
    counted: int


def linear_predictor(model) -> LinearPredictor:
    """The end of a model's path: of SharedFeatures (not pieces), a OneVsRestPath or a MixedNormPath."""
    return {
        "SharedFeatures": _of_shared_features, "OneVsRestPath": _of_one_vs_rest, "MixedNormPath": _of_mixed_norm,
    }[type(model).__name__](model)  # fmt: skip


def _of_shared_features(model) -> LinearPredictor:
    weights = model.path[-1] if model.n_rounds else np.zeros((0, model.n_classes))
    base = weights[0] if model.free and len(weights) else np.zeros(model.n_classes)
    weights = weights[int(model.free) :]
    base = base + weights[model.constants].sum(axis=0)
    return LinearPredictor(
        f"{model.n_rounds} features shared by {model.n_classes} classes", model.kind, model.features,
        np.delete(weights, model.constants, axis=0), base, False,
        int(model.multiply_adds[-1]) if model.n_rounds else 0,
    )  # fmt: skip


def _of_one_vs_rest(model) -> LinearPredictor:
    weights, k = np.zeros((len(model.used), model.n_classes)), model.n_classes
    for number in range(k):
        places, values = model.point(number, model.n_rounds)
        weights[places, number] = values
    what = f"{len(model.used)} features, each of {k} classes with weights for {model.n_rounds} of its own"
    cost = int(model.multiply_adds[-1])
    return LinearPredictor(what, model.kind, model.features, weights, np.zeros(k), True, cost)


def _of_mixed_norm(model) -> LinearPredictor:
    candidates, weights = model.point(len(model.lambdas) - 1, len(model.debiased) > 0)
    rows = np.searchsorted(model.used, candidates)
    return LinearPredictor(
        f"{len(rows)} features shared by {model.n_classes} classes, by a mixed norm", model.kind,
        {name: array[rows] for name, array in model.features.items()}, weights, np.zeros(model.n_classes), False,
        int(model.multiply_adds[-1]),
    )  # fmt: skip


_DENSE = """
    void scores(const @type@ *x, double *out)
    {
        double value[@u@];
        compute(x, value);
        for (int k = 0; k < @k@; k++)
            out[k] = base[k];
        for (int r = 0; r < @u@; r++)
            for (int k = 0; k < @k@; k++)
                out[k] += weight[r][k] * value[r];
    }
"""
_SPARSE = """
    void scores(const @type@ *x, double *out)
    {
        double value[@u@];
        compute(x, value);
        for (int k = 0; k < @k@; k++) {
            double sum = base[k];
            for (int i = begin[k]; i < begin[k + 1]; i++)
                sum += weight[i] * value[place[i]];
            out[k] = sum;
        }
    }
"""


def c_linear(saved: Saved) -> ProgramParts:
    """The C of a linear predictor on few features, or of pieces."""
    if saved.model.kind == "pieces":
        return c_pieces(saved)
    linear = linear_predictor(saved.model)
    u, k = linear.weights.shape
    if u == 0:
        raise BoostrunError("the model has no feature to export")
    if linear.kind == "codes" and saved.inputs and str(saved.inputs["kind"]) == "templates":
        columns = template_columns(saved.inputs, linear.features["index"])
    else:
        columns = c_columns(linear.kind, linear.features, saved)
    weights = linear.weights * columns.factor[:, None]
    tables = [table("base", linear.base)]
    numbers, places = np.nonzero(linear.weights.T)
    sparse = linear.sparse and len(places) > 0
    if sparse:
        begin = np.searchsorted(numbers, np.arange(k + 1))
        tables += [table("begin", begin), table("place", places), table("weight", weights.T[numbers, places])]
        multiplied = len(places)
    else:
        tables.append(table("weight", weights))
        multiplied = u * k
    body = block(_SPARSE if sparse else _DENSE, type=columns.x_type, u=u, k=k)
    return ProgramParts(
        what=f"{linear.what}: {columns.what}",
        x_type=columns.x_type,
        x_size=columns.x_size,
        x_text=columns.x_text,
        n_scores=k,
        code="\n\n".join([columns.code, *tables, body]),
        counted=linear.counted,
        runs=columns.runs + multiplied,
        notes=f"{multiplied} of them for weights; {columns.notes}",
    )


def c_shared_stumps(saved: Saved) -> ProgramParts:
    """The C of SharedStumps."""
    return for_all_classes(saved, *matrix_form(saved.model))


def integer_shared_stumps(saved: Saved) -> TreeForm:
    """The form of SharedStumps for a predictor of whole numbers."""
    return of_steps(saved, *matrix_form(saved.model))


def integer_linear(saved: Saved) -> TreeForm | LinearForm:
    """The form of a linear predictor on columns, pixels, bins or stumps; BoostrunError for other features."""
    found = linear_predictor(saved.model) if saved.model.kind != "pieces" else None
    if found is None or found.kind not in ("columns", "codes", "stumps"):
        raise BoostrunError(f"features of kind '{saved.model.kind}' have no integer predictor: columns and stumps have")
    if not len(found.weights):
        raise BoostrunError("the model has no feature to export")
    if found.kind == "stumps":
        features = found.features["index"]
        edges = raw_thresholds(saved, features, found.features["threshold"])
        trees = stump_trees(features, edges, -found.weights, found.weights)
        return TreeForm(found.what, trees, [-1] * len(trees), found.base)
    index, weights, base = found.features["index"], found.weights, found.base
    if found.kind == "codes":
        weights = weights / 255.0
        if kind_of(saved.inputs, ("pixels", "edges")) == "edges":
            return _of_bins(saved, found.what, index, weights, base)
    elif kind_of(saved.inputs, ("scaled",)):
        weights = weights * saved.inputs["factor"][index][:, None]
        base = base - saved.inputs["shift"][index] @ weights
    columns, place = np.unique(index, return_inverse=True)
    summed = np.zeros((len(columns), weights.shape[1]))
    np.add.at(summed, place, weights)
    return LinearForm(f"{found.what}: attributes", columns, summed, base)


def _of_bins(saved: Saved, what: str, index: np.ndarray, weights: np.ndarray, base: np.ndarray) -> TreeForm:
    """Codes of bins as stumps: a code grows by one at each edge of its column."""
    codes = np.arange(1.0, saved.inputs["edges"].shape[1] + 1)
    columns = np.repeat(index, len(codes))
    edges = raw_thresholds(saved, columns, np.tile(codes, len(index)))
    there = np.isfinite(edges)  # no value is above the others
    halves = 0.5 * np.repeat(weights, len(codes), axis=0)[there]
    trees = stump_trees(columns[there], edges[there], -halves, halves)
    return TreeForm(f"{what}: bins of attributes", trees, [-1] * len(trees), base + halves.sum(axis=0))


def matrix_form(model) -> tuple[np.ndarray, np.ndarray, str]:
    """(steps (T, k), base (k,), words) for stumps of +-1, whose weights are half of those of {0, 1} stumps."""
    steps = 0.5 * model.columns
    return steps, (model.biases + steps).sum(axis=0), f"shared by subsets of {steps.shape[1]} classes"


_CODE_OF = """
    /* How many of the ascending edges are not above the value. */
    static int code_of(@type@ value, const @type@ *edges, int count)
    {
        int low = 0, high = count;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (edges[middle] <= value)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
"""
_COLUMN = r"x\[(column(?:\[\w+\])+)\]"  # a model's input column, in C
_COMPUTE_COLUMNS = """
    static void compute(const @type@ *x, double *value)
    {
        for (int r = 0; r < @u@; r++)
            value[r] = @value@;
    }
"""


@dataclass
class Columns:
    """C that computes features: ``static void compute(const x_type *x, double *value)``.

    Attributes: ``what``, ``x_type``, ``x_size``, ``x_text`` and ``notes`` as in :class:`ProgramParts`; ``code``;
    ``runs``, multiply-adds of all features; ``factor`` (U,), by which the values must still be multiplied.
    """

    what: str
    x_type: str
    x_size: int
    x_text: str
    code: str
    factor: np.ndarray
    runs: int
    notes: str


def c_columns(kind: str, features: Mapping[str, np.ndarray], saved: Saved) -> Columns:
    """The C of features of a kind in :data:`boostrun.papers.shareboost.model.KINDS`."""
    makers = {"columns": _c_attributes, "codes": _c_codes, "stumps": _c_stumps, "products": _c_products}
    if kind not in makers:
        raise BoostrunError(f"features of kind '{kind}' cannot be exported ({', '.join(makers)}, pieces can)")
    return makers[kind](features, saved)


def _make_columns(x_type: str, text: str, saved: Saved, tables, value: str, count: int, **rest) -> Columns:
    read = reading(saved, x_type)
    body = block(
        _COMPUTE_COLUMNS, type=x_type, u=count, value=re.sub(_COLUMN, lambda one: read.value.format(one[1]), value)
    )
    code = "\n\n".join([*tables, *read.tables, body])
    return Columns(x_type=x_type, x_size=read.size, x_text=saved.meaning(text), code=code, **rest)


def _c_attributes(features, saved) -> Columns:
    index = features["index"]
    tables, value, text, runs = [table("column", index)], "x[column[r]]", GIVEN, 0
    notes = "attributes are used as they are"
    if kind_of(saved.inputs, ("scaled",)):
        tables += [table(name, saved.inputs[name][index]) for name in ("shift", "factor")]
        value, text, runs = "(x[column[r]] - shift[r]) * factor[r]", IN_UNITS, len(index)
        notes = f"{runs} for scaling attributes, which the count leaves out"
    return _make_columns(
        "double", text, saved, tables, value, len(index), what="attributes", factor=np.ones(len(index)), runs=runs,
        notes=notes,
    )  # fmt: skip


def _c_codes(features, saved) -> Columns:
    index = features["index"]
    rest = {"factor": np.full(len(index), 1 / 255), "runs": 0, "what": "codes divided by 255"}
    column = table("column", index)
    if kind_of(saved.inputs, ("pixels", "edges")) != "edges":
        return _make_columns(
            "unsigned char", PIXELS, saved, [column], "x[column[r]]", len(index), **rest,
            notes="1/255 is part of the weights",
        )  # fmt: skip
    edges = saved.inputs["edges"][index]
    x_type = TYPES[edges.dtype.name]
    tables = [column, table("edge", edges), block(_CODE_OF, type=x_type)]
    value = f"code_of(x[column[r]], edge[r], {edges.shape[1]})"
    return _make_columns(
        x_type, IN_UNITS, saved, tables, value, len(index), **rest,
        notes="1/255 is part of the weights; a code is found by 8 comparisons, which are not counted",
    )  # fmt: skip


def _c_stumps(features, saved) -> Columns:
    index = features["index"]
    x_type, thresholds = thresholds_of(saved.inputs, index, features["threshold"])
    return _make_columns(
        x_type, UNITS[x_type], saved, [table("column", index), table("threshold", thresholds)],
        "x[column[r]] >= threshold[r] ? 1.0 : -1.0", len(index), what="thresholds of attributes",
        factor=np.ones(len(index)), runs=0, notes="a comparison for each feature is not counted",
    )  # fmt: skip


def _c_products(features, saved) -> Columns:
    pair = features["pair"]
    tables = [table("column", pair)]
    tables += [table(name, features[name]) for name in ("slope", "offset")]
    attribute, text, runs, notes = "x[column[r][{0}]]", GIVEN, 3 * len(pair), "3 for each product"
    if kind_of(saved.inputs, ("scaled",)):
        tables += [table(name, saved.inputs[name][pair]) for name in ("shift", "factor")]
        attribute = "(x[column[r][{0}]] - shift[r][{0}]) * factor[r][{0}]"
        text, runs = IN_UNITS, 5 * len(pair)
        notes = "5 for each product: the count has 3 and leaves the scaling to the training range out"
    sides = [f"(slope[r][{side}] * ({attribute.format(side)}) + offset[r][{side}])" for side in (0, 1)]
    return _make_columns(
        "double", text, saved, tables, f"\n                {sides[0]}\n                * {sides[1]}", len(pair),
        what="products of two attributes", factor=features["scale"], runs=runs, notes=notes,
    )  # fmt: skip


_RESPOND = """
    /* A filter's products with the windows that begin at `count` neighbouring pixels. */
    static void respond(const float *image, const float *filter, int count, float *restrict out)
    {
        for (int j = 0; j < count; j++)
            out[j] = 0.0f;
        for (int a = 0; a < @side@; a++, filter += @side@, image += @columns@)
            for (int j = 0; j < count; j++)
                out[j] += @row@;
    }
"""
_COMPUTE = """
    static void compute(const unsigned char *x, double *value)
    {
        float image[@pixels@], response[@cells@];
        for (int i = 0; i < @pixels@; i++)
            image[i] = (float)x[i] * (1.0f / 255.0f);
        for (int f = 0; f < @filters@; f++) {
            for (int i = filter_begin[f]; i < filter_begin[f + 1]; i++) {
                const int row = filter_run[i][0], column = filter_run[i][1], count = filter_run[i][2];
                respond(image + row * @columns@ + column, filter[f], count, response + row * @across@ + column);
            }
            for (int t = template_begin[f]; t < template_begin[f + 1]; t++) {
                const int m = template_mask[t];
                float best[@across@] = {0.0f}, largest = 0.0f;
                for (int i = mask_begin[m]; i < mask_begin[m + 1]; i++) {
                    const int column = mask_run[i][1], first = mask_run[i][0] * @across@ + column;
                    for (int j = 0; j < mask_run[i][2]; j++) {
                        const float masked = response[first + j] * mask[m][first + j];
                        best[column + j] = masked > best[column + j] ? masked : best[column + j];
                    }
                }
                for (int j = 0; j < @across@; j++)
                    largest = best[j] > largest ? best[j] : largest;
                value[template_place[t]] = code_of(largest * template_factor[t], edge, @edges@);
            }
        }
    }
"""


def template_columns(inputs: Mapping[str, np.ndarray], chosen: np.ndarray) -> Columns:
    """The C of the features ``chosen``, numbered as in the bank; values are codes from 0 to 255."""
    count, side = inputs["filters"].shape[:2]
    down, across = inputs["masks"].shape[1:]
    rows, columns = down + side - 1, across + side - 1
    mask_of, filter_of = np.divmod(chosen, count)
    filters, which = np.unique(filter_of, return_inverse=True)
    masks, under = np.unique(mask_of, return_inverse=True)
    support = inputs["masks"][masks] > 0
    order = np.lexsort((under, which))
    unions = [find_runs(support[under[which == f]].any(axis=0)) for f in range(len(filters))]
    under_masks = [find_runs(cells) for cells in support]
    maxima = inputs["maxima"][chosen]
    factor = np.divide(1, maxima, out=np.zeros_like(maxima), where=maxima > 0)
    tables = [
        table("filter", inputs["filters"][filters].reshape(len(filters), -1)),
        table("filter_begin", _starts(unions)), table("filter_run", np.concatenate(unions)),
        table("mask", inputs["masks"][masks].reshape(len(masks), -1)),
        table("mask_begin", _starts(under_masks)), table("mask_run", np.concatenate(under_masks)),
        table("template_begin", np.searchsorted(which[order], np.arange(len(filters) + 1))),
        table("template_mask", under[order]), table("template_place", order), table("template_factor", factor[order]),
        table("edge", inputs["edges"]),
    ]  # fmt: skip
    sizes = {"side": side, "columns": columns, "across": across}
    row = "\n                    + ".join(f"filter[{b}] * image[j + {b}]" for b in range(side))
    functions = [block(_CODE_OF, type="float"), block(_RESPOND, row=row, **sizes)]
    functions.append(block(
        _COMPUTE, pixels=rows * columns, cells=down * across, filters=len(filters), edges=len(inputs["edges"]), **sizes
    ))  # fmt: skip
    once = cost_with_patches_once(inputs, chosen)
    return Columns(
        what=f"largest responses of {len(filters)} patches of {side} x {side} pixels under {len(masks)} masks",
        x_type="unsigned char",
        x_size=rows * columns,
        x_text=f"the pixels of a grey image of {rows} x {columns}, from 0 to 255, row by row",
        code="\n\n".join([*tables, *functions]),
        factor=np.full(len(chosen), 1 / 255),
        runs=once,
        notes=f"{once} for responses under masks, each patch's response at a cell computed once for all masks that it "
        f"is chosen under ({int(template_costs(inputs)[chosen].sum())} when each template computes its own, "
        "which is what is counted); cells where a mask is 0 are never looked at; responses are single precision, as in "
        "training, and one within rounding of the edge between two codes may get the other code",
    )


def find_runs(cells: np.ndarray) -> np.ndarray:
    """(runs, 3) int64: row, first column and length of each run of neighbouring True ``cells`` (h, w).

    >>> find_runs(np.array([[True, True, False], [False, False, True]])).tolist()
    [[0, 0, 2], [1, 2, 1]]
    """
    framed = np.pad(cells.astype(np.int64), ((0, 0), (1, 1)))
    steps = np.diff(framed, axis=1)
    rows, first = np.nonzero(steps == 1)
    _, after = np.nonzero(steps == -1)
    return np.column_stack([rows, first, after - first])


def _starts(runs: list[np.ndarray]) -> np.ndarray:
    return np.cumsum([0, *map(len, runs)])


_PROJECT = """
    static void project(const double *x, double *v)
    {
        for (int a = 0; a < @D@; a++)
            v[a] = 0.0;
        for (int i = 0; i < @d@; i++) {
            const double centred = @x@ - mean[i];
            for (int a = 0; a < @D@; a++)
                v[a] += centred * axes[i][a];
        }
    }
"""
_SCALE = """
    static void project(const double *x, double *v)
    {
        for (int a = 0; a < @D@; a++)
            v[a] = (@x@ - mean[a]) * axes[a];
    }
"""
_PIECE_SCORES = """
    void scores(const double *x, double *out)
    {
        double v[@D@];
        project(x, v);
        for (int k = 0; k < @k@; k++)
            out[k] = base[k];
        for (int j = 0; j < @J@; j++) {
            double distance = 0.0;
            for (int a = 0; a < @D@; a++)
                distance += (v[a] - anchor[j][a]) * (v[a] - anchor[j][a]);
            if (distance >= squared_radius[j])
                continue;
            for (int a = 0; a < @D@; a++)
                for (int k = 0; k < @k@; k++)
                    out[k] += weight[j][a][k] * v[a];
            for (int k = 0; k < @k@; k++)
                out[k] += weight[j][@D@][k];
        }
    }
"""


def c_pieces(saved: Saved) -> ProgramParts:
    """The C of SharedFeatures of kind "pieces", at the end of its path."""
    model = saved.model
    if model.n_rounds == 0:
        raise BoostrunError("the model has no piece to export")
    projected = kind_of(saved.inputs, ("projected",))
    mean, axes = ((saved.inputs if projected else model.features)[name] for name in ("mean", "axes"))
    d, width = axes.shape
    diagonal = d == width and np.count_nonzero(axes - np.diag(np.diag(axes))) == 0
    pieces, k = len(model.features["anchor"]), model.n_classes
    tables = [
        table("mean", mean), table("axes", np.diag(axes) if diagonal else axes),
        table("anchor", model.features["anchor"]), table("squared_radius", np.square(model.features["radius"])),
        table("base", np.zeros(k)), table("weight", model.path[-1].reshape(pieces, width + 1, k)),
    ]  # fmt: skip
    projecting = width if diagonal else d * width
    counted = int(model.multiply_adds[-1])
    read = reading(saved, "double", d)
    words = {"d": d, "D": width, "k": k, "J": pieces, "x": read.value.format("a" if diagonal else "i")}
    projection = block(_SCALE if diagonal else _PROJECT, **words)
    return ProgramParts(
        what=f"{pieces} pieces with a linear map each, shared by {k} classes",
        x_type="double",
        x_size=read.size,
        x_text=saved.meaning(IN_UNITS if projected else GIVEN),
        n_scores=k,
        code="\n\n".join([*tables, *read.tables, projection, block(_PIECE_SCORES, **words)]),
        counted=counted,
        runs=counted + projecting,
        notes=f"{projecting} of them for the projection, which the count leaves out; pieces that x is not in cost "
        f"{width} in place of {width + (width + 1) * k}",
    )


_FLOAT64 = 11  # TensorProto.DOUBLE
_BYTE = (np.array(0, np.float32), np.array(255, np.float32))
_Features = Mapping[str, np.ndarray]
_Computed = tuple[str, type, str]  # name of the features (n, U) float64; type and meaning of X


def onnx_linear(saved: Saved) -> OnnxParts:
    """The operators of a linear predictor on few features."""
    if saved.model.kind == "pieces":
        kinds = ", ".join(_ONNX_MAKERS)
        raise BoostrunError(f"pieces cannot be written as ONNX ({kinds} can); use --to c for a predictor")
    predictor = linear_predictor(saved.model)
    if not len(predictor.weights):
        raise BoostrunError("the model has no feature to export")
    operators = Operators()
    features, x_type, x_text = _ONNX_MAKERS[predictor.kind](operators, predictor.features, saved)
    scores = operators.add("MatMul", features, np.ascontiguousarray(predictor.weights))
    scores = operators.add("Add", scores, predictor.base)
    k = predictor.weights.shape[1]
    return OnnxParts(predictor.what, np.dtype(x_type), saved.raw_width, x_text, k, operators, scores)


def onnx_shared_stumps(saved: Saved) -> OnnxParts:
    """The operators of SharedStumps."""
    return for_all_classes_onnx(saved, *matrix_form(saved.model))


def _onnx_columns(operators: Operators, features: _Features, saved: Saved) -> _Computed:
    scaled, text = _onnx_attributes(operators, features["index"], saved)
    return scaled, np.float64, text


def _onnx_attributes(operators: Operators, index: np.ndarray, saved: Saved) -> tuple[str, str]:
    """(name of X[:, index] float64, scaled as the model takes it; the meaning of X)."""
    out = operators.add("Gather", columns_of(operators, saved, np.dtype(np.float64)), index, axis=1)
    if not kind_of(saved.inputs, ("scaled",), "onnx"):
        return out, GIVEN
    out = operators.add("Sub", out, saved.inputs["shift"][index])
    return operators.add("Mul", out, saved.inputs["factor"][index]), saved.meaning(IN_UNITS)


def _onnx_codes(operators: Operators, features: _Features, saved: Saved) -> _Computed:
    index, text, x_type = features["index"], PIXELS, np.dtype(np.float32)
    edges = kind_of(saved.inputs, ("pixels", "edges"), "onnx") == "edges"
    if edges:
        text, x_type = saved.meaning(IN_UNITS), saved.inputs["edges"].dtype
    out = operators.add("Gather", columns_of(operators, saved, x_type), index, axis=1)
    if edges:
        out = operators.add("Unsqueeze", out, np.array([2]))
        out = operators.add("GreaterOrEqual", out, saved.inputs["edges"][index])
        out = operators.add("ReduceSum", operators.add("Cast", out, to=_FLOAT64), np.array([2]), keepdims=0)
    else:
        out = operators.add("Clip", operators.add("Floor", out), *_BYTE)
        out = operators.add("Cast", out, to=_FLOAT64)
    return operators.add("Div", out, np.array(255.0)), x_type.type, text


def _onnx_stumps(operators: Operators, features: _Features, saved: Saved) -> _Computed:
    compared = compare(operators, saved, features["index"], features["threshold"])
    return signs(operators, compared.above), compared.x_type.type, compared.x_text


def _onnx_products(operators: Operators, features: _Features, saved: Saved) -> _Computed:
    out: str | np.ndarray = features["scale"]
    for side in (0, 1):
        attributes, text = _onnx_attributes(operators, features["pair"][:, side], saved)
        attributes = operators.add("Mul", attributes, features["slope"][:, side])
        out = operators.add("Mul", out, operators.add("Add", attributes, features["offset"][:, side]))
    return str(out), np.float64, text


_ONNX_MAKERS = {"columns": _onnx_columns, "codes": _onnx_codes, "stumps": _onnx_stumps, "products": _onnx_products}
