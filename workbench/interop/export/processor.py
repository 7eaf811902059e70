"""Processor in the loop: the exported law cross-compiled for a Cortex-M7, run in QEMU on the samples of the verified run.

The board is QEMU's mps2-an500: a Cortex-M7 with double precision, 4 MB of memory for code and 4 MB for data. The instructions are
counted by QEMU's own clock (-icount), which ticks once an instruction; that is a count, no time of a real processor.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.interop.export.again import NO_NUMBER
from workbench.interop.export.checking import PATIENCE, Finding, like_the_run, ran_within
from workbench.interop.export.package import REPLAYED
from workbench.interop.export.replay import Replay

CC, SIZE, QEMU = "arm-none-eabi-gcc", "arm-none-eabi-size", "qemu-system-arm"
TICK = 40  # instructions a tick of the board's timer of 25 MHz, where QEMU's clock runs at 1 ns an instruction
FLAGS = (
    *("-std=gnu99", "-O2", "-ffp-contract=off", "-ffunction-sections", "-Wl,--gc-sections"),
    *("-mcpu=cortex-m7", "-mthumb", "-mfpu=fpv5-d16", "-mfloat-abi=hard", "--specs=rdimon.specs"),
)

_LINK = """\
ENTRY(Reset_Handler)
MEMORY { FLASH (rx) : ORIGIN = 0x00000000, LENGTH = 4M  RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 4M }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) . = ALIGN(8); } > FLASH
  .ARM.exidx : { *(.ARM.exidx*) } > FLASH
  .data : { *(.data*) . = ALIGN(8); } > RAM
  .bss : { __bss_start__ = .; *(.bss*) *(COMMON) . = ALIGN(8); __bss_end__ = .; } > RAM
  end = .; __end__ = .;
  __stack = ORIGIN(RAM) + LENGTH(RAM);
}
"""

_MAIN = """\
#include <stdio.h>
#include <string.h>
#include "{name}.h"

extern unsigned long __stack;
extern void _start(void);
void _init(void) {{}}
void _fini(void) {{}}
void Reset_Handler(void)
{{
  *(volatile unsigned long *)0xE000ED88 |= 0xFul << 20; /* the floating-point unit, on */
  __asm volatile("dsb\\n isb");
  _start();
}}
__attribute__((section(".vectors"), used)) static void *const vectors[] = {{&__stack, (void *)Reset_Handler}};

#define TIMER ((volatile unsigned long *)0xE000E010)
static const {real} rows[{count}][{width}] = {{
{rows}
}};
static unsigned long long bits[{count}][{out}];
#define PAINTED 65536 /* bytes of stack that are watched */

