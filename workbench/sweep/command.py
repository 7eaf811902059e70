"""`workbench sweep FILE`: many cases of a case file, one table."""

from __future__ import annotations

import os

from workbench import terminal
from workbench.errors import InputError
from workbench.sweep.cluster import check_address
from workbench.sweep.form import Sweep, read_sweep
from workbench.sweep.run import sweep
from workbench.sweep.table import Table, ending
from workbench.units import format_quantity

INTERRUPTED = 130


def run_sweep(options) -> int:
    """Run the verb; 0 when the table is written, whatever it says, 1 when every case failed, 130 on Ctrl-C."""
    out = options.out or os.path.splitext(os.path.basename(options.file))[0] + ".nc"
    ending(out)
    if options.scheduler is not None:
        check_address(options.scheduler)
    asked = read_sweep(options.file)
    if os.path.realpath(out) in map(os.path.realpath, asked.files):
        raise InputError("--out would overwrite the sweep or its case file", file=out, mend="give it a name of its own")
    kept: list[int] = []
    try:
        with terminal.progress(not options.quiet) as tell:
            tell(0.0, "starting")
            table = sweep(asked.study, asked.grid, out=out, resume=options.resume, jobs=options.jobs, scheduler=options.scheduler,
                          units=asked.units, about=asked.about, progress=tell, told=lambda known, _: kept.append(known))
    except KeyboardInterrupt:
        terminal.complain(f"interrupted; finished cases are kept in {out}.journal: go on with --resume")
        return INTERRUPTED
    if not options.quiet:
        for line in told(asked, table, kept[0], out):
            terminal.say(line)
    return 1 if all(table.errors) else 0


def told(asked: Sweep, table: Table, kept: int, out: str) -> list[str]:
    """What the terminal shows: how often each claim holds, ranges of the numbers, what failed."""
    room, clean = terminal.columns(), terminal.clean
    lines = [terminal.headline(f"{asked.title} · {len(table)} cases over {', '.join(asked.grid.names)}", out, room)]
    for column in table.columns[:-1]:
        if column.parameter:
            continue
        if column.values.dtype == object:
            words = [w for w in column.values if w]
            if column.name.endswith(".strength"):
                continue
            counts = sorted({w: words.count(w) for w in set(words)}.items(), key=lambda e: (-e[1], e[0]))
            said = ", ".join(f"{w} {n}" for w, n in counts[:4]) + (" …" if len(counts) > 4 else "")
        else:
            finite = column.values[column.values == column.values]
            if not len(finite):
                continue
            low, high = (format_quantity(float(v), column.unit or "1", 3) for v in (finite.min(), finite.max()))
            said = low if low == high else f"{low} … {high}"
        lines += terminal.wrap(clean(f"  {column.name}: {said}"), room)
    failed = [i for i, error in enumerate(table.errors) if error]
    for i in failed[:3]:
        first, *rest = clean(table.errors[i]).split("\n")
        lines += [f"  case {i} failed: {first}", *(f"    {line}" for line in rest)]
    before = [f"{kept} taken from the journal"] if kept else []
    return [*lines, " · ".join([f"{len(table) - len(failed)} ran, {len(failed)} failed", *before, clean(out)])]
