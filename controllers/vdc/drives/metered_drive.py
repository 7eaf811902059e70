"""Drives behind quasistatic metering valves: which kinds there are, and how fast the oil between valves and piston settles."""

from __future__ import annotations

from plants.drives.metered_rod import MeteredRod
from plants.drives.metered_section import MeteredSection

Metering = MeteredSection | MeteredRod


def settling(drive: Metering):
    """τ = B/K, s."""
    return drive.damping / drive.stiffness
