"""What a throttled circuit refuses: chambers that vanish, a cylinder longer than its pins, a start it cannot hold."""

from __future__ import annotations

from workbench.contract.errors import InputError


def check_chambers(circuit) -> None:
    """InputError where a chamber is shorter than it can be, or its volume vanishes at an end of the stroke."""
    chambers = (
        (2, "piston", circuit.l_20, circuit.l_2min, circuit.V_h2),
        (3, "rod", circuit.l_30, circuit.l_3min, circuit.V_h3),
    )
    for k, where, l_0, least, hose in chambers:
        if l_0 < least:
            raise InputError(
                f"l_{k}0: {l_0:g} m at s_0 is shorter than l_{k}min = {least:g} m, the shortest the chamber at the "
                f"{where} can be",
                key=f"l_{k}0",
                mend="give the length of the chamber at s_0, its part beyond the stroke included",
            )
        if hose == 0.0 and least == 0.0:
            raise InputError(
                f"V_h{k}: without a hose and with l_{k}min = 0 the volume at the {where} vanishes at the end of the "
                "stroke, and its pressure leaves all bounds",
                key=f"V_h{k}",
                mend=f"give V_h{k} or l_{k}min more than zero",
            )
    if circuit.stroke <= 0.0:
        raise InputError(
            f"l_20: the chambers, {circuit.l_20:g} and {circuit.l_30:g} m long, leave no stroke",
            key="l_20",
            mend="give chambers longer than l_2min and l_3min",
        )


def check_pins(circuit, owner: str) -> None:
    """InputError where the pins come nearer to each other than the retracted cylinder is long."""
    shortest, _ = circuit.range
    if shortest < circuit.stroke:
        raise InputError(
            f"{owner}.l_20: retracted, the pins are {shortest:.4g} m apart, less than the stroke, {circuit.stroke:.4g} m",
            mend="where the chambers are longer than the stroke, give their lengths at its ends, l_2min and l_3min; "
            "else change s_0, l_20 or l_30",
        )


def pressure_at_rest(circuit, s: float, force: float) -> float:
    """p_2 [Pa] that carries `force` [N] at s [m] beside p_3 = p_30; InputError where there is none."""
    low, high = circuit.range
    if not low <= s <= high:
        raise InputError(
            f"the cylinder reaches from {low:.4g} m to {high:.4g} m, and the start is at s = {s:.4g} m "
            "(s: the distance of its pins, or the position of the joint it is on)",
            mend="start elsewhere, change s_0 (where l_20 and l_30 are given), l_20 or l_30, or move the pins",
        )
    p_2 = (force + circuit.A_3 * circuit.p_30) / circuit.A_2
    if p_2 < 0:
        raise InputError(
            f"to hold {force:.4g} N with p_30 = {circuit.p_30:.4g} Pa takes p_2 = {p_2:.4g} Pa",
            mend="raise p_30 or the bore",
        )
    return p_2
