"""Fluidproof: controller design and stability verification for hydraulic robots."""

from __future__ import annotations

from workbench.contract.lazy import imported

__version__ = "0.1.0"

# Names are looked up on first use, so that `--help` does not pay for libraries it does not need.
_HOME = {
    "Signal": "contract.system",
    "System": "contract.system",
    "Controller": "contract.system",
    "ClosedLoop": "contract.closed_loop",
    "Compiled": "interop.export.compiled",
    "export": "interop.export.from_python",
    "export_law": "interop.export.package",
    "law_graph": "interop.export.law_graph",
    "Plain": "contract.plain",
    "Sampled": "contract.wrappers",
    "Delayed": "contract.wrappers",
    "Saturated": "contract.wrappers",
    "Filtered": "contract.wrappers",
    "Quantised": "contract.wrappers",
    "Noisy": "contract.wrappers",
    "Scenario": "run.scenario",
    "simulate": "run.simulate",
    "simulate_many": "run.many",
    "linearize": "numerics.linearisation",
    "equilibrium": "numerics.linearisation",
    "Verdict": "verification.verdict",
    "Log": "run.log",
    "InputError": "contract.errors",
    "Unit": "contract.parameters",
    "Bound": "contract.parameters",
    "positive": "contract.parameters",
    "nonnegative": "contract.parameters",
    "check_bounds": "contract.parameters",
    "Waypoints": "run.reference",
    "Sine": "run.reference",
    "Hold": "run.reference",
    "Deviated": "run.deviated",
    "Spline": "run.spline",
    "Steps": "run.steps",
    "verify": "verification.judge",
    "examine": "verification.judge",
    "Examination": "verification.judge",
    "default_claims": "verification.judge",
    "sensitivity": "commands.sensitivity_command",
    "changed": "cases.edit",
    "load": "cases.file",
    "trusting": "contract.trust",
    "Case": "cases.file",
    "to_control": "interop.control",
    "from_control": "interop.control",
    "FMU": "interop.fmu.plant",
    "to_mat": "interop.mat",
    "from_mat": "interop.mat",
}

__all__ = list(_HOME)


def __getattr__(name: str):
    return imported(__name__, _HOME, name)


def __dir__():
    return sorted([*globals(), *__all__])
