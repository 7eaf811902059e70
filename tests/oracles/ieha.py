"""The integrated electro-hydraulic actuator with its load as the paper writes it, piston by piston where it does.

A state is E, Ė, ζ, P_A, P_B, Y, Ẏ, of a full pump then p_1 … p_N, then the friction's. Numbers are those of the plant; nothing of
its equations is used, but the laws of friction and of the compressed oil.

Source: [Alfayad16] (3)–(18), as mended in `plants.ieha.actuator`.
"""

from __future__ import annotations

import math


def sgn_root(x, width):
    """Root of a pressure drop, its sign kept, smooth over the width."""
    return x / (x * x + width * width) ** 0.25


def step(z):
    """0 below 0, 1 above 1, once differentiable between."""
    z = min(max(z, 0.0), 1.0)
    return z * z * (3.0 - 2.0 * z)


def damped(stop, z, v):
    """What the damping of an end stop takes, W."""
    return (stop.force(z, v) - stop.force(z, 0.0)) * v


class Actuator:
    """The plant at one instant: t, x, u = X, F_ext."""

    def __init__(self, plant, t, x, u):
        self.plant, self.t, self.x = plant, t, list(map(float, x))
        self.X, self.F_ext = u
        self.E, self.dE, self.ζ, self.P_A, self.P_B, self.Y, self.v = self.x[:7]
        self.ways = plant.distributor.ways(self.E)
        self.pistons = [self.piston(i) for i in range(plant.pump.N)]
        self.f_f, self.f_f_rates = self.rubbing()
        self.pumped()

    def piston(self, i):
        """sin θ, L, ∂L/∂E, ∂L/∂θ of piston i: (5), (6)."""
        pump, E = self.plant.pump, self.E
        θ = pump.ω * self.t + 2.0 * math.pi * i / pump.N
        R = math.sqrt(pump.R_b**2 - E * E * math.sin(θ) ** 2)
        return (
            math.sin(θ),
            R - E * math.cos(θ),
            -math.cos(θ) - E * math.sin(θ) ** 2 / R,
            E * math.sin(θ) - E * E * math.sin(θ) * math.cos(θ) / R,
        )

    def rubbing(self):
        law = self.plant.friction
        z = self.x[len(self.x) - len(law.states("Y")) :]
        return law.force(self.v, z), law.rate(self.v, z)

    # ---- the pump ---------------------------------------------------------------------------------------------------
    def pumped(self):
        """Q_A, Q_B, F_p, torque and ṗ_i: (3), (8), (14)–(16)."""
        pump = self.plant.pump
        self.rates = []
        if self.plant.detail == "full":
            self.full()
            return
        p_1 = pump.P_rp + self.ways.B * (self.P_B - pump.P_rp)
        p_2 = pump.P_rp + self.ways.A * (self.P_A - pump.P_rp)
        if self.plant.detail == "averaged":
            Q_2 = pump.N * pump.S_p * pump.ω * self.E / math.pi
            Q_1 = -Q_2
            self.F_p = -pump.N * pump.S_p / 4.0 * (p_1 + p_2) * self.E / pump.R_b
            self.torque = Q_2 / pump.ω * (p_2 - p_1)
        else:
            Q_1 = Q_2 = self.F_p = self.torque = 0.0
            for sin, _, a, b in self.pistons:
                share = step(0.5 * (1.0 + sin / pump.ε))
                p = p_2 + share * (p_1 - p_2)
                side = 1.0 if sin > 0 else 0.0
                Q_1 -= pump.S_p * (side * pump.ω * b + share * self.dE * a)
                Q_2 -= pump.S_p * ((1.0 - side) * pump.ω * b + (1.0 - share) * self.dE * a)
                self.F_p += pump.S_p * p * a
                self.torque -= pump.S_p * p * b
        self.Q_A = self.ways.A * (Q_2 + self.loss(self.P_A))
        self.Q_B = self.ways.B * (Q_1 + self.loss(self.P_B))

    def loss(self, P):
        """Decompression and leakage of the delivering half at the pressure P."""
        pump = self.plant.pump
        V_max = pump.S_p * (pump.R_b + abs(self.E) - pump.l_p - pump.d)
        opened = pump.N * pump.ω / (2.0 * math.pi) * V_max / self.plant.oil.β * (pump.P_rp - P)
        return opened - pump.N / 2.0 * pump.k_p * P

    def full(self):
        plant, pump, ways = self.plant, self.plant.pump, self.ways
        area = plant.C_d * math.sqrt(2.0 / plant.ρ) * math.pi * pump.r_rp**2
        self.Q_A = self.Q_B = self.F_p = self.torque = 0.0
        for (sin, L, a, b), p in zip(self.pistons, self.x[7:]):
            one, two = step(sin / pump.ε), step(-sin / pump.ε)
            fed = area * (one * ways.intake_1 + two * ways.intake_2)
            fed *= sgn_root(pump.P_rp - p, plant.δ)
            to_A = area * two * ways.A * sgn_root(p - self.P_A, plant.δ)
            to_B = area * one * ways.B * sgn_root(p - self.P_B, plant.δ)
            swept = pump.S_p * (a * self.dE + b * pump.ω)
            V = pump.S_p * (L - pump.l_p - pump.d)
            self.rates.append(plant.oil.β / V * (fed - to_A - to_B - swept - pump.k_p * p))
            self.Q_A += to_A
            self.Q_B += to_B
            self.F_p += pump.S_p * p * a
            self.torque -= pump.S_p * p * b

    # ---- carriage, chambers, load -----------------------------------------------------------------------------------
    @property
    def Q_e(self):
        plant, valve = self.plant, self.plant.valve
        return valve.flow(plant.C_d * math.sqrt(2.0 / plant.ρ), self.X - self.E, self.ζ)

    def rhs(self):
        plant = self.plant
        held = plant.stop_E.force(self.E, self.dE)
        push = 2.0 * plant.S_e * self.ζ + self.F_p - plant.b_e * self.dE + held
        fed = self.Q_e - plant.S_e * self.dE - 2.0 * plant.k_e * self.ζ
        return [
            self.dE,
            push / plant.m_e,
            plant.oil.β / plant.v_e * fed,
            *self.chambers(),
            self.v,
            (self.thrust() - self.F_ext) / plant.m,
            *self.rates,
            *self.f_f_rates,
        ]

    def chambers(self):
        """Ṗ_A, Ṗ_B: (11), (17), (18)."""
        plant = self.plant
        V_A, V_B = plant.V_A0 + plant.S_A * self.Y, plant.V_B0 - plant.S_B * self.Y
        between = plant.K_in * (self.P_A - self.P_B)
        left_A = -plant.S_A * self.v - between - plant.K_ex * self.P_A
        left_B = plant.S_B * self.v + between - plant.K_ex * self.P_B
        if plant.circuit == "closed":
            Q, β = self.Q_A - self.Q_B, plant.oil.β
            return β / V_A * (Q + left_A), β / V_B * (-Q + left_B)
        area = plant.C_d * math.sqrt(2.0 / plant.ρ) * math.pi * plant.pump.r_rp**2
        tank_A = self.ways.B * area * sgn_root(self.P_A - plant.P_T, plant.δ)
        tank_B = self.ways.A * area * sgn_root(self.P_B - plant.P_T, plant.δ)
        stiff = lambda P: plant.oil.stiffness(P + plant.oil.p_0)
        return (
            stiff(self.P_A) / V_A * (self.Q_A - tank_A + left_A),
            stiff(self.P_B) / V_B * (self.Q_B - tank_B + left_B),
        )

    def thrust(self):
        plant = self.plant
        held = plant.stop_Y.force(self.Y, self.v)
        inside = plant.S_A * self.P_A - plant.S_B * self.P_B
        return inside - plant.b_v * self.v - self.f_f + held

    def shown(self):
        """Q, P_AB, Q_e, F_p, power of the shaft, f_f."""
        Q, power = self.Q_A - self.Q_B, self.torque * self.plant.pump.ω
        own = [Q, self.P_A - self.P_B, self.Q_e, self.F_p, power]
        return own + ([self.f_f] if self.plant.rubs else [])

    # ---- energy -----------------------------------------------------------------------------------------------------
    def stored(self):
        """Masses, springs of the stops, compressed oil of carriage, chambers and pistons, J."""
        plant, β = self.plant, self.plant.oil.β
        V_A, V_B = plant.V_A0 + plant.S_A * self.Y, plant.V_B0 - plant.S_B * self.Y
        total = 0.5 * plant.m_e * self.dE**2 + 0.5 * plant.m * self.v**2
        total += plant.stop_E.stored(self.E) + plant.stop_Y.stored(self.Y)
        total += plant.v_e / β * self.ζ**2
        for V, P in ((V_A, self.P_A), (V_B, self.P_B)):
            if plant.circuit == "closed":
                total += V * P * P / (2.0 * β)
            else:
                total += V * plant.oil.energy(P + plant.oil.p_0, plant.oil.p_0)
        if plant.detail == "full":
            pump = plant.pump
            for (_, L, _, _), p in zip(self.pistons, self.x[7:]):
                total += pump.S_p * (L - pump.l_p - pump.d) * p * p / (2.0 * β)
        return total

    def powers(self):
        """The causes that are plain products, W: the shaft's, the valve's, friction, stops, the load."""
        plant = self.plant
        stops = damped(plant.stop_E, self.E, self.dE) + damped(plant.stop_Y, self.Y, self.v)
        into = self.Q_e if self.X > self.E else -self.Q_e
        lost = plant.b_e * self.dE**2 + plant.b_v * self.v**2 + self.f_f * self.v
        return {
            "shaft": self.torque * plant.pump.ω,
            "valve": plant.valve.P_s * into,
            "friction": -lost,
            "stops": stops,
            "load": -self.F_ext * self.v,
        }
