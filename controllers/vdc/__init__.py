"""Virtual decomposition control of any mechanism: one law of the bodies, one law a kind of drive, one ledger."""

from controllers.vdc.law import VDC

__all__ = ["VDC"]
