"""Quasistatic valve circuits: independent metering, regeneration, several actuators on one pump [Kikuuwe21].

`circuit` holds the data, `solve` what is asked of them (Γ, Λ, pressures, flows, valve states), `closed` the closed forms, which
are plain NumPy for any scalar, `kernel`, `quick`, `crossed` and `roots` the general solution, compiled; `shared` is that for
expressions (`together` with regeneration, `regenerating` a section's curve in it), `slopes` its derivatives, `stepping` arms by the
implicit step, `passivity` the proof, `accounts` where a run's power went.
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
