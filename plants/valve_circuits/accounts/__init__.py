"""Where the pump's power goes in a run, valve by valve, twice: as the model accounts for it, and by each valve's own law.

    Q P = Σ_j f_j v_j + Q_b P + Q_M P
          + Σ_j [Q_ph (P − P_h) + Q_pr (P − P_r) + Q_th P_h + Q_tr P_r + Q_a (P_r − P_h) + Q_ho P_h + Q_ro P_r]

Q_M: the pump's relief; Q_ho, Q_ro: the chambers' reliefs (suction checks pass oil at no pressure and cost nothing).

By law: an orifice takes k |Δp|^1.5 at the pressures of the log, a relief what the oil balance of its chamber leaves it, and only
where the pressure is at its limit. So a valve that is left out, has the wrong sign or another coefficient shows by itself, and oil
that is nobody's shows as a gap. Sections are those of `Circuit.rows`; all arrays are (N,), one number an instant.
"""

from plants.valve_circuits.accounts.account import ValveAccount
from plants.valve_circuits.accounts.filled import of_filled
from plants.valve_circuits.accounts.mechanism import of_mechanism
from plants.valve_circuits.accounts.section import Flows, Section, open_ranges, section_flows

__all__ = [
    "Flows",
    "Section",
    "ValveAccount",
    "of_filled",
    "of_mechanism",
    "open_ranges",
    "section_flows",
]
