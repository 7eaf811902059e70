"""The averaged pump of an integrated electro-hydraulic actuator, and its inverse; equations in `ieha`."""

from __future__ import annotations

import numpy as np

from plants.drives.ieha_drive import IEHADrive


def gains(drive: IEHADrive, Y) -> tuple:
    """g_A, g_B, 1/m."""
    V_A, V_B = drive.volumes(Y)
    return drive.S_A / V_A, drive.S_B / V_B


def drift(drive: IEHADrive, Y, v, P_A, P_B):
    """h ẋ + ℓ: the part of −ḟ_p/β that needs no pump."""
    g_A, g_B = gains(drive, Y)
    between = drive.K_in * (P_A - P_B)
    out_A = drive.S_A * v + between + drive.K_ex * P_A
    out_B = -drive.S_B * v - between + drive.K_ex * P_B
    return g_A * out_A - g_B * out_B


def lost(drive: IEHADrive, P):
    """Flow that compression and leakage take of what the pump gives at the pressure P, m³/s; none is gained."""
    return -np.minimum(drive.pump.mean_loss(0.0, P, drive.oil.β), 0.0)


def eccentricity(drive: IEHADrive, Q, P_A, P_B):
    """E at which the pump gives Q, m, with its losses at the pressure of the side it feeds."""
    loss = np.where(Q >= 0.0, lost(drive, P_A), -lost(drive, P_B))
    return (Q + loss) / drive.pump.mean_flow(1.0)


def pumped(drive: IEHADrive, E, P_A, P_B):
    """Q without overlap at the eccentricity E, the inverse of `eccentricity`."""
    loss = np.where(E >= 0.0, lost(drive, P_A), -lost(drive, P_B))
    return drive.pump.mean_flow(1.0) * E - loss


def drained(drive: IEHADrive, P):
    """Flow from an open circuit's chamber at the pressure P to the tank, m³/s."""
    return drive.c * drive.pump.A_0 * np.sqrt(P - drive.P_T)


def lost_within(drive: IEHADrive, P):
    """Time in which the piston, held, loses the pressure P of side A to the tank, s: of V Ṗ/β = −c A_0 √(P − P_T)."""
    V_A, _ = drive.volumes(0.0)
    return 2.0 * V_A * (P - drive.P_T) / (drive.oil.β * drained(drive, P))
