"""The four-bar in exudyn, and a drive of ours with the equations of its actuator.

`ExudynFourBar`: bodies and joints in redundant coordinates, its hydraulic actuator with two volumes, no spool, no friction law,
no laminar zone; `TwoVolumes` are the same equations as a drive of our mechanism.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import cos, pi, sin, sqrt
from typing import Annotated, final

import numpy as np
from four_bar_peers import LENGTHS, MASSES, PIECES

from plants.components.friction import Frictionless
from plants.drives.contract import Drive
from workbench import Signal
from workbench.contract.parameters import Unit

A_2 = pi * 0.04**2  # m², piston
A_3 = pi * (0.04**2 - 0.0175**2)  # m², rod side


@final
@dataclass(frozen=True)
class TwoVolumes(Drive):
    """ṗ_1, ṗ_2 with the opening as input, a root without laminar zone, viscous friction: what exudyn's actuator has."""

    d: Annotated[float, Unit("N s/m")] = 2000.0
    friction: Frictionless = Frictionless()
    limit = 1.0
    equal_steps = True

    def states(self, label=""):
        of = f"_{label}" if label else ""
        return Signal(f"p_1{of}", "Pa", "piston"), Signal(f"p_2{of}", "Pa", "rod")

    def inputs(self, label=""):
        return (Signal(f"u_{label}" if label else "u", "1", "opening"),)

    def power_names(self, label=""):
        return ()

    def volumes(self, s):
        l = s - sqrt(3.0)
        return (7.85e-5, A_2 * (0.5 + l)), (7.85e-5, A_3 * (0.5 - l))

    def rates(self, x, s, sdot, u, line=None):
        root = lambda dp: dp / np.sqrt(np.abs(dp))
        (h_1, c_1), (h_2, c_2) = self.volumes(s)
        C = 24e-3 / 60 / sqrt(35e5) * u[0]
        Q_1 = C * root(np.where(u[0] >= 0, 7.6e6 - x[0], x[0] - 1e5))
        Q_2 = C * root(np.where(u[0] >= 0, x[1] - 1e5, 7.6e6 - x[1]))
        K = [(h + c) / 1500e6 + h / 150e6 + c / 31500e6 for h, c in ((h_1, c_1), (h_2, c_2))]
        return [(Q_1 - A_2 * sdot) / K[0], (A_3 * sdot - Q_2) / K[1]]

    def rubbing(self, x, sdot):
        return self.d * sdot

    def force(self, x, s, sdot, u=(), line=None):
        return A_2 * x[0] - A_3 * x[1] - self.d * sdot

    def initial(self, s, force, line=None):
        return [(force + A_3 * 3.5e6) / A_2, 3.5e6]

    def stored(self, x, s):
        return 0.0

    def powers(self, x, s, sdot, u, line=None):
        return []


