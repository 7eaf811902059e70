"""Which figures a report has, by what its content holds."""

from __future__ import annotations

from workbench.run.log import Log


def planned(content) -> dict:
    """Name → function that draws it, in the order of the report; it may still return None."""
    from reports.figures import circuit
    from reports.figures import model as belief

    from . import sketch

    log, plant, analysis = content.log, content.plant, content.analysis
    plan = {}
    if plant is not None:
        plan["picture"] = lambda: sketch.machine(
            plant, log, height=2.1, width=2.7, ghosts=0, bare=True
        )
        plan["machine"] = lambda: sketch.machine(plant, log)
        plan["circuit"] = lambda: circuit.circuit(plant)
    if compared := analysis.get("model"):
        plan |= {
            "model_bode": lambda: belief.bode(compared),
            "model_steps": lambda: belief.steps(compared),
        }
    if log is not None:
        plan |= _of_the_run(log, plant, analysis)
    return plan | _of_the_proofs(analysis) | _of_the_linearised(log, plant, analysis)


def _of_the_run(log, plant, analysis) -> dict:
    from reports.figures import friction, loop, mechanism, metering, run

    from . import signals
    from .metering import course

    beside = signals.wanted_path(log, plant) is not None
    plan = {"path": lambda: run.path(log, plant)}
    if tracked := analysis.get("tracking"):
        plan["under_load"] = lambda: loop.under_load(
            tracked, analysis.get("previews"), log.status.completed
        )
    else:
        plan["tracking"] = lambda: run.tracking(log, beside)
        plan |= {} if beside else {"followed": lambda: run.followed(log)}
    plan |= {
        "forces": lambda: run.forces(log, plant),
        "pressures": lambda: run.pressures(log, plant),
    }
    behind_valves = course(log, plant) is not None  # whose commands have a chapter of their own
    limited = analysis.get("limits")
    if limited and not (
        behind_valves
        and all(entry["kind"] == "command" and not entry["share"] for entry in limited)
    ):
        plan["limits"] = lambda: loop.limits(limited)
    if not behind_valves and not any(entry["kind"] == "command" for entry in limited or ()):
        plan["voltages"] = lambda: run.voltages(log, plant)
    plan["friction"] = lambda: friction.rubbed(log, plant)
    plan |= {
        "operating_points": lambda: metering.operating_points(log, plant),
        "valve_states": lambda: metering.valve_states(log, plant),
    }
    if solved := analysis.get("solver"):
        plan["solver"] = lambda: loop.solver(solved)
    return plan | {
        "work_cycle": lambda: mechanism.work_cycle(log),
        "energy": lambda: mechanism.energy(log, plant),
    }


def _of_the_proofs(analysis) -> dict:
    from reports.figures import proof, region
    from reports.figures import returns as returning

    plan = {"returns": lambda: returning.returns(analysis.get("returns") or ())}
    if ledger := analysis.get("ledger"):
        plan |= {
            "ledger": lambda: proof.ledger(ledger),
            "subsystems": lambda: proof.subsystems(ledger),
            "perturbations": lambda: proof.perturbations(ledger),
            "flows": lambda: proof.flows(ledger),
        }
    return plan | {
        "assumptions": lambda: proof.assumptions(analysis.get("assumptions") or {}),
        "sample_time": lambda: proof.study(analysis.get("sample_time") or {}, "sample time"),
        "delay": lambda: proof.study(analysis.get("delay") or {}, "delay"),
        "region": lambda: region.regions(analysis.get("region") or ()),
        "sector": lambda: region.sector(analysis.get("sector") or {}),
    }


def _of_the_linearised(log, plant, analysis) -> dict:
    from reports.figures import linear

    from . import signals

    def titled(given):
        return {signals.actuator(plant, name): value for name, value in (given or {}).items()}

    plan = {}
    if analysis.get("eigenvalues") is not None:
        plan["eigenvalues"] = lambda: linear.eigenvalues(analysis["eigenvalues"], was_sampled(log))
    loops, sensitivity = titled(analysis.get("loops")), titled(analysis.get("sensitivity"))
    loops |= {
        name: (part["ω"], part["L"]) for name, part in sensitivity.items() if name in loops
    }  # finer near resonances
    return plan | {
        "bode": lambda: linear.bode(loops),
        "nyquist": lambda: linear.nyquist(loops, sensitivity),
        "sensitivities": lambda: linear.sensitivities(sensitivity),
    }


def was_sampled(log: Log | None) -> bool:
    """Whether the log's loop had a sample time."""
    known = log.provenance.get("parameters", {}) if log is not None else {}
    return any(path.startswith("controller.") and path.endswith("T_s") for path in known)
