"""`workbench identify --friction LAW`: measured friction in files → the numbers of a law, and what the data cannot tell."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Sequence

from workbench.commands import terminal
from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves
from workbench.contract.units import display, pretty, quantity
from workbench.files.atomic import write_atomic
from workbench.identification.command import UNDECIDED, _check_output, _names, _time, units_of
from workbench.identification.friction import FrictionFit, Points, fit_friction
from workbench.identification.friction_search import Motion
from workbench.identification.page import Page
from workbench.identification.reading import CLOCK, read_table, si
from workbench.identification.report import EMPTY, _table, amount

# Options that say nothing about friction.
LINEAR = (
    "order",
    "zeros",
    "integrator",
    "delay",
    "validate",
    "report",
    "unstable",
    "detrend",
    "trend",
    "hold",
    "equal_weights",
    "acausal",
)


def identify_friction(options, laws: Sequence[type]) -> int:
    """Run the verb with --friction; 0, UNDECIDED when the search ended at no minimum, or InputError."""
    law = chosen(options.friction, laws)()
    for word in LINEAR:
        if getattr(options, word) not in (None, False, 0, [], ["auto"]):
            raise InputError(
                f"--{word.replace('_', '-')} is for linear models",
                mend="leave it out with --friction",
            )
    if options.json:
        _check_output(options.json, options.data, "json")
    held = dict(_fixed(word, law) for word in options.fix)
    hints: list[str] = []
    data = [_read(path, options, hints) for path in options.data]
    with terminal.progress(not options.quiet) as tell:
        tell(0.1, "identifying")
        found = fit_friction(law, data, held=held, free=_names(options.free), offset=options.offset)
        tell(1.0)
    if not options.quiet:
        terminal.say(terminal.clean(f"{type(law).__name__} from {', '.join(options.data)}"))
        terminal.say(text(found, terminal.columns(), terminal.coloured(), hints))
    if options.json:
        packed = json.dumps(document(found), ensure_ascii=False, indent=2, allow_nan=False)
        write_atomic(options.json, lambda stream: stream.write(packed.encode() + b"\n"))
        if not options.quiet:
            terminal.say(f"written: {terminal.clean(options.json)}")
    return 0 if found.converged else UNDECIDED


def chosen(name: str, laws: Sequence[type]) -> type:
    """The law called so, however it is spelled: brown-mcphee, BrownMcPhee, brown_mcphee."""
    plain = lambda word: "".join(c for c in word.lower() if c.isalnum())
    known = {plain(cls.__name__): cls for cls in laws}
    if plain(name) not in known:
        near = difflib.get_close_matches(plain(name), known, 2)
        words = " or ".join(known[n].__name__ for n in near)
        raise InputError(
            f"--friction: there is no law {name[:60]!r}",
            mend=f"did you mean {words}?"
            if near
            else f"choose from {', '.join(c.__name__ for c in laws)}",
        )
    return known[plain(name)]


def _fixed(word: str, law) -> tuple[str, float]:
    name, found, value = word.partition("=")
    units = {leaf.path: leaf.info.unit for leaf in leaves(law)}
    if not found or not value:
        raise InputError(f"--fix: {word!r}", mend="write NAME=VALUE, like v_s=12mm/s")
    if name not in units:
        raise InputError(
            f"--fix: {type(law).__name__} has no number {name!r}",
            mend=f"choose from {', '.join(units) or 'none'}",
        )
    try:
        return name, quantity(float(value), units[name])
    except ValueError:
        pass
    try:
        return name, quantity(value, units[name])
    except InputError as why:
        raise InputError(f"--fix: {name}: {why.message}", mend=why.mend) from None


def _read(path: str, options, hints: list[str]):
    """Record of a file with time, Points of one without; both columns by name or by unit. What was assumed goes to `hints`."""
    held = read_table(path)
    units = units_of(options)
    inputs = _names(options.inputs)
    if len(inputs) > 1:
        raise InputError(
            f"--input: {len(inputs)} columns, and friction has one, the speed", mend="name one"
        )
    speed = inputs[0] if inputs else _column(held, units, "m/s", "--input", path)
    force = options.output or _column(held, units, "N", "--output", path)
    for name, wanted in ((speed, "m/s"), (force, "N")):
        if name in held.columns and not (units.get(name) or held.columns[name][0]):
            hints.append(f"{path}: {name} has no unit and is taken to be in {wanted}")
    clock = options.time or next((n for n in held.columns if n.lower() in CLOCK), "")
    if clock or options.period:
        record = held.record(
            [speed],
            [force],
            units=units,
            time=options.time,
            period=_time(options.period, "--period"),
            resample=_time(options.resample, "--resample"),
        )
        _refuse_units(record.inputs[0].unit, record.outputs[0].unit, speed, force, path)
        return record.decimated(options.decimate)
    values = []
    for name, wanted in ((speed, "m/s"), (force, "N")):
        if name not in held.columns:
            raise InputError(
                f"there is no column {name!r}",
                file=path,
                mend=f"choose from {', '.join(held.columns)}",
            )
        written, numbers = held.columns[name]
        unit, size = si(units.get(name, "") or written) or (written, 1.0)
        if (units.get(name) or written) and unit != wanted:
            raise InputError(
                f"{name} is in {unit}, not in {wanted}",
                file=path,
                key=name,
                mend="name another column",
            )
        values.append(numbers * size)
    return Points(*values, source=path)


def _refuse_units(v, F, speed, force, path) -> None:
    for unit, wanted, name in ((v, "m/s", speed), (F, "N", force)):
        if unit not in (wanted, "1"):
            raise InputError(
                f"{name} is in {unit}, not in {wanted}",
                file=path,
                key=name,
                mend="name another column",
            )


def _column(held, units, wanted: str, option: str, path: str) -> str:
    """The only column in the wanted unit."""
    fitting = [
        n
        for n, (written, _) in held.columns.items()
        if (si(units.get(n, "") or written) or ("",))[0] == wanted
    ]
    if len(fitting) != 1:
        raise InputError(
            f"{len(fitting) or 'no'} columns in {wanted}"
            + (f": {', '.join(fitting)}" if fitting else ""),
            file=path,
            mend=f"name the one with {option}, and give its unit in the header, like 'v [mm/s]'",
        )
    return fitting[0]


# ---- the answer -----------------------------------------------------------------------------------------------------
def text(
    found: FrictionFit, room: int = 100, colour: bool = False, hints: Sequence[str] = ()
) -> str:
    """Table, fit, notes, and the law as a case file takes it."""
    from rich.text import Text

    page = Page(room, colour)
    rows = _table("number", "value", "95 %", "unit", "")
    for e in found.estimates:
        value, half, unit = amount(e)
        rows.add_row(
            *map(Text, (e.name, value, half, unit)),
            Text("" if e.identified else "not identified", "yellow"),
        )
    units = {leaf.path: leaf.info.unit for leaf in leaves(found.law)}
    for name, value in found.held.items():
        unit, size = display(units[name], value)
        rows.add_row(
            *map(Text, (name, f"{value / size:.6g}", EMPTY, "" if unit == "1" else pretty(unit))),
            Text("held"),
        )
    page.print(rows)
    fits = ", ".join(f"{p:.3f} %" for p in found.percent)
    page.print(
        Text(
            f"fit {fits} on {sum(e.size for e in found.residuals)} data, {found.freedom} degrees of freedom"
        )
    )
    if any(found.offsets):
        page.print(Text("offset " + ", ".join(f"{x:.4g} N" for x in found.offsets)))
    for note in (*found.notes, *(c.words() for c in found.open if len(c.weights) > 1), *hints):
        page.print(Text(f"note: {note}", style="yellow"))
    page.print(Text(f"in a case file: friction: {written(found)}"), soft_wrap=True)
    return page.text()


def written(found: FrictionFit) -> str:
    """The law as a case file takes it, SI."""
    numbers = ", ".join(f"{leaf.path}: {leaf.value:.6g}" for leaf in leaves(found.law))
    return f"{{law: {type(found.law).__name__}, {numbers}}}"


def document(found: FrictionFit) -> dict:
    """Plain data for JSON, SI units; numbers that are not finite become null."""
    finite = lambda x: float(x) if math.isfinite(x) else None
    return {
        "law": type(found.law).__name__,
        "parameters": [
            {
                "name": e.name,
                "value": e.value,
                "deviation": finite(e.σ),
                "low": finite(e.low),
                "high": finite(e.high),
                "unit": e.unit,
                "identified": e.identified,
            }
            for e in found.estimates
        ],
        "held": dict(found.held),
        "offsets": list(found.offsets),
        "covariance": [[finite(x) for x in row] for row in found.covariance],
        "not_identifiable": [
            {"weights": c.weights, "relative_deviation": finite(c.σ)} for c in found.open
        ],
        "notes": list(found.notes),
        "converged": found.converged,
        "fit_percent": [finite(p) for p in found.percent],
        "data": [
            {
                "source": d.source,
                "kind": "record" if isinstance(d, Motion) else "points",
                "size": int(d.v.size),
            }
            for d in found.data
        ],
    }
