"""Every kind of supply that a mechanism can have."""

from __future__ import annotations

from plants.supplies.constant import ConstantPressure

SupplyKind = ConstantPressure
