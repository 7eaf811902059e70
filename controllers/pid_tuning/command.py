"""`workbench tune`: a case file → gains, the margins its loop has with them, and the file with the gains in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from controllers.pid_tuning.record import Actuator, Tuning
from controllers.pid_tuning.tune import METHODS, ByDiskMargin, checked
from controllers.tuned_file import check_output, say_verified, units_of, verified, write, written
from controllers.tuning_method import rubs_dry
from workbench.cases.edit import located
from workbench.cases.tuning import read_tuning
from workbench.commands import terminal
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.system import innermost
from workbench.contract.units import format_quantity

HEAD = (
    "command",
    "K_p",
    "K_i",
    "K_d",
    "disk",
    "gain",
    "phase",
    "delay",
    "crossover",
    "bandwidth",
    "M_s",
    "M_t",
)


def tune(options, case, read) -> int:
    """Run the verb on a case that is read; read(settings) → the case with these settings as well.

    Returns the exit code: 0; 1 where the margin asked for is not reached; where a file is written, the exit code of that file's
    own verification. Gains of a machine with dry friction are found on a model without friction, unless the file states the
    model's friction, and are verified on the machine as it is. Raises InputError.
    """
    checked(case.loop)
    check_output(options, case)
    wish = _wish(options, case)
    smooth = _without_friction(case, read)
    sections = case.root.value
    key = "controller" if "controller" in sections else "plant"
    with terminal.progress(not options.quiet) as tell, located(sections[key], key):
        tell(0.0, "tuning")
        found = wish.tune(
            ClosedLoop(innermost(smooth.controller).model, smooth.controller),
            lambda share: tell(share, "tuning"),
        )
        tell(1.0)
    good = found.asked is None or found.met
    text = written(case, found.law, found.found) if options.write and good else ""
    if not options.quiet:
        terminal.say(terminal.headline(terminal.title(case), case.path, terminal.columns()))
        terminal.say(shown(found))
    if text:
        write(options, text)
        if options.verify:
            code, verdicts = verified(options, text)
            say_verified(options, code, verdicts, MEND)
            return code
    elif options.write and not options.quiet:
        terminal.complain(f"not written: {options.write} (the margin asked for is not reached)")
    return 0 if good else 1


FRICTIONLESS = "controller.model.friction={law: Frictionless}"


def _without_friction(case, read):
    """The case to find gains on: dry friction is a stiff damper at rest and none in motion, where a machine works."""
    law = innermost(case.controller)
    sections = case.root.value
    inside = sections["controller"].value if "controller" in sections else None
    model = inside.get("model") if isinstance(inside, dict) else None
    stated = model is not None and isinstance(model.value, dict) and "friction" in model.value
    dry = any(c.friction.F_c > 0 for c in law.model.cylinders)
    return read([FRICTIONLESS]) if dry and not stated else case


MEND = (
    "the margins hold for small motions near rest only; allow more error (claims: {tracking: {error: …}}), a slower path, "
    "another --disk-margin, feed-forward (feed: flow or gain), or search by runs of the machine as it is (--method runs)"
)


def _wish(options, case):
    """The file's `tuning:`, with what the command line says instead."""
    sections = case.root.value
    inside = sections["controller"].value if "controller" in sections else None
    node = inside.get("tuning") if isinstance(inside, dict) else None
    own = (
        read_tuning(type(innermost(case.controller)), node)
        if node is not None and node.value is not None
        else ByDiskMargin()
    )
    cls = METHODS[options.method] if options.method else type(own)
    wish = own if type(own) is cls else cls(at=own.at)
    known = {f.name for f in fields(cls)}
    given = {
        name: value
        for name in (
            "disk_margin",
            "free",
            "noise_gain",
            "rule",
            "structure",
            "amplitude",
            "hysteresis",
        )
        if (value := getattr(options, name)) is not None
    }
    for name in given:
        if name not in known:
            other = next(method for method, way in METHODS.items() if way is not cls)
            raise InputError(
                f"--{name.replace('_', '-')} is for --method {other}",
                mend=f"add --method {other}, or leave it out",
            )
    if "free" in given:
        given["free"] = tuple(given["free"])
    try:
        return replace(wish, **given, at={**wish.at, **_at(options.at)})
    except ValueError as why:
        raise (
            why
            if isinstance(why, InputError)
            else InputError(str(why), mend="see workbench tune --help")
        ) from None


def _at(pairs: Sequence[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            raise InputError(f"--at: expected NAME=VALUE, got {pair!r}", mend="write --at E=0.1mm")
        found[name] = value
    return found


# ---- what is shown ------------------------------------------------------------------------------------------------------
def shown(found: Tuning) -> str:
    """Table of the actuators, and what it means in words."""
    units = units_of(found.law)
    rows = [HEAD, *(_row(a, units) for a in found.actuators)]
    widths = [max(terminal.width(r[k]) for r in rows) for k in range(len(HEAD))]
    lines = [
        "  ".join(text + " " * (w - terminal.width(text)) for text, w in zip(row, widths)).rstrip()
        for row in rows
    ]
    lines.append(
        found.words + (f"; τ = {format_quantity(found.law.τ, 's')}" if "τ" in found.found else "")
    )
    if any(a.disk == 0 for a in found.actuators):
        lines.append("the loop linearised at rest is not known to be stable with these gains")
        return "\n".join(lines)
    if len(found.actuators) > 1:
        lines.append(
            f"margins are one loop at a time, the others closed; for changes in all at once the disk margin is "
            f"{found.together:.3g}"
        )
    if rubs_dry(found.loop.plant):
        lines.append(
            "the model has dry friction, a stiff damper at rest and none in motion: gains are for small motions near rest"
        )
    lines.append(
        f"slowest mode {format_quantity(found.settling, 's', 3)}; linearised, inside the limits; "
        "a file written by --write is verified"
    )
    return "\n".join(lines)


def _row(a: Actuator, units: Mapping[str, str]) -> tuple[str, ...]:
    gains = tuple(
        format_quantity(a.gains[name], units[name]) if a.gains[name] else "–"
        for name in ("K_p", "K_i", "K_d")
    )
    if a.disk == 0:
        return (a.command, *gains, "none", *["–"] * 7)
    down = f"× {a.gain_down:.3g} … {a.gain_up:.3g}"
    return (
        a.command,
        *gains,
        f"{a.disk:.3g}",
        down,
        f"{a.phase * 57.29577951308232:.3g}°",
        format_quantity(a.delay, "s", 3),
        format_quantity(a.crossover, "rad/s", 3),
        format_quantity(a.bandwidth, "rad/s", 3),
        f"{a.M_s:.3g}",
        f"{a.M_t:.3g}",
    )
