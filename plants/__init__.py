"""Plants: one file each, components below."""

from __future__ import annotations

from workbench.contract.lazy import imported

_HOME = {
    name: "crane.manipulator"
    for name in ("Manipulator", "Structure", "Revolute", "Prismatic", "Body", "Frame", "Oil")
} | {
    "Cylinder": "components.cylinder",
    "Walls": "components.cylinder",
    "Valve": "components.valve",
    "CoulombViscous": "components.friction",
    "Stribeck": "components.friction",
    "LuGre": "components.friction",
    "Frictionless": "components.friction",
    "BengisuAkay": "components.friction",
    "BrownMcPhee": "components.friction",
    "ModifiedLuGre": "components.friction",
    "IEHA": "ieha.actuator",
    "LinearActuator": "linear_actuator",
    "InputOutput": "ieha.inverse",
    "feedforward": "ieha.inverse",
    "BaseMotion": "base_motion",
    "FourBar": "four_bar.linkage",
    "ThrottledCircuit": "components.circuit",
    "MeteredArms": "metered.arms",
    "Arm": "metered.arms",
    "MotorArm": "metered.arms",
    "MeteredTwin": "metered.twin",
    "MeteredCrane": "metered.crane",
    "Mechanism": "multibody.mechanism",
    "from_urdf": "multibody.urdf.mechanism",
    "Drive": "drives.contract",
    "Supply": "supplies.contract",
    "IEHADrive": "drives.ieha_drive",
    "HydraulicMotor": "drives.hydraulic_motor",
    "Motor": "components.motor",
    "MeteredSection": "drives.metered_section",
    "MeteredRod": "drives.metered_rod",
    "CompressibleRod": "drives.compressible_rod",
    "SharedPump": "supplies.shared_pump",
    "InstantPump": "supplies.instant_pump",
    "ServoCylinder": "drives.servo_cylinder",
    "ConstantPressure": "supplies.constant",
    "LoadSensing": "supplies.load_sensing",
    "SelectedLines": "supplies.two_lines",
    "machine": "shipped",
    "machines": "machine_files",
    "PlanarCrane": "crane.planar",
    "WholeCrane": "crane.planar_whole",
}

__all__ = list(_HOME)


def __getattr__(name: str):
    return imported(__name__, _HOME, name)