class ExudynFourBar:
    """The same in exudyn: three bodies, four pins, HydraulicActuatorSimple (its nominalFlow is m³/(s √Pa))."""

    def __init__(self, plant, d: float):
        import exudyn
        from exudyn import itemInterface

        self.exu = exudyn
        self.items = itemInterface
        self.plant = plant
        self.container = exudyn.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.ground = self.mbs.AddObject(itemInterface.ObjectGround())
        crank = self._bars()
        self._actuator(crank, d)
        self.angle = self.mbs.AddSensor(
            itemInterface.SensorNode(
                nodeNumber=self.nodes[0],
                storeInternal=True,
                outputVariableType=exudyn.OutputVariableType.Coordinates,
            )
        )
        self.mbs.Assemble()

    def _marker(self, body: int, x: float) -> int:
        """A point of a body, x m along it."""
        at = [x, 0.0, 0.0]
        return self.mbs.AddMarker(self.items.MarkerBodyPosition(bodyNumber=body, localPosition=at))

    def _joint(self, first: int, second: int) -> None:
        """A pin at two markers."""
        self.mbs.AddObject(self.items.ObjectJointRevolute2D(markerNumbers=[first, second]))

    def _bars(self) -> int:
        """Three bars between two pins of the ground; the marker in the middle of the crank."""
        self.nodes = []
        middles = []
        end = np.zeros(2)
        pin = self._marker(self.ground, 0.0)
        for L, m, angle in zip(LENGTHS, MASSES, np.cumsum(self.plant.assembly.z)):
            along = np.array([cos(angle), sin(angle)])
            body = self._bar(L, m, [*(end + 0.5 * L * along), angle])
            self._joint(pin, self._marker(body, -0.5 * L))
            middles.append(self._weight(body, m))
            pin = self._marker(body, 0.5 * L)
            end = end + L * along
        self._joint(pin, self._marker(self.ground, 10.0))
        return middles[0]

    def _bar(self, L: float, m: float, at: list) -> int:
        """A slender bar with its middle there (x, y, angle)."""
        node = self.mbs.AddNode(self.items.NodeRigidBody2D(referenceCoordinates=at))
        self.nodes.append(node)
        J = m * L**2 / 12
        bar = self.items.ObjectRigidBody2D(physicsMass=m, physicsInertia=J, nodeNumber=node)
        return self.mbs.AddObject(bar)

    def _weight(self, body: int, m: float) -> int:
        """Weight at the middle of a bar; the marker there."""
        middle = self._marker(body, 0.0)
        weight = [0.0, -9.81 * m, 0.0]
        self.mbs.AddLoad(self.items.LoadForceVector(markerNumber=middle, loadVector=weight))
        return middle

    def _actuator(self, crank: int, d: float) -> None:
        """The cylinder between ground and crank, and its two pressures."""
        self.pressures = self.mbs.AddNode(
            self.items.NodeGenericODE1(
                referenceCoordinates=[0.0, 0.0],
                numberOfODE1Coordinates=2,
                initialCoordinates=self.plant.initial()[2:],
            )
        )
        self.actuator = self.mbs.AddObject(
            self.items.ObjectConnectorHydraulicActuatorSimple(
                markerNumbers=[self._marker(self.ground, -1.0), crank],
                nodeNumbers=[self.pressures],
                offsetLength=sqrt(3.0) - 0.5,
                strokeLength=1.0,
                chamberCrossSection0=A_2,
                chamberCrossSection1=A_3,
                hoseVolume0=7.85e-5,
                hoseVolume1=7.85e-5,
                actuatorDamping=d,
                oilBulkModulus=1500e6,
                cylinderBulkModulus=31500e6,
                hoseBulkModulus=150e6,
                nominalFlow=24e-3 / 60 / sqrt(35e5),
                systemPressure=7.6e6,
                tankPressure=1e5,
                useChamberVolumeChange=True,
            )
        )

    def run(self, T: float, step: float, every: float = 1e-2):
        """(times, crank angles) and CPU seconds; the valve is switched between runs, without a call of Python in a step."""
        rows = []
        spent = 0.0
        for t_0, t_1, opening in PIECES:
            if t_0 >= T:
                break
            self.mbs.SetObjectParameter(self.actuator, "valveOpening0", opening)
            self.mbs.SetObjectParameter(self.actuator, "valveOpening1", -opening)
            settings = self._settings(t_0, min(t_1, T), step, every)
            began = time.process_time()
            self.mbs.SolveDynamic(settings, updateInitialValues=True)
            spent += time.process_time() - began
            rows.append(np.array(self.mbs.GetSensorStoredData(self.angle)))
        found = np.concatenate(rows)
        return found[:, 0], found[:, 3] + float(self.plant.assembly.z[0]), spent

    def _settings(self, t_0: float, t_1: float, step: float, every: float):
        """Generalised-α from t_0 to t_1, rows a sensor's period apart."""
        settings = self.exu.SimulationSettings()
        settings.timeIntegration.startTime = t_0
        settings.timeIntegration.endTime = t_1
        settings.timeIntegration.numberOfSteps = round((t_1 - t_0) / step)
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.verboseMode = 0
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = every
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
        return settings
