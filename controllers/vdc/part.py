"""What virtual decomposition control asks of its law for one kind of drive.

A part is the law of one actuator; its `drive` is the one the law knows (truth and model are two objects), `p` are the
drive's states that it measures, ẑ its own memory of the drive, `line` the supply's pressures, and v, v_r the true and
required rates of the length s.

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
    """What the ledger knows of one drive at one state; true values unless said otherwise.

    cut, x           name of its cut, its true states;     s, v, v_r   length, rate, required rate;     line   supply
    asked            the supply while all drives move as required; the same line where its pressure is a state or a number
    f_pr, f_pr_rate  required force with friction, and its rate, of the law's own model at true states
    f_cr, own_f_cr   required force of the true bodies, of the law's;      f_c   true force
    f_fr, own_f_fr   required friction, at the rates of the true machine, at those that the law's model tells
    u, steps         input; perturbation → input on the way from the law to it
    ẑ, ẑ_law, ẑ_own, ẑ_flow   the law's memory; its rate by the law at true states and true speeds; at those that its own model
                     tells; in the loop
    lever            by how much s changes at least, of a unit of motion
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
        """What the model errs by: the required force of the true machine less that of the law's own."""
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