int main(void)
{{
  static {name}_memory z;
  {name}_outputs u;
  unsigned long begun, ticks;
  unsigned free = 0;
  volatile unsigned char *top;
  z = {name}_initial_memory;
  {name}_start(&{name}_default_constants, (const {name}_inputs *)rows[0], &z);
  /* nothing lies below the stack's pointer here: it is painted, and looked at afterwards */
  __asm volatile("mov %0, sp" : "=r"(top));
  for (unsigned i = 1; i <= PAINTED; ++i) *(top - i) = 0xA5;
  TIMER[1] = 0xFFFFFF;
  TIMER[2] = 0;
  TIMER[0] = 5;
  while ((begun = TIMER[2]) == 0) {{}}
  for (unsigned k = 0; k < {count}; ++k) {{
    {name}_step(&{name}_default_constants, (const {name}_inputs *)rows[k], &z, &u);
    for (unsigned i = 0; i < {out}; ++i) {{
      double value = ((const {real} *)&u)[i];
      memcpy(&bits[k][i], &value, sizeof value);
    }}
  }}
  ticks = begun - TIMER[2];
  while (free < PAINTED && *(top - PAINTED + free) == 0xA5) ++free;
  for (unsigned k = 0; k < {count}; ++k)
    for (unsigned i = 0; i < {out}; ++i) printf("%016llx\\n", bits[k][i]);
  printf("stack %u\\nticks %lu\\n", PAINTED - free, ticks);
  return 0;
}}
"""


@dataclass(frozen=True)
class OnProcessor:
    """What a run on the processor told: commands (n, m), instructions a sample on average, bytes of what lies where."""

    commands: np.ndarray
    instructions: int
    flash: int
    memory: int
    stack: int


def missing() -> str:
    """The tools that are not there, in words; empty where all are."""
    gone = [tool for tool in (CC, SIZE, QEMU) if shutil.which(tool) is None]
    return f"{', '.join(gone)} not installed" if gone else ""


def on_processor(folder: Path, data: dict, run: Replay) -> OnProcessor:
    """The law in `folder`, whose manifest is `data`, on the first samples of the run.

    Raises OSError, with what the tool said, where it cannot be built or does not run to its end.
    """
    few = run.first(REPLAYED)
    beside = Path(tempfile.mkdtemp(prefix="fluidproof-arm-"))
    try:
        (beside / "board.ld").write_text(_LINK)
        (beside / "main.c").write_text(_program(data, few))
        name = data["name"]
        elf = beside / "law.elf"
        sources = [str(beside / "main.c"), str(folder / f"{name}.c")]
        place = ["-I", str(folder), "-nostartfiles", "-T", str(beside / "board.ld")]
        crt = _said([CC, *FLAGS, "-print-file-name=rdimon-crt0.o"]).strip()
        _said([CC, *FLAGS, *place, "-o", str(elf), crt, *sources, "-lm"])
        _said([CC, *FLAGS, "-I", str(folder), "-c", "-o", str(beside / "law.o"), sources[1]])
        sizes = _said([SIZE, str(beside / "law.o")]).splitlines()[1].split()
        board = ["-M", "mps2-an500", "-nographic", "-icount", "shift=0", "-kernel", str(elf)]
        told = _said([QEMU, *board, "-semihosting-config", "enable=on,target=native"])
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return _read(told, len(few.t), len(data["commands"]), sizes)


def _program(data: dict, run: Replay) -> str:
    real = "float" if data["single"] else "double"
    rows = [", ".join(repr(float(v)) for v in row) for row in run.inputs]
    return _MAIN.format(
        name=data["name"],
        real=real,
        count=len(rows),
        width=run.inputs.shape[1],
        rows=",\n".join(f"  {{{row}}}" for row in rows),
        out=len(data["commands"]),
    )


def _read(told: str, rows: int, width: int, sizes: list[str]) -> OnProcessor:
    """What the program printed, as numbers."""
    words = re.findall(r"\b[0-9a-f]{16}\b", told)
    stack = re.search(r"stack (\d+)", told)
    ticks = re.search(r"ticks (\d+)", told)
    if len(words) != rows * width or stack is None or ticks is None:
        raise OSError(f"the processor did not come to the end of the run: {told[-200:]!r}")
    commands = np.array([int(word, 16) for word in words], np.uint64).view(np.float64)
    text, constants, memory = map(int, sizes[:3])
    return OnProcessor(
        commands.reshape(rows, width),
        TICK * int(ticks[1]) // rows,
        text + constants,
        memory,
        int(stack[1]),
    )


def _said(command: list[str]) -> str:
    """What a tool prints; OSError, with its first words, where it fails."""
    ran = ran_within(command)
    if ran is None:
        raise OSError(f"{command[0]} did not end within {PATIENCE:g} s")
    if ran.returncode:
        raise OSError(f"{command[0]}: {(ran.stderr or ran.stdout).strip()[:300]}")
    return ran.stdout


def in_the_loop(folder: Path, data: dict, run: Replay) -> Finding:
    """The finding of the run on the processor: to the last bit with doubles."""
    what = "Cortex-M7 in QEMU"
    gone = missing()
    if gone:
        return Finding(what, None, gone)
    try:
        found = on_processor(folder, data, run)
    except OSError as why:
        return Finding(what, False, str(why))
    if not np.isfinite(found.commands).all():
        return Finding(what, False, NO_NUMBER)
    also = (
        f"; about {found.instructions} instructions a sample, {found.flash} bytes of code and "
        f"constants, {found.stack} of stack, hard floating point"
    )
    seen = run.first(REPLAYED)
    return like_the_run(what, found.commands, seen, data["allowed"], data["commands"], also)
