"""The loop section of a case file: what stands around the law."""

from __future__ import annotations

from typing import Any

from workbench.cases import form
from workbench.cases.build import build
from workbench.cases.edit import located
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance
from workbench.contract.errors import InputError
from workbench.contract.units import quantity

MOST_WRAPPERS = 50  # filters, or noises, one around the other


def wrapped(law: Any, node: Node | None, provenance: dict[str, Provenance]) -> Any:
    """The law inside what the loop section asks for; sampled at 1 ms when there is none."""
    from workbench.contract.wrappers import Delayed, Filtered, Noisy, Quantised, Sampled, Saturated

    node = node if node is not None and node.value is not None else Node({}, 0)
    spec = build(form.Loop, node, "loop", provenance)
    inner = law
    with located(node, "loop"):
        for f in _several(spec.filter, "filter"):
            _measured(law, f.signals, "filter")
            inner = Filtered(inner, f.frequency, f.damping, f.signals)
        for f in _several(spec.quantise, "quantise"):
            inner = Quantised(
                inner, _in_unit_of(law, f.signals, f.resolution, "quantise.resolution"), f.signals
            )
        for f in _several(spec.noise, "noise"):
            inner = Noisy(inner, _in_unit_of(law, f.signals, f.σ, "noise.σ"), f.signals)
        if spec.limit is not None:
            limit = _limit(law, spec.limit)
            inner = Saturated(inner, -limit, limit)
        if spec.sample_time != "continuous":
            # a law that is designed for a sample time knows it.
            own = getattr(law, "T_s", spec.sample_time)
            inner = Sampled(inner, spec.sample_time if "sample_time" in (node.value or {}) else own)
        elif spec.noise or spec.delay > 0:
            raise InputError(
                f"{'noise' if spec.noise else 'delay'}: needs a sampled law, this one is continuous",
                mend="give a sample_time, like 1 ms",
            )
        return Delayed(inner, spec.delay) if spec.delay > 0 else inner


def accuracy(node: Node | None) -> float | None:
    """The accuracy that the section asks of every run of the loop; None where it asks for none."""
    if node is None or node.value is None:
        return None
    return build(form.Loop, node, "loop").accuracy


def _limit(law, value) -> float:
    """The largest command in the commands' unit."""
    units = {s.unit for s in law.commands}
    if len(units) > 1:
        raise InputError(
            f"limit: the commands have different units ({', '.join(sorted(units))})",
            mend="limit them in the law",
        )
    try:
        limit = quantity(value, units.pop())
    except InputError as why:
        raise InputError(f"limit: {why.message}", mend=why.mend) from None
    if not limit > 0:
        raise InputError(
            f"limit: largest command, both ways, must be positive, got {value}",
            mend="give a value above 0",
        )
    return limit


def _several(spec, key: str) -> tuple:
    entries = spec if isinstance(spec, tuple) else (spec,)
    if len(entries) > MOST_WRAPPERS:
        raise InputError(
            f"{key}: {len(entries)} entries, at most {MOST_WRAPPERS}",
            mend="name several signals in one entry",
        )
    return entries


def _measured(law, signals, what):
    """Measured signals of these names ("p" is every p_…); InputError when there is none."""
    for name in signals:
        if not any(s.name == name or s.name.startswith(name + "_") for s in law.measured):
            from workbench.contract.system import find

            find(law.measured, name, f"{what}.signals: measured signals")
    return [
        s
        for s in law.measured
        if not signals or any(s.name == n or s.name.startswith(n + "_") for n in signals)
    ]


def _in_unit_of(law, signals, value, what) -> float:
    """A number or quantity in the unit that the chosen signals share."""
    chosen = {s.unit for s in _measured(law, signals, what.partition(".")[0])}
    if not isinstance(value, str):
        return value
    if len(chosen) > 1:
        raise InputError(
            f"{what}: these signals have different units ({', '.join(sorted(chosen))})",
            mend="name signals of one unit, and make a list of several such entries",
        )
    try:
        return quantity(value, chosen.pop())
    except InputError as why:
        raise InputError(f"{what}: {why.message}", mend=why.mend) from None
