"""Every kind of drive that an actuator can have."""

from __future__ import annotations

from plants.components.circuit import ThrottledCircuit
from plants.drives.compressible_rod import CompressibleRod
from plants.drives.hydraulic_motor import HydraulicMotor
from plants.drives.ieha_drive import IEHADrive
from plants.drives.laws import Force, SpringDamper, Torque
from plants.drives.metered_rod import MeteredRod
from plants.drives.metered_section import MeteredSection
from plants.drives.servo_cylinder import ServoCylinder

DriveKind = (
    Force
    | Torque
    | SpringDamper
    | ThrottledCircuit
    | ServoCylinder
    | HydraulicMotor
    | MeteredSection
    | MeteredRod
    | CompressibleRod
    | IEHADrive
)
