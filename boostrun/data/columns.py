"""The columns of a table: the form of a column's values, and its values as numbers.

A column of text may hold numbers, dates, times, truth values or categories. :func:`form_of` decides which from the
distinct texts of the column, and only where they leave no doubt; otherwise it says which key decides. A :class:`Form`
then turns each value into the same number, whichever other rows stand beside it: in training and, saved with the model,
for new rows.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boostrun.errors import BoostrunError

UNSEEN = -1.0
"""The number for a text that the training part of a table does not have."""

# -- numbers as text: an example of each form, its pattern, and the replacements that make it a number

_GROUP = "['’\u00a0\u202f ]"
_NUMBERS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "1.5": (r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", ()),
    "1,5": (r"(?:\d+,?\d*|,\d+)(?:[eE][+-]?\d+)?", ((",", "."),)),
    "1,234.5": (r"(?:[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}|\d+)(?:\.\d*)?", ((",", ""),)),
    "1.234,5": (r"(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d*)?", ((r"\.", ""), (",", "."))),
    "1 234.5": (rf"(?:[1-9]\d{{0,2}}(?:{_GROUP}\d{{3}})+|\d+)(?:\.\d*)?", ((_GROUP, ""),)),
    "1 234,5": (rf"(?:[1-9]\d{{0,2}}(?:{_GROUP}\d{{3}})+|\d+)(?:,\d*)?", ((_GROUP, ""), (",", "."))),
}  # fmt: skip
_NEGATIVE = (("^−", "-"), (r"^\((.*\d.*)\)$", r"-\1"), (r"^(\d.*\d|\d)-$", r"-\1"))  # of book-keepers, too
_SAID = {
    "1,5": "decimal commas", "1,234.5": "commas between thousands", "1.234,5": "dots between thousands",
    "1 234.5": "blanks between thousands", "1 234,5": "blanks between thousands, decimal commas",
    "%": "percent", "$": "currency",
}  # fmt: skip
_SIGN, _MONEY = "[+-]?", "(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR|CNY)"
_UNITS = {"": ("", ""), "%": ("", r"\s?%"), "$": (rf"(?:{_MONEY}\s?)?", rf"(?:\s?{_MONEY})?")}
_UNIT = re.compile(rf"[%]|{_MONEY}")
_EDGES = rf"^({_SIGN})(?:{_MONEY}\s?)?({_SIGN})|\s?(?:%|{_MONEY})$"

# -- dates and times: an example of each form, its pattern, and how it becomes year-month-day

_CLOCK = r"(?:[T ]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s?[ap]m)?)?"
_ZONE = r"\s?(?:Z|UTC|[+-]\d{2}:?\d{2})"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = rf"(?:{'|'.join(_NAMES)})[a-z]*\.?"
_DATES: dict[str, tuple[str, str, str]] = {
    "2024-01-31": (rf"\d{{4}}([-/.]){_MONTH}[-/.]{_DAY}", r"^(\d{4})[-/.](\d+)[-/.](\d+)", r"\1-\2-\3"),
    "31.01.2024": (rf"{_DAY}\.{_MONTH}\.\d{{4}}", r"^(\d+)\.(\d+)\.(\d{4})", r"\3-\2-\1"),
    "31/01/2024": (rf"{_DAY}[-/]{_MONTH}[-/]\d{{4}}", r"^(\d+)[-/](\d+)[-/](\d{4})", r"\3-\2-\1"),
    "01/31/2024": (rf"{_MONTH}[-/]{_DAY}[-/]\d{{4}}", r"^(\d+)[-/](\d+)[-/](\d{4})", r"\3-\1-\2"),
    "31/01/24": (rf"{_DAY}[-/.]{_MONTH}[-/.]\d{{2}}", r"^(\d+)[-/.](\d+)[-/.](\d{2})", r"\3-\2-\1"),
    "01/31/24": (rf"{_MONTH}[-/]{_DAY}[-/]\d{{2}}", r"^(\d+)[-/](\d+)[-/](\d{2})", r"\3-\1-\2"),
    "31 Jan 2024": (rf"{_DAY}[- ]{_NAME}[- ]\d{{4}}", r"^(\d+)[- ]([a-z]+)\.?[- ](\d{4})", r"\3-\2-\1"),
    "Jan 31, 2024": (rf"{_NAME} {_DAY},? \d{{4}}", r"^([a-z]+)\.? (\d+),? (\d{4})", r"\3-\1-\2"),
}  # fmt: skip
_ORDERS = {"dmy": ("31/01/2024", "31/01/24"), "mdy": ("01/31/2024", "01/31/24")}
_TIME = r"\d{1,4}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?"

_FLAGS = {"true": 1.0, "false": 0.0}
_HALF = 0.5
KINDS = ("number", "category", "date", "date_dmy", "date_mdy", "drop")
"""What ``dataset.types`` may say of a column."""


class Form(NamedTuple):
    """How the values of a column become numbers.

    ``kind`` is number, flag, date, time or category; ``detail`` an example of a number or date as the column writes it;
    ``words`` the categories of the training part, sorted: a category becomes its place among them, or -1.

    >>> import pyarrow
    >>> Form("number", "1.234,5").numbers(pyarrow.array(["1.000,5", None, "x"]))
    (array([1000.5,    nan,    nan]), array([False, False,  True]))
    >>> Form("date", "31.01.2024").numbers(pyarrow.array(["1.1.1970 00:01"]))[0]
    array([60.])
    """

    kind: str
    detail: str = "1.5"
    words: tuple[str, ...] = ()

    def numbers(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """The values of a pyarrow array, (n,) float64, NaN where missing; and (n,) bool, the values of no such form.

        Dates are seconds since 1970 (UTC without a zone), times seconds. Values that are not text keep their own
        meaning. Raises BoostrunError for lists and other nested values.
        """
        if self.kind == "category":
            return self._places(as_text(column))
        found = typed(column)
        if found is not None:
            return found, np.zeros(len(found), bool)
        column, convert = as_text(column), {"flag": _flags, "date": _dates, "time": _times}.get(self.kind, _numbers)
        return convert(column, self.detail)

    def said(self) -> str:
        """The form in words, for a line to the user; empty for plain numbers, truth values and categories."""
        if self.kind == "number":
            unit = self.detail[-1] if self.detail[-1] in "%$" else ""
            parts = [_SAID.get(self.detail.removesuffix(unit), ""), _SAID.get(unit, "")]
            return ", ".join(filter(None, parts))
        return {"date": f"dates such as {self.detail}, as seconds", "time": "times, as seconds"}.get(self.kind, "")

    def _places(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        known = np.array(self.words) if self.words else np.array([""])
        missing = np.asarray(column.is_null())
        words = np.array(column.fill_null("").to_pylist(), dtype=object)
        values = words.astype(str) if len(words) else np.empty(0, "U1")
        places = np.minimum(np.searchsorted(known, values), len(known) - 1)
        found = np.where(known[places] == values, places, UNSEEN)
        return np.where(missing, np.nan, found), np.zeros(len(found), bool)


PLAIN = Form("number")
FORMS = {Form("flag", ""), *(Form("date", detail) for detail in _DATES), Form("time", "12:30"),
         *(Form("number", detail + unit) for detail in _NUMBERS for unit in _UNITS)}  # fmt: skip
"""All forms but categories."""


def typed(column: Any) -> np.ndarray | None:
    """The values of a pyarrow array of numbers, truth values or times, (n,) float64, NaN where missing; None for text.

    Timestamps and dates are seconds since 1970 (UTC), times and durations seconds, each the nearest double. Raises
    BoostrunError for lists and other nested values.
    """
    import pyarrow as pa
    from pyarrow import compute, types

    kind = column.type
    if types.is_dictionary(kind):
        return typed(column.dictionary_decode()) if not _is_text(kind.value_type) else None
    if _is_text(kind):
        return None
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if types.is_date32(kind):
        column, kind = column.cast(pa.timestamp("s")), pa.timestamp("s")
    elif types.is_date64(kind):
        column, kind = column.cast(pa.timestamp("ms")), pa.timestamp("ms")
    if types.is_timestamp(kind) or types.is_time(kind) or types.is_duration(kind):
        a_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        ticks = column.cast(pa.int32() if types.is_time32(kind) else pa.int64())
        ticks = ticks.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.where(np.asarray(column.is_null()), np.nan, ticks // a_second + (ticks % a_second) / a_second)
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
        raise BoostrunError(f"values of the type {kind}, which are no numbers, text or dates")
    if types.is_uint64(kind) or types.is_int64(kind):  # a cast refuses numbers that are no doubles
        found = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
        return np.where(np.asarray(column.is_null()), np.nan, found) if column.null_count else found
    return compute.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def form_of_type(kind: Any) -> Form:
    """The form in which values of an Arrow type are read from text: truth values, dates, times, or numbers."""
    from pyarrow import types

    if types.is_boolean(kind):
        return Form("flag", "")
    if types.is_timestamp(kind) or types.is_date(kind):
        return Form("date", "2024-01-31")
    return Form("time", "12:30") if types.is_time(kind) or types.is_duration(kind) else PLAIN


def as_text(column: Any) -> Any:
    """A pyarrow array as text without blanks at both ends; whole numbers are written without a fraction."""
    import pyarrow as pa
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_floating(column.type):
        values = [None if value is None else _short(value) for value in column.to_pylist()]
        return pa.array(values, pa.large_string())
    if types.is_boolean(column.type):
        return pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.large_string())
    if not _is_text(column.type) or not types.is_large_string(column.type):
        column = column.cast(pa.large_string())
    return compute.utf8_trim_whitespace(column)


def _short(value: float) -> str:
    return str(int(value)) if value == value // 1 and abs(value) < 2**63 else repr(value)


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def without(column: Any, missing: Sequence[str]) -> Any:
    """A column of text in which the words that stand for a missing value are null."""
    import pyarrow as pa
    from pyarrow import compute

    if not _is_text(column.type):
        return column
    gone = compute.is_in(column, value_set=pa.array(list(missing), column.type))
    return compute.if_else(gone, pa.scalar(None, column.type), column)


def _matching(column: Any, pattern: str) -> np.ndarray:
    from pyarrow import compute

    return np.asarray(compute.match_substring_regex(column, f"^(?:{pattern})$").fill_null(False))


def _replaced(column: Any, pattern: str, by: str) -> Any:
    from pyarrow import compute

    return compute.replace_substring_regex(column, pattern, by)


def _cast(column: Any, good: np.ndarray, kind: Any) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    return compute.cast(compute.if_else(pa.array(good), column, pa.scalar(None, column.type)), kind)


def _numbers(column: Any, detail: str) -> tuple[np.ndarray, np.ndarray]:
    import pyarrow as pa

    unit = detail[-1] if detail[-1] in "%$" else ""
    pattern, replacements = _NUMBERS[detail.removesuffix(unit)]
    before, after = _UNITS[unit]
    for old, new in _NEGATIVE:
        column = _replaced(column, old, new)
    good = _matching(column, f"{_SIGN}{before}{_SIGN if unit else ''}{pattern}{after}|[+-]?(?i:inf|infinity)")
    if unit:
        column = _replaced(column, _EDGES, r"\1\2")
    for old, new in replacements:
        column = _replaced(column, old, new)
    values = _cast(_replaced(column, r"^\+", ""), good, pa.float64()).to_numpy(zero_copy_only=False)
    return values, ~good & ~np.asarray(column.is_null())


def _flags(column: Any, detail: str) -> tuple[np.ndarray, np.ndarray]:
    from pyarrow import compute

    lower = compute.utf8_lower(column)
    found = np.full(len(column), np.nan)
    for word, value in _FLAGS.items():
        found[np.asarray(compute.equal(lower, word).fill_null(False))] = value
    return found, np.isnan(found) & ~np.asarray(column.is_null())


def _dates(column: Any, detail: str) -> tuple[np.ndarray, np.ndarray]:
    import pyarrow as pa
    from pyarrow import compute

    given = compute.utf8_lower(column)
    day, old, new = _DATES[detail]
    fitting = _matching(given, f"(?i:{day}{_CLOCK})")
    zoned = _matching(given, f"(?i:{day}{_CLOCK}(?:{_ZONE}))") & ~fitting
    noon = np.zeros(len(column))  # 3 pm is 15:00, 12 am is 0:00
    for half, first, hours in (("p", r"0?[1-9]|1[01]", 12), ("a", "12", -12)):
        noon += 3600.0 * hours * _matching(given, rf".*[t ](?:{first}):.*{half}m")
    text = _replaced(_replaced(given, r"\s?[ap]m$", ""), old, new)
    if detail.endswith("/24"):
        text = _replaced(_replaced(text, r"^([0-6]\d-)", r"20\1"), r"^([7-9]\d-)", r"19\1")
    if "Jan" in detail:
        for number, name in enumerate(_NAMES, 1):
            text = _replaced(text, rf"-{name}[a-z]*-", f"-{number:02}-")
    for _ in range(2):  # neighbours overlap
        text = _replaced(text, r"([-t :])(\d)([-t :]|$)", r"\10\2\3")
    text = _replaced(_replaced(_replaced(text, r"[t ]+(\d)", r" \1"), ",", "."), r"(\.\d{6})\d+", r"\1")
    seconds = np.full(len(column), np.nan)
    for rows, kind in ((fitting, pa.timestamp("us")), (zoned, pa.timestamp("us", "UTC"))):
        if rows.any():
            part = text.filter(pa.array(rows))
            if kind.tz:
                part = _replaced(_replaced(part, r"\s?(?:z|utc)$", "Z"), r"\s?([+-]\d{2}):?(\d{2})$", r"\1:\2")
            seconds[rows] = _moments(part, kind)
    seconds += noon
    return seconds, np.isnan(seconds) & ~np.asarray(column.is_null())


def _moments(text: Any, kind: Any) -> np.ndarray:
    """Seconds since 1970 of texts such as "2024-01-31 12:00"; NaN for a day that is in no calendar."""
    import pyarrow as pa

    try:
        return typed(text.cast(kind))  # type: ignore[return-value]
    except pa.ArrowInvalid:
        found = np.full(len(text), np.nan)
        for word, places in _places_of(text).items():
            try:
                found[places] = typed(pa.array([word]).cast(kind))
            except pa.ArrowInvalid:
                continue
        return found


def _places_of(column: Any) -> dict[str, np.ndarray]:
    packed = column.dictionary_encode()
    codes = packed.indices.to_numpy(zero_copy_only=False)
    return {word: np.flatnonzero(codes == code) for code, word in enumerate(packed.dictionary.to_pylist())}


def _times(column: Any, detail: str) -> tuple[np.ndarray, np.ndarray]:
    import pyarrow as pa
    from pyarrow import compute

    good = _matching(column, _TIME)
    parts = compute.extract_regex(column, r"^(?P<h>\d+):(?P<m>\d{2})(?::(?P<s>\d{2}(?:\.\d+)?))?$")
    total = np.zeros(len(column))
    for field, factor in (("h", 3600.0), ("m", 60.0), ("s", 1.0)):
        part = compute.struct_field(parts, field)
        filled = compute.if_else(compute.equal(part, ""), pa.scalar("0", part.type), part)
        total += factor * _cast(filled, good, pa.float64()).to_numpy(zero_copy_only=False)
    return np.where(good, total, np.nan), ~good & ~np.asarray(column.is_null())


# -- which form a column of text has


class Seen(NamedTuple):
    """The distinct texts of a column, each with its number of rows and its first row (from 0)."""

    counts: Mapping[str, tuple[int, int]]
    rows: int


class Said(NamedTuple):
    """What the keys of the data set and the other columns say of a column."""

    kind: str | None = None
    decimal: str | None = None
    commas_separate: bool = False
    commas_are_decimal: bool = False


def number_forms(words: Iterable[str]) -> list[str]:
    """The details of the number forms that all texts have, the plain one first.

    >>> number_forms(["1,234", "999"]), number_forms(["$ 5", "$ 1,234.50"]), number_forms(["a"])
    (['1,5', '1,234.5', '1.234,5', '1 234,5'], ['1,234.5$'], [])
    """
    cores, units = set(), set()
    for word in words:
        sign = _UNIT.search(word)
        units.add("" if sign is None else "%" if sign.group() == "%" else "$")
        odd = word[:1] in "(−" or word.endswith("-")
        cores.add(functools.reduce(lambda text, pair: re.sub(pair[0], pair[1], text), _NEGATIVE, word) if odd else word)
    if len(units) != 1:
        return []
    (unit,) = units
    before, after = _UNITS[unit]
    found = []
    for detail, (pattern, _) in _NUMBERS.items():
        whole = re.compile(f"{_SIGN}{before}{_SIGN if unit else ''}{pattern}{after}")
        if all(whole.fullmatch(core) for core in cores):
            found.append(detail + unit)
    return found


def form_of(name: str, where: str, seen: Seen, said: Said) -> Form:
    """The form of a column of text with the distinct texts ``seen``; raises BoostrunError if they leave a doubt."""
    words = list(seen.counts)
    if said.kind == "category":
        return Form("category", "", tuple(sorted(words)))
    if not words:
        return PLAIN
    if said.kind in (None, "number"):
        found = _number_form(name, where, seen, said)
        if found is not None:
            return found
    if said.kind is None and all(word.lower() in _FLAGS for word in words):
        return Form("flag", "")
    if said.kind != "number":
        found = _date_form(name, where, seen, said.kind)
        if found is not None:
            return found
    if said.kind is not None:
        form = PLAIN if said.kind == "number" else Form("date", "2024-01-31")
        bad = _first_bad(seen, lambda word: bool(number_forms([word])) if said.kind == "number" else _is_date(word))
        raise BoostrunError(
            f"column '{name}' of {where} has {_shown(bad)} in row {seen.counts[bad][1] + 1}, which is no "
            f"{form.kind}, and dataset.types says {said.kind}; dataset.na=[{_shown(bad)}] reads it as missing"
        )
    _refuse_mixed(name, where, seen)
    return Form("category", "", tuple(sorted(words)))


def _number_form(name: str, where: str, seen: Seen, said: Said) -> Form | None:
    fits = number_forms(seen.counts)
    if not fits:
        return None
    unit = fits[0][-1] if fits[0][-1] in "%$" else ""
    bare = [detail.removesuffix(unit) for detail in fits]
    first = next(iter(seen.counts))
    doubt = next((word for word in seen.counts if "," in word or "." in word), first)

    def chosen(detail: str) -> Form:
        return Form("number", detail + unit)

    if said.decimal == "comma":
        commas = [detail for detail in ("1,5", "1.234,5", "1 234,5") if detail in bare]
        dotted = any("." in word for word in seen.counts)
        if commas:
            return chosen("1.234,5" if dotted and "1.234,5" in commas else commas[0])
    if said.decimal == "point":
        points = [detail for detail in ("1.5", "1,234.5", "1 234.5") if detail in bare]
        if points:
            return chosen(points[0])
    if "1.5" in bare:
        if said.commas_are_decimal and "1.234,5" in bare and any("." in word for word in seen.counts):
            raise _doubt(name, where, doubt, seen)
        return chosen("1.5")
    if "1,5" in bare and "1,234.5" in bare:
        if said.commas_separate:
            return chosen("1,234.5")
        if said.commas_are_decimal:
            return chosen("1,5")
        raise _doubt(name, where, doubt, seen)
    return chosen(bare[0])


def _doubt(name: str, where: str, word: str, seen: Seen) -> BoostrunError:
    return BoostrunError(
        f"column '{name}' of {where} has {word!r} in row {seen.counts[word][1] + 1}, which is two numbers, with or "
        "without thousands: dataset.decimal=point or dataset.decimal=comma says which"
    )


def _date_form(name: str, where: str, seen: Seen, kind: str | None) -> Form | None:
    words = list(seen.counts)
    fits = [detail for detail in _DATES if all(_is_date(word, detail) for word in words)]
    order = _ORDERS.get((kind or "").removeprefix("date_"))
    if order:
        fits = [detail for detail in fits if detail not in {*sum(_ORDERS.values(), ())} - {*order}]
    if any({pair[0], pair[1]} <= set(fits) for pair in zip(*_ORDERS.values())):
        word = words[0]
        raise BoostrunError(
            f"column '{name}' of {where} has {word!r} in row {seen.counts[word][1] + 1}: day or month first? "
            f"dataset.types={{{name}: date_dmy}} or date_mdy says it, dataset.drop=[{name}] leaves the column out"
        )
    if fits:
        return Form("date", fits[0])
    return Form("time", "12:30") if all(re.fullmatch(_TIME, word) for word in words) else None


def _is_date(word: str, detail: str | None = None) -> bool:
    return any(
        re.fullmatch(f"{pattern}{_CLOCK}(?:{_ZONE})?", word, re.IGNORECASE)
        for each, (pattern, _, _) in _DATES.items() if detail in (None, each)
    )  # fmt: skip


def _refuse_mixed(name: str, where: str, seen: Seen) -> None:
    """Raise BoostrunError for lists, and for numbers or dates among which a few other texts stand."""
    total = sum(count for count, _ in seen.counts.values())
    lists = [word for word in seen.counts if word[0] in "[{(" and word[-1] in "]})" and "," in word]
    if sum(seen.counts[word][0] for word in lists) >= _HALF * total:
        raise BoostrunError(
            f"column '{name}' of {where} has {_shown(lists[0])} in row {seen.counts[lists[0]][1] + 1}, a list: give "
            f"each of its values a column, or leave it out by dataset.drop=[{name}]"
        )
    for what, fits in (("numbers", lambda word: bool(number_forms([word]))), ("dates", _is_date)):
        good = {word for word in seen.counts if fits(word)}
        if sum(seen.counts[word][0] for word in good) < _HALF * total:
            continue
        others = [word for word in seen.counts if word not in good]
        if what == "numbers" and _are_codes(seen, good, others):
            return
        bad = min(others, key=lambda word: seen.counts[word][1])
        count = sum(seen.counts[word][0] for word in others)
        raise BoostrunError(
            f"column '{name}' of {where} holds {what} and {count} other values, first {_shown(bad)} in row "
            f"{seen.counts[bad][1] + 1}: dataset.na=[{_shown(bad)}] reads it as missing, "
            f"dataset.types={{{name}: category}} all of them as text"
        )


def _are_codes(seen: Seen, numbers: set[str], others: Sequence[str]) -> bool:
    """Whether numbers and other texts are the codes of categories: "V57" beside "250", each in several rows."""
    coded = all(re.fullmatch(r"[A-Za-z]{1,4}[-. ]?\d[\w.-]*", word) for word in others)
    return coded and len(seen.counts) <= max(2, seen.rows // 3)


def _first_bad(seen: Seen, good: Any) -> str:
    return min((word for word in seen.counts if not good(word)), key=lambda word: seen.counts[word][1])


def _shown(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:37]}..."
