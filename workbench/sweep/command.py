"""`workbench sweep FILE`: many cases of a case or plan file, one table."""

from __future__ import annotations

import os

from workbench.commands import terminal
from workbench.commands.codes import INTERRUPTED
from workbench.contract.errors import InputError
from workbench.sweep.cluster import check_address
from workbench.sweep.form import read_sweep
from workbench.sweep.run import sweep
from workbench.sweep.summary import told
from workbench.sweep.table import ending


def run_sweep(options) -> int:
    """Run the verb; 0 when the table is written, whatever it says, 1 when every case failed, 130 on Ctrl-C."""
    out = options.out or os.path.splitext(os.path.basename(options.file))[0] + ".nc"
    ending(out)
    if options.scheduler is not None:
        check_address(options.scheduler)
    asked = read_sweep(options.file, options.set)
    if os.path.realpath(out) in map(os.path.realpath, asked.files):
        raise InputError(
            "--out would overwrite the sweep or its case or plan file",
            file=out,
            mend="give it a name of its own",
        )
    kept: list[int] = []
    try:
        with terminal.progress(not options.quiet) as tell:
            tell(0.0, "starting")
            table = sweep(
                asked.study,
                asked.grid,
                out=out,
                resume=options.resume,
                jobs=options.jobs,
                scheduler=options.scheduler,
                units=asked.units,
                about=asked.about,
                progress=tell,
                told=lambda known, _: kept.append(known),
            )
    except KeyboardInterrupt:
        kept_at = f"{os.path.realpath(out)}.journal"
        terminal.complain(
            f"interrupted; finished cases are kept in {out}.journal: go on with --resume"
            if os.path.exists(kept_at)
            else "interrupted before any case had finished; nothing was written"
        )
        return INTERRUPTED
    if not options.quiet:
        for line in told(asked, table, kept[0], out):
            terminal.say(line)
    return 1 if all(table.errors) else 0
