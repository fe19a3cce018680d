"""Decide the type of a column of text by its distinct texts, and only if there is no doubt.

Numbers, dates and times are read as such if they are unmistakable. If two readings are possible, or only some texts
have a form, a BoostrunError names the column, the row, the text and the key that decides. Other texts are categories.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from boostrun.data.columns import (
    CLOCK,
    DATE_LIKE,
    DATES,
    FLAGS,
    INFINITE,
    MEASURED,
    NEGATIVE,
    NUMBER_LIKE,
    NUMBERS,
    ORDERS,
    PLAIN,
    SCALES,
    SIGN,
    TIME,
    UNIT,
    UNITS,
    ZONE,
    Form,
    bare_of,
    clocks,
)
from boostrun.errors import BoostrunError

_HALF = 0.5  # of the values of a column


class Seen(NamedTuple):
    """The distinct texts of a column, each with its number of rows and its first row (from 0)."""

    counts: Mapping[str, tuple[int, int]]
    rows: int


class Said(NamedTuple):
    """The facts about a column in the keys of the data set and in the other columns."""

    kind: str | None = None
    decimal: str | None = None
    commas_separate: bool = False
    commas_are_decimal: bool = False


def number_forms(words: Iterable[str]) -> list[str]:
    """The details of the number forms that all texts have, the plain one first.

    >>> number_forms(["1,234", "999"]), number_forms(["$ 5", "$ 1,234.50"]), number_forms(["a"])
    (['1,5', '1,234.5', '1.234,5', '1 234,5'], ['1,234.5$'], [])
    """
    words = [*words]
    cores, units = set(), {""} if words else set()
    if UNIT.search("\n".join(words)):
        signs = [UNIT.search(word) for word in words]
        units = {"" if sign is None else "%" if sign.group() == "%" else "$" for sign in signs}
    for word in words:
        odd = word[:1] in "(−–" or word.endswith("-")
        cores.add(functools.reduce(lambda text, pair: re.sub(pair[0], pair[1], text), NEGATIVE, word) if odd else word)
    if len(units) != 1:
        return []
    (unit,) = units
    before, after = UNITS[unit]
    found = []
    for detail, (pattern, _) in NUMBERS.items():
        whole = re.compile(f"{SIGN}{before}{SIGN if unit else ''}{pattern}{after}", re.ASCII)
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
    if said.kind is None and all(word.lower() in FLAGS for word in words):
        return Form("flag", "")
    if said.kind != "number":
        found = _date_form(name, where, seen, said.kind)
        if found is not None:
            return found
    if said.kind in (None, "number"):
        found = _measured_form(name, where, seen, said)
        if found is not None:
            return found
    if said.kind is not None:
        form = PLAIN if said.kind == "number" else Form("date", "2024-01-31")
        others = [word for word in words if not (_is_number(word) if said.kind == "number" else _is_date(word))]
        if not others:
            raise _two_ways(name, where, seen, f"{form.kind}s")
        bad = min(others, key=lambda word: seen.counts[word][1])
        raise BoostrunError(
            f"column '{name}' of {where} has {_shown(bad)} in row {seen.counts[bad][1] + 1}, which is no "
            f"{form.kind}, and dataset.types says {said.kind}; dataset.na=[{_shown(bad)}] reads it as missing"
        )
    _refuse_mixed(name, where, seen)
    _refuse_unread(name, where, seen)
    return Form("category", "", tuple(sorted(words)))


def _number_form(name: str, where: str, seen: Seen, said: Said) -> Form | None:
    fits = number_forms(word for word in seen.counts if not INFINITE.fullmatch(word))
    if not fits:
        return PLAIN if all(map(INFINITE.fullmatch, seen.counts)) else None
    unit = bare_of(fits[0])[1]
    bare = [bare_of(detail)[0] for detail in fits]
    first = next(iter(seen.counts))
    signs = {sign.group(): word for word in seen.counts if (sign := UNIT.search(word))}
    if len(signs) > 1 and said.kind is None:
        one, two, *_ = signs.values()
        raise BoostrunError(
            f"column '{name}' of {where} has {one!r} and, in row {seen.counts[two][1] + 1}, {two!r}: two currencies; "
            f"dataset.types={{{name}: number}} reads the amounts, dataset.types={{{name}: category}} text"
        )
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


def _measured_form(name: str, where: str, seen: Seen, said: Said) -> Form | None:
    """The form of numbers that stand before the same unit in each row; BoostrunError for units of other scales."""
    parts = [MEASURED.fullmatch(word) for word in seen.counts]
    if len(parts) < 2 or not all(part and number_forms([part[1]]) for part in parts):
        return None
    units = {part[2]: part[0] for part in parts if part}
    if len(units) > 1:
        if {unit.lower() for unit in units} <= SCALES:
            one, two, *_ = units.values()
            raise BoostrunError(
                f"column '{name}' of {where} has {one!r} and, in row {seen.counts[two][1] + 1}, {two!r}: write all "
                f"numbers in one unit; dataset.types={{{name}: category}} reads them as text"
            )
        return None
    cores = {part[1]: seen.counts[part[0]] for part in parts if part}
    form = _number_form(name, where, Seen(cores, seen.rows), said)
    return form and form._replace(detail=f"{form.detail} {next(iter(units))}")


def _two_ways(name: str, where: str, seen: Seen, kind: str) -> BoostrunError:
    """The error for words that are all numbers or dates, but of no common form."""
    first = next(iter(seen.counts))
    fits = number_forms if kind == "numbers" else lambda words: [each for each in DATES if _is_date(words[0], each)]
    other = next((word for word in seen.counts if not {*fits([first])} & {*fits([word])}), [*seen.counts][-1])
    return BoostrunError(
        f"column '{name}' of {where} holds {kind} written in two ways, {_shown(first)} in row "
        f"{seen.counts[first][1] + 1} and {_shown(other)} in row {seen.counts[other][1] + 1}: write them alike; "
        f"dataset.types={{{name}: category}} reads them as text, dataset.drop=[{name}] leaves them out"
    )


def _doubt(name: str, where: str, word: str, seen: Seen) -> BoostrunError:
    return BoostrunError(
        f"column '{name}' of {where} has {word!r} in row {seen.counts[word][1] + 1}, which is two numbers, with or "
        "without thousands: dataset.decimal=point or dataset.decimal=comma says which"
    )


def _date_form(name: str, where: str, seen: Seen, kind: str | None) -> Form | None:
    words = list(seen.counts)
    fits = [detail for detail in DATES if all(_is_date(word, detail) for word in words)]
    order = ORDERS.get((kind or "").removeprefix("date_"))
    if order:
        fits = [detail for detail in fits if detail not in {*sum(ORDERS.values(), ())} - {*order}]
    if any({pair[0], pair[1]} <= set(fits) for pair in zip(*ORDERS.values())):
        word = words[0]
        raise BoostrunError(
            f"column '{name}' of {where} has {word!r} in row {seen.counts[word][1] + 1}: day or month first? "
            f"dataset.types={{{name}: date_dmy}} or date_mdy says it, dataset.drop=[{name}] leaves the column out"
        )
    if fits and kind is None:
        _refuse_doubtful_dates(name, where, seen, fits[0])
    if fits:
        return Form("date", fits[0])
    return Form("time", "12:30") if all(map(_is_time, words)) else None


def _is_date(word: str, detail: str | None = None) -> bool:
    return any(
        re.fullmatch(f"{pattern}(?:{CLOCK}(?:{ZONE})?)?", word.lower(), re.IGNORECASE | re.ASCII)
        for each, (pattern, _, _) in DATES.items() if detail in (None, each)
    )  # fmt: skip


def clocks_of(seen: Seen, where: str) -> dict[bool, tuple[str, str]]:
    """The first moment with a time zone (True) and without one (False), each with its place in words."""
    import pyarrow as pa

    words = [*seen.counts]
    found = clocks(pa.array(words, pa.large_string()))
    return {zone: (words[at], f"row {seen.counts[words[at]][1] + 1} of {where}") for zone, at in found.items()}


def refuse_two_clocks(name: str, found: Mapping[bool, tuple[str, str]]) -> None:
    """Raise BoostrunError if a column has moments with a time zone (True) and without one, each with its place."""
    if len(found) > 1:
        (zoned, there), (naive, here) = found[True], found[False]
        raise BoostrunError(
            f"column '{name}' has {zoned!r} in {there} and {naive!r} in {here}, with and without a time zone: "
            f"dataset.types={{{name}: date}} reads {naive!r} as UTC"
        )


def _refuse_doubtful_dates(name: str, where: str, seen: Seen, detail: str) -> None:
    """Raise BoostrunError for moments with and without a time zone, and for two digits that may be year or day."""
    refuse_two_clocks(name, clocks_of(seen, where))
    if detail == "31/01/24":
        parts = [re.split("[-/. T]", word) for word in seen.counts]
        if len({part[0] for part in parts}) < len({part[2] for part in parts}) and all(
            len(part[0]) == 2 and 1 <= int(part[2]) <= 31 for part in parts
        ):
            word = next(iter(seen.counts))
            raise BoostrunError(
                f"column '{name}' of {where} has {word!r} in row {seen.counts[word][1] + 1}: day or year first? "
                f"dataset.types={{{name}: date_dmy}} says day; write years with four digits otherwise"
            )


def _refuse_unread(name: str, where: str, seen: Seen) -> None:
    """Raise BoostrunError for dates and numbers in a form that is not read."""
    for what, like, plain in (
        ("date or time", DATE_LIKE, "write it as 2024-01-31 10:30"), ("number", NUMBER_LIKE, "write it as 1.5"),
    ):  # fmt: skip
        odd = [word for word in seen.counts if like.fullmatch(word)]
        if odd and len(odd) >= _HALF * len(seen.counts):
            raise BoostrunError(
                f"column '{name}' of {where} has {_shown(odd[0])} in row {seen.counts[odd[0]][1] + 1}, a {what} in a "
                f"form that is not read: {plain}; dataset.types={{{name}: category}} reads it as text"
            )


def _is_time(word: str) -> bool:
    return re.fullmatch(TIME, word, re.ASCII) is not None


def _is_number(word: str) -> bool:
    return bool(number_forms([word]) or INFINITE.fullmatch(word))


def _refuse_mixed(name: str, where: str, seen: Seen) -> None:
    """Raise BoostrunError for lists, and for numbers or dates among which a few other texts stand."""
    total = sum(count for count, _ in seen.counts.values())
    lists = [word for word in seen.counts if word[0] in "[{(" and word[-1] in "]})" and "," in word]
    if sum(seen.counts[word][0] for word in lists) >= _HALF * total:
        raise BoostrunError(
            f"column '{name}' of {where} has {_shown(lists[0])} in row {seen.counts[lists[0]][1] + 1}, a list: give "
            f"each of its values a column, or leave it out by dataset.drop=[{name}]"
        )
    for what, fits in (("numbers", _is_number), ("dates", _is_date), ("times", _is_time)):
        good = {word for word in seen.counts if fits(word)}
        if sum(seen.counts[word][0] for word in good) < _HALF * total:
            continue
        others = [word for word in seen.counts if word not in good]
        if not others:
            raise _two_ways(name, where, seen, what)
        if what == "numbers" and _are_codes(seen, good, others):
            return
        bad = min(others, key=lambda word: seen.counts[word][1])
        if bad == name:
            raise BoostrunError(f"{where} repeats its line of names in row {seen.counts[bad][1] + 1}; remove that row")
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


def _shown(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:37]}..."
