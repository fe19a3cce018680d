"""The proof that a predictor of whole numbers runs on a chip: emulators give the twin's numbers, row by row.

A program with the predictor and some of the rows is compiled for the chip, and run by simavr (ATmega328P) or
qemu-system-arm (Cortex-M0 and M3); on this machine it runs as it is. It prints the class and the scores of each row,
and how much of the RAM below the stack it has touched. Rows are given in as many programs as the flash needs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.export.c import block
from boostrun.export.chip import source
from boostrun.export.forms import LinearForm, TreeForm, heap_trees, splits_of, stump_trees
from boostrun.export.integer import IntegerModel, quantised
from boostrun.export.parts import Saved

_STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
_ROOM = {"portable": 1 << 20, "avr": 12_000, "cortex-m": 100_000}  # bytes of rows in a program
_SECONDS = 300  # of an emulator


class Chip(NamedTuple):
    """A chip: its ``name``, ``compile`` and ``run`` as words of a command, ``size``, and Debian's ``packages``."""

    name: str
    compile: tuple[str, ...]
    run: tuple[str, ...]
    size: str
    packages: str


_ARM = ("arm-none-eabi-gcc", "-mthumb", "-Os", "-ffreestanding", "-nostdlib", "-nostartfiles", "-T", "{ld}")
_QEMU = ("qemu-system-arm", "-nographic", "-monitor", "none", "-serial", "none", "-semihosting-config",
         "enable=on,target=native")  # fmt: skip
_FOR_ARM = "gcc-arm-none-eabi qemu-system-arm"
CHIPS = {
    "portable": (Chip("this machine", ("cc", "-O2"), (), "size", "gcc"),),
    "avr": (
        Chip(
            "ATmega328P", ("avr-gcc", "-mmcu=atmega328p", "-Os", "-DF_CPU=16000000UL"),
            ("simavr", "-m", "atmega328p", "-f", "16000000"), "avr-size", "gcc-avr avr-libc simavr",
        ),
    ),
    "cortex-m": (
        Chip("Cortex-M0", (*_ARM, "-mcpu=cortex-m0"), (*_QEMU, "-M", "microbit", "-kernel"), "arm-none-eabi-size",
             _FOR_ARM),
        Chip("Cortex-M3", (*_ARM, "-mcpu=cortex-m3"), (*_QEMU, "-M", "lm3s6965evb", "-kernel"), "arm-none-eabi-size",
             _FOR_ARM),
    ),
}  # fmt: skip


class Proof(NamedTuple):
    """The answers of a chip: its ``name``; ``rows`` compared and ``different``; bytes of ``flash`` of the predictor,
    code and tables; bytes of static RAM ``data``; ``stack``, the most bytes used, None if they are not measured."""

    name: str
    rows: int
    different: int
    flash: int
    data: int
    stack: int | None


