"""Every kind of supply that a mechanism can have."""

from __future__ import annotations

from plants.supplies.constant import ConstantPressure
from plants.supplies.instant_pump import InstantPump
from plants.supplies.load_sensing import LoadSensing
from plants.supplies.shared_pump import SharedPump
from plants.supplies.two_lines import SelectedLines

SupplyKind = ConstantPressure | LoadSensing | SelectedLines | SharedPump | InstantPump
