"""Three controllers on one crane: virtual decomposition, PID with flow feed-forward, nonlinear predictive control.

    python -m reports.studies.crane_controllers

One machine (HIAB XS 031: two closed chains and an extension, 30 Hz servo valves), one path, one load; then a load of 50 kg that
no law was told of, and valves a third as fast as every law believes. Model, specification, analysis and result follow in this
order. `results()` computes, `check()` asserts, `main()` prints.

What is proved: of VDC the identity behind its theorem, entry by entry, which says what every term costs, not that the loop is
stable; of PID nothing; of the predictive law nothing either: its horizon has no terminal set, its model is another one at every
sample, and the observer between it and the machine is in no theorem. All that is said about the three is `sampled`: these runs.
"""

from __future__ import annotations

from workbench.cases.file import loads
from workbench.commands.compare import Comparison, compare
from workbench.commands.compare_table import text

# ---- model ----------------------------------------------------------------------------------------------------------
# Gains are the defaults of the three laws; none was tuned for this path. VDC and PID run at 1 kHz, the predictive law at 50 Hz,
# looking 0.4 s ahead along the path it is told.
CASE = """
plant: hiab-xs031
controller: {law}
scenario:
  reference: {{type: Waypoints, space: cartesian, points: [start, {points}], leg: {leg}}}
claims: {{tracking: {{error: 20 mm, settle: {settle}}}{more}}}
"""
POINTS = ("[2.5 m, 1 m]", "[3 m, 1.5 m]", "[3.5 m, 1 m]", "[3 m, 0.5 m]", "[2.5 m, 1 m]", "start")
NO_LIMITS = ", sample-time-limit: false, delay-limit: false"
MORE = {
    "VDC": f"{NO_LIMITS}, practical-stability: false",
    "PID": NO_LIMITS,
    "MPC": ", practical-stability: false",
}
WITH_LIMITS = {law: ", sample-time-limit: {up_to: 40 ms}" for law in MORE}


# ---- specification --------------------------------------------------------------------------------------------------
# Same machine, path and load for all; the tool within 20 mm, no cycling, valves off their limits. Then, the laws as they are:
LOAD = {"payload.mass": "50 kg"}
SLOW = {"all.valve.frequency": "10 Hz"}


# ---- analysis -------------------------------------------------------------------------------------------------------
def results(
    legs: int = 6, leg: str = "5 s", settle: str = "3 s", limits: bool = True
) -> Comparison:
    """Everything; fewer `legs`, and no search for the largest sample time, take less time."""
    how = {"points": ", ".join(POINTS[:legs]), "leg": leg, "settle": settle}
    more = WITH_LIMITS if limits else MORE
    cases = [loads(CASE.format(law=law, more=more[law], **how), f"{law}.yaml") for law in more]
    return compare(cases, [LOAD, SLOW])


# ---- result ---------------------------------------------------------------------------------------------------------
def check(found: Comparison) -> None:
    """What the study says, as assertions."""
    vdc, pid, mpc = found.entries
    assert not found.notes  # one machine, one scenario
    # With a true model VDC is two orders better than PID; the predictive law, fifty times a second, is between them.
    assert vdc.nominal.error < 0.2e-3 < mpc.nominal.error < pid.nominal.error < 35e-3
    assert all(e.nominal.settled for e in found.entries)
    # VDC has no integral action: the load that its model lacks is an error that stays. The predictive law estimates it.
    load, slow = zip(*(e.also for e in found.entries))
    assert load[0].error > 50 * vdc.nominal.error and load[2].error < 2 * mpc.nominal.error
    assert load[2].error < load[0].error and load[2].rms < load[1].rms
    # Valves a third as fast: VDC asks them for what they cannot do, and chatters; the two others go on.
    assert slow[0].settled is False and slow[1].settled and slow[2].settled
    assert slow[2].error < 2 * mpc.nominal.error
    # The price is computing: a Python call with 60 moves optimised, against microseconds of compiled code.
    assert mpc.seconds > 100 * max(vdc.seconds, pid.seconds)
    # Every sample of the predictive law was solved, and what is known of it is known from these runs only.
    solves = next(v for v in mpc.verdicts if v.key == "solves")
    assert solves.holds and {v.strength for v in mpc.verdicts if v.strength} <= {
        "sampled",
        "numerical",
    }


def main() -> None:
    """Print the table."""
    found = results()
    print(text(found, 120))
    check(found)


if __name__ == "__main__":
    main()
