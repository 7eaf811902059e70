"""The laws of drives with oil between a valve and a piston share this text: servo valves, throttled circuits, IEHAs.

    u_fr = ḟ_pr/β + h ẋ + ℓ + k_x (ẋ_r − ẋ) + k_f (f_pr − f_p)                           (90), (92)

Chamber pressures are measured, bristles of friction are observed. Source: [Petrovic22] (90)–(98).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from controllers.vdc.part import Given, Part
from workbench.contract.system import Signal


@dataclass(frozen=True)
class OilPart(Part):
    """The law of one drive with oil between a valve and a piston. k_x in m (of a motor in m³/rad²), βk_f in 1/s."""

    takes: ClassVar[tuple[str, ...]] = ("k_x", "βk_f")

    label: str
    drive: Any
    k_x: Any
    βk_f: Any

    @staticmethod
    @abstractmethod
    def modulus(drive):
        """β of the oil of a drive, Pa."""

    @staticmethod
    @abstractmethod
    def friction(drive):
        """The friction law of a drive."""

    @abstractmethod
    def side(self, drive, given: Given):
        """What the ledger needs of a drive at one state (`oil_ledger.Side`)."""

    @property
    def k_f(self):
        """k_f = βk_f/β with the law's own β."""
        return self.βk_f / self.modulus(self.drive)

    @property
    def memory(self):
        bristles = self.friction(self.drive).states(self.label)
        return tuple(
            Signal(f"{s.name}_observed", s.unit, f"observed {s.meaning}") for s in bristles
        )

    def rubbing(self, v, v_r, ẑ):
        return self.friction(self.drive).observer(v, v_r, ẑ)

    def after(self, T, v, f_pr, ẑ, rate):
        # Observers have rates up to 1e4 1/s: exact over the sample for constant v, v_r, so that no sample time blows them up.
        return self.friction(self.drive).after(T, v, ẑ, rate)

    # ---- the ledger -------------------------------------------------------------------------------------------------
    def entry(self, drive, given: Given):
        from controllers.vdc.drives.oil_ledger import entry  # a run does without it

        return entry(self, drive, given)

    def shown(self, drive, given: Given) -> dict:
        from controllers.vdc.drives.oil_ledger import shown

        return shown(self, drive, given)

    def rate(self, drive) -> float:
        """Rate of Δf²/(2β k_x), 1/s: 2 β k_f with the true β."""
        return 2 * self.βk_f * self.modulus(drive) / self.modulus(self.drive)
