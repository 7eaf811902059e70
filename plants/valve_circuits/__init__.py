"""Quasistatic valve circuits: independent metering, regeneration, several actuators on one pump [Kikuuwe21].

circuit        data: pump, sections, openings
solve          what users call: Γ, Λ, pressures, flows and valve states, on numbers; states: Table 1 of the paper
closed         closed forms of one section without regeneration, for numbers and expressions; inverse: the opening for a velocity
kernel         the general solution on numbers, compiled, with quick (shorter ways), crossed (valves open both ways), roots (P)
shared         the general solution as an expression; together, regenerating: with regeneration; on_pump: one section at P
slopes         derivatives of Λ;   stepping: arms by the implicit step;   levels: all pressures that balance
passivity      proofs about Γ and Λ, with uniqueness;   accounts: where a run's power went;   diagnosis: elements that misbehave
"""

from __future__ import annotations

from workbench.contract.lazy import imported

_HOME = (
    {
        name: "circuit"
        for name in ("Circuit", "Openings", "Pump", "Section", "Motor", "orifice_coefficient")
    }
    | {name: "solve" for name in ("Γ", "Λ", "operating", "Interval", "Operating", "SectionState")}
    | {
        "TABLE_1": "states",
        "segment": "states",
        "stepped": "stepping",
        "check_passive": "passivity",
        "dΛ": "slopes",
    }
)

__all__ = list(_HOME)


def __getattr__(name: str):
    return imported(__name__, _HOME, name)
