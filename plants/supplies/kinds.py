"""Every kind of supply that a mechanism can have."""

from __future__ import annotations

from plants.supplies.constant import ConstantPressure
from plants.supplies.load_sensing import LoadSensing

SupplyKind = ConstantPressure | LoadSensing
