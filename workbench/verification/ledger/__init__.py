"""The dissipation ledger and what is claimed of it: identity, power flows, inequality (99), rates."""
