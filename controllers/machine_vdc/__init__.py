"""Virtual decomposition control of any mechanism: one law of the bodies, one law a kind of drive, one ledger."""

from controllers.machine_vdc.law import MachineVDC

__all__ = ["MachineVDC"]
