"""Signals of a throttled circuit: three pressures, the spool, its reference, and where they end."""

from __future__ import annotations

from plants.drives.contract import Drive, spool_limit
from workbench.contract.machine_limits import chamber_limits
from workbench.contract.system import Signal


class CircuitSignals(Drive):
    """Names of the signals of `ThrottledCircuit`, with the actuator's name behind them."""

    def pressures(self, label: str = "") -> tuple[str, ...]:
        return tuple(_named(f"p_{k}", label) for k in (1, 2, 3))

    def machine_limits(self, label: str, key: str):
        spool = spool_limit(label, _named("U", label), self.limit, f"{key}.U_max")
        return (*chamber_limits(self.pressures(label), 0.0), spool)

    def states(self, label: str = "") -> tuple[Signal, ...]:
        of = f", {label}" if label else ""
        return (
            *(
                Signal(_named(f"p_{k}", label), "Pa", f"pressure {where}{of}")
                for k, where in (
                    (1, "before the throttle"),
                    (2, "at the piston"),
                    (3, "at the rod"),
                )
            ),
            Signal(_named("U", label), "V", f"spool{of}"),
            *self.friction.states(label or "c"),
        )

    def inputs(self, label: str = "") -> tuple[Signal, ...]:
        return (
            Signal(
                _named("U_ref", label),
                "V",
                "reference of the spool" + (f", {label}" if label else ""),
            ),
        )

    def power_names(self, label: str = "") -> tuple[str, ...]:
        """Pump and tank, what valve, throttle and friction take, and what comes with growing chambers."""
        return tuple(
            _named(name, label)
            for name in ("pump", "tank", "valve", "throttle", "friction", "carried")
        )


def _named(name: str, label: str) -> str:
    return f"{name}_{label}" if label else name
