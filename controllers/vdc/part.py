"""The contract of a part: virtual decomposition control's law for one actuator.

`drive` is the drive as the law knows it (truth and model are two objects), `p` are those of its states that the law measures,
ẑ the law's memory of it, `line` the supply's pressures, and v, v_r the true and the required rate of the length s.

  1. `measured` names the drive's states that are read;  `memory` are Signals of ẑ, friction's first.
  2. `rubbing(v, v_r, ẑ)` → (f_fr, rates of what is observed of friction): f_pr = f_cr + f_fr.
  3. `flow(f_pr, ẑ, rubbed)` is the rate of ẑ, `after(T, v, f_pr, ẑ, rate)` is ẑ after a sample of T seconds, `begun(f_pr, ẑ)` at
     the start of a run.
  4. `believed(p, s, v, ẑ, line, f_pr)` is the force along the line that the law takes to act now.
  5. `command(s, v, v_r, p, ẑ, f_pr, f_pr_rate, line)` is the drive's input.
  6. `entry(…)` is the drive's row of the ledger, `shown(…)` what its hypotheses look at, `hypotheses(…)` what it takes for granted,
     `monitors(…)` their margins along a run, and `rate(…)` the rate at which its storage decays, 1/s.
  7. `needs_rate`: its command needs ḟ_pr. `asks(drive, f, v, v_r, ẑ, ẑ̇)` are the speed that it asks of a rod and the rod's areas,
     from which a supply that `settles` tells its pressure; f: the force between valves and rod, as measured (`felt(p, s)`) or true
     (`acting(drive, x, s)`).
  8. `serves` are the kinds of drive that the part is the law of; `takes` are the gains of `VDC` that it has, as its fields
     after `label` and `drive`. `usual_k_x(drive)` is k_x [m] where none is given.

To add a drive: a class in a file of this folder, its name in `PARTS` of `controllers.vdc.parts`.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from controllers.vdc.gains import USUAL_K_X
from workbench.contract.system import Signal


class Given(NamedTuple):
    """What the ledger needs to know of one drive at one state of the loop.

    Of the true machine:
    cut, x           name of the drive's cut, its states
    s, v, f_c, u     its length, its rate, its force, its input
    line             pressures of its supply
    lever            by how much s changes at least for a unit of motion of the joints
    v_r, f_cr, f_fr  rate, force and friction that the law would require if it knew the true bodies

    Of the law and its own model, at the true state:
    own_f_cr, own_f_fr   force and friction that it requires
    f_pr, f_pr_rate      required force with friction, own_f_cr + own_f_fr, and its rate
    asked                the supply's pressures while all drives move at v_r; `line` where they are states or numbers
    steps                name of a perturbation → the input once it is included, in order from the law to u
    ẑ                    the law's memory of the drive
    ẑ_law, ẑ_own, ẑ_flow rate of ẑ: with the true required rates, with those of its own model, and as it is in the loop
    """

    cut: str
    x: list
    s: object
    v: object
    v_r: object
    line: object
    asked: object
    f_pr: object
    f_pr_rate: object
    f_cr: object
    own_f_cr: object
    f_c: object
    f_fr: object
    own_f_fr: object
    u: object
    steps: dict
    ẑ: list
    ẑ_law: list
    ẑ_own: list
    ẑ_flow: list
    lever: object

    @property
    def erring(self):
        """Error of the law's model, N: the force required of the true machine less the one that the law requires."""
        return self.f_cr - self.own_f_cr + (self.f_fr - self.own_f_fr)


class Part:
    """See the numbered contract in the module's docstring; the answers here are those of a drive without oil or friction."""

    serves: ClassVar[tuple[type, ...]] = ()
    takes: ClassVar[tuple[str, ...]] = ()
    needs_rate: ClassVar[bool] = True
    measured: tuple[str, ...] = ()
    memory: tuple[Signal, ...] = ()

    def rubbing(self, v, v_r, ẑ) -> tuple:
        return 0.0, []

    @staticmethod
    def usual_k_x(drive) -> float:
        return USUAL_K_X

    def check(self) -> None:
        """InputError for gains that this drive cannot have."""

    def flow(self, f_pr, ẑ, rubbed) -> list:
        return rubbed

    def after(self, T, v, f_pr, ẑ, rate) -> list:
        return []

    def begun(self, f_pr, ẑ) -> list:
        return list(ẑ)

    def felt(self, p, s):
        return None

    def acting(self, drive, x, s):
        return None

    def asks(self, drive, f, v, v_r, ẑ, flow) -> tuple:
        raise NotImplementedError(f"{type(self).__name__} asks no speed of a rod")

    def monitors(self, q, drive) -> dict:
        return {}