_MAIN = """
    @rows@
    static void text(const char *words)
    {
        while (*words)
            put(*words++);
    }

    static void number(boostrun_score value)
    {
        char digits[12];
        uint8_t n = 0;
        uint32_t left = (uint32_t)value;
        if (value < 0) {
            put('-');
            left = 0u - left;
        }
        do {
            digits[n++] = (char)('0' + (char)(left % 10u));
            left /= 10u;
        } while (left);
        while (n)
            put(digits[--n]);
    }

    static void all(void)
    {
        static boostrun_score out[@k@];
        static boostrun_x x[@columns@];
        for (uint16_t i = 0; i < @n@u; i++) {
            for (uint16_t j = 0; j < @columns@u; j++)
                x[j] = (boostrun_x)@read@;
            scores(x, out);
            number((boostrun_score)predict(x));
            for (uint16_t k = 0; k < @k@u; k++) {
                put(' ');
                number(out[k]);
            }
            put('\\n');
        }
    }
"""
_ON = {
    "portable": """
    #include <stdio.h>
    #include "model.h"
    static void put(char letter)
    {
        putchar(letter);
    }
""",
    "avr": """
    #include <avr/io.h>
    #include <avr/interrupt.h>
    #include <avr/sleep.h>
    #include <avr/pgmspace.h>
    #include "model.h"
    static void put(char letter)
    {
        while (!(UCSR0A & (1 << UDRE0)))
            ;
        UDR0 = (uint8_t)letter;
    }
""",
    "cortex-m": """
    #include <stdint.h>
    #include "model.h"
    static char line[256];
    static uint32_t filled;
    static void call(uint32_t operation, const void *argument)
    {
        register uint32_t r0 __asm__("r0") = operation;
        register const void *r1 __asm__("r1") = argument;
        __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    }
    static void put(char letter)
    {
        line[filled++] = letter;
        if (letter == '\\n' || filled == sizeof line - 1) {
            line[filled] = 0;
            filled = 0;
            call(4, line);
        }
    }
""",
}
_BEGIN = {
    "portable": """
    int main(void)
    {
        all();
        return 0;
    }
""",
    "avr": """
    extern uint8_t __heap_start;
    static volatile boostrun_score said;
    static boostrun_x some[@columns@];
    static boostrun_score answers[@k@];
    int main(void)
    {
        uint8_t *place = &__heap_start, *const top = (uint8_t *)(SP - 8);
        uint16_t used = 0;
        for (; place < top; place++)
            *place = 0xA5;
        said = (boostrun_score)predict(some);
        scores(some, answers);
        for (place = &__heap_start; place < top && *place == 0xA5; place++)
            ;
        used = (uint16_t)((uint8_t *)SP - place);
        UCSR0B = (1 << TXEN0);
        all();
        text("stack ");
        number((boostrun_score)used);
        put('\\n');
        cli();
        sleep_enable();
        sleep_cpu();
        return 0;
    }
""",
    "cortex-m": """
    extern uint32_t top_of_stack, data_from, data_begin, data_end, bss_begin, bss_end;
    void reset(void);
    void reset(void)
    {
        for (uint32_t *from = &data_from, *to = &data_begin; to < &data_end;)
            *to++ = *from++;
        for (uint32_t *to = &bss_begin; to < &bss_end;)
            *to++ = 0;
        all();
        call(0x18, (const void *)0x20026);
        for (;;)
            ;
    }
    __attribute__((section(".vectors"), used)) static void *const vectors[] = {
        &top_of_stack, (void *)reset, (void *)reset, (void *)reset
    };
    void *memset(void *to, int value, unsigned int n);
    void *memset(void *to, int value, unsigned int n)
    {
        volatile unsigned char *at = to;
        while (n--)
            *at++ = (unsigned char)value;
        return to;
    }
""",
}
_LD = """
MEMORY { flash (rx) : ORIGIN = 0, LENGTH = 256K  ram (rwx) : ORIGIN = 0x20000000, LENGTH = 16K }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) . = ALIGN(4); data_from = .; } > flash
  .data : { data_begin = .; *(.data*) . = ALIGN(4); data_end = .; } > ram AT > flash
  .bss : { bss_begin = .; *(.bss*) *(COMMON) . = ALIGN(4); bss_end = .; } > ram
  top_of_stack = ORIGIN(ram) + LENGTH(ram);
}
"""


ROWS = 1000  # that are compared


