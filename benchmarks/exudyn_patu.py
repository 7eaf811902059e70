"""A planar Mechanism with servo cylinders in exudyn: rigid bodies in the plane, revolute joints, HydraulicActuatorSimple.

exudyn's actuator has two volumes with hoses and tube in series, a valve without lag whose root has no laminar zone, and viscous
friction; what Brown and McPhee's law has besides acts through a spring-damper with a force of ours.
"""

from __future__ import annotations

import time
from math import tanh

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np


class ExudynPlanar:
    """The bodies on revolute joints, loops and servo cylinders of a mechanism in the x, y plane."""

    def __init__(self, mechanism):
        self.m = mechanism
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.ground = self.mbs.AddObject(items.ObjectGround())
        motion = mechanism.moving(list(mechanism.assembly.z), None)
        self.motion = motion
        self.nodes, self.bodies = [], []
        for j, body in enumerate(mechanism.bodies):
            self._body(j, body)
        for j, body in enumerate(mechanism.bodies):
            parent = mechanism.tree.parent[j]
            if body.joint == "revolute":
                self._pin(parent, body.point, j, (0.0, 0.0, 0.0))
        for loop, (a, b) in zip(mechanism.loops, mechanism.cuts):
            self._pin(a, loop.a.point, b, loop.b.point)
        self.cylinders = [self._cylinder(a) for a in mechanism.actuators]
        self.angles = [
            self.mbs.AddSensor(
                items.SensorNode(
                    nodeNumber=node,
                    storeInternal=True,
                    outputVariableType=exu.OutputVariableType.Coordinates,
                )
            )
            for node in self.nodes
            if node is not None
        ]
        self.mbs.Assemble()

    def _angle(self, j: int) -> float:
        R = np.array(self.motion.R[j], float).reshape(3, 3)
        return float(np.arctan2(R[1, 0], R[0, 0]))

    def _at(self, j: int, point) -> np.ndarray:
        r, R = np.array(self.motion.r[j], float), np.array(self.motion.R[j], float).reshape(3, 3)
        return r + R @ np.array(point)

    def _body(self, j: int, body) -> None:
        if body.joint == "fixed":
            self.nodes.append(None)
            self.bodies.append(None)
            return
        at = self._at(j, body.com)
        place = [float(at[0]), float(at[1]), self._angle(j)]
        node = self.mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=place))
        made = self.mbs.AddObject(
            items.ObjectRigidBody2D(
                physicsMass=body.mass, physicsInertia=body.inertia[2], nodeNumber=node
            )
        )
        self.nodes.append(node)
        self.bodies.append(made)
        weight = [0.0, -9.81 * body.mass, 0.0]
        marker = self.mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=made))
        self.mbs.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=weight))

    def _marker(self, j: int, point) -> int:
        """A marker at a point of body j in its frame; its exudyn frame is at the centre of mass."""
        if j < 0 or self.bodies[j] is None:
            at = np.array(point) if j < 0 else self._at(j, point)
            return self.mbs.AddMarker(
                items.MarkerBodyPosition(bodyNumber=self.ground, localPosition=list(map(float, at)))
            )
        local = np.array(point) - np.array(self.m.bodies[j].com)
        return self.mbs.AddMarker(
            items.MarkerBodyPosition(
                bodyNumber=self.bodies[j], localPosition=list(map(float, local))
            )
        )

    def _pin(self, a: int, at_a, b: int, at_b) -> None:
        ends = [self._marker(a, at_a), self._marker(b, at_b)]
        self.mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=ends))

    def _cylinder(self, actuator) -> int:
        drive, line = actuator.drive, self.m.supply
        c, walls = drive.cylinder, drive.cylinder.walls
        ends = [
            self._marker(self.m.number(pin.body), pin.point) for pin in (actuator.a, actuator.b)
        ]
        states = dict(zip((s.name for s in self.m.states), self.m.initial()))
        pressures = [float(states[f"p_{side}_{actuator.name}"]) for side in "ab"]
        node = self.mbs.AddNode(
            items.NodeGenericODE1(
                referenceCoordinates=[0.0, 0.0],
                numberOfODE1Coordinates=2,
                initialCoordinates=pressures,
            )
        )
        friction = c.friction
        self.mbs.AddObject(
            items.ObjectConnectorSpringDamper(
                markerNumbers=ends,
                referenceLength=drive.closed,
                stiffness=0.0,
                damping=0.0,
                springForceUserFunction=dry(friction),
            )
        )
        return self.mbs.AddObject(
            items.ObjectConnectorHydraulicActuatorSimple(
                markerNumbers=ends,
                nodeNumbers=[node],
                offsetLength=drive.closed,
                strokeLength=c.stroke,
                chamberCrossSection0=c.A_a,
                chamberCrossSection1=c.A_b,
                hoseVolume0=walls.V_ha,
                hoseVolume1=walls.V_hb,
                actuatorDamping=friction.b * tanh(4.0),
                oilBulkModulus=drive.oil.β,
                cylinderBulkModulus=walls.B_c,
                hoseBulkModulus=walls.B_h,
                nominalFlow=c.valve.c_p1 * c.valve.u_max,
                systemPressure=line.p_s,
                tankPressure=line.p_r,
                useChamberVolumeChange=True,
            )
        )

    def run(self, pieces, step: float, every: float = 1e-2):
        """(times, angles of the moving bodies to the ground, processor seconds) under `pieces`: (from, to, voltages)."""
        rows, spent = [], 0.0
        for begin, end, voltages in pieces:
            for item, actuator, u in zip(self.cylinders, self.m.actuators, voltages):
                opening = u / actuator.drive.cylinder.valve.u_max
                self.mbs.SetObjectParameter(item, "valveOpening0", opening)
                self.mbs.SetObjectParameter(item, "valveOpening1", -opening)
            settings = exu.SimulationSettings()
            integration = settings.timeIntegration
            integration.startTime, integration.endTime = begin, end
            integration.numberOfSteps = round((end - begin) / step)
            integration.verboseMode = 0
            integration.newton.useModifiedNewton = True
            integration.generalizedAlpha.spectralRadius = 0.8
            settings.solutionSettings.writeSolutionToFile = False
            settings.solutionSettings.sensorsWritePeriod = every
            began = time.process_time()
            self.mbs.SolveDynamic(settings, updateInitialValues=True)
            spent += time.process_time() - began
            rows.append([np.array(self.mbs.GetSensorStoredData(s)) for s in self.angles])
        times = np.concatenate([piece[0][:, 0] for piece in rows])
        turned = [np.concatenate([piece[k][:, 3] for piece in rows]) for k in range(len(rows[0]))]
        start = [self._angle(j) for j, node in enumerate(self.nodes) if node is not None]
        return times, np.array(turned).T + start, spent


def dry(friction):
    """The part of Brown and McPhee's law that does not grow with speed, N."""

    def force(mbs, t, item, stretch, rate, k, d, offset):
        r = rate / friction.v_s
        hump = (friction.F_s - friction.F_c) * r / (0.25 * r * r + 0.75) ** 2
        return friction.F_c * np.tanh(4.0 * r) + hump

    return force
