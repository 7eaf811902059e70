"""`workbench identify`: records in files → a linear model, its uncertainty, and what the data cannot tell."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence

from workbench.commands import terminal
from workbench.contract.errors import InputError, short
from workbench.contract.units import quantity
from workbench.files.atomic import check_writable, write_atomic
from workbench.identification.fit import fit
from workbench.identification.model import Shape
from workbench.identification.order import compare
from workbench.identification.reading import read_record
from workbench.identification.report import document, text
from workbench.identification.residuals import examine, validate

HIGHEST_TRIED = 5  # with --order auto
UNDECIDED = 2  # exit code


def identify(options, write_report: Callable | None = None) -> int:
    """Run the verb; 0, UNDECIDED when the search ended at no minimum, or InputError.

    write_report(path, fit, own, fresh, records, selection, hints) writes the PDF.
    """
    inputs = _names(options.inputs)
    _check_options(options, inputs)
    structures = _structures(options, inputs)
    records = [_record(path, options, inputs) for path in options.data]
    fresh = [_record(path, options, inputs) for path in options.validate]
    how = {
        "trend": options.trend,
        "weights": "equal" if options.equal_weights else "noise",
        "causality": "ignore" if options.acausal else "refuse",
    }
    with terminal.progress(not options.quiet) as tell:
        tell(0.1, "identifying")
        selection = (
            compare(records, structures, options.output, **how) if len(structures) > 1 else None
        )
        found = (
            selection.best.fit if selection else fit(records, structures[0], options.output, **how)
        )
        own = examine(found)
        checked = validate(found, fresh) if fresh else None
        tell(1.0)
    hints = [f"{r.source}: {hint}" for r in (*records, *fresh) for hint in r.hints()]
    if not options.quiet:
        terminal.say(
            terminal.clean(f"{options.output} from {', '.join(inputs)} · {', '.join(options.data)}")
        )
        terminal.say(
            text(found, own, checked, selection, terminal.columns(), terminal.coloured(), hints)
        )
    if options.json:
        packed = json.dumps(
            document(found, own, checked, selection), ensure_ascii=False, indent=2, allow_nan=False
        )
        write_atomic(options.json, lambda stream: stream.write(packed.encode() + b"\n"))
    if options.report:
        write_report(options.report, found, own, checked, tuple(fresh), selection, hints)
    written = [path for path in (options.json, options.report) if path]
    if written and not options.quiet:
        terminal.say(f"written: {', '.join(map(terminal.clean, written))}")
    return 0 if found.converged else UNDECIDED


def _check_options(options, inputs: Sequence[str]) -> None:
    """InputError for columns that are not named, options of friction laws, and outputs that would overwrite something."""
    for given, option in ((inputs, "--input"), (options.output, "--output")):
        if not given:
            raise InputError(
                f"{option} is missing",
                mend=f"name the column: {option} NAME (only --friction finds it by its unit)",
            )
    if friction := [o for o in ("fix", "free", "offset") if getattr(options, o)]:
        raise InputError(
            f"--{friction[0]} is for friction laws", mend="add --friction LAW, or leave it out"
        )
    for name in ("json", "report"):
        if path := getattr(options, name, None):
            _check_output(path, [*options.data, *options.validate], name)
    if options.json and options.json == options.report:
        raise InputError(
            "--report would overwrite --json", file=options.json, mend="give it a name of its own"
        )


def _names(given: Sequence[str]) -> list[str]:
    return [name for word in given for name in word.split(",") if name]


def _structures(options, inputs) -> list[list[Shape]]:
    """What to fit: one structure, or several to choose from."""
    ν = int(options.integrator)
    delay = None
    if options.delay is not None:
        delay = _time(options.delay, "--delay") if options.delay else True
    words = _names(options.order)
    if words == ["auto"]:
        lowest = max(1, ν + 1 if ν else 1)
        return [
            [
                Shape(n, order, min(options.zeros, order - 1), ν, delay, not options.unstable)
                for n in inputs
            ]
            for order in range(lowest, HIGHEST_TRIED + 1)
        ]
    orders = []
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise InputError(
                f"--order: {short(word)!r}",
                mend="give whole numbers like 4, one for all inputs or one each, or auto",
            )
        orders.append(int(word))
    if len(orders) not in (1, len(inputs)):
        raise InputError(
            f"--order: {len(orders)} orders for {len(inputs)} inputs",
            mend="give one, or one an input",
        )
    orders = orders * len(inputs) if len(orders) == 1 else orders
    return [
        [
            Shape(n, order, options.zeros, ν, delay, not options.unstable)
            for n, order in zip(inputs, orders)
        ]
    ]


def units_of(options) -> dict[str, str]:
    """Column → unit, as given on the command line."""
    units = {}
    for word in options.unit:
        name, found, unit = word.partition("=")
        if not found or not unit:
            raise InputError(f"--unit: {word!r}", mend="write NAME=UNIT, like X=mm")
        units[name] = unit
    return units


def _record(path: str, options, inputs):
    made = read_record(
        path,
        inputs,
        [options.output],
        units=units_of(options),
        time=options.time,
        period=_time(options.period, "--period"),
        resample=_time(options.resample, "--resample"),
        hold=(options.hold,) * len(inputs) if options.hold else (),
    )
    if options.detrend:
        made = made.detrended(_time(options.detrend, "--detrend"))
    return made.decimated(options.decimate)


def _time(given: str | None, option: str) -> float | None:
    if given is None:
        return None
    try:
        return quantity(given, "s")
    except InputError as why:
        raise InputError(f"{option}: {why.message}", mend=why.mend) from None


def _check_output(path: str, sources, name: str) -> None:
    check_writable(path)
    if os.path.realpath(path) in map(os.path.realpath, sources):
        raise InputError(
            f"--{name} would overwrite a record", file=path, mend="give it a name of its own"
        )