def proof_codes(model: IntegerModel, samples: np.ndarray | None = None) -> np.ndarray:
    """(1000, C) codes: at most 500 of the raw ``samples`` (n, d), and drawn ones, of all sizes and at thresholds."""
    rng, width = np.random.default_rng(0), len(model.codes.columns)
    drawn = rng.integers(0, model.codes.most + 1, (ROWS, width))
    if splits := [split for tree in model.trees for split in splits_of(tree)]:
        features, edges = np.array(splits).T
        place = rng.integers(0, len(splits), (ROWS // 2, 8))
        own = np.minimum(features[place], width - 1)
        drawn[np.arange(ROWS // 2)[:, None], own] = np.maximum(edges[place] - rng.integers(0, 2, place.shape), 0)
    if samples is not None:
        some = model.codes(samples[: ROWS // 2])
        drawn[ROWS - len(some) :] = some
    return drawn


def drawn_models() -> Iterator[tuple[str, IntegerModel, np.ndarray]]:
    """A model of each form that the C has, of drawn numbers, with its name and 600 raw rows."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(600, 8))
    samples[:, 3] = rng.integers(0, 10, 600)

    def form(name: str, trees: list, rows: list[int], k: int) -> tuple[str, TreeForm]:
        return name, TreeForm(name, trees, rows, rng.normal(size=k))

    def steps(count: int, width: int) -> np.ndarray:
        return rng.normal(size=(count, width))

    def splits(*shape: int) -> tuple[np.ndarray, np.ndarray]:
        features = rng.integers(0, 8, shape)
        return features, samples[rng.integers(0, 600, shape), features]

    def stumps(count: int, given: np.ndarray) -> list:
        return stump_trees(*splits(count), -given, given)

    signs = rng.choice([-1.0, 1.0], (30, 4)) * rng.random((30, 1))
    votes = rng.choice([-1.0, 1.0], (20, 8, 4)) * rng.random((20, 1, 1))
    own = np.arange(4).repeat(25).tolist()
    forms: list[tuple[str, TreeForm | LinearForm]] = [
        form("stumps of two classes", stumps(40, steps(40, 1)), [0] * 40, 1),
        form("stumps of each class", stumps(100, steps(100, 1)), own, 4),
        form("stumps of all classes", stumps(30, steps(30, 4)), [-1] * 30, 4),
        form("stumps that vote", stumps(30, signs), [-1] * 30, 4),
        form("trees of each class", heap_trees(*splits(100, 7), rng.normal(size=(100, 8, 1))), own, 4),
        form("trees of all classes", heap_trees(*splits(20, 7), rng.normal(size=(20, 8, 4))), [-1] * 20, 4),
        form("trees that vote", heap_trees(*splits(20, 7), votes), [-1] * 20, 4),
        ("linear", LinearForm("linear", np.arange(8), rng.normal(size=(8, 4)), np.zeros(4))),
    ]
    for name, one in forms:
        saved = Saved(None, [str(k) for k in range(max(2, len(one.base)))], 8, {}, "")
        yield name, quantised(saved, samples, form=one), samples


def lacking(target: str) -> str:
    """A sentence about the programs that the proof on a target needs and that are not installed; "" if all are."""
    for chip in CHIPS[target]:
        absent = [word for word in (chip.compile[0], chip.size, *chip.run[:1]) if not shutil.which(word)]
        if absent:
            return f"{', '.join(absent)} not found: on Debian and Ubuntu, apt install {chip.packages}"
    return ""


def prove(model: IntegerModel, codes: np.ndarray, target: str, flags: Sequence[str] = ()) -> list[Proof]:
    """Compare a predictor with its twin on ``codes`` (n, C), class and all scores of each row, on each chip.

    ``flags`` are added to the compiler's. Raises BoostrunError if a program is not installed, or fails.
    """
    if absent := lacking(target):
        raise BoostrunError(absent)
    scores = model.scores(codes)
    expected = np.column_stack([model.predict(codes), scores])
    found = []
    for chip in CHIPS[target]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            text = source(model, target)
            begin, end = text.index("#ifndef BOOSTRUN_MODEL"), text.index("#endif\n#endif") + len("#endif\n#endif")
            (folder / "model.h").write_text(text[begin:end] + "\n", encoding="ascii")
            (folder / "model.c").write_text(text, encoding="ascii")
            (folder / "chip.ld").write_text(_LD, encoding="ascii")
            compiler = [word.replace("{ld}", str(folder / "chip.ld")) for word in chip.compile]
            alone = [word for word in compiler if word not in ("-T", str(folder / "chip.ld"))]
            _called([*alone, *_STRICT, *flags, "-c", "-o", str(folder / "model.o"), str(folder / "model.c")])
            flash, data = _sizes(_called([chip.size, "-A", str(folder / "model.o")]))
            step = max(1, _ROOM[target] // (codes.shape[1] * model.codes.bits // 8))
            said, stack = [], None
            for start in range(0, len(codes), step):
                main = _program(model, codes[start : start + step], target)
                (folder / "main.c").write_text(main, encoding="ascii")
                parts = [str(folder / "main.c"), str(folder / "model.o")]
                libraries = ["-lgcc"] if target == "cortex-m" else []
                _called([*compiler, "-std=gnu99", *flags, "-o", str(folder / "main.elf"), *parts, *libraries])
                output = _called([*chip.run, str(folder / "main.elf")])
                lines = re.findall(r"^(-?\d+(?: -?\d+)+)\.?\s*$", re.sub(r"\x1b\[[\d;]*m", "", output), re.M)
                said += [list(map(int, line.split())) for line in lines]
                if seen := re.search(r"stack (\d+)", output):
                    stack = max(stack or 0, int(seen[1]))
        if len(said) != len(expected):
            raise BoostrunError(f"{chip.name} answered {len(said)} of {len(expected)} rows")
        different = int(np.any(np.array(said) != expected, axis=1).sum())
        found.append(Proof(chip.name, len(expected), different, flash, data, stack))
    return found


def _program(model: IntegerModel, codes: np.ndarray, target: str) -> str:
    kind, flash = f"uint{model.codes.bits}_t", "PROGMEM" if target == "avr" else ""
    numbers = ", ".join(map(str, codes.ravel().tolist()))
    rows = f"static const {kind} rows[{codes.size}] {flash} = {{{numbers}}};"
    read = "rows[(uint32_t)i * @columns@u + j]"
    if target == "avr":
        read = f"pgm_read_{'byte' if model.codes.bits == 8 else 'word'}(rows + i * @columns@u + j)"
    words = {"rows": rows, "read": read, "k": len(model.base), "columns": codes.shape[1], "n": len(codes)}
    return "\n\n".join(block(part, **words) for part in (_ON[target], _MAIN, _BEGIN[target])) + "\n"


def _sizes(said: str) -> tuple[int, int]:
    """(bytes of flash, bytes of static RAM) from the output of ``size -A``."""
    found = {name: int(size) for name, size in re.findall(r"^(\.[\w.]+)\s+(\d+)\s+\d+", said, re.M)}
    flash = sum(size for name, size in found.items() if name.startswith((".text", ".rodata", ".progmem", ".data")))
    return flash, sum(size for name, size in found.items() if name.startswith((".data", ".bss")))


def _called(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise BoostrunError(f"{Path(command[0]).name} ran longer than {_SECONDS} seconds") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["it says nothing"]
        raise BoostrunError(f"{Path(command[0]).name} failed: {next((s for s in said if 'error' in s), said[-1])}")
    return done.stdout + done.stderr
